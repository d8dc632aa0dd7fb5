"""Files on their way in."""

from django.urls import path

from benchmarks_app.importing.views import imports

in_benchmark = [
    path("import/", imports.import_new, name="import-new"),
    path("import/all/", imports.import_all, name="import-all"),
    path("import/<int:pk>/", imports.import_preview, name="import-preview"),
    path("import/<int:pk>/decide/", imports.import_decide, name="import-decide"),
    path("import/<int:pk>/remove/", imports.import_remove, name="import-remove"),
]

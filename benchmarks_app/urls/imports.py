"""Files on their way in."""

from django.urls import path

from benchmarks_app.views import imports

in_benchmark = [
    path("import/", imports.import_new, name="import-new"),
]

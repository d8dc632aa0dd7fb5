"""Addresses of the whole site: home, health, documentation, what charts are drawn with."""

from django.urls import path

from benchmarks_app.charts import views as charts
from benchmarks_app.site import views

urlpatterns = [
    path("", views.home, name="home"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("system/", views.system, name="system"),
    path("docs/", views.docs, name="docs"),
    path("docs/<path:chapter_name>/", views.docs_page, name="docs-page"),
    path("docs/<path:file_name>", views.docs_file, name="docs-file"),
    path("charts/vega-<slug:digest>.js", charts.chart_bundle, name="chart-bundle"),
]

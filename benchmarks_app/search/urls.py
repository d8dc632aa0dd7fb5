"""Addresses of search."""

from django.urls import path

from benchmarks_app.search import views

in_benchmark = [path("search/", views.search, name="search")]
urlpatterns = [path("search/", views.site_search, name="site-search")]

"""Addresses of contradictions and examples, below those of machine judges."""

from django.urls import path

from annotation.contradictions import views

PAIRS = "machine-judges/<int:pk>/contradictions/"
in_benchmark = [
    path("machine-judges/examples/", views.example_list, name="example-list"),
    path(
        "machine-judges/examples/<int:pk>/withdraw/",
        views.example_withdraw,
        name="example-withdraw",
    ),
    path(PAIRS, views.contradiction_list, name="contradiction-list"),
    path(f"{PAIRS}<int:pair>/settle/", views.contradiction_settle, name="contradiction-settle"),
    path(f"{PAIRS}<int:pair>/example/", views.example_new, name="example-new"),
]

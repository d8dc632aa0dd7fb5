"""Addresses of pools: what is to be judged, and how far it is."""

from django.urls import path

from annotation.agreement.views import agreement
from annotation.pools.views import building, people, simulating, topping_up, watching

in_benchmark = [
    path("pools/", watching.pool_list, name="pool-list"),
    path("pools/new/", building.pool_new, name="pool-new"),
    path("pools/simulate/", simulating.pool_simulate, name="pool-simulate"),
    path(
        "pools/simulate/<int:pk>/curves.<slug:format>",
        simulating.pool_simulation_chart,
        name="pool-simulation-chart",
    ),
    path("pools/top-up/", topping_up.pool_top_up, name="pool-top-up"),
    path("pools/<int:pk>/", watching.pool_detail, name="pool-detail"),
    path("pools/<int:pk>/progress/", watching.pool_progress, name="pool-progress"),
    path("pools/<int:pk>/charts/", watching.pool_charts, name="pool-charts"),
    path(
        "pools/<int:pk>/charts/<slug:chart>.<slug:format>", watching.pool_chart, name="pool-chart"
    ),
    path("pools/slices/", agreement.slice_coverage, name="slice-coverage"),
    path("pools/summary/", watching.pool_summary, name="pool-summary"),
    path("pools/<int:pk>/people/", people.pool_people, name="pool-people"),
    path("pools/<int:pk>/people/settings/", people.pool_settings, name="pool-settings"),
    path("pools/<int:pk>/people/release/", people.pool_release, name="pool-release"),
    path("pools/<int:pk>/people/waive/", people.pool_waive, name="pool-waive"),
    path("pools/<int:pk>/state/", watching.pool_state, name="pool-state"),
]

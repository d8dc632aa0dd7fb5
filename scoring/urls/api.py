"""Addresses below /api/v1/, collected there by the name of this module."""

from django.urls import include, path
from django.urls.resolvers import URLPattern

from scoring.boards.api import boards, reported
from scoring.comparisons import api as comparisons
from scoring.completeness import api as completeness
from scoring.contextual.api import contextual
from scoring.contrastive import api as contrastive
from scoring.corrected import api as corrected
from scoring.gates import api as gates
from scoring.live import api as live
from scoring.planning import api as planning
from scoring.rescoring import api as rescoring
from scoring.runs import api as runs
from scoring.submissions.api import embeddings, phases, submissions
from scoring.systems import api as systems

of_benchmark: list[URLPattern] = [
    *submissions.of_benchmark,
    *phases.of_benchmark,
    *completeness.of_benchmark,
    *planning.of_benchmark,
    *gates.of_benchmark,
    *boards.of_benchmark,
    *reported.of_benchmark,
    *corrected.of_benchmark,
    *rescoring.of_benchmark,
    *comparisons.of_benchmark,
    *runs.of_benchmark,
    *systems.of_benchmark,
    *live.of_benchmark,
    *embeddings.of_benchmark,
    *contrastive.of_benchmark,
    *contextual.of_benchmark,
]
urlpatterns = [path("benchmarks/<slug:slug>/", include(of_benchmark))]

"""Addresses of submissions, scores, boards and gates; each feature lists its own."""

from django.urls import include, path

from scoring import overview  # noqa: F401  # what pages show, which nobody asks for before
from scoring.boards.urls import boards, reported
from scoring.comparisons import urls as comparisons
from scoring.completeness import urls as completeness
from scoring.contextual import urls as contextual
from scoring.contrastive import urls as contrastive
from scoring.corrected import urls as corrected
from scoring.gates import urls as gates
from scoring.live import urls as live
from scoring.planning import urls as planning
from scoring.rescoring import urls as rescoring
from scoring.runs import urls as runs
from scoring.submissions.urls import embeddings, phases, submissions
from scoring.systems import urls as systems

app_name = "scoring"
in_benchmark = [
    *submissions.in_benchmark,
    *phases.in_benchmark,
    *runs.in_benchmark,
    *boards.in_benchmark,
    *reported.in_benchmark,
    *corrected.in_benchmark,
    *planning.in_benchmark,
    *completeness.in_benchmark,
    *rescoring.in_benchmark,
    *comparisons.in_benchmark,
    *gates.in_benchmark,
    *systems.in_benchmark,
    *live.in_benchmark,
    *embeddings.in_benchmark,
    *contrastive.in_benchmark,
    *contextual.in_benchmark,
]
urlpatterns = [path("b/<slug:slug>/", include(in_benchmark))]

"""What the labels of an estimation pool say of its runs, for who keeps the benchmark.

Who may still be asked to judge sees none of it: an estimate tells of grades.
"""

from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.campaigns.drawing import Forest, ForestRow, forest_of
from annotation.common.selectors.pools import pools_of
from annotation.estimates.services import estimates_of
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest

if TYPE_CHECKING:
    from annotation.estimates.services import Estimates


def estimates_forest(estimates: "Estimates") -> Forest | None:
    """None where there is nothing to draw."""
    differences = [(row.run, row.difference) for row in estimates.rows if row.difference]
    drawn = differences or [(row.run, row.mean) for row in estimates.rows]
    rows = [
        ForestRow(
            run, of.n_labels, of.value, of.low, of.high, "",
            is_faint=False, is_off=of.high < 0, digits=3,
        )
        for run, of in drawn
    ]  # fmt: skip
    return forest_of(rows) if rows else None


@never_cache
@require_safe
@benchmark_view(Action.EDIT)
def pool_estimates(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Means and differences once all drawn documents are labelled; else what is lacking."""
    pool = get_object_or_404(pools_of(benchmark), pk=pk)
    estimates = estimates_of(pool, request.user, against=request.GET.get("against", ""))
    # They are worked out from grades that may have to be hidden one day.
    target = f"estimates of {pool}"
    audit.record(actor=request.user, action="read-judgments", benchmark=benchmark, target=target)
    context = {"pool": pool, "estimates": estimates, "forest": estimates_forest(estimates)}
    return render(request, "annotation/estimates/pool_estimates.html", context)

"""Whether a machine's 0 spares people work in a pool, for who keeps the benchmark.

Who may still be asked to judge sees none of it: it tells of machine's grades and of people's.
"""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.campaigns.drawing import Forest, ForestRow, forest_of
from annotation.common.selectors.pools import pools_of
from annotation.models import Pool
from annotation.sparing.errors import SparingIdleError
from annotation.sparing.forms import SparingForm
from annotation.sparing.selectors import Sparing, campaigns_to_spare_by, rules_of, sparing_of
from annotation.sparing.services import ask_to_spare, follow, stop_sparing
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from benchwright.texts.counting import counted


def bounds_forest(sparing: Sparing) -> Forest | None:
    """Share of relevant documents, up to its bound; None before any is judged."""
    counts = [("Audit", sparing.audit.n_audited, sparing.audit.n_relevant, sparing.audit.bound)]
    if sparing.running:
        last = sparing.running.last
        counts.append(("Last checks", len(last), sum(last), sparing.running.bound))
    most = sparing.rule.most_missed
    rows = [
        ForestRow(
            label, n, n_relevant / n, 0.0, bound, "", is_faint=False, is_off=bound > most, digits=3
        )
        for label, n, n_relevant, bound in counts
        if n
    ]
    return forest_of(rows, mark=most) if rows else None


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def pool_sparing(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The verdict and what it rests on; a POST draws an audit."""
    pool = _pool(benchmark, pk)
    is_posted = request.method == "POST"
    form = SparingForm(
        request.POST if is_posted else None,
        campaigns=campaigns_to_spare_by(pool),
        initial={"campaign": request.GET.get("campaign", "")},
    )
    if is_posted and form.is_valid() and _is_asked(request, form):
        return redirect("annotation:pool-sparing", benchmark.slug, pool.pk)
    rules = list(rules_of(pool))
    sparing = sparing_of(rules[0]) if rules else None
    if sparing:
        # It is worked out from grades that may have to be hidden one day.
        target = f"sparing in {pool}"
        audit.record(
            actor=request.user, action="read-judgments", benchmark=benchmark, target=target
        )
    context = {"pool": pool, "form": form, "sparing": sparing, "earlier": rules[1:]}
    context["forest"] = bounds_forest(sparing) if sparing else None
    context["may_ask"] = campaigns_to_spare_by(pool).exists() and not pool.is_for_estimates
    status = 422 if is_posted else 200
    return render(request, "annotation/sparing/pool_sparing.html", context, status=status)


def _is_asked(request: PersonRequest, form: SparingForm) -> bool:
    try:
        rule = ask_to_spare(user=request.user, **form.wanted)
    except BenchmarkError as error:
        form.add_error("n_audit" if error.code == "sparing-few-zeros" else None, str(error))
        return False
    follow(rule=rule)
    n_drawn, verb = counted(rule.n_audit, "document"), "was" if rule.n_audit == 1 else "were"
    messages.success(request, f"{n_drawn} {verb} drawn; the others of grade 0 wait.")
    return True


@require_POST
@benchmark_view(Action.EDIT)
def pool_sparing_stop(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Ask people about every document again."""
    pool = _pool(benchmark, pk)
    try:
        stop_sparing(pool=pool, user=request.user)
        messages.success(request, "Every document is asked again.")
    except SparingIdleError as error:  # it went off meanwhile, or was stopped by somebody else
        messages.error(request, str(error))
    return redirect("annotation:pool-sparing", benchmark.slug, pool.pk)


def _pool(benchmark: Benchmark, pk: int) -> Pool:
    pool: Pool = get_object_or_404(pools_of(benchmark), pk=pk)
    return pool

"""The order of a pool's queue, for who keeps the benchmark."""

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.common.selectors.pools import pools_of
from annotation.models import Pool
from annotation.queueing.forms import QueueForm
from annotation.queueing.selectors import Ordered, campaigns_of, runs_of
from annotation.queueing.services import queue_arguments
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def pool_queue(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """What the order is, and the form that starts the job of another."""
    pool: Pool = get_object_or_404(pools_of(benchmark).select_related("benchmark"), pk=pk)
    is_posted = request.method == "POST"
    form = QueueForm(request.POST if is_posted else None, pool=pool, user=request.user)
    if is_posted and form.is_valid():
        try:
            with transaction.atomic():
                arguments = queue_arguments(pool=pool, **form.wanted)
                return redirect(jobs.start(benchmark=benchmark, user=request.user, **arguments))
        except BenchmarkError as error:
            form.add_error(None, str(error))
    context = {
        "pool": pool,
        "form": form,
        "ordered": Ordered.of(pool),
        "n_machines": campaigns_of(pool).count(),
        "n_runs": runs_of(benchmark, request.user).count(),
    }
    status = 422 if is_posted else 200
    return render(request, "annotation/queueing/pool_queue.html", context, status=status)

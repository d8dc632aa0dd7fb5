"""Publishing what was judged as a set of qrels."""

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.agreement.selectors.publication import publication_of
from annotation.common.forms import QrelsForm
from annotation.labels.services.publishing import publishing_arguments
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.qrels.rules import RULES


@benchmark_view(Action.EDIT)
def qrels_publish(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """A set of qrels from everything that was judged in the benchmark, whichever the pool."""
    form = QrelsForm(request.POST or None, benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            arguments = publishing_arguments(benchmark=benchmark, **form.cleaned_data)
            job = jobs.start(benchmark=benchmark, user=request.user, **arguments)
        return redirect(job)
    context = {"form": form, "rules": RULES, "publication": publication_of(benchmark)}
    status = 422 if form.errors else 200
    return render(request, "annotation/labels/qrels_publish.html", context, status=status)

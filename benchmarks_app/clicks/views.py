"""A log of clicks is sent to be graded."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from benchmarks_app.clicks.forms import ClicksForm
from benchmarks_app.clicks.services import forget_logs, receive_logs, start_grading
from benchmarks_app.models import Benchmark, Upload
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def click_qrels_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    form = ClicksForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        uploads: list[Upload] = []
        try:
            uploads = receive_logs(benchmark=benchmark, user=request.user, logs=form.logs())
            job = start_grading(
                benchmark=benchmark, user=request.user, uploads=uploads, options=form.asked()
            )
        except BenchmarkError as error:
            forget_logs(uploads)
            form.add_error(None, str(error))
        else:
            return redirect(job)
    status = 422 if request.method == "POST" else 200
    return render(
        request, "benchmarks_app/clicks/click_qrels_new.html", {"form": form}, status=status
    )

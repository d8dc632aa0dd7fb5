"""Taking in files."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.forms.imports import ImportForm
from benchmarks_app.models import Benchmark, Job
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.services.importing import start_import
from benchmarks_app.services.uploading import receive_upload


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def import_new(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        jobs = _started(request, benchmark, form)
        if jobs:
            messages.success(request, f"{len(jobs)} import{'s' if len(jobs) > 1 else ''} started.")
        if not form.errors:
            return redirect(
                jobs[0] if len(jobs) == 1 else reverse("job-list", args=[benchmark.slug])
            )
    context = {"form": form, "recent": benchmark.uploads.order_by("-pk")[:10]}
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/import_new.html", context, status=status)


def _started(request: HttpRequest, benchmark: Benchmark, form: ImportForm) -> list[Job]:
    """A job for each file that can be taken in; what is wrong with the others is on the form."""
    options = {key: form.cleaned_data[key] for key in ("kind", "name", "grade_map")}
    jobs = []
    for file in form.cleaned_data["files"]:
        try:
            upload = receive_upload(benchmark=benchmark, owner=request.user, file=file)
            job = start_import(benchmark=benchmark, user=request.user, upload=upload, **options)
        except BenchmarkError as error:
            form.add_error(None, str(error))
        else:
            jobs.append(job)
    return jobs

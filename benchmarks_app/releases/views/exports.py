"""What a release and a run can be taken away as: the formats, what each loses, the files."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from benchmarks_app.models import Benchmark, Run
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.releases.downloads import export_response, published_release, run_response
from benchmarks_app.releases.services import exporting
from benchmarks_app.requests import PersonRequest
from benchwright.exports import exporter_of


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def release_exports(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    release = published_release(benchmark, version)
    crumbs = [
        (gettext("Releases"), reverse("release-list", args=[benchmark.slug])),
        (release.version, release.get_absolute_url()),
        (gettext("Formats"), ""),
    ]
    context = {
        "release": release,
        "crumbs": crumbs,
        "offers": exporting.offers(release),
        "may_prepare": may(request.user, Action.EDIT, benchmark),
    }
    return render(request, "benchmarks_app/releases/release_exports.html", context)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def release_export_format(
    request: HttpRequest, benchmark: Benchmark, version: str, export: str
) -> HttpResponseBase:
    release = published_release(benchmark, version)
    return export_response(request, release, exporter_of(export))


@require_POST
@benchmark_view(Action.EDIT)
def release_export_start(
    request: PersonRequest, benchmark: Benchmark, version: str, export: str
) -> HttpResponse:
    release = published_release(benchmark, version)
    return redirect(exporting.start_export(user=request.user, release=release, format=export))


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_export(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponseBase:
    run = get_object_or_404(Run.objects.visible_to(request.user), benchmark=benchmark, pk=pk)
    return run_response(request, run)

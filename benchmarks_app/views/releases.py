"""Releases: list, publish, look, download."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks_app import selectors
from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.core.versions import parse_version
from benchmarks_app.forms.releases import ReleaseForm
from benchmarks_app.models import Benchmark, Release
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.services import exporting
from benchmarks_app.services.releasing import proposed_version, start_release

DOWNLOADS = {"queries.jsonl": "application/jsonlines", "qrels.trec": "text/plain; charset=utf-8"}


def _releases(benchmark: Benchmark):
    released = benchmark.releases.published().newest_first()
    return released.select_related("qrel_set", "corpus_version", "created_by")


@require_safe
@benchmark_view(Action.VIEW)
def release_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    context = {"page": page_of(request, _releases(benchmark))}
    return render(request, "benchmarks_app/release_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def release_new(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    initial = {"version": proposed_version(benchmark), "qrel_set": request.GET.get("qrels")}
    form = ReleaseForm(request.POST or None, benchmark=benchmark, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect(start_release(user=request.user, **form.cleaned_data))
        except BenchmarkError as error:
            form.add_error(None, str(error))
    context = {"form": form, "has_qrels": form.fields["qrel_set"].queryset.exists()}
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/release_new.html", context, status=status)


def _release_of(benchmark: Benchmark, version: str) -> Release:
    try:
        major, minor, patch = parse_version(version)
    except BenchmarkError as error:
        raise Http404 from error
    return get_object_or_404(_releases(benchmark), major=major, minor=minor, patch=patch)


@require_safe
@benchmark_view(Action.VIEW)
def release_detail(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    release = _release_of(benchmark, version)
    files = [{"name": name, **facts} for name, facts in sorted(release.manifest["files"].items())]
    context = {
        "release": release,
        "files": files,
        "has_beir_export": exporting.has_beir_export(release),
        "stem": exporting.export_name(release),
    }
    return render(request, "benchmarks_app/release_detail.html", context)


@require_safe
@benchmark_view(Action.VIEW)
def release_export(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponseBase:
    release = _release_of(benchmark, version)
    name = f"{exporting.export_name(release)}.zip"
    return StreamingHttpResponse(
        exporting.beir_zip(release),
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@require_safe
@benchmark_view(Action.VIEW)
def release_file(
    request: HttpRequest, benchmark: Benchmark, version: str, name: str
) -> HttpResponseBase:
    """One of the release's files, by the name the manifest gives it; no other path is looked at."""
    release = _release_of(benchmark, version)
    if name == "manifest.json":
        return HttpResponse(exporting.manifest_bytes(release), content_type="application/json")
    if name not in release.manifest["files"]:
        raise Http404
    kind = DOWNLOADS.get(name, "text/tab-separated-values; charset=utf-8")
    stem = f"{exporting.export_name(release)}-{name.replace('/', '-')}"
    return StreamingHttpResponse(
        exporting.file_pieces(selectors.release_file_path(release, name)),
        content_type=kind,
        headers={"Content-Disposition": f'attachment; filename="{stem}"'},
    )

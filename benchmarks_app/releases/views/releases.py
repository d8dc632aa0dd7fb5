"""Releases: listed, drafted, looked over, published, read, deprecated."""

from typing import Any

import nh3
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from markdown_it import MarkdownIt

from benchmarks_app.common.forms import has_rows
from benchmarks_app.common.selectors.reading import release_file_path
from benchmarks_app.models import Benchmark, QrelSet, Release
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.releases.downloads import export_response, file_response, published_release
from benchmarks_app.releases.forms import (
    DeprecateForm,
    DraftChangeForm,
    DraftForm,
    PublishForm,
)
from benchmarks_app.releases.services import exporting
from benchmarks_app.releases.services.drafting import (
    change_draft,
    create_draft,
    delete_draft,
    draft_options,
    jobs_of_draft,
    publish_draft,
    start_check,
)
from benchmarks_app.releases.services.releasing import deprecate_release, findings_of
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from benchwright.exports import BEIR
from benchwright.findings import Severity
from benchwright.releases.options import ReleaseOptions
from benchwright.releases.source import HIDDEN_FILES, public_manifest

MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
CARD_TAGS = nh3.ALLOWED_TAGS - {"img", "video", "audio", "picture", "source"}


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def release_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Published and deprecated ones; drafts for those who keep the benchmark."""
    releases = benchmark.releases.all()
    if not may(request.user, Action.EDIT, benchmark):
        releases = releases.published()
    listed = releases.newest_first().select_related("qrel_set", "successor")
    context = {"page": page_of(request, listed)}
    return render(request, "benchmarks_app/releases/release_list.html", context)


# --- drafts ----------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def release_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    initial = DraftForm.initial_of(
        draft_options(benchmark), qrel_set=request.GET.get("qrels") or _newest_qrels(benchmark)
    )
    form = DraftForm(request.POST or None, benchmark=benchmark, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            draft = create_draft(user=request.user, **form.arguments())
            return redirect(jobs_of_draft(draft)[0])
        except BenchmarkError as error:
            form.add_error(None, str(error))
    context = {"form": form, "has_qrels": has_rows(form, "qrel_set")}
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/releases/release_new.html", context, status=status)


def _newest_qrels(benchmark: Benchmark) -> int | None:
    ready = QrelSet.objects.ready().filter(benchmark=benchmark)
    return ready.order_by("-created_at").values_list("pk", flat=True).first()


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def release_draft(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """A draft with what was found; posting publishes it."""
    draft = _draft(benchmark, pk)
    form = PublishForm(request.POST or None, findings=findings_of(draft))
    if request.method == "POST" and form.is_valid():
        try:
            return redirect(
                publish_draft(
                    user=request.user, draft=draft, accepted=form.cleaned_data["accepted"]
                )
            )
        except BenchmarkError as error:
            form.add_error(None, str(error))
    status = 422 if form.errors else 200
    return render(
        request, "benchmarks_app/releases/release_draft.html", _draft_of(draft, form), status=status
    )


def _draft(benchmark: Benchmark, pk: int) -> Release:
    drafts = benchmark.releases.drafts().select_related("qrel_set", "parent", "benchmark__corpus")
    return get_object_or_404(drafts, pk=pk)


def _draft_of(draft: Release, form: PublishForm) -> dict[str, Any]:
    findings = findings_of(draft)
    by_severity = [
        (severity, [finding for finding in findings if finding.severity is severity])
        for severity in Severity
    ]
    return {
        "draft": draft,
        "form": form,
        "crumbs": _crumbs(draft.benchmark, f"Draft {draft.version}"),
        "options": ReleaseOptions.from_json(draft.options),
        "is_checked": bool(draft.manifest),
        "job": jobs_of_draft(draft).first(),
        "groups": [group for group in by_severity if group[1]],
        "n_errors": len(by_severity[0][1]),
        "accepted": form["accepted"].value() if form.is_bound else [],
        **_diff_of(draft),
    }


def _crumbs(benchmark: Benchmark, *labels: str | tuple[str, str]) -> list[tuple[str, str]]:
    first = (_("Releases"), reverse("release-list", args=[benchmark.slug]))
    return [first, *(label if isinstance(label, tuple) else (label, "") for label in labels)]


def _diff_of(release: Release) -> dict[str, Any]:
    """Rows of the table of labels: in total, by split, by slice."""
    diff = release.label_diff
    if not diff:
        return {"diff": None}
    rows = [("all labels", diff["labels"])]
    rows += [(f"split {name}", counts) for name, counts in diff["by_split"].items()]
    rows += [(f"slice {name}", counts) for name, counts in diff["by_slice"].items()]
    others = [("queries", diff["queries"]), ("documents", diff["documents"])]
    return {"diff": diff, "diff_rows": rows, "diff_others": others}


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def release_draft_edit(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    draft = _draft(benchmark, pk)
    initial = DraftChangeForm.initial_of(
        ReleaseOptions.from_json(draft.options),
        version=draft.version,
        qrel_set=draft.qrel_set,
        notes=draft.notes,
    )
    form = DraftChangeForm(request.POST or None, benchmark=benchmark, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            changed = change_draft(user=request.user, draft=draft, **form.arguments())
            return redirect(jobs_of_draft(changed)[0])
        except BenchmarkError as error:
            form.add_error(None, str(error))
    crumbs = _crumbs(benchmark, (f"Draft {draft.version}", draft.get_absolute_url()), "Change")
    context = {"form": form, "draft": draft, "has_qrels": True, "crumbs": crumbs}
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/releases/release_new.html", context, status=status)


@require_POST
@benchmark_view(Action.EDIT)
def release_draft_check(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    return redirect(start_check(draft=_draft(benchmark, pk), user=request.user))


@require_POST
@benchmark_view(Action.EDIT)
def release_draft_delete(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    draft = _draft(benchmark, pk)
    delete_draft(user=request.user, draft=draft)
    messages.success(request, f"The draft {draft.version} is thrown away.")
    return redirect("release-list", benchmark.slug)


# --- published ones --------------------------------------------------------------------------


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def release_detail(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    release = published_release(benchmark, version)
    manifest = public_manifest(release.manifest)
    offers = exporting.offers(release)
    context = {
        "release": release,
        "manifest": manifest,
        "crumbs": _crumbs(benchmark, release.version),
        "stem": exporting.export_name(release),
        "has_beir_export": any(offer.exporter is BEIR and offer.is_possible for offer in offers),
        "has_texts": exporting.has_beir_export(release),
        "splits": manifest.get("splits", {}),
        "limits": manifest["warnings"],
        "citation": manifest.get("citation", ""),
        "has_card": "README.md" in manifest["files"],
        "has_leaks": "leaks.json" in manifest["files"],
        **_diff_of(release),
    }
    return render(request, "benchmarks_app/releases/release_detail.html", context)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def release_card(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    release = published_release(benchmark, version)
    if "README.md" not in release.manifest["files"]:
        raise Http404
    text = release_file_path(release, "README.md").read_text("utf-8")
    head, body = _parted(text)
    crumbs = _crumbs(benchmark, (release.version, release.get_absolute_url()), _("Card"))
    context = {"release": release, "crumbs": crumbs, "head": head, "body": _rendered(body)}
    return render(request, "benchmarks_app/releases/release_card.html", context)


def _parted(card: str) -> tuple[str, str]:
    """The head that machines read, and the text."""
    _, head, body = card.split("---\n", 2)
    return head, body


def _rendered(markdown: str) -> str:
    """Markdown of an owner as HTML with nothing in it that could fetch or run anything.

    Its headings go a level down: the page has a title of its own.
    """
    tokens = MARKDOWN.parse(markdown)
    for token in tokens:
        if token.type.startswith("heading_"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
    html = MARKDOWN.renderer.render(tokens, MARKDOWN.options, {})
    return mark_safe(nh3.clean(html, tags=CARD_TAGS))


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def release_files(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    release = published_release(benchmark, version)
    files = [
        {"name": name, "is_hidden": name.startswith(HIDDEN_FILES), **facts}
        for name, facts in sorted(public_manifest(release.manifest)["files"].items())
    ]
    crumbs = _crumbs(benchmark, (release.version, release.get_absolute_url()), _("Files"))
    context = {"release": release, "files": files, "crumbs": crumbs}
    return render(request, "benchmarks_app/releases/release_files.html", context)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def release_export(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponseBase:
    release = published_release(benchmark, version)
    return export_response(request, release, BEIR)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def release_file(
    request: HttpRequest, benchmark: Benchmark, version: str, name: str
) -> HttpResponseBase:
    return file_response(request, published_release(benchmark, version), name)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def release_deprecate(request: PersonRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    release = published_release(benchmark, version)
    form = DeprecateForm(request.POST or None, release=release)
    if request.method == "POST" and form.is_valid():
        try:
            deprecate_release(user=request.user, release=release, **form.cleaned_data)
        except BenchmarkError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Release {release.version} is deprecated.")
            return redirect(release)
    crumbs = _crumbs(benchmark, (release.version, release.get_absolute_url()), "Deprecate")
    context = {"release": release, "form": form, "crumbs": crumbs}
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/releases/release_deprecate.html", context, status=status)

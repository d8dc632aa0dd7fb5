"""Values reported from elsewhere: shown apart, never ranked."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.language import told
from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest, SiteRequest
from benchwright.errors import BenchmarkError, ScoringError
from benchwright.gates.small_files import MAIN
from scoring.boards.forms.reported import ReportedChangeForm, ReportedFileForm, ReportedValueForm
from scoring.boards.selectors.reported import (
    may_change_reported,
    reported_measures,
    reported_on,
    reported_rows,
)
from scoring.boards.services import reported
from scoring.models import ReportedScore
from scoring.scores.selectors.releases import newest_release, published_releases, release_of_version
from scoring.scores.shown import BOARD, FIRST_MEASURE, measure_named

FIRST = [*(measure.name for measure in BOARD), MAIN]


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def reported_list(request: SiteRequest, benchmark: Benchmark) -> HttpResponse:
    version = request.GET.get("release", "")
    release = release_of_version(benchmark, version) if version else None
    if version and release is None:
        raise Http404
    release = release or newest_release(benchmark)
    # A board asks for those that may be of its release; the page has all.
    of_release = release if request.htmx else None
    rows = reported_rows(reported_on(benchmark, of_release), request.user, benchmark)
    page = page_of(request, rows)
    names = reported_measures(page.object_list, FIRST)
    context = {
        "release": release,
        "releases": list(published_releases(benchmark)),
        "measure": FIRST_MEASURE,
        "page": page,
        "columns": [(name, _label(name)) for name in names],
    }
    name = "_reported_values" if request.htmx else "reported_list"
    return render(request, f"scoring/boards/{name}.html", context)


def _label(name: str) -> str:
    if name == MAIN:
        return _("main score")
    standard = measure_named(name)
    return standard.label if standard else name


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SUBMIT)
def reported_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Two forms on one page: a result file, or a value by hand."""
    is_file = request.POST.get("what") == "file"
    is_value = request.POST.get("what") == "value"
    # What was typed into the other form is not what is sent.
    files = ReportedFileForm(
        request.POST if is_file else None,
        request.FILES if is_file else None,
        benchmark=benchmark,
        prefix="file",
    )
    value = ReportedValueForm(
        request.POST if is_value else None,
        benchmark=benchmark,
        viewer=request.user,
        prefix="value",
    )
    if is_file and files.is_valid() and _imported(request, benchmark, files):
        return redirect("scoring:reported-list", benchmark.slug)
    if is_value and value.is_valid() and _entered(request, benchmark, value):
        return redirect("scoring:reported-list", benchmark.slug)
    status = 422 if request.method == "POST" else 200
    context = {"file_form": files, "value_form": value}
    return render(request, "scoring/boards/reported_new.html", context, status=status)


def _imported(request: PersonRequest, benchmark: Benchmark, form: ReportedFileForm) -> bool:
    arguments = form.arguments()
    file = arguments.pop("file")
    # One byte more than is read says that there are too many, and no more is held.
    content = file.read(reported.LARGEST_FILE + 1)
    try:
        imported = reported.import_mteb(
            benchmark=benchmark, user=request.user, content=content, file=file.name, **arguments
        )
    except BenchmarkError as error:
        form.add_error("file", told(error))
        return False
    n, n_known = imported.n_new, imported.n_known
    entered = ngettext(
        "{n} value of {systems} was entered.", "{n} values of {systems} were entered.", n
    ).format(n=f"{n:,}", systems=", ".join(imported.systems))
    there = ngettext("{n} was there already.", "{n} were there already.", n_known)
    more = f" {there.format(n=f'{n_known:,}')}" if n_known else ""
    messages.success(request, f"{entered}{more}")
    return True


def _entered(request: PersonRequest, benchmark: Benchmark, form: ReportedValueForm) -> bool:
    try:
        is_new = reported.enter_reported(benchmark=benchmark, user=request.user, **form.arguments())
    except ScoringError as error:
        form.add_error(_field_of(error), told(error))
        return False
    message = (
        _("The value of {system} was entered.")
        if is_new
        else _("The value of {system} was there already.")
    )
    messages.success(request, message.format(system=form.cleaned_data["system"]))
    return True


def _field_of(error: ScoringError) -> str:
    fields = {"reported-differs": "source", "reported-twice": "source", "reported-value": "value"}
    return fields.get(error.code, "measure")


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SUBMIT)
def reported_edit(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Correct one value, or what is said of it."""
    score = get_object_or_404(
        ReportedScore.objects.select_related("release"), benchmark=benchmark, pk=pk
    )
    keeps = may(request.user, Action.EDIT, benchmark)
    if not may_change_reported(request.user, score, keeps=keeps):
        raise PermissionDenied
    form = ReportedChangeForm(
        request.POST or None,
        benchmark=benchmark,
        viewer=request.user,
        initial=ReportedChangeForm.initial_of(score),
    )
    if form.is_valid() and _changed(request, score, form):
        return redirect("scoring:reported-list", benchmark.slug)
    status = 422 if request.method == "POST" else 200
    context = {"form": form, "score": score}
    return render(request, "scoring/boards/reported_edit.html", context, status=status)


def _changed(request: PersonRequest, score: ReportedScore, form: ReportedValueForm) -> bool:
    try:
        reported.change_reported(score=score, actor=request.user, **form.arguments())
    except ScoringError as error:
        form.add_error(_field_of(error), told(error))
        return False
    messages.success(request, _("The value of {system} was changed.").format(system=score.system))
    return True


@require_POST
@benchmark_view(Action.SUBMIT)
def reported_delete(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Take away what one source says of one system on one split, as far as one may change it."""
    first = ReportedScore.objects.filter(benchmark=benchmark, pk=pk).first()
    if first is None:
        raise Http404
    same = reported_on(benchmark).filter(
        system=first.system, split=first.split, source=first.source
    )
    (row,) = reported_rows(same, request.user, benchmark)
    if not row.keys:
        raise PermissionDenied
    own = same.filter(pk__in=row.keys.values())
    n = reported.remove_reported(scores=own, actor=request.user)
    removed = ngettext(
        "{n} reported value of {system} was removed.",
        "{n} reported values of {system} were removed.",
        n,
    )
    messages.success(request, removed.format(n=f"{n:,}", system=first.system))
    return redirect(reverse("scoring:reported-list", args=[benchmark.slug]))

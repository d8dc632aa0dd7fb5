"""Splits: how queries are split, what another split would be like, and what leaks between them."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    QueryDict,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.charts import Chart, chart_response
from benchmarks_app.common.services import reading_apart
from benchmarks_app.common.services.exposure import record_read
from benchmarks_app.language import told
from benchmarks_app.models import Benchmark, Job
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchmarks_app.splits import selectors
from benchmarks_app.splits.charts import CHARTS, charts_for
from benchmarks_app.splits.forms import MODES, HiddenForm, SplitForm
from benchmarks_app.splits.services import leak_reports, splitting
from benchwright.errors import BenchmarkError, FileProblemsError
from benchwright.findings import Severity
from benchwright.formats.numbers import row_key
from benchwright.ids import storable
from benchwright.leaks import as_json, as_markdown
from benchwright.recipes.splits import Mode
from benchwright.splits import SPLITS
from benchwright.uploads.row_streams import lines_of

TOKEN_SALT = "benchwright.split-preview"
NOT_KEPT = ("csrfmiddlewaretoken", "preview", "file", "apply")
ROWS_OF_SLICES = 40


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.VIEW)
def split_detail(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The split in force; for who may edit, the form of another one. A post previews or applies."""
    if not may(request.user, Action.EDIT, benchmark):
        if request.method == "POST" and not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if request.method == "POST":
            raise PermissionDenied
        return render(request, "benchmarks_app/splits/split_detail.html", _current(benchmark))
    request = cast(PersonRequest, request)  # who may edit is signed in
    job = _asked(request, benchmark)
    mode = _mode(request.POST if request.method == "POST" else request.GET)
    data = QueryDict(job.parameters["form"]) if job else request.POST or None
    form = SplitForm(data, request.FILES or None, benchmark=benchmark, mode=mode)
    context = {"form": form, "mode": mode, "modes": MODES}
    if job and form.is_valid():
        context |= _shown(benchmark, job.result["preview"], form)
    if request.method == "POST":
        done = _answered(request, benchmark, form, context)
        if done is not None:
            return done
    status = 422 if request.method == "POST" and form.errors else 200
    context |= _current(benchmark)
    return render(request, "benchmarks_app/splits/split_detail.html", context, status=status)


def _mode(params: QueryDict) -> str:
    mode = params.get("mode", "")
    return mode if mode in MODES else Mode.STRATIFIED.value


def _asked(request: PersonRequest, benchmark: Benchmark) -> Job | None:
    """The finished job of a preview that the address names."""
    key = row_key(request.GET.get("preview", ""))
    if request.method == "POST" or key is None:
        return None
    done = Job.objects.filter(
        benchmark=benchmark, kind=splitting.PREVIEW_KIND, state=Job.State.DONE
    )
    return done.filter(pk=key, created_by=request.user).first()


def _answered(
    request: PersonRequest, benchmark: Benchmark, form: SplitForm, context: dict[str, Any]
) -> HttpResponse | None:
    """Do what the form asks for; None where the page is to be shown again."""
    if form.is_valid() and form.mode == Mode.GIVEN and not form.cleaned_data["file"]:
        form.add_error("file", _("Choose the file that says which query is in which split."))
    if not form.is_valid():
        return None
    is_preview = "preview" in request.POST
    try:
        if form.mode != Mode.GIVEN and splitting.takes_long(benchmark):
            return redirect(_started(request, benchmark, form, is_preview=is_preview))
        given_splits = _given(request, benchmark, form)
        if is_preview:
            preview = splitting.previewed(
                benchmark=benchmark,
                recipe=form.recipe(),
                given_splits=given_splits,
                **form.options(),
            )
            context |= _shown(benchmark, preview, form)
            return None
        plan = splitting.apply_split(
            benchmark=benchmark,
            user=request.user,
            recipe=form.recipe(),
            given_splits=given_splits,
            **form.options(),
        )
    except FileProblemsError as error:
        context["problems"] = error.problems
        form.add_error("file", _("The file has problems; nothing was changed."))
        return None
    except BenchmarkError as error:
        form.add_error(None, told(error))
        return None
    sizes = ", ".join(f"{split} {n:,}" for split, n in plan.sizes.items() if n)
    messages.success(request, _("Split: %(sizes)s.") % {"sizes": sizes})
    return redirect("split-detail", benchmark.slug)


def _started(
    request: PersonRequest, benchmark: Benchmark, form: SplitForm, *, is_preview: bool
) -> Job:
    start = splitting.start_split
    if is_preview:
        start = partial(splitting.start_preview, form=_kept(request.POST).urlencode())
    user, recipe = request.user, form.recipe()
    return start(benchmark=benchmark, user=user, recipe=recipe, **form.options())


def _given(request: HttpRequest, benchmark: Benchmark, form: SplitForm) -> dict[str, str] | None:
    if form.mode != Mode.GIVEN:
        return None
    file = form.cleaned_data["file"]
    lines = reading_apart.call(lines_of, file.read(), file.name, file=file.name)
    return splitting.given_from(benchmark, lines, file=file.name)


# --- previewing ----------------------------------------------------------------------------


@require_safe
@benchmark_view(Action.EDIT)
def split_preview(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """What the split would be like that is being filled in; a part of the form's page."""
    context: dict[str, Any] = {"mode": _mode(request.GET)}
    form = SplitForm(request.GET, benchmark=benchmark, mode=context["mode"])
    if form.mode == Mode.GIVEN:
        context["note"] = _(
            "Choose the file, then press Preview: a file is not read while you type."
        )
    elif splitting.takes_long(benchmark):
        context["note"] = _("So many queries take a while: press Preview.")
    elif not form.is_valid():
        context["errors"] = [error for errors in form.errors.values() for error in errors]
    else:
        try:
            preview = splitting.previewed(
                benchmark=benchmark, recipe=form.recipe(), given_splits=None, **form.options()
            )
            context |= _shown(benchmark, preview, form)
        except BenchmarkError as error:
            context["errors"] = [told(error)]
    return render(request, "benchmarks_app/splits/_split_preview.html", context)


def _kept(params: Mapping[str, Any]) -> QueryDict:
    data = QueryDict(mutable=True)
    data.update(params)
    for name in NOT_KEPT:
        data.pop(name, None)
    return data


def _shown(benchmark: Benchmark, preview: dict[str, Any], form: SplitForm) -> dict[str, Any]:
    """What the page shows of a preview."""
    slices = sorted(preview["slices"], key=lambda row: -row["deviation"])
    context = {
        "preview": preview,
        "slices": slices[:ROWS_OF_SLICES],
        "n_more_slices": max(0, len(slices) - ROWS_OF_SLICES),
        "warnings": [
            finding for finding in preview["findings"] if finding["severity"] == Severity.WARNING
        ],
        # Elsewhere dates, a slice or a file decide how large a split is.
        "has_asked_sizes": form.mode in (Mode.STRATIFIED, Mode.RANDOM),
    }
    if form.mode == Mode.GIVEN:
        return context
    token = signing.dumps(_kept(form.data).urlencode(), salt=TOKEN_SALT, compress=True)
    names = charts_for(preview)
    charts = [
        (reverse("split-preview-chart", args=[benchmark.slug, token, name, "svg"]), chart)
        for name, chart in names
    ]
    return {**context, "preview_charts": charts}


@require_safe
@benchmark_view(Action.EDIT)
def split_preview_chart(
    request: PersonRequest, benchmark: Benchmark, recipe: str, split_chart: str, format: str
) -> HttpResponseBase:
    """A chart of a split that is being filled in; `recipe` holds what was filled in, signed."""
    try:
        params = QueryDict(signing.loads(recipe, salt=TOKEN_SALT, max_age=86_400))
    except signing.BadSignature as error:
        raise Http404 from error
    form = SplitForm(params, benchmark=benchmark, mode=_mode(params))
    if not form.is_valid() or form.mode == Mode.GIVEN:
        raise Http404
    try:
        preview = splitting.previewed(
            benchmark=benchmark, recipe=form.recipe(), given_splits=None, **form.options()
        )
    except BenchmarkError as error:
        raise Http404 from error
    return chart_response(request, _chart(preview, split_chart), format)


def _chart(preview: dict[str, Any], name: str) -> Chart:
    drawn = dict(charts_for(preview))
    if name not in drawn:
        raise Http404
    return drawn[name]


# --- the split in force --------------------------------------------------------------------


def _current(benchmark: Benchmark) -> dict[str, Any]:
    plan = selectors.current_plan(benchmark)
    sizes = selectors.split_sizes(benchmark)
    context: dict[str, Any] = {
        "plan": plan,
        "sizes": sizes,
        "n_queries": sum(sizes.values()),
        "is_split": any(sizes.get(split) for split in SPLITS),
        "hidden_form": HiddenForm(initial={"hidden": benchmark.hidden_splits}, prefix="now"),
    }
    if not context["is_split"]:
        return context
    description = splitting.current_description(benchmark)
    report = leak_reports.kept_leak_report(benchmark)
    charts = [
        (reverse("split-chart", args=[benchmark.slug, name, "svg"]), chart)
        for name, chart in charts_for(description)
    ]
    return {
        **context,
        "described": description,
        "charts": charts,
        "report": report,
        "is_outdated": plan is not None and selectors.is_outdated(benchmark, plan),
        "n_unsplit": sizes.get("", 0),
    }


@require_safe
@benchmark_view(Action.VIEW)
def split_chart(
    request: HttpRequest, benchmark: Benchmark, split_chart: str, format: str
) -> HttpResponseBase:
    if split_chart not in CHARTS:
        raise Http404
    description = splitting.current_description(benchmark)
    return chart_response(request, _chart(description, split_chart), format)


@require_safe
@benchmark_view(Action.VIEW)
def split_assignment(request: HttpRequest, benchmark: Benchmark) -> HttpResponseBase:
    """Which query is in which split, as the mode `from a file` takes it."""

    def lines() -> Iterator[str]:
        yield "query-id\tsplit\n"
        for qid, split in selectors.assignment_rows(benchmark):
            yield f"{qid}\t{split}\n"

    return StreamingHttpResponse(
        lines(),
        content_type="text/tab-separated-values; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{benchmark.slug}-splits.tsv"'},
    )


@require_POST
@benchmark_view(Action.EDIT)
def split_hide(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    form = HiddenForm(request.POST, prefix="now")
    if not form.is_valid():
        messages.error(request, _("Choose among train, dev and test."))
        return redirect("split-detail", benchmark.slug)
    hidden = form.cleaned_data["hidden"]
    try:
        splitting.choose_hidden(benchmark=benchmark, user=request.user, hidden=hidden)
    except BenchmarkError as error:
        messages.error(request, told(error))
    else:
        advice = _("No grades are hidden.")
        if hidden:
            advice = _("Grades of %(splits)s are hidden.") % {"splits": ", ".join(hidden)}
        messages.success(request, advice)
    return redirect("split-detail", benchmark.slug)


# --- leaks ---------------------------------------------------------------------------------


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def leak_report_detail(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    report = _report(request, benchmark)
    under_way = (
        Job.objects.active().filter(benchmark=benchmark, kind=leak_reports.LEAKS_KIND).first()
    )
    context = {
        "report": report,
        "plan": selectors.current_plan(benchmark),
        "under_way": under_way if may(request.user, Action.EDIT, benchmark) else None,
        "keys": _query_keys(benchmark, report),
    }
    return render(request, "benchmarks_app/splits/leak_report.html", context)


def _report(request: HttpRequest, benchmark: Benchmark) -> dict[str, Any] | None:
    """The report as this person may see it; None where it takes long and nobody asked for it."""
    see_hidden = may(request.user, Action.EDIT, benchmark)
    report = leak_reports.kept_leak_report(benchmark, see_hidden=see_hidden)
    if report is None and not leak_reports.leaks_take_long(benchmark):
        report = leak_reports.current_leak_report(benchmark, see_hidden=see_hidden)
    if report and see_hidden and benchmark.hidden_splits:
        record_read(actor=request.user, benchmark=benchmark, what="leak report")
    return report


def _query_keys(benchmark: Benchmark, report: dict[str, Any] | None) -> dict[str, tuple[int, int]]:
    """{query id: its keys and its family's} of the queries that the page names."""
    if not report:
        return {}
    named = {
        leak[side]["qid"]
        for pair in report["pairs"]
        for leak in [
            *pair["nearest"],
            *(each for leaks in pair["leaks"].values() for each in leaks["listed"]),
        ]
        for side in "ab"
    }
    return selectors.query_keys(benchmark, named)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def leak_report_file(request: HttpRequest, benchmark: Benchmark, written: str) -> HttpResponse:
    """The report as JSON or Markdown; as everyone may see it, for it is passed on."""
    report = leak_reports.kept_leak_report(benchmark)
    if report is None and not leak_reports.leaks_take_long(benchmark):
        report = leak_reports.current_leak_report(benchmark)
    if report is None or written not in LEAK_FILES:
        raise Http404
    kind, write = LEAK_FILES[written]
    name = f"{benchmark.slug}-leaks.{written}"
    return HttpResponse(
        write(report),
        content_type=kind,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


LEAK_FILES = {
    "json": ("application/json", as_json),
    "md": ("text/markdown; charset=utf-8", as_markdown),
}


@require_POST
@benchmark_view(Action.EDIT)
def leak_differ(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Two queries of different splits read alike, and a person says that they differ."""
    pair = [
        get_object_or_404(benchmark.queries.committed(), qid=storable(request.POST.get(side, "")))
        for side in "ab"
    ]
    try:
        leak_reports.tell_apart(benchmark=benchmark, user=request.user, a=pair[0], b=pair[1])
    except BenchmarkError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{pair[0].qid} and {pair[1].qid} differ; this is remembered.")
    return redirect("leak-report-detail", benchmark.slug)


@require_POST
@benchmark_view(Action.EDIT)
def leak_report_compute(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    with transaction.atomic():
        job = leak_reports.start_leak_report(benchmark=benchmark, user=request.user)
    return redirect(job)

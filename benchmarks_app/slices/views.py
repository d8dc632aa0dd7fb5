"""Slices: made, looked at, confirmed, registered."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.collections.services import uploading
from benchmarks_app.models import Benchmark, Job, Slice, SliceMember
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.queries.selectors import sliceable_queries
from benchmarks_app.requests import PersonRequest
from benchmarks_app.slices import selectors
from benchmarks_app.slices.forms import (
    HAND,
    KINDS,
    QueryIdsForm,
    RuleForm,
    SliceFileForm,
    SliceForm,
)
from benchmarks_app.slices.services import changes, importing_slices, members, rules, slicing
from benchwright.errors import BenchmarkError, FileProblemsError
from benchwright.formats.numbers import row_key
from benchwright.slices.rules import checked_rule

SHOWN = {
    "members": SliceMember.State.MEMBER,
    "suggestions": SliceMember.State.SUGGESTED,
    "rejected": SliceMember.State.REJECTED,
}
TABS = {
    "members": gettext_noop("Members"),
    "suggestions": gettext_noop("Suggestions"),
    "rejected": gettext_noop("Rejected"),
}


def _slice(benchmark: Benchmark, name: str) -> Slice:
    row = get_object_or_404(Slice, benchmark=benchmark, name=name)
    row.benchmark = benchmark
    return row


@require_safe
@benchmark_view(Action.VIEW)
def slice_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    may_edit = may(request.user, Action.EDIT, benchmark)
    rows = selectors.slice_rows(benchmark, has_density=may_edit)
    context = {
        "rows": rows,
        "n_queries": sliceable_queries(benchmark).count(),
        "plan": selectors.plan_for(benchmark, rows) if may_edit else None,
        "has_density": may_edit and any(row.density for row in rows),
    }
    return render(request, "benchmarks_app/slices/slice_list.html", context)


# --- making --------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def slice_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """A choice of kinds, then the form of one; `preview` shows what it takes and makes nothing."""
    params = request.POST if request.method == "POST" else request.GET
    kind = params.get("kind", "")
    is_known = kind in KINDS
    form = SliceForm(request.POST or None, kind=kind if is_known else "frequency")
    context: dict[str, Any] = {"kinds": KINDS, "kind": kind if is_known else "", "form": form}
    if is_known:
        context |= {"title": KINDS[kind][0], "lead": KINDS[kind][1], "is_hand": kind == HAND}
    if request.method == "POST" and not is_known:
        form.add_error(None, "Choose a kind of slice first.")
    elif request.method == "POST" and form.is_valid():
        if "preview" not in request.POST:
            outcome = _made(request, benchmark, form)
            if outcome is not None:
                return redirect(_after(request, outcome))
        elif kind != HAND:
            context["preview"] = _preview(benchmark, form)
    status = 422 if request.method == "POST" and form.errors else 200
    return render(request, "benchmarks_app/slices/slice_new.html", context, status=status)


def _made(request: PersonRequest, benchmark: Benchmark, form: SliceForm) -> Slice | Job | None:
    """What was made or started; None where it could not be, which the form then says."""
    data = form.cleaned_data
    shared = {"description": data["description"], "minimum": data["minimum"]}
    try:
        if form.kind == HAND:
            return members.make_hand_slice(
                benchmark=benchmark,
                name=data["name"],
                qids=data["qids"],
                actor=request.user,
                **shared,
            )
        wanted = slicing.Wanted(data["name"], form.rule, **shared)
        return slicing.start_slice(benchmark=benchmark, wanted=wanted, actor=request.user)
    except BenchmarkError as error:
        form.add_error(None, str(error))
        return None


def _after(request: HttpRequest, outcome: Slice | Job) -> Any:
    """Where to go: to the slice, or to the job that makes it."""
    if isinstance(outcome, Job):
        return outcome
    messages.success(request, f"Slice “{outcome.name}” is there.")
    return slicing.slice_url(outcome)


def _preview(benchmark: Benchmark, form: RuleForm) -> Any:
    try:
        return rules.preview_rule(benchmark, form.rule)
    except BenchmarkError as error:
        form.add_error(None, str(error))
        return None


@require_safe
@benchmark_view(Action.EDIT)
def slice_preview(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """What the rule takes that is being filled in; a part of the form's page."""
    kind = request.GET.get("kind", "")
    form = RuleForm(request.GET, kind=kind if kind in KINDS and kind != HAND else "length")
    preview = _preview(benchmark, form) if form.is_valid() else None
    errors = [error for of_field in form.errors.values() for error in of_field]
    context = {"preview": preview, "errors": errors}
    return render(request, "benchmarks_app/slices/_slice_preview.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def slice_import(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    form = SliceFileForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            upload = uploading.receive_upload(
                benchmark=benchmark, owner=request.user, file=form.cleaned_data["file"]
            )
            job = importing_slices.start_import(
                benchmark=benchmark, user=request.user, upload=upload
            )
        except BenchmarkError as error:
            form.add_error(None, str(error))
        else:
            return redirect(job)
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/slices/slice_import.html", {"form": form}, status=status)


# --- one slice -----------------------------------------------------------------------------


@require_safe
@benchmark_view(Action.VIEW)
def slice_detail(request: HttpRequest, benchmark: Benchmark, slice_name: str) -> HttpResponse:
    row = _slice(benchmark, slice_name)
    return _detail(request, benchmark, row, QueryIdsForm())


def _detail(
    request: HttpRequest, benchmark: Benchmark, query_slice: Slice, form: QueryIdsForm
) -> HttpResponse:
    may_edit = may(request.user, Action.EDIT, benchmark)
    row = selectors.slice_rows(benchmark, has_density=may_edit, only=query_slice)[0]
    # Guesses and why they were made tell of grades, which not everybody may know.
    members_state = _asked_state(request, row) if may_edit else "members"
    counts = selectors.n_by_state(query_slice)
    context = {
        "slice": query_slice,
        "row": row,
        "rule": query_slice.rule,
        "plan": selectors.plan_for(benchmark, [row]) if may_edit else None,
        "tabs": [(name, TABS[name], counts[state]) for name, state in SHOWN.items()]
        if may_edit
        else [],
        "shown": members_state,
        "page": page_of(request, selectors.member_rows(query_slice, SHOWN[members_state])),
        "form": form,
        "may_decide": may_edit and not query_slice.is_registered,
    }
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/slices/slice_detail.html", context, status=status)


def _asked_state(request: HttpRequest, row: selectors.SliceRow) -> str:
    state = request.GET.get("show", "")
    if state in SHOWN:
        return state
    return "suggestions" if row.n_suggested and not row.n_members else "members"


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def slice_edit(request: PersonRequest, benchmark: Benchmark, slice_name: str) -> HttpResponse:
    """Name, description, minimum and rule; of a registered slice the description alone."""
    row = _slice(benchmark, slice_name)
    has_rule = bool(row.rule)
    form = SliceForm(
        request.POST or None,
        kind=row.kind if has_rule else HAND,
        rule=row.rule if has_rule else None,
        is_new=False,
        is_registered=row.is_registered,
        initial={
            "name": row.name,
            "description": row.description,
            "minimum": row.minimum,
        },
    )
    if request.method == "POST" and form.is_valid():
        try:
            changed = _changed(request, row, form)
        except BenchmarkError as error:
            form.add_error(None, str(error))
        else:
            return redirect(changed if isinstance(changed, Job) else slicing.slice_url(changed))
    context = {"slice": row, "form": form}
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/slices/slice_edit.html", context, status=status)


def _changed(request: PersonRequest, row: Slice, form: SliceForm) -> Slice | Job:
    data = form.cleaned_data
    changed = changes.change_slice(
        of=row,
        actor=request.user,
        name=data["name"],
        description=data["description"],
        minimum=data["minimum"],
    )
    if row.rule and checked_rule(form.rule) != checked_rule(row.rule):
        return slicing.start_refresh(of=changed, actor=request.user, rule=form.rule)
    return changed


@require_POST
@benchmark_view(Action.EDIT)
def slice_decide(request: PersonRequest, benchmark: Benchmark, slice_name: str) -> HttpResponse:
    """Confirm or reject one query, those that are ticked, or every suggestion."""
    query_slice = _slice(benchmark, slice_name)
    verdict, member = _verdict(request)
    chosen = [member] if member else request.POST.getlist("member")
    keys = [key for text in chosen if (key := row_key(text)) is not None]
    is_all = "all" in request.POST
    if verdict and (keys or is_all):
        n = members.decide_members(
            of=query_slice, actor=request.user, verdict=verdict, members=None if is_all else keys
        )
        if verdict == members.CONFIRM:
            message = ngettext("%(n)s query confirmed.", "%(n)s queries confirmed.", n)
        else:
            message = ngettext("%(n)s query rejected.", "%(n)s queries rejected.", n)
        message %= {"n": f"{n:,}"}
    else:
        message = _("Nothing was ticked, so nothing was changed.")
    if request.htmx:
        row = selectors.member_row(query_slice, keys[0]) if keys else None
        state = request.POST.get("show", "")
        context = {
            "member": row,
            "slice": query_slice,
            "shown": state,
            "may_decide": True,
            "has_reason": True,
            "was_decided": True,
        }
        return render(request, "benchmarks_app/slices/_slice_member.html", context)
    messages.info(request, message)
    url = slicing.slice_url(query_slice)
    state = request.POST.get("show", "")
    return redirect(f"{url}?show={state}" if state in SHOWN else url)


def _verdict(request: HttpRequest) -> tuple[str, str]:
    """What was decided, and on which row where its own button was pressed ("confirm:12")."""
    verdict, _, member = request.POST.get("verdict", "").partition(":")
    return (verdict if verdict in (members.CONFIRM, members.REJECT) else ""), member


@require_POST
@benchmark_view(Action.EDIT)
def slice_add(request: PersonRequest, benchmark: Benchmark, slice_name: str) -> HttpResponse:
    row = _slice(benchmark, slice_name)
    form = QueryIdsForm(request.POST)
    if form.is_valid():
        try:
            n = members.add_queries(to=row, qids=form.cleaned_data["qids"], actor=request.user)
        except FileProblemsError as error:
            for problem in error.problems:
                form.add_error("qids", f"line {problem.line}: {problem.text}")
        else:
            added = ngettext("%(n)s query added.", "%(n)s queries added.", n)
            messages.success(request, added % {"n": f"{n:,}"})
            return redirect(slicing.slice_url(row))
    return _detail(request, benchmark, row, form)


@require_POST
@benchmark_view(Action.EDIT)
def slice_refresh(request: PersonRequest, benchmark: Benchmark, slice_name: str) -> HttpResponse:
    row = _slice(benchmark, slice_name)
    outcome = slicing.start_refresh(of=row, actor=request.user)
    if isinstance(outcome, Job):
        return redirect(outcome)
    messages.success(request, _("The rule was applied to the queries as they are now."))
    return redirect(slicing.slice_url(outcome))


@require_POST
@benchmark_view(Action.EDIT)
def slice_register(request: PersonRequest, benchmark: Benchmark, slice_name: str) -> HttpResponse:
    outcome = changes.register_slice(of=_slice(benchmark, slice_name), actor=request.user)
    registered = _("“%(name)s” is registered: its members stay as they are.")
    messages.success(request, registered % {"name": outcome.name})
    return redirect(slicing.slice_url(outcome))


@require_POST
@benchmark_view(Action.EDIT)
def slice_delete(request: PersonRequest, benchmark: Benchmark, slice_name: str) -> HttpResponse:
    changes.delete_slice(of=_slice(benchmark, slice_name), actor=request.user)
    deleted = _("Slice “%(name)s” is deleted; its queries are still there.")
    messages.success(request, deleted % {"name": slice_name})
    return redirect("slice-list", benchmark.slug)

"""Building a pool: what it would be like beside the form, and then the job that does it."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django_htmx.http import retarget

from annotation.models import Pool
from annotation.pools.forms.building import PoolForm
from annotation.pools.services import previewing
from annotation.pools.services.pooling import pool_arguments
from annotation.pools.views.previewing import shown_preview
from benchmarks_app.jobs.services import jobs
from benchmarks_app.label_facts import seconds_per_label
from benchmarks_app.models import Benchmark, Job, Run, User
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from benchwright.formats.numbers import row_key

MOST_TICKED = 50
# A preview that nobody gave a seed draws the same random documents each time.
PREVIEW_SEED = 0
TAKES_LONG = {"note": "These runs take a while to read.", "is_long": True}


@benchmark_view(Action.EDIT)
def pool_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """The form with its preview; htmx gets the preview alone."""
    runs = runs_of(benchmark, request.user)
    preview_job = _asked(request, benchmark)
    if request.method == "POST":
        data = _posted(request)
    elif preview_job:
        data = QueryDict(preview_job.parameters["form"], mutable=True)
    else:
        data = _beginning(request, benchmark, runs)
    is_preview = request.method != "POST" or "preview" in data
    form = PoolForm(data, benchmark=benchmark, runs=runs, is_preview=is_preview)
    if not form.is_valid():
        return _refused(request, form, runs)
    if is_preview:
        return _preview(request, benchmark, form, preview_job)
    with transaction.atomic():
        arguments = pool_arguments(benchmark=benchmark, **form.arguments())
        job = jobs.start(benchmark=benchmark, user=request.user, **arguments)
    return redirect(job)


def runs_of(benchmark: Benchmark, user: User) -> QuerySet[Run]:
    return Run.objects.visible_to(user).filter(benchmark=benchmark).order_by("name")


def _posted(request: PersonRequest) -> QueryDict:
    """What was sent; a depth that the preview proposed takes the place of the one filled in."""
    data = request.POST.copy()
    if "set_depth" in data:
        data.setlist("depth", data.getlist("set_depth"))
        data["preview"] = "1"
    return data


# --- what the form is filled in with ------------------------------------------------------------


def _asked(request: PersonRequest, benchmark: Benchmark) -> Job | None:
    """The finished job of a preview that the address names."""
    key = row_key(request.GET.get("preview", ""))
    if request.method == "POST" or key is None:
        return None
    done = Job.objects.filter(benchmark=benchmark, kind=previewing.JOB_KIND, state=Job.State.DONE)
    return done.filter(pk=key, created_by=request.user).first()


def _beginning(request: PersonRequest, benchmark: Benchmark, runs: QuerySet[Run]) -> QueryDict:
    """Every field as it is best to begin with; runs, or a list, that the address names first."""
    named = [key for run in request.GET.getlist("run") if (key := row_key(run)) is not None]
    standing = runs.filter(withdrawn_at=None).order_by("-pk")
    chosen = runs.filter(pk__in=named) if named else standing[:MOST_TICKED]
    keys = [run.pk for run in chosen]
    lists = benchmark.candidate_lists.order_by("-pk")
    list_key = row_key(request.GET.get("list", ""))
    listed = lists.filter(pk=list_key).first() if list_key is not None else None
    values: dict[str, Any] = {"runs": keys}
    if listed is None and not keys:
        listed = lists.first()
    if listed:
        values |= {"candidates": listed.pk, "strategy": Pool.Strategy.TOP_UP, "control": 0}
    if pace := seconds_per_label(benchmark):
        values["seconds"] = max(round(pace), 1)
    data = QueryDict(mutable=True)
    for name, field in PoolForm.base_fields.items():
        value = values.get(name, field.initial)
        items = value if isinstance(value, list) else [value]
        data.setlist(name, [str(item) for item in items if item not in (None, False, "")])
    return data


# --- what comes back ----------------------------------------------------------------------------


def _page(
    request: PersonRequest,
    form: PoolForm,
    runs: QuerySet[Run],
    preview: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page, or its preview alone; only the note of it where there is nothing to show."""
    context = {"form": form, "has_runs": runs.exists(), "is_live": bool(request.htmx)}
    context |= preview or {}
    if not request.htmx:
        return render(request, "annotation/pools/pool_new.html", context, status=status)
    if "preview" in context:
        return render(request, "annotation/pools/_pool_preview.html", context)
    answer = render(request, "annotation/pools/_pool_preview_note.html", context, status=status)
    # The figures of before stay, greyed, beside what is wrong now.
    return retarget(answer, "#preview-note")


def _refused(request: PersonRequest, form: PoolForm, runs: QuerySet[Run]) -> HttpResponse:
    is_opened = request.method != "POST"
    messages = [str(message) for messages in form.errors.values() for message in messages]
    note = {"note": " ".join(messages)} if request.htmx else None
    return _page(request, form, runs, note, status=200 if is_opened else 422)


def _preview(
    request: PersonRequest, benchmark: Benchmark, form: PoolForm, preview_job: Job | None
) -> HttpResponse:
    """The page with the preview on it, or the job that makes it where that takes a while."""
    runs = runs_of(benchmark, request.user)
    pace = seconds_per_label(benchmark)
    if preview_job:
        return _page(request, form, runs, shown_preview(preview_job.result["preview"], form, pace))
    name = form.cleaned_data["name"] or "preview"
    arguments = {**form.arguments(), "name": name}
    parameters = pool_arguments(benchmark=benchmark, **arguments)["parameters"]
    if previewing.takes_long(benchmark, parameters):
        if request.method != "POST" or request.htmx:
            return _page(request, form, runs, TAKES_LONG)
        with transaction.atomic():
            job = previewing.start_preview(
                benchmark=benchmark,
                user=request.user,
                parameters=parameters,
                form=request.POST.urlencode(),
            )
        return redirect(job)
    if form.cleaned_data["seed"] is None:
        parameters["seed"] = PREVIEW_SEED
    try:
        preview = previewing.preview_of(benchmark, parameters)
    except BenchmarkError as error:
        if request.htmx or request.method != "POST":
            return _page(request, form, runs, {"note": str(error)})
        form.add_error(None, str(error))
        return _page(request, form, runs, status=422)
    return _page(request, form, runs, shown_preview(preview, form, pace))

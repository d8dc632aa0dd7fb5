"""The labeling page: one document of one query at a time, and nothing of who found it where.

What these views return holds no run, rank, score, document id or grade of another person. Every
action works as a plain form (post, then redirect) and, asked for by the page's script, answers
with the next document alone.
"""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation import selectors
from annotation.core.judging_errors import SlotTokenError
from annotation.forms import CANT_JUDGE_REASONS, CantJudgeForm, JudgmentForm, UndoForm
from annotation.models import Judgment, Pool, Slot
from annotation.selectors import Work
from annotation.services.claiming import claim_slots, release_slots
from annotation.services.judging import record_cant_judge, record_judgment, undo_last
from annotation.services.tokens import Shown, issue_token, read_token
from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, require

PAGE_SIZE = 25


@never_cache
@login_required
@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    """My work: every open pool of every benchmark where I judge."""
    page = page_of(request, selectors.pools_to_judge(request.user), PAGE_SIZE)
    return render(request, "annotation/queue.html", {"page": page})


@never_cache
@require_safe
@benchmark_view(Action.JUDGE)
def judge_benchmark(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Straight to the documents of the first pool that has some for me, or why there are none."""
    states = [
        (pool, selectors.work_state(pool, request.user))
        for pool in Pool.objects.built().filter(benchmark=benchmark).order_by("pk")
    ]
    for pool, state in states:
        if state.work == Work.READY:
            return redirect("annotation:judge", pool.pk)
    return render(request, "annotation/judge_benchmark.html", {"states": states})


@never_cache
@login_required
@require_safe
def judge(request: HttpRequest, pk: int) -> HttpResponse:
    pool = _pool_to_judge(request, pk)
    context = {"pool": pool, "benchmark": pool.benchmark, **_screen(request, pool)}
    return render(request, "annotation/judge.html", context)


@never_cache
@login_required
@require_POST
def judgment_create(request: HttpRequest, pk: int) -> HttpResponse:
    pool = _pool_to_judge(request, pk)
    form = JudgmentForm(request.POST)
    slot, shown = _slot_and_shown(request, pool, form)
    said = form.cleaned_data
    saved = record_judgment(
        slot=slot,
        actor=request.user,
        grade=said["grade"],
        client_id=said["client_id"],
        shown=shown,
    )
    return _next(request, pool, _said_to_be_saved(f"Grade {saved.grade} saved", saved))


@never_cache
@login_required
@require_POST
def cant_judge_create(request: HttpRequest, pk: int) -> HttpResponse:
    pool = _pool_to_judge(request, pk)
    form = CantJudgeForm(request.POST)
    slot, shown = _slot_and_shown(request, pool, form)
    saved = record_cant_judge(
        slot=slot,
        actor=request.user,
        reason=form.said,
        client_id=form.cleaned_data["client_id"],
        shown=shown,
    )
    return _next(request, pool, _said_to_be_saved("“Can't judge” saved", saved))


@never_cache
@login_required
@require_POST
def judgment_undo(request: HttpRequest, pk: int) -> HttpResponse:
    pool = _pool_to_judge(request, pk)
    form = UndoForm(request.POST)
    if not form.is_valid():
        raise SlotTokenError
    event = undo_last(pool=pool, actor=request.user, client_id=form.cleaned_data["client_id"])
    return _next(request, pool, "Undone. Judge this document again", again=event.slot)


@login_required
@require_POST
def judge_stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop for today: the documents I hold go back to the others."""
    pool = _pool_to_judge(request, pk)
    n_released = release_slots(pool=pool, annotator=request.user)
    given_back = "1 document" if n_released == 1 else f"{n_released} documents"
    messages.success(request, f"Everything is saved. {given_back} went back to the queue.")
    return redirect("annotation:queue")


# --- parts -------------------------------------------------------------------------------------


def _pool_to_judge(request: HttpRequest, pk: int) -> Pool:
    pools = Pool.objects.built().select_related("benchmark__corpus")
    pool = get_object_or_404(pools, pk=pk)
    require(request.user, Action.JUDGE, pool.benchmark)
    return pool


def _slot_and_shown(request: HttpRequest, pool: Pool, form: Any) -> tuple[Slot, Shown]:
    if not form.is_valid():
        raise SlotTokenError
    slot, shown = read_token(token=form.cleaned_data["token"], annotator=request.user)
    if slot.pool_id != pool.pk:
        raise SlotTokenError
    dwell = form.cleaned_data["dwell_ms"]
    return slot, Shown(shown.content_hash, shown.guideline_id, shown.shown_position, dwell)


def _said_to_be_saved(what: str, saved: Judgment) -> str:
    if not saved.is_surplus:
        return what
    return f"{what} as an extra label: the document had gone to somebody else"


def _next(request: HttpRequest, pool: Pool, said: str, again: Slot | None = None) -> HttpResponse:
    """The next document: alone for the page's script, after a redirect for a plain form."""
    if not request.htmx:
        messages.success(request, f"{said}.")
        url = redirect("annotation:judge", pool.pk)
        if again:
            url["Location"] += f"?again={_token(request, again)}"
        return url
    context = {"pool": pool, "said": said, **_screen(request, pool, again)}
    return render(request, "annotation/_judge_screen.html", context)


def _screen(request: HttpRequest, pool: Pool, again: Slot | None = None) -> dict[str, Any]:
    """What the labeling page shows: a document with its query, or why there is none."""
    has_texts = pool.benchmark.corpus.has_texts
    slots = claim_slots(pool=pool, annotator=request.user) if has_texts else []
    slot = _held_again(request, pool, again) or (slots[0] if slots else None)
    if slot is not None:
        return _document(request, pool, slot)
    return {
        "state": selectors.work_state(pool, request.user),
        "last": selectors.last_judgment_of(pool, request.user),
        "undo_id": uuid.uuid4(),
    }


def _held_again(request: HttpRequest, pool: Pool, again: Slot | None) -> Slot | None:
    """The document whose judgment was just taken back, while it is still this person's."""
    if again is None and "again" in request.GET:
        again, _ = read_token(token=request.GET["again"], annotator=request.user)
    if again is None:
        return None
    held = selectors.slots_held(pool, request.user).filter(pk=again.pk)
    return held.select_related("pool", "query", "entry__document").first()


def _document(request: HttpRequest, pool: Pool, slot: Slot) -> dict[str, Any]:
    content = selectors.content_of(slot)
    guideline = selectors.current_guideline(pool.benchmark)
    place = selectors.place_in_query(slot, request.user)
    shown = Shown(
        content_hash=content.content_hash if content else "",
        guideline_id=guideline.pk if guideline else None,
        shown_position=place.number,
    )
    return {
        "query": slot.query,
        "title": content.title if content else "",
        "text": content.text if content else "",
        "lang": (content and content.lang) or pool.benchmark.corpus.lang,
        "guideline": guideline,
        "grades": list(pool.benchmark.grades.all()),
        "reasons": CANT_JUDGE_REASONS,
        "token": issue_token(slot=slot, annotator=request.user, shown=shown),
        "client_id": uuid.uuid4(),
        "undo_id": uuid.uuid4(),
        "wants_reason": "cant-judge" in request.GET,
        "place": place,
        "labels": selectors.labels_in_pool(pool),
        "last": selectors.last_judgment_of(pool, request.user),
    }


def _token(request: HttpRequest, slot: Slot) -> str:
    return issue_token(slot=slot, annotator=request.user, shown=Shown())

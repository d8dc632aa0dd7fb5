"""The labeling page: one document of one query at a time, and nothing of who found it where.

The page comes with its first documents, from which its script goes on (`views.exchange`). Without a
script every action is a plain form: post, then redirect. What these views return holds no run,
rank, score, document id or grade of another person.
"""

import uuid
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.dateparse import parse_datetime
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.common.selectors import screen
from annotation.judging.forms import (
    CANT_JUDGE_REASONS,
    AskForm,
    CantJudgeForm,
    JudgmentForm,
    KeyMapForm,
    LaterForm,
    UndoForm,
)
from annotation.judging.protocol.errors import SlotTokenError
from annotation.judging.protocol.exchange import Request
from annotation.judging.selectors import keys
from annotation.judging.selectors.starting import step_before_judging
from annotation.judging.selectors.work import Work, work_state
from annotation.judging.services.claiming import DOCUMENTS_AHEAD, release_slots
from annotation.judging.services.exchanging import exchange
from annotation.judging.services.judging import (
    ask_question,
    put_off,
    record_cant_judge,
    record_judgment,
    undo_last,
)
from annotation.judging.services.mapping_keys import save_key_map
from annotation.judging.services.pacing import n_done_now
from annotation.judging.services.tokens import Shown, key_of, read_token
from annotation.judging.views.starting import address_of, pool_to_judge
from annotation.models import Judgment, Pool, Slot
from benchmarks_app.language import ENGLISH
from benchmarks_app.models import Benchmark, User
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.formats.numbers import row_key
from benchwright.progress import careless
from benchwright.texts.rendering import guideline_html

PALETTE_SCRIPTS = ("django_htmx/htmx-2.min.js", "benchmarks_app/going.js")
# So many outlast a lost connection.
DOCUMENTS_HELD = 14
# Below what its script tells somebody, softly, that they are very fast.
SKIMMING = {
    "reaction": careless.REACTION_SECONDS,
    "chars_per_second": careless.CHARS_PER_SECOND,
    "chars": careless.CHARS_SEEN,
    "window": careless.WINDOW,
    "share": careless.HASTY_SHARE,
}
# What the page's script may have to say without another answer of the server.
WORKS = [*Work, "waiting"]


@never_cache
@require_safe
@benchmark_view(Action.JUDGE)
def judge_benchmark(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Straight to the documents of the first pool that has some for me, or why there are none."""
    states = [
        (pool, work_state(pool, request.user))
        for pool in Pool.objects.built().filter(benchmark=benchmark).order_by("pk")
    ]
    for pool, state in states:
        if state.work == Work.READY:
            return redirect("annotation:judge", pool.pk)
    return render(request, "annotation/judging/judge_benchmark.html", {"states": states})


@never_cache
@login_required
@require_safe
@gzip_page
def judge(request: PersonRequest, pk: int) -> HttpResponse:
    """The page with its first documents; `doc` shows a certain one of mine, `full` all of it."""
    pool = pool_to_judge(request, pk)
    has_texts = pool.benchmark.corpus.has_texts
    step = step_before_judging(pool, request.user)
    if step and has_texts and pool.state == Pool.State.OPEN:
        return redirect(address_of(pool, step))
    first_request = Request((), frozenset(), DOCUMENTS_HELD if has_texts else 0)
    answer = exchange(pool=pool, me=request.user.pk, request=first_request)
    answer["items"].sort(key=lambda item: item["key"] != request.GET.get("doc"))
    # The others come with the first answer: the page is there sooner.
    del answer["items"][DOCUMENTS_AHEAD:]
    # Counted now: the exchange's count may be some seconds old.
    answer["progress"]["pool"]["done"] = n_done_now(pool, request.user.pk)
    context = {
        "pool": pool,
        "benchmark": pool.benchmark,
        "search_url": reverse("search", args=[pool.benchmark.slug]),
        # Loaded when somebody looks for something: the page itself is to be small.
        "palette_scripts": " ".join(map(static, PALETTE_SCRIPTS)),
        **_texts(request, pool, answer),
        **_means(request, pool, answer),
    }
    return render(request, "annotation/judging/judge.html", context)


@never_cache
@require_safe
def judge_session(request: HttpRequest) -> JsonResponse:
    """Who is signed in, as the outbox of a labeling page calls them; null where nobody is."""
    user = request.user
    return JsonResponse({"user": _outbox_key(user) if user.is_authenticated else None})


@never_cache
@login_required
@require_POST
def judgment_create(request: PersonRequest, pk: int) -> HttpResponse:
    pool = pool_to_judge(request, pk)
    form = JudgmentForm(request.POST)
    slot, display = _slot_and_shown(request, pool, form)
    cleaned = form.cleaned_data
    saved = record_judgment(
        slot=slot,
        actor=request.user,
        grade=cleaned["grade"],
        client_id=cleaned["client_id"],
        display=display,
        note=cleaned["note"],
        confidence=cleaned["confidence"],
    )
    return _next(
        request, pool, _said_to_be_saved(_("Grade {grade} saved").format(grade=saved.grade), saved)
    )


@never_cache
@login_required
@require_POST
def cant_judge_create(request: PersonRequest, pk: int) -> HttpResponse:
    pool = pool_to_judge(request, pk)
    form = CantJudgeForm(request.POST)
    slot, display = _slot_and_shown(request, pool, form)
    saved = record_cant_judge(
        slot=slot,
        actor=request.user,
        reason=form.said,
        client_id=form.cleaned_data["client_id"],
        display=display,
    )
    return _next(request, pool, _said_to_be_saved(_("“Can't judge” saved"), saved))


@never_cache
@login_required
@require_POST
def judgment_undo(request: PersonRequest, pk: int) -> HttpResponse:
    pool = pool_to_judge(request, pk)
    form = UndoForm(request.POST)
    if not form.is_valid():
        raise SlotTokenError
    event = undo_last(pool=pool, actor=request.user, client_id=form.said)
    return _next(request, pool, _("Undone. Judge this document again"), again=event.slot)


@never_cache
@login_required
@require_POST
def judge_later(request: PersonRequest, pk: int) -> HttpResponse:
    pool = pool_to_judge(request, pk)
    slot, _shown = _slot_and_shown(request, pool, LaterForm(request.POST))
    put_off(slot=slot, actor=request.user)
    return _next(request, pool, _("Put aside: it comes after the others of its query"))


@never_cache
@login_required
@require_POST
def judge_ask(request: PersonRequest, pk: int) -> HttpResponse:
    """A question to the owner; the document waits for the answer."""
    pool = pool_to_judge(request, pk)
    form = AskForm(request.POST)
    if form.errors.keys() == {"note"}:
        messages.error(request, _("Write in the note what you want to know, then ask."))
        return redirect("annotation:judge", pool.pk)
    slot, _shown = _slot_and_shown(request, pool, form)
    cleaned = form.cleaned_data
    ask_question(
        slot=slot, actor=request.user, client_id=cleaned["client_id"], text=cleaned["note"]
    )
    return _next(request, pool, _("Asked. The document comes back with the answer"))


@login_required
@require_POST
def judge_stop(request: PersonRequest, pk: int) -> HttpResponse:
    """Stop for today: the documents I hold go back to the others."""
    pool = pool_to_judge(request, pk)
    n_released = release_slots(pool=pool, annotator=request.user)
    given_back = ngettext(
        "Everything is saved. {n} document went back to the queue.",
        "Everything is saved. {n} documents went back to the queue.",
        n_released,
    )
    messages.success(request, given_back.format(n=n_released))
    return redirect("annotation:queue")


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def judge_keys(request: PersonRequest) -> HttpResponse:
    """My own keys for judging, or none at all."""
    chosen, actions = keys.key_map_of(request.user), keys.actions_of(request.user)
    own = {} if "usual" in request.GET else chosen.bindings
    data = request.POST if request.method == "POST" else None
    form = KeyMapForm(data, actions=actions, own=own, is_on=chosen.is_on)
    pool = row_key(request.GET.get("pool", ""))
    back = None if pool is None else reverse("annotation:judge", args=[pool])
    if not form.is_valid():
        context = {"form": form, "back": back, "pool_id": pool}
        status = 422 if form.is_bound else 200
        return render(request, "annotation/judging/judge_keys.html", context, status=status)
    is_on = form.cleaned_data["is_on"]
    save_key_map(annotator=request.user, actions=actions, chosen=form.chosen, is_on=is_on)
    messages.success(request, _("Your keys are saved.") if is_on else _("Keys are switched off."))
    return redirect(back or "annotation:judge-keys")


# --- parts -------------------------------------------------------------------------------------


def _slot_and_shown(request: PersonRequest, pool: Pool, form: Any) -> tuple[Slot, Shown]:
    if not form.is_valid():
        raise SlotTokenError
    cleaned = form.cleaned_data
    slot, display = read_token(token=cleaned["token"], annotator=request.user)
    if slot.pool_id != pool.pk:
        raise SlotTokenError
    return slot, display.seen(view=cleaned["view"], dwell_ms=cleaned["dwell_ms"])


def _said_to_be_saved(what: str, saved: Judgment) -> str:
    if not saved.is_surplus:
        return what
    extra = _("{what} as an extra label: the document had gone to somebody else")
    return extra.format(what=what)


def _next(
    request: PersonRequest, pool: Pool, message: str, again: Slot | None = None
) -> HttpResponse:
    """Back to the page, at the document `again` where it is still this person's."""
    messages.success(request, _("{message}.").format(message=message))
    page = redirect("annotation:judge", pool.pk)
    if again:
        page["Location"] += f"?doc={key_of(again.pk, request.user.pk)}"
    return page


def _texts(request: HttpRequest, pool: Pool, answer: dict[str, Any]) -> dict[str, Any]:
    """What the page says as the server writes it: the first document, or why there is none."""
    item = next(iter(answer["items"]), None)
    until = answer["work"]["until"]
    place = screen.Place(**item["place"]) if item else None
    guideline = screen.current_guideline(pool.benchmark)
    key = item["key"] if item else ""
    is_full = "full" in request.GET
    return {
        "item": item,
        "place": place,
        "labels": _labels(answer),
        "is_full": is_full,
        "full_url": f"?doc={key}" + ("" if is_full else "&full=1"),
        "view": _view(item, is_full=is_full),
        "guideline": guideline,
        "guideline_text": guideline_html(guideline.text) if guideline else "",
        "works": WORKS,
        "work": "" if item else answer["work"]["state"],
        "n_left": answer["work"]["n_left"],
        "until": parse_datetime(until) if until else None,
        "client_id": uuid.uuid4(),
        "undo_id": uuid.uuid4(),
        "reasons": CANT_JUDGE_REASONS,
        "wants_reason": "cant-judge" in request.GET,
    }


def _exchange_url(pool: Pool) -> str:
    """Where the page sends; it says in which language it is, if that is not English."""
    url, language = reverse("annotation:judge-exchange", args=[pool.pk]), get_language()
    return url if language == ENGLISH else f"{url}?lang={language}"


def _labels(answer: dict[str, Any]) -> screen.Place:
    done, total = answer["progress"]["pool"]["done"], answer["progress"]["pool"]["total"]
    return screen.Place(min(done + 1, total), total)


def _view(item: dict[str, Any] | None, *, is_full: bool) -> str:
    if item is None:
        return ""
    if item["document"]["is_whole"]:
        return Judgment.View.WHOLE
    return Judgment.View.FULL if is_full else Judgment.View.EXCERPT


def _means(request: PersonRequest, pool: Pool, answer: dict[str, Any]) -> dict[str, Any]:
    """What one may do on the page, and what its script starts from."""
    grades = list(pool.benchmark.grades.all())
    chosen = keys.keys_on_page(request.user, grades)
    caps = {action.name: bound for action, bound in chosen["rows"]} if chosen["is_on"] else {}
    undoable = [
        str(judgment.client_id) for judgment in screen.undoable_judgments(pool.pk, request.user)
    ]
    return {
        "grades": [(grade, caps.get(f"grade-{grade.value}", ())) for grade in grades],
        "caps": {name.replace("-", "_"): bound[0] for name, bound in caps.items()},
        "keys": chosen,
        "may_undo": bool(undoable),
        "script": {
            "user": _outbox_key(request.user),
            "exchange_url": _exchange_url(pool),
            "session_url": reverse("annotation:judge-session"),
            "grades": [{"value": grade.value, "name": grade.name} for grade in grades],
            "keys": {"is_on": chosen["is_on"], "bindings": chosen["bindings"]},
            "undoable": undoable,
            "skimming": SKIMMING,
            **{name: answer[name] for name in ("items", "work", "progress")},
        },
    }


def _outbox_key(user: User) -> str:
    """Whose entries those of an outbox are: says nothing of the person, and is never another's.

    Sites of one host have one outbox in a browser, and a copy of a site has its secret.
    """
    return salted_hmac("annotation.outbox", f"{settings.SITE_PATH}{user.pk}").hexdigest()[:24]

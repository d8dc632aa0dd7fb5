"""My work in one benchmark: where I stopped, what waits, how fast I am, what I was answered."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256
from typing import Any, cast

from django.core.cache import cache
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.common.selectors.questions import questions_of
from annotation.common.services import statements
from annotation.judging.selectors.own_work import hours_of, own_judgments
from annotation.judging.selectors.queue import QueueRow, queue_rows
from annotation.judging.selectors.starting import Practice, Step, practice_by, step_before_judging
from annotation.judging.selectors.work import Work, claimable_by
from annotation.judging.services.claiming import query_in_hand
from annotation.judging.services.tokens import key_of
from annotation.models import Judgment, Pool, PoolStart, Question, Slot
from benchmarks_app.models import Benchmark, Query, User

POOLS_SHOWN, ANSWERS_SHOWN, MISSES_SHOWN = 12, 5, 3
DAYS = 7
SECONDS_PER_MINUTE = 60
KEPT_SECONDS = 3600


# --- queues --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NextUp:
    """The queue to go on with: the query in hand, and how much of it is left for this person."""

    row: QueueRow
    query: Query | None
    n_left: int
    step: Step | None

    @property
    def minutes(self) -> float | None:
        """For what is left of the query, or of the whole queue where no query is in hand."""
        if not self.query:
            return self.row.minutes_left
        seconds = self.row.seconds
        return None if seconds is None else self.n_left * seconds / SECONDS_PER_MINUTE


def rows_of(benchmark: Benchmark, me: User) -> list[QueueRow]:
    """The open and paused queues of a benchmark, and the closed ones one has judged in.

    What can be judged now comes first; of that what is due, by its day, then the one judged last.
    """
    judged = Judgment.objects.filter(actor=me, pool=OuterRef("pk"))
    condition = Q(state__in=[Pool.State.OPEN, Pool.State.PAUSED]) | Q(Exists(judged))
    pools = Pool.objects.built().filter(condition, benchmark=benchmark)
    # By state: paused, open, closed. The newest of each.
    newest_first = pools.select_related("benchmark__corpus").order_by("-state", "-pk")
    rows = queue_rows(list(newest_first[:POOLS_SHOWN]), me)
    last = Judgment.objects.filter(actor=me, pool__in=[row.pool for row in rows]).order_by("-pk")
    newest = last.values_list("pool", flat=True).first()
    order = [Work.READY, Work.HELD, Work.WAITING_ANSWER]
    return sorted(
        rows,
        key=lambda row: (
            order.index(row.state.work) if row.state.work in order else len(order),
            row.pool.state == Pool.State.CLOSED,
            row.pool.due_on or date.max,
            row.pool.pk != newest,
        ),
    )


def next_up(rows: Iterable[QueueRow], me: User) -> NextUp | None:
    """The first queue with a document for this person; None where there is none."""
    row = next((row for row in rows if row.state.work == Work.READY), None)
    if row is None:
        return None
    pool = row.pool
    cards = statements.held(pool.pk, me.pk, renew_below=statements.clock())
    query = query_in_hand(pool, me.pk, cards)
    n_held = len({card.entry for card in cards if card.query == query})
    free = claimable_by(me).filter(pool=pool, query=query)
    free = free.exclude(entry__in=_held_entries(cards))
    n_left = n_held + (free.values("entry").distinct().count() if query else 0)
    in_hand = Query.objects.filter(pk=query).first() if query and n_left else None
    return NextUp(row, in_hand, n_left, step_before_judging(pool, me))


def _held_entries(cards: Iterable[Any]) -> list[int]:
    return [card.entry for card in cards]


# --- pace ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DayCount:
    day: date
    n_labels: int
    minutes: float


@dataclass(frozen=True)
class Pace:
    """Labels and active minutes in one benchmark: each of the last seven days, today last (UTC)."""

    days: list[DayCount]

    @property
    def today(self) -> DayCount:
        return self.days[-1]

    @property
    def seconds_today(self) -> float | None:
        return _seconds(self.days[-1:])

    @property
    def seconds_before(self) -> float | None:
        """Of the six days before today."""
        return _seconds(self.days[:-1])

    @property
    def most(self) -> int:
        return max(day.n_labels for day in self.days)

    @property
    def bars(self) -> list[dict[str, Any]]:
        """Where each day's bar stands in a drawing of 100 x 36, with its count."""
        width = 100 / len(self.days)
        return [
            {
                "day": day.day,
                "n": day.n_labels,
                "x": round(place * width + 1, 1),
                "width": round(width - 3, 1),
                "height": max(round(34 * day.n_labels / (self.most or 1)), 1),
                "y": 36 - max(round(34 * day.n_labels / (self.most or 1)), 1),
                "is_today": place == len(self.days) - 1,
            }
            for place, day in enumerate(self.days)
        ]


def _seconds(days: Iterable[DayCount]) -> float | None:
    """Active seconds for each label; None without labels."""
    listed = list(days)
    n_labels = sum(day.n_labels for day in listed)
    minutes = sum(day.minutes for day in listed)
    return SECONDS_PER_MINUTE * minutes / n_labels if n_labels else None


def pace_of(benchmark: Benchmark, me: User) -> Pace:
    """As the page of hours counts it: labels that stand, active time between judgments.

    Counted once for each state of the person's own ledger.
    """
    today = timezone.now().astimezone(timezone.get_current_timezone()).date()
    newest = Judgment.objects.filter(actor=me).order_by("-pk").values_list("pk", "created_at")
    state = sha256(repr((me.pk, benchmark.pk, today, newest.first())).encode()).hexdigest()
    return cast(
        Pace, cache.get_or_set(f"pace-{state}", lambda: _pace(benchmark, me, today), KEPT_SECONDS)
    )


def _pace(benchmark: Benchmark, me: User, today: date) -> Pace:
    first = today - timedelta(days=DAYS - 1)
    worked = [
        of_day
        for of_day in hours_of(me, since=first).days
        if of_day.pool.benchmark_id == benchmark.pk
    ]
    days = []
    for place in range(DAYS):
        day = first + timedelta(days=place)
        of_day = [work for work in worked if work.day == day]
        n_labels = sum(work.n_grades + work.n_cant_judge for work in of_day)
        days.append(DayCount(day, n_labels, sum(work.minutes for work in of_day)))
    return Pace(days)


# --- practice ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PracticeState:
    """The practice of the queue one goes on with, or else of the one practised last."""

    pool: Pool
    practice: Practice
    done_at: Any

    @property
    def misses(self) -> list[Any]:
        """Documents graded otherwise than expected, the first few."""
        wrong = [
            document
            for document in self.practice.documents
            if document.judgment and not document.is_right
        ]
        return wrong[:MISSES_SHOWN]


def practice_state(rows: Iterable[QueueRow], up: NextUp | None, me: User) -> PracticeState | None:
    """None where no queue of the benchmark has practice documents."""
    listed = list(rows)
    starts = PoolStart.objects.filter(annotator=me, pool__in=[row.pool for row in listed])
    done = {start.pool_id: start.practice_at for start in starts if start.practice_at}
    newest = max(done, key=lambda pool: done[pool], default=None)
    candidates = [up.row.pool] if up else []
    candidates += [row.pool for row in listed if row.pool.pk == newest]
    for pool in candidates:
        practice = practice_by(pool, me)
        if practice.documents:
            return PracticeState(pool, practice, done.get(pool.pk))
    return None


# --- answers -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """A question of one's own; where its document has come back, `key` names it on the page."""

    question: Question
    key: str
    judgment: Judgment | None

    @property
    def is_new(self) -> bool:
        """Answered, and the document not judged since."""
        return bool(self.question.answered_at and self.key)


def answers_for(benchmark: Benchmark, me: User) -> list[Answer]:
    """One's newest questions: what was answered and waits to be judged again, then the others."""
    questions = questions_of(me).filter(entry__pool__benchmark=benchmark)
    listed = list(questions.order_by("-answered_at", "-asked_at", "-pk")[: 4 * ANSWERS_SHOWN])
    entries = [question.entry_id for question in listed]
    own = own_judgments(me).filter(slot__entry__in=entries)
    judged = {judgment.slot.entry_id: judgment for judgment in own if judgment.slot}
    answers = [
        Answer(question, _key(question, me), judged.get(question.entry_id)) for question in listed
    ]
    answers.sort(key=lambda answer: (not answer.is_new, answer.question.answered_at is not None))
    return answers[:ANSWERS_SHOWN]


def _key(question: Question, me: User) -> str:
    """What the labeling page calls the document, where it lies before this person."""
    slot, pool = question.slot, question.entry.pool
    is_back = slot.state == Slot.State.CLAIMED and slot.annotator_id == me.pk
    is_there = is_back and slot.lease_expires_at and slot.lease_expires_at > timezone.now()
    return key_of(slot.pk, me.pk) if is_there and pool.state == Pool.State.OPEN else ""


# --- all of it -----------------------------------------------------------------------------------


def home_context(benchmark: Benchmark, me: User) -> dict[str, Any]:
    """What the page of one's own work in a benchmark shows."""
    rows = rows_of(benchmark, me)
    up = next_up(rows, me)
    answers = answers_for(benchmark, me)
    return {
        "rows": rows,
        "up": up,
        "n_ready": sum(row.state.work == Work.READY for row in rows),
        "reason": None if up else next(iter(rows), None),
        "pace": pace_of(benchmark, me),
        "practice": practice_state(rows, up, me),
        "answers": answers,
        "n_new": sum(answer.is_new for answer in answers),
    }

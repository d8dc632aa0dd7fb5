"""A pool's labels as its page, its charts and the API tell them; who has said how much."""

from datetime import datetime
from typing import Any

from django.db.models import Case, Count, Max, Q, When

from annotation.common.selectors.names import people_told
from annotation.common.selectors.pools import Due, PoolProgress, pool_progress
from annotation.models import Judgment, Pool, PoolEntry
from benchmarks_app.models import Benchmark
from benchwright.progress.pace import Projection, in_seconds, projection
from benchwright.progress.signals import Entry, Label, Rate, StopSignal, pool_signals, stop_signal
from benchwright.texts.counting import counted

ROWS_AT_ONCE = 5000


def newest_event(pool: Pool) -> int | None:
    """The last judgment of a pool: as long as it is the same, so is all that labels tell."""
    newest = Judgment.objects.filter(pool=pool).order_by("-created_at", "-pk")
    return newest.values_list("pk", flat=True).first()


def read_signals(pool: Pool) -> dict[str, Any]:
    """What a pool's labels tell (`core.signals.pool_signals`); takes seconds for very many."""
    relevant = pool.benchmark.grades.filter(is_relevant=True).values_list("value", flat=True)
    return pool_signals(
        _labels(pool),
        _entries(pool),
        runs=[run["run"] for run in pool.statistics.get("runs", [])],
        relevant=set(relevant),
        seed=pool.seed,
    )


def _labels(pool: Pool) -> list[Label]:
    kinds = [Judgment.Kind.GRADE, Judgment.Kind.CANT_JUDGE, Judgment.Kind.IMPORT]
    rows = (
        Judgment.objects.current()
        .wanted()
        .filter(pool=pool, kind__in=kinds, slot__isnull=False)
        .order_by("pk")
        .values_list(
            *("rater", "actor_id", "slot__entry_id", "grade", "created_at"),
            *("dwell_ms", "shown_chars", "is_surplus"),
        )
    )
    return [
        Label(rater or actor, entry, grade, at, dwell and dwell / 1000, chars, is_extra)
        for rater, actor, entry, grade, at, dwell, chars, is_extra in rows.iterator(ROWS_AT_ONCE)
    ]


def _entries(pool: Pool) -> dict[int, Entry]:
    rows = PoolEntry.objects.filter(pool=pool).values_list("pk", "query_id", "contributors")
    return {pk: Entry(query, ranks) for pk, query, ranks in rows.iterator(ROWS_AT_ONCE)}


def projection_of(
    progress: PoolProgress, signals: dict[str, Any], now: datetime
) -> Projection | None:
    labels = {datetime.fromisoformat(row["day"]).date(): row["labels"] for row in signals["days"]}
    return projection(labels, n_left=progress.n_left, today=now.date())


def due_note(due: Due, progress: PoolProgress, end: Projection | None) -> str:
    """What is to be said beside the day: how it stands to what is left, and to the pace."""
    if not progress.n_left:
        return "every label is given"
    if due.is_past:
        return f"{_days(-due.n_days)} ago, {counted(progress.n_left, 'label')} left"
    when = f"in {_days(due.n_days)}" if due.n_days else "today"
    if end is None:
        return when
    late = (end.done_on - due.on).days
    if late > 0:
        return f"{when}; at this pace {_days(late)} late"
    return f"{when}; at this pace in time"


def _days(n: int) -> str:
    return f"{n} day{'' if n == 1 else 's'}"


def people_of(signals: dict[str, Any], benchmark: Benchmark, viewer: Any) -> list[dict[str, Any]]:
    """The people of the signals as `people_told` has them, by name; `alike` is a Rate, or None.

    `took` is how long a label took them, in words, or empty.
    """
    people = people_told([row["person"] for row in signals["people"]], benchmark, viewer)
    rows = [
        {
            **row,
            "person": people[row["person"]],
            "last_at": datetime.fromisoformat(row["last_at"]),
            "took": "" if row["seconds"] is None else in_seconds(row["seconds"]),
            "alike": Rate(row["n_alike"], row["n_shared"]) if row["n_shared"] else None,
        }
        for row in signals["people"]
        if row["person"] in people
    ]
    return sorted(rows, key=lambda row: str(row["person"]).lower())


def pool_report(
    pool: Pool, signals: dict[str, Any] | None, now: datetime, viewer: Any
) -> dict[str, Any]:
    """The dashboard as JSON; `signals` are None while they are being put together."""
    progress = pool_progress(pool, signals["seconds"] if signals else None)
    end = projection_of(progress, signals, now) if signals else None
    return {
        "pool": pool.pk,
        "name": pool.name,
        "state": pool.state,
        "progress": {
            "documents": progress.n_entries,
            "wanted": progress.n_wanted,
            "given": progress.n_done,
            "held": progress.n_held,
            "waiting_for_answer": progress.n_aside,
            "waived": progress.n_waived,
            "to_judge_again": progress.n_again - progress.n_again_done,
            "left": progress.n_left,
            "seconds_a_label": progress.seconds,
            "is_measured": progress.is_measured,
            "hours_left": progress.hours_left,
            "done_on": end.done_on.isoformat() if end else None,
        },
        "signals": signals and {**signals, "people": _named(signals, pool.benchmark, viewer)},
        # All that was drawn is needed: an estimate has no point at which to stop before.
        "stop": _told(stop_signal(signals)) if signals and not pool.is_for_estimates else None,
    }


def _named(signals: dict[str, Any], benchmark: Benchmark, viewer: Any) -> list[dict[str, Any]]:
    rows = people_of(signals, benchmark, viewer)
    return [
        {
            **{key: row[key] for key in row if key not in ("alike", "took")},
            "person": getattr(row["person"], "username", row["person"]),
            "last_at": row["last_at"].isoformat(),
        }
        for row in rows
    ]


def _told(signal: StopSignal) -> dict[str, Any]:
    def rate(value: Rate | None) -> dict[str, Any] | None:
        if value is None:
            return None
        return {"relevant": value.n, "of": value.of, "low": value.low, "high": value.high}

    return {
        "first": rate(signal.first),
        "last": rate(signal.last),
        "change": signal.change,
        "finds_little": signal.finds_little,
        "is_steady": signal.is_steady,
        "may_stop": signal.may_stop,
    }


def contributions_to(pool: Pool, viewer: Any) -> list[dict[str, Any]]:
    """Most labels first: person, n_labels, n_grades, n_cant_judge, n_extra, last_at.

    Labels from a file are those of whom it names, whoever entered them.
    """
    labels = Judgment.objects.wanted().current().filter(pool=pool, kind__in=Judgment.LABELS)
    rows = list(
        labels.order_by()
        .annotate(account=Case(When(rater="", then="actor")))
        .values("account", "rater")
        .annotate(
            n_labels=Count("pk"),
            n_grades=Count("pk", filter=Q(grade__isnull=False)),
            n_cant_judge=Count("pk", filter=Q(kind=Judgment.Kind.CANT_JUDGE)),
            n_extra=Count("pk", filter=Q(is_surplus=True)),
            last_at=Max("created_at"),
        )
        .order_by("-n_labels", "account", "rater")
    )
    people = people_told([row["rater"] or row["account"] for row in rows], pool.benchmark, viewer)
    return [{**row, "person": str(people[row["rater"] or row["account"]])} for row in rows]

"""What the labels of a pool tell: how many a day, by whom, how much they still find."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from math import isnan, nan, sqrt
from typing import Any

from benchwright.progress.pace import Timed, typical_chars, typical_seconds
from benchwright.progress.stability import LabelledEntry, ranking_stability
from benchwright.statistics.descriptive import wilson


@dataclass(frozen=True, slots=True)
class Rate:
    """`n` of `of`; its interval is Wilson's at 95 %, NaN where `of` is 0.

    Examples
    --------
    >>> rate = Rate(3, 10)
    >>> round(rate.share, 2), round(rate.low, 4), round(rate.high, 4)
    (0.3, 0.1078, 0.6032)
    """

    n: int
    of: int

    @property
    def share(self) -> float:
        return self.n / self.of if self.of else nan

    @property
    def low(self) -> float:
        return wilson(self.n, self.of)[0]

    @property
    def high(self) -> float:
        return wilson(self.n, self.of)[1]


def difference(later: Rate, earlier: Rate) -> tuple[float, float]:
    """The 95 % interval of `later.share - earlier.share`; NaN where one has nothing.

    Newcombe's hybrid of two Wilson intervals (Statistics in Medicine 17, 1998, method 10).
    """
    gap = later.share - earlier.share
    if isnan(gap):
        return nan, nan
    below = sqrt((later.share - later.low) ** 2 + (earlier.high - earlier.share) ** 2)
    above = sqrt((later.high - later.share) ** 2 + (earlier.share - earlier.low) ** 2)
    return gap - below, gap + above


# The first and the last documents are compared; a window is at most half of what there is.
WINDOW, SMALLEST_WINDOW = 100, 20
# Times of this many latest labels make the pace: a team grows quicker.
LATEST_TIMES = 2000
# Until so many labels were timed, hours are as the pool's maker expected.
ENOUGH_OF_POOL = 20
CURVE_POINTS = 200
RANK_STEPS = (1, 2, 5, 10, 20, 50, 100)
QUARTERS = 4
# What the advice goes by; the page names both.
LITTLE_FOUND, STEADY_TAU = 0.1, 0.9


@dataclass(frozen=True, slots=True)
class Label:
    """A current label; `grade` is None where the document cannot be judged.

    `actor` is the key of an account, or the name of a rater who has none.
    """

    actor: int | str
    entry: int
    grade: int | None
    at: datetime
    seconds: float | None
    chars: int | None
    is_extra: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of a pool: its query, and its rank in each run that brought it."""

    query: int
    ranks: Mapping[str, int]


def pool_signals(
    labels: Sequence[Label],
    entries: Mapping[int, Entry],
    *,
    runs: Sequence[str],
    relevant: Collection[int],
    seed: int,
) -> dict[str, Any]:
    """Everything a pool's page shows of its labels, as JSON takes it.

    Parameters
    ----------
    labels
        The current ones, in the order in which they were given.
    entries
        All of the pool, by the key that `Label.entry` has.
    relevant
        Grades that make a document relevant.
    seed
        Of the resampling: equal labels give equal numbers.
    """
    regular_labels = [label for label in labels if not label.is_extra]
    graded = [label for label in labels if label.grade is not None]
    grades = _grades(graded)
    is_relevant = _found(graded, relevant)
    times = _times(labels)[-LATEST_TIMES:]
    reference = typical_chars(times)
    is_enough = len(times) >= ENOUGH_OF_POOL
    return {
        "n_labels": len(labels),
        "n_cant_judge": len(labels) - len(graded),
        "n_extra": len(labels) - len(regular_labels),
        "n_judged": len(grades),
        "n_relevant": sum(is_relevant),
        "seconds": typical_seconds(times, at_chars=reference) if is_enough else None,
        "typical_chars": reference,
        "days": _days(regular_labels),
        "people": _people(labels, reference, _alike(graded, relevant)),
        "found": _curve(is_relevant),
        **_windows(is_relevant),
        "by_rank": _by_rank(graded, entries, relevant),
        **_coverage(entries, grades),
        "stability": _stability(entries, grades, runs, seed),
    }


def _times(labels: Iterable[Label]) -> list[Timed]:
    return [Timed(label.seconds, label.chars) for label in labels if label.seconds is not None]


def _grades(graded: Iterable[Label]) -> dict[int, int]:
    """One grade for each judged document: the lower median of its labels."""
    grades_of: dict[int, list[int]] = defaultdict(list)
    for label in graded:
        if label.grade is not None:
            grades_of[label.entry].append(label.grade)
    return {entry: sorted(grades)[(len(grades) - 1) // 2] for entry, grades in grades_of.items()}


def _days(labels: Iterable[Label]) -> list[dict[str, Any]]:
    counts = Counter(label.at.date() for label in labels)
    return [{"day": day.isoformat(), "labels": counts[day]} for day in sorted(counts)]


# --- who -----------------------------------------------------------------------------------------


def _people(
    labels: Sequence[Label], reference: float | None, alike: Mapping[int | str, Rate]
) -> list[dict[str, Any]]:
    """A row a person, by their number, not by how much or how fast they judged."""
    of: dict[int | str, list[Label]] = defaultdict(list)
    for label in labels:
        of[label.actor].append(label)
    return [
        {
            "person": actor,
            "n_labels": len(own),
            "n_cant_judge": sum(label.grade is None for label in own),
            "n_extra": sum(label.is_extra for label in own),
            "seconds": typical_seconds(_times(own)[-LATEST_TIMES:], at_chars=reference),
            "last_at": max(label.at for label in own).isoformat(),
            "n_shared": alike.get(actor, Rate(0, 0)).of,
            "n_alike": alike.get(actor, Rate(0, 0)).n,
        }
        for actor, own in sorted(of.items(), key=lambda item: (isinstance(item[0], str), item[0]))
    ]


def _alike(graded: Iterable[Label], relevant: Collection[int]) -> dict[int | str, Rate]:
    """Of each person's documents that others graded too: how often they agree on relevance.

    The others' opinion is the lower median of their grades.
    """
    grades_of: dict[int, dict[int | str, int]] = defaultdict(dict)
    for label in graded:
        if label.grade is not None:
            grades_of[label.entry][label.actor] = label.grade
    shared: Counter[int | str] = Counter()
    same: Counter[int | str] = Counter()
    for by_person in grades_of.values():
        for actor, grade in by_person.items() if len(by_person) > 1 else ():
            others = sorted(other for who, other in by_person.items() if who != actor)
            shared[actor] += 1
            same[actor] += (grade in relevant) == (others[(len(others) - 1) // 2] in relevant)
    return {actor: Rate(same[actor], shared[actor]) for actor in shared}


# --- what is found -------------------------------------------------------------------------------


def _found(graded: Iterable[Label], relevant: Collection[int]) -> list[bool]:
    """Whether each document was relevant when it was first graded, in that order."""
    first: dict[int, bool] = {}
    for label in graded:
        first.setdefault(label.entry, label.grade in relevant)
    return list(first.values())


def _curve(relevance: Sequence[bool]) -> list[list[int]]:
    """[documents judged, relevant ones among them] at some 200 places."""
    step = max(len(relevance) // CURVE_POINTS, 1)
    points, n_relevant = [[0, 0]], 0
    for n, is_relevant in enumerate(relevance, start=1):
        n_relevant += is_relevant
        if n % step == 0 or n == len(relevance):
            points.append([n, n_relevant])
    return points


def _windows(is_relevant: Sequence[bool]) -> dict[str, Any]:
    """The first and the last documents, as many of each; None where there are too few."""
    size = min(WINDOW, len(is_relevant) // 2)
    if size < SMALLEST_WINDOW:
        return {"first": None, "last": None}
    return {
        "first": {"n": sum(is_relevant[:size]), "of": size},
        "last": {"n": sum(is_relevant[-size:]), "of": size},
    }


def _by_rank(
    graded: Iterable[Label], entries: Mapping[int, Entry], relevant: Collection[int]
) -> list[dict[str, Any]]:
    """How much is relevant at which best rank in any run: what a deeper pool would bring."""
    judged, hits = Counter[int](), Counter[int]()
    first = {label.entry: label.grade in relevant for label in reversed(list(graded))}
    for key, is_relevant in first.items():
        ranks = entries[key].ranks if key in entries else {}
        if ranks:
            step = next((step for step in RANK_STEPS if min(ranks.values()) <= step), 0)
            judged[step] += 1
            hits[step] += is_relevant
    return [
        {"ranks": _named(step), "n": hits[step], "of": judged[step]}
        for step in (*RANK_STEPS, 0)
        if judged[step]
    ]


def _named(step: int) -> str:
    if step == 0:
        return f"over {RANK_STEPS[-1]}"
    above = [lower for lower in RANK_STEPS if lower < step]
    return str(step) if step <= 2 else f"{above[-1] + 1}-{step}"


def _coverage(entries: Mapping[int, Entry], grades: Mapping[int, int]) -> dict[str, Any]:
    """How many queries are untouched, a quarter judged, and so on, and complete."""
    sizes = Counter(entry.query for entry in entries.values())
    judged = Counter(entries[key].query for key in grades if key in entries)
    steps = Counter(_step(judged[query], size) for query, size in sizes.items())
    return {
        "n_queries": len(sizes),
        "n_complete": steps[QUARTERS + 1],
        "n_untouched": steps[0],
        "coverage": [steps[step] for step in range(QUARTERS + 2)],
    }


def _step(n_judged: int, size: int) -> int:
    """0 for none, 1 to 4 for up to so many quarters, 5 for all."""
    if n_judged >= size:
        return QUARTERS + 1
    return -(-n_judged * QUARTERS // size)


def _stability(
    entries: Mapping[int, Entry], grades: Mapping[int, int], runs: Sequence[str], seed: int
) -> dict[str, Any] | None:
    import numpy as np

    labelled = [
        LabelledEntry(entries[key].query, grade, entries[key].ranks)
        for key, grade in sorted(grades.items())
        if key in entries
    ]
    stability = ranking_stability(labelled, runs, rng=np.random.default_rng(seed))
    return None if stability is None else asdict(stability)


# --- whether to go on ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StopSignal:
    """What speaks for stopping: the latest labels find little, and the runs' order stands.

    Both None where there is too little to tell; `change` is the interval of last minus first.
    """

    first: Rate | None
    last: Rate | None
    change: tuple[float, float] | None
    finds_little: bool | None
    is_steady: bool | None

    @property
    def may_stop(self) -> bool:
        return bool(self.finds_little and self.is_steady)


def stop_signal(signals: Mapping[str, Any]) -> StopSignal:
    """Read the signal from what `pool_signals` gave.

    Little is found where even the upper bound of the last documents' share is 10 % or less; the
    order is steady where 97.5 % of the draws keep a tau of 0.9 or more.
    """
    stability = signals["stability"]
    is_steady = None if stability is None else stability["low"] >= STEADY_TAU
    if signals["first"] is None:
        return StopSignal(None, None, None, None, is_steady)
    first, last = Rate(**signals["first"]), Rate(**signals["last"])
    return StopSignal(first, last, difference(last, first), last.high <= LITTLE_FOUND, is_steady)

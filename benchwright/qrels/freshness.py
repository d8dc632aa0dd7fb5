"""How many labels of a benchmark were given for something that is no longer so.

A label is stale where its document has left the corpus, where the document says something else than
when it was labelled, or where it is older than a benchmark allows; the first that applies is told.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from math import nan
from typing import NamedTuple


class State(StrEnum):
    GONE = "gone"  # the corpus lacks the document
    CHANGED = "changed"  # its text is another than when it was labelled
    OLD = "old"
    FRESH = "fresh"


STALE = (State.GONE, State.CHANGED, State.OLD)


class Label(NamedTuple):
    """A graded pair: what was read and when, as far as it is known, and what it says today.

    `read_hash` and `current_hash` are empty where nobody knows them; then no change can be told.
    """

    qid: str
    docid: str
    read_hash: str
    labelled_at: datetime | None
    current_hash: str
    is_there: bool


@dataclass(frozen=True)
class Freshness:
    """How many of some labels are in which state; `n_unknown` have no hash to compare with."""

    n: int
    counts: Mapping[State, int]
    n_unknown: int

    @property
    def n_stale(self) -> int:
        return sum(self.counts.get(state, 0) for state in STALE)

    @property
    def share(self) -> float:
        """The stale share, NaN without labels."""
        return self.n_stale / self.n if self.n else nan


@dataclass(frozen=True)
class FreshnessReport:
    """The labels of a release, together and by slice; `stale` are the pairs, the worst first."""

    overall: Freshness
    slices: Mapping[str, Freshness]
    stale: tuple[tuple[Label, State], ...] = field(default=())


def state_of(label: Label, *, now: datetime, max_age: timedelta) -> State:
    """The first reason why a label is stale, or fresh.

    Examples
    --------
    >>> day = datetime(2026, 1, 1)
    >>> label = Label("q", "d", "aa", day, "bb", is_there=True)
    >>> state_of(label, now=day, max_age=timedelta(days=365)).value
    'changed'
    """
    if not label.is_there:
        return State.GONE
    if label.read_hash and label.current_hash and label.read_hash != label.current_hash:
        return State.CHANGED
    if label.labelled_at is not None and now - label.labelled_at > max_age:
        return State.OLD
    return State.FRESH


def freshness_of(
    labels: Iterable[Label],
    slices: Mapping[str, Collection[str]],
    *,
    now: datetime,
    max_age: timedelta,
) -> FreshnessReport:
    """All labels by state, and those of each slice's queries."""
    states = [(label, state_of(label, now=now, max_age=max_age)) for label in labels]
    by_query: dict[str, list[tuple[Label, State]]] = {}
    for row in states:
        by_query.setdefault(row[0].qid, []).append(row)
    stale = [row for row in states if row[1] in STALE]
    stale.sort(key=lambda row: (STALE.index(row[1]), row[0].qid.encode(), row[0].docid.encode()))
    return FreshnessReport(
        overall=_counted(states),
        slices={
            name: _counted([row for qid in qids for row in by_query.get(qid, ())])
            for name, qids in slices.items()
        },
        stale=tuple(stale),
    )


def _counted(states: Collection[tuple[Label, State]]) -> Freshness:
    return Freshness(
        n=len(states),
        counts=Counter(state for _, state in states),
        n_unknown=sum(
            label.is_there and not (label.read_hash and label.current_hash) for label, _ in states
        ),
    )

"""Orders that learn from the labels: which document of a query is worth judging next.

Both let the systems compete for the next document. An *arm* is a system; pulling it gives the
document that stands highest in its ranking among those not yet taken. They differ in whose turn it
is, and are the same on every machine: of arms with equal claims, the one comes first whose next
document has the best rank, then the one whose name comes first by its bytes.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchwright.pools.errors import PoolOrderError

MTF = "mtf"
MAXMEAN = "maxmean"
# Ranks judged before an order starts to learn: without them it knows each system by one document.
BURN_IN = 5
FIRST_PRIORITY = 100
# Of an entry that no arm was pulled for.
NO_ARM = ""


@dataclass(frozen=True, slots=True)
class AdaptiveEntry:
    """A document of a query: `contributors` gives its rank in each system that retrieved it.

    `best_rank` is 0 where none did.
    """

    key: int
    contributors: Mapping[str, int]
    best_rank: int


class Arms(Protocol):
    """The state of one query."""

    def tell(self, key: int, is_relevant: bool) -> None:
        """Take what a document turned out to be, whether it was pulled or not."""

    def pull(self) -> tuple[int, str] | None:
        """Return the next document that nothing was told of, with its arm; None at the end."""


def choose(
    entries: Sequence[AdaptiveEntry],
    grades: Mapping[int, bool],
    *,
    order: str,
    n: int,
    burn_in: int = BURN_IN,
    held: Collection[int] = (),
) -> list[tuple[int, str]]:
    """Return the next `n` documents of a query to judge, each with the arm it was pulled from.

    Parameters
    ----------
    entries
        All of one query, judged ones too, in the order of the queue.
    grades
        Whether each judged document is relevant, by the entry's key.
    order
        `mtf` or `maxmean`.
    burn_in
        Entries of a rank up to this, and those that no system contributed, come first, in the order
        of the queue and with an empty arm. 0: learn from the first document on.
    held
        Entries not to be chosen, because others have them or they cannot be judged. They hold
        nothing up: what is known without them decides.

    Raises
    ------
    PoolOrderError
        If no order of that name learns.

    Notes
    -----
    No feedback comes within a batch: all `n` are chosen by what was known before the first.
    The result depends on `entries`, `grades` and `held` alone, so nothing need be stored between
    two batches; with `n` of 1 the sequence is that of the order run without a break.
    """
    keys_taken = set(held) | grades.keys()
    first = [
        (entry.key, NO_ARM)
        for entry in entries
        if entry.key not in keys_taken and entry.best_rank <= burn_in
    ]
    chosen = first[:n]
    keys_taken.update(key for key, _ in chosen)
    arms = arms_of(order, entries)
    for key, is_relevant in grades.items():
        arms.tell(key, is_relevant)
    while len(chosen) < n and (pulled := arms.pull()):
        if pulled[0] not in keys_taken:
            chosen.append(pulled)
    return chosen


def arms_of(order: str, entries: Sequence[AdaptiveEntry]) -> Arms:
    """Return the untold state of a query under an order."""
    if order not in ORDERS:
        raise PoolOrderError(order=order, known=", ".join(ORDERS))
    return ORDERS[order](entries)


class _Rankings:
    """What each system retrieved, best first, and which of it is taken."""

    def __init__(self, entries: Sequence[AdaptiveEntry]) -> None:
        lists: dict[str, list[tuple[int, int]]] = {}
        for entry in entries:
            for system, rank in entry.contributors.items():
                lists.setdefault(system, []).append((rank, entry.key))
        # From the end, so that the best is popped first.
        self.ranks_left = {name: sorted(lists[name], reverse=True) for name in sorted(lists)}
        self.keys_taken: set[int] = set()

    def next_ranks(self) -> dict[str, int]:
        """Return the rank of the next document of each system that has one, by name."""
        for name in list(self.ranks_left):
            entries = self.ranks_left[name]
            while entries and entries[-1][1] in self.keys_taken:
                entries.pop()
            if not entries:
                del self.ranks_left[name]
        return {name: entries[-1][0] for name, entries in self.ranks_left.items()}

    def take(self, name: str) -> int:
        key = self.ranks_left[name].pop()[1]
        self.keys_taken.add(key)
        return key


class MoveToFront:
    """Stay with a system while its documents are relevant; at one that is not, turn to another.

    Each system has a priority, 100 at first, that falls by one with each document pulled from it
    that is not relevant; the next document is of the highest. A document known before it is pulled
    answers as soon as it is. The local method of Cormack, Palmer & Clarke, SIGIR 1998.
    """

    def __init__(self, entries: Sequence[AdaptiveEntry]) -> None:
        self.rankings = _Rankings(entries)
        self.priority = dict.fromkeys(self.rankings.ranks_left, FIRST_PRIORITY)
        self.relevance_of: dict[int, bool] = {}
        self.pulled_from: dict[int, str] = {}
        self.in_hand: str | None = None

    def tell(self, key: int, is_relevant: bool) -> None:
        if key in self.pulled_from:
            self._answer(self.pulled_from[key], is_relevant)
        else:
            self.relevance_of[key] = is_relevant

    def pull(self) -> tuple[int, str] | None:
        while ranks := self.rankings.next_ranks():
            arm = self._turn(ranks)
            key = self.rankings.take(arm)
            self.in_hand, self.pulled_from[key] = arm, arm
            if key not in self.relevance_of:
                return key, arm
            self._answer(arm, self.relevance_of[key])
        return None

    def _turn(self, ranks: Mapping[str, int]) -> str:
        if self.in_hand is not None and self.in_hand in ranks:
            return self.in_hand
        return min(ranks, key=lambda name: (-self.priority[name], ranks[name], name))

    def _answer(self, arm: str, is_relevant: bool) -> None:
        if not is_relevant:
            self.priority[arm] -= 1
            self.in_hand = None


class MaxMean:
    """The system that was right most often so far: a bandit without a draw.

    A label counts for every system that retrieved the document: `a` counts the relevant ones, `b`
    the others, both from 1; the next document is of the system with the largest a / (a + b).
    Losada, Parapar & Barreiro, Information Processing & Management 53(5), 2017.
    """

    def __init__(self, entries: Sequence[AdaptiveEntry]) -> None:
        self.rankings = _Rankings(entries)
        self.systems = {entry.key: tuple(entry.contributors) for entry in entries}
        self.a = dict.fromkeys(self.rankings.ranks_left, 1)
        self.b = dict.fromkeys(self.rankings.ranks_left, 1)

    def tell(self, key: int, is_relevant: bool) -> None:
        self.rankings.keys_taken.add(key)
        counts = self.a if is_relevant else self.b
        for system in self.systems.get(key, ()):
            counts[system] += 1

    def pull(self) -> tuple[int, str] | None:
        ranks = self.rankings.next_ranks()
        if not ranks:
            return None
        arm = min(ranks, key=lambda name: (-self._mean(name), ranks[name], name))
        return self.rankings.take(arm), arm

    def _mean(self, name: str) -> float:
        return self.a[name] / (self.a[name] + self.b[name])


ORDERS: dict[str, Callable[[Sequence[AdaptiveEntry]], Arms]] = {MTF: MoveToFront, MAXMEAN: MaxMean}

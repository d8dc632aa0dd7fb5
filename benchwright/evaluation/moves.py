"""Why the mean of a run is another one on a later release: what each kind of change accounts for.

Queries that came or went, labels added, changed or taken away, and other rules (a scale with
another top grade, another threshold, documents without a grade that count as not relevant) each
move a mean. Taken one after the other, what a kind accounts for depends on the order; here it is
the mean over all orders (the Shapley value), so the parts always add up to the whole difference.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import factorial, isnan
from typing import NamedTuple, TypeAlias, TypeVar

from benchwright.evaluation.evaluating import evaluate_hits
from benchwright.measures import parse_measure
from benchwright.reading.hits import Hit, Judged, QueryHits

ADDED, CHANGED, REMOVED = "added", "changed", "removed"
RULES, QUERIES = "rules", "queries"
KINDS = (ADDED, CHANGED, REMOVED)
PARTS = (*KINDS, RULES, QUERIES)
# Labels added to documents that the run found down to the measure's cutoff, and to all others.
OWN, ELSEWHERE = "own", "elsewhere"
NOTHING: frozenset[str] = frozenset()

Key = TypeVar("Key", str, int)
Grades: TypeAlias = Mapping[str, Mapping[str, int]]
Values: TypeAlias = Mapping[str, float]
Found: TypeAlias = Mapping[str, QueryHits[str]]


# --- labels --------------------------------------------------------------------------------


class LabelCounts(NamedTuple):
    """How many labels were added, changed and removed."""

    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def total(self) -> int:
        return self.added + self.changed + self.removed


def kinds_of_change(before: Mapping[str, int], after: Mapping[str, int]) -> frozenset[str]:
    """The kinds of change between the grades of one query.

    Examples
    --------
    >>> sorted(kinds_of_change({"d1": 1, "d2": 0}, {"d1": 2, "d3": 0}))
    ['added', 'changed', 'removed']
    """
    return frozenset(kind for kind, n in zip(KINDS, _counted(before, after), strict=True) if n)


def label_counts(before: Grades, after: Grades) -> LabelCounts:
    """How many labels of all queries are not as they were; a query that ends loses its labels.

    A grade below 0 is no label.
    """
    counts = [
        _counted(_labels(before.get(qid, {})), _labels(after.get(qid, {})))
        for qid in before.keys() | after.keys()
    ]
    return _summed(counts)


def counts_retrieved(before: Found, after: Found, *, cutoff: int | None = None) -> LabelCounts:
    """The changed labels of documents that one run retrieved, down to rank `cutoff`.

    Both are the hits of the same run: a rank is the same document in both.
    """
    counts = []
    for qid in before.keys() | after.keys():
        old, new = (_by_rank(hits.get(qid), cutoff) for hits in (before, after))
        counts.append(_counted(_labels(old), _labels(new)))
    return _summed(counts)


def _counted(before: Mapping[Key, int], after: Mapping[Key, int]) -> LabelCounts:
    shared = before.keys() & after.keys()
    return LabelCounts(
        added=len(after) - len(shared),
        changed=sum(before[key] != after[key] for key in shared),
        removed=len(before) - len(shared),
    )


def _labels(grades: Mapping[Key, int]) -> dict[Key, int]:
    return {key: grade for key, grade in grades.items() if grade >= 0}


def _by_rank(hits: QueryHits[str] | None, cutoff: int | None = None) -> dict[int, int]:
    if hits is None:
        return {}
    return {hit.rank: hit.grade for hit in hits.hits if cutoff is None or hit.rank <= cutoff}


def _summed(counts: Iterable[LabelCounts]) -> LabelCounts:
    rows = list(counts)
    return (
        LabelCounts(*(sum(column) for column in zip(*rows, strict=True))) if rows else LabelCounts()
    )


# --- what a difference is made of ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Side:
    """One run on one of the two releases: values and hits of the queries that count."""

    measure: str
    values: Values
    hits: Found
    qrels: Grades
    top_grade: int | None = None
    is_complete: bool = False

    @property
    def rules(self) -> tuple[str, int | None, bool]:
        """What makes values of grades: other rules give the same grades other values."""
        return self.measure, self.top_grade, self.is_complete


@dataclass(frozen=True, slots=True)
class Explained:
    """A mean before and after, and what each of `PARTS` accounts for: they add up to the rest.

    `elsewhere` is what labels of documents that the run did not find account for, of the part of
    all labels added; `n_elsewhere` of these are relevant.
    """

    before: float
    after: float
    parts: Mapping[str, float]
    elsewhere: float = 0.0
    n_elsewhere: int = 0

    @property
    def difference(self) -> float:
        return self.after - self.before


def explained(before: Side, after: Side) -> Explained | None:
    """What the difference of two means is made of; None where one of them is undefined.

    Both sides are of one run. A query that only one side has counts as `queries`. Only queries
    with several kinds of change at once are evaluated; of the others the values are there.
    """
    return _Explaining(before, after).result()


@dataclass(frozen=True)
class _Explaining:
    before: Side
    after: Side

    def result(self) -> Explained | None:
        whole = _mean(self.before.measure, self.before.values.values())
        end = _mean(self.after.measure, self.after.values.values())
        reached = {kinds: self._mean_with(kinds) for kinds in _subsets(self._present)}
        start = _mean(self.before.measure, (self.before.values[qid] for qid in self.shared))
        if any(map(isnan, (whole, end, start, *reached.values()))):
            # Nothing in common, or nothing defined: all of it is for the queries that are others.
            return None if isnan(whole) or isnan(end) else _only_queries(whole, end)
        parts = dict.fromkeys(PARTS, 0.0) | _shapley(self._present, reached)
        parts[RULES] = reached[NOTHING] - start
        parts[QUERIES] = (start - whole) + (end - reached[frozenset(self._present)])
        if ADDED not in self._present:
            return Explained(whole, end, parts)
        return Explained(whole, end, parts, self._by_elsewhere(reached), self._n_elsewhere())

    # --- labels of documents that the run did not find

    @cached_property
    def _added(self) -> dict[str, dict[str, list[int]]]:
        """The grades added to each query, of what the run found and of what it did not."""
        cutoff = parse_measure(self.after.measure).cutoff
        depth = cutoff if isinstance(cutoff, int) else None
        grades_of = {}
        for qid in self.shared:
            old, new = self.before.qrels.get(qid, {}), self.after.qrels.get(qid, {})
            ranks = _by_rank(self.before.hits.get(qid), depth)
            own = Counter(
                grade
                for rank, grade in _by_rank(self.after.hits.get(qid), depth).items()
                if rank not in ranks
            )
            rest = Counter(grade for docid, grade in new.items() if docid not in old) - own
            grades_of[qid] = {OWN: list(own.elements()), ELSEWHERE: list(rest.elements())}
        return grades_of

    def _n_elsewhere(self) -> int:
        rel = parse_measure(self.after.measure).rel
        return sum(grade >= rel for of in self._added.values() for grade in of[ELSEWHERE])

    def _by_elsewhere(self, reached: Mapping[frozenset[str], float]) -> float:
        """Of the part of labels added, in the mean of found first and found last (Owen value)."""
        others = [kind for kind in self._present if kind != ADDED]
        total = 0.0
        for first in _subsets(others):
            alone, last = (self._mean_with_some(first, which) for which in (ELSEWHERE, OWN))
            gained = (alone - reached[first]) + (reached[first | {ADDED}] - last)
            total += _weight(first, len(others) + 1) * gained / 2
        return total

    def _mean_with_some(self, kinds: frozenset[str], which: str) -> float:
        """The mean once these kinds of change have happened, and of labels added only `which`."""
        apart: dict[frozenset[str], list[str]] = {}
        for qid, added in self._added.items():
            if added[OWN] and added[ELSEWHERE]:
                apart.setdefault(kinds & self.kinds[qid] | {which}, []).append(qid)
        values: dict[str, float] = {}
        for of, qids in apart.items():
            values |= self._values(qids, of)
        for qid in self.shared:
            if qid not in values:
                happened = kinds | {ADDED} if self._added[qid][which] else kinds
                values[qid] = self._value(qid, happened & self.kinds[qid])
        return _mean(self.after.measure, (values[qid] for qid in self.shared))

    @cached_property
    def shared(self) -> list[str]:
        return [qid for qid in self.after.values if qid in self.before.values]

    @cached_property
    def kinds(self) -> dict[str, frozenset[str]]:
        """The kinds of change of each query that both have."""
        return {
            qid: kinds_of_change(self.before.qrels.get(qid, {}), self.after.qrels.get(qid, {}))
            for qid in self.shared
        }

    @cached_property
    def _present(self) -> tuple[str, ...]:
        there = frozenset().union(*self.kinds.values())
        return tuple(kind for kind in KINDS if kind in there)

    @cached_property
    def _start(self) -> Values:
        """Values of the earlier grades by the later rules."""
        is_same = self.before.rules == self.after.rules
        return self.before.values if is_same else self._values(self.shared, NOTHING)

    @cached_property
    def _mixed(self) -> dict[frozenset[str], Values]:
        """Values of queries of which some kinds of change have happened and others have not."""
        values: dict[frozenset[str], Values] = {}
        for kinds in _subsets(self._present):
            between = [qid for qid, of in self.kinds.items() if kinds and kinds < of]
            values[kinds] = self._values(between, kinds) if between else {}
        return values

    def _mean_with(self, kinds: frozenset[str]) -> float:
        """The mean over the shared queries once these kinds of change have happened."""
        values = (self._value(qid, kinds & self.kinds[qid]) for qid in self.shared)
        return _mean(self.after.measure, values)

    def _value(self, qid: str, kinds: frozenset[str]) -> float:
        if kinds == self.kinds[qid] and kinds:
            return self.after.values[qid]
        return self._mixed[kinds][qid] if kinds else self._start[qid]

    def _values(self, qids: Collection[str], kinds: frozenset[str]) -> Values:
        if not qids:
            return {}
        evaluation = evaluate_hits(
            {qid: Judged(tuple(self._grades(qid, kinds)), self.after.is_complete) for qid in qids},
            {qid: hits for qid in qids if (hits := self._hits(qid, kinds)) is not None},
            [self.after.measure],
            allow_empty=True,
            top_grade=self.after.top_grade,
        )
        return {qid: of[self.after.measure] for qid, of in evaluation.per_query.items()}

    def _grades(self, qid: str, kinds: frozenset[str]) -> list[int]:
        old, new = self.before.qrels.get(qid, {}), self.after.qrels.get(qid, {})
        some = [grade for which in kinds & {OWN, ELSEWHERE} for grade in self._added[qid][which]]
        return [*_between(old, new, kinds).values(), *some]

    def _hits(self, qid: str, kinds: frozenset[str]) -> QueryHits[str] | None:
        hits = self.before.hits.get(qid) or self.after.hits.get(qid)
        if hits is None:
            return None
        old, new = (_by_rank(side.hits.get(qid)) for side in (self.before, self.after))
        ranks = _between(old, new, kinds | {ADDED} if OWN in kinds else kinds)
        return QueryHits(qid, tuple(Hit(*hit) for hit in sorted(ranks.items())), hits.n_retrieved)


def _between(
    old: Mapping[Key, int], new: Mapping[Key, int], kinds: frozenset[str]
) -> Mapping[Key, int]:
    """The labels once only these kinds of change have happened."""
    labels = old if REMOVED not in kinds else {key: old[key] for key in old if key in new}
    changed = {key: new[key] for key in old if key in new} if CHANGED in kinds else {}
    added = {key: new[key] for key in new if key not in old} if ADDED in kinds else {}
    return {**labels, **changed, **added}


def _mean(measure: str, values: Iterable[float]) -> float:
    return float(parse_measure(measure).over_all(list(values)))


def _only_queries(before: float, after: float) -> Explained:
    return Explained(before, after, dict.fromkeys(PARTS, 0.0) | {QUERIES: after - before})


def _subsets(kinds: Collection[str]) -> list[frozenset[str]]:
    return [
        frozenset(chosen) for size in range(len(kinds) + 1) for chosen in combinations(kinds, size)
    ]


def _shapley(kinds: Collection[str], reached: Mapping[frozenset[str], float]) -> dict[str, float]:
    """What each kind adds, as the mean over all orders in which they can happen."""
    n, shares = len(kinds), {}
    for kind in kinds:
        others = [other for other in kinds if other != kind]
        shares[kind] = sum(
            _weight(first, n) * (reached[first | {kind}] - reached[first])
            for first in _subsets(others)
        )
    return shares


def _weight(first: Collection[str], n: int) -> float:
    """The share of all orders of n kinds in which these, and no others, come before a kind."""
    return factorial(len(first)) * factorial(n - len(first) - 1) / factorial(n)


# --- ranks ---------------------------------------------------------------------------------


def ranks(means: Mapping[int, float | None], *, decimals: int = 4) -> dict[int, int]:
    """{key: rank} from 1, as boards rank: what looks equal shares a rank; who has no mean has none.

    Examples
    --------
    >>> ranks({1: 0.5, 2: 0.70001, 3: 0.7, 4: None})
    {2: 1, 3: 1, 1: 3}
    """
    rounded = {
        key: round(mean, decimals)
        for key, mean in means.items()
        if mean is not None and mean == mean
    }
    order = sorted(rounded, key=lambda key: -rounded[key])
    first: dict[float, int] = {}
    for place, key in enumerate(order, start=1):
        first.setdefault(rounded[key], place)
    return {key: first[rounded[key]] for key in order}

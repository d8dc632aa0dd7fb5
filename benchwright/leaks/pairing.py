"""Pairs of queries across splits that ask the same, or nearly."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import combinations, product
from typing import Any

import numpy as np

from benchwright.families.keys import DEFAULT_LANGUAGE, accentless_key, bag_keys, exact_key
from benchwright.families.minhash import alike_pairs
from benchwright.families.similarity import similar_rows, similarities
from benchwright.families.vectors import Matrix, weighted_grams
from benchwright.leaks.types import LEVELS, NEAR_AT, POSSIBLE_AT, Kind, LeakQuery, Pair
from benchwright.splits.recipe import SPLITS
from benchwright.texts.counting import number_beside

Progress = Callable[[int, int], None]
NEAREST = 20
ALL_PAIRS_UP_TO = 100_000
"""More wordings than that are compared where their MinHash signatures agree."""

# How far down the nearest pairs are looked for, by how many wordings there are.
DEPTHS = ((0.2, 3_000), (0.4, 30_000), (POSSIBLE_AT, 1 << 62))

SplitPair = tuple[str, str]


def split_pairs(queries: Iterable[LeakQuery]) -> list[SplitPair]:
    """Every two splits that there are, the earlier first."""
    there = {query.split for query in queries}
    names = [name for name in SPLITS if name in there] + sorted(there - set(SPLITS))
    return [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]


class CrossPairs:
    """Pairs across splits, for each pair of splits, the nearest first."""

    def __init__(
        self,
        queries: Sequence[LeakQuery],
        *,
        told_apart: Set[tuple[str, str]] = frozenset(),
        language: str = DEFAULT_LANGUAGE,
        on_progress: Progress | None = None,
    ) -> None:
        self.queries = queries
        self.told_apart = {tuple(sorted(pair)) for pair in told_apart}
        self.exact = [exact_key(query.text) for query in queries]
        self.plain = [accentless_key(query.text) for query in queries]
        self.bags = bag_keys([query.text for query in queries], language)
        self.on_progress = on_progress
        self.pairs_of: dict[SplitPair, dict[tuple[int, int], Pair]] = defaultdict(dict)
        self.searched_from = POSSIBLE_AT
        self.is_sampled = False
        self._members = _members(self.exact)
        self._find()

    def of(self, splits: SplitPair) -> list[Pair]:
        """The pairs of two splits: similar ones first, ties by the order of the queries' ids."""
        return sorted(
            self.pairs_of[splits].values(),
            key=lambda pair: (-pair.similarity, self._name(pair.a), self._name(pair.b)),
        )

    def _name(self, place: int) -> bytes:
        return self.queries[place].qid.encode()

    def _find(self) -> None:
        wordings = list(self._members)
        rows = weighted_grams(wordings)
        self._add_equal(self.exact)
        self._add_alike(wordings, rows)
        for keys in (self.plain, self.bags):
            self._add_of_one_key(wordings, rows, keys)

    def _add_equal(self, keys: Sequence[str]) -> None:
        """Every pair across splits of one exact key."""
        for places in _members(keys).values():
            if len({self.queries[place].split for place in places}) > 1:
                for a, b in self._across(places, places):
                    self._add(a, b, 1.0)

    def _add_alike(self, wordings: Sequence[str], rows: Matrix) -> None:
        depth = next(depth for depth, most in DEPTHS if len(wordings) <= most)
        self.searched_from = depth
        for m, n, similarity in self._alike(wordings, rows, depth):
            self._add_wordings(wordings[m], wordings[n], similarity)

    def _alike(
        self, wordings: Sequence[str], rows: Matrix, depth: float
    ) -> Iterable[tuple[int, int, float]]:
        if len(wordings) <= ALL_PAIRS_UP_TO:
            return similar_rows(rows, threshold=depth, on_progress=self.on_progress)
        self.is_sampled = True
        columns = alike_pairs(wordings, rows, depth, self.on_progress)
        return zip(*(column.tolist() for column in columns), strict=True)

    def _add_of_one_key(self, wordings: Sequence[str], rows: Matrix, keys: Sequence[str]) -> None:
        """Every pair across splits of one key, however little alike they read."""
        key_of = dict(zip(self.exact, keys, strict=True))
        for places in _members([key_of[wording] for wording in wordings]).values():
            for m, n in combinations(places, 2):
                alike = similarities(rows, np.array([m]), np.array([n]))
                self._add_wordings(wordings[m], wordings[n], float(alike[0]))

    def _add_wordings(self, wording: str, other: str, similarity: float) -> None:
        for a, b in self._across(self._members[wording], self._members[other]):
            self._add(a, b, similarity)

    def _across(self, places: Sequence[int], other: Sequence[int]) -> Iterable[tuple[int, int]]:
        """Places of two splits, the earlier split's first, each pair once."""
        queries = self.queries
        for a, b in product(places, other):
            if _rank(queries[a].split) < _rank(queries[b].split):
                yield a, b
            elif places is not other and _rank(queries[b].split) < _rank(queries[a].split):
                yield b, a

    def _add(self, a: int, b: int, similarity: float) -> None:
        first, second = self.queries[a], self.queries[b]
        pairs = self.pairs_of[first.split, second.split]
        if (a, b) in pairs:
            return
        is_apart = tuple(sorted((first.qid, second.qid))) in self.told_apart
        pairs[a, b] = Pair(a, b, self._kind(a, b, similarity), similarity, is_apart)

    def _kind(self, a: int, b: int, similarity: float) -> Kind | None:
        if self.queries[a].family == self.queries[b].family:
            return Kind.FAMILY
        if self.exact[a] == self.exact[b]:
            return Kind.EXACT
        if self.plain[a] == self.plain[b]:
            return Kind.ACCENTS
        if self.bags[a] == self.bags[b]:
            return Kind.BAG
        # As the grouping of families rounds, so that both say the same of one pair.
        rounded = similarity + 1e-6
        return (
            Kind.NEAR if rounded >= NEAR_AT else Kind.POSSIBLE if rounded >= POSSIBLE_AT else None
        )


def _members(keys: Sequence[str]) -> dict[str, list[int]]:
    members: dict[str, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        members[key].append(place)
    return members


def _rank(split: str) -> tuple[int, str]:
    return (SPLITS.index(split) if split in SPLITS else len(SPLITS), split)


def families_across(queries: Sequence[LeakQuery]) -> Mapping[SplitPair, list[str]]:
    """For each pair of splits the families that both have."""
    splits_of: dict[str, set[str]] = defaultdict(set)
    for query in queries:
        splits_of[query.family].add(query.split)
    families: dict[SplitPair, list[str]] = defaultdict(list)
    for family, splits in splits_of.items():
        if len(splits) > 1:
            for pair in split_pairs_of(splits):
                families[pair].append(family)
    return families


def split_pairs_of(splits: Iterable[str]) -> list[SplitPair]:
    """Every two of these splits, the earlier first."""
    ordered = sorted(splits, key=_rank)
    return [(a, b) for place, a in enumerate(ordered) for b in ordered[place + 1 :]]


def written_similarity(similarity: float) -> float:
    """To four decimals, and to as many as keep it on its side of what pairs are counted from."""
    return float(number_beside(similarity, *LEVELS))


def pair_json(queries: Sequence[LeakQuery], pair: Pair) -> dict[str, Any]:
    return {
        "similarity": written_similarity(pair.similarity),
        "kind": pair.kind.value if pair.kind else None,
        "is_told_apart": pair.is_told_apart,
        "a": _query_json(queries[pair.a]),
        "b": _query_json(queries[pair.b]),
    }


def _query_json(query: LeakQuery) -> dict[str, str]:
    return {"qid": query.qid, "text": query.text, "family": query.family}

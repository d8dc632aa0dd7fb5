"""Pools: which documents are judged, in which order, and what the pool tells about the runs."""

import json
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b, sha256
from itertools import combinations
from statistics import median

from annotation.core.errors import EmptyPoolError, PoolDepthError, PoolRunError

DEPTH_K = "depth-k"
SECONDS_PER_HOUR = 3600

# Query id and document id.
Pair = tuple[str, str]
# Query id, document id and rank (from 1) of what a run retrieved, in any order.
Ranking = Iterable[tuple[str, str, int]]


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """A document to judge for a query; `contributors` gives its rank in each run that has it."""

    qid: str
    docid: str
    contributors: Mapping[str, int]
    best_rank: int

    @property
    def pair(self) -> Pair:
        return self.qid, self.docid


@dataclass(frozen=True, slots=True)
class DepthPool:
    """The union of the runs' first `depth` documents; `entries` stand in the order of the queue."""

    entries: tuple[PoolEntry, ...]
    run_keys: tuple[str, ...]
    depth: int
    seed: int
    digest: str


def build_depth_pool(
    runs: Mapping[str, Ranking], *, depth: int, seed: int, queries: Container[str] | None = None
) -> DepthPool:
    """Return the pool of the first `depth` documents of each run, one entry a query and document.

    Parameters
    ----------
    runs
        What each run retrieved, by a key of the run. Rows below `depth` are passed over.
    depth
        At least 1; at least the cutoff of the measure, or the runs themselves have holes.
    seed
        Orders queries, and the documents of a layer.
    queries
        Only these are pooled; all where None.

    Raises
    ------
    PoolDepthError
        If `depth` is below 1.
    PoolRunError
        If a run has a document twice in a query, or a rank below 1.
    EmptyPoolError
        If there is no entry.

    Notes
    -----
    Queue: queries in seeded order; of each query, first all documents that some run has at rank 1,
    then those at best at rank 2, and so on; inside such a layer in seeded order. The seeded order
    of a thing is that of BLAKE2b-128 over the JSON array `[seed, "query", qid]` or
    `[seed, "document", qid, docid]`: it is the same on every machine and Python version, and one
    more run in the pool does not reorder the documents that a layer had.
    """
    if depth < 1:
        raise PoolDepthError(depth=depth)
    contributors: dict[Pair, dict[str, int]] = {}
    for key in sorted(runs):
        for qid, docid, rank in _within(runs[key], key, depth):
            if queries is None or qid in queries:
                _add(contributors.setdefault((qid, docid), {}), key, (qid, docid), rank)
    if not contributors:
        raise EmptyPoolError(n_runs=len(runs))
    entries = [
        PoolEntry(qid, docid, ranks, min(ranks.values()))
        for (qid, docid), ranks in contributors.items()
    ]
    return DepthPool(
        entries=tuple(queue_order(entries, seed=seed)),
        run_keys=tuple(sorted(runs)),
        depth=depth,
        seed=seed,
        digest=pool_digest(entries, run_keys=runs, depth=depth, seed=seed),
    )


def _within(ranking: Ranking, key: str, depth: int) -> Iterator[tuple[str, str, int]]:
    for qid, docid, rank in ranking:
        if rank < 1:
            raise PoolRunError(run=key, qid=qid, docid=docid, reason=f"rank {rank} is below 1")
        if rank <= depth:
            yield qid, docid, rank


def _add(ranks: dict[str, int], key: str, pair: Pair, rank: int) -> None:
    if key in ranks:
        reason = f"it is there twice, at ranks {ranks[key]} and {rank}"
        raise PoolRunError(run=key, qid=pair[0], docid=pair[1], reason=reason)
    ranks[key] = rank


# Order and identity


def queue_order(entries: Iterable[PoolEntry], *, seed: int) -> list[PoolEntry]:
    """Return the entries as they are judged: by query, by layer, seeded (`build_depth_pool`)."""
    listed = list(entries)
    place = {qid: _seeded(seed, "query", qid) for qid in {entry.qid for entry in listed}}
    return sorted(
        listed,
        key=lambda entry: (
            place[entry.qid],
            entry.best_rank,
            _seeded(seed, "document", entry.qid, entry.docid),
        ),
    )


def _seeded(seed: int, *words: str) -> bytes:
    return blake2b(_canonical([seed, *words]), digest_size=16).digest()


def _canonical(value: object) -> bytes:
    """Return JSON bytes that are equal for equal values, and differ for others."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def pool_digest(
    entries: Iterable[PoolEntry], *, run_keys: Iterable[str], depth: int, seed: int
) -> str:
    """Return the SHA-256 of a pool, in hexadecimal: equal for equal inputs in any order.

    It covers the strategy, depth, seed and runs (also those that added nothing), and each entry
    with its contributors: one JSON array a line, a header first, entries by the bytes of their ids.
    """
    digest = sha256(_canonical([DEPTH_K, depth, seed, sorted(run_keys)]) + b"\n")
    for entry in sorted(entries, key=lambda entry: (entry.qid.encode(), entry.docid.encode())):
        ranks = sorted(entry.contributors.items())
        digest.update(_canonical([entry.qid, entry.docid, ranks]) + b"\n")
    return digest.hexdigest()


# What the pool tells


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of the pool two runs share; shares are NaN-free: 0.0 where there is nothing.

    `jaccard` is shared over what either has, `share_of_a` shared over what run a has.
    """

    run_a: str
    run_b: str
    n_shared: int
    jaccard: float
    share_of_a: float
    share_of_b: float


@dataclass(frozen=True, slots=True)
class PoolStatistics:
    """What a pool's page shows.

    `n_contributed` counts the entries a run has in the pool, `n_unique` those that no other run
    has. `judged_share` is in [0, 1]. `hours_left` is for the labels still wanted.
    """

    n_entries: int
    n_queries: int
    n_judged: int
    per_query: Mapping[str, int]
    smallest_query: int
    median_query: float
    largest_query: int
    n_contributed: Mapping[str, int]
    n_unique: Mapping[str, int]
    overlaps: tuple[Overlap, ...]
    judged_share: float
    hours_left: float

    def overlap(self, run_a: str, run_b: str) -> Overlap:
        """Return the overlap of two runs, whichever way round they are asked for."""
        for found in self.overlaps:
            if (found.run_a, found.run_b) == (run_a, run_b):
                return found
            if (found.run_b, found.run_a) == (run_a, run_b):
                return _turned(found)
        raise KeyError((run_a, run_b))


def pool_statistics(
    entries: Collection[PoolEntry],
    *,
    run_keys: Collection[str],
    judged: Container[Pair] = (),
    labels_per_entry: int = 1,
    median_seconds: float,
) -> PoolStatistics:
    """Return sizes, contributions, overlaps and expected hours of a pool.

    Parameters
    ----------
    run_keys
        All runs of the pool, also those that added nothing.
    judged
        Pairs that need no more labels; pairs outside the pool do not count.
    labels_per_entry
        Labels wanted for each entry that is not judged.
    median_seconds
        Of one label.
    """
    if not entries:
        raise EmptyPoolError(n_runs=len(run_keys))
    per_query = Counter(entry.qid for entry in entries)
    n_judged = sum(entry.pair in judged for entry in entries)
    n_labels = (len(entries) - n_judged) * labels_per_entry
    contributed, unique = _contributions(entries, run_keys)
    return PoolStatistics(
        n_entries=len(entries),
        n_queries=len(per_query),
        n_judged=n_judged,
        per_query=dict(per_query),
        smallest_query=min(per_query.values()),
        median_query=median(per_query.values()),
        largest_query=max(per_query.values()),
        n_contributed=contributed,
        n_unique=unique,
        overlaps=tuple(_overlaps(entries, contributed)),
        judged_share=n_judged / len(entries),
        hours_left=expected_hours(n_labels, median_seconds=median_seconds),
    )


def expected_hours(n_labels: int, *, median_seconds: float) -> float:
    """Return how long the labels take one person, in hours: labels times median seconds."""
    return n_labels * median_seconds / SECONDS_PER_HOUR


def _contributions(
    entries: Collection[PoolEntry], run_keys: Collection[str]
) -> tuple[dict[str, int], dict[str, int]]:
    contributed, unique = dict.fromkeys(sorted(run_keys), 0), dict.fromkeys(sorted(run_keys), 0)
    for entry in entries:
        for key in entry.contributors:
            contributed[key] += 1
            unique[key] += len(entry.contributors) == 1
    return contributed, unique


def _overlaps(entries: Collection[PoolEntry], contributed: Mapping[str, int]) -> Iterator[Overlap]:
    shared: Counter[tuple[str, str]] = Counter()
    for entry in entries:
        shared.update(combinations(sorted(entry.contributors), 2))
    for run_a, run_b in combinations(contributed, 2):
        n_shared, n_a, n_b = shared[run_a, run_b], contributed[run_a], contributed[run_b]
        yield Overlap(
            run_a,
            run_b,
            n_shared,
            jaccard=_share(n_shared, n_a + n_b - n_shared),
            share_of_a=_share(n_shared, n_a),
            share_of_b=_share(n_shared, n_b),
        )


def _turned(overlap: Overlap) -> Overlap:
    return Overlap(
        overlap.run_b,
        overlap.run_a,
        overlap.n_shared,
        overlap.jaccard,
        share_of_a=overlap.share_of_b,
        share_of_b=overlap.share_of_a,
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0

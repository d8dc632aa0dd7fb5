"""In which order a pool is judged; not which documents are in it."""

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby

from benchwright.pools.entries import Pair, PoolEntry
from benchwright.pools.recipe import LAYERED, LISTED, RBP, RRF
from benchwright.pools.seeding import DOCUMENT, QUERY, SHOWN, SPREAD, fraction, seeded

# Sums of whole numbers are the same in any order, which sums of floats are not.
ONE = 10**15
RRF_CONSTANT = 60


def rrf_weight(rank: int) -> int:
    """1 / (60 + rank) in units of 1e-15. Cormack, Clarke & Büttcher, SIGIR 2009."""
    return ONE // (RRF_CONSTANT + rank)


def rbp_weight(rank: int) -> int:
    """(1 - p) p^(rank - 1) for p = 0.8, in units of 1e-15. Moffat & Zobel, TOIS 27(1), 2008."""
    return int(ONE * 4 ** (rank - 1) // 5**rank)


WEIGHTS: Mapping[str, Callable[[int], int]] = {RRF: rrf_weight, RBP: rbp_weight}


def queue_order(
    entries: Iterable[PoolEntry], *, seed: int, order: str = LAYERED
) -> list[PoolEntry]:
    """Return the entries as a pool has them: query by query, each by its order, ties seeded.

    Notes
    -----
    Queries come in seeded order, under `listed` by the place of their first document in the list.
    Within a query documents come by best rank (layered, and the orders that learn, which begin
    so), by fused weight (RRF, RBP), or as listed. Documents that no run ranked, or that are
    not on the list, are spread over the query at seeded places, so that no place tells them.
    """
    by_query: dict[str, list[PoolEntry]] = {}
    for entry in entries:
        by_query.setdefault(entry.qid, []).append(entry)

    def place(qid: str) -> tuple[int, bytes]:
        listed = [entry.listed for entry in by_query[qid] if entry.listed]
        first = min(listed, default=1 << 62) if order == LISTED else 0
        return first, seeded(seed, QUERY, qid)

    return [
        entry
        for qid in sorted(by_query, key=place)
        for entry in _query_order(by_query[qid], seed, order)
    ]


def shown_places(pairs: Iterable[Pair], *, seed: int) -> list[int]:
    """Return the places of a queue in the order in which people get them.

    Queries stay where they are; the documents of each are shuffled as a whole, so that no place
    tells what a run said of one. The shuffle is seeded.
    """
    places: list[int] = []
    for _, of_query in groupby(enumerate(pairs), key=lambda row: row[1][0]):
        drawn = sorted(of_query, key=lambda row: seeded(seed, SHOWN, *row[1]))
        places += (place for place, _ in drawn)
    return places


def _query_order(entries: list[PoolEntry], seed: int, order: str) -> list[PoolEntry]:
    def tie(entry: PoolEntry) -> bytes:
        return seeded(seed, DOCUMENT, entry.qid, entry.docid)

    keys = {entry.docid: _key(entry, order) for entry in entries}
    ordered = sorted(
        (entry for entry in entries if keys[entry.docid] is not None),
        key=lambda entry: (keys[entry.docid], tie(entry)),
    )
    places = {
        entry.docid: (2 * place + 1) / (2 * len(ordered)) for place, entry in enumerate(ordered)
    }

    def place(entry: PoolEntry) -> tuple[float, bytes]:
        if entry.docid in places:
            return places[entry.docid], b""
        drawn = seeded(seed, SPREAD, entry.qid, entry.docid)
        return fraction(drawn), drawn

    return sorted(entries, key=place)


def _key(entry: PoolEntry, order: str) -> int | None:
    """What orders an entry within its query, smallest first; None where nothing does."""
    if order == LISTED:
        return entry.listed
    if entry.best_rank is None:
        return None
    if weight := WEIGHTS.get(order):
        return -sum(map(weight, entry.contributors.values()))
    return entry.best_rank

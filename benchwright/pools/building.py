"""From runs to a pool, in plain Python: the reference that `columns` is held against."""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchwright.pools.digest import pool_digest
from benchwright.pools.entries import (
    ADDED,
    CANDIDATE,
    CARRIED,
    RANDOM,
    RUN,
    BuiltPool,
    Pair,
    PoolEntry,
    Ranking,
)
from benchwright.pools.errors import EmptyPoolError, EmptyTopUpError, PoolRunError
from benchwright.pools.order import queue_order
from benchwright.pools.recipe import ESTIMATE, LAYERED, STRATIFIED, TOP_UP, Recipe
from benchwright.pools.seeding import CONTROL, DOCUMENT, STRATUM, is_drawn, part_of, seeded

Ranks = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Extras:
    """What comes into a pool besides the runs.

    `judged` are pairs with a label: members of a pool that carries them over, and left out of a
    top-up. `candidates` is the list that a top-up is made of, most worth judging first; `drawn` are
    the documents of an estimate, each with the probability it was drawn with.
    """

    judged: Collection[Pair] = frozenset()
    manual: Collection[Pair] = frozenset()
    candidates: Sequence[Pair] = ()
    drawn: Mapping[Pair, float] = field(default_factory=dict)


NOTHING = Extras()


def build_pool(
    runs: Mapping[str, Ranking],
    recipe: Recipe,
    *,
    queries: Container[str] | None = None,
    extras: Extras = NOTHING,
) -> BuiltPool:
    """Return the pool of a recipe, one entry a query and document.

    Parameters
    ----------
    runs
        What each run retrieved, by a key of the run. Rows out of reach are passed over.
    queries
        Only these are pooled; all where None.

    Raises
    ------
    ParameterError, PoolRecipeError
        If the recipe's parts do not fit together.
    PoolRunError
        If a run has a document twice in a query, or a rank below 1.
    EmptyPoolError
        If there is no entry.

    Notes
    -----
    Queue and draws: `order.queue_order`; the seeded order of a thing is that of BLAKE2b-128 over
    the JSON array `[seed, "query", qid]` or `[seed, "document", qid, docid]`: it is the same on
    every machine and Python version, and one more run in the pool does not reorder the documents
    that a layer had.

    A stratum draws each document by itself, with its share as probability. A layered pool cuts
    its last layer in seeded order: a document there had the probability of the layer's part taken.
    The control of a query is the first of all documents out of reach in seeded order.
    """
    recipe.check()
    is_wanted = _wanting(queries)
    reached, deeper = _gathered(runs, recipe, is_wanted)
    members = _selected(reached, recipe, extras.drawn)
    _add_extras(members, reached, recipe, extras, is_wanted)
    _add_control(members, deeper, recipe)
    if not members:
        raise _nothing(runs, recipe, extras)
    entries = list(members.values())
    return BuiltPool(
        entries=tuple(queue_order(entries, seed=recipe.seed, order=recipe.order)),
        run_keys=tuple(sorted(runs)),
        recipe=recipe,
        digest=pool_digest(entries, run_keys=runs, recipe=recipe),
    )


def _wanting(queries: Container[str] | None) -> Callable[[str], bool]:
    return lambda qid: queries is None or qid in queries


def _nothing(runs: Mapping[str, Ranking], recipe: Recipe, extras: Extras) -> EmptyPoolError:
    if recipe.strategy == TOP_UP:
        return EmptyTopUpError(n_runs=len(runs), n_candidates=len(extras.candidates))
    return EmptyPoolError(n_runs=len(runs))


def _gathered(
    runs: Mapping[str, Ranking], recipe: Recipe, is_wanted: Callable[[str], bool]
) -> tuple[dict[Pair, dict[str, int]], set[Pair]]:
    """Ranks by run of what is within reach, and the pairs beyond it that a control may have."""
    reached: dict[Pair, dict[str, int]] = {}
    deeper: set[Pair] = set()
    for key in sorted(runs):
        is_source = recipe.control_run in ("", key)
        for qid, docid, rank in _within(runs[key], key, recipe.read_depth):
            if not is_wanted(qid):
                continue
            if rank <= recipe.reach:
                _add(reached.setdefault((qid, docid), {}), key, (qid, docid), rank)
            elif is_source:
                deeper.add((qid, docid))
    return reached, deeper - reached.keys()


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


def _selected(
    reached: Mapping[Pair, Ranks], recipe: Recipe, drawn: Mapping[Pair, float]
) -> dict[Pair, PoolEntry]:
    entries = [
        PoolEntry(qid, docid, ranks, min(ranks.values())) for (qid, docid), ranks in reached.items()
    ]
    if recipe.strategy == LAYERED:
        entries = list(_within_budget(entries, recipe))
    elif recipe.strategy == STRATIFIED:
        entries = list(_sampled(entries, recipe))
    elif recipe.strategy == ESTIMATE:
        chosen = [entry for entry in entries if entry.pair in drawn]
        entries = [_with_probability(entry, drawn[entry.pair]) for entry in chosen]
    return {entry.pair: entry for entry in entries}


def _within_budget(entries: Iterable[PoolEntry], recipe: Recipe) -> Iterator[PoolEntry]:
    """The first of each query by layer; the layer that the budget cuts is a random sample."""
    layers: dict[tuple[str, int], list[PoolEntry]] = {}
    for entry in entries:
        layers.setdefault((entry.qid, entry.best_rank or 0), []).append(entry)
    left: dict[str, int] = {}
    for (qid, _), layer in sorted(layers.items(), key=lambda item: item[0]):
        n_left = left.setdefault(qid, recipe.budget or 0)
        taken = sorted(
            layer,
            key=lambda candidate: seeded(recipe.seed, DOCUMENT, candidate.qid, candidate.docid),
        )
        n_taken = min(n_left, len(layer))
        left[qid] -= n_taken
        for entry in taken[:n_taken]:
            yield _with_probability(entry, n_taken / len(layer))


def _sampled(entries: Iterable[PoolEntry], recipe: Recipe) -> Iterator[PoolEntry]:
    for entry in entries:
        rank = entry.best_rank or 0
        share = next(stratum.share for stratum in recipe.strata if rank <= stratum.last_rank)
        if is_drawn(seeded(recipe.seed, STRATUM, entry.qid, entry.docid), share):
            yield _with_probability(entry, share)


def _with_probability(entry: PoolEntry, probability: float) -> PoolEntry:
    return PoolEntry(
        entry.qid,
        entry.docid,
        entry.contributors,
        entry.best_rank,
        inclusion_probability=probability,
    )


def _add_extras(
    members: dict[Pair, PoolEntry],
    reached: Mapping[Pair, Ranks],
    recipe: Recipe,
    extras: Extras,
    is_wanted: Callable[[str], bool],
) -> None:
    """Add the list, what was added by hand, what was judged; who is in already stays as it is."""
    added: list[tuple[Pair, str, int | None]] = []
    if recipe.strategy == TOP_UP:
        listed = enumerate(extras.candidates, start=1)
        added += [(pair, CANDIDATE, place) for place, pair in listed if pair not in extras.judged]
    added += [(pair, ADDED, None) for pair in extras.manual]
    if recipe.carry:
        added += [(pair, CARRIED, None) for pair in extras.judged]
    for pair, origin, place in added:
        if pair not in members and is_wanted(pair[0]):
            ranks = reached.get(pair, {})
            best = min(ranks.values(), default=None)
            members[pair] = PoolEntry(*pair, ranks, best, origin, listed=place)


def _add_control(members: dict[Pair, PoolEntry], deeper: set[Pair], recipe: Recipe) -> None:
    if not recipe.control_share:
        return
    sizes: dict[str, int] = {}
    for entry in members.values():
        sizes[entry.qid] = sizes.get(entry.qid, 0) + (entry.origin == RUN)
    urns: dict[str, list[Pair]] = {}
    for pair in deeper - members.keys():
        urns.setdefault(pair[0], []).append(pair)
    for qid, urn in urns.items():
        drawn = sorted(urn, key=lambda pair: seeded(recipe.seed, CONTROL, *pair))
        n_drawn = min(len(urn), part_of(sizes.get(qid, 0), recipe.control_share))
        for pair in drawn[:n_drawn]:
            members[pair] = PoolEntry(*pair, {}, None, RANDOM, n_drawn / len(urn))

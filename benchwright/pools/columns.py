"""From runs to a pool, in columns: what `building` does, for millions of rows.

Queries are worked through some at a time, so that memory holds the runs and the pool, and never
all of the rows between the two.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, TypeVar

from benchwright.pools.building import NOTHING, Extras
from benchwright.pools.digest import digest_header
from benchwright.pools.entries import (
    ADDED,
    CANDIDATE,
    CARRIED,
    RANDOM,
    RUN,
    BuiltPool,
    Pair,
    PoolEntry,
)
from benchwright.pools.errors import EmptyPoolError, EmptyTopUpError, PoolRunError
from benchwright.pools.order import WEIGHTS
from benchwright.pools.recipe import (
    DEPTH_K,
    ESTIMATE,
    LAYERED,
    LISTED,
    STRATIFIED,
    TOP_UP,
    Recipe,
)
from benchwright.pools.seeding import (
    CONTROL,
    DIGEST_BYTES,
    DOCUMENT,
    QUERY,
    SPREAD,
    STRATUM,
    canonical,
    fraction,
    is_drawn,
    part_of,
    seeded,
)

if TYPE_CHECKING:
    import polars as pl

Piece = TypeVar("Piece")
Result = TypeVar("Result")

# Rows of all runs that are worked on at once, about; and by how many threads, each its own: while
# the draws of one are hashed, polars groups the next.
ROWS_AT_ONCE = 400_000
N_THREADS = 2
PAIR = ["qid", "docid"]
# Of a doubt: further ones may differ from machine to machine.
DECIMALS = 6
# Characters that JSON writes otherwise than as they are.
ESCAPED = r'["\\\x00-\x1f]'

# What is told of a run's rows while they are at hand: query, document, run number, rank and, of a
# member of the pool, by how many runs it is there; null of any other. `is_reached` is true of ranks
# within the pool's reach, `stays` of what is in the pool also without runs: judged before, or added
# by hand.
Watcher = Callable[["pl.DataFrame"], None]


@dataclass(frozen=True, slots=True)
class PoolTable:
    """A pool in columns.

    `frame` has a row for each entry, in the order of the queue: qid, docid, contributors (a JSON
    list of run and rank, as the digest has it), best_rank, origin, probability, listed.
    """

    frame: pl.DataFrame
    run_keys: tuple[str, ...]
    recipe: Recipe
    digest: str

    def entries(self) -> Iterator[PoolEntry]:
        """Yield the entries in the order of the queue."""
        columns = ["qid", "docid", "contributors", "best_rank", "origin", "probability", "listed"]
        for qid, docid, contributors, *rest in self.frame.select(columns).iter_rows():
            yield PoolEntry(qid, docid, dict(json.loads(contributors)), *rest)

    def by_doubt(self, doubt: Callable[[str, str], float]) -> PoolTable:
        """Return the same pool with what is doubted most first in each query.

        `doubt` is told query and document. Equal doubts, to six decimals, stay in the order they
        have; so do the queries. The digest is of the entries, not of their order.
        """
        import polars as pl

        pairs = self.frame.select(PAIR).iter_rows()
        doubts = pl.Series([round(doubt(*pair), DECIMALS) for pair in pairs], dtype=pl.Float64())
        keyed = self.frame.with_columns(query=pl.col("qid").rle_id(), doubt=doubts)
        ordered = keyed.sort("query", "doubt", descending=[False, True], maintain_order=True)
        return replace(self, frame=ordered.drop("query", "doubt"))

    def built(self) -> BuiltPool:
        """Return the same pool with an object for each entry."""
        return BuiltPool(tuple(self.entries()), self.run_keys, self.recipe, self.digest)


def build_pool_table(
    runs: Mapping[str, pl.DataFrame],
    recipe: Recipe,
    *,
    queries: Collection[str] | None = None,
    extras: Extras = NOTHING,
    watchers: Sequence[Watcher] = (),
) -> PoolTable:
    """Return the pool that `build_pool` makes of the same runs, in columns.

    Parameters
    ----------
    runs
        Qid, docid, rank of each run down to `recipe.read_depth` or further, in any order; to
        `recipe.watched_depth` where there are watchers.
    watchers
        Told of the rows down to `recipe.watched_depth`, some queries at a time.

    Raises
    ------
    ParameterError, PoolRecipeError, PoolRunError, EmptyPoolError
        As `build_pool` does.
    """
    import polars as pl

    recipe.check()
    depth = recipe.watched_depth if watchers else recipe.read_depth
    kept = {key: _kept(key, runs[key], recipe, queries, depth) for key in sorted(runs)}
    added, drawn = _extra_rows(recipe, extras, queries), _drawn_rows(extras)
    digest = sha256(digest_header(runs, recipe))
    pieces = []

    def pool_of(block: tuple[str, str]) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        return _pool_of(block, kept, added, drawn, recipe, is_watched=bool(watchers))

    # Watchers are told on the caller's thread, in order.
    for pool, seen in _in_order(pool_of, _blocks(kept, added)):
        if seen is not None:
            for watch in watchers:
                watch(seen)
        _tell_digest(digest.update, pool)
        pieces.append(pool)
    if not any(map(len, pieces)):
        n_runs = len(runs)
        if recipe.strategy == TOP_UP:
            raise EmptyTopUpError(n_runs=n_runs, n_candidates=len(extras.candidates))
        raise EmptyPoolError(n_runs=n_runs)
    frame = _queued(pl.concat(pieces), recipe)
    return PoolTable(frame, tuple(sorted(runs)), recipe, digest.hexdigest())


def _in_order(work: Callable[[Piece], Result], pieces: Iterable[Piece]) -> Iterator[Result]:
    """What threads make of each, in order; of no more at a time than there are threads."""
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(N_THREADS) as threads:
        for piece in pieces:
            if len(waiting) == N_THREADS:
                yield waiting.popleft().result()
            waiting.append(threads.submit(work, piece))
        while waiting:
            yield waiting.popleft().result()


# Rows that come in


def _kept(
    key: str, rows: pl.DataFrame, recipe: Recipe, queries: Collection[str] | None, depth: int
) -> pl.DataFrame:
    """The rows of a run that matter, checked."""
    import polars as pl

    if len(below := rows.filter(pl.col("rank") < 1)):
        qid, docid, rank = below.select("qid", "docid", "rank").row(0)
        raise PoolRunError(run=key, qid=qid, docid=docid, reason=f"rank {rank} is below 1")
    kept = rows.filter(pl.col("rank") <= depth)
    if queries is not None:
        kept = kept.filter(pl.col("qid").is_in(list(queries)))
    reached = kept.filter(pl.col("rank") <= recipe.reach)
    if reached.select(pl.struct(PAIR).hash().n_unique()).item() < len(reached):
        twice = reached.group_by(PAIR).agg("rank").filter(pl.col("rank").list.len() > 1).sort(PAIR)
        if len(twice):  # and not two pairs that hash alike
            qid, docid, (first, second, *_) = twice.row(0)
            reason = f"it is there twice, at ranks {first} and {second}"
            raise PoolRunError(run=key, qid=qid, docid=docid, reason=reason)
    return kept.select("qid", "docid", pl.col("rank").cast(pl.Int32)).sort("qid")


def _extra_rows(recipe: Recipe, extras: Extras, queries: Collection[str] | None) -> pl.DataFrame:
    """Qid, docid, origin, listed of what comes in besides the runs, each pair once."""
    import polars as pl

    rows: dict[Pair, tuple[str, int | None]] = {}
    if recipe.strategy == TOP_UP:
        for place, pair in enumerate(extras.candidates, start=1):
            if pair not in extras.judged:
                rows.setdefault(pair, (CANDIDATE, place))
    for pair in extras.manual:
        rows.setdefault(pair, (ADDED, None))
    for pair in extras.judged if recipe.carry else ():
        rows.setdefault(pair, (CARRIED, None))
    schema = {
        "qid": pl.String(),
        "docid": pl.String(),
        "origin": pl.String(),
        "listed": pl.Int64(),
    }
    listed = [(*pair, *more) for pair, more in rows.items()]
    frame = pl.DataFrame(listed, schema=schema, orient="row").sort(PAIR)
    return frame if queries is None else frame.filter(pl.col("qid").is_in(list(queries)))


def _drawn_rows(extras: Extras) -> pl.DataFrame:
    """Qid, docid, share of what was drawn for an estimate."""
    import polars as pl

    schema = {"qid": pl.String(), "docid": pl.String(), "share": pl.Float64()}
    rows = [(*pair, probability) for pair, probability in extras.drawn.items()]
    return pl.DataFrame(rows, schema=schema, orient="row").sort(PAIR)


def _blocks(kept: Mapping[str, pl.DataFrame], added: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """First and last query of each block, by the bytes of their ids."""
    import polars as pl

    counts = pl.concat(
        [rows.group_by("qid").agg(pl.len()) for rows in (*kept.values(), added.select(PAIR))]
    )
    sizes = counts.group_by("qid").agg(pl.col("len").sum()).sort("qid")
    before = pl.col("len").cast(pl.Int64).cum_sum() - pl.col("len")
    block = (before // ROWS_AT_ONCE).alias("block")
    ends = sizes.group_by(block).agg(pl.col("qid").min(), pl.col("qid").max().alias("last"))
    yield from ends.sort("qid").select("qid", "last").iter_rows()


# From the rows of some queries to their entries


def _pool_of(
    block: tuple[str, str],
    kept: Mapping[str, pl.DataFrame],
    added: pl.DataFrame,
    drawn: pl.DataFrame,
    recipe: Recipe,
    *,
    is_watched: bool,
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """The entries of some queries, by the bytes of their ids, with what orders them; and the rows
    that watchers are told.
    """
    import polars as pl

    rows = _rows_of(kept, block)
    reached = _reached(rows.filter(pl.col("rank") <= recipe.reach), list(kept), recipe)
    members = _selected(reached, recipe, _slice_of(drawn, block))
    members = _with_extras(members, reached, _slice_of(added, block))
    members = _with_control(members, reached, rows, list(kept), recipe)
    seen = None
    if is_watched:
        known = _slice_of(added, block).select(*PAIR, stays=pl.lit(True))
        runs_of = members.select(*PAIR, "n_runs").join(known, on=PAIR, how="left")
        seen = rows.filter(pl.col("rank") <= recipe.watched_depth)
        seen = seen.join(runs_of, on=PAIR, how="left").with_columns(
            is_reached=pl.col("rank") <= recipe.reach
        )
    is_in_order = recipe.strategy == DEPTH_K and len(members) == len(reached)
    return (members if is_in_order else members.sort(PAIR)).drop("n_runs"), seen


def _rows_of(kept: Mapping[str, pl.DataFrame], block: tuple[str, str]) -> pl.DataFrame:
    """Qid, docid, rank, run of some queries; the rows of a document by the run's name."""
    import polars as pl

    schema = {"qid": pl.String(), "docid": pl.String(), "rank": pl.Int32(), "run": pl.Int32()}
    of_runs = [
        _slice_of(rows, block).with_columns(run=pl.lit(number, pl.Int32()))
        for number, rows in enumerate(kept.values())
    ]
    return pl.concat([pl.DataFrame(schema=schema), *of_runs])


def _slice_of(rows: pl.DataFrame, block: tuple[str, str]) -> pl.DataFrame:
    """The rows of some queries, of a frame in the order of its queries."""
    first, last = block
    begin = rows["qid"].search_sorted(first, side="left")
    return rows[begin : rows["qid"].search_sorted(last, side="right")]


def _reached(rows: pl.DataFrame, run_keys: Sequence[str], recipe: Recipe) -> pl.DataFrame:
    """Every document within reach: contributors, best_rank, weight, n_runs, drawn."""
    import polars as pl

    begins = pl.Series([canonical([key])[:-1].decode() + "," for key in run_keys], dtype=pl.String)
    weight = WEIGHTS.get(recipe.order, lambda rank: 0)
    weights = pl.Series([0, *map(weight, range(1, recipe.reach + 1))], dtype=pl.Int64)
    contributions = pl.concat_str(
        pl.lit(begins).gather(pl.col("run")), pl.col("rank").cast(pl.String)
    )
    reached = (
        rows.with_columns(said=contributions, weight=pl.lit(weights).gather(pl.col("rank")))
        .group_by(PAIR)
        .agg("said", "rank", pl.col("weight").sum())
        .sort(PAIR)
        .select(
            *PAIR,
            contributors="[" + pl.col("said").list.join("],") + "]]",
            best_rank=pl.col("rank").list.min(),
            weight="weight",
            n_runs=pl.col("rank").list.len().cast(pl.Int32),
        )
    )
    return reached.with_columns(drawn=_drawn(reached, recipe.seed, DOCUMENT))


def _drawn(frame: pl.DataFrame, seed: int, word: str) -> pl.Series:
    """The bytes that `seeded(seed, word, qid, docid)` gives each row."""
    import polars as pl

    begin = canonical([seed, word])[:-1].decode()
    pair = pl.concat_str(_as_json("qid", frame), pl.lit(","), _as_json("docid", frame))
    texts = frame.select((begin + "," + pair + "]").cast(pl.Binary)).to_series()
    values = [blake2b(text, digest_size=DIGEST_BYTES).digest() for text in texts]
    return pl.Series("drawn", values, dtype=pl.Binary)


def _selected(reached: pl.DataFrame, recipe: Recipe, drawn: pl.DataFrame) -> pl.DataFrame:
    """The members that the strategy takes, with origin, probability, listed."""
    import polars as pl

    probability: pl.Expr = pl.lit(1.0)
    if recipe.strategy == LAYERED:
        reached = reached.sort("qid", "best_rank", "drawn").with_columns(
            place=pl.int_range(pl.len()).over("qid"), size=pl.len().over("qid", "best_rank")
        )
        reached = reached.filter(pl.col("place") < recipe.budget)
        probability = pl.len().over("qid", "best_rank") / pl.col("size")
    elif recipe.strategy == STRATIFIED:
        reached = _sampled(reached, recipe)
        probability = pl.col("share")
    elif recipe.strategy == ESTIMATE:
        reached = reached.join(drawn, on=PAIR, how="inner", maintain_order="left")
        probability = pl.col("share")
    return reached.with_columns(
        origin=pl.lit(RUN),
        probability=probability.cast(pl.Float64()),
        listed=pl.lit(None, pl.Int64()),
    ).select(_columns())


def _columns() -> list[str]:
    entry = ["qid", "docid", "contributors", "best_rank", "origin", "probability", "listed"]
    return [*entry, "weight", "n_runs", "drawn"]


def _sampled(reached: pl.DataFrame, recipe: Recipe) -> pl.DataFrame:
    import polars as pl

    ends = [stratum.last_rank for stratum in recipe.strata[:-1]]
    shares = pl.Series([stratum.share for stratum in recipe.strata], dtype=pl.Float64())
    stratum = pl.Series(ends, dtype=pl.Int32).search_sorted(reached["best_rank"], side="left")
    sampled = reached.with_columns(share=shares.gather(stratum))
    draws = _drawn(sampled, recipe.seed, STRATUM)
    taken = [is_drawn(*pair) for pair in zip(draws, sampled["share"], strict=True)]
    return sampled.filter(pl.Series(taken, dtype=pl.Boolean))


def _with_extras(members: pl.DataFrame, reached: pl.DataFrame, added: pl.DataFrame) -> pl.DataFrame:
    """Add what comes in besides the runs, where it is not in already."""
    import polars as pl

    if not len(added):
        return members
    new = (
        added.join(members.select(PAIR), on=PAIR, how="anti")
        .join(reached, on=PAIR, how="left")
        .sort(PAIR)
    )
    new = new.with_columns(
        pl.col("contributors").fill_null("[]"),
        pl.col("weight").fill_null(0),
        pl.col("n_runs").fill_null(0),
        probability=pl.lit(1.0),
    )
    return pl.concat([members, new.select(_columns())])


def _with_control(
    members: pl.DataFrame,
    reached: pl.DataFrame,
    rows: pl.DataFrame,
    run_keys: Sequence[str],
    recipe: Recipe,
) -> pl.DataFrame:
    """Add the random control of each query, from documents that no run has within reach."""
    import polars as pl

    if not recipe.control_share or not recipe.reach:
        return members
    deeper = rows.filter(pl.col("rank").is_between(recipe.reach + 1, recipe.read_depth))
    if recipe.control_run:
        is_source = [number for number, key in enumerate(run_keys) if key == recipe.control_run]
        deeper = deeper.filter(pl.col("run").is_in(is_source))
    urn = deeper.select(PAIR).unique().sort(PAIR)
    urn = urn.join(reached.select(PAIR), on=PAIR, how="anti", maintain_order="left")
    urn = urn.join(members.select(PAIR), on=PAIR, how="anti", maintain_order="left")
    sizes = members.filter(pl.col("origin") == RUN).group_by("qid").agg(n_members=pl.len())
    wanted = sizes.with_columns(
        n_wanted=pl.Series(
            [part_of(n, recipe.control_share) for n in sizes["n_members"]], dtype=pl.Int64
        )
    ).select("qid", "n_wanted")
    urn = urn.with_columns(drawn=_drawn(urn, recipe.seed, CONTROL)).sort("qid", "drawn")
    urn = urn.join(wanted, on="qid", how="inner", maintain_order="left")
    taken = urn.with_columns(
        place=pl.int_range(pl.len()).over("qid"), size=pl.len().over("qid")
    ).filter(pl.col("place") < pl.col("n_wanted"))
    drawn = taken.with_columns(
        contributors=pl.lit("[]"),
        best_rank=pl.lit(None, pl.Int32()),
        origin=pl.lit(RANDOM),
        probability=pl.min_horizontal("n_wanted", "size") / pl.col("size"),
        listed=pl.lit(None, pl.Int64()),
        weight=pl.lit(0, pl.Int64()),
        n_runs=pl.lit(0, pl.Int32()),
    )
    return pl.concat([members, drawn.select(_columns())])


# The whole


def _tell_digest(update: Callable[[bytes], None], pool: pl.DataFrame) -> None:
    import polars as pl

    if not len(pool):
        return
    line = pl.concat_str(
        pl.lit("["),
        _as_json("qid", pool),
        pl.lit(","),
        _as_json("docid", pool),
        pl.lit(","),
        "contributors",
        _told_more(pool),
        pl.lit("]\n"),
    )
    update(pool.select(line.str.join("")).item().encode())


def _told_more(pool: pl.DataFrame) -> pl.Expr:
    """Origin, probability and place in the list, of entries that are not just a run's."""
    import polars as pl

    is_plain = (pl.col("origin") == RUN) & (pl.col("probability") == 1.0)
    if pool.select(is_plain.all()).item():
        return pl.lit("")
    probabilities = pool["probability"].unique()
    texts = pl.Series([repr(value) for value in probabilities], dtype=pl.String)
    more = pl.concat_str(
        pl.lit(',"'),
        "origin",
        pl.lit('",'),
        pl.col("probability").replace_strict(probabilities, texts, return_dtype=pl.String),
        pl.lit(","),
        pl.col("listed").cast(pl.String).fill_null("null"),
    )
    return pl.when(is_plain).then(pl.lit("")).otherwise(more)


def _as_json(name: str, frame: pl.DataFrame) -> pl.Expr:
    """A column of ids as JSON has them."""
    import polars as pl

    column = pl.col(name)
    odd = frame[name].filter(frame[name].str.contains(ESCAPED)).unique()
    plain = '"' + column + '"'
    if not len(odd):
        return plain
    encoded = pl.Series([canonical(value).decode() for value in odd], dtype=pl.String)
    return pl.coalesce(column.replace_strict(odd, encoded, default=None), plain)


def _queued(entries: pl.DataFrame, recipe: Recipe) -> pl.DataFrame:
    """The entries in the order of the queue, without what orders them."""
    import polars as pl

    weights = {LISTED: pl.col("listed")} | dict.fromkeys(WEIGHTS, -pl.col("weight"))
    key = weights.get(recipe.order, pl.col("best_rank"))
    if recipe.order in WEIGHTS:
        key = pl.when(pl.col("best_rank").is_not_null()).then(key)
    places = _query_places(entries, recipe)
    keyed = entries.join(places, on="qid", how="left").with_columns(key=key)
    ranked = keyed.filter(pl.col("key").is_not_null()).sort("query", "key", "drawn")
    spread = keyed.filter(pl.col("key").is_null())
    queue = _spread_over(ranked, spread, recipe.seed) if len(spread) else ranked
    return queue.select("qid", "docid", "contributors", *_columns()[3:7])


def _spread_over(ranked: pl.DataFrame, spread: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Both, those that nothing orders at seeded places among the others of their query."""
    import polars as pl

    middle = (2 * pl.int_range(pl.len()).over("query") + 1) / (2 * pl.len().over("query"))
    spread = spread.sort(PAIR)
    draws = _drawn(spread, seed, SPREAD)
    places = pl.Series(list(map(fraction, draws)), dtype=pl.Float64())
    ranked = ranked.with_columns(place=middle, drawn=pl.lit(b""))
    queue = pl.concat([ranked, spread.with_columns(place=places, drawn=draws)])
    return queue.sort("query", "place", "drawn")


def _query_places(entries: pl.DataFrame, recipe: Recipe) -> pl.DataFrame:
    """The number of each query in the queue."""
    import polars as pl

    first = pl.col("listed").min() if recipe.order == LISTED else pl.lit(0, pl.Int64())
    queries = entries.group_by("qid").agg(first=first.fill_null(1 << 62))
    seeds = [seeded(recipe.seed, QUERY, qid) for qid in queries["qid"]]
    ordered = queries.with_columns(seeded=pl.Series(seeds, dtype=pl.Binary)).sort("first", "seeded")
    return ordered.select("qid", query=pl.int_range(pl.len()))

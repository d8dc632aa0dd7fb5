"""What a pool is to be made of: from what its job was told to the pool in columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from annotation.common.selectors.ledger import judged_pairs, query_keys
from annotation.judging.protocol.errors import PoolRunsError
from annotation.models import Pool
from benchmarks_app.common.selectors.reading import candidates_path, run_path
from benchmarks_app.models import Benchmark, CandidateList, Run
from benchmarks_app.queries.selectors import queries_drawn
from benchwright.pools import DEPTH_K, Extras, Pair, Recipe, recipe_of
from benchwright.pools.entries import labels_wanted
from benchwright.pools.errors import EmptyPoolError, PoolRecipeError
from benchwright.pools.recipe import DEEPEST
from benchwright.recipes import pools as recipes

if TYPE_CHECKING:
    import polars as pl

    from benchwright.estimation.populations import Population
    from benchwright.pools.columns import PoolTable
    from benchwright.pools.preview import DepthWatcher, RunWatcher

# Runs read, of how many, and which is next.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Sharing:
    """How a pool's documents are shared between people; shares in [0, 1].

    `doubles_at_least` documents get a second label, however small a part `double_share` is.
    """

    overlap: int = recipes.OVERLAP.default
    double_share: float = recipes.DOUBLE_SHARE.default
    doubles_at_least: int = 0
    repeat_share: float = recipes.REPEAT_SHARE.default
    gold_share: float = recipes.GOLD_SHARE.default
    assignment: str = Pool.Assignment.ANYBODY
    annotators: tuple[int, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "annotators": list(self.annotators)}


@dataclass(frozen=True)
class Plan:
    """All that decides a pool besides the benchmark's runs, queries and ledger."""

    recipe: Recipe
    run_keys: tuple[int, ...] = ()
    candidates: int | None = None
    manual: tuple[Pair, ...] = ()
    as_of: int = 0
    sharing: Sharing = Sharing()
    # Of the queries of a draw alone, by its key.
    draw: int | None = None


@dataclass(frozen=True)
class PlannedPool:
    """A pool before its rows are written: its entries, their labels, and what it says of runs.

    `n_doubles` entries are asked for one label more than without doubling.
    """

    plan: Plan
    runs: list[Run]
    table: PoolTable
    watcher: RunWatcher
    labels: list[int]
    n_doubles: int
    depth_watcher: DepthWatcher | None = None
    # Of an estimate: what its documents were drawn from.
    population: Population | None = None


def plan_of(parameters: dict[str, Any]) -> Plan:
    """The plan that a job's parameters say; what they leave out is as in a depth pool."""
    sharing = dict(parameters.get("sharing", {"overlap": parameters["overlap"]}))
    sharing["annotators"] = tuple(sharing.get("annotators", ()))
    return Plan(
        recipe=recipe_of(
            parameters.get("strategy", Pool.Strategy.DEPTH_K),
            parameters.get("order", Pool.Order.LAYERED),
            parameters["seed"],
            {**parameters.get("recipe", {}), "depth": parameters["depth"]},
        ),
        run_keys=tuple(parameters["runs"]),
        candidates=parameters.get("candidates"),
        manual=tuple((qid, docid) for qid, docid in parameters.get("manual", ())),
        as_of=parameters.get("as_of", 0),
        sharing=Sharing(**sharing),
        draw=parameters.get("draw"),
    )


def planned_pool(
    benchmark: Benchmark,
    plan: Plan,
    tell: Progress = lambda *progress: None,
    *,
    has_depths: bool = False,
) -> PlannedPool:
    """The pool of a plan, in memory: nothing is written.

    With `has_depths` what a depth pool would be at other depths is counted, too.

    Raises
    ------
    PoolRunsError
        If one of the runs is no longer there.
    """
    from benchwright.pools.columns import build_pool_table
    from benchwright.pools.preview import DepthWatcher, RunWatcher

    runs = list(Run.objects.filter(benchmark=benchmark, pk__in=plan.run_keys).order_by("name"))
    if len(runs) < len(plan.run_keys):
        raise PoolRunsError(reason="One of the chosen runs is no longer there.")
    frames = _tops(runs, max(plan.recipe.watched_depth, 1), tell)
    recipe, queries = plan.recipe, _queries(benchmark, plan)
    is_estimate = recipe.strategy == Pool.Strategy.ESTIMATE
    population = _population(benchmark, recipe, frames, queries) if is_estimate else None
    # What was judged decides a pool that carries it over, or that is made of the rest.
    needs_judged = recipe.carry or recipe.strategy == Pool.Strategy.TOP_UP
    judged = judged_pairs(benchmark, plan.as_of) if needs_judged else {}
    watcher = RunWatcher(list(frames))
    is_watched = has_depths and recipe.strategy == DEPTH_K
    depths = DepthWatcher(list(frames), max(DEEPEST, recipe.depth)) if is_watched else None
    table = build_pool_table(
        frames,
        recipe,
        queries=queries,
        extras=Extras(
            # What chance did not draw is no part of an estimate, judged or not.
            frozenset() if is_estimate else judged.keys(),
            frozenset(plan.manual),
            listed_pairs(plan.candidates),
            _pairs_drawn(population, recipe) if population else {},
        ),
        watchers=[watcher, depths] if depths else [watcher],
    )
    labels, n_doubles = _labels(plan, table, judged)
    return PlannedPool(plan, runs, table, watcher, labels, n_doubles, depths, population)


def _tops(runs: list[Run], depth: int, tell: Progress) -> dict[str, pl.DataFrame]:
    frames = {}
    for n, run in enumerate(runs):
        tell(n, len(runs), f"reading {run.name}")
        frames[run.name] = top_of(run, depth)
    return frames


def _labels(plan: Plan, table: PoolTable, judged: Mapping[Pair, int]) -> tuple[list[int], int]:
    """How many labels each entry wants, and of how many that is one more without doubling."""
    pairs = list(table.frame.select("qid", "docid").iter_rows())
    sharing = plan.sharing
    labels = labels_wanted(
        pairs,
        overlap=sharing.overlap,
        double_share=sharing.double_share,
        at_least=sharing.doubles_at_least,
        seed=plan.recipe.seed,
        had=judged,
    )
    n_doubles = sum(
        n_wanted > max(0, sharing.overlap - judged.get(pair, 0))
        for pair, n_wanted in zip(pairs, labels, strict=True)
    )
    return labels, n_doubles


def _population(
    benchmark: Benchmark,
    recipe: Recipe,
    frames: Mapping[str, pl.DataFrame],
    queries: Collection[str],
) -> Population:
    """What an estimate is drawn from.

    Raises
    ------
    PoolRecipeError
        If it is of fewer families than an interval is right with.
    """
    from benchwright.estimation.documents import LEAST_FAMILIES

    family_of = benchmark.queries.committed().values_list("qid", "family_id")
    n_families = len({family for qid, family in family_of if qid in queries})
    if n_families < LEAST_FAMILIES:
        what = f"The queries are of {n_families} families"
        raise PoolRecipeError(what=what, expected=f"{LEAST_FAMILIES} or more for an estimate")
    return population_for(recipe, frames, queries)


def population_for(
    recipe: Recipe, frames: Mapping[str, pl.DataFrame], queries: Collection[str]
) -> Population:
    """The documents that an estimate is of, by what each run ranks within the cutoff."""
    from benchwright.estimation.populations import population_of

    measure = recipe.measure.upper()
    return population_of(frames, measure=measure, cutoff=recipe.depth, queries=queries)


def _pairs_drawn(population: Population, recipe: Recipe) -> dict[Pair, float]:
    if not population.pairs:
        raise EmptyPoolError(n_runs=len(population.ranks))
    return population.pairs_of(population.drawn(budget=recipe.labels or 0, seed=recipe.seed))


def top_of(run: Run, depth: int) -> pl.DataFrame:
    """Qid, docid, rank of a run's first `depth` documents of each query."""
    import polars as pl

    rows = pl.scan_parquet(run_path(run)).filter(pl.col("rank") <= depth)
    return rows.select("qid", "docid", "rank").collect()


def listed_pairs(candidates: int | None) -> list[Pair]:
    """The pairs of a list of candidates, in its order; none where there is no list."""
    import polars as pl

    if candidates is None:
        return []
    listed = CandidateList.objects.get(pk=candidates)
    rows = pl.read_parquet(candidates_path(listed)).sort("priority")
    return list(rows.select("qid", "docid").iter_rows())


def _queries(benchmark: Benchmark, plan: Plan) -> Collection[str]:
    """Those that the pool may have documents of."""
    qids = query_keys(benchmark).keys()
    if plan.draw is None:
        return qids
    return qids & queries_drawn(benchmark.query_draws.get(pk=plan.draw))

"""`benchwright pool`: from runs to the documents worth judging."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.doors import Door
from benchwright.cli.main import Command, option
from benchwright.cli.options import format_option
from benchwright.cli.parameters import parameter_option
from benchwright.cli.site_doors import pooling
from benchwright.pools.recipe import ESTIMATE, STRATA, Recipe
from benchwright.recipes import pools as recipes
from benchwright.texts.counting import counted

if TYPE_CHECKING:
    import polars as pl

    from benchwright.pools.building import Extras
    from benchwright.pools.columns import PoolTable

# Of files at a time: while Python looks at one, polars reads another.
N_READERS = 2
FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
EXAMPLES = (
    "benchwright pool bm25.run dense.run splade.run --depth 10 -o pool.tsv",
    "benchwright pool *.run --depth 20 --qrels judged.qrels --control 0.05 --preview",
    "benchwright pool *.run --strategy layered --budget 50 --order rrf -o pool.tsv",
    "benchwright pool *.run --strategy stratified --strata 10:1,50:0.2,100:0.05 -o pool.tsv",
    "benchwright pool *.run --strategy estimate --measure dcg --labels 300 -o pool.tsv",
    "benchwright --benchmark help-pages pool bm25 dense --depth 10 --overlap 2",
    "benchwright pool --strategy top-up --candidates unjudged.tsv --qrels judged.qrels -o more.tsv",
)


@click.command(
    cls=Command,
    name="pool",
    examples=EXAMPLES,
    door=Door(pooling.__name__, keeps=pooling.KEPT, also=pooling.THERE),
    short_help="Which documents of runs to judge, and in which order.",
)
@click.argument("runs", type=FILE, nargs=-1)
@parameter_option(recipes.STRATEGY, group="Members")
@parameter_option(recipes.DEPTH, group="Members", metavar="K")
@parameter_option(recipes.BUDGET, group="Members", metavar="N")
@parameter_option(recipes.MEASURE, group="Members")
@parameter_option(recipes.LABELS, group="Members", metavar="N")
@option(
    "--strata",
    metavar="RANK:SHARE,…",
    group="Members",
    help="For the stratified strategy: down to which rank which share is drawn.  "
    "[default: 10:1,50:0.2,100:0.05]",
)
@parameter_option(recipes.CONTROL_SHARE, group="Members", metavar="SHARE")
@parameter_option(recipes.CONTROL_DEPTH, group="Members", metavar="K")
@option(
    "--control-run",
    metavar="RUN",
    default="",
    group="Members",
    help="Draw them from this run alone, best a lexical one; its file's name.",
)
@option(
    "--qrels",
    type=FILE,
    metavar="FILE",
    group="Members",
    help="Judged already: these documents are in the pool, too, and left out of a top-up.",
)
@option(
    "--add",
    type=FILE,
    metavar="FILE",
    group="Members",
    help="Lines of query and document that are in the pool in any case.",
)
@option(
    "--candidates",
    type=FILE,
    metavar="FILE",
    group="Members",
    help="For a top-up: lines of query, document and, if there is one, priority (1 comes first).",
)
@parameter_option(
    recipes.ORDER,
    group="Order",
    help="In which order a query's documents stand: rank by rank (layered), by fused ranks (rrf, "
    "rbp), as the candidates have it (listed). mtf and maxmean learn from labels while people "
    "judge on the site, doubt from labels that are there before; here they stand as layered.  "
    "[default: layered, listed for a top-up]",
)
@parameter_option(recipes.SEED, group="Order", default=0, show_default=True)
@option(
    "--preview",
    is_flag=True,
    group="Output",
    help="Show what the pool would be like: size, hours, what each run adds, how alike the runs "
    "are, and how much of a new system's first ten would be judged.",
)
@parameter_option(recipes.SECONDS, group="Output")
@format_option(("text", "json"), help="json has every number, for programs.")
@option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    group="Output",
    help="Where the pool goes, as tab-separated values; - for standard output.",
)
def command(runs: tuple[Path, ...], **chosen: Any) -> None:
    """Make a pool of RUNS: the documents worth judging, in the order of the queue.

    Runs are in TREC's format, plain, gzip or zstd. A line of the pool is a query, a document, its
    place in the queue, its best rank, what brought it in, how likely the draw was to take it, and
    the runs that have it with their ranks. When to use which strategy: docs/pools.md.
    """
    if not chosen["output"] and not chosen["preview"]:
        message = "Nothing is asked for. Name a file with -o, or use --preview."
        raise click.UsageError(message)
    recipe = recipe_of(chosen)
    if recipe.reach and not runs:
        message = f"No run is named; a {recipe.strategy} pool is made of runs."
        raise click.UsageError(message)
    from benchwright.cli.collections import pool_output
    from benchwright.pools.preview import RunWatcher

    names = run_names(runs)
    watcher = RunWatcher(names) if chosen["preview"] else None
    table = _built(dict(zip(names, runs, strict=True)), recipe, chosen, watcher)
    if watcher:
        pool_output.show_preview(table, watcher, chosen)
    if chosen["output"]:
        pool_output.write(table, chosen["output"], chosen["form"], is_previewed=bool(watcher))


def recipe_of(chosen: dict[str, Any]) -> Recipe:
    """The recipe that the options say; what does not fit together is a usage error."""
    from benchwright.pools.errors import PoolError
    from benchwright.recipes.parameters import ParameterError

    default = "listed" if chosen["strategy"] == "top-up" else "layered"
    recipe = Recipe(
        strategy=chosen["strategy"],
        order=chosen["order"] or default,
        depth=chosen["depth"],
        budget=chosen["budget"],
        measure=chosen["measure"],
        labels=chosen["labels"],
        strata=strata_of(chosen["strata"]) if chosen["strata"] else STRATA,
        control_share=chosen["control_share"],
        control_depth=chosen["control_depth"],
        control_run=chosen["control_run"],
        carry=bool(chosen["qrels"]) and chosen["strategy"] != ESTIMATE,
        seed=chosen["seed"],
    )
    try:
        recipe.check()
    except (ParameterError, PoolError) as error:
        raise click.UsageError(str(error)) from error
    return recipe


def strata_of(text: str) -> tuple[Any, ...]:
    """`10:1,50:0.2` as strata."""
    from benchwright.pools.recipe import Stratum

    try:
        parts = [part.split(":") for part in text.split(",")]
        return tuple(Stratum(int(rank), float(share)) for rank, share in parts)
    except ValueError as error:
        message = f"--strata is '{text}'; expected rank:share, with commas, as in 10:1,50:0.2."
        raise click.UsageError(message) from error


def run_names(paths: Sequence[Path]) -> list[str]:
    """What the pool calls the runs: their files' names, or whole paths where two are the same.

    >>> run_names([Path("runs/bm25.run.gz"), Path("dense.run")])
    ['bm25.run', 'dense.run']
    """
    names = [path.stem if path.suffix in (".gz", ".zst") else path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


def _built(
    runs: dict[str, Path], recipe: Recipe, chosen: dict[str, Any], watcher: Any
) -> "PoolTable":
    from concurrent.futures import ThreadPoolExecutor

    from benchwright.errors import Problem, Problems
    from benchwright.pools.columns import build_pool_table
    from benchwright.runs.ranked import ranked_run

    if recipe.control_run and recipe.control_run not in runs:
        message = f"--control-run is '{recipe.control_run}'; expected one of {', '.join(runs)}."
        raise click.UsageError(message)
    depth = recipe.watched_depth if watcher else recipe.read_depth

    def read(path: Path) -> "tuple[pl.DataFrame, list[Problem]]":
        problems = Problems()
        return ranked_run(path, problems=problems, depth=max(depth, 1)), problems.warnings

    with ThreadPoolExecutor(N_READERS) as threads:
        read_runs = dict(zip(runs, threads.map(read, runs.values()), strict=True))
    frames = {name: frame for name, (frame, _) in read_runs.items()}
    problems = Problems()
    problems.warnings += [warning for _, warnings in read_runs.values() for warning in warnings]
    extras = _extras(chosen, problems)
    if recipe.strategy == ESTIMATE:
        extras = replace(extras, drawn=_drawn(frames, recipe))
    for warning in dict.fromkeys(map(str, problems.warnings)):
        click.echo(f"Warning: {warning}", err=True)
    return build_pool_table(frames, recipe, extras=extras, watchers=[watcher] if watcher else [])


def _drawn(frames: Mapping[str, "pl.DataFrame"], recipe: Recipe) -> dict[tuple[str, str], float]:
    """The documents of an estimate, each with its probability."""
    from benchwright.estimation.documents import LEAST_FAMILIES
    from benchwright.estimation.errors import BudgetError
    from benchwright.estimation.populations import population_of

    population = population_of(frames, measure=recipe.measure.upper(), cutoff=recipe.depth)
    if (n := len(population.queries)) < LEAST_FAMILIES:
        few = f"{counted(n, 'query')}; runs are estimated from {LEAST_FAMILIES} families or more."
        click.echo(f"Warning: {few}", err=True)
    try:
        return population.pairs_of(population.drawn(budget=recipe.labels or 0, seed=recipe.seed))
    except BudgetError as error:
        raise click.UsageError(str(error)) from error


def _extras(chosen: dict[str, Any], problems: Any) -> "Extras":
    from benchwright.files.sources import open_lines, shown_name
    from benchwright.formats.trec import read_qrels
    from benchwright.pools.building import Extras
    from benchwright.qrels.candidates import read_candidates

    def pairs(path: Path | None) -> list[tuple[str, str]]:
        if path is None:
            return []
        rows = read_candidates(open_lines(path), file=shown_name(path), problems=problems)
        return [(qid, docid) for qid, docid, _ in rows]

    judged: set[tuple[str, str]] = set()
    if path := chosen["qrels"]:
        rows = read_qrels(open_lines(path), file=shown_name(path), problems=problems)
        # A grade below 0 says: in the pool, but not judged.
        judged = {
            (row.qid.decode(errors="replace"), row.docid.decode(errors="replace"))
            for row in rows
            if row.grade >= 0
        }
    extras = Extras(judged, set(pairs(chosen["add"])), pairs(chosen["candidates"]))
    problems.raise_found()
    return extras

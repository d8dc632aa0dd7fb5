"""`benchwright split`: a BEIR folder with one split becomes one with several that do not leak."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.main import DONE, FAILED, Command, Option
from benchwright.splits.recipe import MODES, Mode, SplitRecipe, Straddling

if TYPE_CHECKING:
    from benchwright.leaks.folders import FolderQueries
    from benchwright.splits.types import Assignment

NAMES = tuple(mode.replace("_", "-") for mode in MODES)
EXAMPLES = (
    "benchwright split my-benchmark/ -o split/",
    "benchwright split my-benchmark.zip -o split/ --shares train=80,test=20 --seed 7",
    "benchwright split my-benchmark/ -o split/ --mode chronological --test-from 2024-06-01 --gap 7",
    "benchwright split my-benchmark/ -o split/ --mode leave-slice-out --slice navigational",
    "benchwright split my-benchmark/ -o split/ --mode given --given splits.tsv",
)
Decorator = Callable[[Any], Any]


def option(*declared: str, group: str, **settings: Any) -> Decorator:
    """A `click.option` under a heading."""
    return click.option(*declared, cls=Option, group=group, **settings)


@click.command(
    cls=Command,
    name="split",
    examples=EXAMPLES,
    short_help="Split a BEIR folder by families of queries, and prove that nothing leaks.",
)
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FOLDER",
    group="Output",
    help="Where the folder with its splits goes; it must be new or empty.",
)
@option(
    "--mode",
    type=click.Choice(NAMES),
    default=NAMES[0],
    show_default=True,
    group="Splits",
    help="How families are given out: every slice and label density evenly (stratified), at "
    "random, by when they were first asked, a slice as test, or as a file says.",
)
@option(
    "--shares",
    metavar="SPLIT=N,…",
    default="train=70,dev=10,test=20",
    show_default=True,
    group="Splits",
    help="What each split is to hold of the queries; of what is left where a slice is left out.",
)
@option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    group="Splits",
    help="The same seed gives the same split, on every machine.",
)
@option(
    "--test-from",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DAY",
    group="By time",
    help="The day on which test begins.  [default: found from the shares]",
)
@option(
    "--dev-from",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DAY",
    group="By time",
    help="The day on which dev begins.  [default: no dev split, where --test-from is given]",
)
@option(
    "--gap",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="DAYS",
    group="By time",
    help="Queries of so many days after a cut are in no split.",
)
@option(
    "--straddling",
    type=click.Choice([one.value.replace("_", "-") for one in Straddling]),
    default="keep-earlier",
    show_default=True,
    group="By time",
    help="Of a family asked on both sides: keep what came earlier, or drop it whole.",
)
@option(
    "--slice",
    "slice_name",
    metavar="NAME",
    default="",
    group="Splits",
    help="The slice of slices.tsv that becomes the test split, for leave-slice-out.",
)
@option(
    "--given",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    group="Splits",
    help="Lines of query id, TAB and train, dev, test or none, for the mode given.",
)
@option(
    "--threshold",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="GRADE",
    group="Families",
    help="From which grade on a document is relevant.",
)
@option(
    "--regroup",
    is_flag=True,
    group="Families",
    help="Group queries into families by their wording even where families.tsv or the queries' "
    "metadata say which there are.",
)
def command(source: Path, output: Path, **chosen: Any) -> None:
    """Split the BEIR folder or zip SOURCE: families of queries, never single ones.

    Families are read from families.tsv or from the queries' metadata (`family`), or else found by
    wording and shared relevant documents. The output has the corpus and queries as they are, qrels
    for each split, families.tsv, splits.json (how it was made) and leaks.json and leaks.md (what
    the splits share). Exits with 1 where something leaks that keeps a release from being published.
    """
    from benchwright.cli.collections.split_output import make_split

    recipe = recipe_of(chosen)
    if recipe.mode == Mode.GIVEN and chosen["given"] is None:
        message = "The mode given needs a file: --given splits.tsv."
        raise click.UsageError(message)
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        message = f"{output} is not empty. Name a new folder, so that nothing is overwritten."
        raise click.UsageError(message)
    made = make_split(source, output, recipe, chosen)
    for line in _lines(made.found, made.assignment, made.report):
        click.echo(line)
    raise SystemExit(FAILED if made.is_leaking else DONE)


def recipe_of(chosen: dict[str, Any]) -> SplitRecipe:
    """The recipe that the options say; what does not fit together is a usage error."""
    from benchwright.splits.errors import SharesError
    from benchwright.splits.recipe import mode_of, parse_shares

    mode = mode_of(chosen["mode"])
    try:
        shares = parse_shares(chosen["shares"])
    except SharesError as error:
        raise click.UsageError(str(error)) from error
    if mode == Mode.LEAVE_SLICE_OUT and not chosen["slice_name"]:
        message = "The mode leave-slice-out needs a slice: --slice NAME."
        raise click.UsageError(message)
    return SplitRecipe(
        mode=mode,
        shares=shares,
        seed=chosen["seed"],
        test_from=_midnight(chosen["test_from"]),
        dev_from=_midnight(chosen["dev_from"]),
        gap_days=chosen["gap"],
        straddling=Straddling(chosen["straddling"].replace("-", "_")),
        slice_name=chosen["slice_name"],
    )


def _midnight(moment: Any) -> Any:
    from datetime import UTC

    return moment.replace(tzinfo=UTC) if moment else None


def _lines(found: "FolderQueries", assignment: "Assignment", report: dict[str, Any]) -> list[str]:
    n_families = len(set(map(found.family_of, found.queries)))
    lines = [f"{len(found.queries):,} queries in {n_families:,} families"]
    lines += [
        f"{part['name']}: {part['n_queries']:,} queries ({part['share']:.1%}), "
        f"{part['n_families']:,} families"
        for part in report["splits"]
    ]
    if assignment.excluded:
        lines.append(f"in no split: {len(assignment.excluded):,} queries")
    for finding in report["findings"]:
        lines.append(
            f"{finding['severity']}: {finding['where']}: {finding['message']} {finding['advice']}"
        )
    if not report["findings"]:
        lines.append("nothing leaks from one split into another")
    return lines

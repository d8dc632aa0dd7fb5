"""`benchwright split`: a BEIR folder with one split becomes one with several that do not leak."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.answers import say_json
from benchwright.cli.doors import Door
from benchwright.cli.main import DONE, FAILED, Command, option
from benchwright.cli.options import format_option
from benchwright.cli.parameters import parameter_option
from benchwright.cli.site_doors import splitting
from benchwright.recipes import splits
from benchwright.recipes.splits import Mode
from benchwright.splits.recipe import SplitRecipe
from benchwright.texts.counting import counted

if TYPE_CHECKING:
    from benchwright.leaks.folders import FolderQueries
    from benchwright.splits.types import Assignment

EXAMPLES = (
    "benchwright split my-benchmark/ -o split/",
    "benchwright split my-benchmark.zip -o split/ --shares train=80,test=20 --seed 7",
    "benchwright split my-benchmark/ -o split/ --mode chronological --test-from 2024-06-01 --gap 7",
    "benchwright split my-benchmark/ -o split/ --mode leave-slice-out --slice navigational",
    "benchwright split my-benchmark/ -o split/ --mode given --given splits.tsv",
    "benchwright --benchmark help-pages split --shares train=80,test=20 --seed 7",
)


@click.command(
    cls=Command,
    name="split",
    examples=EXAMPLES,
    door=Door(
        splitting.__name__,
        keeps=(*splitting.KEPT, "shares", "slice_name", "given"),
        also=splitting.THERE,
    ),
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
@format_option(("text", "json"), help="json has every number, for programs.")
@parameter_option(splits.MODE, group="Splits")
@option(
    "--shares",
    metavar="SPLIT=N,…",
    default="train=70,dev=10,test=20",
    show_default=True,
    group="Splits",
    help="What each split is to hold of the queries; of what is left where a slice is left out.",
)
@parameter_option(splits.SEED, group="Splits")
@parameter_option(splits.TEST_FROM, group="By time", metavar="DAY")
@parameter_option(splits.DEV_FROM, group="By time", metavar="DAY")
@parameter_option(splits.GAP_DAYS, group="By time", metavar="DAYS")
@parameter_option(splits.STRADDLING, group="By time")
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
    "--rel",
    "threshold",
    old=("--threshold",),
    type=click.IntRange(1),
    metavar="GRADE",
    group="Families",
    help="From which grade on a document is relevant; by default as manifest.json says, or 1.",
)
@option(
    "--language",
    metavar="CODE",
    group="Families",
    help="Of the queries, a code or an English name: which endings make no difference. By default "
    "as manifest.json says, or en.",
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
    split = make_split(source, output, recipe, chosen)
    if chosen["form"] == "json":
        say_json(split.report)
    else:
        for line in _lines(split.folder, split.assignment, split.report):
            click.echo(line)
    raise SystemExit(FAILED if split.is_leaking else DONE)


def recipe_of(chosen: dict[str, Any]) -> SplitRecipe:
    """The recipe that the options say; what does not fit together is a usage error."""
    from benchwright.splits.errors import SharesError
    from benchwright.splits.recipe import parse_shares

    try:
        shares = parse_shares(chosen["shares"])
    except SharesError as error:
        raise click.UsageError(str(error)) from error
    if chosen["mode"] == Mode.LEAVE_SLICE_OUT and not chosen["slice_name"]:
        message = "The mode leave-slice-out needs a slice: --slice NAME."
        raise click.UsageError(message)
    return SplitRecipe(
        mode=chosen["mode"],
        shares=shares,
        seed=chosen["seed"],
        test_from=chosen["test_from"],
        dev_from=chosen["dev_from"],
        gap_days=chosen["gap_days"],
        straddling=chosen["straddling"],
        slice_name=chosen["slice_name"],
    )


def _lines(folder: "FolderQueries", assignment: "Assignment", report: dict[str, Any]) -> list[str]:
    n_families = len(set(map(folder.family_of, folder.queries)))
    lines = [f"{counted(len(folder.queries), 'query')} in {counted(n_families, 'family')}"]
    lines += [
        f"{part['name']}: {counted(part['n_queries'], 'query')} ({part['share']:.1%}), "
        f"{counted(part['n_families'], 'family')}"
        for part in report["splits"]
    ]
    if assignment.excluded:
        lines.append(f"in no split: {counted(len(assignment.excluded), 'query')}")
    for finding in report["findings"]:
        lines.append(
            f"{finding['severity']}: {finding['where']}: {finding['message']} {finding['advice']}"
        )
    if not report["findings"]:
        lines.append("nothing leaks from one split into another")
    return lines

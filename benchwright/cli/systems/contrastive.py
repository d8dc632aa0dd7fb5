"""`benchwright contrastive`: do the rows of two matrices of embeddings find their partners?"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.answers import say_json
from benchwright.cli.doors import Door
from benchwright.cli.main import Command, option
from benchwright.cli.options import file_option, format_option
from benchwright.cli.parameters import FILE
from benchwright.cli.progress import told
from benchwright.cli.site_doors import systems
from benchwright.files.encodings import as_shown
from benchwright.texts.counting import counted

if TYPE_CHECKING:
    from benchwright.contrastive.report import ContrastiveReport, Estimate, Part

TIES = ("expected", "optimistic", "pessimistic")
ALL = "all"
N_SHOWN = 10
MOST_CUTOFFS = 20
COLUMNS = ("pairs", "n", "direction", "measure", "value", "low", "high")
EXAMPLES = (
    "benchwright contrastive queries.npy documents.npy --k 1,5,10",
    "benchwright contrastive view1.parquet view2.parquet --slices slices.tsv",
    "benchwright contrastive z1.npz z2.npz --no-normalize --format json",
    "benchwright --benchmark help-pages contrastive queries.npy documents.npy --name e5",
)


def cutoffs(ctx: click.Context, parameter: click.Parameter, text: str) -> tuple[int, ...]:
    """`1,5,10` as numbers; a wrong one is a usage error."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isascii() and part.isdigit() and int(part) for part in parts):
        message = f"'{text}'; expected whole numbers from 1, such as 1,5,10."
        raise click.BadParameter(message, ctx, parameter)
    if len(parts) > MOST_CUTOFFS:
        message = f"{len(parts)} numbers; at most {MOST_CUTOFFS} are shown."
        raise click.BadParameter(message, ctx, parameter)
    return tuple(map(int, parts))


@click.command(
    cls=Command,
    name="contrastive",
    examples=EXAMPLES,
    door=Door(
        systems.__name__,
        keeps=systems.CONTRASTIVE_KEPT,
        also=systems.CONTRASTIVE_THERE,
        function="contrastive_on_site",
    ),
    short_help="Contrastive accuracy of two matrices of embeddings.",
)
@click.argument("z1", type=FILE)
@click.argument("z2", type=FILE)
@option(
    "--k",
    "-k",
    "ks",
    default="1,5,10",
    show_default=True,
    metavar="LIST",
    callback=cutoffs,
    group="Accuracy",
    help="How many of the most similar rows are looked at; several, separated by commas.",
)
@option(
    "--normalize/--no-normalize",
    default=True,
    show_default=True,
    group="Accuracy",
    help="Compare by cosine, or by the dot products of the rows as they are.",
)
@option(
    "--ties",
    type=click.Choice(TIES),
    default="expected",
    show_default=True,
    group="Accuracy",
    help="Rows exactly as similar as the partner: the mean over their orders, the partner first, "
    "or last.",
)
@file_option(
    "--ids",
    group="Pairs",
    help="An id a line, in the order of the rows. npz and Parquet files may bring their own.",
)
@file_option(
    "--slices",
    group="Pairs",
    help="Lines id<TAB>slice. Every slice is shown beside all pairs, with all rows as candidates.",
)
@format_option(("table", "tsv", "json"), help="table rounds; tsv and json hold every digit.")
def command(z1: Path, z2: Path, form: str, **chosen: Any) -> None:
    """Does each row of Z1 find the same row of Z2 among its k most similar, and the other way?

    Z1 and Z2 are npy, npz or Parquet files of embeddings of the same samples, row by row: two
    views, or queries and the documents that answer them. Accuracy@k is the mean of both directions,
    beside mean reciprocal rank and median rank, with 95 % intervals.
    """
    with told("Comparing"):
        report = _report(z1, z2, chosen)
    if form == "json":
        _print_json(report)
    elif form == "tsv":
        _print_tsv(report)
    else:
        _print_tables(report)
    if report.unknown:
        some = ", ".join(report.unknown[:3])
        n = f"{len(report.unknown):,} id{'' if len(report.unknown) == 1 else 's'}"
        click.echo(f"Note: the slices name {n} that no pair has: {some}", err=True)


def _report(z1: Path, z2: Path, chosen: Mapping[str, Any]) -> "ContrastiveReport":
    from tempfile import TemporaryDirectory

    from benchwright.contrastive.files import ids_of_pair, read_ids, read_matrix
    from benchwright.contrastive.report import contrastive_report
    from benchwright.formats.side_tables import read_slices

    with TemporaryDirectory(prefix="benchwright-") as unpacked:
        folder = Path(unpacked)
        first = read_matrix(z1, folder=folder, preferred="z1")
        second = read_matrix(z2, folder=folder, preferred="z2")
        ids = read_ids(chosen["ids"]) if chosen["ids"] else None
        slices = {}
        if chosen["slices"]:
            members_of = read_slices(chosen["slices"]).items()
            slices = {
                name: [as_shown(member) for member in members] for name, members in members_of
            }
        return contrastive_report(
            first.matrix,
            second.matrix,
            ks=chosen["ks"],
            normalize=chosen["normalize"],
            ties=chosen["ties"],
            ids=ids_of_pair(first, second, ids),
            slices=slices,
        )


# --- output --------------------------------------------------------------------------------------


def _print_json(report: "ContrastiveReport") -> None:
    from benchwright.contrastive.report import report_as_json

    say_json(report_as_json(report))


def _print_tsv(report: "ContrastiveReport") -> None:
    from benchwright.cli.tables import exact, print_tab_separated

    rows = []
    for part in (report.overall, *report.slices):
        for direction, measure, value, low, high in _values(part):
            numbers = [exact(number) for number in (value, low, high)]
            rows.append([part.name or ALL, str(part.n), direction, measure, *numbers])
    print_tab_separated(COLUMNS, rows)


def _values(part: "Part") -> Iterator[tuple[str, str, float, float, float]]:
    """Direction, measure, value and interval of everything that is told of a part."""
    from math import nan

    for name, estimate in _means(part).items():
        yield "both", name, *estimate
    for direction, way in (("forward", part.forward), ("backward", part.backward)):
        for k, value in way.accuracy.items():
            yield direction, f"accuracy@{k}", value, nan, nan
        yield direction, "MRR", way.mrr, nan, nan
        yield direction, "median rank", way.median_rank, nan, nan


def _means(part: "Part") -> "dict[str, Estimate]":
    return {**{f"accuracy@{k}": of for k, of in part.accuracy.items()}, "MRR": part.mrr}


def _print_tables(report: "ContrastiveReport") -> None:
    from benchwright.cli.tables import say, show_table

    for table in (_both(report), _each(report), _worst(report)):
        if table.rows:
            show_table(table)
            say()
    how = "cosine" if report.normalize else "dot product"
    features = counted(report.n_features, "feature")
    say(f"{counted(report.n, 'pair')} of {features}; {how}; ties {report.ties}.")


def _both(report: "ContrastiveReport") -> Any:
    from benchwright.cli.tables import Table, between, number

    names = _means(report.overall)
    columns = ["pairs", "n"]
    for name in names:
        columns += [name.replace("accuracy", "acc"), "95 % interval"]
    rows = []
    for part in (report.overall, *report.slices):
        cells = [part.name or ALL, f"{part.n:,}"]
        for of in _means(part).values():
            cells += [number(of.mean), between(of.low, of.high)]
        rows.append(cells)
    return Table(columns, rows, title="both directions")


def _each(report: "ContrastiveReport") -> Any:
    from benchwright.cli.tables import Table, number

    of = report.overall
    columns = ["direction", *(f"acc@{k}" for k in of.accuracy), "MRR", "median rank"]
    ways = (("Z1 to Z2", of.forward), ("Z2 to Z1", of.backward))
    rows = [
        [name, *map(number, (*way.accuracy.values(), way.mrr)), f"{way.median_rank:g}"]
        for name, way in ways
    ]
    return Table(columns, rows, title="each direction")


def _worst(report: "ContrastiveReport") -> Any:
    from benchwright.cli.tables import Table

    columns = ("pair", "rank in Z2", "nearest other", "rank in Z1", "nearest other")
    rows = [
        [
            report.id_of(example.row),
            f"{example.forward_rank:g}",
            report.id_of(example.forward_nearest),
            f"{example.backward_rank:g}",
            report.id_of(example.backward_nearest),
        ]
        for example in report.worst[:N_SHOWN]
    ]
    return Table(columns, rows, title="worst pairs", left=(0, 2, 4))

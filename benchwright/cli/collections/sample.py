"""`benchwright sample`: queries drawn from a log, with what they stand for."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.answers import say_json
from benchwright.cli.doors import Door
from benchwright.cli.files import written
from benchwright.cli.main import Command, option
from benchwright.cli.options import JSON, named_columns, written_option
from benchwright.cli.parameters import parameter_option
from benchwright.cli.site_doors import logs
from benchwright.recipes import sampling as recipe
from benchwright.texts.counting import counted

if TYPE_CHECKING:
    from benchwright.logs.drawing import SampledQuery
    from benchwright.logs.preparing import Prepared
    from benchwright.logs.sampling import Design, Plan

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
EXAMPLES = (
    "benchwright sample searches.csv.gz -n 300 -o queries.jsonl --weights weights.tsv",
    "benchwright sample log.tsv --column query='search string' --column count=searches --dry-run",
    "benchwright sample log.jsonl --allocation given --given head=50,torso=100,tail=50 -o q.jsonl",
    "benchwright sample log.parquet --by month --floor 5 --weighting queries -o q.jsonl",
    "benchwright --benchmark help-pages sample searches.csv.gz -n 300",
)


@click.command(
    cls=Command,
    name="sample",
    examples=EXAMPLES,
    door=Door(
        logs.__name__,
        keeps=logs.SAMPLE_KEPT,
        also=logs.SAMPLE_THERE,
        function="sample_on_site",
    ),
    short_help="Draw queries from a query log, masked and weighted.",
)
@click.argument("log", type=FILE)
@parameter_option(recipe.N_FAMILIES, group="Sample")
@parameter_option(recipe.BY, group="Sample")
@parameter_option(recipe.ALLOCATION, group="Sample")
@option(
    "--given", default="", metavar="LIST", group="Sample", help="Such as head=50,torso=100,tail=50."
)
@parameter_option(recipe.HEAD_SHARE, group="Sample")
@parameter_option(recipe.TAIL_SHARE, group="Sample")
@parameter_option(recipe.WEIGHTING, group="Sample")
@parameter_option(recipe.WORDINGS, group="Sample")
@parameter_option(recipe.SEED, group="Sample", default=0, show_default=True)
@option(
    "--column",
    "columns",
    multiple=True,
    metavar="ROLE=NAME",
    group="Log",
    help="Which column is query, count, date, year, month, clicks or lang. Without any they are "
    "told by their names.",
)
@parameter_option(recipe.FLOOR, group="Log")
@option(
    "--mask",
    "kinds",
    multiple=True,
    metavar="KIND",
    group="Log",
    help="Mask only these kinds of personal data (credentials, email, iban, card, id, ip, "
    "phone, number, name), or 'none'.  [default: all]",
)
@option(
    "--regions",
    metavar="CC,CC",
    group="Log",
    help="Mask telephone numbers and numbers of people of these countries, or 'none'.  [default: "
    "CH,DE,ES,FR,GB,IN,IT,NL,NO,US]",
)
@option(
    "--lenient",
    is_flag=True,
    group="Log",
    help="Leave out rows that cannot be read, and count them.",
)
@option(
    "--dry-run",
    "preview",
    old=("--preview",),
    is_flag=True,
    group="Output",
    help="Show what would be drawn, and draw nothing.",
)
@written_option(
    "-o",
    "--output",
    is_printed=True,
    group="Output",
    help="Write the queries there as BEIR has them, one JSON object a line.  [default: standard "
    "output]",
)
@written_option(
    "--weights",
    "weights_file",
    group="Output",
    help="Also write query-id<TAB>weight, as `score --weights` reads it.",
)
@written_option(
    "--families-file",
    group="Output",
    help="Also write query-id<TAB>family, as `score --families` reads it.",
)
@JSON
def command(log: Path, **chosen: Any) -> None:
    """Draw queries from a LOG of what people asked.

    LOG has a row for each search, or for each query with a count: CSV, TSV, JSON lines, Parquet, or
    a query a line; plain, gzip or zstd. Queries are masked, counted by their normalised text, put
    into families and strata, and drawn. Each drawn query says how likely it was to be drawn, and
    what it weighs, so that `score --weights` estimates the mean over the whole log.
    """
    design = _design(chosen)
    with TemporaryDirectory(prefix="benchwright-sample-") as folder:
        prepared = _prepared(log, Path(folder), chosen)
        _tell_reading(prepared)
        queries: Sequence[SampledQuery] = ()
        if chosen["preview"]:
            plan = _planned(prepared, design)
        else:
            from benchwright.logs.drawing import sampled

            plan, queries = sampled(prepared.log, design, seed=chosen["seed"])
            _write(queries, chosen)
        if chosen["is_json"]:
            read = {"log": _read_facts(prepared), "plan": plan.as_json()}
            say_json({**read, "queries": [query.as_beir() for query in queries]})
        else:
            _show(plan, err=not chosen["preview"])


def _read_facts(prepared: "Prepared") -> dict[str, Any]:
    counts = prepared.counted
    return {
        "columns": dict(prepared.columns.named),
        "n_rows": prepared.n_rows,
        "n_left_out": prepared.left.as_dict(),
        "n_distinct": counts.n_distinct,
        "n_traffic": counts.n_traffic,
        "n_families": prepared.grouped.n_families,
        "masked": dict(counts.masked),
        "n_only_personal": counts.n_only_personal,
        "n_below_floor": counts.n_below_floor,
    }


def _design(chosen: dict[str, Any]) -> "Design":
    from benchwright.logs.sampling import Design, parse_given

    if chosen["given"] and chosen["allocation"] != "given":
        message = "--given needs --allocation given."
        raise click.UsageError(message)
    design = {parameter.name: chosen[parameter.name] for parameter in recipe.DESIGN}
    return Design(given=parse_given(chosen["given"]), **design)


def _prepared(log: Path, folder: Path, chosen: dict[str, Any]) -> "Prepared":
    from benchwright.logs.columns import LogColumns, checked_columns, detected_columns
    from benchwright.logs.distinct import Options
    from benchwright.logs.masking import KIND_LABELS, REGIONS, checked_kinds, checked_regions
    from benchwright.logs.preparing import prepared
    from benchwright.logs.tables import open_table

    table = open_table(log, file=log.name)
    named = named_columns(chosen["columns"])
    columns = (
        LogColumns.of(named)
        if named
        else detected_columns(table.columns, table.head(20), file=log.name)
    )
    checked_columns(columns, table.columns, file=log.name)
    kinds = list(chosen["kinds"]) or list(KIND_LABELS)
    options = Options(
        checked_kinds([] if kinds == ["none"] else kinds),
        chosen["floor"],
        REGIONS if chosen["regions"] is None else checked_regions(chosen["regions"]),
    )
    return prepared(table, columns, folder, options=options, is_lenient=chosen["lenient"])


def _tell_reading(prepared: "Prepared") -> None:
    counts = prepared.counted
    columns = ", ".join(f"{role} = {name}" for role, name in prepared.columns.named.items())
    lines = [
        f"{counted(prepared.n_rows, 'row')} read ({columns}): "
        f"{counted(counts.n_distinct, 'distinct query')}, {_searches(counts.n_traffic)}, "
        f"{counted(prepared.grouped.n_families, 'family')} by {prepared.grouped.by}.",
        *(f"{counted(n, 'row')} left out: {why}." for why, n in prepared.left.as_dict().items()),
        *(f"{kind} masked in {_searches(n)}." for kind, n in sorted(counts.masked.items())),
    ]
    if n := counts.n_only_personal:
        were, are = ("was", "is") if n == 1 else ("were", "are")
        lines.append(f"{_searches(n)} {were} personal data alone and {are} gone.")
    if n := counts.n_below_floor:
        were = "was" if n == 1 else "were"
        lines.append(f"{counted(n, 'query')} below the floor {were} dropped.")
    for line in lines:
        click.echo(line, err=True)


def _searches(n: int) -> str:
    return f"{n:,} {'search' if n == 1 else 'searches'}"


def _planned(prepared: "Prepared", design: "Design") -> "Plan":
    from benchwright.logs.sampling import planned
    from benchwright.logs.strata import read_families

    return planned(read_families(prepared.log), design)[0]


def _show(plan: "Plan", *, err: bool = False) -> None:
    """The strata as a table, and how exact the estimates are to be expected."""
    from benchwright.statistics.descriptive import Z95

    rows = [("stratum", "families", "queries", "searches", "drawn", "probability")]
    rows += [
        (
            stratum.name,
            f"{stratum.n_families:,}",
            f"{stratum.n_queries:,}",
            f"{stratum.n_traffic:,}",
            f"{stratum.n_drawn:,}",
            f"{stratum.inclusion_probability:.4f}",
        )
        for stratum in plan.strata
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        name, *numbers = row
        cells = [f"{cell:>{width}}" for cell, width in zip(numbers, widths[1:], strict=True)]
        click.echo("  ".join([f"{name:<{widths[0]}}", *cells]), err=err)
    for note in plan.notes:
        click.echo(f"Note: {note}", err=err)
    traffic, queries = Z95 * plan.traffic_error, Z95 * plan.queries_error
    click.echo(
        f"About {plan.n_queries_expected:,.0f} queries. Expected half-width of a 95 % interval, at "
        f"a standard deviation of {plan.design.deviation:g}: {traffic:.3f} over searches, "
        f"{queries:.3f} over distinct queries.",
        err=err,
    )


def _write(queries: Sequence["SampledQuery"], chosen: dict[str, Any]) -> None:
    lines = (json.dumps(query.as_beir(), ensure_ascii=False) for query in queries)
    if chosen["output"] or not chosen["is_json"]:  # which has them in it
        _lines(chosen["output"], lines)
    if chosen["weights_file"]:
        rows = (f"{query.qid}\t{query.weight!r}" for query in queries)
        _lines(chosen["weights_file"], ["query-id\tweight", *rows])
    if chosen["families_file"]:
        rows = (f"{query.qid}\t{query.family}" for query in queries)
        _lines(chosen["families_file"], ["query-id\tfamily", *rows])


def _lines(path: Path | None, lines: Iterable[str]) -> None:
    with written(path) as stream:
        stream.writelines(f"{line}\n".encode() for line in lines)

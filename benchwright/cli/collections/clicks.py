"""`benchwright clicks`: grades from what people clicked, and online outcomes by arm."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.answers import say_json
from benchwright.cli.doors import Door, given
from benchwright.cli.files import written
from benchwright.cli.main import Command, option
from benchwright.cli.options import file_option, format_option, written_option
from benchwright.cli.parameters import FILE, parameter_option
from benchwright.cli.site_doors import logs
from benchwright.recipes import clicks as recipe
from benchwright.texts.counting import counted

if TYPE_CHECKING:
    from benchwright.clicks.grading import ClickGrade
    from benchwright.clicks.outcomes import Arm
    from benchwright.clicks.pages import Page, Reading

COLUMNS = ("query", "document", "grade", "sure", "value", "low", "high", "evidence", "clicks")
OF_GRADES = (*(parameter.name for parameter in recipe.CLICKS), "cuts", "queries", "output", "table")
EXAMPLES = (
    "benchwright clicks ubi_queries.ndjson ubi_events.ndjson -o clicks.qrels",
    "benchwright clicks pages.parquet --model dbn --least 50 --table pairs.tsv",
    "benchwright clicks impressions.csv.gz --queries queries.jsonl --cuts 0.5,1,2 -o clicks.qrels",
    "benchwright clicks ubi_queries.csv ubi_events.csv --outcomes -k 10",
    "benchwright --benchmark help-pages clicks ubi_queries.ndjson ubi_events.ndjson",
)


@click.command(
    cls=Command,
    name="clicks",
    examples=EXAMPLES,
    door=Door(
        logs.__name__,
        keeps=logs.CLICKS_KEPT,
        also=logs.CLICKS_THERE,
        function="clicks_on_site",
    ),
    short_help="Grades from a log of clicks, or online outcomes by arm.",
)
@click.argument("logs", type=FILE, nargs=-1, required=True)
@parameter_option(recipe.MODEL, group="Grades")
@parameter_option(recipe.LEAST, group="Grades")
@option(
    "--cuts",
    metavar="LIST",
    group="Grades",
    help="From which value on the next grade begins.  [default: 0.5,1,2 for coec, else "
    "0.1,0.3,0.6]",
)
@file_option(
    "--queries",
    group="Grades",
    help="Queries with ids, JSON lines or TREC topics; others of the log are left out. Without it "
    "ids are those that `sample` gives.",
)
@option("--outcomes", is_flag=True, group="Outcomes", help="Show online outcomes by arm instead.")
@parameter_option(recipe.CUTOFF, group="Outcomes")
@option(
    "--column",
    "columns",
    multiple=True,
    metavar="ROLE=NAME",
    group="Log",
    help="Which column is page, query, shown, clicked, doc, position, action, session or arm. "
    "Without any they are told by their names.",
)
@option(
    "--click-action",
    "actions",
    multiple=True,
    metavar="NAME",
    group="Log",
    help="Actions of UBI's events that are clicks.  [default: click, click_through, item_click, "
    "product_click, result_click]",
)
@written_option("-o", "--output", group="Output", help="Write the grades there as TREC qrels.")
@written_option("--table", group="Output", help="Write every pair there, with value and interval.")
@format_option(("table", "json"), help="What is said of the whole; json holds every digit.")
@click.pass_context
def command(ctx: click.Context, /, logs: Sequence[Path], form: str, **chosen: Any) -> None:
    """What clicks say of documents, as grades of kind click, or of systems, as online outcomes.

    LOGS is a file with a row for each page of results or for each shown document, or the queries
    and events of User Behavior Insights: CSV, TSV, JSON lines or Parquet. A pair of query and
    document with too little evidence is left out: nobody knows its grade. What clicks say is not
    what people judge: keep it a set of its own.
    """
    if len(logs) > 2:
        message = f"{len(logs)} files; expected one, or UBI's queries and events."
        raise click.UsageError(message)
    _refuse_others(ctx, has_outcomes=chosen["outcomes"])
    from benchwright.clicks.pages import Reading

    reading = Reading()
    with TemporaryDirectory(prefix="benchwright-clicks-") as folder:
        pages = _read(logs, Path(folder), reading, chosen)
        if chosen["outcomes"]:
            _show_outcomes(pages, reading, form, chosen["cutoff"])
        else:
            _show_grades(pages, reading, form, chosen)


def _refuse_others(ctx: click.Context, *, has_outcomes: bool) -> None:
    """Options of grades beside `--outcomes`, or of outcomes without it, would count for nothing."""
    others = given(ctx, *(OF_GRADES if has_outcomes else ("cutoff",)))
    for parameter in ctx.command.params:
        if parameter.name in others:
            why = "is of --outcomes, which is not there. Give it too."
            if has_outcomes:
                why = "is of grades, and --outcomes makes none. Leave one of the two out."
            message = f"{parameter.opts[-1]} {why}"
            raise click.UsageError(message)


def _read(
    logs: Sequence[Path], folder: Path, reading: "Reading", chosen: Mapping[str, Any]
) -> "Iterator[Page]":
    from benchwright.clicks.columns import read_columns
    from benchwright.clicks.pages import CLICKS, read_pages

    columns = read_columns(chosen["columns"])
    actions = chosen["actions"] or CLICKS
    return read_pages(logs, folder, reading, columns=columns, click_actions=actions)


# --- grades --------------------------------------------------------------------------------------


def _show_grades(
    pages: "Iterable[Page]", reading: "Reading", form: str, chosen: Mapping[str, Any]
) -> None:
    from benchwright.clicks.grading import Grading, grade_pages, read_cuts
    from benchwright.ids import id_problem

    cuts = read_cuts(chosen["cuts"]) if chosen["cuts"] else ()
    grading = Grading(recipe.Model(chosen["model"]), chosen["least"], cuts)
    graded = grade_pages(pages, grading, _ids(chosen["queries"]))
    labels = [label for label in graded.grades if not id_problem(label.doc)]
    _write(labels, chosen)
    facts = graded.facts
    n_unwritable = len(graded.grades) - len(labels)
    if form == "json":
        say_json(facts | _counts(reading) | {"n_unwritable": n_unwritable})
        return
    by_grade = ", ".join(f"{n:,} of grade {grade}" for grade, n in facts["grades"].items())
    click.echo(
        f"{facts['n_graded']:,} of {facts['n_pairs']:,} pairs have evidence enough"
        f"{': ' + by_grade if by_grade else ''}. "
        f"The interval of {facts['n_sure']:,} lies in one grade."
    )
    if facts["continuing"] is not None:
        n = facts["n_rounds"]
        click.echo(f"Who is not satisfied reads on with {facts['continuing']:.3f} ({n} rounds).")
    if graded.n_other:
        click.echo(f"{graded.n_other:,} pages asked for none of the queries.", err=True)
    if n_unwritable:
        noun = "pair is of a document" if n_unwritable == 1 else "pairs are of documents"
        why = "whose id holds white space or the like, which no file of grades can have: left out."
        click.echo(f"{n_unwritable:,} {noun} {why}", err=True)
    _tell(reading)


def _ids(queries: Path | None) -> dict[str, str] | None:
    if queries is None:
        return None
    from benchwright.clicks.grading import ids_of
    from benchwright.families.query_files import read_query_texts

    return ids_of((query.text, query.qid) for query in read_query_texts(queries))


def _write(graded: "Sequence[ClickGrade]", chosen: Mapping[str, Any]) -> None:
    from benchwright.formats.trec import QrelRow, write_qrels

    if chosen["output"]:
        rows = (
            QrelRow(0, label.query.encode(), label.doc.encode(), label.grade) for label in graded
        )
        with written(chosen["output"]) as stream:
            stream.writelines(write_qrels(rows))
    if chosen["table"]:
        with written(chosen["table"]) as stream:
            stream.write("\t".join(COLUMNS).encode() + b"\n")
            for label in graded:
                value = label.value
                numbers = (value.value, value.low, value.high, value.n)
                cells = (
                    *(label.query, label.doc, label.grade, "yes" if label.is_sure else "no"),
                    *(f"{number:.6g}" for number in numbers),
                    value.clicks,
                )
                stream.write("\t".join(map(str, cells)).encode() + b"\n")


# --- outcomes ------------------------------------------------------------------------------------


def _show_outcomes(pages: "Iterable[Page]", reading: "Reading", form: str, cutoff: int) -> None:
    from benchwright.clicks.outcomes import OUTCOMES, difference, online_outcomes

    arms = online_outcomes(pages, cutoff=cutoff)
    pairs = {
        (first, second, outcome): difference(arms[first], arms[second], outcome)
        for first, second in combinations(arms, 2)
        for outcome in OUTCOMES
    }
    if form == "json":
        facts = {
            "cutoff": cutoff,
            "arms": [_arm_facts(arm) for arm in arms.values()],
            "differences": [
                {"first": first, "second": second, "outcome": outcome, **_ends(estimate)}
                for (first, second, outcome), estimate in pairs.items()
            ],
        }
        say_json(facts | _counts(reading))
        return
    for arm in arms.values():
        name = arm.name or "all pages"
        click.echo(f"{name}: {arm.n_pages:,} pages of {arm.n_visits:,} visits")
        for outcome, estimate in arm.shares.items():
            click.echo(f"  {_label(outcome, cutoff):<18} {_shown(estimate)}")
    for (first, second, outcome), estimate in pairs.items():
        click.echo(f"{second} - {first}, {_label(outcome, cutoff)}: {_shown(estimate, '+')}")
    _tell(reading)


def _label(outcome: str, cutoff: int) -> str:
    return outcome if outcome == "zero results" else f"{outcome}@{cutoff}"


def _shown(estimate: Any, sign: str = "") -> str:
    value, low, high = (f"{number:{sign}.4f}" for number in estimate)
    if low.strip("+-") == "nan":
        return f"{value} (no interval: fewer than two visits)"
    return f"{value} [{low}, {high}]"


def _arm_facts(arm: "Arm") -> dict[str, Any]:
    shares = {outcome: _ends(estimate) for outcome, estimate in arm.shares.items()}
    return {"arm": arm.name, "n_pages": arm.n_pages, "n_visits": arm.n_visits, "outcomes": shares}


def _ends(estimate: Any) -> dict[str, float | None]:
    numbers = zip(("value", "low", "high"), estimate, strict=True)
    return {name: None if number != number else number for name, number in numbers}


# --- what was read -------------------------------------------------------------------------------


def _counts(reading: "Reading") -> dict[str, Any]:
    return {
        "n_rows": reading.n_rows,
        "n_pages": reading.n_pages,
        "n_clicks": reading.n_clicks,
        "n_clicks_elsewhere": reading.n_elsewhere,
        "n_bad_rows": reading.n_bad,
    }


def _tell(reading: "Reading") -> None:
    """What was read, and what was left out, to standard error."""
    counts = {"row": reading.n_rows, "page": reading.n_pages, "click": reading.n_clicks}
    lines = [f"{', '.join(counted(n, noun) for noun, n in counts.items())}."]
    if reading.n_elsewhere:
        lines.append(f"{reading.n_elsewhere:,} clicks were on nothing that a page showed.")
    if reading.actions and not reading.n_clicks:
        some = ", ".join(f"{name} ({n:,})" for name, n in reading.actions.most_common(8))
        lines.append(f"No action counts as a click; there are {some}. Name one by --click-action.")
    elif not reading.n_clicks:
        lines.append("Nobody clicked on what a page showed. UBI has clicks in its file of events.")
    lines += reading.problems
    if reading.n_bad > len(reading.problems):
        lines.append(f"{reading.n_bad - len(reading.problems):,} more rows cannot be read.")
    for line in lines:
        click.echo(line, err=True)

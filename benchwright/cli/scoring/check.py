"""`benchwright check`: everything wrong in a run, in qrels or in a benchmark's folder, by line."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.answers import say_json
from benchwright.cli.files import check_standard_input
from benchwright.cli.main import DONE, FAILED, Command, option
from benchwright.cli.options import format_option
from benchwright.cli.parameters import InputFile
from benchwright.cli.progress import told
from benchwright.cli.tables import print_lines

if TYPE_CHECKING:
    from benchwright.linting.checking import Report

FOLDERS = (
    *("beir", "croissant", "ids-only", "hub", "mteb", "sentence-transformers", "trec"),
    "ir-datasets",
)
KINDS = ("run", "qrels", *FOLDERS, "beir-qrels", "corpus", "queries")
EXAMPLES = (
    "benchwright check bm25.run.gz",
    "benchwright check qrels.txt runs/*.run --format json",
    "benchwright check my-benchmark/        # a folder in any format of a release, or a zip",
    "benchwright check --limit 20 strange.txt --kind run",
)


@click.command(
    cls=Command,
    name="check",
    examples=EXAMPLES,
    of_files=(
        "A site checks each file as it comes in: `import` and `submit` tell what is "
        "wrong, by its line."
    ),
    short_help="Everything wrong in a run, qrels or benchmark, by line.",
)
@click.argument("paths", type=InputFile(takes_folder=True), nargs=-1, required=True)
@option(
    "--kind",
    type=click.Choice(KINDS),
    group="Files",
    help="What the files are.  [default: told by their first lines]",
)
@option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    group="Output",
    help="Stop a file after N problems.  [default: all of them]",
)
@option("--strict", is_flag=True, group="Output", help="Count warnings as problems.")
@format_option(
    ("text", "json"),
    help="text is a line for each problem, FILE:LINE: what is wrong, and a summary.",
)
def command(
    paths: Sequence[Path], kind: str | None, limit: int | None, strict: bool, form: str
) -> None:
    """Read PATHS to their ends and tell everything that is wrong in them.

    A path is a run or qrels in TREC's format, qrels, corpus or queries in BEIR's, or a whole folder
    or zip in a format that releases are written in, whose ids must belong together. Problems are
    lines that would be refused, or lost by some reader of the field; warnings are worth a look, and
    notes harm nobody. After them stands what the file holds: queries, rows, depth, ties, order.
    Exits with 0 where nothing is wrong, with 1 otherwise.
    """
    from benchwright.linting.checking import UNLIMITED, check

    check_standard_input(paths)
    reports = []
    for path in paths:
        with told(f"Checking {path}"):
            reports.append(check(path, kind=kind, limit=limit or UNLIMITED))
    if form == "json":
        say_json(_as_json(reports))
    else:
        print_lines(line for report in reports for line in _lines(report))
    is_wrong = any(
        report.problems.found or (strict and report.problems.warnings) for report in reports
    )
    raise SystemExit(FAILED if is_wrong else DONE)


def _as_json(reports: "Sequence[Report]") -> dict[str, Any]:
    files = [
        {
            "file": report.file,
            "kind": report.kind,
            "is_cut": report.is_cut,
            "problems": [problem._asdict() for problem in report.problems.found],
            "warnings": [problem._asdict() for problem in report.problems.warnings],
            "notes": [problem._asdict() for problem in report.notes],
            "holds": report.facts,
        }
        for report in reports
    ]
    return {"files": files}


def _lines(report: "Report") -> Iterator[str]:
    problems = sorted(report.problems.found, key=lambda problem: (problem.file, problem.line))
    yield from map(str, problems)
    for kind, lines in (("warning", report.problems.warnings), ("note", report.notes)):
        for notice in lines:
            place, _, text = str(notice).partition(": ")
            yield f"{place}: {kind}: {text}"
    if report.is_cut:
        yield f"{report.file}: stopped after {len(problems)} problems."
    counted = f"{_n(len(problems), 'problem')}, {_n(len(report.problems.warnings), 'warning')}"
    yield f"{report.file}: {report.kind}, {counted}"
    yield from (f"  {line}" for line in _held(report.facts))


def _held(facts: Mapping[str, Any]) -> Iterator[str]:
    """What a file holds, a fact a line."""
    for name, value in facts.items():
        words = name.removeprefix("is_").replace("_", " ")
        if isinstance(value, dict) and set(value) == {"least", "median", "most"}:
            least, median, most = (f"{value[which]:,}" for which in ("least", "median", "most"))
            yield f"{words}: {least} to {most}, median {median}"
        elif name == "splits":
            for split, facts_of_split in value.items():
                yield f"split {split}:"
                yield from (f"  {line}" for line in _held(facts_of_split))
        elif isinstance(value, dict):
            yield f"{words}: {', '.join(f'{key} ({count:,})' for key, count in value.items())}"
        elif isinstance(value, bool):
            yield f"{words}: {'yes' if value else 'no'}"
        else:
            yield f"{words}: {f'{value:,}' if isinstance(value, int) else ', '.join(value)}"


def _n(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"

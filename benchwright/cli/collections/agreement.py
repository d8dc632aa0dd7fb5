"""`benchwright agreement`: how far people agree, in two files or on a site."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from benchwright.cli import options
from benchwright.cli.answers import say_json
from benchwright.cli.doors import Door
from benchwright.cli.files import check_standard_input
from benchwright.cli.main import Command, option
from benchwright.cli.parameters import FILE, parameter_option
from benchwright.cli.site_doors import agreeing
from benchwright.cli.tables import say
from benchwright.recipes import judging
from benchwright.texts.counting import counted, percent_beside

EXAMPLES = (
    "benchwright agreement people.qrels judged.qrels --scale 0,1,2,3",
    "benchwright --benchmark help-pages agreement",
    "benchwright --benchmark help-pages agreement --pool first --json",
)
WHOLE = range(-100, 1001)
"""Grades of a file without a scale."""


def _grades(ctx: click.Context, parameter: click.Parameter, text: str | None) -> list[int] | None:
    try:
        grades = sorted({int(grade) for grade in text.split(",")}) if text else None
    except ValueError:
        grades = []
    if grades is not None and len(grades) < 2:
        message = f"'{text}' is no scale; expected two grades or more, such as 0,1,2,3."
        raise click.BadParameter(message, ctx, parameter)
    return grades


@click.command(
    cls=Command,
    name="agreement",
    examples=EXAMPLES,
    door=Door(agreeing.__name__, also=agreeing.THERE),
    short_help="How far people agree: kappas, alpha, of two files or of a site's labels.",
)
@click.argument("first", type=FILE)
@click.argument("second", type=FILE)
@option(
    "--scale",
    metavar="GRADES",
    callback=_grades,
    group="Grades",
    help="Every grade there could be, such as 0,1,3. By default every whole number from 0 to the "
    "highest in the files.",
)
@parameter_option(judging.RELEVANT_FROM, group="Grades")
@options.SEED
@options.JSON
def command(first: Path, second: Path, is_json: bool, **chosen: Any) -> None:
    """Say how far two people agree, of their grades FIRST and SECOND, where both graded.

    The files are TREC qrels, or CSV or TSV as BEIR's. Each coefficient has the documents it rests
    on, the ordinal alpha an interval over queries; where one is undefined it says why. What they
    mean: docs/agreement.md.
    """
    import numpy as np

    from benchwright.agreement import report

    check_standard_input((first, second))
    agreement = report.of_two(
        [_graded(path, chosen["scale"]) for path in (first, second)],
        scale=chosen["scale"],
        relevant_from=chosen["relevant_from"],
        rng=np.random.default_rng(chosen["seed"]),
    )
    if not agreement["n_shared"]:
        text = f"{first} and {second} have no pair in common. Name grades of the same queries."
        raise click.ClickException(text)
    if is_json:
        say_json(agreement)
        return
    scale = ", ".join(map(str, agreement["scale"]))
    same = f"{percent_beside(agreement['same_share'], 0, 1, decimals=0)}% the same grade"
    say(f"{counted(agreement['n_shared'], 'pair')} graded twice: {same}; scale {scale}")
    for line in agreeing.coefficient_lines(agreement["overall"]):
        say(line)


def _graded(path: Path, scale: Sequence[int] | None) -> dict[tuple[str, str], int]:
    """The grades of a file by query and document; what is wrong is told by its line."""
    from benchwright.errors import Problems
    from benchwright.files.sources import open_lines, shown_name
    from benchwright.qrels.files import read_labels

    problems = Problems()
    labels = read_labels(
        open_lines(path), file=shown_name(path), problems=problems, scale=scale or WHOLE, rater="-"
    )
    grades = {(label.qid, label.docid): label.grade for label in labels}
    problems.raise_found()
    return grades

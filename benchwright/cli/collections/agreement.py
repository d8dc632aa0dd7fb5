"""`benchwright agreement`: how far people agree, in files or on a site."""

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
    "benchwright agreement labels.csv   # with a column annotator",
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
    short_help="How far people agree: kappas, alpha, of files or of a site's labels.",
)
@click.argument("files", type=FILE, nargs=-1, required=True)
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
def command(files: tuple[Path, ...], is_json: bool, **chosen: Any) -> None:
    """Say how far people agree, of their grades in FILES, where two or more graded.

    The files are TREC qrels, or CSV or TSV as BEIR's. Whose a grade is a column `annotator` says;
    a file without one is one person's. Each coefficient has the documents it rests on, the ordinal
    alpha an interval over queries; where one is undefined it says why. What they mean:
    docs/agreement.md.
    """
    import numpy as np

    from benchwright.agreement import report

    check_standard_input(files)
    grades = _by_rater(files, chosen["scale"])
    if len(grades) < 2:
        text = f"All grades are of one ({next(iter(grades), 'nobody')}). Name a file of another's, "
        text += "or one whose column annotator says who gave which."
        raise click.ClickException(text)
    agreement = report.of_raters(
        grades,
        scale=chosen["scale"],
        relevant_from=chosen["relevant_from"],
        rng=np.random.default_rng(chosen["seed"]),
    )
    if not agreement["n_shared"]:
        text = f"{' and '.join(grades)} have no pair in common. Name grades of the same queries."
        raise click.ClickException(text)
    if is_json:
        say_json(agreement)
        return
    scale = ", ".join(map(str, agreement["scale"]))
    n_raters = agreement["n_raters"]
    by = "twice" if n_raters == 2 else f"by two or more of {n_raters:,} people"
    same = f"{percent_beside(agreement['same_share'], 0, 1, decimals=0)}% the same grade"
    say(f"{counted(agreement['n_shared'], 'pair')} graded {by}: {same}; scale {scale}")
    for line in agreeing.coefficient_lines(agreement["overall"]):
        say(line)


def _by_rater(
    files: Sequence[Path], scale: Sequence[int] | None
) -> dict[str, dict[tuple[str, str], int]]:
    """The grades of each by query and document; what is wrong is told by its line."""
    from benchwright.errors import Problems
    from benchwright.files.sources import open_lines, shown_name
    from benchwright.qrels.files import read_labels

    problems = Problems()
    grades: dict[str, dict[tuple[str, str], int]] = {}
    for path in files:
        file = shown_name(path)
        lines = open_lines(path)
        for label in read_labels(lines, file=file, problems=problems, scale=scale or WHOLE):
            of_rater = grades.setdefault(label.rater or file, {})
            earlier = of_rater.setdefault((label.qid, label.docid), label.grade)
            if earlier != label.grade:
                text = f"{label.rater} gave this pair {earlier} in another file, and {label.grade}"
                problems.add(file, label.line, f"{text} here. Keep one of the two.")
    problems.raise_found()
    return grades

"""`benchwright calibrate`: how far can a machine's grades be trusted?"""

from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

import click

from benchwright.cli import options
from benchwright.cli.doors import Door
from benchwright.cli.files import (
    check_named_once,
    check_standard_input,
    run_names,
    tell_warnings,
)
from benchwright.cli.main import Command, option
from benchwright.cli.parameters import FILE, parameter_option, text_of
from benchwright.cli.progress import told
from benchwright.cli.site_doors import judging
from benchwright.files.encodings import as_text
from benchwright.recipes import judging as recipes

EXAMPLES = (
    "benchwright calibrate people.qrels machine.qrels",
    "benchwright calibrate people.qrels machine.qrels bm25.run dense.run --families families.tsv",
    "benchwright calibrate people.qrels machine.qrels --others second.qrels --format markdown",
    "benchwright --benchmark help-pages calibrate 'gpt on depth 10'",
)


@click.command(
    cls=Command,
    name="calibrate",
    examples=EXAMPLES,
    door=Door(judging.__name__, also=judging.CALIBRATE_THERE, function="calibrate_on_site"),
    short_help="How far a machine's grades can be trusted, beside people's.",
)
@click.argument("people", type=FILE)
@click.argument("machine", type=FILE)
@click.argument("runs", type=FILE, nargs=-1)
@parameter_option(recipes.RELEVANT_FROM, group="Grades")
@options.file_option(
    "--scale",
    group="Grades",
    help="The grades there are, a line each, as `judge` takes them; by default those that people "
    "gave. A machine's other grades are left out.",
)
@options.file_option(
    "--others",
    group="Grades",
    help="Qrels of a second person: what two people come to is told beside it.",
)
@options.SLICES
@options.FAMILIES
@option(
    "-m",
    "--measure",
    metavar="NAME",
    default="nDCG@10",
    show_default=True,
    group="Runs",
    help="By which RUNS are valued, by people's grades and by the machine's.",
)
@option(
    "--same-model",
    "same_model",
    multiple=True,
    metavar="RUN",
    group="Runs",
    help="A run that is made with the judge's own model family; may be given several times. It "
    "counts as favoured without a test.",
)
@options.SEED
@options.format_option(
    ("table", "json", "markdown"), help="table and markdown round; json holds every digit."
)
def command(people: Path, machine: Path, runs: tuple[Path, ...], **chosen: Any) -> None:
    """Hold a MACHINE's qrels against PEOPLE's, on the pairs that both graded.

    Tells the confusion of grades, kappas and ordinal alpha with intervals over families of queries,
    where the machine is off (by grade and slice), and what its grades mean in people's. With RUNS:
    how its values of runs stand to people's, how many more labels it is worth, and which runs it
    favours. The pairs must have been drawn at random for this; 200 of 20 queries are enough.
    """
    from benchwright.calibration.from_files import calibrate, grades_of
    from benchwright.cli.scoring.calibrate_output import show
    from benchwright.errors import Problems
    from benchwright.formats.side_tables import read_families, read_slices, warn_of_unknown
    from benchwright.qrels.scales import parse_scale

    beside = [chosen[name] for name in ("slices", "families", "others", "scale")]
    check_standard_input((people, machine, *runs, *beside))
    check_named_once(runs)
    problems, of_people = Problems(), grades_of(people)
    slices, families = {}, {}
    if path := chosen["slices"]:
        slices = read_slices(path, problems=problems)
        queries = [query for of in slices.values() for query in of]
        warn_of_unknown(path, queries, _known(queries, of_people), problems=problems)
    if path := chosen["families"]:
        families = read_families(path, problems=problems)
        warn_of_unknown(path, families, _known(families, of_people), problems=problems)
    tell_warnings(problems)
    scale = None
    if path := chosen["scale"]:
        scale = [grade["value"] for grade in parse_scale(text_of(path))]
    named = dict(zip(run_names(runs), runs, strict=True))
    for name in chosen["same_model"]:
        if name not in named:
            message = f"--same-model {name}: no such run; expected {', '.join(named) or 'runs'}."
            raise click.UsageError(message)
    with told("Calibrating"):
        report = calibrate(
            of_people,
            machine,
            runs=named,
            measure=chosen["measure"],
            scale=scale,
            relevant_from=chosen["relevant_from"],
            families={as_text(query): family for query, family in families.items()},
            slices={name: [as_text(query) for query in of] for name, of in slices.items()},
            same_model=chosen["same_model"],
            others=chosen["others"],
            seed=chosen["seed"],
        )
    show(report, chosen["form"])


def _known(queries: Iterable[bytes], grades: Container[str]) -> set[bytes]:
    return {query for query in queries if as_text(query) in grades}

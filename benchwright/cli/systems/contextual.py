"""`benchwright contextual`: do helpful nodes stand before the others, in the eyes of a judge?"""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.doors import Door
from benchwright.cli.main import Command, option
from benchwright.cli.options import format_option, written_option
from benchwright.cli.parameters import FILE, parameter_option
from benchwright.cli.site_doors import judging
from benchwright.recipes import contextual as recipes

if TYPE_CHECKING:
    from benchwright.contextual.types import Case, Options, Outcome
    from benchwright.judges.client import OpenAIJudge

REMOTE = ("pass", "fetch", "refuse")
OPENAI = "https://api.openai.com/v1"
EXAMPLES = (
    "benchwright contextual cases.jsonl --model gpt-4o --cache judged.jsonl",
    "benchwright contextual cases.jsonl --model llava --base-url http://127.0.0.1:11434/v1",
    "benchwright contextual cases.jsonl --model gpt-4o --images pictures --output outcomes.jsonl",
    "benchwright --benchmark help-pages contextual cases.jsonl --judge gpt",
)


@click.command(
    cls=Command,
    name="contextual",
    examples=EXAMPLES,
    door=Door(
        judging.__name__,
        keeps=judging.CONTEXTUAL_KEPT,
        also=judging.CONTEXTUAL_THERE,
        function="contextual_on_site",
    ),
    short_help="Contextual precision of retrieved nodes, by a judge model.",
)
@click.argument("cases", type=FILE)
@option("--model", metavar="NAME", required=True, group="Judge", help="The model to ask.")
@option(
    "--base-url",
    metavar="URL",
    default=OPENAI,
    show_default=True,
    group="Judge",
    help="An address of the chat completions protocol. The key comes from BENCHWRIGHT_JUDGE_KEY; "
    "at the default address also from OPENAI_API_KEY.",
)
@parameter_option(recipes.CONCURRENCY, group="Judge", default=16)
@parameter_option(recipes.REQUESTS_PER_MINUTE, group="Judge", metavar="N")
@parameter_option(recipes.TIMEOUT_SECONDS, group="Judge", metavar="SECONDS", default=120)
@parameter_option(recipes.MAX_ATTEMPTS, group="Judge", default=5)
@option(
    "--max-tokens",
    type=click.IntRange(1),
    metavar="N",
    group="Judge",
    help="The longest answer; an answer cut there is an error of its case.",
)
@parameter_option(recipes.PRICE_IN, group="Judge", metavar="PRICE")
@parameter_option(recipes.PRICE_OUT, group="Judge", metavar="PRICE")
@parameter_option(recipes.THRESHOLD, group="Score")
@option("--strict", is_flag=True, group="Score", help="Threshold 1; every lower score is 0.")
@option(
    "--no-reasons",
    "no_reason",
    old=("--no-reason",),
    is_flag=True,
    group="Score",
    help="Save the second call of each case.",
)
@option(
    "--images",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    group="Images",
    help="""Folder of what cases name as {"image": "file.png"}; without it no file is read.""",
)
@option(
    "--remote-images",
    type=click.Choice(REMOTE),
    default="pass",
    show_default=True,
    group="Images",
    help="""{"url": …}: pass the address on to the judge, fetch the image from it (from public """
    "machines only), or make it an error of the case.",
)
@written_option(
    "--cache",
    group="Output",
    help="Keep outcomes there and ask nothing twice; made where it is not there.",
)
@written_option(
    "-o",
    "--output",
    group="Output",
    help="Write every outcome as a JSON line, as it comes: verdicts, reasons, raw answers.",
)
@format_option(("table", "json"), help="table rounds; json holds every digit, and every case.")
@click.pass_context
def command(ctx: click.Context, /, cases: Path, **chosen: Any) -> None:
    """Ask a judge which nodes helped, for every case of CASES (JSON lines).

    A case has an input, an expected_output and a retrieval_context: a list of nodes, the best
    first, each a text, an image, or a list of both. The judge says of each node whether it helps to
    reach the expected output; the score is 1 where every helpful node stands before every other.
    Ends with 1 only where a case could not be judged, not where scores are low.
    """
    from benchwright.cli.systems.asked_output import judge_of
    from benchwright.cli.systems.contextual_output import show, warn
    from benchwright.contextual.cases import read_cases

    read = read_cases(cases, images=chosen["images"])
    warn(read.warnings)
    judge = judge_of(chosen["model"], chosen["base_url"], chosen, max_tokens=chosen["max_tokens"])
    outcomes = _judged(read.cases, judge, _options(chosen), chosen)
    show(outcomes, model=chosen["model"], form=chosen["form"])
    if any(outcome.error for outcome in outcomes):
        ctx.exit(1)


def _options(chosen: dict[str, Any]) -> "Options":
    from benchwright.contextual.types import Options

    return Options(
        threshold=chosen["threshold"],
        include_reason=not chosen["no_reason"],
        strict_mode=chosen["strict"],
        remote_images=chosen["remote_images"],
    )


def _judged(
    cases: "Sequence[Case]", judge: "OpenAIJudge", options: "Options", chosen: dict[str, Any]
) -> "list[Outcome]":
    """Outcomes in the order of the cases; each is written as it comes, so none is lost."""
    from benchwright.cli.systems.asked_output import collected
    from benchwright.cli.systems.contextual_output import Progress, Writer
    from benchwright.contextual.judging import outcomes_of
    from benchwright.contextual.serial import FileCache

    place = {case.id: number for number, case in enumerate(cases)}
    path = chosen["cache"]
    with FileCache(path) if path else nullcontext() as cache, Writer(chosen["output"]) as writer:
        coming = outcomes_of(cases, judge, options, concurrency=chosen["concurrency"], cache=cache)
        outcomes = collected(coming, writer, Progress(len(cases)))
    return sorted(outcomes, key=lambda outcome: place[outcome.case_id])

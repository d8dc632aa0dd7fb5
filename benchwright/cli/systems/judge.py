"""`benchwright judge`: grades of pairs by a judge model."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.doors import Door
from benchwright.cli.main import Command, option
from benchwright.cli.options import file_option, format_option, written_option
from benchwright.cli.parameters import FILE, parameter_option, text_of
from benchwright.cli.site_doors import judging
from benchwright.recipes import contextual as asking
from benchwright.recipes import judging as recipes

if TYPE_CHECKING:
    from benchwright.grading.caching import GradeCache
    from benchwright.grading.prompts import GradingPrompt
    from benchwright.grading.types import Graded, Pair
    from benchwright.judges.client import OpenAIJudge

OPENAI = "https://api.openai.com/v1"
VERSIONED = "/v1/"
EXAMPLES = (
    "benchwright judge pairs.jsonl --judge gpt-4o --cache graded.jsonl --qrels machine.qrels",
    "benchwright judge pairs.jsonl --judge http://127.0.0.1:11434/v1/llama3.1 -o gradings.jsonl",
    "benchwright judge pairs.jsonl --judge gpt-4o --guideline guideline.md --scale scale.txt",
    "benchwright judge pairs.jsonl --judge gpt-4o --price-in 2.5 --price-out 10 --dry-run",
    "benchwright --benchmark help-pages judge 'depth 10' --judge gpt --documents sample",
)


@click.command(
    cls=Command,
    name="judge",
    examples=EXAMPLES,
    door=Door(
        judging.__name__,
        keeps=judging.JUDGE_KEPT,
        also=judging.JUDGE_THERE,
        function="judge_on_site",
    ),
    short_help="Grades of queries with documents, by a judge model.",
)
@click.argument("pairs", type=FILE)
@option(
    "--judge",
    metavar="[URL/]MODEL",
    required=True,
    group="Judge",
    help="The model to ask, after the address where it is (of the chat completions protocol; "
    f"without one {OPENAI}). The key comes from BENCHWRIGHT_JUDGE_KEY; at that address also from "
    "OPENAI_API_KEY.",
)
@parameter_option(asking.CONCURRENCY, group="Judge", default=16)
@parameter_option(asking.REQUESTS_PER_MINUTE, group="Judge", metavar="N")
@parameter_option(asking.TIMEOUT_SECONDS, group="Judge", metavar="SECONDS", default=120)
@parameter_option(asking.MAX_ATTEMPTS, group="Judge", default=5)
@parameter_option(asking.PRICE_IN, group="Judge", metavar="PRICE")
@parameter_option(asking.PRICE_OUT, group="Judge", metavar="PRICE")
@parameter_option(asking.COST_CAP, group="Judge", metavar="COST")
@parameter_option(recipes.ANSWER_SEED, group="Judge", metavar="N")
@option(
    "--probabilities",
    is_flag=True,
    group="Judge",
    help="Ask how sure the judge is of each grade, where the endpoint tells.",
)
@file_option(
    "--scale",
    group="Prompt",
    help="Grades, a line each: '2 = Helpful: answers a part *'.  [default: UMBRELA's four, 0 to 3]",
)
@file_option("--guideline", group="Prompt", help="What assessors are told, as a text.")
@file_option(
    "--template",
    group="Prompt",
    help="The whole question in your words, with the slots {query} and {document}, and where "
    "wanted {description}, {guideline} and {scale}; {{ is a brace.",
)
@parameter_option(recipes.MAX_CHARACTERS, group="Prompt", metavar="N")
@option(
    "--images",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    group="Prompt",
    help="""Folder of what pairs name as {"image": "file.png"}; without it no file is read.""",
)
@written_option(
    "--cache",
    group="Output",
    help="Keep grades there and ask nothing twice, also after a crash; made where it is not there.",
)
@written_option(
    "-o",
    "--output",
    group="Output",
    help="Write every grading as a JSON line, as it comes: grade, reason, raw answers, costs.",
)
@written_option("--qrels", group="Output", help="Write the grades as TREC qrels: the machine's.")
@option("--dry-run", is_flag=True, group="Output", help="Say what it would take, and ask nobody.")
@format_option(("table", "json"), help="table counts grades; json holds every grading.")
@click.pass_context
def command(ctx: click.Context, /, pairs: Path, **chosen: Any) -> None:
    """Have a judge grade every pair of PAIRS (JSON lines with query and document).

    A pair may have query_id, document_id and a description of what the query wants; query and
    document are a text, an image, or a list of both. The prompt is built of guideline and scale, or
    is a template of your own. An answer off the scale is asked for once more and then is an error
    of that pair. These are a machine's grades: hold them against people's with benchwright
    calibrate before anything rests on them. Ends with 1 where a pair could not be graded.
    """
    from benchwright.cli.systems.judge_output import show, show_estimate, write_qrels
    from benchwright.grading.estimating import estimated
    from benchwright.grading.pairs import read_pairs

    listed = read_pairs(pairs, images=chosen["images"])
    prompt, judge = _prompt(chosen), _judge(chosen)
    if chosen["qrels"]:
        _refuse_spaces(listed)
    if chosen["dry_run"]:
        cache_path = chosen["cache"]
        with _cache(cache_path if cache_path and cache_path.exists() else None) as cache:
            estimate = estimated(listed, judge, prompt, cache=cache)
        show_estimate(estimate, form=chosen["form"])
        return
    gradings = _graded(listed, judge, prompt, chosen)
    if chosen["qrels"]:
        write_qrels(gradings, chosen["qrels"])
    show(gradings, prompt, n_pairs=len(listed), model=judge.model, form=chosen["form"])
    if len(gradings) < len(listed) or any(grading.error for grading in gradings):
        ctx.exit(1)


def _refuse_spaces(pairs: "Sequence[Pair]") -> None:
    """Qrels part their columns by white space: said before anybody is asked."""
    for pair in pairs:
        for name in (pair.query_id, pair.document_id):
            if len(name.split()) != 1:
                message = f"--qrels: the id '{name}' has a space, which qrels cannot hold. "
                message += "Change it, or take -o for JSON lines."
                raise click.UsageError(message)


def _judge(chosen: dict[str, Any]) -> "OpenAIJudge":
    from benchwright.cli.systems.asked_output import judge_of

    address, model = address_and_model(chosen["judge"])
    settings = {"seed": chosen["answer_seed"], "has_probabilities": chosen["probabilities"]}
    return judge_of(model, address, chosen, **settings)


def address_and_model(judge: str) -> tuple[str, str]:
    """Where a judge is and what it is called: the model follows /v1/, or else the last slash.

    >>> address_and_model("http://127.0.0.1:8000/v1/meta/llama-3")
    ('http://127.0.0.1:8000/v1', 'meta/llama-3')
    >>> address_and_model("https://example.org/api/judge"), address_and_model("meta/llama-3")[1]
    (('https://example.org/api', 'judge'), 'meta/llama-3')
    """
    if not judge.startswith(("http://", "https://")):
        return OPENAI, judge
    if VERSIONED in judge:
        address, _, model = judge.partition(VERSIONED)
        return f"{address}{VERSIONED.rstrip('/')}", model
    address, _, model = judge.rpartition("/")
    return address, model


def _prompt(chosen: dict[str, Any]) -> "GradingPrompt":
    from benchwright.grading.prompts import UMBRELA, GradingPrompt
    from benchwright.grading.types import UMBRELA_SCALE, Grade
    from benchwright.qrels.scales import parse_scale

    scale: tuple[Grade, ...] = UMBRELA_SCALE
    if chosen["scale"]:
        grades = parse_scale(text_of(chosen["scale"]))
        scale = tuple(Grade(grade["value"], grade["name"], grade["anchor"]) for grade in grades)
    return GradingPrompt(
        scale,
        guideline=text_of(chosen["guideline"]) if chosen["guideline"] else "",
        template=text_of(chosen["template"]) if chosen["template"] else UMBRELA,
        max_characters=chosen["max_characters"],
    )


def _graded(
    pairs: "Sequence[Pair]", judge: "OpenAIJudge", prompt: "GradingPrompt", chosen: dict[str, Any]
) -> "list[Graded]":
    """Gradings in the order of the pairs; each is written as it comes, so none is lost."""
    from benchwright.cli.systems.asked_output import collected
    from benchwright.cli.systems.judge_output import Progress, Writer
    from benchwright.grading.looping import Budget, gradings_of

    place = {(pair.query_id, pair.document_id): number for number, pair in enumerate(pairs)}
    with _cache(chosen["cache"]) as cache, Writer(chosen["output"]) as writer:
        coming = gradings_of(
            pairs,
            judge,
            prompt,
            concurrency=chosen["concurrency"],
            cache=cache,
            budget=Budget(chosen["cost_cap"]),
        )
        gradings = collected(coming, writer, Progress(len(pairs)))
    return sorted(gradings, key=lambda grading: place[grading.query_id, grading.document_id])


def _cache(path: Path | None) -> "AbstractContextManager[GradeCache | None]":
    from benchwright.grading.caching import GradeCache

    return GradeCache(path) if path else nullcontext()

"""What `benchwright judge` shows: progress, a table, JSON; and the files it writes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.answers import say_json
from benchwright.cli.systems.asked_output import AskedProgress, LineWriter
from benchwright.cli.tables import Table, say, share, show_table
from benchwright.grading.caching import grading_as_json
from benchwright.texts.counting import counted

if TYPE_CHECKING:
    from benchwright.grading.estimating import Estimate
    from benchwright.grading.prompts import GradingPrompt
    from benchwright.grading.types import Graded

MOST_TOLD = 10


class Progress(AskedProgress):
    """How many pairs are graded, on a terminal's standard error."""

    doing = "Grading"

    def add(self, grading: "Graded") -> None:
        self.count(is_failed=grading.error is not None, paid=grading.paid)


class Writer(LineWriter):
    """Gradings as JSON lines into a file, each at once; into nothing without a path."""

    def add(self, grading: "Graded") -> None:
        self.write(grading_as_json(grading))


def write_qrels(gradings: "Sequence[Graded]", path: Path) -> None:
    """The grades as TREC qrels; pairs without one are left out."""
    lines = [
        f"{grading.query_id} 0 {grading.document_id} {grading.grade}\n"
        for grading in gradings
        if grading.grade is not None
    ]
    path.write_text("".join(lines), "utf-8", newline="\n")


def show(
    gradings: "Sequence[Graded]", prompt: "GradingPrompt", *, n_pairs: int, model: str, form: str
) -> None:
    """Print how often each grade was given; errors and costs go to standard error beside it."""
    counts = Counter(grading.grade for grading in gradings if grading.grade is not None)
    if form == "json":
        say_json(_as_json(gradings, prompt, counts, n_pairs, model))
        return
    total = sum(counts.values())
    rows = [
        [
            f"{grade.value} {grade.name}",
            f"{counts[grade.value]:,}",
            _share(counts[grade.value], total),
        ]
        for grade in sorted(prompt.scale, key=lambda grade: grade.value)
    ]
    show_table(Table(("grade", "pairs", "share"), rows))
    failed = [grading for grading in gradings if grading.error]
    for grading in failed[:MOST_TOLD]:
        why = grading.error.message if grading.error else ""
        click.echo(f"{grading.query_id} {grading.document_id}: {why}", err=True)
    if len(failed) > MOST_TOLD:
        click.echo(f"… and {len(failed) - MOST_TOLD} more failed (--output has all).", err=True)
    if len(gradings) < n_pairs:
        n_left = n_pairs - len(gradings)
        click.echo(
            f"{n_left:,} pairs were not begun. With --cache the same command goes on with them.",
            err=True,
        )
    click.echo(_costs(gradings, prompt), err=True)


def show_estimate(estimate: "Estimate", *, form: str) -> None:
    """Print what grading would take."""
    if form == "json":
        say_json({**asdict(estimate), "n_asked": estimate.n_asked})
        return
    cost = "unknown: give --price-in and --price-out"
    if estimate.cost is not None:
        cost = f"{estimate.cost:.4f}"
    pairs = counted(estimate.n_pairs, "pair")
    say(f"{pairs}, {estimate.n_known:,} of them known or equal to others.")
    say(f"{counted(estimate.n_asked, 'question')}: about {estimate.tokens_in:,} tokens sent,")
    say(f"{estimate.tokens_out:,} answered. Cost: {cost}. Models differ by a third and more.")


def _share(n: int, total: int) -> str:
    return share(n / total) if total else "-"


def _costs(gradings: "Sequence[Graded]", prompt: "GradingPrompt") -> str:
    fresh = [grading for grading in gradings if not grading.is_cached]
    parts = [f"{sum(grading.n_requests for grading in fresh):,} requests"]
    tokens_in = [grading.tokens_in for grading in fresh if grading.tokens_in is not None]
    answered = [grading.tokens_out for grading in fresh if grading.tokens_out is not None]
    if tokens_in:
        parts.append(f"{sum(tokens_in):,} tokens sent, {sum(answered):,} answered")
    if any(grading.cost is not None for grading in fresh):
        parts.append(f"cost {sum(grading.paid for grading in fresh):.4f}")
    if len(fresh) < len(gradings):
        parts.append(f"{len(gradings) - len(fresh):,} pairs from the cache or asked once")
    return f"{'; '.join(parts)}. Prompt {prompt.hash[:12]}."


def _as_json(
    gradings: "Sequence[Graded]",
    prompt: "GradingPrompt",
    counts: "Counter[int]",
    n_pairs: int,
    model: str,
) -> dict[str, Any]:
    return {
        "model": model,
        "prompt_hash": prompt.hash,
        "prompt": prompt.text,
        "n_pairs": n_pairs,
        "n_failed": sum(grading.error is not None for grading in gradings),
        "counts": {str(grade): counts[grade] for grade in prompt.grades},
        "cost": sum(grading.paid for grading in gradings),
        "gradings": [grading_as_json(grading) for grading in gradings],
    }

"""What `benchwright contextual` shows: progress, a table, JSON; and the file of outcomes."""

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.answers import say_json
from benchwright.cli.systems.asked_output import AskedProgress, LineWriter
from benchwright.cli.tables import Table, number, share, show_table
from benchwright.contextual.serial import outcome_as_json
from benchwright.contextual.summary import Row, Summary, summarised

if TYPE_CHECKING:
    from benchwright.contextual.types import Outcome
    from benchwright.errors import Problem

MOST_TOLD = 10
COLUMNS = ("cases", "n", "failed", "contextual precision", "success")


def warn(warnings: "Sequence[Problem]") -> None:
    """Say what is odd about the file of cases."""
    for warning in warnings[:MOST_TOLD]:
        click.echo(f"Note: {warning}", err=True)
    if len(warnings) > MOST_TOLD:
        click.echo(f"Note: … and {len(warnings) - MOST_TOLD} more of these.", err=True)


class Progress(AskedProgress):
    """How many cases are done, on a terminal's standard error."""

    doing = "Judging"

    def add(self, outcome: "Outcome") -> None:
        paid = 0.0 if outcome.is_cached else outcome.cost or 0.0
        self.count(is_failed=outcome.error is not None, paid=paid)


class Writer(LineWriter):
    """Outcomes as JSON lines into a file, each at once; into nothing without a path."""

    def add(self, outcome: "Outcome") -> None:
        self.write(outcome_as_json(outcome))


def show(outcomes: "Sequence[Outcome]", *, model: str, form: str) -> None:
    """Print what the outcomes come to; errors and costs go to standard error beside a table."""
    summary = summarised(outcomes)
    if form == "json":
        _print_json(outcomes, summary, model)
        return
    show_table(Table(COLUMNS, [_cells(row) for row in summary.rows]))
    _tell_rest(outcomes, summary)


def _cells(row: Row) -> list[str]:
    counts = [row.name, str(row.n_cases), str(row.n_failed)]
    return [*counts, number(row.mean), share(row.success)]


def _tell_rest(outcomes: "Sequence[Outcome]", summary: Summary) -> None:
    failed = [outcome for outcome in outcomes if outcome.error]
    for outcome in failed[:MOST_TOLD]:
        why = outcome.error.message if outcome.error else ""
        click.echo(f"{outcome.case_id}: {why}", err=True)
    if len(failed) > MOST_TOLD:
        click.echo(f"… and {len(failed) - MOST_TOLD} more failed (--output has all).", err=True)
    n_unexplained = sum(outcome.reason_error is not None for outcome in outcomes)
    if n_unexplained:
        click.echo(f"{n_unexplained} with a score, but without the reason asked for.", err=True)
    click.echo(_costs(summary), err=True)


def _costs(summary: Summary) -> str:
    parts = [f"{summary.n_requests:,} requests"]
    if summary.tokens_in is not None:
        parts.append(f"{summary.tokens_in:,} tokens sent, {summary.tokens_out or 0:,} answered")
    if summary.cost is not None:
        parts.append(f"cost {summary.cost:.4f}")
    if summary.n_cached:
        parts.append(f"{summary.n_cached:,} cases from the cache")
    return f"{'; '.join(parts)}."


def _print_json(outcomes: "Sequence[Outcome]", summary: Summary, model: str) -> None:
    body = {
        "model": model,
        "rows": [_row_as_json(row) for row in summary.rows],
        "n_cached": summary.n_cached,
        "n_requests": summary.n_requests,
        "tokens_in": summary.tokens_in,
        "tokens_out": summary.tokens_out,
        "cost": summary.cost,
        "cases": [outcome_as_json(outcome) for outcome in outcomes],
    }
    say_json(body)


def _row_as_json(row: Row) -> dict[str, Any]:
    return {
        "cases": row.name,
        "n": row.n_cases,
        "n_failed": row.n_failed,
        "contextual_precision": None if isnan(row.mean) else row.mean,
        "success": None if isnan(row.success) else row.success,
    }

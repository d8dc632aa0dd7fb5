"""What `benchwright ask` says while it asks, and what it leaves: the run, times, notes."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchwright.cli.answers import say_json
from benchwright.cli.files import is_stream, written
from benchwright.texts.counting import counted

if TYPE_CHECKING:
    from benchwright.live.writing import Noticed

CLEAR_LINE = "\r\x1b[K"


class Progress:
    """How far the asking is; `answers_path` is None where no answer outlives the command.

    Called with how many queries are answered and failed, the first time before any is asked.
    """

    def __init__(self, n_queries: int, answers_path: Path | None) -> None:
        self._n = n_queries
        self._kept = answers_path
        self._n_answered: int | None = None

    def __call__(self, n_answered: int, n_failed: int) -> None:
        if self._n_answered is None and n_answered:
            click.echo(
                f"note: {n_answered:,} of {self._n:,} queries were answered before, in "
                f"{self._kept}; the others are asked. --fresh asks all again",
                err=True,
            )
        self._n_answered = n_answered
        if sys.stderr.isatty():
            self._show(n_answered + n_failed, n_failed)

    def _show(self, n_done: int, n_failed: int) -> None:
        more = f", {n_failed:,} failed" if n_failed else ""
        end = CLEAR_LINE if n_done == self._n else ""
        sys.stderr.write(f"{CLEAR_LINE}{n_done:,} of {self._n:,} queries{more}{end}")
        sys.stderr.flush()

    def tell_stopped(self) -> None:
        """Say how to go on, to who has stopped it."""
        clear = CLEAR_LINE if sys.stderr.isatty() else ""
        text = f"{clear}{self._n_answered or 0:,} of {self._n:,} queries were answered"
        if self._kept is None:
            click.echo(f"{text}. Nothing is kept: that takes a file, as -o FILE.", err=True)
        else:
            click.echo(
                f"{text}; they are kept in {self._kept}. The same command goes on from there, and "
                "starts over with --fresh.",
                err=True,
            )


def kept_beside(output: Path | None) -> Path | None:
    """The file of answers beside a run; None where the output is no file to go on with."""
    if output is None or is_stream(output):
        return None
    return output.with_name(f"{output.name}.answers.jsonl")


def write_run(lines: Iterable[bytes], output: Path | None) -> None:
    with written(output) as stream:
        stream.writelines(lines)


def write_latencies(times: Mapping[str, float], path: Path) -> None:
    with written(path) as stream:
        stream.write(b"query\tms\n")
        stream.writelines(f"{qid}\t{ms:.3f}\n".encode() for qid, ms in times.items())


def report(noticed: "Noticed", answers_path: Path | None, run: Path | None) -> None:
    """Say how it went: times, what is odd about the answers, and which queries failed.

    Where the `run` is named, it is said as JSON, too.
    """
    from benchwright.evaluation.latency import latency_summary, told_ms

    summary = latency_summary(noticed.times.values())
    if run is not None:
        milliseconds = asdict(summary) if summary else None
        failed = [{"query": query.qid, "why": query.why} for query in noticed.failed]
        facts = {"file": str(run), **_counts(noticed)}
        say_json({**facts, "milliseconds": milliseconds, "failed": failed})
    if summary:
        click.echo(
            f"{summary.n:,} of {counted(noticed.n_asked, 'query')} answered: "
            f"p50 {told_ms(summary.p50)}, p95 {told_ms(summary.p95)}, "
            f"slowest {told_ms(summary.longest)}",
            err=True,
        )
    for note in _oddities(noticed):
        click.echo(f"note: {note}", err=True)
    for query in noticed.failed:
        click.echo(f"failed: query '{query.qid}': {query.why}", err=True)
    if noticed.failed and answers_path:
        click.echo(
            f"note: the answers are kept in {answers_path}: the same command asks the failed "
            "queries again. Remove it if they may stay as they are",
            err=True,
        )


def _counts(noticed: "Noticed") -> dict[str, int]:
    return {
        "n_asked": noticed.n_asked,
        "n_answered": len(noticed.times),
        "n_rows": noticed.n_rows,
        "n_empty": noticed.n_empty,
        "n_repeated": noticed.n_repeated,
        "n_unordered": noticed.n_unordered,
    }


def _oddities(noticed: "Noticed") -> Iterator[str]:
    if noticed.n_empty:
        yield f"{noticed.n_empty:,} answered with an empty list"
    if noticed.n_repeated:
        yield f"{counted(noticed.n_repeated, 'document')} given twice; the first place counts"
    if noticed.n_unordered:
        its = "its" if noticed.n_unordered == 1 else "their"
        yield f"{counted(noticed.n_unordered, 'answer')} not in the order of {its} scores"

"""`benchwright job`: work of a site in the background, looked at, waited for, ended, begun anew."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, SiteCommand, notes_of

EXAMPLES = (
    "benchwright --site https://bench.example job 1234",
    "benchwright job 1234 --wait --json",
    "benchwright job 1234 --cancel",
)
ENDED_BADLY = ("failed", "cancelled")


@click.command(
    cls=SiteCommand,
    name="job",
    examples=EXAMPLES,
    is_of_benchmark=False,
    short_help="Look at, wait for, cancel or retry a job of a site.",
)
@click.argument("number", type=click.IntRange(1))
@option("--wait", is_flag=True, group="Job", help="Wait until it is at its end.")
@option("--cancel", is_flag=True, group="Job", help="End it; nothing of it is kept.")
@option("--retry", is_flag=True, group="Job", help="Queue it again, after it failed.")
def command(asked: Asked, number: int, wait: bool, cancel: bool, retry: bool) -> None:
    """Say how far the job NUMBER is, and what came of it; `list jobs` has their numbers.

    Ends with 1 where it has failed or was cancelled. What is wrong of a file is told by its line.
    """
    if cancel and (wait or retry):
        text = "--cancel ends the job. Leave --wait and --retry out."
        raise click.UsageError(text)
    if cancel or retry:
        asked.client.ask("POST", f"jobs/{number}/{'cancel' if cancel else 'retry'}/")
    job = asked.client.job(number)
    if wait:
        job = asked.done(job)
    asked.say(job, job_lines(job))
    if job["state"] in ENDED_BADLY and not cancel:
        raise click.exceptions.Exit(1)


def is_job(answer: Mapping[str, Any]) -> bool:
    """Whether an answer of the API is a job."""
    return set(answer) >= {"kind", "title", "problems", "state"}


def job_lines(job: Mapping[str, Any]) -> Iterator[str]:
    """How far a job is and what came of it, for people."""
    share = f", {job['done'] / job['total']:.0%}" if job["total"] else ""
    remark = job["error"] or (job["message"] if job["state"] != "done" else "")
    yield f"{job['title']} ({job['id']}): {job['state']}{share}{f': {remark}' if remark else ''}"
    from benchwright.client import Problem

    yield from (str(Problem.of(problem)) for problem in job["problems"])
    result = job["result"] or {}
    yield from result.get("made", ())
    yield from notes_of(result)

"""What the commands of this app share."""

from django.core.management.base import CommandError

from benchmarks_app.models import Benchmark, Job, Release
from scoring.scores.selectors.releases import newest_release, release_of_version


def release_of(benchmark: Benchmark, version: str | None) -> Release:
    """The published release of a version, the newest where none is named."""
    found = release_of_version(benchmark, version) if version else newest_release(benchmark)
    if found is None:
        reason = f"'{benchmark.slug}' has no published release {version or 'yet'}."
        raise CommandError(reason)
    return found


def refuse_failed(job: Job) -> None:
    """End the command with what went wrong, if anything did."""
    if job.state != Job.State.DONE:
        raise CommandError("\n".join([job.error, *map(_told, job.problems)]))


def _told(problem: dict[str, str]) -> str:
    place = f"{problem['file']}:{problem['line']}" if problem["line"] else problem["file"]
    return f"{place}: {problem['text']}"

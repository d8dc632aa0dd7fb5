"""What the commands of this app share."""

from django.core.management.base import CommandError

from benchmarks_app.models import Benchmark, Release
from scoring.scores.selectors.releases import newest_release, release_of_version


def release_of(benchmark: Benchmark, version: str | None) -> Release:
    """The published release of a version, the newest where none is named."""
    release = release_of_version(benchmark, version) if version else newest_release(benchmark)
    if release is None:
        reason = f"'{benchmark.slug}' has no published release {version or 'yet'}."
        raise CommandError(reason)
    return release

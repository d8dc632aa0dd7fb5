"""The release and the runs that a request names."""

from collections.abc import Iterable
from typing import Any

from rest_framework.exceptions import ValidationError

from benchmarks_app.common.selectors.naming import names_in
from benchmarks_app.models import Benchmark, Release, Run
from scoring.scores.selectors.rankings import runs_named
from scoring.scores.selectors.releases import newest_release, release_of_version


def release_named(benchmark: Benchmark, version: str) -> Release:
    """The release that is named, the newest unless one is; 400 where there is none."""
    if not version:
        release = newest_release(benchmark)
        message = "Nothing is published yet: publish a release first."
    else:
        release = release_of_version(benchmark, version)
        message = f"There is no published release {version}. Name one of its versions, as 1.0.0."
    if release is None:
        raise ValidationError({"release": [message]})
    return release


def runs_asked(benchmark: Benchmark, user: Any, texts: Iterable[str], *, most: int) -> list[Run]:
    """The runs that are named, 400 where one is unknown, none is named, or too many are."""
    visible = Run.objects.visible_to(user).filter(benchmark=benchmark)
    names = [name for text in texts for name in names_in(text, visible)]
    runs = runs_named(benchmark, user, names)
    matched = {str(run.pk) for run in runs} | {run.name for run in runs}
    unknown = [name for name in names if name not in matched]
    if unknown:
        message = f"There is no run {', '.join(unknown)}. Name runs by their names or ids."
    elif not runs:
        message = "Name one run, or several, separated by commas."
    elif len(runs) > most:
        message = f"{len(runs)} runs; at most {most} are gone through at once."
    else:
        return runs
    raise ValidationError({"runs": [message]})

"""The release and the runs that a request names."""

from typing import Any

from rest_framework.exceptions import ValidationError

from benchmarks_app.models import Benchmark, Release, Run
from scoring.scores.selectors.rankings import runs_named
from scoring.scores.selectors.releases import newest_release, release_of_version


def release_named(benchmark: Benchmark, version: str) -> Release:
    """The release that is named, the newest unless one is; 400 where there is none."""
    if not version:
        found = newest_release(benchmark)
        said = "Nothing is published yet: publish a release first."
    else:
        found = release_of_version(benchmark, version)
        said = f"There is no published release {version}. Name one of its versions, as 1.0.0."
    if found is None:
        raise ValidationError({"release": [said]})
    return found


def runs_asked(benchmark: Benchmark, user: Any, text: str, *, most: int) -> list[Run]:
    """The runs that are named, 400 where one is unknown, none is named, or too many are."""
    asked = [part.strip() for part in text.split(",") if part.strip()]
    found = runs_named(benchmark, user, text)
    known = {str(run.pk) for run in found} | {run.name for run in found}
    unknown = [part for part in asked if part not in known]
    if unknown:
        said = f"There is no run {', '.join(unknown)}. Name runs by their names or ids."
    elif not found:
        said = "Name one run, or several, separated by commas."
    elif len(found) > most:
        said = f"{len(found)} runs; at most {most} are gone through at once."
    else:
        return found
    raise ValidationError({"runs": [said]})

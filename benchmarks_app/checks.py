"""Settings that cannot be used, where only what is loaded tells: they stop `up` and `check`."""

import os
from typing import Any

from django.conf import settings
from django.core.checks import Error, register

from benchmarks_app.jobs.services import jobs


@register
def limits_are_of_jobs(**_: Any) -> list[Error]:
    """Limits of kinds that no job has: the one that was meant would have none."""
    jobs.load_handlers()
    limits = {name: getattr(settings, name) for name in ("JOB_TIME_LIMITS", "JOB_MEMORY_LIMITS")}
    hint = f"There are {', '.join(sorted(jobs.HANDLERS))}, and *."
    return [
        Error(f"{name} has '{kind}', which is no kind of job.", hint)
        for name, kinds in limits.items()
        for kind in kinds
        if kind not in {*jobs.HANDLERS, "*"}
    ]


@register
def regions_are_countries(**_: Any) -> list[Error]:
    if "LOG_REGIONS" not in os.environ:
        return []  # what knows the countries is heavy, and `up` would hold it for good
    from benchwright.logs.errors import MaskRegionError
    from benchwright.logs.masking import checked_regions

    try:
        checked_regions(settings.LOG_REGIONS)
    except MaskRegionError as error:
        return [Error(f"LOG_REGIONS: {error}")]
    return []

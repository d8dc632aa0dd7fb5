"""Settings that cannot be used, where only what is loaded tells: they stop `up` and `check`."""

from typing import Any

from django.conf import settings
from django.core.checks import Error, register

from benchmarks_app.jobs.services import jobs


@register
def limits_are_of_jobs(**_: Any) -> list[Error]:
    """Limits of kinds that no job has: the one that was meant would have none."""
    jobs.load_handlers()
    limits = {name: getattr(settings, name) for name in ("JOB_TIME_LIMITS", "JOB_MEMORY_LIMITS")}
    kinds = [(name, kind) for name in limits for kind in limits[name]]
    known = ", ".join(sorted(jobs.HANDLERS))
    return [
        Error(f"{name} has '{kind}', which is no kind of job.", f"There are {known}, and *.")
        for name, kind in kinds
        if kind not in {*jobs.HANDLERS, "*"}
    ]


@register
def regions_are_countries(**_: Any) -> list[Error]:
    from benchwright.logs.errors import MaskRegionError
    from benchwright.logs.masking import checked_regions  # heavy, and of no use to who serves pages

    try:
        checked_regions(settings.LOG_REGIONS)
    except MaskRegionError as error:
        return [Error(f"LOG_REGIONS: {error}")]
    return []

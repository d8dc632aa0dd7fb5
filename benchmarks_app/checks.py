"""Settings that cannot be used, where only what is loaded tells: they stop `up` and `check`."""

import os
from typing import Any

from django.conf import settings
from django.core import mail
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


@register
def jobs_are_heard_of(**_: Any) -> list[Error]:
    """A job that is lost between two signs of life is begun again, and fails in the end."""
    if settings.JOB_HEARTBEAT_SECONDS < settings.JOB_LOST_AFTER_SECONDS:
        return []
    problem = (
        f"JOB_LOST_AFTER_SECONDS is {settings.JOB_LOST_AFTER_SECONDS}, and a job says every "
        f"{settings.JOB_HEARTBEAT_SECONDS} s that it is alive (JOB_HEARTBEAT_SECONDS): each would "
        "be lost."
    )
    return [Error(problem, "Make it several times that.")]


@register
def mail_can_be_sent(**_: Any) -> list[Error]:
    try:
        mail.get_connection()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        hint = (
            "Leave EMAIL_BACKEND out, and set EMAIL_HOST; of EMAIL_USE_TLS and EMAIL_USE_SSL one."
        )
        return [Error(f"EMAIL_BACKEND is {settings.EMAIL_BACKEND!r}: {error}.", hint)]
    return []

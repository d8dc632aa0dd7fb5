"""Opening a release for submissions."""

from django.conf import settings

from benchmarks_app.models import Release
from scoring.models import Phase

OPEN_NAME = "Open submissions"


def open_submissions(*, release: Release) -> Phase:
    """The phase of a published release; made on the first call, the same one afterwards."""
    phase, _ = Phase.objects.get_or_create(
        benchmark=release.benchmark,
        release=release,
        split="test",
        defaults={"name": OPEN_NAME, "daily_limit": settings.SUBMISSIONS_PER_DAY},
    )
    return phase

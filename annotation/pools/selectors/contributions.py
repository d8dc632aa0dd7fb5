"""Who has said how much in a pool."""

from typing import Any

from django.db.models import Count, Max, Q

from annotation.common.selectors.stale import LABEL_KINDS
from annotation.models import Judgment, Pool
from benchmarks_app.models import User


def contributions_to(pool: Pool) -> list[dict[str, Any]]:
    """Most labels first: person, n_labels, n_grades, n_cant_judge, n_extra, last_at."""
    labels = Judgment.objects.wanted().current().filter(pool=pool, kind__in=LABEL_KINDS)
    rows = list(
        labels.order_by()
        .values("actor")
        .annotate(
            n_labels=Count("pk"),
            n_grades=Count("pk", filter=Q(grade__isnull=False)),
            n_cant_judge=Count("pk", filter=Q(kind=Judgment.Kind.CANT_JUDGE)),
            n_extra=Count("pk", filter=Q(is_surplus=True)),
            last_at=Max("created_at"),
        )
        .order_by("-n_labels", "actor")
    )
    people = User.objects.in_bulk([row["actor"] for row in rows])
    return [{**row, "person": str(people[row["actor"]])} for row in rows]

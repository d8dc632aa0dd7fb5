"""Taking back what an unfinished import has staged."""

from django.db import transaction

from benchmarks_app.models import Qrel, QrelSet, Query, QueryFamily


@transaction.atomic
def remove_staged_rows(job_id: int) -> None:
    """Delete the unseen queries, families and qrels of a job; safe to call at any time."""
    sets = QrelSet.objects.filter(staged_by=job_id, state=QrelSet.State.BUILDING)
    Qrel.objects.filter(qrel_set__in=sets).delete()
    sets.delete()
    queries = Query.objects.filter(staged_by=job_id)
    families = list(queries.values_list("family_id", flat=True).distinct())
    queries.delete()
    for start in range(0, len(families), 500):
        some = families[start : start + 500]
        QueryFamily.objects.filter(pk__in=some, queries=None).delete()

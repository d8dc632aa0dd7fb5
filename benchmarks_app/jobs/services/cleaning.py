"""Taking back what an unfinished import has staged."""

from django.db import transaction
from django.db.models import QuerySet

from benchmarks_app.models import Qrel, QrelSet, Query, QueryFamily

ROWS_PER_BATCH = 500


@transaction.atomic
def remove_staged_rows(job_id: int) -> bool:
    """Delete a batch of the unseen queries, families and qrels of a job; true if it was not all.

    Safe to call at any time. A batch, because whoever judges meanwhile waits for the transaction.
    """
    sets = QrelSet.objects.filter(staged_by=job_id, state=QrelSet.State.BUILDING)
    if _delete_batch(Qrel.objects.filter(qrel_set__in=sets)):
        return True
    sets.delete()
    return bool(_delete_queries(job_id))


def _delete_batch(rows: QuerySet) -> int:
    """Delete up to a batch of rows; returns how many there were."""
    keys = list(rows.order_by("pk").values_list("pk", flat=True)[:ROWS_PER_BATCH])
    if keys:
        rows.model.objects.filter(pk__in=keys).delete()
    return len(keys)


def _delete_queries(job_id: int) -> int:
    """Delete up to a batch of queries, and their families where no other query is left in them."""
    queries = Query.objects.filter(staged_by=job_id).order_by("pk")[:ROWS_PER_BATCH]
    families = set(queries.values_list("family_id", flat=True))
    n = _delete_batch(Query.objects.filter(staged_by=job_id))
    QueryFamily.objects.filter(pk__in=families, queries=None).delete()
    return n

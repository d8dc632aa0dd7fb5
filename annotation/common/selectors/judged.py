"""Which documents have labels already, and how many."""

from django.db.models import Count, Max
from django.db.models.functions import Concat

from annotation.models import Judgment
from benchmarks_app.models import Benchmark
from benchwright.pools import Pair


def last_event(benchmark: Benchmark) -> int:
    """The newest event of a benchmark's ledger, 0 without one."""
    return Judgment.objects.filter(benchmark=benchmark).aggregate(last=Max("pk"))["last"] or 0


def judged_pairs(benchmark: Benchmark, as_of: int) -> dict[Pair, int]:
    """{(qid, docid): by how many people it was graded}, as of an event; 0 is before them all.

    Practice, repeats and hidden checks do not count, nor what was taken back by then.
    """
    rows = (
        Judgment.objects.filter(benchmark=benchmark, pk__lte=as_of, grade__isnull=False)
        .wanted()
        .exclude(kind=Judgment.Kind.RETRACT)
        .exclude(superseded_by__pk__lte=as_of)
        .order_by()
        .values_list("query__qid", "docid")
        .annotate(n=Count(Concat("actor", "rater"), distinct=True))
    )
    return {(qid, docid): n for qid, docid, n in rows}

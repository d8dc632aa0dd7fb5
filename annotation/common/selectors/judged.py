"""Which documents have labels already, and how many."""

from django.db.models import Count, Max
from django.db.models.functions import Concat

from annotation.models import Judgment
from annotation.models.judgments import JudgmentQuerySet
from benchmarks_app.models import Benchmark
from benchwright.pools import Pair


def last_event(benchmark: Benchmark) -> int:
    """The newest event of a benchmark's ledger, 0 without one."""
    return Judgment.objects.filter(benchmark=benchmark).aggregate(last=Max("pk"))["last"] or 0


def _labels(benchmark: Benchmark, as_of: int) -> JudgmentQuerySet:
    """People's grades as of an event; 0 is before them all.

    Practice, repeats and hidden checks do not count, nor what was taken back by then.
    """
    labels = Judgment.objects.filter(benchmark=benchmark, pk__lte=as_of, grade__isnull=False)
    wanted_labels = labels.wanted().exclude(kind=Judgment.Kind.RETRACT)
    return wanted_labels.exclude(superseded_by__pk__lte=as_of).order_by()


def judged_pairs(benchmark: Benchmark, as_of: int) -> dict[Pair, int]:
    """{(qid, docid): by how many people it was graded}, as of an event."""
    pairs = _labels(benchmark, as_of).values_list("query__qid", "docid")
    rows = pairs.annotate(n=Count(Concat("actor", "rater"), distinct=True))
    return {(qid, docid): n for qid, docid, n in rows}


def queries_with_labels(benchmark: Benchmark, as_of: int) -> set[str]:
    """The queries of which people graded a document, as of an event."""
    return set(_labels(benchmark, as_of).values_list("query__qid", flat=True).distinct())


def newest_grades(benchmark: Benchmark, as_of: int) -> dict[str, dict[str, int]]:
    """{query: {document: the newest of people's grades}}, as of an event."""
    grades: dict[str, dict[str, int]] = {}
    rows = _labels(benchmark, as_of).order_by("pk").values_list("query__qid", "docid", "grade")
    for qid, docid, grade in rows:
        grades.setdefault(qid, {})[docid] = grade
    return grades

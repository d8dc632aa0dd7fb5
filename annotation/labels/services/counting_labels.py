"""What a new snapshot of a corpus asks of the ledger: which documents have labels, how many."""

from collections.abc import Iterable

from django.db.models import QuerySet

from annotation.common.selectors.stale import LABEL_KINDS
from annotation.models import Judgment
from benchmarks_app.models import Benchmark
from benchwright.files.external_sort import batched

IDS_PER_QUERY = 500


def labelled_documents(benchmark: Benchmark) -> Iterable[str]:
    """The ids that have a label of this benchmark that counts."""
    return _labels(benchmark).values_list("docid", flat=True).distinct().iterator(10_000)


def n_labels_of(benchmark: Benchmark, docids: Iterable[str]) -> int:
    """How many labels of this benchmark are of these documents."""
    labels = _labels(benchmark)
    return sum(
        labels.filter(docid__in=some).count() for some in batched(sorted(docids), IDS_PER_QUERY)
    )


def _labels(benchmark: Benchmark) -> QuerySet[Judgment]:
    current = Judgment.objects.wanted().current()
    return current.filter(benchmark=benchmark, kind__in=LABEL_KINDS).order_by()

"""What the ledger tells of labels beyond their grades: the text that was read, when, how fast."""

from collections.abc import Iterable, Iterator
from statistics import median

from django.db.models import QuerySet

from annotation.models import Judgment
from benchmarks_app.label_facts import LABELS, LabelRecord, Labels, records_labels, tells_pace
from benchmarks_app.models import Benchmark, QrelSet
from benchwright.files.external_sort import batched

# A pace is that of the newest labels; fewer than some say nothing, and an hour was a break.
TIMED, FEWEST_TIMED, LONGEST_MS = 500, 20, 3_600_000
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
    return current.filter(benchmark=benchmark, kind__in=Judgment.LABELS).order_by()


# What a new snapshot of a corpus asks of the ledger: which documents have labels, how many.
LABELS.append(Labels(docids=labelled_documents, count=n_labels_of))


@records_labels
def read_texts(qrel_set: QrelSet) -> Iterator[LabelRecord]:
    """The newest label of each pair as of the set's event, with the text that was read last.

    Who settles a disagreement has not always opened the document: then its readers' text counts.
    """
    if qrel_set.as_of_event is None:
        return
    rows = (
        Judgment.objects.filter(
            benchmark=qrel_set.benchmark_id, pk__lte=qrel_set.as_of_event, grade__isnull=False
        )
        .wanted()
        .exclude(kind=Judgment.Kind.RETRACT)
        .exclude(superseded_by__pk__lte=qrel_set.as_of_event)
        .order_by("pk")
        .values_list("query__qid", "docid", "content_hash", "created_at")
    )
    records: dict[tuple[str, str], LabelRecord] = {}
    for qid, docid, read, at in rows.iterator(chunk_size=5_000):
        before = records.get((qid, docid))
        records[qid, docid] = LabelRecord(
            qid, docid, read or (before.content_hash if before else ""), at
        )
    yield from records.values()


@tells_pace
def median_seconds(benchmark: Benchmark) -> float | None:
    timed = (
        Judgment.objects.filter(
            benchmark=benchmark, grade__isnull=False, dwell_ms__gt=0, dwell_ms__lt=LONGEST_MS
        )
        .order_by("-pk")
        .values_list("dwell_ms", flat=True)[:TIMED]
    )
    milliseconds = [dwell for dwell in timed if dwell]
    return median(milliseconds) / 1000 if len(milliseconds) >= FEWEST_TIMED else None

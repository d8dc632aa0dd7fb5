"""Snapshots of a corpus: what a new one changes, and taking or discarding it."""

from collections.abc import Iterator, Set
from functools import partial
from typing import Any

from django.db import transaction

from benchmarks_app import files
from benchmarks_app.collections.services import refreshing_texts
from benchmarks_app.common.selectors.reading import corpus_reader
from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.label_facts import LABELS
from benchmarks_app.models import (
    Benchmark,
    Corpus,
    CorpusVersion,
    Document,
    Qrel,
    QrelSet,
    Upload,
    User,
)
from benchmarks_app.signals import corpus_taken
from benchwright.corpora.errors import SnapshotOverError
from benchwright.corpora.snapshots import Difference, difference
from benchwright.corpora.store import CorpusReader
from benchwright.files.external_sort import batched

IDS_PER_QUERY = 500
EXAMPLES = 10


def watched_ids(corpus: Corpus) -> set[str]:
    """The ids that somebody has pooled, judged or graded, in any benchmark on this corpus."""
    watched = set(Document.objects.filter(corpus=corpus).values_list("docid", flat=True))
    graded = Qrel.objects.filter(qrel_set__benchmark__corpus=corpus)
    watched.update(graded.values_list("docid", flat=True).distinct().iterator(10_000))
    for benchmark in corpus.benchmarks.all():
        for labels in LABELS:
            watched.update(labels.docids(benchmark))
    return watched


def difference_from(base: CorpusVersion, after: CorpusReader, *, job: RunningJob) -> dict[str, Any]:
    """What a staged corpus changes of a version, as the row of the new version keeps it."""
    before = corpus_reader(base)
    changes = difference(
        before,
        after,
        watched=watched_ids(base.corpus),
        progress=lambda done, total: job.progress(done, total, "comparing with the version before"),
    )
    return {
        "base": base.number,
        "added": changes.n_added,
        "changed": changes.n_changed,
        "described": changes.n_described,
        "removed": changes.n_removed,
        "unchanged": changes.n_unchanged,
        "examples": changes.examples,
        "labels": [
            _at_stake(benchmark, changes) for benchmark in base.corpus.benchmarks.order_by("slug")
        ],
    }


def _at_stake(benchmark: Benchmark, changes: Difference) -> dict[str, Any]:
    """What a benchmark has said of the documents that change, and of those that go."""
    sets = QrelSet.objects.ready().filter(benchmark=benchmark)
    examples = _graded_ids(sets, sorted(changes.moved | changes.gone))
    return {
        "benchmark": benchmark.pk,
        "labels_moved": _n_labels(benchmark, changes.moved),
        "labels_gone": _n_labels(benchmark, changes.gone),
        "qrels_moved": _n_qrels(sets, changes.moved),
        "qrels_gone": _n_qrels(sets, changes.gone),
        "examples": examples[:EXAMPLES],
    }


def _n_labels(benchmark: Benchmark, docids: Set[str]) -> int:
    return sum(labels.count(benchmark, docids) for labels in LABELS)


def _n_qrels(sets: Any, docids: Set[str]) -> int:
    return sum(part.count() for part in _qrels_in(sets, sorted(docids)))


def _graded_ids(sets: Any, docids: list[str]) -> list[str]:
    """The first ids, in order, that have a grade in any of the sets."""
    graded_ids: list[str] = []
    for part in _qrels_in(sets, docids):
        graded_ids += sorted(set(part.values_list("docid", flat=True)[: EXAMPLES * 10]))
        if len(graded_ids) >= EXAMPLES:
            break
    return graded_ids


def _qrels_in(sets: Any, docids: list[str]) -> Iterator[Any]:
    for some in batched(docids, IDS_PER_QUERY):
        yield Qrel.objects.filter(qrel_set__in=sets, docid__in=some)


# --- taking and discarding -----------------------------------------------------------------


@transaction.atomic
def take_snapshot(*, version: CorpusVersion, benchmark: Benchmark, actor: User) -> CorpusVersion:
    """Make a proposed version the one that every benchmark on its corpus reads.

    Raises
    ------
    SnapshotOverError
        If it is not proposed any more, or the corpus has moved on since it was compared.
    """
    version = _proposed(version, "taken")
    newest = version.corpus.versions.ready().order_by("-number").first()
    if newest and newest.number != version.difference.get("base"):
        why = f"it was compared with another version than {newest.number}; import it again"
        raise SnapshotOverError(number=version.number, what="taken", why=why)
    version.state = CorpusVersion.State.READY
    version.save(update_fields=["state"])
    for affected_benchmark in version.corpus.benchmarks.all():
        audit.record(
            actor=actor,
            action="take-snapshot",
            benchmark=affected_benchmark,
            target=str(version),
            n_documents=version.n_documents,
        )
    follow(version, benchmark=benchmark, user=actor)
    return version


def follow(version: CorpusVersion, *, benchmark: Benchmark, user: User) -> None:
    """Let what is made of a corpus follow a version that has just been taken."""
    refreshing_texts.start_refresh(benchmark=benchmark, user=user)
    corpus_taken.send(CorpusVersion, version=version, user=user)


@transaction.atomic
def discard_snapshot(*, version: CorpusVersion, benchmark: Benchmark, actor: User) -> None:
    """Remove a proposed version and its files; the file it came from may be imported again.

    Raises
    ------
    SnapshotOverError
        If it is not proposed any more.
    """
    version = _proposed(version, "discarded")
    label, stored = str(version), (version.parquet, version.index)
    _forget_import(version)
    version.delete()
    audit.record(actor=actor, action="discard-snapshot", benchmark=benchmark, target=label)
    for name in stored:
        transaction.on_commit(partial(files.remove, name))


def _proposed(version: CorpusVersion, what: str) -> CorpusVersion:
    """The version's row as it is now, its corpus locked against other imports."""
    Corpus.objects.select_for_update().get(pk=version.corpus_id)
    now = CorpusVersion.objects.select_related("corpus").filter(pk=version.pk).first()
    if now is None:
        why = "it has been discarded"
        raise SnapshotOverError(number=version.number, what=what, why=why)
    if now.state != CorpusVersion.State.PROPOSED:
        raise SnapshotOverError(number=now.number, what=what, why="it has been taken already")
    return now


def _forget_import(version: CorpusVersion) -> None:
    """Where the file became nothing but this version, its bytes are as if never imported."""
    upload = Upload.objects.filter(pk=version.difference.get("upload")).first()
    if upload:
        parts = [
            part
            for part in upload.imported_as.split("; ")
            if not part.startswith(f"corpus version {version.number} ")
        ]
        upload.imported_as = "; ".join(parts)
        upload.save(update_fields=["imported_as"])

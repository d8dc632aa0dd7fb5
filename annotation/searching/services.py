"""Making a corpus searchable, and grading what a search brought up."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.http import Http404

from annotation.common.selectors.screen import current_guideline
from annotation.common.services.documents import document_rows
from annotation.judging.protocol.errors import ClientIdReusedError
from annotation.judging.services.judging import graded, record, refuse_unknown_grade, turn_of
from annotation.judging.services.tokens import Shown
from annotation.models import Judgment, Pool, PoolEntry, Slot
from annotation.searching.selectors import (
    INDEX_JOB,
    indexing_job,
    word_index_name,
    word_index_path,
)
from benchmarks_app.common.selectors.reading import benchmark_documents, documents_in_unit
from benchmarks_app.common.selectors.reading import n_documents_in_unit as n_documents_in
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, CorpusVersion, Document, Job, Query, User
from benchmarks_app.store import file_store
from benchwright.retrieval.languages import language_or_english
from benchwright.retrieval.word_index import write_word_index

SOURCE = "search"


@transaction.atomic
def start_indexing(*, benchmark: Benchmark, user: User) -> Job:
    """The job that makes the newest version of the corpus searchable; the one at work, if any."""
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    newest, version = indexing_job(benchmark), benchmark.current_corpus_version
    key = version.pk if version else None
    # One that is at work already reads the version that was the newest when it was started.
    is_at_this = newest is not None and newest.parameters.get("version", key) == key
    if newest and newest.state in (Job.State.QUEUED, Job.State.RUNNING) and is_at_this:
        return newest
    return jobs.start(
        kind=INDEX_JOB,
        title="Make the corpus searchable",
        benchmark=benchmark,
        user=user,
        parameters={"version": key},
    )


def index_taken(version: CorpusVersion, user: User) -> None:
    """Make a version that was just taken searchable for each of its benchmarks, unless very large.

    Benchmarks that measure the same unit share the index.
    """
    if version.n_documents > settings.SEARCHABLE_MAX_DOCS:
        return
    paths: set[Path] = set()
    for benchmark in version.corpus.benchmarks.select_related("corpus").order_by("pk"):
        path = word_index_path(benchmark)
        if path and path not in paths and not path.exists():
            paths.add(path)
            start_indexing(benchmark=benchmark, user=user)


def index_words(job: jobs.RunningJob) -> None:
    """The handler: write the index of the newest version among what can be made again."""
    benchmark = job.benchmark
    path, version = word_index_path(benchmark), benchmark.current_corpus_version
    if path is None or version is None:
        return
    total = n_documents_in(version, benchmark.unit)
    written = job.folder / "words.sqlite"
    n = write_word_index(
        written,
        _texts(benchmark),
        language=language_or_english(benchmark.corpus.lang),
        progress=lambda done: job.progress(done, total, "reading documents"),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with job.commit() as result:
        if file_store().folder is None:
            file_store().put(written, word_index_name(benchmark), "")
        else:
            written.replace(path)
        result.update(n_documents=n)


def _texts(benchmark: Benchmark) -> Iterator[tuple[str, str]]:
    version = benchmark.current_corpus_version
    if version is not None:
        for document in documents_in_unit(version, benchmark.unit):
            yield document.docid, f"{document.title}\n{document.text}"


def grade_found(
    *,
    query: Query,
    docid: str,
    actor: User,
    grade: int,
    client_id: UUID,
    joins_pool: bool = True,
) -> None:
    """Append a grade of a document that was searched for; the same `client_id` changes nothing.

    The document joins the newest open pool of the query as *added by hand*, if none has it yet: so
    its other labels are asked for, too. Without an open pool it stands in the ledger alone, and so
    does an annotator's: a pool that grew, or did not, would tell them what is in it.

    Raises
    ------
    GradeNotOnScaleError
        If the benchmark has no such grade.
    ClientIdReusedError
        If the client id stands for another judgment already.
    """
    benchmark = query.benchmark
    texts = benchmark_documents(benchmark, [docid])
    if docid not in texts:
        raise Http404
    guideline = current_guideline(benchmark)
    display = Shown(
        content_hash=texts[docid].content_hash,
        guideline_id=guideline.pk if guideline else None,
    )
    with turn_of(actor.pk):
        if _is_here(query, docid, actor, grade, client_id):
            return
        key = document_rows(benchmark.corpus, [docid], texts)[docid]
        slot = _slot(query, key) if joins_pool else None
        if slot is None:
            _record_alone(query, docid, actor, grade, client_id, display)
        else:
            record(slot, actor.pk, client_id, display, graded(grade))


def _is_here(query: Query, docid: str, actor: User, grade: int, client_id: UUID) -> bool:
    """Whether the grade was saved before, in a pool or alone; another one is refused."""
    earlier = Judgment.objects.filter(actor=actor, client_id=client_id).first()
    if earlier is None:
        return False
    label = (earlier.query_id, earlier.docid, earlier.kind, earlier.grade)
    if label != (query.pk, docid, Judgment.Kind.GRADE, grade):
        raise ClientIdReusedError
    return True


def _slot(query: Query, document: int) -> int | None:
    """A label's slot of the document in an open pool that has the query; made where it lacks."""
    pools = Pool.objects.open().filter(benchmark=query.benchmark_id, entries__query=query)
    pool = pools.order_by("-pk").first()
    if pool is None:
        return None
    slots = Slot.objects.filter(
        pool__in=pools, entry__query=query, entry__document=document, kind=Slot.Kind.LABEL
    )
    slot = slots.order_by("-pool", "number").values_list("pk", flat=True).first()
    return slot or _add_by_hand(pool, query, document)


def _add_by_hand(pool: Pool, query: Query, document: int) -> int:
    """Put a document into a pool that is being judged; returns the first of its slots."""
    pool = Pool.objects.select_for_update().get(pk=pool.pk)
    last = pool.entries.aggregate(last=Max("priority"))["last"] or 0
    entry, is_new = PoolEntry.objects.get_or_create(
        pool=pool,
        query=query,
        document=Document(pk=document),
        defaults={"origin": PoolEntry.Origin.MANUAL, "priority": last + 1},
    )
    end = pool.slots.aggregate(last=Max("queue_position"))["last"] or 0
    slots = Slot.objects.bulk_create(
        Slot(pool=pool, query=query, entry=entry, number=number, queue_position=end + number)
        for number in range(1, pool.overlap + 1)
    )
    Pool.objects.filter(pk=pool.pk).update(
        n_entries=pool.n_entries + is_new, n_wanted=pool.n_wanted + len(slots)
    )
    return slots[0].pk


def _record_alone(
    query: Query, docid: str, actor: User, grade: int, client_id: UUID, display: Shown
) -> None:
    """An event without a pool; it takes the place of one's own earlier label of the document.

    How somebody settled what others said of it stays as it is.
    """
    refuse_unknown_grade(query.benchmark_id, grade)
    own = Judgment.objects.wanted().current().filter(query=query, docid=docid, actor=actor)
    own = own.exclude(kind=Judgment.Kind.ADJUDICATE)
    fields: dict[str, Any] = {**graded(grade), **display.as_fields()}
    Judgment.objects.create(
        benchmark_id=query.benchmark_id,
        query=query,
        docid=docid,
        actor=actor,
        client_id=client_id,
        source=SOURCE,
        supersedes=own.filter(rater="").order_by("-pk").first(),
        **fields,
    )

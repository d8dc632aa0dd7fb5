"""When a corpus changes: the texts of the documents people look at follow it, and are kept apart.

Of the corpus only the documents of pools have rows. A changed text becomes a further row beside the
earlier one, so that a label still says for which text it was given.
"""

from collections.abc import Iterator
from typing import cast

from django.utils import timezone

from benchmarks_app.common.selectors.reading import corpus_documents
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Corpus, CorpusVersion, Document, DocumentContent, User
from benchwright.corpora.store import StoredDocument

JOB_KIND = "refresh-texts"
ROWS_PER_BATCH = 500


def start_refresh(*, benchmark: Benchmark, user: User | None) -> None:
    """Start comparing the stored texts with the newest corpus version, if there are any."""
    if not benchmark.corpus.has_texts or not benchmark.corpus.documents.exists():
        return
    jobs.start(
        kind=JOB_KIND,
        title="Compare the texts of pooled documents",
        benchmark=benchmark,
        user=user,
        parameters={},
    )


def refresh_texts(job: jobs.RunningJob) -> None:
    """The handler: write a further row for each pooled document that now says something else."""
    corpus = job.benchmark.corpus
    # It is started for a corpus that has a version, of which the last is never taken away.
    version = cast(CorpusVersion, job.benchmark.current_corpus_version)
    n_seen = n_changed = 0
    n_documents = corpus.documents.count()
    for batch in _documents(corpus):
        texts = corpus_documents(version, [row.docid for row in batch])
        with job.fenced():
            n_changed += sum(_follow(row, texts.get(row.docid), corpus.lang) for row in batch)
        n_seen += len(batch)
        job.progress(n_seen, n_documents, f"{n_changed:,} of {n_seen:,} texts have changed")
    with job.commit() as result:
        result.update(
            n_documents=n_seen, made=[f"{n_changed:,} of {n_seen:,} pooled documents changed"]
        )


def _documents(corpus: Corpus) -> Iterator[list[Document]]:
    last = 0
    while batch := list(corpus.documents.filter(pk__gt=last).order_by("pk")[:ROWS_PER_BATCH]):
        yield batch
        last = batch[-1].pk


def _follow(document: Document, stored: StoredDocument | None, lang: str) -> bool:
    """Whether the document says something else than before; what it says is then the newest row.

    A document that the corpus no longer has keeps its last text.
    """
    if stored is None:
        return False
    digest = stored.content_hash
    newest = document.contents.order_by("-first_seen", "-pk").first()
    if newest is not None and newest.content_hash == digest:
        return False
    # A text that comes back is seen anew: the newest row is always what the document says.
    DocumentContent.objects.update_or_create(
        document=document,
        content_hash=digest,
        defaults={"first_seen": timezone.now()},
        create_defaults={
            "title": stored.title,
            "text": stored.text,
            "lang": lang,
            "first_seen": timezone.now(),
        },
    )
    return True

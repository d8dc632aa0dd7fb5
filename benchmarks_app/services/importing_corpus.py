"""A corpus file becomes a corpus version: Parquet and an index, sorted by document id."""

from collections.abc import Iterable
from pathlib import Path

from django.urls import reverse

from benchmarks_app import files
from benchmarks_app.core.corpus_store import CorpusSummary, write_corpus
from benchmarks_app.core.formats.beir import CorpusRow
from benchmarks_app.core.import_errors import IdsOnlyCorpusError, NothingImportedError
from benchmarks_app.models import Corpus, CorpusVersion
from benchmarks_app.services import refreshing_texts
from benchmarks_app.services.staging import Import


def stage_corpus(work: Import, rows: Iterable[CorpusRow], file: str, *, has_texts: bool) -> Path:
    """Write the corpus into the job's folder; the commit makes it the newest version.

    Returns the index, against which qrels of the same import can be checked.
    """
    corpus = work.benchmark.corpus
    if has_texts != corpus.has_texts:
        if has_texts:
            raise IdsOnlyCorpusError
        work.notes.append("The list of ids stands beside a corpus of texts; texts were left out.")
    summary = write_corpus(
        work.told(rows, "documents"),
        directory=work.job.folder / "corpus",
        problems=work.problems,
        file=file,
    )
    if not summary.n_documents and not work.problems.found:
        raise NothingImportedError(file=file, what="document")
    work.on_commit.append(lambda: _commit(work, corpus, summary))
    return Path(summary.index)


def _commit(work: Import, corpus: Corpus, summary: CorpusSummary) -> None:
    newest = corpus.versions.order_by("-number").first()
    same = corpus.versions.filter(sha256=summary.sha256).first()
    work.url = reverse("benchmark-detail", args=[work.benchmark.slug])
    if same:
        work.made.append(f"corpus version {same.number} (unchanged)")
        return
    number = newest.number + 1 if newest else 1
    CorpusVersion.objects.create(
        corpus=corpus,
        number=number,
        parquet=files.publish(
            Path(summary.parquet), f"corpora/{corpus.pk}/{summary.sha256}.parquet"
        ),
        index=files.publish(Path(summary.index), f"corpora/{corpus.pk}/{summary.sha256}.index"),
        sha256=summary.sha256,
        n_documents=summary.n_documents,
        n_bytes=summary.n_bytes,
    )
    work.made.append(f"corpus version {number} of {summary.n_documents:,} documents")
    if number > 1:
        refreshing_texts.start_refresh(benchmark=work.benchmark, user=work.upload.owner)

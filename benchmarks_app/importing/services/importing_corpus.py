"""A corpus file becomes a corpus version: Parquet and an index, sorted by document id.

The first one is there at once. A later one is a snapshot that is looked at before it is taken,
unless whoever imports it says otherwise.
"""

from collections.abc import Iterable, Set
from datetime import date
from pathlib import Path
from typing import Any

from django.urls import reverse

from benchmarks_app import files
from benchmarks_app.collections.services import snapshots
from benchmarks_app.collections.services.staging import Import
from benchmarks_app.common.selectors.reading import measures_documents_of_passages
from benchmarks_app.models import Corpus, CorpusVersion, Unit
from benchwright.corpora.cuts import LARGEST_SEED, Cut, cut_sentence, read_max_docs
from benchwright.corpora.errors import (
    ParentsMissingError,
    SnapshotDateError,
    SnapshotKindError,
    SnapshotWaitingError,
)
from benchwright.corpora.store import CorpusReader, CorpusSummary, write_corpus
from benchwright.corpora.units import Parents, with_parents
from benchwright.files.sources import sha256_of
from benchwright.formats.beir import CorpusRow
from benchwright.formats.errors import (
    ConcurrentImportError,
    IdsOnlyCorpusError,
    NothingImportedError,
)
from benchwright.texts.counting import counted


def corpus_options(
    *,
    max_docs: str | int | None = None,
    seed: int = 0,
    take: bool = False,
    snapshot_date: str | date | None = None,
    parents: str = Parents.STATED,
) -> dict[str, Any]:
    """What an import is told of its corpus, checked, as a job's parameters keep it.

    Raises
    ------
    CutError, SnapshotDateError
        If `max_docs` is no number from 1, or the date none.
    """
    return {
        "max_docs": read_max_docs(max_docs),
        "seed": min(max(int(seed or 0), 0), LARGEST_SEED),
        "take": bool(take),
        "snapshot_date": _date(snapshot_date),
        "parents": Parents(parents or Parents.STATED).value,
    }


def _date(value: str | date | None) -> str | None:
    if not value:
        return None
    try:
        return date.fromisoformat(str(value).strip()).isoformat()
    except ValueError as error:
        raise SnapshotDateError(given=value) from error


def stage_corpus(
    work: Import,
    rows: Iterable[CorpusRow],
    file: str,
    *,
    has_texts: bool,
    judged: Iterable[str] = (),
) -> Path:
    """Write the corpus into the job's folder; the commit makes it a version.

    `judged` are the ids that grades of the same import name: a cut keeps them too. Returns the
    index, against which qrels of the same import can be checked.
    """
    corpus = work.benchmark.corpus
    options = {**corpus_options(), **(work.options.get("corpus") or {})}
    _refuse(work, corpus, file, has_texts)
    if corpus.unit == Unit.PASSAGE:
        how = Parents(options["parents"])
        rows = with_parents(rows, how, file=file, problems=work.problems)

    def progress(done: int, total: int | None) -> None:
        if total:
            work.job.progress(done, total, "writing the corpus")

    summary = write_corpus(
        work.told(rows, "documents"),
        directory=work.job.folder / "corpus",
        problems=work.problems,
        file=file,
        progress=progress,
        cut=_cut(corpus, options, judged),
    )
    if not summary.n_documents and not work.problems.found:
        raise NothingImportedError(file=file, what="document")
    _refuse_missing_parents(corpus, summary)
    staged = _Staged(work, corpus, summary, options, file)
    work.on_commit.append(staged.commit)
    work.staged_corpus = CorpusReader(summary.parquet, summary.index)
    return Path(summary.index)


def staged_lacks(work: Import, index: Path) -> Any:
    """What tells which ids the staged corpus does not hold, as `unknown_names` does."""
    reader = CorpusReader(index.with_name("corpus.parquet"), index)
    if measures_documents_of_passages(work.benchmark):
        return lambda docids: reader.missing(reader.missing_parents(docids))
    return reader.missing


def _refuse(work: Import, corpus: Corpus, file: str, has_texts: bool) -> None:
    newest = work.benchmark.current_corpus_version
    if has_texts and not corpus.has_texts:
        raise IdsOnlyCorpusError
    if corpus.has_texts and not has_texts and newest:
        raise SnapshotKindError(file=file, number=newest.number)
    if corpus.has_texts and not has_texts:
        work.notes.append("The list of ids stands beside a corpus of texts; texts were left out.")
    _refuse_waiting(corpus)


def _refuse_waiting(corpus: Corpus) -> None:
    waiting = corpus.versions.filter(state=CorpusVersion.State.PROPOSED).first()
    if waiting:
        raise SnapshotWaitingError(number=waiting.number)


def _cut(corpus: Corpus, options: dict[str, Any], judged: Iterable[str]) -> Cut | None:
    if options["max_docs"] is None:
        return None
    keep: Set[str] = snapshots.watched_ids(corpus) | set(judged)
    return Cut(options["max_docs"], options["seed"], keep)


def _refuse_missing_parents(corpus: Corpus, summary: CorpusSummary) -> None:
    """Passages without parents cannot be summed up for a benchmark of documents."""
    if corpus.unit != Unit.PASSAGE or summary.n_parents:
        return
    of_documents = corpus.benchmarks.filter(unit=Unit.DOCUMENT).first()
    if of_documents:
        raise ParentsMissingError(what=f"Benchmark '{of_documents}'")


class _Staged:
    """A corpus that is written, and what it changes of the one that is there."""

    def __init__(
        self,
        work: Import,
        corpus: Corpus,
        summary: CorpusSummary,
        options: dict[str, Any],
        file: str,
    ) -> None:
        self.work = work
        self.corpus = corpus
        self.summary = summary
        self.options = options
        self.file = file
        self.base = corpus.versions.ready().order_by("-number").first()
        self.is_same = corpus.versions.filter(sha256=summary.sha256).first()
        self.difference: dict[str, Any] = {}
        if self.base and not self.is_same:
            after = CorpusReader(summary.parquet, summary.index)
            self.difference = snapshots.difference_from(self.base, after, job=work.job)

    def commit(self) -> None:
        work, corpus = self.work, self.corpus
        corpus = Corpus.objects.select_for_update().get(pk=corpus.pk)
        if self.is_same:
            work.url = work.url or reverse("corpus-detail", args=[work.benchmark.slug])
            work.outcomes.append(f"corpus version {self.is_same.number} (unchanged)")
            return
        _refuse_waiting(corpus)
        newest = corpus.versions.ready().order_by("-number").first()
        if newest != self.base:
            raise ConcurrentImportError
        is_taken = self.base is None or self.options["take"]
        version = self._create(corpus, is_taken)
        view = "corpus-detail" if is_taken else "corpus-version"
        args = [work.benchmark.slug] if is_taken else [work.benchmark.slug, version.number]
        work.url = reverse(view, args=args) if not is_taken or not work.url else work.url
        self._tell(version, is_taken)
        if is_taken:
            snapshots.follow(version, benchmark=work.benchmark, user=work.upload.owner)

    def _create(self, corpus: Corpus, is_taken: bool) -> CorpusVersion:
        summary = self.summary
        last = corpus.versions.order_by("-number").values_list("number", flat=True).first() or 0
        stem = f"corpora/{corpus.pk}/{summary.sha256}"
        index = Path(summary.index)
        state = CorpusVersion.State.READY if is_taken else CorpusVersion.State.PROPOSED
        return CorpusVersion.objects.create(
            corpus=corpus,
            number=last + 1,
            state=state,
            parquet=files.publish(Path(summary.parquet), f"{stem}.parquet"),
            index=files.publish(index, f"{stem}/{sha256_of(index)}.npy"),
            sha256=summary.sha256,
            n_documents=summary.n_documents,
            n_bytes=summary.n_bytes,
            n_parents=summary.n_parents,
            snapshot_date=self.options["snapshot_date"],
            source=self.file[-255:],
            difference={**self.difference, "upload": self.work.upload.pk},
            cut=self._cut(),
            metadata_kinds=summary.metadata_kinds,
        )

    def _cut(self) -> dict[str, Any]:
        summary = self.summary
        if self.options["max_docs"] is None or summary.n_given == summary.n_documents:
            return {}
        return {
            "max_docs": self.options["max_docs"],
            "seed": self.options["seed"],
            "n": summary.n_documents,
            "kept": summary.n_kept,
            "of": summary.n_given,
        }

    def _tell(self, version: CorpusVersion, is_taken: bool) -> None:
        work = self.work
        noun = f"corpus version {version.number} of {counted(version.n_documents, 'document')}"
        work.outcomes.append(noun if is_taken else f"{noun}, proposed")
        if not is_taken:
            work.notes.append(
                f"Version {version.number} is proposed: look at what it changes, then take or "
                "discard it on the corpus page."
            )
        if version.cut:
            work.notes.append(cut_sentence(version.cut))

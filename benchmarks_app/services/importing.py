"""Imports: a file becomes a corpus version, queries, a set of qrels or a run, whole or not at all.

Rows are written in batches that nobody sees; one short transaction at the end makes them visible.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from django.db import transaction
from django.urls import reverse

from benchmarks_app import selectors
from benchmarks_app.core.corpus_store import CorpusReader
from benchmarks_app.core.detection import FileKind, detect
from benchmarks_app.core.formats.archives import is_zip
from benchmarks_app.core.formats.beir import (
    BeirSource,
    QrelRow,
    QueryRow,
    corpus_rows,
    open_beir,
    qrel_rows,
)
from benchmarks_app.core.formats.sources import open_lines
from benchmarks_app.core.formats.tabular import docid_rows, query_table_rows
from benchmarks_app.core.formats.trec import read_qrels
from benchmarks_app.core.formats.trec_topics import read_topics
from benchmarks_app.core.grade_map import parse_grade_map
from benchmarks_app.core.import_errors import UnknownKindError
from benchmarks_app.models import Benchmark, Job, Upload, User
from benchmarks_app.services import audit, jobs, runs, uploading
from benchmarks_app.services.importing_corpus import stage_corpus
from benchmarks_app.services.importing_qrels import DocumentCheck, SplitRows, stage_qrels
from benchmarks_app.services.importing_queries import stage_queries
from benchmarks_app.services.staging import Import

JOB_KIND = "import-file"


def import_arguments(
    *, upload: Upload, kind: str, name: str = "", grade_map: str = "", description: str = ""
) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to import a file.

    Raises
    ------
    AlreadyImportedError
        If the same bytes were imported here before.
    UnknownKindError
        If `kind` is "auto" and the first lines do not tell.
    GradeMapError
        If `grade_map` cannot be read.
    """
    uploading.refuse_imported(upload)
    found = FileKind(kind) if kind != "auto" else detected_kind(upload)
    return {
        "kind": JOB_KIND,
        "title": f"Import {upload.name}",
        "parameters": {
            "upload": upload.pk,
            "kind": found,
            "name": name,
            "description": description,
            "grade_map": parse_grade_map(grade_map),
        },
    }


@transaction.atomic
def start_import(*, benchmark: Benchmark, user: User, upload: Upload, **options: Any) -> Job:
    """Start a job that imports an uploaded file; raises as `import_arguments` does."""
    job = jobs.start(benchmark=benchmark, user=user, **import_arguments(upload=upload, **options))
    audit.record(actor=user, action="import", benchmark=benchmark, target=upload.name, job=job.pk)
    return job


def detected_kind(upload: Upload) -> FileKind:
    """The kind of an uploaded file, by its content and its name."""
    path = uploading.local(upload)
    if is_zip(path):
        return FileKind.BEIR
    kind = detect(open_lines(path, file=upload.name), upload.name)
    if kind is None:
        raise UnknownKindError(file=upload.name)
    return kind


def import_file(job: jobs.RunningJob) -> None:
    """The handler of an import job: stage everything, then commit it in one go."""
    upload = Upload.objects.get(pk=job.parameters["upload"])
    work = Import(job=job, upload=upload, file=upload.name, options=job.parameters)
    uploading.refuse_imported(upload)
    STAGERS[FileKind(job.parameters["kind"])](work, uploading.local(upload))
    work.problems.raise_found()
    job.progress(1, 1, "making it visible")
    with job.commit() as result:
        for commit in work.on_commit:
            commit()
        uploading.mark_imported(upload, "; ".join(work.made))
        warnings = [str(warning) for warning in work.problems.warnings]
        result.update(made=work.made, notes=work.notes + warnings, url=work.url)


# --- one function per kind of file ---------------------------------------------------------


def _lines(work: Import, path: Path) -> Iterable[bytes]:
    return open_lines(path, file=work.file)


def _stage_beir(work: Import, path: Path) -> None:
    with open_beir(path) as source:
        lacks = _documents_lacked(work, source)
        if source.queries:
            stage_queries(work, source.queries_rows(work.problems), source.queries)
        splits = source.qrels_splits()
        if splits:
            parts = [_split_part(work, source, split) for split in splits]
            stage_qrels(work, parts, lacks)


def _documents_lacked(work: Import, source: BeirSource) -> DocumentCheck:
    if not source.corpus:
        return _lacked_by_benchmark(work)
    rows = source.corpus_rows(work.problems)
    index = stage_corpus(work, rows, source.corpus, has_texts=True)
    return CorpusReader(index.with_name("corpus.parquet"), index).missing


def _lacked_by_benchmark(work: Import) -> DocumentCheck:
    return lambda docids: selectors.unknown_documents(work.benchmark, docids)


def _split_part(work: Import, source: BeirSource, split: str) -> SplitRows:
    return SplitRows(split, f"qrels/{split}.tsv", source.qrels_rows(split, work.problems))


def _stage_corpus(work: Import, path: Path) -> None:
    rows = corpus_rows(_lines(work, path), file=work.file, problems=work.problems)
    stage_corpus(work, rows, work.file, has_texts=True)


def _stage_ids(work: Import, path: Path) -> None:
    rows = docid_rows(_lines(work, path), file=work.file, problems=work.problems)
    stage_corpus(work, rows, work.file, has_texts=False)


def _stage_query_table(work: Import, path: Path) -> None:
    rows = query_table_rows(_lines(work, path), file=work.file, problems=work.problems)
    stage_queries(work, rows, work.file)


def _stage_topics(work: Import, path: Path) -> None:
    content = b"".join(_lines(work, path))
    topics = read_topics(content, file=work.file, problems=work.problems)
    rows = (
        QueryRow(
            topic.line,
            topic.qid,
            topic.text,
            metadata=dict(topic.others),
            description=topic.description,
            narrative=topic.narrative,
        )
        for topic in topics
    )
    stage_queries(work, rows, work.file)


def _stage_trec_qrels(work: Import, path: Path) -> None:
    read = read_qrels(_lines(work, path), file=work.file, problems=work.problems)
    rows = (QrelRow(row.line, _text(row.qid), _text(row.docid), row.grade) for row in read)
    stage_qrels(work, [SplitRows("", work.file, rows)], _lacked_by_benchmark(work))


def _text(raw: bytes) -> str:
    # What is not UTF-8 matches no query or document of ours, and is shown as it was written.
    return raw.decode(errors="backslashreplace")


def _stage_beir_qrels(work: Import, path: Path) -> None:
    rows = qrel_rows(_lines(work, path), file=work.file, problems=work.problems)
    stage_qrels(work, [SplitRows("", work.file, rows)], _lacked_by_benchmark(work))


def _stage_run(work: Import, path: Path) -> None:
    benchmark, upload = work.benchmark, work.upload
    name = work.options.get("name") or upload.name.removesuffix(".gz").rsplit(".", 1)[0]
    staged = runs.stage_run(
        lines=work.told(_lines(work, path), "lines"),
        file=work.file,
        folder=work.job.folder / "run",
        problems=work.problems,
        allowed_queries=set(benchmark.queries.committed().values_list("qid", flat=True)),
        known_document=_lacked_by_benchmark(work),
    )
    work.made.append(f"run '{name}' of {staged.summary.n_queries:,} queries")
    if staged.n_extra_queries:
        work.notes.append(
            f"{staged.n_extra_queries:,} queries of the run are not in the benchmark."
        )
    work.on_commit.append(lambda: _commit_run(work, staged, name))


def _commit_run(work: Import, staged: runs.StagedRun, name: str) -> None:
    run = runs.create_run(
        staged=staged,
        benchmark=work.benchmark,
        name=name,
        owner=work.upload.owner,
        sha256=work.upload.sha256,
        upload=work.upload,
        description=work.options.get("description", ""),
    )
    work.url = reverse("run-detail", args=[work.benchmark.slug, run.pk])


STAGERS: dict[FileKind, Callable[[Import, Path], None]] = {
    FileKind.BEIR: _stage_beir,
    FileKind.CORPUS: _stage_corpus,
    FileKind.IDS: _stage_ids,
    FileKind.QUERIES: _stage_query_table,
    FileKind.TOPICS: _stage_topics,
    FileKind.QRELS: _stage_trec_qrels,
    FileKind.BEIR_QRELS: _stage_beir_qrels,
    FileKind.RUN: _stage_run,
}

"""Imports: files become a corpus version, queries, qrels, runs and what is said of queries.

A file, or a collection of files, is imported whole or not at all. Rows are written in batches that
nobody sees; one short transaction at the end makes them visible.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from django.db import transaction
from django.urls import reverse

from benchmarks_app.collections.services import runs, uploading
from benchmarks_app.collections.services.part_rows import (
    document_rows,
    qrel_rows,
    query_rows,
    run_lines,
    run_rows,
)
from benchmarks_app.collections.services.staging import Import
from benchmarks_app.common.selectors.reading import unknown_names
from benchmarks_app.common.services import audit, reading_apart
from benchmarks_app.common.services.analysing import analyse
from benchmarks_app.families.services.importing_groups import (
    FAMILIES_FIRST,
    read_said,
    stage_said,
    stage_slices,
)
from benchmarks_app.importing.services.importing_corpus import (
    corpus_options,
    stage_corpus,
    staged_lacks,
)
from benchmarks_app.importing.services.importing_images import stage_images, stage_query_images
from benchmarks_app.importing.services.importing_qrels import DocumentCheck, SplitRows, stage_qrels
from benchmarks_app.importing.services.importing_queries import stage_queries
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Document, Job, Qrel, Query, Unit, Upload, User
from benchwright.detection import DOCUMENT_KINDS, QREL_KINDS, QUERY_KINDS, RUN_KINDS, FileKind, Part
from benchwright.errors import BenchmarkError, FileProblemsError, Problems
from benchwright.formats.beir import CorpusRow, QueryRow
from benchwright.formats.errors import (
    ImageUnitError,
    LeaveOutError,
    MixedCorpusError,
    NothingImportedError,
    UnknownKindError,
    UnlistedError,
)
from benchwright.formats.mapping import refuse_unknown
from benchwright.formats.unlisted import UNLISTED
from benchwright.ids import LONGEST_NAME
from benchwright.qrels.grade_map import parse_file_grade_map
from benchwright.runs.aggregation import DEFAULT
from benchwright.sandbox import UnreadableFileError
from benchwright.texts.counting import counted
from benchwright.uploads import Place, completed_parts, parts_to_import
from benchwright.uploads.row_streams import take_run

JOB_KIND = "import-file"
LEAVE_OUT = ("", "records", "files")
NAMED_LEFT_OUT = 20
SHOWN_LENGTH = 48


# --- asking for an import ------------------------------------------------------------------


def import_arguments(
    *,
    upload: Upload,
    kind: str = "auto",
    name: str = "",
    grade_map: str = "",
    description: str = "",
    mapping: Mapping[str, str] | None = None,
    has_header: bool | None = None,
    lang: str = "",
    split: str = "",
    parts: Sequence[Part] | None = None,
    shown_metadata: Sequence[str] | None = None,
    corpus: Mapping[str, Any] | None = None,
    aggregation: str = DEFAULT,
    unlisted: str = "",
    leave_out: str = "",
    n_agreed: int | None = None,
    machine: bool | None = None,
) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to import a file.

    `parts` says how each file of it is read, as a preview has shown; without them `kind`,
    `mapping`, `has_header`, `lang` and `split` say how a lone file is read, and what they leave out
    is told by its content. `shown_metadata` are the keys of documents' metadata that people who
    judge are to see. `corpus` are the arguments of `corpus_options`; `aggregation` says how a run
    of passages becomes one of documents, where the benchmark measures these. `unlisted` says what
    documents are that qrels do not list (`core.unlisted`); without it they are what the manifest
    of an export of ours says, or unknown. `leave_out` says what of a bad file is left out:
    nothing, its bad `records`, or `files` that have any; `n_agreed` is how many records somebody
    has agreed to: where more are bad, nothing is imported. `machine`
    says whether a machine gave the grades; without it, that they have a model's name.

    Raises
    ------
    AlreadyImportedError
        If the same bytes were imported here before.
    UnknownKindError, UnreadableKindError
        If `kind` is "auto" and the first lines do not tell, or it is of a kind never taken.
    MappingError
        If columns that are needed are not known by their names, or there is no such field.
    GradeMapError
        If `grade_map` cannot be read.
    CutError, SnapshotDateError
        If `corpus` asks for what cannot be.
    UnlistedError, LeaveOutError
        If `unlisted` or `leave_out` is no word for it.
    """
    if unlisted and unlisted not in UNLISTED:
        raise UnlistedError(unlisted=unlisted, known=", ".join(UNLISTED))
    if leave_out not in LEAVE_OUT:
        raise LeaveOutError(leave_out=leave_out, known=", ".join(filter(None, LEAVE_OUT)))
    for columns in (mapping or {}, *(part.mapping for part in parts or ())):
        refuse_unknown(columns)
    uploading.refuse_imported(upload)
    mapped = parse_file_grade_map(grade_map)
    if not parts and (kind == "auto" or mapping or has_header is not None or lang or split):
        part = Part(
            "", FileKind(kind) if kind != "auto" else None, mapping or {}, split, lang, has_header
        )
        parts = _completed(upload, part)
    first_kind = parts[0].kind if parts and len(parts) == 1 else FileKind.BEIR
    return {
        "kind": JOB_KIND,
        "title": f"Import {short_name(upload)}",
        "parameters": {
            "upload": upload.pk,
            "uploads": [upload.pk],
            "kind": first_kind if parts else FileKind(kind),
            "parts": [p.as_json() for p in parts] if parts and not _is_whole(parts) else None,
            "name": name.strip()[:LONGEST_NAME],
            "description": description,
            "grade_map": mapped,
            "shown_metadata": None if shown_metadata is None else list(shown_metadata),
            "corpus": corpus_options(**(corpus or {})),
            "aggregation": aggregation,
            "leave_out": leave_out,
            "n_agreed": n_agreed,
            "unlisted": unlisted,
            "machine": machine,
        },
    }


def short_name(upload: Upload) -> str:
    """A file's name as titles of jobs have it: its beginning and its end."""
    name = upload.name
    if len(name) <= SHOWN_LENGTH:
        return name
    half = SHOWN_LENGTH // 2
    return f"{name[:half]}…{name[-half:]}"


def _is_whole(parts: Sequence[Part]) -> bool:
    """Whether a collection is to be read as it describes itself."""
    return len(parts) == 1 and parts[0].kind is FileKind.BEIR


def _completed(upload: Upload, part: Part) -> list[Part]:
    """The part of a lone file, with what its content tells and the caller did not say.

    Of a collection it can be said that every row of the tables without grades is relevant.
    """
    place = Place(uploading.local(upload), upload.name)
    parts: list[Part] = reading_apart.call(completed_parts, place, part, file=upload.name)
    return parts


def joint_arguments(
    uploads: Sequence[Upload], options: Mapping[int, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """What `jobs.start` needs to import several files as one, each of them whole or not at all.

    `options` are what is said of each by its primary key: `parts`, `grade_map`, `leave_out` and
    `n_agreed`, as `import_arguments` has them.

    Raises
    ------
    AlreadyImportedError
        If the bytes of one were imported here before.
    """
    for upload in uploads:
        uploading.refuse_imported(upload)
    return {
        "kind": JOB_KIND,
        "title": f"Import {len(uploads)} files",
        "parameters": {
            "upload": uploads[0].pk,
            "uploads": [upload.pk for upload in uploads],
            "kind": None,
            "corpus": corpus_options(),
            "aggregation": DEFAULT,
            "of": {
                str(pk): _as_kept(**file_options) for pk, file_options in (options or {}).items()
            },
        },
    }


def _as_kept(
    *,
    parts: Sequence[Part] | None = None,
    grade_map: str = "",
    leave_out: str = "",
    n_agreed: int | None = None,
) -> dict[str, Any]:
    """What is said of one file of several, as a job keeps it."""
    return {
        "parts": [part.as_json() for part in parts] if parts else None,
        "grade_map": parse_file_grade_map(grade_map),
        "leave_out": leave_out,
        "n_agreed": n_agreed,
    }


@transaction.atomic
def start_joint_import(
    *,
    benchmark: Benchmark,
    user: User,
    uploads: Sequence[Upload],
    options: Mapping[int, Mapping[str, Any]] | None = None,
) -> Job:
    """Start a job that imports several files as one; raises as `joint_arguments` does."""
    job = jobs.start(benchmark=benchmark, user=user, **joint_arguments(uploads, options))
    for upload in uploads:
        audit.record(
            actor=user, action="import", benchmark=benchmark, target=upload.name, job=job.pk
        )
    return job


@transaction.atomic
def start_import(*, benchmark: Benchmark, user: User, upload: Upload, **options: Any) -> Job:
    """Start a job that imports an uploaded file; raises as `import_arguments` does."""
    job = jobs.start(benchmark=benchmark, user=user, **import_arguments(upload=upload, **options))
    audit.record(actor=user, action="import", benchmark=benchmark, target=upload.name, job=job.pk)
    return job


# --- importing -----------------------------------------------------------------------------


def import_file(job: jobs.RunningJob) -> None:
    """The handler of an import job: stage everything, then commit it in one go.

    Of several files, one that cannot be imported goes on waiting, and the others are imported.
    """
    uploads = _uploads(job)
    for upload in uploads:
        uploading.refuse_imported(upload)
    refused: dict[str, dict[str, Any]] = {}
    while (work := _staged(job, uploads, refused)) is None:
        uploads = [upload for upload in uploads if str(upload.pk) not in refused]
        jobs.clean_staged(job)
        job.remove_folder()
        job.folder.mkdir(parents=True)
    job.progress(1, 1, "making it visible")
    with job.commit() as result:
        uploading.refuse_imported_meanwhile(job.benchmark, uploads)
        analyse(Query, Document, Qrel)
        for commit in work.on_commit:
            commit()
        _show_metadata(work)
        for upload in uploads:
            uploading.mark_imported(upload, "; ".join(work.outcomes))
        _record_left_out(work)
        warnings = [str(warning) for warning in work.problems.warnings]
        waits = [
            f"{refusal['file']} was not imported: {refusal['error']}"
            for refusal in refused.values()
        ]
        result.update(made=work.outcomes, notes=[*waits, *work.notes, *warnings], url=work.url)
        if refused:
            result["refused"] = refused


def _staged(
    job: jobs.RunningJob, uploads: Sequence[Upload], refused: dict[str, dict[str, Any]]
) -> Import | None:
    """The files, staged; None where some of several cannot be, which are put among `refused`."""
    work = Import(
        job=job,
        upload=uploads[0],
        file=uploads[0].name if len(uploads) == 1 else f"{len(uploads)} files",
        options=job.parameters,
    )
    work.problems = Problems(leaves_out=_files_left_without(work, uploads))
    try:
        _stage_uploads(work, uploads)
        work.problems.raise_found()
        _refuse_unagreed(work, uploads)
    except jobs.JobFencedError:
        raise
    except BenchmarkError as error:
        if isinstance(error, UnreadableFileError):
            for upload in uploads if len(uploads) == 1 else work.at:
                uploading.keep_broken(upload, error, is_job=True)
        blamed = _blamed(work, uploads, error)
        if not blamed or len(blamed) == len(uploads):
            raise
        refused |= {str(upload.pk): _told(work, upload, error) for upload in blamed}
        return None
    return work


def _files_left_without(work: Import, uploads: Sequence[Upload]) -> bool | frozenset[str]:
    """Whether bad records are left out; of several uploads, the names of those of which they are.

    An archive's files go by names of their own, which no two of the uploads share.
    """
    is_said = {upload.pk: work.option(upload, "leave_out") == "records" for upload in uploads}
    if len(uploads) == 1:
        return all(is_said.values())
    others = {upload.name for upload in uploads if not is_said[upload.pk]}
    return frozenset(upload.name for upload in uploads if is_said[upload.pk]) - others


def _stage_uploads(work: Import, uploads: Sequence[Upload]) -> None:
    files: list[File] = []
    for upload in uploads:
        with _staging(work, [upload]):
            files += _files(work, upload)
    if work.options.get("leave_out") == "files" and len(files) > 1:
        files = [file for file in files if _is_readable(work, file)]
        if not files:
            raise NothingImportedError(file=work.file, what="file without a bad record")
    for file in files:
        work.upload_of.setdefault(file.place.shown, set()).add(file.upload.pk)
    _stage(work, files)


@contextmanager
def _staging(work: Import, uploads: Iterable[Upload]) -> Iterator[None]:
    """Remember which uploads are at work: an error that names no file is theirs."""
    work.at = list(uploads)
    yield
    work.at = []


def _blamed(work: Import, uploads: Sequence[Upload], error: BenchmarkError) -> list[Upload]:
    """The uploads that an error is about; none where that cannot be told."""
    if not isinstance(error, FileProblemsError):
        return list(dict.fromkeys(work.at))
    named = {pk for problem in error.problems for pk in work.upload_of.get(problem.file, ())}
    return [upload for upload in uploads if upload.pk in named]


def _told(work: Import, upload: Upload, error: BenchmarkError) -> dict[str, Any]:
    """What is kept of an upload that was not imported with the others."""
    if not isinstance(error, FileProblemsError):
        return {"file": upload.name, "error": str(error), "problems": []}
    problems = [
        {"file": problem.file, "line": problem.line, "text": problem.text}
        for problem in error.problems
        if upload.pk in work.upload_of.get(problem.file, ())
    ]
    n = len(problems)
    more = " or more" if error.is_cut else ""
    words = f"{n}{more} problem{'s were' if n > 1 or more else ' was'} found in it."
    return {"file": upload.name, "error": words, "problems": problems}


def _refuse_unagreed(work: Import, uploads: Sequence[Upload]) -> None:
    """Refuse to leave out more records than somebody has agreed to, where they said how many."""
    agreed = [
        work.option(upload, "n_agreed")
        for upload in uploads
        if work.option(upload, "leave_out") == "records"
    ]
    if not agreed or None in agreed or work.problems.n_left_out <= sum(agreed):
        return
    left_out = work.problems.left_out
    raise FileProblemsError(problems=left_out, is_cut=work.problems.n_left_out > len(left_out))


def _is_readable(work: Import, file: "File") -> bool:
    """Whether every record of a file can be read; one that is left out is named."""
    problems = Problems(1)
    try:
        for rows in _readers(work, file, problems):
            for _ in rows:
                pass
    except FileProblemsError as error:
        work.left_out.append(str(error.problems[0]))
        return False
    except BenchmarkError as error:
        work.left_out.append(f"{file.place.shown}: {error}")
        return False
    return True


def _readers(work: Import, file: "File", problems: Problems) -> Iterator[Iterable[Any]]:
    """What is read of a file; of what queries are said to be, nothing before it is imported."""
    if file.kind in DOCUMENT_KINDS:
        yield document_rows(work, file, problems=problems)
    if file.kind in QUERY_KINDS:
        yield query_rows(work, file, problems=problems)
    if file.kind in QREL_KINDS:
        yield qrel_rows(work, file, problems=problems)
    if file.kind is FileKind.RUN:
        yield run_lines(work, file, problems=problems)
    if file.kind is FileKind.RUN_TABLE:
        yield run_rows(work, file, problems=problems)


def _record_left_out(work: Import) -> None:
    """Name and count what was left out, in the job's notes and in the audit."""
    n, named = work.problems.n_left_out, [*map(str, work.problems.left_out)][:NAMED_LEFT_OUT]
    if not n and not work.left_out:
        return
    if n:
        more = f" The first {len(named)} problems:" if n > len(named) else ""
        work.notes.append(f"{n:,} bad record{'s were' if n > 1 else ' was'} left out.{more}")
        work.notes.extend(f"left out: {problem}" for problem in named)
    work.notes.extend(f"file left out: {file}" for file in work.left_out)
    audit.record(
        actor=work.job.row.created_by,
        action="leave-out",
        benchmark=work.benchmark,
        target=work.file,
        job=work.job.row.pk,
        records=n,
        named=named,
        files=work.left_out,
    )


def _uploads(job: jobs.RunningJob) -> list[Upload]:
    keys = job.parameters.get("uploads") or [job.parameters["upload"]]
    uploads = Upload.objects.in_bulk(keys)
    return [uploads[key] for key in keys]


def _show_metadata(work: Import) -> None:
    fields = work.options.get("shown_metadata")
    if fields is not None:
        Benchmark.objects.filter(pk=work.benchmark.pk).update(shown_metadata=fields)


@dataclass(frozen=True)
class File:
    """One file at work: what it is, where it lies, and the upload it came in.

    `unlisted` is what the manifest beside it says of documents that its qrels do not list, and
    `given_by` whether a machine or clicks gave them.
    """

    part: Part
    place: Place
    upload: Upload
    unlisted: str
    given_by: str

    @property
    def kind(self) -> FileKind:
        if self.part.kind is None:
            raise UnknownKindError(file=self.place.shown)
        return self.part.kind


def _files(work: Import, upload: Upload) -> list[File]:
    """The files of an upload, each with what it is."""
    place = Place(uploading.local(upload), upload.name)
    kind = work.options.get("kind")
    parts, unlisted, given_by = reading_apart.call(
        parts_to_import,
        place,
        [Part.of_json(part) for part in work.option(upload, "parts") or ()],
        FileKind(kind) if kind else None,
        work.job.folder,
        file=upload.name,
        is_job=True,
    )
    unknown = (part for part in parts if part.is_unknown)
    work.notes += [f"file left out: {part.member}: {part.note}" for part in unknown]
    return [
        File(part, replace(place, member=part.member), upload, unlisted, given_by)
        for part in parts
        if part.kind is not None or not part.member
    ]


def _stage(work: Import, files: list[File]) -> None:
    """Stage all files, those first that others name."""
    with _staging(work, _uploads_of(_of(files, *DOCUMENT_KINDS, FileKind.PASSAGES))):
        check = _stage_corpus(work, files)
    with _staging(work, _uploads_of(_of(files, *FAMILIES_FIRST))):
        annotations = read_said(work, _of(files, *FAMILIES_FIRST))
    for file in _of(files, *QUERY_KINDS):
        with _staging(work, [file.upload]):
            stage_queries(work, _queries(work, file), file.place.shown, annotations)
    work.lacks_queries = bool(work.problems.found and _of(files, *QUERY_KINDS))
    with _staging(work, _uploads_of(_of(files, *FAMILIES_FIRST))):
        stage_said(work, annotations)
    names: set[str] = set()
    for grades in _by_mapping(work, _of(files, *QREL_KINDS)):
        with _staging(work, _uploads_of(grades)):
            _stage_grades(work, grades, check, names)
    if not work.lacks_queries:
        with _staging(work, _uploads_of(_of(files, FileKind.SLICES))):
            stage_slices(work, _of(files, FileKind.SLICES))
    for number, file in enumerate(_of(files, *RUN_KINDS)):
        with _staging(work, [file.upload]):
            _stage_run(work, file, number, check, is_alone=len(files) == 1)


def _uploads_of(files: Iterable[File]) -> list[Upload]:
    return list(dict.fromkeys(file.upload for file in files))


def _by_mapping(work: Import, files: Sequence[File]) -> list[list[File]]:
    """Files of grades that become one set: those mapped alike."""
    groups: dict[str, list[File]] = {}
    for file in files:
        mapping = work.option(file.upload, "grade_map") or {}
        groups.setdefault(str(sorted(mapping.items())), []).append(file)
    return list(groups.values())


def _stage_grades(work: Import, grades: list[File], check: DocumentCheck, names: set[str]) -> None:
    """Stage one set; `names` are those of the sets before it."""
    upload = grades[0].upload
    name = _kept_name(upload.name.split(".")[0], upload.name)
    name = _kept_name("", upload.name) if name in names else name
    names.add(name)
    stage_qrels(
        work,
        [_grades(work, file) for file in grades],
        check,
        name=name,
        unlisted=grades[0].unlisted,
        given_by=grades[0].given_by,
        grade_map=work.option(upload, "grade_map") or {},
    )


def _of(files: Sequence[File], *kinds: FileKind) -> list[File]:
    return [file for file in files if file.kind in kinds]


def _grades(work: Import, file: File) -> SplitRows:
    rows = qrel_rows(work, file)
    if file.part.is_rest:
        rows = (row for row in rows if isinstance(row.grade, int) and row.grade < 0)
    return SplitRows(file.part.split, file.place.shown, rows)


# --- a corpus ------------------------------------------------------------------------------


def _stage_corpus(work: Import, files: list[File]) -> DocumentCheck:
    """Stage the documents, if there are any; returns what tells which ids the corpus lacks."""
    corpus = _of(files, *DOCUMENT_KINDS)
    is_passages = False
    if not corpus and work.benchmark.current_corpus_version is None:
        # Judged passages are a corpus where there is none; a corpus of its own may come later.
        is_passages = work.benchmark.corpus.has_texts
        corpus = _of(files, FileKind.PASSAGES) if is_passages else []
    if not corpus:
        return lambda docids: unknown_names(work.benchmark, docids)
    if is_passages:
        work.notes.append(
            "The corpus holds the judged passages alone. Import the whole corpus, "
            "or every system looks better than it is."
        )
    kinds = {file.kind is FileKind.IDS for file in corpus}
    if len(kinds) > 1:
        raise MixedCorpusError(file=work.file)
    rows = chain.from_iterable(_documents(work, file) for file in corpus)
    file_name = corpus[0].place.shown if len(corpus) == 1 else work.file
    index = stage_corpus(
        work, rows, file_name, has_texts=not kinds.pop(), judged=_judged(work, files)
    )
    return staged_lacks(work, index)


def _documents(work: Import, file: File) -> Iterable[CorpusRow]:
    """The documents of a file, with their images where the corpus is one of images."""
    rows, column = document_rows(work, file), file.part.mapping.get("image", "")
    if work.benchmark.corpus.unit == Unit.IMAGE and file.kind is not FileKind.IDS:
        return stage_images(work, rows, file.place, column=column)
    if column and not file.part.mapping.get("text"):
        raise ImageUnitError(file=file.place.shown)
    return rows


def _queries(work: Import, file: File) -> Iterable[QueryRow]:
    """The queries of a file, with their images where a column has any."""
    rows, column = query_rows(work, file), file.part.mapping.get("image", "")
    return stage_query_images(work, rows, file.place, column=column) if column else rows


def _judged(work: Import, files: list[File]) -> Iterable[str]:
    """The documents that the qrels beside a corpus name, where a cut must keep them.

    What is wrong there is told later.
    """
    if not (work.options.get("corpus") or {}).get("max_docs"):
        return
    for file in _of(files, *QREL_KINDS):
        # Beyond records that are left out others may stand.
        problems = Problems(leaves_out=work.problems.leaves_out)
        with suppress(FileProblemsError):
            for row in qrel_rows(work, file, problems=problems):
                yield row.docid


# --- a run ---------------------------------------------------------------------------------


def _stage_run(
    work: Import, file: File, number: int, check: DocumentCheck, *, is_alone: bool
) -> None:
    benchmark, file_name = work.benchmark, file.place.shown
    problems = Problems() if work.problems.leaves_out else work.problems
    name = (work.options.get("name") if is_alone else "") or _stem(file_name)

    def told(done: int, total: int | None) -> None:
        done_so_far = f"{done:,} lines {'written' if total else 'read'}"
        work.job.progress(done, total or 0, done_so_far)

    options: dict[str, Any] = {
        "file": file_name,
        "folder": work.job.folder / f"run-{number}",
        # A run is what a system answered: without some of its lines it would be another.
        "problems": problems,
        "allowed_queries": set(benchmark.queries.committed().values_list("qid", flat=True))
        | work.staged_qids,
        "known_document": check,
        "benchmark": benchmark,
        "reader": work.staged_corpus,
        "aggregation": work.options.get("aggregation") or DEFAULT,
        "taken_apart": lambda terms: reading_apart.call(
            take_run, file.place, file.part, terms, file=file_name, is_job=True, progress=told
        ),
    }
    staged = runs.stage_run(**options)
    if problems is not work.problems:
        work.problems.warnings.extend(problems.warnings)
    work.outcomes.append(f"run '{name}' of {counted(staged.summary.n_queries, 'query')}")
    if staged.n_extra_queries:
        n_extra = counted(staged.n_extra_queries, "query")
        verb = "is" if staged.n_extra_queries == 1 else "are"
        work.notes.append(f"{n_extra} of the run {verb} not in the benchmark.")
    work.on_commit.append(lambda: _commit_run(work, file.upload, staged, name, staged.said))


def _stem(name: str) -> str:
    """What a run is called after its file."""
    plain = name.rsplit("/", 1)[-1].removesuffix(".gz").removesuffix(".zst")
    return _kept_name(plain.rsplit(".", 1)[0], plain)


def _kept_name(stem: str, name: str) -> str:
    """What is kept of a file's name: all of it where nothing stands before its ending."""
    return (stem.strip() or name)[:LONGEST_NAME]


def _commit_run(
    work: Import, upload: Upload, staged: runs.StagedRun, name: str, metadata: dict[str, Any]
) -> None:
    run = runs.create_run(
        staged=staged,
        benchmark=work.benchmark,
        name=name,
        owner=upload.owner,
        sha256=upload.sha256,
        upload=upload,
        description=work.options.get("description", ""),
        metadata=metadata,
    )
    work.url = reverse("run-detail", args=[work.benchmark.slug, run.pk])

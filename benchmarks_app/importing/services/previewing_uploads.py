"""What an uploaded file seems to be, and its first rows: looked at before anything is imported."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks_app.collections.services import uploading
from benchmarks_app.common.selectors.qrel_sets import relevant_values
from benchmarks_app.common.selectors.reading import unknown_names
from benchmarks_app.common.services import reading_apart
from benchmarks_app.models import Benchmark, Unit, Upload
from benchwright.detection import DOCUMENT_KINDS, QREL_KINDS, RUN_KINDS, FileKind, Part
from benchwright.errors import BenchmarkError, Problem
from benchwright.formats.numbers import FileGrade, in_order
from benchwright.formats.unlisted import UNKNOWN
from benchwright.qrels.scales import Relevance
from benchwright.sandbox import UnreadableFileError
from benchwright.uploads import Look, Place, look_at
from benchwright.uploads.at_file import DOCIDS_TOLD, METADATA_SHOWN


@dataclass(frozen=True)
class Preview:
    """An upload as it would be imported; `error` is what keeps it from being read at all."""

    upload: Upload
    looks: tuple[Look, ...] = ()
    is_collection: bool = False
    error: str = ""
    # Whether its files were read to their ends for this, and not their first rows alone.
    is_whole: bool = False
    # What the manifest of an export of ours says of documents that its qrels do not list.
    unlisted: str = UNKNOWN

    @property
    def taken(self) -> list[Look]:
        return [look for look in self.looks if look.part.kind is not None]

    @property
    def left_out(self) -> list[Look]:
        return [look for look in self.looks if look.part.kind is None]

    @property
    def is_good(self) -> bool:
        """Whether nothing that was looked at stands against an import."""
        return bool(self.taken) and all(look.is_ready for look in self.taken) and not self.error

    @property
    def is_ready(self) -> bool:
        """Whether it was read to its end and can be imported without a word from anybody."""
        return self.is_good and self.is_read and not self.bad_records

    @property
    def is_read(self) -> bool:
        # What somebody has said of it is kept there, too, whether it was read or not.
        return self.is_whole or "rows" in self.upload.reading

    @property
    def bad_records(self) -> list[Problem]:
        """What reading it to its end, as its content tells, has found."""
        return [Problem(**problem) for problem in self.upload.reading.get("problems", ())]

    @property
    def parts(self) -> list[Part]:
        return [look.part for look in self.looks]

    @property
    def grades(self) -> dict[FileGrade, int]:
        """The grades of all qrels in it, numbers before words."""
        counts: Counter[FileGrade] = Counter()
        for look in self.taken:
            if not look.part.is_rest:
                counts.update(look.grades)
        return {grade: counts[grade] for grade in in_order(counts)}

    @property
    def words(self) -> dict[str, int]:
        """The words among the grades, of which a person says what they are."""
        return {grade: n for grade, n in self.grades.items() if isinstance(grade, str)}

    @property
    def relevance(self) -> Relevance:
        """How many of the grades that are numbers count as relevant, unless they are mapped."""
        numbers = {grade: n for grade, n in self.grades.items() if isinstance(grade, int)}
        return Relevance.of(numbers, relevant_values(self.upload.benchmark))

    @property
    def metadata(self) -> list[str]:
        """The columns of documents that become metadata."""
        names: dict[str, None] = {}
        for look in self.taken:
            if look.part.kind in (FileKind.DOCUMENTS, FileKind.CORPUS):
                names |= dict.fromkeys(look.others)
        return list(names)[:METADATA_SHOWN]

    @property
    def has_corpus(self) -> bool:
        kinds = {look.part.kind for look in self.taken}
        return bool(kinds & {*DOCUMENT_KINDS})

    @property
    def is_named(self) -> bool:
        """Whether what it becomes has a name: a set of qrels, or a run."""
        kinds = {look.part.kind for look in self.taken}
        return bool(kinds & {*QREL_KINDS, *RUN_KINDS})


@dataclass(frozen=True)
class Lacking:
    """Of the ids that waiting files named when they arrived, those that are still unknown."""

    qids: frozenset[str]
    docids: frozenset[str]


NOTHING_LACKS = Lacking(frozenset(), frozenset())


def lacking(benchmark: Benchmark, uploads: Iterable[Upload]) -> Lacking:
    """Asked once for all files of a list."""
    summaries = [upload.reading.get("unknown", {}) for upload in uploads]
    qids = {qid for summary in summaries for qid in summary.get("queries", ())}
    docids = {docid for summary in summaries for docid in summary.get("documents", ())}
    come = benchmark.queries.committed().filter(qid__in=qids).values_list("qid", flat=True)
    unknown = unknown_names(benchmark, docids) if docids else ()
    return Lacking(frozenset(qids - set(come)), frozenset(unknown))


def unknown_ids(upload: Upload, lacks: Lacking) -> list[str]:
    """What is to be said of ids in a waiting file that the benchmark lacks."""
    unknown = upload.reading.get("unknown", {})
    notes = []
    if queries := [qid for qid in unknown.get("queries", ()) if qid in lacks.qids]:
        n_come = len(unknown["queries"]) - len(queries)
        n, of = unknown["n_queries"] - n_come, unknown["of_queries"]
        words = f"None of its {of:,} queries is in this benchmark yet, such as '{queries[0]}'"
        if of == 1:
            words = f"Its query '{queries[0]}' is not in this benchmark yet"
        if n < of:
            verb = "is" if n == 1 else "are"
            words = f"{n:,} of its {of:,} queries {verb} not in this benchmark yet, "
            words += f"such as '{queries[0]}'"
        advice = "Import their texts first, or together with it."
        notes.append(f"{words}. {advice}")
    if documents := [docid for docid in unknown.get("documents", ()) if docid in lacks.docids]:
        n_come = len(unknown["documents"]) - len(documents)
        n, of = unknown["n_documents"] - n_come, unknown["of_documents"]
        first = f"the first {of:,} documents" if of >= DOCIDS_TOLD else f"the {of:,} documents"
        words = f"{n:,} of {first} that it names {'is' if n == 1 else 'are'} not in the corpus"
        notes.append(f"{words}, such as '{documents[0]}'. Was it made from another one?")
    return notes


def parts_said(upload: Upload) -> list[Part] | None:
    """How the files of an upload are to be read, where somebody has said so in the list."""
    parts = upload.reading.get("said", {}).get("parts")
    return [Part.of_json(part) for part in parts] if parts else None


def kept_preview(upload: Upload) -> Preview:
    """What reading an upload to its end has found; its kinds alone where it was not read so."""
    uploading.forget_over(upload, is_job=False)
    reading = upload.reading
    if "looks" not in reading:
        return preview(upload, is_short=True)
    looks = tuple(Look.of_json(look) for look in reading["looks"])
    return Preview(upload, looks, reading["is_collection"], unlisted=reading["unlisted"])


def preview(
    upload: Upload,
    parts: Sequence[Part] | None = None,
    *,
    is_short: bool = False,
    is_whole: bool = False,
    is_job: bool = False,
) -> Preview:
    """Look at an upload: as its content tells, or as `parts` say.

    With `is_short` it tells the kinds alone, without rows; with `is_whole` it reads to the end. A
    file on which a reader broke is not read again: what happened is kept with it.
    """
    uploading.forget_over(upload, is_job=is_job)
    if broken := upload.reading.get("broken"):
        return Preview(upload, error=broken)
    try:
        looked_at = reading_apart.call(
            look_at,
            Place(uploading.local(upload), upload.name),
            parts,
            file=upload.name,
            is_job=is_job,
            has_passages=upload.benchmark.corpus.unit == Unit.PASSAGE,
            is_short=is_short,
            is_whole=is_whole,
        )
    except UnreadableFileError as error:
        uploading.keep_broken(upload, error, is_job=is_job)
        return Preview(upload, error=str(error))
    except BenchmarkError as error:
        return Preview(upload, error=str(error))
    is_whole = is_whole and not is_short
    return Preview(
        upload,
        looked_at.looks,
        looked_at.is_collection,
        is_whole=is_whole,
        unlisted=looked_at.unlisted,
    )

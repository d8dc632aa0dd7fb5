"""What an uploaded file seems to be, and its first rows: looked at before anything is imported."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks_app.core.detection import (
    CONTENT_OF,
    KIND_LABELS,
    FileKind,
    Part,
    layout_for,
    parts_of_collection,
)
from benchmarks_app.core.errors import BenchmarkError, FileProblemsError, Problem
from benchmarks_app.core.formats import beir, mapped, pairs, passages
from benchmarks_app.core.formats.archives import open_source
from benchmarks_app.core.formats.inputs import FileInput, Input, MemberInput
from benchmarks_app.core.formats.tables import Layout, Record, records
from benchmarks_app.core.formats.tabular import docid_rows
from benchmarks_app.core.formats.trec import read_qrels, read_run
from benchmarks_app.core.formats.trec_topics import read_topics
from benchmarks_app.core.import_errors import MappingError
from benchmarks_app.core.mapping import PARENT_FROM_ID, Content, checked
from benchmarks_app.core.problems import Problems
from benchmarks_app.core.relevance import Relevance
from benchmarks_app.core.unlisted import UNKNOWN, manifest_unlisted
from benchmarks_app.models import Benchmark, Unit, Upload
from benchmarks_app.selectors.qrel_sets import relevant_values
from benchmarks_app.services import uploading
from benchmarks_app.services.importing import guessed_part, is_collection

ROWS_SHOWN = 20
ROWS_CHECKED = 200
GRADES_COUNTED = 300_000
PROBLEMS_SHOWN = 8
LONGEST_CELL = 160
# Topics are read whole; files of them are small.
TOPIC_BYTES = 2 << 20
METADATA_SHOWN = 40


@dataclass(frozen=True)
class Look:
    """One file of an upload as it would be read: its first rows, and what is wrong with them.

    `columns` are those of the file where they may be mapped; `headings` are those of `rows`.
    `grades` counts the grades of qrels, of the first rows where `is_cut`.
    """

    part: Part
    name: str
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    columns: tuple[str, ...] = ()
    form: str = ""
    others: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    error: str = ""
    grades: dict[int, int] = field(default_factory=dict)
    is_cut: bool = False
    n_rows_read: int = 0
    # How many records are bad, and whether the others can be read without them.
    n_bad: int = 0
    can_do_without: bool = True

    @property
    def is_ready(self) -> bool:
        """Whether it can be imported as it is."""
        return self.part.kind is not None and not self.error and not self.problems

    @property
    def may_be_chosen(self) -> bool:
        """Whether a person may want it in, though it is left out now."""
        return self.part.kind is not None or bool(self.columns)

    @property
    def grades_in_order(self) -> list[tuple[int, int]]:
        return sorted(self.grades.items())

    @property
    def label(self) -> str:
        """What it is, in words."""
        return KIND_LABELS[self.part.kind].split(":")[0] if self.part.kind else ""

    @property
    def may_have_header(self) -> bool:
        return self.part.has_header is not None


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
        return self.is_whole or bool(self.upload.reading)

    @property
    def bad_records(self) -> list[Problem]:
        """What reading it to its end, as its content tells, has found."""
        return [Problem(**one) for one in self.upload.reading.get("problems", ())]

    @property
    def parts(self) -> list[Part]:
        return [look.part for look in self.looks]

    @property
    def grades(self) -> dict[int, int]:
        """The grades of all qrels in it."""
        found: Counter[int] = Counter()
        for look in self.taken:
            if not look.part.is_rest:
                found.update(look.grades)
        return dict(sorted(found.items()))

    @property
    def relevance(self) -> Relevance:
        """How many of the grades count as relevant, unless they are mapped."""
        return Relevance.of(self.grades, relevant_values(self.upload.benchmark))

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
        return bool(kinds & {FileKind.CORPUS, FileKind.DOCUMENTS, FileKind.IDS})

    @property
    def is_named(self) -> bool:
        """Whether what it becomes has a name: a set of qrels, or a run."""
        kinds = {look.part.kind for look in self.taken}
        return bool(kinds & {*_GRADED, FileKind.RUN, FileKind.RUN_TABLE})


_GRADED = (FileKind.QRELS, FileKind.BEIR_QRELS, FileKind.QREL_TABLE, FileKind.PASSAGES)


def preview(
    upload: Upload,
    parts: Sequence[Part] | None = None,
    *,
    is_short: bool = False,
    is_whole: bool = False,
) -> Preview:
    """Look at an upload: as its content tells, or as `parts` say.

    With `is_short` it tells the kinds alone, without rows; with `is_whole` it reads to the end.
    """
    path = uploading.local(upload)
    try:
        collection = is_collection(path)
        with _files(upload, path, collection, parts) as (given, folder):
            looks = tuple(
                _look(upload.benchmark, one, part, folder, is_short, is_whole)
                for one, part in given
            )
        unlisted = _unlisted(path) if collection and not is_short else UNKNOWN
    except BenchmarkError as error:
        return Preview(upload, error=str(error))
    return Preview(upload, looks, collection, is_whole=is_whole and not is_short, unlisted=unlisted)


def _unlisted(path: Path) -> str:
    with open_source(path) as source:
        return manifest_unlisted(source)


@contextmanager
def _files(
    upload: Upload, path: Path, collection: bool, parts: Sequence[Part] | None
) -> Iterator[tuple[list[tuple[Input, Part]], Path]]:
    with TemporaryDirectory(prefix="benchwright-look-") as name:
        folder = Path(name)
        if not collection:
            given = FileInput(path, upload.name)
            part = parts[0] if parts else Part("", None)
            yield [(given, _completed(given, part, folder, is_asked=not parts))], folder
            return
        with open_source(path) as source:
            told = parts_of_collection(source, folder) if parts is None else parts
            inputs = [MemberInput(source, part.member) for part in told]
            yield (
                [
                    (one, _completed(one, part, folder, is_asked=False))
                    for one, part in zip(inputs, told, strict=True)
                ],
                folder,
            )


def _completed(given: Input, part: Part, folder: Path, *, is_asked: bool) -> Part:
    """A part with its columns guessed where nobody has said them yet."""
    needs = part.kind in CONTENT_OF and not part.mapping
    return guessed_part(given, part, folder) if is_asked or needs else part


def _look(
    benchmark: Benchmark, given: Input, part: Part, folder: Path, is_short: bool, is_whole: bool
) -> Look:
    """One file with its rows; what is wrong with it is told and keeps nobody from the others."""
    if is_short:
        return Look(part, given.shown, error=_lacking(part))
    if part.kind is None and part.member and part.has_header is None:
        return Look(part, given.shown)
    problems = Problems(PROBLEMS_SHOWN, leaves_out=True)
    look = _Looking(benchmark, given, part, folder, problems, is_whole)
    try:
        if part.kind is None:
            return look.at_cells()
        return look.at_table() if part.kind in CONTENT_OF else look.at_rows()
    except FileProblemsError as error:
        return look.found(problems=tuple(error.problems))
    except BenchmarkError as error:
        return look.found(error=str(error))


def _lacking(part: Part) -> str:
    """Why a table cannot be imported as it is."""
    content = CONTENT_OF.get(part.kind) if part.kind else None
    try:
        if content:
            checked(content, part.mapping, part.mapping.values())
    except MappingError as error:
        return str(error)
    return ""


class _Looking:
    """One file while it is looked at."""

    def __init__(
        self,
        benchmark: Benchmark,
        given: Input,
        part: Part,
        folder: Path,
        problems: Problems,
        is_whole: bool,
    ) -> None:
        self.most_rows = None if is_whole else ROWS_CHECKED
        self.most_grades = None if is_whole else GRADES_COUNTED
        self.benchmark = benchmark
        self.given = given
        self.part = part
        self.folder = folder
        self.problems = problems
        self.seen: dict[str, Any] = {}

    def found(self, **more: Any) -> Look:
        told = self.problems
        whole = more.pop("problems", tuple(told.found))
        return Look(
            self.part,
            self.given.shown,
            problems=(*whole, *told.left_out)[:PROBLEMS_SHOWN],
            n_bad=len(whole) + told.n_left_out,
            can_do_without=not whole and not more.get("error"),
            **self.seen,
            **more,
        )

    # --- tables, whose columns are mapped ---------------------------------------------------

    def at_cells(self) -> Look:
        """A file of unknown kind: its cells, from which a person can tell."""
        self._layout(FileKind.DOCUMENTS)
        return self.found()

    def at_table(self) -> Look:
        kind = self.part.kind or FileKind.DOCUMENTS
        content = CONTENT_OF[kind]
        layout = self._layout(kind)
        self.seen["others"] = tuple(self._others(layout, content))
        mapping = checked(content, self._mapping(content), layout.columns)
        rows: Iterable[Any] = READERS[content](
            self._records(layout, self.problems),
            mapping,
            file=self.given.shown,
            problems=self.problems,
        )
        if content is Content.QRELS:
            self._count_grades(rows)
        else:
            self.seen["n_rows_read"] = sum(1 for _ in islice(rows, self.most_rows))
        return self.found()

    def _layout(self, kind: FileKind) -> Layout:
        layout = layout_for(kind, self.given, self.folder, has_header=self.part.has_header)
        raw = list(islice(self._records(layout), ROWS_SHOWN))
        headings = layout.columns[:METADATA_SHOWN]
        self.seen |= {
            "columns": layout.columns,
            "form": layout.form.value,
            "headings": headings,
            "rows": tuple(_cells(record, headings) for _, record in raw),
        }
        return layout

    def _records(self, layout: Layout, problems: Problems | None = None) -> Any:
        told = problems or Problems(10**9)
        return records(self.given, layout, folder=self.folder, problems=told)

    def _mapping(self, content: Content) -> dict[str, str]:
        mapping = dict(self.part.mapping)
        is_passages = self.benchmark.corpus.unit == Unit.PASSAGE
        if mapping.get("parent") == PARENT_FROM_ID and not is_passages:
            del mapping["parent"]
        return mapping

    def _others(self, layout: Layout, content: Content) -> Iterator[str]:
        used = set(self.part.mapping.values())
        if content in (Content.DOCUMENTS, Content.QUERIES):
            yield from (column for column in layout.columns if column not in used)

    # --- files whose columns are agreed -----------------------------------------------------

    def at_rows(self) -> Look:
        kind = self.part.kind or FileKind.IDS
        headings, read = ROWS[kind]
        self.seen["headings"] = headings
        rows = read(self)
        shown: list[tuple[str, ...]] = []
        self.seen["rows"] = ()
        if kind in _GRADED and kind is not FileKind.PASSAGES:
            shown = self._graded(rows)
        else:
            for number, row in enumerate(islice(rows, self.most_rows)):
                self.seen["n_rows_read"] = number + 1
                if number < ROWS_SHOWN:
                    shown.append(_shown(row))
                    self.seen["rows"] = tuple(shown)
        self.seen["rows"] = tuple(shown)
        return self.found()

    def _graded(self, rows: Iterator[Sequence[Any]]) -> list[tuple[str, ...]]:
        shown: list[tuple[str, ...]] = []
        grades: Counter[int] = Counter()
        self.seen["grades"] = grades
        for n, row in enumerate(rows, start=1):
            grades[row[2]] += 1
            if n <= ROWS_SHOWN:
                shown.append(_shown(row))
                self.seen["rows"] = tuple(shown)
            if n == self.most_grades:
                self.seen["is_cut"] = True
                break
        self.seen["n_rows_read"] = sum(grades.values())
        return shown

    def _count_grades(self, rows: Iterable[Any]) -> None:
        grades: Counter[int] = Counter()
        self.seen["grades"] = grades
        for n, row in enumerate(rows, start=1):
            grades[row.grade] += 1
            if n == self.most_grades:
                self.seen["is_cut"] = True
                break
        self.seen["n_rows_read"] = sum(grades.values())

    def lines(self) -> Iterator[bytes]:
        return self.given.lines()

    @property
    def told(self) -> dict[str, Any]:
        """Where the readers tell what is wrong."""
        return {"file": self.given.shown, "problems": self.problems}


READERS: dict[Content, Callable[..., Iterable[Any]]] = {
    Content.DOCUMENTS: mapped.document_rows,
    Content.QUERIES: mapped.query_rows,
    Content.QRELS: mapped.qrel_rows,
    Content.RUN: mapped.run_rows,
}
Rows = Callable[[_Looking], Iterator[Sequence[Any]]]


def _corpus(look: _Looking) -> Iterator[Sequence[Any]]:
    others: dict[str, None] = {}
    for row in beir.corpus_rows(look.lines(), **look.told):
        others |= dict.fromkeys(row.metadata)
        look.seen["others"] = tuple(others)
        yield row.docid, row.title, row.text, row.metadata or ""


def _ids(look: _Looking) -> Iterator[Sequence[Any]]:
    return ((row.docid,) for row in docid_rows(look.lines(), **look.told))


def _topics(look: _Looking) -> Iterator[Sequence[Any]]:
    whole = look.most_rows is None
    content = b"".join(look.lines() if whole else _first_bytes(look.lines(), TOPIC_BYTES))
    for row in read_topics(content, **look.told):
        yield row.qid, row.text, row.description, row.narrative, row.first_seen


def _first_bytes(lines: Iterator[bytes], most: int) -> Iterator[bytes]:
    size = 0
    for line in lines:
        size += len(line)
        yield line
        if size > most:
            return


def _qrels(look: _Looking) -> Iterator[Sequence[Any]]:
    for row in read_qrels(look.lines(), **look.told):
        yield _text(row.qid), _text(row.docid), row.grade


def _beir_qrels(look: _Looking) -> Iterator[Sequence[Any]]:
    return ((row.qid, row.docid, row.grade) for row in beir.qrel_rows(look.lines(), **look.told))


def _run(look: _Looking) -> Iterator[Sequence[Any]]:
    for row in read_run(look.lines(), **look.told):
        rank = "" if row.rank is None else row.rank
        yield _text(row.qid), _text(row.docid), rank, row.score, _text(row.tag)


def _text(raw: bytes) -> str:
    return raw.decode(errors="backslashreplace")


def _passages(look: _Looking) -> Iterator[Sequence[Any]]:
    layout = layout_for(FileKind.PASSAGES, look.given, look.folder)

    def read(problems: Problems) -> Any:
        return records(look.given, layout, folder=look.folder, problems=problems)

    texts = {}
    for row in passages.passage_query_rows(
        islice(read(look.problems), look.most_rows), **look.told
    ):
        texts[row.qid] = row.text
    again = islice(read(Problems(10**9)), look.most_rows)
    for one in passages.passage_qrel_rows(again, **look.told):
        yield one.qid, texts.get(one.qid, ""), one.docid, one.grade


def _families(look: _Looking) -> Iterator[Sequence[Any]]:
    yield from pairs.read_families(look.lines(), **look.told).items()


def _weights(look: _Looking) -> Iterator[Sequence[Any]]:
    yield from pairs.read_weights(look.lines(), **look.told).items()


def _slices(look: _Looking) -> Iterator[Sequence[Any]]:
    for line in islice(look.lines(), look.most_rows):
        cells = _text(line).rstrip("\r\n").split("\t")
        if cells[0].lower() != "query-id" and len(cells) == 2:
            yield cells


ROWS: dict[FileKind, tuple[tuple[str, ...], Rows]] = {
    FileKind.CORPUS: (("id", "title", "text", "metadata"), _corpus),
    FileKind.IDS: (("id",), _ids),
    FileKind.TOPICS: (("id", "text", "description", "narrative", "first seen"), _topics),
    FileKind.QRELS: (("query", "document", "grade"), _qrels),
    FileKind.BEIR_QRELS: (("query", "document", "grade"), _beir_qrels),
    FileKind.RUN: (("query", "document", "rank", "score", "tag"), _run),
    FileKind.PASSAGES: (("query", "text", "passage", "grade"), _passages),
    FileKind.FAMILIES: (("query", "family"), _families),
    FileKind.WEIGHTS: (("query", "weight"), _weights),
    FileKind.SLICES: (("query", "slice"), _slices),
}


def _cells(record: Record, columns: Sequence[str]) -> tuple[str, ...]:
    return _shown([record.get(column) for column in columns])


def _shown(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(_cut("" if value is None else str(value)) for value in values)


def _cut(text: str) -> str:
    flat = " ".join(text[: 2 * LONGEST_CELL].split())
    return flat if len(flat) <= LONGEST_CELL else f"{flat[:LONGEST_CELL]}…"

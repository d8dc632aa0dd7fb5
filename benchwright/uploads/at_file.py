"""One file looked at before anything of it is imported: its first rows, or all of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any

from benchwright.detection import (
    CONTENT_OF,
    GRADED_KINDS,
    RUN_KINDS,
    FileKind,
    Part,
    layout_for,
)
from benchwright.errors import (
    BenchmarkError,
    FileProblemsError,
    PassedOver,
    Problem,
    Problems,
)
from benchwright.files.encodings import as_shown, encoding_note
from benchwright.files.inputs import Input
from benchwright.formats import beir, mapped, pairs, passages
from benchwright.formats.errors import LoneFileError, MappingError, NoRecordError
from benchwright.formats.mapping import PARENT_FROM_ID, Content, checked
from benchwright.formats.numbers import FileGrade
from benchwright.formats.side_tables import SLICE_COLUMNS, two_columns
from benchwright.formats.tables import PASSED_OVER, Layout, Record, records, sample
from benchwright.formats.tabular import docid_rows
from benchwright.formats.trec import RunRow, read_qrels, read_run
from benchwright.formats.trec_topics import read_topics
from benchwright.problem_groups import GroupedProblems, grouped
from benchwright.runs.intake import Intake, Terms
from benchwright.uploads.looks import Look, warn_of_open_end

ROWS_SHOWN = 20
ROWS_CHECKED = 200
GRADES_COUNTED = 300_000
PROBLEMS_SHOWN = 8
WARNINGS_SHOWN = 3
LONGEST_CELL = 160
# Topics are read whole; files of them are small.
TOPIC_BYTES = 2 << 20
METADATA_SHOWN = 40
# Ids that are told of a file of grades or of a run, for whoever knows the benchmark's.
QIDS_TOLD, DOCIDS_TOLD = 100_000, 1_000


def look_at_file(
    file: Input, part: Part, folder: Path, *, has_passages: bool, is_short: bool, is_whole: bool
) -> Look:
    """One file with its rows; what is wrong with it is told and keeps nobody from the others."""
    if is_short:
        return Look(part, file.shown, error=_lacking(part))
    part = _with_encoding(part, file)
    if part.kind is None and part.member and part.has_header is None:
        return Look(part, file.shown)
    most = inf if is_whole else PASSED_OVER
    problems = GroupedProblems(PROBLEMS_SHOWN, leaves_out=True, most_left_out=most)
    look = _Looking(file, part, folder, problems, has_passages, is_whole)
    try:
        if part.kind is None:
            return look.at_cells()
        return look.at_table() if part.kind in CONTENT_OF else look.at_rows()
    except FileProblemsError as error:
        is_told = not problems.found and problems.n_left_out
        return look.found() if is_told else look.found(problems=tuple(error.problems))
    except BenchmarkError as error:
        return look.found(error=str(error))


def _with_encoding(part: Part, file: Input) -> Part:
    """The part whose note says in which encoding its file is read, unless it is UTF-8."""
    notes = [note for note in (part.note, encoding_note(file.encoding)) if note]
    return replace(part, note=" ".join(notes))


def _sentence(warning: Problem) -> str:
    return f"{warning}".rstrip(".") + "."


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
        file: Input,
        part: Part,
        folder: Path,
        problems: GroupedProblems,
        has_passages: bool,
        is_whole: bool,
    ) -> None:
        self.is_whole = is_whole
        self.most_rows = None if is_whole else ROWS_CHECKED
        self.most_grades = None if is_whole else GRADES_COUNTED
        self.has_passages = has_passages
        self.file = file
        self.part = part
        self.folder = folder
        self.problems = problems
        self.seen: dict[str, Any] = {}

    def found(self, **more: Any) -> Look:
        problems = self.problems
        whole = more.pop("problems", tuple(problems.found))
        if self.is_whole:
            with suppress(BenchmarkError):  # what is damaged was told already
                warn_of_open_end(self.file, problems)
            if not whole and self._holds_nothing and not more.get("error"):
                more["error"] = str(NoRecordError(file=self.file.shown))
        notes = [self.part.note, *map(_sentence, problems.warnings[:WARNINGS_SHOWN])]
        # A run is what a system answered: without some of its lines it would be another.
        is_run = self.part.kind in RUN_KINDS
        return Look(
            replace(self.part, note=" ".join(filter(None, notes))),
            self.file.shown,
            problems=(*whole, *problems.left_out)[:PROBLEMS_SHOWN],
            n_bad=len(whole) + problems.n_left_out,
            can_do_without=not whole and not more.get("error") and not is_run,
            groups=problems.groups.listed or grouped(whole),
            **self.seen,
            **more,
        )

    @property
    def _holds_nothing(self) -> bool:
        """Whether a file on its own has no record, good or bad; of a collection a part may lack."""
        is_read = self.part.kind is not None and not self.part.member
        return is_read and not self.problems.n_left_out and not self.seen.get("n_rows_read")

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
            records(self.file, layout, folder=self.folder, problems=self.problems),
            mapping,
            file=self.file.shown,
            problems=self.problems,
        )
        if content is Content.JUDGED:
            rows = self._with_queries(rows, layout, mapping)
        if content in (Content.QRELS, Content.RUN):
            rows = self._noting((row, row.qid, row.docid) for row in rows)
        if content in (Content.QRELS, Content.JUDGED):
            self._count_grades(rows)
        else:
            self.seen["n_rows_read"] = sum(1 for _ in islice(rows, self.most_rows))
        return self.found()

    def _with_queries(
        self, rows: Iterable[Any], layout: Layout, mapping: dict[str, str]
    ) -> Iterator[Any]:
        """The grades, after what is wrong with the queries beside them is told."""
        numbered = records(self.file, layout, folder=self.folder, problems=PassedOver())
        queries = mapped.judged_query_rows(
            numbered, mapping, file=self.file.shown, problems=self.problems
        )
        for _ in islice(queries, self.most_grades):
            pass
        yield from self._noting((row, "", row.docid) for row in rows)
        self.seen["qids"] = ()  # they come with it

    def _layout(self, kind: FileKind) -> Layout:
        layout = layout_for(kind, self.file, self.folder, has_header=self.part.has_header)
        raw = sample(self.file, layout, folder=self.folder, n=ROWS_SHOWN)
        headings = layout.columns[:METADATA_SHOWN]
        self.seen |= {
            "columns": layout.columns,
            "form": layout.form.value,
            "headings": headings,
            "rows": tuple(_cells(record, headings) for _, record in raw),
        }
        return layout

    def _mapping(self, content: Content) -> dict[str, str]:
        mapping = dict(self.part.mapping)
        if mapping.get("parent") == PARENT_FROM_ID and not self.has_passages:
            del mapping["parent"]
        return mapping

    def _others(self, layout: Layout, content: Content) -> Iterator[str]:
        used = set(self.part.mapping.values())
        if content in (Content.DOCUMENTS, Content.QUERIES):
            yield from (column for column in layout.columns if column not in used)

    # --- files whose columns are agreed -----------------------------------------------------

    def at_rows(self) -> Look:
        kind = self.part.kind or FileKind.IDS
        if kind is FileKind.BEIR:
            raise LoneFileError(file=self.file.shown)
        headings, read = ROWS[kind]
        self.seen["headings"] = headings
        if kind is FileKind.RUN and self.is_whole:
            return self._at_whole_run()
        rows = read(self)
        rows_shown: list[tuple[str, ...]] = []
        self.seen["rows"] = ()
        if kind in GRADED_KINDS:
            rows_shown = self._graded(self._noting((row, row[0], row[1]) for row in rows))
        else:
            for number, row in enumerate(islice(rows, self.most_rows)):
                self.seen["n_rows_read"] = number + 1
                if number < ROWS_SHOWN:
                    rows_shown.append(_shown(row))
                    self.seen["rows"] = tuple(rows_shown)
        self.seen["rows"] = tuple(rows_shown)
        return self.found()

    def _at_whole_run(self) -> Look:
        """A TREC run checked as an import does, which tells documents that come twice as well."""
        first = read_run(self.lines(), file=self.file.shown, problems=PassedOver())
        self.seen["rows"] = tuple(_shown(_run_cells(row)) for row in islice(first, ROWS_SHOWN))
        terms = Terms(self.file.shown, self.folder / "run", "trec")
        with self.file.opened() as stream:
            summary = Intake(terms, self.problems, None).of_stream(stream)
        self.seen["n_rows_read"] = summary.n_rows
        import polars as pl

        ids = pl.scan_parquet(summary.parquet)
        for name, most in (("qid", QIDS_TOLD), ("docid", DOCIDS_TOLD)):
            named = ids.select(pl.col(name).unique(maintain_order=True).head(most)).collect()
            self.seen[f"{name}s"] = tuple(named[name])
        if self.problems.n_left_out:
            # A document that comes twice was written twice.
            pairs = pl.read_parquet(summary.parquet, columns=["qid", "docid"])
            self.seen["n_rows_read"] = pairs.n_unique()
        return self.found()

    def _noting(self, numbered: Iterable[tuple[Any, str, str]]) -> Iterator[Any]:
        """The rows; of a file that is read to its end, the first ids they name are told."""
        qids: dict[str, None] = {}
        docids: dict[str, None] = {}
        for row, qid, docid in numbered:
            if self.is_whole and len(qids) < QIDS_TOLD:
                qids[qid] = None
            if self.is_whole and len(docids) < DOCIDS_TOLD:
                docids[docid] = None
            yield row
        self.seen |= {"qids": tuple(qids), "docids": tuple(docids)}

    def _graded(self, rows: Iterator[Sequence[Any]]) -> list[tuple[str, ...]]:
        rows_shown: list[tuple[str, ...]] = []
        grades: Counter[FileGrade] = Counter()
        self.seen["grades"] = grades
        for n, row in enumerate(rows, start=1):
            grades[row[2]] += 1
            if n <= ROWS_SHOWN:
                rows_shown.append(_shown(row))
                self.seen["rows"] = tuple(rows_shown)
            if n == self.most_grades:
                self.seen["is_cut"] = True
                break
        self.seen["n_rows_read"] = sum(grades.values())
        return rows_shown

    def _count_grades(self, rows: Iterable[Any]) -> None:
        grades: Counter[FileGrade] = Counter()
        self.seen["grades"] = grades
        for n, row in enumerate(rows, start=1):
            grades[row.grade] += 1
            if n == self.most_grades:
                self.seen["is_cut"] = True
                break
        self.seen["n_rows_read"] = sum(grades.values())

    def lines(self) -> Iterator[bytes]:
        return self.file.lines()

    @property
    def told(self) -> dict[str, Any]:
        """Where the readers tell what is wrong."""
        return {"file": self.file.shown, "problems": self.problems}


READERS: dict[Content, Callable[..., Iterable[Any]]] = {
    Content.DOCUMENTS: mapped.document_rows,
    Content.QUERIES: mapped.query_rows,
    Content.QRELS: mapped.qrel_rows,
    Content.RUN: mapped.run_rows,
    Content.JUDGED: mapped.judged_qrel_rows,
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
        yield as_shown(row.qid), as_shown(row.docid), row.grade


def _beir_qrels(look: _Looking) -> Iterator[Sequence[Any]]:
    return ((row.qid, row.docid, row.grade) for row in beir.qrel_rows(look.lines(), **look.told))


def _run(look: _Looking) -> Iterator[Sequence[Any]]:
    return map(_run_cells, read_run(look.lines(), **look.told))


def _run_cells(row: RunRow) -> Sequence[Any]:
    rank = "" if row.rank is None else row.rank
    return as_shown(row.qid), as_shown(row.docid), rank, row.score, as_shown(row.tag)


def _passages(look: _Looking) -> Iterator[Sequence[Any]]:
    layout = layout_for(FileKind.PASSAGES, look.file, look.folder)

    def read(problems: Problems) -> Any:
        return records(look.file, layout, folder=look.folder, problems=problems)

    texts = {}
    for row in passages.passage_query_rows(
        islice(read(look.problems), look.most_rows), **look.told
    ):
        texts[row.qid] = row.text
    again = islice(read(PassedOver()), look.most_rows)
    for qrel in passages.passage_qrel_rows(again, **look.told):
        yield qrel.qid, texts.get(qrel.qid, ""), qrel.docid, qrel.grade


def _families(look: _Looking) -> Iterator[Sequence[Any]]:
    yield from pairs.read_families(look.lines(), **look.told).items()


def _weights(look: _Looking) -> Iterator[Sequence[Any]]:
    yield from pairs.read_weights(look.lines(), **look.told).items()


def _slices(look: _Looking) -> Iterator[Sequence[Any]]:
    for _, qid, name in two_columns(look.lines(), SLICE_COLUMNS, **look.told):
        yield as_shown(qid), as_shown(name)


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

"""The files of a collection that were chosen become what a loader returns."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from benchwright.datasets.collection import Given, Qrels, ReadDocuments
from benchwright.datasets.errors import HiddenQrelsError, SplitMissingError
from benchwright.datasets.naming import listed, split_of_part
from benchwright.datasets.places import Where, input_of, open_place, refuse_pointer
from benchwright.detection import (
    DOCUMENT_KINDS,
    QREL_KINDS,
    QUERY_KINDS,
    FileKind,
    Part,
    parts_of_collection,
)
from benchwright.detection.number_ids import NumberIds
from benchwright.detection.rows import document_rows, qrel_rows, query_rows
from benchwright.errors import MissingFileError, PassedOver, Problems
from benchwright.files.sources import Source
from benchwright.formats.beir import CorpusRow, GradedRow
from benchwright.formats.numbers import words_sentence

PASSAGES_ALONE = (
    "There is no corpus beside the judged passages, so they are all of it: every system looks "
    "better than it is. Give the whole corpus (corpus=…)."
)


@dataclass
class Chosen:
    """The files to read; `other_queries` are those of other splits, for what messages can say."""

    corpus: list[Part] = field(default_factory=list)
    queries: list[Part] = field(default_factory=list)
    qrels: list[Part] = field(default_factory=list)
    other_queries: list[Part] = field(default_factory=list)


def parts_in(source: Source) -> list[Part]:
    """Return the files of a collection that can be read, each with what it is.

    Raises
    ------
    MissingFileError
        If there is none.
    PointerError
        If one of them is what Git keeps in place of a large file.
    """
    for member in source.members():
        if not member.lower().endswith((".md", ".json", ".py")):
            refuse_pointer(source, member)
    with TemporaryDirectory(prefix="benchwright-") as folder:
        parts = parts_of_collection(source, Path(folder))
    return [part for part in parts if part.kind is not None and not part.is_rest]


def choose(
    parts: Sequence[Part],
    split: str,
    *,
    place: str,
    graded: bool = True,
    hides: str = "",
    has_own_queries: bool = True,
) -> Chosen:
    """Return the files of one split.

    Parameters
    ----------
    hides
        Who keeps the grades of test splits, where a collection is known to.
    has_own_queries
        Whether each split has a file of queries; otherwise all files hold queries of all splits.

    Raises
    ------
    SplitMissingError
        If there are qrels or queries, and none of this split.
    HiddenQrelsError
        If the split has queries, and its grades are not published.
    MissingFileError
        If there are no qrels, queries or documents at all.
    """
    qrels = [part for part in parts if part.kind in QREL_KINDS]
    queries = [part for part in parts if part.kind in QUERY_KINDS]
    own = _of_split(queries, split) or _of_split(queries, split.partition(".")[0])
    shared = [part for part in queries if not split_of_part(part)]
    if not has_own_queries:
        own = queries
    files = Chosen(
        corpus=_corpus(parts, place),
        queries=own or shared,
        other_queries=[part for part in queries if part not in (own or shared)],
    )
    if graded:
        files.qrels = _of_split(qrels, split) or _lone(qrels)
        if not files.qrels:
            raise _no_qrels(qrels, split, place, hides if own else "")
    if not files.queries:
        raise _no_queries(queries, split, place)
    return files


def _of_split(parts: Iterable[Part], split: str) -> list[Part]:
    return [part for part in parts if split_of_part(part) == split]


def _lone(parts: list[Part]) -> list[Part]:
    """The only qrels there are, where nothing says which split they are of."""
    return parts if len(parts) == 1 and not split_of_part(parts[0]) else []


def _corpus(parts: Iterable[Part], place: str) -> list[Part]:
    of_corpus = [part for part in parts if part.kind in DOCUMENT_KINDS]
    passages = [part for part in parts if part.kind is FileKind.PASSAGES]
    if not of_corpus and not passages:
        advice = "Give it beside the queries and the qrels (corpus=…, or a list of paths)."
        raise MissingFileError(place=place, expected="corpus", advice=advice)
    return of_corpus or passages


def _no_qrels(parts: list[Part], split: str, place: str, hides: str) -> Exception:
    there = listed(map(split_of_part, parts))
    if hides and split.startswith("test"):
        return HiddenQrelsError(place=place, split=split, whose=hides, there=there)
    if not parts:
        advice = "Put them beside the rest, or say graded=False for corpus and queries alone."
        return MissingFileError(place=place, expected="qrels", advice=advice)
    advice = f"Say split='{there.split(', ')[0]}', or add the file."
    if there == "none":
        there = f"{len(parts)} files of qrels whose names say no split"
        advice = "Give the one file that you mean, with corpus and queries in a list."
    return SplitMissingError(place=place, what="qrels", split=split, there=there, advice=advice)


def _no_queries(parts: list[Part], split: str, place: str) -> Exception:
    if not parts:
        return MissingFileError(place=place, expected="queries", advice="Add their file.")
    return SplitMissingError(
        place=place,
        what="queries",
        split=split,
        there=listed(map(split_of_part, parts)),
        advice="Queries and qrels must be of one split: add the file.",
    )


# --- reading -------------------------------------------------------------------------------------


def read_chosen(where: Where, source: Source, chosen: Chosen, split: str) -> Given:
    """Return queries and qrels of the chosen files, and how to read their corpus.

    Raises
    ------
    FileProblemsError
        If a line of queries or qrels cannot be read; it names them all, up to a limit.
    """
    numbers, problems = NumberIds(), Problems()
    corpus_numbers: list[NumberIds] = []
    with TemporaryDirectory(prefix="benchwright-") as folder:
        reading = _Reading(source, Path(folder), problems, numbers)
        queries = reading.queries(chosen.queries)
        qrels, n_negative = reading.qrels(chosen.qrels)
    problems.raise_found()
    notes = [numbers.note(), *map(str, problems.warnings), _negative_note(n_negative)]
    if chosen.corpus[0].kind is FileKind.PASSAGES:
        notes.append(PASSAGES_ALONE)
    return Given(
        name=source.name,
        split=split,
        documents=_documents(where, chosen.corpus, corpus_numbers),
        queries=queries,
        qrels=qrels,
        remarks=[note for note in notes if note],
        others=lambda: _other_ids(where, chosen.other_queries),
        corpus_notes=lambda: [numbers.note() for numbers in corpus_numbers[-1:] if numbers.n],
    )


def _negative_note(n: int) -> str:
    return f"{n:,} grades are below 0: in the pool, and not judged." if n else ""


@dataclass(frozen=True)
class _Reading:
    source: Source
    folder: Path
    problems: Problems
    numbers: NumberIds | None = None

    def queries(self, parts: Iterable[Part]) -> dict[str, str]:
        texts: dict[str, str] = {}
        for part in parts:
            file = input_of(self.source, part.member)
            rows = query_rows(
                part, file, folder=self.folder, problems=self.problems, numbers=self.numbers
            )
            for row in rows:
                if texts.setdefault(row.qid, row.text) != row.text:
                    problem = f"query '{row.qid}' has another text in another file; keep one"
                    self.problems.add(file.shown, row.line, problem)
        return texts

    def qrels(self, parts: Iterable[Part]) -> tuple[Qrels, int]:
        """The grades, and how many of them are below 0."""
        qrels: Qrels = {}
        n_negative = 0
        for part in parts:
            file = input_of(self.source, part.member)
            rows = qrel_rows(
                part, file, folder=self.folder, problems=self.problems, numbers=self.numbers
            )
            words: Counter[str] = Counter()
            for row in rows:
                if isinstance(row.grade, str):
                    words[row.grade] += 1
                    continue
                n_negative += row.grade < 0
                self._take(row, row.grade, qrels, file.shown)
            if words:
                problem = f"{words_sentence(words)} In Python: write them as numbers first"
                self.problems.add(file.shown, 0, problem, is_whole=True)
        return qrels, n_negative

    def _take(self, row: GradedRow, grade: int, qrels: Qrels, file: str) -> None:
        before = qrels.setdefault(row.qid, {}).setdefault(row.docid, grade)
        if before != grade:
            problem = (
                f"document '{row.docid}' of query '{row.qid}' has the grade {grade} here and "
                f"{before} before; keep one"
            )
            self.problems.add(file, row.line, problem)


def _documents(where: Where, parts: list[Part], counted: list[NumberIds]) -> ReadDocuments:
    def read(problems: Problems) -> Iterator[CorpusRow]:
        numbers = NumberIds()
        counted.append(numbers)
        docids_seen: set[str] = set()
        with open_place(where) as source, TemporaryDirectory(prefix="benchwright-") as folder:
            for part in parts:
                rows = document_rows(
                    part,
                    input_of(source, part.member),
                    folder=Path(folder),
                    problems=problems,
                    numbers=numbers,
                )
                # A passage is given with every query it was judged for; a corpus has it once.
                is_repeated = part.kind is FileKind.PASSAGES and len(parts) > 1
                yield from _once(rows, docids_seen) if is_repeated else rows

    return read


def _once(rows: Iterable[CorpusRow], docids_seen: set[str]) -> Iterator[CorpusRow]:
    for row in rows:
        if row.docid not in docids_seen:
            docids_seen.add(row.docid)
            yield row


def _other_ids(where: Where, parts: Iterable[Part]) -> dict[str, set[str]]:
    """{split: its query ids} of the splits that were not asked for."""
    ids: dict[str, set[str]] = {}
    with open_place(where) as source, TemporaryDirectory(prefix="benchwright-") as folder:
        for part in parts:
            reading = _Reading(source, Path(folder), PassedOver())
            ids.setdefault(split_of_part(part), set()).update(reading.queries([part]))
    return ids

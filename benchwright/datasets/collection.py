"""What a loader returns: a corpus read as a stream, queries, qrels, and what is odd about them."""

import heapq
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchwright.corpora.cuts import Cut, cut_sentence, read_max_docs
from benchwright.datasets.errors import NothingMatchesError
from benchwright.errors import Problems
from benchwright.findings import Finding, Severity
from benchwright.formats.beir import CorpusRow
from benchwright.linting.pitfalls import best_grades, lacking_documents, pitfalls

Qrels = dict[str, dict[str, int]]
ReadDocuments = Callable[[Problems], Iterator[CorpusRow]]
BIAS = (
    "Fewer documents compete, so every system looks better than on the whole corpus: compare such "
    "scores with each other only."
)


class Corpus:
    """Documents as pairs of id and text, read from their files each time it is iterated.

    The text is title and text with a blank between them, as BEIR's readers have it. Iterating
    takes the memory of one document, and of the judged ids. `notes` is complete when the corpus
    has been read once.

    Raises
    ------
    FileProblemsError
        At the end of an iteration, with every line that could not be read.
    """

    def __init__(
        self, read_documents: ReadDocuments, *, judged: Mapping[str, int], cut: Cut | None = None
    ) -> None:
        self._read = read_documents
        self._judged = judged
        self._cut = cut
        self._limit: int | None = None
        self.n_documents: int | None = None
        self.lacking: Finding | None = None
        self._cut_note = ""
        self.reading_notes: Callable[[], list[str]] = list

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for row in self.rows():
            yield row.docid, f"{row.title} {row.text}".strip()

    def rows(self) -> Iterator[CorpusRow]:
        """Yield the documents with title, text, metadata and parent apart."""
        if self._cut and self._limit is None:
            self._draw(self._cut)
        n_documents, judged = 0, set()
        for row in self._whole():
            if self._cut and not self._is_kept(row, self._cut):
                continue
            n_documents += 1
            if row.docid in self._judged:
                judged.add(row.docid)
            yield row
        self.n_documents = n_documents
        self._look_for(judged, n_documents)

    def as_dict(self) -> dict[str, str]:
        """Return {id: text} of the whole corpus, in memory.

        Raises
        ------
        FileProblemsError
            If an id comes twice, or a line cannot be read.
        """
        problems, texts = Problems(), dict[str, str]()
        for row in self.rows():
            if row.docid in texts:
                problem = f"document '{row.docid}' was there before; keep one of the two"
                problems.add("corpus", row.line, problem)
            texts[row.docid] = f"{row.title} {row.text}".strip()
        problems.raise_found()
        return texts

    @property
    def notes(self) -> list[str]:
        """What a reader must know of the corpus; complete when it has been read once."""
        notes = [*self.reading_notes(), self._cut_note]
        if self.lacking:
            notes.append(f"{self.lacking.message} {self.lacking.advice}")
        return [note for note in notes if note]

    def _whole(self) -> Iterator[CorpusRow]:
        problems = Problems()
        yield from self._read(problems)
        problems.raise_found()

    def _look_for(self, judged: Collection[str], n_documents: int) -> None:
        """Tell which judged documents are not there; those that a cut took are told by its note."""
        lacking = [docid for docid in self._judged if docid not in judged]
        if not lacking or (self._cut and not self._cut.keep):
            return
        self.lacking = lacking_documents(
            n_judged=len(self._judged),
            lacking=lacking,
            n_relevant=sum(self._judged[docid] > 0 for docid in lacking),
            n_documents=n_documents,
        )

    # --- a cut ---

    def _draw(self, cut: Cut) -> None:
        """Read the ids once, so that the next reading knows which documents stay."""
        smallest: list[int] = []  # of the draws, negative: the largest of them goes first
        n_kept = n_all = n_judged = 0
        for row in self._whole():
            n_all += 1
            n_judged += row.docid in self._judged
            if _is_wanted(row, cut):
                n_kept += 1
                continue
            heapq.heappush(smallest, -cut.draw(row.docid))
            if len(smallest) > cut.max_docs:
                heapq.heappop(smallest)
        n_others = max(0, cut.max_docs - n_kept)
        drawn = sorted(-draw for draw in smallest)[:n_others]
        self._limit = drawn[-1] if drawn else -1
        self._cut_note = _cut_note(cut, n_kept, n_kept + len(drawn), n_all)

    def _is_kept(self, row: CorpusRow, cut: Cut) -> bool:
        limit = -1 if self._limit is None else self._limit
        return _is_wanted(row, cut) or cut.draw(row.docid) <= limit


def _is_wanted(row: CorpusRow, cut: Cut) -> bool:
    return row.docid in cut.keep or (bool(row.parent) and row.parent in cut.keep)


def _cut_note(cut: Cut, n_kept: int, n: int, n_all: int) -> str:
    if n == n_all:
        return ""
    if cut.keep:
        facts = {"max_docs": cut.max_docs, "kept": n_kept, "n": n, "of": n_all, "seed": cut.seed}
        return f"{cut_sentence(facts)} {BIAS}"
    return (
        f"Cut to {n:,} of {n_all:,} documents, drawn with seed {cut.seed} whether judged or not: "
        f"relevant documents are missing (keep_judged=True keeps them). {BIAS}"
    )


@dataclass(frozen=True)
class Loaded:
    """A corpus, queries and the qrels of one split; unpacks into these three.

    `queries` are those that the qrels grade, {id: text}; `qrels` are {query: {document: grade}}.
    `notes` says what is odd; what needs the corpus comes when that has been read, or by `check`.
    """

    name: str
    split: str
    corpus: Corpus
    queries: dict[str, str]
    qrels: Qrels
    lang: str = ""
    findings: tuple[Finding, ...] = ()
    remarks: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter((self.corpus, self.queries, self.qrels))

    @property
    def notes(self) -> list[str]:
        """What a reader must know, in sentences."""
        sentences = [f"{finding.message} {finding.advice}" for finding in self.findings]
        return [*self.remarks, *sentences, *self.corpus.notes]

    def check(self) -> list[Finding]:
        """Read the corpus once, and return everything that does not fit together."""
        for _ in self.corpus.rows():
            pass
        lacking = self.corpus.lacking
        return [*([lacking] if lacking else []), *self.findings]


@dataclass
class Given:
    """What a collection's files hold, before it is looked over.

    `others` returns the query ids of other splits, {split: ids}, for what a message can say;
    `corpus_notes` what was odd when the corpus was read last.
    """

    name: str
    split: str
    documents: ReadDocuments
    queries: dict[str, str]
    qrels: Qrels
    lang: str = ""
    remarks: list[str] = field(default_factory=list)
    others: Callable[[], dict[str, set[str]]] = dict
    corpus_notes: Callable[[], list[str]] = list


@dataclass(frozen=True, slots=True)
class Shortened:
    """How many documents to take; `max_docs` None is all of them."""

    max_docs: int | None = None
    keep_judged: bool = True
    seed: int = 0

    def cut(self, judged: Collection[str]) -> Cut | None:
        """Return the cut, or None where there is none.

        Raises
        ------
        CutError
            If `max_docs` is no number from 1.
        """
        max_docs = read_max_docs(self.max_docs)
        if max_docs is None:
            return None
        return Cut(max_docs, self.seed, frozenset(judged) if self.keep_judged else frozenset())


def looked_over(collection: Given, shortened: Shortened) -> Loaded:
    """Return the collection with what is odd about it.

    Raises
    ------
    NothingMatchesError
        If no query of the qrels is among the queries.
    CutError
        As `Shortened.cut`.
    """
    is_met = collection.qrels.keys() <= collection.queries.keys()
    others = {} if is_met else collection.others()
    findings = pitfalls(
        collection.queries, collection.qrels, split=collection.split, other_splits=others
    )
    if findings and findings[0].severity is Severity.ERROR:
        problem = " ".join(f"{finding.message} {finding.advice}" for finding in findings[:1])
        raise NothingMatchesError(place=collection.name, said=problem)
    judged = best_grades(collection.qrels)
    corpus = Corpus(collection.documents, judged=judged, cut=shortened.cut(judged))
    corpus.reading_notes = collection.corpus_notes
    return Loaded(
        name=collection.name,
        split=collection.split,
        corpus=corpus,
        queries=_graded(collection),
        qrels=collection.qrels,
        lang=collection.lang,
        findings=tuple(findings),
        remarks=tuple(collection.remarks),
    )


def _graded(collection: Given) -> dict[str, str]:
    """The queries that the qrels grade; all of them where there are no qrels."""
    if not collection.qrels:
        return collection.queries
    graded = {qid: text for qid, text in collection.queries.items() if qid in collection.qrels}
    if n_others := len(collection.queries) - len(graded):
        collection.remarks.append(
            f"{n_others:,} of {len(collection.queries):,} queries have no grade in the split "
            f"'{collection.split}' and are left out."
        )
    return graded

"""One folder or zip that is looked over: what it holds, and what is wrong, place by place.

What is kept is a hash of each id and, of queries, the id: a folder of a million documents takes
some hundred megabytes.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from benchwright.errors import ArchiveError
from benchwright.files.sources import Source
from benchwright.findings import Finding, Severity
from benchwright.formats.beir import BOM, CORPUS, QUERIES
from benchwright.formats.beir_writing import hazard_of
from benchwright.ids import id_problem
from benchwright.linting.collecting import SHOWN, worst
from benchwright.linting.rules import CONTENT, RULES

Row = tuple[int, str, str, int]


@dataclass(slots=True)
class SplitHeld:
    """What the qrels of a split hold: rows and the best grade of each query, grades counted."""

    rows: dict[str, int] = field(default_factory=dict)
    best: dict[str, int] = field(default_factory=dict)
    grades: Counter[int] = field(default_factory=Counter)

    def add(self, qid: str, grade: int) -> None:
        self.rows[qid] = self.rows.get(qid, 0) + 1
        self.best[qid] = max(self.best.get(qid, grade), grade)
        self.grades[grade] += 1


@dataclass(slots=True)
class FolderReport:
    """What is wrong with a folder, place by place, and what it holds."""

    formats: tuple[str, ...]
    findings: list[Finding] = field(default_factory=list)
    n_documents: int = 0
    n_queries: int = 0
    splits: dict[str, SplitHeld] = field(default_factory=dict)
    is_cut: bool = False


class EnoughError(Exception):
    """As many findings as were asked for."""


class Ids:
    """Hashes of ids, with the line of each: tells a second one, and whether one is there."""

    def __init__(self) -> None:
        self.lines: dict[int, int] = {}

    def first(self, text: str, line: int) -> int:
        return self.lines.setdefault(hash(text), line)

    def __contains__(self, text: str) -> bool:
        return hash(text) in self.lines

    def __len__(self) -> int:
        return len(self.lines)


class Folder:
    """A folder that is looked over; findings go into its report as they are met."""

    def __init__(self, path: Path, source: Source, report: FolderReport, limit: int | None) -> None:
        self.path = path
        self.source = source
        self.report = report
        self.limit = limit
        self.members = source.members()
        self.documents: Ids | None = None
        self.queries: Ids | None = None
        self.own_ids: list[str] = []

    def take_ids(self, noun: str, ids: Ids) -> None:
        if noun == "query":
            self.queries, self.report.n_queries = ids, len(ids)
        else:
            self.documents, self.report.n_documents = ids, len(ids)

    # --- telling ---

    def say(self, code: str, file: str, line: int = 0, detail: str = "", *, n: int = 1) -> None:
        """Add a finding for a place; a rule that no target of the folder knows is not told."""
        severity = worst(code, (*self.report.formats, CONTENT))
        if severity is None:
            return
        if self.limit is not None and len(self.report.findings) >= self.limit:
            raise EnoughError
        rule = RULES[code]
        target = self._target(code, severity)
        where = f"{file}:{line}" if line else file
        finding = Finding(code, severity, target, where, detail or rule.says, rule.advice, n)
        self.report.findings.append(finding)

    def _target(self, code: str, severity: Severity) -> str:
        targets = (*self.report.formats, CONTENT)
        return next(name for name in targets if RULES[code].severity(name) is severity)

    # --- lines ---

    def member(self, name: str) -> str | None:
        """Return the file of a name, plain or gzipped; one that is missing is told."""
        member = self.source.plain_or_gz(name)
        if member is None:
            self.say("file-missing", name, detail="is missing; expected it beside the others.")
        return member

    def lines(self, member: str) -> Iterator[tuple[int, str]]:
        """Yield number and text of each line that can be read, without its end."""
        is_told = False
        try:
            for number, raw in enumerate(self.source.lines(member), start=1):
                line = raw.removesuffix(b"\n")
                if line.endswith(b"\r"):
                    line = line.rstrip(b"\r")
                    if not is_told:
                        self.say("line-end", member, number)
                    is_told = True
                if number == 1 and line.startswith(BOM):
                    line = line.removeprefix(BOM)
                    self.say("byte-order-mark", member, 1)
                text = self._decoded(line, member, number)
                if text is not None:
                    yield number, text
        except ArchiveError as error:
            self.say("file-unreadable", member, detail=str(error))

    def _decoded(self, line: bytes, member: str, number: int) -> str | None:
        if not line.strip():
            self.say("blank-line", member, number)
            return None
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            self.say("encoding", member, number, f"byte {error.start + 1} is not UTF-8.")
            return None

    # --- ids ---

    def look_at_id(self, text: str, what: str, file: str, line: int) -> None:
        """Tell what is wrong with an id, and what a reader makes of one that is right."""
        if not text:
            self.say("id-empty", file, line, f"{what} is empty.")
        elif problem := id_problem(text):
            self.say("id-white-space", file, line, f"{what} {text[:60]!r}: {problem}.")
        elif hazard := hazard_of(text):
            self.say(hazard.code, file, line, f"{what} '{text}': {hazard.says}.")

    def order_of(self, file: str) -> "Order":
        """Return what takes the ids of a file one by one, and tells once that they are unsorted."""
        return Order(self, file)

    def look_at_both(self) -> None:
        """Tell of queries that have the id of a document."""
        if not self.documents or not self.own_ids:
            return
        shared = [qid for qid in self.own_ids if qid in self.documents]
        if shared:
            have = "1 query has" if len(shared) == 1 else f"{len(shared)} queries have"
            detail = f"{have} the id of a document ({some(shared)}), and BEIR drops such results."
            self.say("query-id-is-document-id", QUERIES, detail=detail, n=len(shared))


def some(names: list[str]) -> str:
    """Return three of them, for a message."""
    return ", ".join(f"'{name}'" for name in names[:SHOWN]) + ", …" * (len(names) > SHOWN)


class Order:
    """Tells the first id of a file that is not in the order of the ids' bytes."""

    def __init__(self, look: Folder, file: str) -> None:
        self.look = look
        self.file = file
        self.last = b""
        self.is_told = False

    def next(self, text: str, line: int) -> None:
        key = text.encode(errors="surrogatepass")
        if key < self.last and not self.is_told:
            self.look.say("id-order", self.file, line)
            self.is_told = True
        self.last = key


# --- judged pairs, in whatever format they were written ------------------------------------------


def check_rows(
    look: Folder, file: str, split: str, rows: Iterator[Row], split_of: dict[str, str]
) -> None:
    """Look at the judged pairs of a split, in whatever format they were written."""
    split_rows = look.report.splits.setdefault(split, SplitHeld())
    pairs: dict[int, int] = {}
    order, looked, lacking = look.order_of(file), Ids(), _Lacking()
    for number, qid, docid, grade in rows:
        for what, name in (("query-id", qid), ("corpus-id", docid)):
            if name not in looked:
                looked.first(name, number)
                look.look_at_id(name, what, file, number)
        order.next(f"{qid}\t{docid}", number)
        first = pairs.setdefault(hash((qid, docid)), number)
        if first != number:
            detail = f"query {qid}, document {docid} stood on line {first} already."
            look.say("pair-duplicate", file, number, detail)
            continue
        split_rows.add(qid, grade)
        _look_whether_known(look, qid, docid, file, number)
        lacking.see(look, qid, docid, grade)
        if split_of.setdefault(qid, split) != split:
            detail = f"query {qid} is judged in {split_of[qid]} and in {split}."
            look.say("query-in-two-splits", file, number, detail)
            split_of[qid] = split
    lacking.tell(look, file)
    if zeros := [qid for qid, best in split_rows.best.items() if best <= 0]:
        have = "1 query has" if len(zeros) == 1 else f"{len(zeros)} queries have"
        detail = f"{have} no grade above 0 ({some(zeros)}): every run scores 0 there."
        look.say("query-all-zero", file, detail=detail, n=len(zeros))


class _Lacking:
    """Counts the queries and documents of a split that are, and are not, where they should be."""

    def __init__(self) -> None:
        self.queries: dict[str, bool] = {}
        self.documents: dict[str, bool] = {}
        self.relevant: set[str] = set()

    def see(self, look: Folder, qid: str, docid: str, grade: int) -> None:
        if look.queries is not None and qid not in self.queries:
            self.queries[qid] = qid in look.queries
        if look.documents is not None and docid not in self.documents:
            self.documents[docid] = docid in look.documents
        if grade > 0 and not self.documents.get(docid, True):
            self.relevant.add(docid)

    def tell(self, look: Folder, file: str) -> None:
        """Say how many; of a few, each line has said enough."""
        for code, what, ids, more in (
            ("queries-lacking", "queries", self.queries, ""),
            (
                "documents-lacking",
                "documents",
                self.documents,
                f", {len(self.relevant):,} of them relevant",
            ),
        ):
            n = sum(not is_there for is_there in ids.values())
            if n > SHOWN:
                place = _place(look, QUERIES if what == "queries" else CORPUS)
                detail = f"{n:,} of the {len(ids):,} {what} here are not in {place}{more}."
                look.say(code, file, detail=detail, n=n)


def _look_whether_known(look: Folder, qid: str, docid: str, file: str, line: int) -> None:
    for code, noun, name, known_names, place in (
        ("query-dangling", "query", qid, look.queries, _place(look, QUERIES)),
        ("document-dangling", "document", docid, look.documents, _place(look, CORPUS)),
    ):
        if known_names is not None and name not in known_names:
            detail = f"{noun} '{name}' is not in {place}; expected it there."
            look.say(code, file, line, detail)


def _place(look: Folder, beir_name: str) -> str:
    """Return what a format calls the file of documents or of queries."""
    return PLACES.get(look.report.formats[0], {}).get(beir_name, beir_name)


PLACES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "ir-datasets": {CORPUS: "docs.tsv", QUERIES: "queries.tsv"},
        "trec": {QUERIES: "queries.tsv"},
        "ids-only": {CORPUS: "documents.tsv"},
        "hub": {CORPUS: "corpus", QUERIES: "queries"},
        "sentence-transformers": {CORPUS: "corpus", QUERIES: "queries"},
    }
)

"""A release as it is about to be written, looked over for what the field's readers stumble over.

Streams only: what is kept is the ids of the queries and of the judged documents, and eight bytes
of each judged document's text.
"""

from collections.abc import Collection
from hashlib import blake2b

from benchwright.findings import Finding
from benchwright.formats.beir import LARGEST_GRADE
from benchwright.formats.beir_writing import hazard_of
from benchwright.ids import id_problem
from benchwright.linting.collecting import Collector
from benchwright.linting.rules import TARGETS
from benchwright.releases.source import ReleaseSource
from benchwright.texts.images import digests_in


def lint(source: ReleaseSource, targets: Collection[str] = TARGETS) -> list[Finding]:
    """Return what is wrong with a release for readers of these formats, worst first.

    Parameters
    ----------
    targets
        Names of formats, and "content" for what is wrong in any of them. One finding is of one rule
        and one target, with the number of cases; rules that do not matter to a target are not told.
    """
    collector = Collector()
    Look(source, collector).all()
    return collector.findings(targets)


class Look:
    """One pass over queries, qrels and documents, and a second one over the qrels."""

    def __init__(self, source: ReleaseSource, collector: Collector) -> None:
        self.source = source
        self.add = collector.add
        self.qids: set[str] = set()
        # Judged documents that the corpus has not shown yet.
        self.waiting: set[str] = set()
        # Texts that more than one judged document has, by document.
        self.twins: dict[str, bytes] = {}

    def all(self) -> None:
        self.look_at_queries()
        self.look_at_qrels()
        if self.source.documents is not None:
            self.look_at_documents()
            self.look_for_conflicts()

    def look_at_queries(self) -> None:
        last = b""
        for query in self.source.queries():
            last = self._id(query.qid, "query", last, self.qids)
            self.qids.add(query.qid)
            if not query.text.strip() and not digests_in(query.metadata):
                self.add("query-empty", f"query {query.qid}")

    def _id(self, text: str, noun: str, last: bytes, seen: Collection[str] = ()) -> bytes:
        """Look at an id and at its place after the last one; return its bytes."""
        where = f"{noun} {text[:60]}"
        if not text:
            self.add("id-empty", noun)
        elif problem := id_problem(text):
            self.add("id-white-space", where, f"Of {where}, {problem}.")
        elif hazard := hazard_of(text):
            self.add(hazard.code, where, f"{noun.capitalize()} '{text}': {hazard.says}.")
        key = text.encode(errors="surrogatepass")
        if key == last or text in seen:
            self.add("id-duplicate", where)
        elif key < last:
            self.add("id-order", where)
        return key

    def look_at_qrels(self) -> None:
        split_of: dict[str, str] = {}
        for split in self.source.splits:
            best: dict[str, int] = {}
            last: tuple[bytes, bytes] = (b"", b"")
            for qid, docid, grade in self.source.qrels(split):
                where = f"{split}: {qid}, {docid}"
                key = qid.encode(errors="surrogatepass"), docid.encode(errors="surrogatepass")
                if key == last:
                    self.add("pair-duplicate", where)
                elif key < last:
                    self.add("id-order", where)
                last = key
                self._grade(grade, where)
                best[qid] = max(best.get(qid, 0), grade)
                self.waiting.add(docid)
            self._queries_of(split, best, split_of)

    def _grade(self, grade: int, where: str) -> None:
        if type(grade) is not int:
            self.add("grade-not-integer", where, f"It is {grade!r}.")
        elif abs(grade) > LARGEST_GRADE:
            self.add("grade-range", where, f"It is {grade}.")
        elif grade < 0:
            self.add("grade-negative", where, f"It is {grade}.")

    def _queries_of(self, split: str, best: dict[str, int], split_of: dict[str, str]) -> None:
        for qid, grade in best.items():
            if qid not in self.qids:
                self.add("query-dangling", f"{split}: {qid}")
            if grade <= 0:
                self.add("query-all-zero", f"query {qid}")
            if split_of.setdefault(qid, split) != split:
                self.add("query-in-two-splits", f"query {qid}", f"{split_of[qid]} and {split}.")

    def look_at_documents(self) -> None:
        """Look at every document; texts are compared only where grades can differ."""
        first: dict[bytes, str] = {}
        last = b""
        for document in self.source.documents() if self.source.documents else ():
            docid = document.docid
            last = self._id(docid, "document", last)
            if docid in self.qids:
                self.add("query-id-is-document-id", f"query {docid}")
            if not document.text.strip() and not document.title.strip():
                self.add("document-empty", f"document {docid}")
            if docid in self.waiting:
                self.waiting.discard(docid)
                self._note_twin(docid, document.title, document.text, first)
        for docid in sorted(self.waiting)[:1000]:
            self.add("document-dangling", f"document {docid}")

    def _note_twin(self, docid: str, title: str, text: str, first: dict[bytes, str]) -> None:
        key = text_key(title, text)
        twin = first.setdefault(key, docid)
        if twin != docid:
            self.twins[twin] = self.twins[docid] = key

    def look_for_conflicts(self) -> None:
        if not self.twins:
            return
        for split in self.source.splits:
            grades_seen: dict[tuple[str, bytes], tuple[str, int]] = {}
            for qid, docid, grade in self.source.qrels(split):
                if docid not in self.twins or grade < 0:
                    continue
                other, its = grades_seen.setdefault((qid, self.twins[docid]), (docid, grade))
                if its != grade:
                    detail = f"Query {qid}: {other} has {its} and {docid} has {grade}."
                    self.add("text-conflict", f"query {qid}, {other} and {docid}", detail)


def text_key(title: str, text: str) -> bytes:
    """Return 16 bytes that tell texts apart, whatever their case and white space."""
    words = f"{title}\n{text}".casefold().split()
    return blake2b(" ".join(words).encode(errors="surrogatepass"), digest_size=16).digest()

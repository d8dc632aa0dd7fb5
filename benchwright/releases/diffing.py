"""What changed between two releases: queries, labels, splits, slices, documents, scale."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import merge
from itertools import chain
from typing import Any

from benchwright.formats.unlisted import unlisted_of
from benchwright.releases.canonical import document_lines, family_names, query_lines
from benchwright.releases.source import ReleaseSource

NAMED_AT_MOST = 10
Row = tuple[bytes, Any]
Qids = Mapping[str, Iterable[str]]


@dataclass(slots=True)
class Changes:
    """How many were added, changed and removed; the first of them by id."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    named: dict[str, list[str]] = field(default_factory=dict)

    def note(self, what: str, name: str | None = None, n: int = 1) -> None:
        """Count one; `what` is added, changed or removed."""
        setattr(self, what, getattr(self, what) + n)
        if name is not None and len(self.named.setdefault(what, [])) < NAMED_AT_MOST:
            self.named[what].append(name)

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)

    def as_json(self) -> dict[str, Any]:
        """The counts, and names where there are any."""
        counts = {"added": self.added, "changed": self.changed, "removed": self.removed}
        return counts | ({"named": self.named} if self.named else {})


@dataclass(slots=True)
class ReleaseDiff:
    """The difference of a release to its parent.

    `labels`, `by_split` and `by_slice` count labels of public splits alone. Those of hidden ones
    are `withheld`: that some are others is told by the version, and not how many.
    """

    queries: Changes = field(default_factory=Changes)
    documents: Changes = field(default_factory=Changes)
    labels: Changes = field(default_factory=Changes)
    withheld: Changes = field(default_factory=Changes)
    by_split: dict[str, Changes] = field(default_factory=dict)
    by_slice: dict[str, Changes] = field(default_factory=dict)
    slices: Changes = field(default_factory=Changes)
    moved: Changes = field(default_factory=Changes)
    families: int = 0
    weights: int = 0
    unhidden: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    # What else is not as it was: unit, scale, threshold, ties.
    other: dict[str, list[Any]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The difference as a release keeps it."""
        return {
            "queries": self.queries.as_json(),
            "documents": self.documents.as_json(),
            "labels": self.labels.as_json(),
            "by_split": {name: part.as_json() for name, part in sorted(self.by_split.items())},
            "by_slice": {name: part.as_json() for name, part in sorted(self.by_slice.items())},
            "slices": self.slices.as_json(),
            "moved": self.moved.as_json(),
            "families": self.families,
            "weights": self.weights,
            "hidden": self.hidden,
            "unhidden": self.unhidden,
            "other": self.other,
        }


@dataclass(frozen=True)
class Side:
    """One of two releases: everything in it, its splits by query, and facts to compare."""

    source: ReleaseSource
    splits: Qids
    parts: Mapping[str, str | None] = field(default_factory=dict)
    tie_rule: str = ""
    corpus_sha256: str = ""

    def split_of(self) -> dict[str, str]:
        return {qid: split for split, qids in self.splits.items() for qid in qids}


def release_diff(before: Side, after: Side) -> ReleaseDiff:
    """What is not the same; both sources must have their hidden splits in sight.

    Streams both sides once; what stays in memory are query ids.
    """
    diff = ReleaseDiff()
    _diff_queries(diff, before.source, after.source)
    _diff_splits(diff, before, after)
    _diff_labels(diff, before, after)
    _diff_slices(diff, before.source, after.source)
    _diff_documents(diff, before, after)
    _diff_facts(diff, before, after)
    return diff


def _diff_queries(diff: ReleaseDiff, before: ReleaseSource, after: ReleaseSource) -> None:
    for what, key, _, _ in _compared(_query_rows(before), _query_rows(after)):
        diff.queries.note(what, key.decode())


def _query_rows(source: ReleaseSource) -> Iterator[Row]:
    for query in source.queries():
        (line,) = query_lines([query], source.query_shape)
        yield query.qid.encode(), line


def _diff_splits(diff: ReleaseDiff, before: Side, after: Side) -> None:
    was, now = before.split_of(), after.split_of()
    for qid in sorted(was.keys() & now.keys(), key=str.encode):
        if was[qid] != now[qid]:
            diff.moved.note("changed", qid)
    diff.hidden = sorted(set(after.source.hidden) - set(before.source.hidden))
    diff.unhidden = sorted(set(before.source.hidden) - set(after.source.hidden))


def _diff_labels(diff: ReleaseDiff, before: Side, after: Side) -> None:
    slices_of = _by_query(after.source.slices, before.source.slices)
    hidden = {*before.source.hidden, *after.source.hidden}
    for what, _, old, new in _compared(_label_rows(before.source), _label_rows(after.source)):
        qid, split, _ = new or old
        if split in hidden:
            diff.withheld.note(what)
            continue
        diff.labels.note(what)
        diff.by_split.setdefault(split, Changes()).note(what)
        for name in slices_of.get(qid, ()):
            diff.by_slice.setdefault(name, Changes()).note(what)


def _label_rows(source: ReleaseSource) -> Iterator[Row]:
    """Judged pairs of all splits by the bytes of query and document; value: query, split, grade."""
    return merge(*(_rows_of_split(source, split) for split in source.splits), key=_key)


def _rows_of_split(source: ReleaseSource, split: str) -> Iterator[Row]:
    for qid, docid, grade in source.qrels(split):
        if grade >= 0:
            yield qid.encode() + b"\t" + docid.encode(), (qid, split, grade)


def _by_query(*slices: Qids) -> dict[str, set[str]]:
    docids: dict[str, set[str]] = {}
    for name, qids in chain.from_iterable(each_slice.items() for each_slice in slices):
        for qid in qids:
            docids.setdefault(qid, set()).add(name)
    return docids


def _diff_slices(diff: ReleaseDiff, before: ReleaseSource, after: ReleaseSource) -> None:
    """Slices added, removed, and those whose members are others; and families and weights."""
    was, now = dict(before.slices), dict(after.slices)
    for name in sorted(was.keys() | now.keys()):
        if name not in was or name not in now:
            diff.slices.note("added" if name not in was else "removed", name)
        elif set(was[name]) != set(now[name]):
            diff.slices.note("changed", name)
    shared = sorted(
        {query.qid for query in before.queries()} & {query.qid for query in after.queries()},
        key=str.encode,
    )
    old, new = family_names(shared, before.families), family_names(shared, after.families)
    diff.families = sum(old[qid] != new[qid] for qid in shared)
    diff.weights = sum(before.weights.get(qid) != after.weights.get(qid) for qid in shared)


def _diff_documents(diff: ReleaseDiff, before: Side, after: Side) -> None:
    """Documents one by one, unless a hash says already that they are the same."""
    if before.corpus_sha256 == after.corpus_sha256:
        return
    if before.source.documents is None or after.source.documents is None:
        diff.other["corpus"] = [before.corpus_sha256[:12], after.corpus_sha256[:12]]
        return
    part = before.parts.get("documents")
    if part is not None and part == after.parts.get("documents"):
        return
    for what, key, _, _ in _compared(_document_rows(before.source), _document_rows(after.source)):
        diff.documents.note(what, key.decode())


def _document_rows(source: ReleaseSource) -> Iterator[Row]:
    assert source.documents is not None
    for document in source.documents():
        (line,) = document_lines([document], source.document_shape)
        yield document.docid.encode(), hash(line)


def _diff_facts(diff: ReleaseDiff, before: Side, after: Side) -> None:
    was, now = before.source, after.source
    facts = {
        "unit": (was.unit, now.unit),
        "scale": (_scale(was), _scale(now)),
        "threshold": (was.threshold, now.threshold),
        "ties": (before.tie_rule, after.tie_rule),
        "unlisted documents": (unlisted_of(was.manifest), unlisted_of(now.manifest)),
    }
    diff.other |= {name: [old, new] for name, (old, new) in facts.items() if old != new}


def _scale(source: ReleaseSource) -> list[int]:
    return sorted(grade["value"] for grade in source.grades)


# --- comparing two sorted streams ------------------------------------------------------------


def _key(row: Row) -> bytes:
    return row[0]


def _compared(before: Iterator[Row], after: Iterator[Row]) -> Iterator[tuple[str, bytes, Any, Any]]:
    """What happened to which key, with its values before and after; equal ones are passed over."""
    old, new = next(before, None), next(after, None)
    while old is not None or new is not None:
        if old is None or (new is not None and new[0] < old[0]):
            assert new is not None
            yield "added", new[0], None, new[1]
            new = next(after, None)
        elif new is None or old[0] < new[0]:
            yield "removed", old[0], old[1], None
            old = next(before, None)
        else:
            if _differs(old[1], new[1]):
                yield "changed", new[0], old[1], new[1]
            old, new = next(before, None), next(after, None)


def _differs(old: Any, new: Any) -> bool:
    """Labels differ by their grade alone; in which split they are is counted elsewhere."""
    if isinstance(old, tuple):
        return bool(old[2] != new[2])
    return bool(old != new)

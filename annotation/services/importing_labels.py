"""Grades given elsewhere, entered into the ledger for the documents of a pool."""

import csv
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction

from annotation.models import Judgment, Pool, PoolEntry, Slot
from benchmarks_app.core.batches import batched
from benchmarks_app.core.problems import Problems
from benchmarks_app.core.text_hash import text_hash
from benchmarks_app.models import DocumentContent, User
from benchmarks_app.services import audit

COLUMNS = ("query-id", "corpus-id", "grade")
ROWS_PER_BATCH = 500


@dataclass(frozen=True)
class Label:
    """One line of a file of labels; `text_hash` pins it to what its assessor read, or is ''."""

    line: int
    qid: str
    docid: str
    grade: int
    reason: str
    text_hash: str


@dataclass
class Imported:
    """What an import of labels did; labels beside the pool are counted, not kept."""

    n_labels: int = 0
    n_outside: int = 0
    n_stale: int = 0
    queries: set[str] = field(default_factory=set)


def read_labels(path: Path, grades: set[int]) -> list[Label]:
    """The labels of a TSV: query-id, corpus-id, grade, and perhaps reason and text-hash.

    Raises
    ------
    FileProblemsError
        With every line that cannot be used.
    """
    problems = Problems()
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        if not set(COLUMNS) <= set(rows.fieldnames or ()):
            problems.add(path.name, 1, f"the first line must name {', '.join(COLUMNS)}")
            problems.raise_found()
        labels = list(_labels(rows, path.name, grades, problems))
    problems.raise_found()
    return labels


def _labels(
    rows: Iterable[dict[str, str]], file: str, grades: set[int], problems: Problems
) -> Iterator[Label]:
    for line, row in enumerate(rows, start=2):
        if row["grade"] not in {str(grade) for grade in grades}:
            scale = ", ".join(str(grade) for grade in sorted(grades))
            problems.add(file, line, f"grade is '{row['grade']}'; expected one of {scale}")
            continue
        yield Label(
            line,
            row["query-id"],
            row["corpus-id"],
            int(row["grade"]),
            row.get("reason") or "",
            row.get("text-hash") or "",
        )


def import_labels(*, pool: Pool, labels: list[Label], actor: User) -> Imported:
    """Enter labels as events of their importer, each filling a free slot of its entry.

    The same label again changes nothing: its id follows from the pool and the pair.
    """
    done = Imported()
    entries = {
        (entry.query.qid, entry.document.docid): entry
        for entry in pool.entries.select_related("query", "document")
    }
    hashes = _hashes(pool)
    known = [label for label in labels if (label.qid, label.docid) in entries]
    done.n_outside = len(labels) - len(known)
    for batch in batched(known, ROWS_PER_BATCH):
        with transaction.atomic():
            for label in batch:
                _enter(pool, entries[label.qid, label.docid], label, actor, hashes, done)
    audit.record(
        actor=actor,
        action="import-judgments",
        benchmark=pool.benchmark,
        target=pool.name,
        n_labels=done.n_labels,
    )
    return done


def _hashes(pool: Pool) -> dict[int, tuple[str, str]]:
    """{document: (short hash of its text, content hash)} of what the pool shows."""
    contents = DocumentContent.objects.filter(document__pool_entries__pool=pool).order_by("pk")
    return {
        content.document_id: (text_hash(content.title, content.text), content.content_hash)
        for content in contents.distinct()
    }


def _enter(
    pool: Pool,
    entry: PoolEntry,
    label: Label,
    actor: User,
    hashes: dict[int, tuple[str, str]],
    done: Imported,
) -> None:
    short, content_hash = hashes.get(entry.document_id, ("", ""))
    is_stale = bool(label.text_hash) and label.text_hash != short
    slot = entry.slots.filter(kind=Slot.Kind.LABEL, state=Slot.State.FREE).order_by("number")
    free = slot.first()
    _, is_new = Judgment.objects.get_or_create(
        actor=actor,
        client_id=uuid.uuid5(uuid.NAMESPACE_OID, f"{pool.pk} {label.qid} {label.docid}"),
        defaults={
            "benchmark": pool.benchmark,
            "query": entry.query,
            "docid": label.docid,
            "kind": Judgment.Kind.IMPORT,
            "grade": label.grade,
            "note": label.reason,
            "slot": free,
            # What was read: a label for another text says so by its hash.
            "content_hash": label.text_hash if is_stale else content_hash,
            "is_surplus": free is None,
        },
    )
    if is_new:
        done.n_labels += 1
        done.n_stale += is_stale
        done.queries.add(label.qid)
        if free:
            entry.slots.filter(pk=free.pk).update(state=Slot.State.DONE, annotator=actor)

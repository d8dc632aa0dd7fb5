"""Pools as the tests of judging need them: written straight into the tables."""

import uuid
from typing import Any

from annotation.models import Judgment, Pool, PoolEntry, Slot
from annotation.services.judging import record_judgment
from annotation.services.tokens import Shown
from benchmarks_app.models import Benchmark, Corpus, Document, DocumentContent, Guideline, User
from tests import factories


def pool(of: Benchmark, queries: dict[str, list[str]], overlap: int = 1, **values: Any) -> Pool:
    """An open pool from {qid: [docid in queue order]}; missing queries and documents are made."""
    Corpus.objects.filter(pk=of.corpus_id).update(kind=Corpus.Kind.TEXTS)
    of.corpus.kind = Corpus.Kind.TEXTS
    made = Pool.objects.create(
        benchmark=of,
        name=values.pop("name", f"pool {Pool.objects.count() + 1}"),
        seed=7,
        overlap=overlap,
        state=values.pop("state", Pool.State.OPEN),
        created_by=factories.user("keeper"),
        n_entries=sum(map(len, queries.values())),
        **values,
    )
    pairs = [(qid, docid) for qid, docids in queries.items() for docid in docids]
    for place, (qid, docid) in enumerate(pairs):
        _entry(made, place, qid, docid)
    return made


def _entry(of: Pool, place: int, qid: str, docid: str) -> None:
    query = of.benchmark.queries.filter(qid=qid).first() or factories.query(of.benchmark, qid)
    entry = PoolEntry.objects.create(
        pool=of,
        query=query,
        document=document(of.benchmark, docid),
        best_rank=1,
        priority=place,
        contributors={"bm25": 1},
    )
    Slot.objects.bulk_create(
        Slot(
            pool=of,
            query=query,
            entry=entry,
            number=number,
            queue_position=(number - 1) * of.n_entries + place,
        )
        for number in range(1, of.overlap + 1)
    )


def document(of: Benchmark, docid: str) -> Document:
    made, is_new = Document.objects.get_or_create(corpus=of.corpus, docid=docid)
    if is_new:
        DocumentContent.objects.create(
            document=made, content_hash=f"hash of {docid}", title="A title", text="What it says"
        )
    return made


def guideline(of: Benchmark, version: int = 1) -> Guideline:
    return Guideline.objects.create(benchmark=of, version=version, text="Read, then grade.")


def judge(slot: Slot, actor: User, grade: int, **values: Any) -> Judgment:
    values.setdefault("client_id", uuid.uuid4())
    return record_judgment(slot=slot, actor=actor, grade=grade, shown=Shown(), **values)


def docids(slots: list[Slot]) -> set[str]:
    return {slot.entry.document.docid for slot in slots}

"""Pools as the tests of judging need them: written straight into the tables."""

import uuid
from typing import Any

from django.utils import timezone

from annotation.judging.protocol.exchange import Request
from annotation.judging.services.claiming import DOCUMENTS_AHEAD
from annotation.judging.services.exchanging import exchange
from annotation.judging.services.judging import record_judgment
from annotation.judging.services.tokens import Shown, key_of
from annotation.models import Judgment, Pool, PoolEntry, PoolStart, Slot
from benchmarks_app.models import (
    Benchmark,
    Corpus,
    Document,
    DocumentContent,
    Guideline,
    Query,
    QueryFamily,
    User,
)
from tests import factories


def pool(of: Benchmark, queries: dict[str, list[str]], overlap: int = 1, **values: Any) -> Pool:
    """An open pool from {qid: [docid in queue order]}; missing queries and documents are made."""
    Corpus.objects.filter(pk=of.corpus_id).update(kind=Corpus.Kind.TEXTS)
    of.corpus.kind = Corpus.Kind.TEXTS
    record = Pool.objects.create(
        benchmark=of,
        name=values.pop("name", f"pool {Pool.objects.count() + 1}"),
        seed=7,
        overlap=overlap,
        state=values.pop("state", Pool.State.OPEN),
        created_by=factories.user("keeper"),
        n_entries=sum(map(len, queries.values())),
        n_wanted=sum(map(len, queries.values())) * overlap,
        **values,
    )
    pairs = [(qid, docid) for qid, docids in queries.items() for docid in docids]
    query_of = {query.qid: query for query in of.queries.filter(qid__in=queries)}
    query_of |= {
        qid: factories.query(of, qid)
        for qid, docids in queries.items()
        if docids and qid not in query_of
    }
    document_of = _documents(of, list(dict.fromkeys(docid for _, docid in pairs)))
    entries = PoolEntry.objects.bulk_create(
        PoolEntry(
            pool=record,
            query=query_of[qid],
            document=document_of[docid],
            best_rank=1,
            priority=place,
            contributors={"bm25": 1},
        )
        for place, (qid, docid) in enumerate(pairs)
    )
    Slot.objects.bulk_create(
        Slot(
            pool=record,
            query=entry.query,
            entry=entry,
            number=number,
            queue_position=(number - 1) * len(entries) + entry.priority,
        )
        for entry in entries
        for number in range(1, overlap + 1)
    )
    return record


def begun(of: Pool, *people: User) -> None:
    """These people, or all who belong to the benchmark, have read what comes before judging."""
    now = timezone.now()
    everybody = people or [member.user for member in of.benchmark.memberships.all()]
    read = of.benchmark.guidelines.order_by("-version").first()
    PoolStart.objects.bulk_create(
        [
            PoolStart(pool=of, annotator=person, notice_at=now, guideline=read, practice_at=now)
            for person in everybody
        ],
        update_conflicts=True,
        unique_fields=["pool", "annotator"],
        update_fields=["notice_at", "guideline", "practice_at"],
    )


def document(of: Benchmark, docid: str) -> Document:
    return _documents(of, [docid])[docid]


def _documents(of: Benchmark, docids: list[str]) -> dict[str, Document]:
    """Those of the corpus by docid; what is missing is made."""
    document_of = {
        document.docid: document
        for document in Document.objects.filter(corpus=of.corpus, docid__in=docids)
    }
    documents = Document.objects.bulk_create(
        Document(corpus=of.corpus, docid=docid) for docid in docids if docid not in document_of
    )
    DocumentContent.objects.bulk_create(
        DocumentContent(
            document=document,
            content_hash=f"hash of {document.docid}",
            title="A title",
            text="What it says",
        )
        for document in documents
    )
    return document_of | {document.docid: document for document in documents}


def guideline(of: Benchmark, version: int = 1) -> Guideline:
    return Guideline.objects.create(benchmark=of, version=version, text="Read, then grade.")


def judge(slot: Slot, actor: User, grade: int, **values: Any) -> Judgment:
    values.setdefault("client_id", uuid.uuid4())
    return record_judgment(slot=slot, actor=actor, grade=grade, display=Shown(), **values)


def claimed(of: Pool, person: User, n: int = DOCUMENTS_AHEAD) -> list[Slot]:
    """What a labeling page of this person that wants `n` documents holds, in the order it shows."""
    answer = exchange(pool=of, me=person.pk, request=Request((), frozenset(), n))
    keys = {key_of(pk, person.pk): pk for pk in of.slots.values_list("pk", flat=True)}
    order = [keys[item["key"]] for item in answer["items"]]
    slots = of.slots.select_related("pool", "query", "entry__document").in_bulk(order)
    return [slots[pk] for pk in order]


def docids(slots: list[Slot]) -> set[str]:
    return {slot.entry.document.docid for slot in slots}


# --- large pools ---------------------------------------------------------------------------------

WORDS = "river stone lamp engine violet winter paper signal copper meadow harbour ticket".split()  # noqa: SIM905
BATCH = 2_000


def large_pool(of: Benchmark, *, n_queries: int, n_documents: int, overlap: int = 1) -> Pool:
    """As `pool`, in bulk: every query has documents of its own, of about a thousand characters."""
    n_entries = n_queries * n_documents
    record = Pool.objects.create(
        benchmark=of,
        name="large",
        seed=7,
        overlap=overlap,
        state=Pool.State.OPEN,
        created_by=factories.user("keeper"),
        n_entries=n_entries,
        n_wanted=n_entries * overlap,
    )
    families = QueryFamily.objects.bulk_create(
        (QueryFamily(benchmark=of) for _ in range(n_queries)), batch_size=BATCH
    )
    queries = Query.objects.bulk_create(
        (
            Query(benchmark=of, qid=f"q{n}", text=_words(n, 5), family=family)
            for n, family in enumerate(families)
        ),
        batch_size=BATCH,
    )
    entries = PoolEntry.objects.bulk_create(
        (
            PoolEntry(
                pool=record,
                query=queries[n // n_documents],
                document=document,
                best_rank=n % n_documents // 2 + 1,
                priority=n,
                contributors={"bm25": n % n_documents // 2 + 1},
            )
            for n, document in enumerate(_documents_in_bulk(of, n_entries))
        ),
        batch_size=BATCH,
    )
    Slot.objects.bulk_create(
        (
            Slot(
                pool=record,
                query_id=entry.query_id,
                entry=entry,
                number=number,
                queue_position=(number - 1) * n_entries + entry.priority,
            )
            for number in range(1, overlap + 1)
            for entry in entries
        ),
        batch_size=BATCH,
    )
    return record


def _documents_in_bulk(of: Benchmark, n: int) -> list[Document]:
    """Documents with a text each."""
    documents = Document.objects.bulk_create(
        (Document(corpus=of.corpus, docid=f"large-{number}") for number in range(n)),
        batch_size=BATCH,
    )
    DocumentContent.objects.bulk_create(
        (
            DocumentContent(
                document=document,
                content_hash=f"{number:064x}",
                title=_words(number, 4).capitalize(),
                text=". ".join(_words(number * 31 + line, 9).capitalize() for line in range(18))
                + ".",
            )
            for number, document in enumerate(documents)
        ),
        batch_size=BATCH,
    )
    return documents


def _words(number: int, n: int) -> str:
    return " ".join(WORDS[(number * 7 + place * place + number // 12) % 12] for place in range(n))

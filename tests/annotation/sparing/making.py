"""A pool that a machine graded, and what people say of parts of it."""

import uuid
from collections.abc import Iterable, Sequence

from django.utils import timezone

from annotation.models import (
    Campaign,
    CampaignPair,
    Judgment,
    MachineLabel,
    Pool,
    PoolEntry,
    Slot,
    SparingRule,
)
from benchmarks_app.models import Benchmark, Document, Query, User
from tests import factories
from tests.annotation import making, making_machines

N_QUERIES = 5


def graded_pool(of: Benchmark, n: int = 300, n_other: int = 20) -> Campaign:
    """A campaign that is done: it gave 0 to `n` documents of the pool, and 1 to `n_other`."""
    pool = making.pool(of, {})
    pool.statistics = {"runs": [], "overlaps": [], "n_queries": N_QUERIES}
    pool.save(update_fields=["statistics"])
    campaign = making_machines.campaign(pool, state=Campaign.State.DONE)
    queries = [factories.query(of, f"q{q}") for q in range(N_QUERIES)]
    add_graded(campaign, queries, [f"d{number:03}" for number in range(n)], 0)
    add_graded(campaign, queries, [f"e{number:03}" for number in range(n_other)], 1)
    pool.refresh_from_db()
    return campaign


def add_graded(
    to: Campaign, queries: Sequence[Query], docids: Sequence[str], grade: int, model: str = "m-1"
) -> None:
    """Documents join the campaign's pool, one after the other of the queries in turn."""
    pool, begin = to.pool, to.pairs.count()
    corpus = pool.benchmark.corpus
    documents = Document.objects.bulk_create(Document(corpus=corpus, docid=d) for d in docids)
    documents[0].contents.model.objects.bulk_create(
        documents[0].contents.model(
            document=document, content_hash=document.docid, text="What it says"
        )
        for document in documents
    )
    places = [(queries[place % len(queries)], document) for place, document in enumerate(documents)]
    entries = PoolEntry.objects.bulk_create(
        PoolEntry(pool=pool, query=query, document=document, priority=begin + number)
        for number, (query, document) in enumerate(places)
    )
    Slot.objects.bulk_create(
        Slot(pool=pool, query=entry.query, entry=entry, queue_position=entry.priority)
        for entry in entries
    )
    labels = Judgment.events.bulk_create(
        Judgment(
            benchmark=pool.benchmark,
            query=query,
            docid=document.docid,
            kind=Judgment.Kind.MACHINE,
            grade=grade,
            actor=to.created_by,
            rater=to.judge_name,
            pool=pool,
            client_id=uuid.uuid4(),
        )
        for query, document in places
    )
    facts = {"judge_name": to.judge_name, "model": model, "raw": "{}"}
    MachineLabel.objects.bulk_create(
        MachineLabel(
            judgment=label,
            campaign=to,
            prompt=to.prompt,
            key=f"{label.pk:064}",
            answered_at=timezone.now(),
            **facts,
        )
        for label in labels
    )
    CampaignPair.objects.bulk_create(
        CampaignPair(
            campaign=to,
            query=label.query,
            docid=label.docid,
            number=begin + number,
            state=CampaignPair.State.GRADED,
            judgment=label,
        )
        for number, label in enumerate(labels, start=1)
    )
    pool.n_entries += len(docids)
    pool.n_wanted += len(docids)
    pool.save(update_fields=["n_entries", "n_wanted"])


def entries(rule: SparingRule, part: str) -> list[PoolEntry]:
    """The documents of a part, in the order of the queue."""
    rows = PoolEntry.objects.filter(zeros__rule=rule, zeros__part=part)
    return list(rows.select_related("query", "document", "pool").order_by("priority"))


def say(of: Iterable[PoolEntry], person: User, grade: int | None = 0) -> list[Judgment]:
    """A label of a person of each document, in its place; None: nobody could judge it."""
    entries = list(of)
    slots = Slot.objects.filter(entry__in=entries, state=Slot.State.FREE)
    place = {slot.entry_id: slot for slot in slots}
    assert len(place) == len(entries), "some of them are not asked"
    slots.update(state=Slot.State.DONE, annotator=person)
    is_grade = grade is not None
    return Judgment.objects.bulk_create(
        Judgment(
            benchmark=entry.pool.benchmark,
            query=entry.query,
            docid=entry.document.docid,
            kind=Judgment.Kind.GRADE if is_grade else Judgment.Kind.CANT_JUDGE,
            grade=grade,
            reason="" if is_grade else "broken",
            actor=person,
            pool=entry.pool,
            slot=place[entry.pk],
            purpose=Slot.Kind.LABEL,
            client_id=uuid.uuid4(),
        )
        for entry in entries
    )


def n_spared(pool: Pool) -> int:
    return pool.slots.filter(state=Slot.State.SPARED).count()

"""Writing labels that were given elsewhere into the ledger, all of a file in one transaction."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db import connection
from django.db.models import QuerySet

from annotation.core.label_files import Label
from annotation.models import Judgment, Pool, Slot
from benchmarks_app.core.batches import batched
from benchmarks_app.core.text_hash import text_hash
from benchmarks_app.models import Benchmark, DocumentContent, User

ROWS_PER_BATCH = 500
# Below the number of values that SQLite takes in one statement.
KEYS_PER_QUERY = 500
SAVED, SAME, OUTSIDE = "saved", "same", "outside-pool"
NAMESPACE = uuid.UUID("6a1f0c3e-8a56-5b0e-9d1c-2f6d4f6f5b11")


@dataclass(frozen=True)
class Origin:
    """Where labels come from: who enters them, which file or sender, and the pool they are for."""

    benchmark: Benchmark
    actor: User
    source: str
    sha256: str
    pool: Pool | None = None

    @property
    def source_and_digest(self) -> str:
        """What the events say of it; the digest tells files of one name apart."""
        return f"{self.source[:150]}{self._mark}"

    @property
    def _mark(self) -> str:
        return f" sha256:{self.sha256[:16]}"

    def events_of_these_bytes(self) -> QuerySet[Judgment]:
        imported = Judgment.objects.filter(benchmark=self.benchmark, kind=Judgment.Kind.IMPORT)
        return imported.filter(source__endswith=self._mark).order_by()


@dataclass
class Entered:
    """What entering did; `states` says it of each label, in their order."""

    states: list[str] = field(default_factory=list)
    queries: set[str] = field(default_factory=set)
    n_stale: int = 0

    def n(self, state: str) -> int:
        return self.states.count(state)


@dataclass(frozen=True)
class _Place:
    """An entry of the pool, and the free places whose label may be given."""

    entry: int
    free: list[int]


@dataclass(frozen=True)
class _Earlier:
    """The label that somebody stands by so far."""

    pk: int
    grade: int
    pool: int | None
    slot: int | None
    is_surplus: bool


Pair = tuple[str, str]


def enter_labels(*, origin: Origin, labels: Sequence[Label]) -> Entered:
    """Append an event for each label that says something new; call it inside a transaction.

    The same file again changes nothing, nor does a label that its rater gave here before. Another
    grade of the same rater replaces the earlier one. Labels of pairs beside the pool are left out.
    """
    _one_import_at_a_time(origin.benchmark)
    queries = _query_keys(origin.benchmark, {label.qid for label in labels})
    known = _ids_that_are_there(origin, labels)
    earlier = _earlier_labels(origin, labels, queries)
    places = _places(origin, queries) if origin.pool else {}
    done = Entered()
    for batch in batched(labels, ROWS_PER_BATCH):
        texts = _texts(origin.benchmark, [label.docid for label in batch])
        new = []
        for label in batch:
            state, event = _event(origin, label, queries, known, earlier, places, texts)
            done.states.append(state)
            if event:
                new.append(event)
                done.queries.add(label.qid)
                done.n_stale += _is_stale(label, texts)
        Judgment.objects.bulk_create(new)
        filled = [event.slot_id for event in new if event.slot_id and not event.is_surplus]
        Slot.objects.filter(pk__in=filled, state=Slot.State.FREE).update(
            state=Slot.State.DONE, annotator=origin.actor
        )
    return done


def _event(
    origin: Origin,
    label: Label,
    queries: dict[str, int],
    known: set[uuid.UUID],
    earlier: dict[tuple[str, int, str], _Earlier],
    places: dict[Pair, _Place],
    texts: dict[str, tuple[str, str]],
) -> tuple[str, Judgment | None]:
    place = places.get((label.qid, label.docid))
    if origin.pool and place is None:
        return OUTSIDE, None
    client_id = _identity(origin, label)
    query = queries[label.qid]
    before = earlier.get((_rater(origin, label), query, label.docid))
    pool = origin.pool.pk if origin.pool else None
    if client_id in known or (before and (before.grade, before.pool) == (label.grade, pool)):
        return SAME, None
    slot, is_surplus = _slot(place, before, pool)
    return SAVED, Judgment(
        benchmark=origin.benchmark,
        query_id=query,
        docid=label.docid,
        kind=Judgment.Kind.IMPORT,
        grade=label.grade,
        note=label.note,
        actor=origin.actor,
        rater=label.rater,
        source=origin.source_and_digest,
        client_id=client_id,
        pool=origin.pool,
        slot_id=slot,
        purpose=Slot.Kind.LABEL if origin.pool else "",
        supersedes_id=before.pk if before else None,
        # What was read: a label for another text says so by its hash.
        content_hash=label.text_hash
        if _is_stale(label, texts)
        else texts.get(label.docid, ("", ""))[1],
        is_surplus=is_surplus,
    )


def _slot(
    place: _Place | None, before: _Earlier | None, pool: int | None
) -> tuple[int | None, bool]:
    """Which place of the pool the label takes, and whether it is one more than was wanted."""
    if place is None:
        return None, False
    if before and before.pool == pool:
        return before.slot, before.is_surplus
    return (place.free.pop(0), False) if place.free else (None, True)


def _is_stale(label: Label, texts: dict[str, tuple[str, str]]) -> bool:
    short, _ = texts.get(label.docid, ("", ""))
    return bool(label.text_hash) and label.text_hash != short


def _identity(origin: Origin, label: Label) -> uuid.UUID:
    """The label's id: the same for the same label of the same bytes."""
    said = [origin.benchmark.pk, origin.sha256, label.rater, label.qid, label.docid]
    return uuid.uuid5(NAMESPACE, "\n".join(map(str, said)))


def _rater(origin: Origin, label: Label) -> str:
    return f"rater {label.rater}" if label.rater else f"person {origin.actor.pk}"


def _one_import_at_a_time(benchmark: Benchmark) -> None:
    """Two imports of one file see each other; judging goes on."""
    if connection.vendor == "postgresql":
        Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)


def _query_keys(benchmark: Benchmark, qids: set[str]) -> dict[str, int]:
    committed = benchmark.queries.committed()
    return {
        qid: pk
        for batch in batched(sorted(qids), KEYS_PER_QUERY)
        for qid, pk in committed.filter(qid__in=batch).values_list("qid", "pk")
    }


def _ids_that_are_there(origin: Origin, labels: Iterable[Label]) -> set[uuid.UUID]:
    """The identities, of those wanted, that the ledger has, whoever entered them."""
    wanted = {_identity(origin, label) for label in labels}
    ids = origin.events_of_these_bytes().values_list("client_id", flat=True)
    return {found for found in ids.iterator(chunk_size=5000) if found in wanted}


def _earlier_labels(
    origin: Origin, labels: Iterable[Label], queries: dict[str, int]
) -> dict[tuple[str, int, str], _Earlier]:
    """{(rater, query, docid): the label they stand by} of those whom these labels are of."""
    raters = {label.rater for label in labels}
    current = Judgment.objects.current().filter(
        benchmark=origin.benchmark, kind=Judgment.Kind.IMPORT
    )
    if len(raters) <= KEYS_PER_QUERY:
        current = current.filter(rater__in=raters)
    found = {}
    for batch in batched(sorted(queries.values()), KEYS_PER_QUERY):
        rows = (
            current.filter(query__in=batch)
            .order_by("pk")
            .values_list(
                "pk", "grade", "pool", "slot", "is_surplus", "query", "docid", "rater", "actor"
            )
        )
        for *said, query, docid, rater, actor in rows.iterator(chunk_size=5000):
            if rater in raters:
                who = f"rater {rater}" if rater else f"person {actor}"
                found[who, query, docid] = _Earlier(*said)
    return found


def _places(origin: Origin, queries: dict[str, int]) -> dict[Pair, _Place]:
    """What the pool holds of these queries, with the places that this importer may fill."""
    qids = {pk: qid for qid, pk in queries.items()}
    places: dict[Pair, _Place] = {}
    for batch in batched(sorted(qids), KEYS_PER_QUERY):
        entries = origin.pool.entries.filter(query__in=batch)
        rows = entries.values_list("pk", "query", "document__docid")
        of_entry = {}
        for pk, query, docid in rows.iterator(chunk_size=5000):
            places[qids[query], docid] = of_entry[pk] = _Place(pk, [])
        for entry, slot in _free_slots(origin, batch):
            # One person fills one place of a document; further raters' labels are extra ones.
            if not of_entry[entry].free:
                of_entry[entry].free.append(slot)
    return places


def _free_slots(origin: Origin, queries: list[int]) -> list[tuple[int, int]]:
    """(entry, slot) of the labels still wanted, of documents where the importer gave none."""
    labels = Slot.objects.filter(pool=origin.pool, query__in=queries, kind=Slot.Kind.LABEL)
    own = set(labels.filter(annotator=origin.actor).values_list("entry", flat=True))
    free = labels.filter(state=Slot.State.FREE).order_by("entry", "round", "number")
    free = free.select_for_update(of=("self",))
    return [(slot.entry_id, slot.pk) for slot in free if slot.entry_id not in own]


def _texts(benchmark: Benchmark, docids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """{docid: (short hash, content hash)} of what documents of pools say now."""
    contents = DocumentContent.objects.filter(
        document__corpus=benchmark.corpus_id, document__docid__in=set(docids)
    ).order_by("first_seen", "pk")
    return {
        content.document.docid: (text_hash(content.title, content.text), content.content_hash)
        for content in contents.select_related("document")
    }

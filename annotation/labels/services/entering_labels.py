"""Writing labels that were given elsewhere into the ledger, all of a file in one transaction."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db import connection
from django.db.models import Q, QuerySet

from annotation.common.services import statements
from annotation.models import Judgment, Pool, Slot
from benchmarks_app.common.selectors.reading import benchmark_documents
from benchmarks_app.models import Benchmark, DocumentContent, User
from benchwright.files.external_sort import batched
from benchwright.ids import HASH_LENGTH, text_hash
from benchwright.qrels.files import Label
from benchwright.qrels.raters import Raters

ROWS_PER_BATCH = 500
# Below the number of values that SQLite takes in one statement.
KEYS_PER_QUERY = 500
SAVED, SAME, OUTSIDE, JUDGED_HERE = "saved", "same", "outside-pool", "judged-here"
FROM_FILES = [Judgment.Kind.IMPORT, Judgment.Kind.MACHINE]
NAMESPACE = uuid.UUID("6a1f0c3e-8a56-5b0e-9d1c-2f6d4f6f5b11")

# An account, or the name of somebody who has none here.
Rater = int | str
Pair = tuple[str, str]


@dataclass(frozen=True)
class Origin:
    """Where labels come from: who enters them, which file or sender, whose they are, which pool."""

    benchmark: Benchmark
    actor: User
    source: str
    sha256: str
    pool: Pool | None = None
    raters: Raters = field(default_factory=Raters)

    @property
    def source_and_digest(self) -> str:
        """What the events say of it; the digest tells files of one name apart."""
        return f"{self.source[:150]}{self._mark}"

    @property
    def _mark(self) -> str:
        return f" sha256:{self.sha256[:16]}"

    def events_of_these_bytes(self) -> QuerySet[Judgment]:
        imported = Judgment.events.filter(benchmark=self.benchmark, kind__in=FROM_FILES)
        return imported.filter(source__endswith=self._mark).order_by()

    def rater_of(self, name: str) -> Rater:
        """Who gave the labels of this name: an account of the site, or a name alone."""
        return self.raters.accounts.get(name, name) if name else self.actor.pk


@dataclass
class Entered:
    """What entering did; `states` says it of each label, in their order."""

    states: list[str] = field(default_factory=list)
    queries: set[str] = field(default_factory=set)
    n_stale: int = 0
    n_extra: int = 0
    n_machine: int = 0

    def n(self, state: str) -> int:
        return self.states.count(state)


@dataclass
class _Places:
    """The places of one document of a pool: who has one, and which may be filled."""

    own: dict[Rater, int] = field(default_factory=dict)
    done: dict[Rater, int] = field(default_factory=dict)
    open: list[int] = field(default_factory=list)

    def take(self, rater: Rater) -> int | None:
        """The place that a label of this rater fills; None where no further one is wanted.

        It is the one they have filled, where their label has gone to another pool since.
        """
        first_open = self.open[0] if self.open else None
        place = self.done.get(rater, self.own.get(rater, first_open))
        if place is not None:
            self.done[rater] = place
            self.open = [other for other in self.open if other != place]
            self.own = {whose: other for whose, other in self.own.items() if other != place}
        return place


@dataclass(frozen=True)
class _Earlier:
    """What somebody stands by so far."""

    pk: int
    kind: str
    grade: int | None
    pool: int | None
    slot: int | None
    is_surplus: bool
    actor: int


@dataclass(frozen=True)
class _Giver:
    """Who gave a label, and what they stand by so far.

    `is_same` says that it is this grade in this pool; `is_another` that the name has become an
    account, or a machine: the same grade is somebody else's now.
    """

    rater: Rater
    is_machine: bool
    before: _Earlier | None
    is_same: bool
    is_another: bool


def enter_labels(*, origin: Origin, labels: Sequence[Label]) -> Entered:
    """Append an event for each label that says something new; call it inside a transaction.

    The same file again changes nothing, nor does a label that its rater gave before. Another grade
    of the same rater replaces the earlier one; what somebody judged here only they themselves
    replace. Labels of pairs beside the pool are left out. Each rater fills a place of a document;
    a label is extra where the document has as many as are wanted. What machines say is kept apart
    and fills none.
    """
    _one_import_at_a_time(origin.benchmark)
    return _Entering(origin, labels).entered()


class _Entering:
    """What is there before labels are entered, and what becomes of each of them."""

    def __init__(self, origin: Origin, labels: Sequence[Label]) -> None:
        self.origin, self.labels = origin, labels
        self.pool_key = origin.pool.pk if origin.pool else None
        self.queries = _query_keys(origin.benchmark, {label.qid for label in labels})
        # Where labels of the same bytes are.
        self.pool_of = dict(origin.events_of_these_bytes().values_list("client_id", "pool"))
        self.earlier = _earlier_labels(origin, labels, self.queries)
        self.places = _places(origin, origin.pool, self.queries) if origin.pool else {}
        self.texts: dict[str, dict[str, str]] = {}
        self.given_up: list[int] = []
        self.done = Entered()

    def entered(self) -> Entered:
        for batch in batched(self.labels, ROWS_PER_BATCH):
            self.texts = _texts(self.origin.benchmark, batch)
            events = [event for label in batch if (event := self._event(label))]
            Judgment.objects.bulk_create(events)
            Slot.objects.filter(pk__in=self.given_up).update(
                state=Slot.State.FREE, annotator=None, rater=""
            )
            self.given_up = []
            Slot.objects.bulk_update(
                [_filled(event) for event in events if event.slot_id],
                ["state", "annotator", "rater", "lease_expires_at", "is_later"],
            )
        return self.done

    def _event(self, label: Label) -> Judgment | None:
        """What is appended for a label, if anything; why not is the last of the states."""
        place = self.places.get((label.qid, label.docid))
        if self.origin.pool and place is None:
            self.done.states.append(OUTSIDE)
            return None
        giver = self._giver(label)
        before = giver.before
        if before and before.kind not in FROM_FILES and giver.rater != self.origin.actor.pk:
            self.done.states.append(JUDGED_HERE)
            return None
        client_id = _identity(self.origin, label)
        if self.origin.pool and self.pool_of.get(client_id, self.pool_key) != self.pool_key:
            client_id = uuid.uuid5(client_id, f"pool {self.pool_key}")
        is_here = client_id in self.pool_of or (giver.is_same and not giver.is_another)
        slot = None
        if place and not giver.is_machine and (giver.is_same or not is_here):
            slot = self._place(place, giver)
        if is_here and not (before and before.is_surplus and slot):
            self.done.states.append(SAME)
            return None
        if is_here:  # an extra label whose document has a place for it by now
            client_id = uuid.uuid5(client_id, f"place {slot}")
        if (
            before
            and before.slot not in (None, slot)
            and (self._counts(before) or giver.is_machine)
        ):
            self.given_up.append(before.slot)
        is_surplus = place is not None and slot is None and not giver.is_machine
        read_hash, is_stale = self._read(label)
        self.done.states.append(SAVED)
        self.done.queries.add(label.qid)
        self.done.n_stale += is_stale
        self.done.n_extra += is_surplus
        self.done.n_machine += giver.is_machine
        return self._judgment(
            label,
            giver,
            slot_id=slot,
            client_id=client_id,
            is_surplus=is_surplus,
            content_hash=read_hash,
        )

    def _giver(self, label: Label) -> _Giver:
        origin, pair = self.origin, (self.queries[label.qid], label.docid)
        rater, is_machine = origin.rater_of(label.rater), label.rater in origin.raters.machines
        by_name = self.earlier.get((label.rater, *pair))
        before = self.earlier.get((rater, *pair)) or by_name
        if before is None:
            return _Giver(rater, is_machine, None, is_same=False, is_another=False)
        is_renamed = before is by_name and rater != label.rater
        was_machine = before.kind == Judgment.Kind.MACHINE
        return _Giver(
            rater,
            is_machine,
            before,
            is_same=(before.grade, before.pool) == (label.grade, self.pool_key),
            is_another=is_renamed or was_machine != is_machine,
        )

    def _counts(self, before: _Earlier) -> bool:
        """Whether a label counts in this pool, and is no extra one."""
        return before.pool == self.pool_key and not before.is_surplus

    def _place(self, place: _Places, giver: _Giver) -> int | None:
        before = giver.before
        if before and before.slot and self._counts(before) and giver.rater not in place.own:
            return before.slot
        return place.take(giver.rater)

    def _judgment(
        self,
        label: Label,
        giver: _Giver,
        *,
        slot_id: int | None,
        client_id: uuid.UUID,
        is_surplus: bool,
        content_hash: str,
    ) -> Judgment:
        origin, is_machine = self.origin, giver.is_machine
        account = giver.rater if isinstance(giver.rater, int) else None
        return Judgment(
            benchmark=origin.benchmark,
            query_id=self.queries[label.qid],
            docid=label.docid,
            kind=Judgment.Kind.MACHINE if is_machine else Judgment.Kind.IMPORT,
            grade=label.grade,
            note=label.note,
            actor_id=account or origin.actor.pk,
            rater="" if account else label.rater,
            entered_by=None if account in (None, origin.actor.pk) else origin.actor,
            source=origin.source_and_digest,
            client_id=client_id,
            pool=origin.pool,
            slot_id=slot_id,
            purpose=Slot.Kind.LABEL if origin.pool and not is_machine else "",
            supersedes_id=giver.before.pk if giver.before else None,
            content_hash=content_hash,
            is_surplus=is_surplus,
        )

    def _read(self, label: Label) -> tuple[str, bool]:
        """The hash of the text that a label was given for, and whether the document has another.

        A text that is not known here keeps the short hash that the file gives of it.
        """
        texts = self.texts.get(label.docid, {})
        current = next(reversed(texts.values()), "")
        short = label.text_hash[:HASH_LENGTH].lower()
        read_hash = texts.get(short, short) if short else current
        return read_hash, bool(current) and read_hash != current


def _filled(event: Judgment) -> Slot:
    """The place that a label fills, as the table has it from now on."""
    return Slot(
        pk=event.slot_id,
        state=Slot.State.DONE,
        annotator_id=None if event.rater else event.actor_id,
        rater=event.rater,
        lease_expires_at=None,
        is_later=False,
    )


def _identity(origin: Origin, label: Label) -> uuid.UUID:
    """The label's id: the same for the same label of the same bytes, told to be the same person's.

    A label without a name is the same whoever brings it.
    """
    facts = [origin.benchmark.pk, origin.sha256, label.rater, label.qid, label.docid]
    if label.rater in origin.raters.machines:
        facts.append("machine")
    elif label.rater in origin.raters.accounts:
        facts.append(origin.raters.accounts[label.rater])
    return uuid.uuid5(NAMESPACE, "\n".join(map(str, facts)))


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


def _earlier_labels(
    origin: Origin, labels: Iterable[Label], queries: dict[str, int]
) -> dict[tuple[Rater, int, str], _Earlier]:
    """What those whom these labels are of stand by: from files and, of accounts, judged here."""
    names = {label.rater for label in labels} - {""}
    accounts = {rater for label in labels if isinstance(rater := origin.rater_of(label.rater), int)}
    current = Judgment.events.current().wanted().filter(benchmark=origin.benchmark)
    # What a campaign asked for here is no label of a file, though the judge may have its name.
    current = current.exclude(kind=Judgment.Kind.ADJUDICATE).filter(machine=None)
    earlier_of = {}
    for batch in batched(sorted(queries.values()), KEYS_PER_QUERY):
        rows = current.filter(query__in=batch).order_by("pk")
        fields = ("pk", "kind", "grade", "pool", "slot", "is_surplus", "actor")
        values = rows.values_list("rater", "query", "docid", *fields)
        for rater, query, docid, *event in values.iterator(chunk_size=5000):
            earlier = _Earlier(*event)
            if rater in names or (not rater and earlier.actor in accounts):
                earlier_of[rater or earlier.actor, query, docid] = earlier
    return earlier_of


def _places(origin: Origin, pool: Pool, queries: dict[str, int]) -> dict[Pair, _Places]:
    """What the pool holds of these queries, with the places that labels may fill."""
    qids = {pk: qid for qid, pk in queries.items()}
    places: dict[Pair, _Places] = {}
    of_entry: dict[int, _Places] = {}
    for batch in batched(sorted(qids), KEYS_PER_QUERY):
        entries = pool.entries.filter(query__in=batch)
        rows = entries.values_list("pk", "query", "document__docid")
        for pk, query, docid in rows.iterator(chunk_size=5000):
            places[qids[query], docid] = of_entry[pk] = _Places()
    people = {origin.actor.pk, *origin.raters.accounts.values()}
    now = statements.clock()
    for slot in _slots(origin, sorted(qids), people):
        of = of_entry[slot.entry_id]
        if slot.state == Slot.State.DONE:
            of.done[slot.annotator_id or slot.rater] = slot.pk
            continue
        if slot.annotator_id in people:
            of.own[slot.annotator_id] = slot.pk
        is_expired = slot.lease_expires_at and slot.lease_expires_at <= now
        if slot.state == Slot.State.FREE or is_expired:
            of.open.append(slot.pk)
    return places


def _slots(origin: Origin, queries: list[int], people: set[int]) -> list[Slot]:
    """The label slots of these queries that may be filled, free ones first, and those done.

    The former are locked in the order of their keys, so that nobody waits in a ring with those who
    judge meanwhile.
    """
    labels = Slot.objects.filter(pool=origin.pool, kind=Slot.Kind.LABEL)
    theirs = Q(annotator__in=people, state__in=[Slot.State.CLAIMED, Slot.State.ASIDE])
    may_fill = labels.claimable() | labels.filter(theirs)
    keys: list[int] = []
    for batch in batched(queries, KEYS_PER_QUERY):
        keys += may_fill.filter(query__in=batch).values_list("pk", flat=True)
    slots: list[Slot] = []
    for batch in batched(sorted(keys), KEYS_PER_QUERY):
        locked = may_fill.filter(pk__in=batch).order_by("pk").select_for_update(of=("self",))
        slots += locked
    slots.sort(key=lambda slot: (slot.state != Slot.State.FREE, slot.round, slot.number))
    for batch in batched(queries, KEYS_PER_QUERY):
        slots += labels.filter(query__in=batch, state=Slot.State.DONE)
    return slots


def _texts(benchmark: Benchmark, labels: Sequence[Label]) -> dict[str, dict[str, str]]:
    """{docid: {short hash: content hash}} of what documents have said here, today's text last."""
    texts: dict[str, dict[str, str]] = {}
    contents = DocumentContent.objects.filter(
        document__corpus=benchmark.corpus_id,
        document__docid__in={label.docid for label in labels},
    ).order_by("first_seen", "pk")
    for content in contents.select_related("document"):
        of_document = texts.setdefault(content.document.docid, {})
        short = text_hash(content.title, content.text)
        of_document.pop(short, None)  # of two images with one text the newer
        of_document[short] = content.content_hash
    # The text of a document that is in no pool is in the corpus alone.
    in_corpus = {label.docid for label in labels if label.text_hash} - texts.keys()
    if in_corpus:
        for docid, stored in benchmark_documents(benchmark, in_corpus).items():
            texts[docid] = {text_hash(stored.title, stored.text): stored.content_hash}
    return texts

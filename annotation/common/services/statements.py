"""The statements that run at every judgment, written out for both databases.

All SQL by hand of sharing and judging is here. An ORM would say the same; to put it together anew
for every judgment costs more than the database needs to answer it. What the two databases spell
differently stands in brackets and is put in by `DIALECTS`.
"""

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection

from annotation.models import Judgment, Pool
from benchmarks_app.models import Benchmark, Corpus

DIALECTS = {
    "sqlite": {
        "[lock]": "",
        "[clock]": "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now')",
        "[skip locked]": "",
        "[in ids]": "IN (SELECT value FROM json_each(%(ids)s))",
        "[not in ids]": "NOT IN (SELECT value FROM json_each(%(ids)s))",
    },
    "postgresql": {
        "[lock]": "FOR UPDATE OF s",
        "[clock]": "clock_timestamp()",
        "[skip locked]": "FOR UPDATE OF s SKIP LOCKED",
        "[in ids]": "= ANY(%(ids)s)",
        "[not in ids]": "<> ALL(%(ids)s)",
    },
}


def rows(statement: str, **values: Any) -> list[Any]:
    """What a statement returns; `ids` is a list of keys."""
    with _executed(statement, values) as cursor:
        return list(cursor.fetchall())


def change(statement: str, **values: Any) -> int:
    """Run a statement that changes rows; returns how many it changed."""
    with _executed(statement, values) as cursor:
        return int(cursor.rowcount)


@contextmanager
def _executed(statement: str, values: dict[str, Any]) -> Iterator[Any]:
    sql = _written(statement, connection.vendor)
    if connection.vendor != "postgresql" or not settings.DATABASE_PREPARED:
        with connection.cursor() as cursor:
            cursor.execute(sql, _adapted(values))
            yield cursor
        return
    # Planned once for each connection, not at every judgment.
    import psycopg

    connection.ensure_connection()
    own = connection.connection
    own.prepare_threshold = 0
    with connection.wrap_database_errors, psycopg.Cursor(own) as cursor:
        cursor.execute(sql, values)
        yield cursor


@lru_cache(maxsize=200)
def _written(statement: str, vendor: str) -> str:
    for ours, theirs in DIALECTS[vendor].items():
        statement = statement.replace(ours, theirs)
    return statement


def _adapted(values: dict[str, Any]) -> dict[str, Any]:
    if connection.vendor != "sqlite":
        return values
    return {name: _for_sqlite(value) for name, value in values.items()}


def _for_sqlite(value: Any) -> Any:
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, list):
        return json.dumps(value)
    return value.hex if isinstance(value, UUID) else value


def _from_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


# --- whose turn it is ----------------------------------------------------------------------------


def wait_for_own_turn(annotator: int) -> None:
    """Two tabs of one person write one after the other; on SQLite all writers do anyway."""
    if connection.vendor == "postgresql":
        name = f"judge {annotator}"
        rows("SELECT pg_advisory_xact_lock(hashtextextended(%(name)s, 0))", name=name)


class Desk(NamedTuple):
    """Everything about somebody and a pool that a request of theirs starts from."""

    pool: Pool
    password: str | None
    is_active: bool
    role: str | None


_OF_POOL = (
    "id", "benchmark_id", "name", "order", "parameters", "seed", "overlap", "double_share",
    "repeat_share", "gold_share", "assignment", "state", "n_entries", "n_wanted",
)  # fmt: skip
_OF_BENCHMARK = ("id", "slug", "name", "corpus_id", "visibility")
_OF_CORPUS = ("id", "name", "lang", "kind", "text_format", "line_breaks")
_DESK = f"""
    SELECT {", ".join(f'p."{name}"' for name in _OF_POOL)},
        {", ".join(f"b.{name}" for name in _OF_BENCHMARK)},
        {", ".join(f"c.{name}" for name in _OF_CORPUS)},
        u.password, u.is_active, m.role
    FROM annotation_pool p
    JOIN benchmarks_app_benchmark b ON b.id = p.benchmark_id
    JOIN benchmarks_app_corpus c ON c.id = b.corpus_id
    LEFT JOIN benchmarks_app_user u ON u.id = %(me)s
    LEFT JOIN benchmarks_app_membership m ON m.benchmark_id = b.id AND m.user_id = u.id
    WHERE p.id = %(pool)s AND p.state <> 'building'"""


def desk(pool: int, me: int) -> Desk | None:
    """A pool with its benchmark and corpus, and the role of a person there; None: no such pool."""
    desks = rows(_DESK, pool=pool, me=me)
    if not desks:
        return None
    *row, password, is_active, role = desks[0]
    ends = len(_OF_POOL), len(_OF_POOL) + len(_OF_BENCHMARK)
    of_pool = dict(zip(_OF_POOL, row[: ends[0]], strict=True))
    of_pool["parameters"] = _from_json(of_pool["parameters"])
    pool_row = Pool.from_db(connection.alias, list(of_pool), list(of_pool.values()))
    benchmark = Benchmark.from_db(connection.alias, _OF_BENCHMARK, row[ends[0] : ends[1]])
    benchmark.corpus = Corpus.from_db(connection.alias, _OF_CORPUS, row[ends[1] :])
    pool_row.benchmark = benchmark
    return Desk(pool_row, password, bool(is_active), role)


_GATE = """
    SELECT p.state, m.annotator_id IS NOT NULL OR NOT EXISTS (
        SELECT 1 FROM annotation_poolannotator n WHERE n.pool_id = p.id), [clock]
    FROM annotation_pool p
    LEFT JOIN annotation_poolannotator m ON m.pool_id = p.id AND m.annotator_id = %(me)s
    WHERE p.id = %(pool)s"""


class Gate(NamedTuple):
    """A pool's state, whether it is a person's to judge, and when that was.

    Leases begin and end by the database's clock: workers on several machines have one each.
    """

    state: str
    is_assigned: bool
    now: datetime


def gate(pool: int, me: int) -> Gate:
    states = rows(_GATE, pool=pool, me=me)
    state, is_assigned, now = states[0] if states else ("", False, clock())
    return Gate(state, bool(is_assigned), _moment(now))


def clock() -> datetime:
    """What time it is for the database."""
    return _moment(rows("SELECT [clock]")[0][0])


def _moment(value: Any) -> datetime:
    return datetime.fromisoformat(value).replace(tzinfo=UTC) if isinstance(value, str) else value


# --- what somebody holds, and what there is to take ----------------------------------------------


class Card(NamedTuple):
    """A document in somebody's hand, or within reach: its slot with what orders it."""

    slot: int
    entry: int
    query: int
    document: int
    kind: str
    is_later: bool
    position: int
    arm: str
    is_ageing: bool = False


_CARD = """s.id, s.entry_id, s.query_id, e.document_id, s.kind, s.is_later, s.queue_position,
    s.arm"""
_FROM = "FROM annotation_slot s JOIN annotation_poolentry e ON e.id = s.entry_id"
_HELD = f"""
    SELECT {_CARD}, s.lease_expires_at < %(renew_below)s {_FROM}
    WHERE s.annotator_id = %(me)s AND s.pool_id = %(pool)s AND s.state = 'claimed'
      AND s.kind <> 'practice'
    ORDER BY s.queue_position, s.id"""
# A plus before a column keeps planners from its index, which would read every judgment of a pool
# or a person: the few of the pair, or the newest of the person, are what is looked for.
# What a person may be given: a label of a document that they have in no other way and gave no extra
# label; a document that is to be judged anew, unless they hold it or have done so already.
_MAY_TAKE = """
    s.kind IN ('label', 'rejudge')
    AND NOT EXISTS (
        SELECT 1 FROM annotation_slot o
        WHERE o.entry_id = s.entry_id AND o.annotator_id = %(me)s AND o.id <> s.id
          AND (s.kind = 'label' OR o.state <> 'done' OR (o.kind = s.kind AND o.round = s.round)))
    AND (s.kind = 'rejudge' OR NOT EXISTS (
        SELECT 1 FROM benchmarks_app_document d
        JOIN annotation_judgment j ON j.docid = d.docid
        WHERE d.id = e.document_id AND j.actor_id = %(me)s AND j.query_id = s.query_id
          AND +j.benchmark_id = %(benchmark)s AND +j.pool_id = s.pool_id AND j.rater = ''
          AND j.is_surplus AND j.kind <> 'retract'
          AND NOT EXISTS (SELECT 1 FROM annotation_judgment l WHERE l.supersedes_id = j.id)))"""
_IS_OPEN = (
    "(s.state = 'free' OR (s.state IN ('claimed', 'aside') AND s.lease_expires_at <= %(now)s))"
)
_OPEN_OF_QUERY = f"""
    SELECT {_CARD} {_FROM}
    WHERE s.pool_id = %(pool)s AND s.query_id = %(query)s AND {_IS_OPEN} AND {_MAY_TAKE}
    ORDER BY s.queue_position, s.number LIMIT %(n)s"""
_OPEN_STILL = f"""
    SELECT {_CARD} {_FROM} WHERE s.id [in ids] AND {_IS_OPEN}
    ORDER BY s.queue_position, s.number [skip locked]"""
_TAKE = """
    UPDATE annotation_slot SET state = 'claimed', annotator_id = %(me)s, is_later = FALSE,
        lease_expires_at = %(until)s, arm = %(arm)s
    WHERE id [in ids]"""
_RENEW = """
    UPDATE annotation_slot SET lease_expires_at = %(until)s
    WHERE id [in ids] AND annotator_id = %(me)s AND state = 'claimed'"""


def held(pool: int, me: int, *, renew_below: datetime) -> list[Card]:
    """What a person holds, in queue order; also what nobody took after its lease ran out."""
    return [Card(*row) for row in rows(_HELD, pool=pool, me=me, renew_below=renew_below)]


def open_of_query(
    pool: int, benchmark: int, query: int, me: int, *, now: datetime, n: int, locked: bool
) -> list[Card]:
    """The first `n` slots of a query that a person may take; `locked` without those of others."""
    statement = f"{_OPEN_OF_QUERY} [skip locked]" if locked else _OPEN_OF_QUERY
    cards = rows(statement, pool=pool, benchmark=benchmark, query=query, me=me, now=now, n=n)
    return [Card(*row) for row in cards]


def open_still(slots: list[int], *, now: datetime) -> list[Card]:
    """Those of these slots that can be taken still, locked, without those others have locked."""
    return [Card(*row) for row in rows(_OPEN_STILL, ids=slots, now=now)]


def take(slots: list[int], me: int, *, until: datetime, arm: str = "") -> None:
    change(_TAKE, ids=slots, me=me, until=until, arm=arm)


def renew(slots: list[int], me: int, *, until: datetime) -> None:
    change(_RENEW, ids=slots, me=me, until=until)


# --- which query is next -------------------------------------------------------------------------

_OTHERS = """
    SELECT DISTINCT query_id FROM annotation_slot
    WHERE pool_id = %(pool)s AND state = 'claimed' AND lease_expires_at > %(now)s
      AND annotator_id <> %(me)s"""
_LAST_QUERY = """
    SELECT query_id FROM annotation_judgment
    WHERE actor_id = %(me)s AND +pool_id = %(pool)s AND purpose IN ('label', 'rejudge')
    ORDER BY id DESC LIMIT 1"""
# Each state is asked for alone, so that the index gives its slots in the order of the queue.
_FIRST = f"""
    SELECT s.queue_position, s.query_id {_FROM}
    WHERE s.pool_id = %(pool)s AND [state] AND s.query_id [not in ids] AND {_MAY_TAKE} [family]
    ORDER BY s.queue_position LIMIT 1"""
_STATES = (
    "s.state = 'free'",
    "s.state = 'claimed' AND s.lease_expires_at <= %(now)s",
    "s.state = 'aside' AND s.lease_expires_at <= %(now)s",
)
_IN_FAMILY = """EXISTS (
    SELECT 1 FROM benchmarks_app_query q
    JOIN benchmarks_app_query g ON g.family_id = q.family_id
    JOIN annotation_slot f ON f.query_id = g.id AND f.pool_id = s.pool_id
    WHERE q.id = s.query_id AND f.kind <> 'practice' AND f.annotator_id """
FAMILIES = {
    "any": "",
    "mine": f"AND {_IN_FAMILY} = %(me)s)",
    "not mine": f"AND NOT {_IN_FAMILY} = %(me)s)",
    "nobody else's": f"AND NOT {_IN_FAMILY} <> %(me)s)",
}


def queries_of_others(pool: int, me: int, *, now: datetime) -> list[int]:
    """Queries that somebody else is in the middle of: they hold documents of it now."""
    return [query for (query,) in rows(_OTHERS, pool=pool, me=me, now=now)]


def query_of_last_label(pool: int, me: int) -> int | None:
    queries = rows(_LAST_QUERY, pool=pool, me=me)
    return queries[0][0] if queries else None


def first_open_query(
    pool: int, benchmark: int, me: int, *, now: datetime, but: Collection[int], family: str = "any"
) -> int | None:
    """The query of the first slot in the queue that a person may take, `but` these queries."""
    heads: list[tuple[int, int]] = []
    for state in _STATES:
        statement = _FIRST.replace("[state]", state).replace("[family]", FAMILIES[family])
        heads += rows(statement, pool=pool, benchmark=benchmark, me=me, now=now, ids=list(but))
    return min(heads)[1] if heads else None


# --- orders that learn, and queries that have enough ---------------------------------------------

_ENTRIES = """
    SELECT id, contributors, best_rank FROM annotation_poolentry
    WHERE pool_id = %(pool)s AND query_id = %(query)s ORDER BY priority, id"""
_RELEVANCE = """
    SELECT s.entry_id, SUM(CASE WHEN g.is_relevant THEN 1 ELSE -1 END)
    FROM annotation_judgment j
    JOIN annotation_slot s ON s.id = j.slot_id
    JOIN benchmarks_app_grade g ON g.benchmark_id = j.benchmark_id AND g.value = j.grade
    WHERE j.benchmark_id = %(benchmark)s AND j.query_id = %(query)s AND +j.pool_id = %(pool)s
      AND j.kind = 'grade' AND j.purpose IN ('label', 'rejudge')
      AND NOT EXISTS (SELECT 1 FROM annotation_judgment l WHERE l.supersedes_id = j.id)
    GROUP BY s.entry_id"""
_BEGUN = """
    FROM annotation_slot s JOIN annotation_poolentry e ON e.id = s.entry_id
    WHERE s.pool_id = %(pool)s AND s.kind = 'label' AND s.state IN ('claimed', 'done', 'aside')
      AND e.origin = 'run'"""


def entries_of_query(pool: int, query: int) -> list[tuple[int, dict[str, int], int | None]]:
    """Key, contributors and best rank of every entry of a query, in the order of the queue."""
    entries = rows(_ENTRIES, pool=pool, query=query)
    return [(key, _from_json(contributors), best_rank) for key, contributors, best_rank in entries]


def relevance_in_query(pool: int, benchmark: int, query: int) -> dict[int, bool]:
    """Whether each judged entry is relevant; where labels differ, by most, a draw for relevant."""
    balances = rows(_RELEVANCE, pool=pool, benchmark=benchmark, query=query)
    return {entry: balance >= 0 for entry, balance in balances}


def n_begun(pool: int, query: int) -> int:
    """How many of a query's documents from runs have a label, or are in somebody's hand."""
    statement = f"SELECT COUNT(DISTINCT s.entry_id) {_BEGUN} AND s.query_id = %(query)s"
    return int(rows(statement, pool=pool, query=query)[0][0])


# --- checks and repeats --------------------------------------------------------------------------

_CHECKS_READY = """
    SELECT e.id FROM annotation_poolentry e
    JOIN annotation_knowngrade k ON k.entry_id = e.id AND k.purpose = 'gold'
    WHERE e.pool_id = %(pool)s AND e.query_id = %(query)s
      AND NOT EXISTS (
        SELECT 1 FROM annotation_slot o WHERE o.entry_id = e.id
          AND (o.annotator_id = %(me)s
               OR o.kind = 'label' AND o.state NOT IN ('done', 'waived')))"""
_KINDS = """
    SELECT kind, COUNT(*) FROM annotation_slot
    WHERE pool_id = %(pool)s AND annotator_id = %(me)s GROUP BY kind"""
_TO_REPEAT = """
    SELECT s.entry_id, s.query_id, s.queue_position
    FROM annotation_judgment j JOIN annotation_slot s ON s.id = j.slot_id
    WHERE j.actor_id = %(me)s AND +j.pool_id = %(pool)s AND j.purpose = 'label'
      AND j.kind = 'grade' AND NOT j.is_surplus AND s.query_id [not in ids]
      AND j.id <= (
        SELECT id FROM annotation_judgment
        WHERE actor_id = %(me)s AND +pool_id = %(pool)s AND kind IN ('grade', 'cant_judge')
        ORDER BY id DESC LIMIT 1 OFFSET %(after)s)
      AND NOT EXISTS (SELECT 1 FROM annotation_judgment l WHERE l.supersedes_id = j.id)
      AND NOT EXISTS (
        SELECT 1 FROM annotation_slot o
        WHERE o.entry_id = s.entry_id AND o.annotator_id = %(me)s AND o.kind <> 'label')
    ORDER BY j.id DESC LIMIT 500"""


def checks_ready(pool: int, query: int, me: int) -> list[int]:
    """Entries of known grade that the person had nothing to do with, and that lack no label."""
    return [entry for (entry,) in rows(_CHECKS_READY, pool=pool, query=query, me=me)]


def counts_of_kinds(pool: int, me: int) -> dict[str, int]:
    """How many slots of each kind are, or were, a person's."""
    return dict(rows(_KINDS, pool=pool, me=me))


def labels_to_repeat(
    pool: int, me: int, *, but: list[int], after: int
) -> list[tuple[int, int, int]]:
    """(entry, query, queue position) of the person's labels with `after` of theirs since."""
    return rows(_TO_REPEAT, pool=pool, me=me, ids=but, after=after)


# --- judgments -----------------------------------------------------------------------------------


class Known(NamedTuple):
    """A judgment that was saved before under a client id."""

    pk: int
    slot: int | None
    kind: str
    grade: int | None
    reason: str
    is_surplus: bool


class Target(NamedTuple):
    """The slot that a judgment is about, locked, with the state of its pool."""

    slot: int
    pool: int
    query: int
    entry: int
    kind: str
    round: int
    state: str
    annotator: int | None
    benchmark: int
    pool_state: str
    docid: str


_KNOWN = """
    SELECT id, slot_id, kind, grade, reason, is_surplus FROM annotation_judgment
    WHERE actor_id = %(me)s AND client_id = %(client_id)s"""
_TARGET = """
    SELECT s.id, s.pool_id, s.query_id, s.entry_id, s.kind, s.round, s.state, s.annotator_id,
        p.benchmark_id, p.state, d.docid
    FROM annotation_slot s
    JOIN annotation_pool p ON p.id = s.pool_id
    JOIN annotation_poolentry e ON e.id = s.entry_id
    JOIN benchmarks_app_document d ON d.id = e.document_id
    WHERE s.id [in ids] ORDER BY s.id [lock]"""
_EARLIER = """
    SELECT j.id FROM annotation_judgment j
    WHERE j.benchmark_id = %(benchmark)s AND j.query_id = %(query)s AND j.docid = %(docid)s
      AND +j.actor_id = %(me)s AND +j.pool_id = %(pool)s AND j.kind IN ('grade', 'cant_judge')
      AND (+j.slot_id = %(slot)s
           OR (%(kind)s IN ('label', 'rejudge') AND j.purpose IN ('label', 'rejudge')))
      AND NOT EXISTS (SELECT 1 FROM annotation_judgment l WHERE l.supersedes_id = j.id)
    ORDER BY j.id DESC LIMIT 1"""
_OWN_SLOT = """
    SELECT id, state = 'done' FROM annotation_slot
    WHERE entry_id = %(entry)s AND annotator_id = %(me)s AND kind = %(kind)s
      AND round = %(round)s"""
_FREE_SLOT = f"""
    SELECT s.id FROM annotation_slot s
    WHERE s.entry_id = %(entry)s AND s.kind = %(kind)s AND s.round = %(round)s AND {_IS_OPEN}
    ORDER BY CASE WHEN s.id = %(slot)s THEN 0 WHEN s.state = 'free' THEN 1 ELSE 2 END, s.number
    LIMIT 1 [skip locked]"""
_FINISH = """
    UPDATE annotation_slot SET state = 'done', annotator_id = %(me)s, lease_expires_at = NULL,
        is_later = FALSE
    WHERE id = %(slot)s"""


def known(me: int, client_id: UUID) -> Known | None:
    events = rows(_KNOWN, me=me, client_id=client_id)
    return Known(*events[0]) if events else None


def targets(slots: list[int]) -> dict[int, Target]:
    """The slots of these keys, locked in the order of their keys, so nobody waits in a ring."""
    return {row[0]: Target(*row) for row in rows(_TARGET, ids=slots)}


def own_label_before(target: Target, me: int) -> int | None:
    """The person's own label that a further one of the same document replaces."""
    labels = rows(
        _EARLIER,
        benchmark=target.benchmark,
        query=target.query,
        docid=target.docid,
        me=me,
        pool=target.pool,
        slot=target.slot,
        kind=target.kind,
    )
    return labels[0][0] if labels else None


def own_slot(target: Target, me: int) -> tuple[int, bool] | None:
    """The person's slot of the document that counts for the same, and whether it is done."""
    slots = rows(_OWN_SLOT, entry=target.entry, kind=target.kind, round=target.round, me=me)
    return (slots[0][0], bool(slots[0][1])) if slots else None


def free_slot(target: Target) -> int | None:
    """A slot of the document that is nobody's now, locked: the target, or one that is like it."""
    slots = rows(
        _FREE_SLOT,
        entry=target.entry,
        kind=target.kind,
        round=target.round,
        slot=target.slot,
        now=clock(),
    )
    return slots[0][0] if slots else None


def finish(slot: int, me: int) -> None:
    """Fill a slot; one that was claimed by somebody who went away is no longer theirs."""
    change(_FINISH, slot=slot, me=me)


def is_of_same_document(slots: list[int]) -> bool:
    entries = rows("SELECT DISTINCT entry_id FROM annotation_slot WHERE id [in ids]", ids=slots)
    return len(entries) == 1


def scale(benchmark: int) -> list[int]:
    """The grades of a benchmark, lowest first."""
    grades = rows(
        "SELECT value FROM benchmarks_app_grade WHERE benchmark_id = %(benchmark)s ORDER BY value",
        benchmark=benchmark,
    )
    return [value for (value,) in grades]


def append(judgment: Judgment) -> None:
    """Insert a judgment as `save` would, and give it its key."""
    fields = [field for field in Judgment._meta.concrete_fields if not field.primary_key]
    values = [
        field.get_db_prep_save(getattr(judgment, field.attname), connection) for field in fields
    ]
    with connection.cursor() as cursor:
        cursor.execute(_insertion(), values)
        judgment.pk = cursor.fetchone()[0]
    judgment._state.adding = False
    judgment._state.db = connection.alias


@lru_cache(maxsize=1)
def _insertion() -> str:
    fields = [field for field in Judgment._meta.concrete_fields if not field.primary_key]
    columns = ", ".join(str(field.column) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    return f"INSERT INTO {Judgment._meta.db_table} ({columns}) VALUES ({marks}) RETURNING id"


# --- what goes onto the screen -------------------------------------------------------------------

_TEXTS = """
    SELECT document_id, content_hash, title, text, lang FROM benchmarks_app_documentcontent
    WHERE document_id [in ids] ORDER BY first_seen, id"""
_QUERIES = """
    SELECT id, text, description, narrative, lang, metadata
    FROM benchmarks_app_query WHERE id [in ids]"""
_ANSWERS = """
    SELECT slot_id, text, answer FROM annotation_question
    WHERE slot_id [in ids] AND asked_by_id = %(me)s AND answered_at IS NOT NULL ORDER BY id"""
_GUIDELINE = """
    SELECT id FROM benchmarks_app_guideline WHERE benchmark_id = %(benchmark)s
    ORDER BY version DESC LIMIT 1"""
_PLACE = """
    SELECT COUNT(*), SUM(is_open * (1 - is_mine)) FROM (
        SELECT s.entry_id,
            MAX(CASE WHEN s.state IN ('done', 'waived') THEN 0 ELSE 1 END) AS is_open,
            MAX(CASE WHEN s.annotator_id = %(me)s AND s.state = 'done' THEN 1 ELSE 0 END) AS is_mine
        FROM annotation_slot s
        WHERE s.pool_id = %(pool)s AND s.query_id = %(query)s AND s.state <> 'spared'
          AND (s.kind IN ('label', 'rejudge')
               OR (s.annotator_id = %(me)s AND s.kind <> 'practice'))
        GROUP BY s.entry_id) AS entries"""


class Text(NamedTuple):
    """What a document says now."""

    content_hash: str
    title: str
    text: str
    lang: str


class Asked(NamedTuple):
    """A query as its assessor sees it."""

    text: str
    description: str
    narrative: str
    lang: str
    metadata: dict[str, Any]


def texts(documents: list[int]) -> dict[int, Text]:
    return {document: Text(*row) for document, *row in rows(_TEXTS, ids=documents)}


def queries(keys: list[int]) -> dict[int, Asked]:
    return {
        key: Asked(*words)._replace(metadata=_from_json(words[-1]))
        for key, *words in rows(_QUERIES, ids=keys)
    }


def answers(slots: list[int], me: int) -> dict[int, tuple[str, str]]:
    """The person's own question about a slot and what was answered; the newest of each."""
    return {slot: (text, answer) for slot, text, answer in rows(_ANSWERS, ids=slots, me=me)}


def guideline(benchmark: int) -> int | None:
    """The newest version of the guideline."""
    keys = rows(_GUIDELINE, benchmark=benchmark)
    return keys[0][0] if keys else None


def place(pool: int, query: int, me: int) -> tuple[int, int]:
    """(documents of a query, those of them that are not settled for a person)."""
    total, n_open = rows(_PLACE, pool=pool, query=query, me=me)[0]
    return total, n_open or 0


# --- how far it is -------------------------------------------------------------------------------

_N_DONE = """
    SELECT COUNT(*) FROM annotation_slot
    WHERE pool_id = %(pool)s AND state = 'done' AND kind = 'label'"""
_N_ACTIVE = """
    SELECT COUNT(DISTINCT annotator_id) FROM annotation_slot
    WHERE pool_id = %(pool)s AND state = 'claimed' AND lease_expires_at > %(now)s"""
_N_OWN = """
    SELECT COUNT(*) FROM annotation_judgment j
    WHERE j.actor_id = %(me)s AND +j.pool_id = %(pool)s AND j.kind IN ('grade', 'cant_judge')
      AND j.purpose <> 'practice'
      AND NOT EXISTS (SELECT 1 FROM annotation_judgment l WHERE l.supersedes_id = j.id)"""
_N_UNCOUNTED = """
    SELECT COUNT(*) FROM annotation_slot
    WHERE pool_id = %(pool)s AND annotator_id = %(me)s AND state = 'done'
      AND kind NOT IN ('label', 'practice')"""
_OWN_TIMES = """
    SELECT dwell_ms, shown_chars FROM annotation_judgment
    WHERE actor_id = %(me)s AND +pool_id = %(pool)s AND dwell_ms IS NOT NULL
      AND purpose <> 'practice'
    ORDER BY id DESC LIMIT %(n)s"""
_NEXT_LENGTHS = """
    SELECT LENGTH(c.text) FROM (
        SELECT entry_id FROM annotation_slot WHERE pool_id = %(pool)s AND state = 'free'
        ORDER BY queue_position LIMIT %(n)s) AS s
    JOIN annotation_poolentry e ON e.id = s.entry_id
    JOIN benchmarks_app_documentcontent c ON c.document_id = e.document_id"""


def n_labels(pool: int) -> int:
    """How many wanted labels a pool has."""
    return int(rows(_N_DONE, pool=pool)[0][0])


def n_active(pool: int, *, now: datetime) -> int:
    """How many people have documents in hand."""
    return int(rows(_N_ACTIVE, pool=pool, now=now)[0][0])


def n_own_labels(pool: int, me: int) -> int:
    return int(rows(_N_OWN, pool=pool, me=me)[0][0])


def n_own_uncounted(pool: int, me: int) -> int:
    """How many documents a person has judged that are not among the pool's wanted labels."""
    return int(rows(_N_UNCOUNTED, pool=pool, me=me)[0][0])


def own_times(pool: int, me: int, *, n: int) -> list[tuple[int, int | None]]:
    """(milliseconds, characters shown) of a person's newest labels."""
    return rows(_OWN_TIMES, pool=pool, me=me, n=n)


def next_lengths(pool: int, *, n: int) -> list[int]:
    """How many characters the first documents of the queue have."""
    return [length for (length,) in rows(_NEXT_LENGTHS, pool=pool, n=n)]

"""Inside a site: its database taken back to an earlier version, rows of that version, and forth.

Models are those of the migrations that are applied, never those of the code.
"""

import uuid
from datetime import UTC, datetime
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

# Before raters had places, unlisted documents a meaning and policies a rehearsal. What is later in
# the app `scoring` depends on the first, and is taken back with it.
OLD = {"benchmarks_app": "0011", "annotation": "0004", "scoring": "0008"}


class _Tables(dict[str, Any]):
    """The models of the migrations that are applied, by name."""

    def __init__(self) -> None:
        loader = MigrationLoader(connection)
        models = loader.project_state(list(loader.applied_migrations)).apps.get_models()
        super().__init__({model.__name__: model for model in models})

    def make(self, model: str, /, **values: Any) -> Any:
        return self[model].objects.create(**values)


def back() -> None:
    """To the old version, from this one or from nothing: that takes a third of the time."""
    for app, name in OLD.items():
        call_command("migrate", app, name, verbosity=0)


def forth() -> None:
    """To this version."""
    call_command("migrate", verbosity=0)


def fill() -> None:
    """Rows of the old version: topics with times, a label of a rater, a document set aside."""
    tables = _Tables()
    olga, bo = (tables.make("User", username=name) for name in ("olga", "bo"))
    times = {
        "created_at": datetime(2026, 1, 1, tzinfo=UTC),
        "expires_at": datetime(2027, 1, 1, tzinfo=UTC),
    }
    tables.make("ApiToken", user=olga, name="ci", secret_digest="0", hint="bw_", **times)
    corpus = tables.make("Corpus", name="c", owner=olga)
    benchmark = tables.make("Benchmark", slug="b", name="b", corpus=corpus)
    for qid, moment in (
        ("MB1", "Tue Feb 08 12:30:27 +0100 2011"),
        ("MB2", "long ago"),
        ("MB3", ""),
    ):
        family = tables.make("QueryFamily", benchmark=benchmark)
        metadata = {"querytime": moment} if moment else {}
        query = tables.make(
            "Query", benchmark=benchmark, qid=qid, text=qid, family=family, metadata=metadata
        )
    tables.make("QrelSet", benchmark=benchmark, name="old", kind="imported", state="ready")
    judge = tables.make(
        "JudgeEndpoint", benchmark=benchmark, name="j", model="m", key_sealed="k", created_by=olga
    )
    cases = {"benchmark": benchmark, "n_cases": 1, "n_nodes": 1, "created_by": olga}
    case_set = tables.make("CaseSet", name="cases", **cases)
    tables.make("ContextualEvaluation", case_set=case_set, endpoint=judge, created_by=olga)
    pool = tables.make("Pool", benchmark=benchmark, name="p", seed=7, created_by=olga)
    for number, state in enumerate(("done", "aside", "free")):
        document = tables.make("Document", corpus=corpus, docid=state)
        entry = tables.make("PoolEntry", pool=pool, query=query, document=document, priority=number)
        slot = tables.make(
            "Slot",
            pool=pool,
            query=query,
            entry=entry,
            queue_position=number,
            state=state,
            annotator=None if state == "free" else olga,
        )
        if state == "done":
            label = {"benchmark": benchmark, "docid": state, "rater": "W1"}
            first = _label(tables, slot, actor=olga, **label)
            # Somebody else has imported the rater's labels again, corrected.
            _label(tables, slot, actor=bo, supersedes=first, **label)


def _label(tables: _Tables, slot: Any, **values: Any) -> Any:
    of_slot = {"slot": slot, "pool": slot.pool, "query": slot.query, "client_id": uuid.uuid4()}
    return tables.make("Judgment", kind="import", grade=1, **of_slot, **values)


def regrade() -> None:
    """What the ledger refuses."""
    _Tables()["Judgment"].objects.update(grade=0)


def rows() -> dict[str, list[Any]]:
    """What people would see of these rows."""
    tables = _Tables()
    slots = tables["Slot"].objects.order_by("pk")
    queries = tables["Query"].objects.order_by("qid")
    evaluations = tables["ContextualEvaluation"].objects.all()
    return {
        "holders": [
            [slot.annotator and slot.annotator.username, getattr(slot, "rater", "")]
            for slot in slots
        ],
        "has_end": [slot.lease_expires_at is not None for slot in slots],
        "first_seen": [_iso(query.first_seen_at) for query in queries],
        "metadata": [query.metadata for query in queries],
        "scopes": [getattr(token, "scopes", []) for token in tables["ApiToken"].objects.all()],
        "judges": [
            [evaluation.endpoint.name, evaluation.endpoint.key_sealed] for evaluation in evaluations
        ],
    }


def _iso(moment: datetime | None) -> str | None:
    return moment and moment.isoformat()

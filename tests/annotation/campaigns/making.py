"""What the tests of campaigns share."""

from typing import Any

from annotation.campaigns.services.drafting import draft_campaign
from annotation.models import Campaign, Judgment, Pool
from benchmarks_app.models import JudgeEndpoint
from tests.annotation import making

# What the stub says of the documents of the pool.
GRADES = [("q1", "d1", 2), ("q1", "d2", 0), ("q1", "d3", 1), ("q2", "d3", 1), ("q2", "d4", 3)]


def draft(pool: Pool, judge: JudgeEndpoint, **wanted: Any) -> Campaign:
    wanted.setdefault("choice", "all")
    return draft_campaign(pool=pool, judge=judge, user=pool.created_by, **wanted)


def labels() -> list[tuple[str, str, int | None]]:
    rows = Judgment.machines.order_by("query__qid", "docid")
    return list(rows.values_list("query__qid", "docid", "grade"))


def say(person, docid: str, grade: int, pool: Pool) -> None:
    """A label of a person in the pool."""
    making.begun(pool, person)
    for slot in making.claimed(pool, person):
        if slot.entry.document.docid == docid:
            making.judge(slot, person, grade)
            return
    raise AssertionError(docid)

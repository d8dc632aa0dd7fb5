"""A campaign whose grades lie apart from people's here and there."""

import pytest

from annotation.models import Campaign, Pool
from benchmarks_app.models import DocumentContent
from tests.annotation import making, making_machines

DOCUMENTS = {"q1": ["d1", "d2", "d3"], "q2": ["d3", "d4"]}
# What the machine says; what Ada says is in `PEOPLE`.
MACHINE = {("q1", "d1"): 3, ("q1", "d2"): 0, ("q1", "d3"): 1, ("q2", "d3"): 3, ("q2", "d4"): 0}
PEOPLE = {("q1", "d1"): 0, ("q1", "d2"): 2, ("q1", "d3"): 2, ("q2", "d3"): 3}


@pytest.fixture
def pool(benchmark) -> Pool:
    small_pool = making.pool(benchmark, DOCUMENTS)
    DocumentContent.objects.filter(document__docid="d1").update(title="Of glob")
    return small_pool


@pytest.fixture
def campaign(pool) -> Campaign:
    """Graded by the machine alone."""
    campaign = making_machines.campaign(pool, n_graded=len(MACHINE), state="done")
    for number, ((qid, docid), grade) in enumerate(MACHINE.items(), start=1):
        query = pool.benchmark.queries.get(qid=qid)
        label = making_machines.label(campaign, query, docid, grade, note=f"The machine on {docid}")
        making_machines.pair(campaign, query, docid, number, state="graded", judgment=label)
    return campaign


@pytest.fixture
def both(campaign, ada) -> Campaign:
    """Graded by Ada, too: d1 three grades lower, d2 of q1 two higher, the others close."""
    pool = campaign.pool
    making.begun(pool, ada)
    slots = pool.slots.select_related("pool", "query", "entry__document")
    held = {(slot.query.qid, slot.entry.document.docid): slot for slot in slots}
    making.claimed(pool, ada)
    for (qid, docid), grade in PEOPLE.items():
        making.judge(held[qid, docid], ada, grade, note=f"Ada on {docid}")
    return campaign

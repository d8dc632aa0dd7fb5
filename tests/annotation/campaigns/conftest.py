"""A pool of five documents, and a judge on the loopback whose grades are known."""

import pytest

from annotation.models import Pool
from benchmarks_app.models import DocumentContent, JudgeEndpoint
from tests import factories
from tests.annotation import making, making_machines
from tests.judge_stub import JudgeStub

DOCUMENTS = {"q1": ["d1", "d2", "d3"], "q2": ["d3", "d4"]}
# The stub's grade of a document is how often it says so.
TEXTS = {"d1": "useful useful", "d2": "nothing", "d3": "useful", "d4": "useful useful useful"}


@pytest.fixture(scope="module")
def stub_at_work():
    with JudgeStub() as stub:
        yield stub


@pytest.fixture
def stub(stub_at_work, settings):
    """A judge without scripts, on the loopback, which this site may ask."""
    settings.JUDGE_PRIVATE_ADDRESSES = True
    for kept in (stub_at_work.requests, stub_at_work.scripts, stub_at_work.always):
        kept.clear()
    stub_at_work.key = ""
    return stub_at_work


@pytest.fixture
def pool(benchmark) -> Pool:
    small_pool = making.pool(benchmark, DOCUMENTS)
    for content in DocumentContent.objects.select_related("document"):
        DocumentContent.objects.filter(pk=content.pk).update(text=TEXTS[content.document.docid])
    return small_pool


@pytest.fixture
def judge(benchmark, stub) -> JudgeEndpoint:
    prices = {"price_in": 1.0, "price_out": 2.0}
    return making_machines.judge(benchmark, base_url=stub.url, max_attempts=1, **prices)


@pytest.fixture
def own_work(benchmark, pool, judge):
    """A pool with a run that says it used a model of the judge's family."""
    run = factories.run(benchmark, "q1 Q0 d1 1 1.0 s", name="reranked")
    run.metadata = {"method": "BM25, then GPT-4o on the first 100"}
    run.save(update_fields=["metadata"])
    pool.pool_runs.create(run=run, depth=3)
    JudgeEndpoint.objects.filter(pk=judge.pk).update(model="openai/gpt-5-mini")
    judge.refresh_from_db()

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Pool, Slot
from annotation.overview import judge_step, pool_step, qrels_step
from annotation.pools.services import pooling
from annotation.pools.views.watching import overlap_matrix
from benchmarks_app.models import AuditEvent, Job, QrelSet
from tests import factories
from tests.annotation.making import claimed, judge, pool

pytestmark = pytest.mark.django_db
STATISTICS = {
    "n_queries": 2,
    "per_query": {"min": 1, "median": 1.5, "max": 2},
    "runs": [{"run": "bm25", "n": 3, "n_unique": 2}, {"run": "tfidf", "n": 1, "n_unique": 0}],
    "overlaps": [{"a": "bm25", "b": "tfidf", "n_shared": 1, "jaccard": 1 / 3}],
    "hours": 0.5,
    "seconds": 20,
}


@pytest.fixture
def small_pool(benchmark):
    return pool(
        benchmark,
        {"q1": ["d1", "d2"], "q2": ["d3"]},
        statistics=STATISTICS,
        parameters={"depth": 10, "seconds": 20},
        digest="0123abcd",
    )


def url(view: str, of, *more) -> str:
    return reverse(f"annotation:{view}", args=[of.slug, *more])


def text(answer) -> str:
    return answer.content.decode()


def test_the_page_says_what_the_pool_is(benchmark, small_pool, owner, signed_in):
    page = text(signed_in(owner).get(url("pool-detail", benchmark, small_pool.pk)))

    for words in ("3 documents", "depth 10", "0123abcd", "0.5 hours", "1 to 2, median 1.5"):
        assert words in page
    assert 'class="heat-3"' in page
    assert "Fewer than three runs" in page


def test_the_progress_counts_labels_documents_and_people(
    benchmark, small_pool, ada, owner, signed_in
):
    first, *_ = claimed(small_pool, ada)
    judge(first, ada, 2)

    page = text(signed_in(owner).get(url("pool-progress", benchmark, small_pool.pk)))

    assert "<html" not in page
    assert re.search(r"Documents judged</dt>\s*<dd[^>]*>1 <small>of 3<", page)
    assert ">ada<" in page


def test_the_overlap_matrix_is_symmetric_with_ones():
    (bm25, first), (tfidf, second) = overlap_matrix(STATISTICS)

    assert (bm25, tfidf) == ("bm25", "tfidf")
    assert [cell.heat for cell in first] == [10, 3]
    assert [cell.n_shared for cell in second] == [1, 1]


def test_a_pool_is_built_from_the_form(benchmark, owner, signed_in, do_jobs):
    factories.query(benchmark, "q1")
    runs = [factories.run(benchmark, f"q1 Q0 d{n} 1 1.0 x", name=f"run {n}") for n in range(3)]
    form = {"name": "mine", "runs": [run.pk for run in runs], "depth": 10, "overlap": 2}

    answer = signed_in(owner).post(url("pool-new", benchmark), {**form, "seconds": 30, "seed": ""})

    job = Job.objects.get()
    assert answer.url == job.get_absolute_url()
    do_jobs()
    built = Pool.objects.get()
    assert (built.state, built.n_entries, built.overlap) == ("open", 3, 2)
    assert (built.created_by, built.seed) == (owner, job.parameters["seed"])
    assert AuditEvent.objects.filter(action="build-pool", actor=owner, target="mine").exists()


def test_a_form_with_mistakes_comes_back_with_them(benchmark, small_pool, owner, signed_in):
    factories.run(benchmark, "q1 Q0 d1 1 1.0 x")
    values = {"name": small_pool.name, "depth": 0, "overlap": 1, "seconds": 20}

    answer = signed_in(owner).post(url("pool-new", benchmark), values)

    assert answer.status_code == 422
    assert "A pool of this name is in this benchmark already" in text(answer)
    assert "Expected a whole number from 1 to 1,000." in text(answer)
    assert not Job.objects.exists()


def test_a_run_one_may_not_see_cannot_be_pooled(benchmark, maintainer, signed_in):
    other = factories.benchmark()
    foreign = factories.run(other, "q1 Q0 d1 1 1.0 x")
    values = {"name": "x", "runs": [foreign.pk], "depth": 1, "overlap": 1, "seconds": 20}

    factories.run(benchmark, "q1 Q0 d1 1 1.0 x", name="known")
    answer = signed_in(maintainer).post(url("pool-new", benchmark), values)

    assert answer.status_code == 422


def test_a_benchmark_without_runs_says_what_a_pool_needs(benchmark, owner, signed_in):
    assert "No runs to pool" in text(signed_in(owner).get(url("pool-new", benchmark)))
    assert "needs runs first" in text(signed_in(owner).get(url("pool-list", benchmark)))


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_pool_is_paused_closed_and_opened_again(benchmark, small_pool, owner, signed_in, state):
    client = signed_in(owner)
    where = url("pool-state", benchmark, small_pool.pk)

    client.post(where, {"state": state})
    small_pool.refresh_from_db()
    assert small_pool.state == state
    client.post(where, {"state": "open"})

    small_pool.refresh_from_db()
    assert small_pool.state == "open"
    actions = list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))
    assert actions == [f"pool-{state}", "pool-open"]


def test_a_closed_pool_cannot_be_paused(small_pool, owner):
    pooling.set_pool_state(pool=small_pool, state="closed", actor=owner)

    with pytest.raises(pooling.PoolStateError, match="is Closed; it cannot become paused"):
        pooling.set_pool_state(pool=small_pool, state="paused", actor=owner)


def test_no_form_makes_a_pool_building(benchmark, small_pool, owner, signed_in):
    signed_in(owner).post(url("pool-state", benchmark, small_pool.pk), {"state": "building"})

    small_pool.refresh_from_db()
    assert small_pool.state == "open"


def test_qrels_are_published_from_the_form(benchmark, small_pool, ada, owner, signed_in, do_jobs):
    judge(claimed(small_pool, ada)[0], ada, 2)

    signed_in(owner).post(url("qrels-publish", benchmark), {"name": "ours", "rule": "lower-median"})
    do_jobs()

    assert QrelSet.objects.get(name="ours").n_qrels == 1


def test_a_taken_name_of_qrels_comes_back(benchmark, owner, signed_in):
    factories.qrel_set(benchmark, {}, name="ours")

    answer = signed_in(owner).post(
        url("qrels-publish", benchmark), {"name": "ours", "rule": "lower-median"}
    )

    assert answer.status_code == 422
    assert "A set of this name is in this benchmark already" in text(answer)


def test_a_pool_that_is_being_built_is_shown_nowhere(benchmark, small_pool, owner, signed_in):
    Pool.objects.filter(pk=small_pool.pk).update(state="building")
    client = signed_in(owner)

    assert small_pool.name not in text(client.get(url("pool-list", benchmark)))
    assert client.get(url("pool-detail", benchmark, small_pool.pk)).status_code == 404


def test_a_pool_of_another_benchmark_is_not_found(benchmark, owner, signed_in):
    foreign = pool(factories.benchmark(), {"q1": ["d1"]}, statistics=STATISTICS)

    assert signed_in(owner).get(url("pool-detail", benchmark, foreign.pk)).status_code == 404


SEEN_BY = {"owner": 200, "maintainer": 200, "bo": 200, "ada": 403, "sam": 403, "vi": 403, "cy": 404}


@pytest.mark.parametrize(("who", "status"), SEEN_BY.items())
def test_who_sees_pools(benchmark, small_pool, who, status, signed_in, request):
    client = signed_in(request.getfixturevalue(who))

    for page in (
        url("pool-list", benchmark),
        url("pool-detail", benchmark, small_pool.pk),
        url("pool-progress", benchmark, small_pool.pk),
    ):
        assert client.get(page).status_code == status


@pytest.mark.parametrize("who", ["bo", "ada", "sam", "vi"])
def test_who_may_not_edit_builds_and_publishes_nothing(
    benchmark, small_pool, who, signed_in, request
):
    client = signed_in(request.getfixturevalue(who))

    assert client.get(url("pool-new", benchmark)).status_code == 403
    assert (
        client.post(url("pool-state", benchmark, small_pool.pk), {"state": "closed"}).status_code
        == 403
    )
    assert client.post(url("qrels-publish", benchmark), {"name": "x"}).status_code == 403


def count_queries(client, where) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(where).status_code == 200
    return len(captured)


def test_the_list_asks_the_database_no_more_for_twenty_pools(benchmark, owner, signed_in):
    client, counts = signed_in(owner), []
    for n in (2, 18):
        for _ in range(n):
            pool(benchmark, {"q1": ["d1"]})
        counts.append(count_queries(client, url("pool-list", benchmark)))

    assert counts[0] == counts[1]


def test_a_pools_page_asks_the_database_no_more_for_twenty_people(
    benchmark, small_pool, owner, signed_in
):
    client, counts = signed_in(owner), []
    slot = Slot.objects.first()
    for n in (2, 18):
        for _ in range(n):
            judge(slot, factories.user(), 1)
        counts.append(count_queries(client, url("pool-detail", benchmark, small_pool.pk)))

    assert counts[0] == counts[1]


def test_the_steps_say_how_far_a_benchmark_is(benchmark, ada, owner):
    steps = [make(benchmark, owner) for make in (pool_step, judge_step, qrels_step)]
    assert [step.is_done for step in steps] == [False, False, False]
    assert [step.order for step in steps] == [40, 50, 60]

    small_pool = pool(benchmark, {"q1": ["d1"]})
    assert pool_step(benchmark, owner).is_done
    assert judge_step(benchmark, owner).detail == "0 of 1 label"
    judge(claimed(small_pool, ada)[0], ada, 1)
    assert judge_step(benchmark, owner).is_done
    factories.qrel_set(benchmark, {("q1", "d1"): 1})
    assert qrels_step(benchmark, owner).detail == "1 set of qrels"

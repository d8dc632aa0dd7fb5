"""kill -9 of a worker in the middle of its work: finished later, once, with nothing left over."""

import os
from collections import Counter

import pytest

from tests.judge_stub import JudgeStub
from tests.system.making import beir_zip, run_file
from tests.system.working import (
    assert_nothing_half_done,
    is_reading,
    is_staging,
    job_row,
    n_staged_queries,
    wait_for_job,
)

pytestmark = pytest.mark.slow
N_QUERIES = 6_000


@pytest.fixture
def archive(tmp_path):
    return str(beir_zip(tmp_path / "killed.zip", n_documents=N_QUERIES, n_queries=N_QUERIES))


def is_group_alive(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_import_of_a_killed_worker_is_done_once_by_the_next(site, archive):
    site.start("worker")
    job = site.call("start_import", slug="killed", path=archive)
    site.wait_for(lambda: is_staging(site, job), "rows to be staged")

    site.kill("worker")
    assert job_row(site, job).state == "running"
    assert 0 < n_staged_queries(site) <= N_QUERIES
    site.start("sweeper")
    assert wait_for_job(site, job, state="queued").message == "worker lost; starting again"
    site.start("worker")

    assert wait_for_job(site, job).attempt == 2
    assert_nothing_half_done(site, "killed")
    facts = site.call("contents", slug="killed")
    assert (len(facts["versions"]), len(facts["sets"])) == (1, 1)
    assert (facts["n_queries"], facts["n_families"]) == (N_QUERIES, N_QUERIES)
    wait_for_job(site, site.call("start_import", slug="undisturbed", path=archive))
    assert facts == site.call("contents", slug="undisturbed")


def test_submission_of_a_killed_worker_is_scored_once_by_the_next(site, tmp_path):
    # A million lines: fewer are read before anybody can look.
    site.call("make_phase", slug="scored", n_queries=2_000)
    path = str(run_file(tmp_path / "made.run", n_queries=2_000, depth=500, n_documents=500))
    site.start("worker")
    job = site.call("start_submission", slug="scored", path=path, name="killed", username="sam")
    site.wait_for(lambda: is_reading(site, job), "the run to be read")

    site.kill("worker")
    assert job_row(site, job).state == "running"
    assert site.call("scores", slug="scored", name="killed") == []
    site.start("sweeper")
    assert wait_for_job(site, job, state="queued").message == "worker lost; starting again"
    site.start("worker")

    assert wait_for_job(site, job).attempt == 2
    assert_nothing_half_done(site, "scored")
    (answer,) = site.call("scores", slug="scored", name="killed")
    same = site.call("start_submission", slug="scored", path=path, name="same", username="sue")
    wait_for_job(site, same)
    assert [answer] == site.call("scores", slug="scored", name="same")
    assert {measure: mean for measure, mean, _ in answer["means"]}["R@100"] == 100 / 2_000


def test_worker_whose_parent_was_killed_neither_loses_nor_doubles_its_job(plain_site, archive):
    site = plain_site
    orphaned = site.start("worker")
    job = site.call("start_import", slug="orphan", path=archive)
    site.wait_for(lambda: is_staging(site, job), "rows to be staged")

    site.kill("worker", group=False)
    assert job_row(site, job).state == "running"
    site.start("sweeper")
    site.start("worker")

    # The child that was at work may end it, or die with its parent: never both.
    assert wait_for_job(site, job).attempt in (1, 2)
    assert_nothing_half_done(site, "orphan")
    facts = site.call("contents", slug="orphan")
    assert (len(facts["versions"]), len(facts["sets"])) == (1, 1)
    assert (facts["n_queries"], facts["n_families"]) == (N_QUERIES, N_QUERIES)
    site.wait_for(lambda: not is_group_alive(orphaned.pid), "the orphan to end", 15)


def test_campaign_of_a_killed_worker_goes_on_and_pays_no_label_twice(plain_site, monkeypatch):
    site, n_pairs, at_once = plain_site, 300, 16
    monkeypatch.setitem(site.env, "JUDGE_PRIVATE_ADDRESSES", "1")
    with JudgeStub(delay=0.05) as stub:
        started = site.call(
            "start_campaign", slug="asked", n_pairs=n_pairs, url=stub.url, concurrency=at_once
        )
        first = site.start("worker")
        site.wait_for(lambda: n_graded(site, started) >= 60, "labels to be written")

        site.kill("worker")
        paid = graded_documents(site, started)
        site.start("sweeper")
        site.start("worker")
        assert wait_for_job(site, started["job"]).attempt == 2

    asked = Counter(title_in(request.document()) for request in stub.requests)
    assert first.poll() is not None
    assert 60 <= len(paid) < n_pairs
    assert n_graded(site, started) == len(asked) == n_pairs
    # What was under way is lost with the worker, and what had come and was not written yet; but
    # what was written is neither asked nor paid again.
    assert {asked[title] for title in paid} == {1}
    assert asked.total() <= n_pairs + 2 * at_once
    labels = site.rows("SELECT count(*) FROM annotation_judgment WHERE kind = 'machine'")
    assert labels == [(n_pairs,)]


def title_in(document: str) -> str:
    """Of a document as a prompt shows it, the title."""
    return document.split("\n")[0]


def graded_documents(site, started) -> set[str]:
    """Of a campaign: the documents whose labels are written."""
    rows = site.rows(
        "SELECT docid FROM annotation_campaignpair WHERE campaign_id = ? AND state = 'graded'",
        started["campaign"],
    )
    return {docid for (docid,) in rows}


def n_graded(site, started) -> int:
    return len(graded_documents(site, started))

"""The queue only carries ids: it may lose them, repeat them, or have nobody listening."""

import pytest

from tests.system.making import beir_zip
from tests.system.working import (
    assert_nothing_half_done,
    job_row,
    lose_messages,
    n_messages,
    wait_for_job,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def archive(tmp_path):
    return str(beir_zip(tmp_path / "small.zip", n_documents=50, n_queries=20))


def test_job_whose_message_was_lost_is_sent_again(site, archive):
    job = site.call("start_import", slug="lost", path=archive)
    assert n_messages(site) == 1

    lose_messages(site)
    assert n_messages(site) == 0
    site.start("sweeper")
    site.start("worker")

    assert wait_for_job(site, job).attempt == 1
    assert "1 sent again" in site.log("sweeper")


def test_message_that_comes_three_times_is_done_once(site, archive):
    job = site.call("start_import", slug="repeated", path=archive)
    site.call("send_again", job=job, times=2)
    assert n_messages(site) == 3

    site.start("sweeper")
    site.start("worker", n_workers=2)
    wait_for_job(site, job)
    site.wait_for(lambda: n_messages(site) == 0, "every message to be taken")
    # What is sent last is done last: the repeated messages are over when it is done.
    wait_for_job(site, site.call("start_import", slug="last", path=archive))

    assert job_row(site, job).attempt == 1
    facts = site.call("contents", slug="repeated")
    assert (len(facts["versions"]), len(facts["sets"]), facts["n_queries"]) == (1, 1, 20)
    assert_nothing_half_done(site, "repeated")


def test_page_of_a_job_says_when_no_worker_was_seen_for_two_minutes(plain_site, archive, visitor):
    site = plain_site
    site.start("worker")
    job = site.call("start_import", slug="waiting", path=archive)
    wait_for_job(site, job)
    site.kill("worker")
    waiting = site.call("start_import", slug="waits", path=archive)
    assert not site.call("is_without_worker", job=waiting)

    site.call("let_workers_be_seen", seconds_ago=121)
    assert site.call("is_without_worker", job=waiting)
    site.start("web")
    olga = visitor(site.url, "olga")
    assert "No worker was seen for two minutes." in olga.get(f"/jobs/{waiting}/").text

    site.start("worker")
    wait_for_job(site, waiting)
    page = olga.get(f"/jobs/{waiting}/").text
    assert "No worker was seen" not in page
    assert "Done." in page

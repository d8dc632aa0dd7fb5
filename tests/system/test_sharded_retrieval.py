"""A corpus that several workers retrieve: one of them dies in the middle, and no byte differs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.conftest import REDIS, needs_broker
from tests.system.site import Site
from tests.system.working import job_row, wait_for_job

pytestmark = [pytest.mark.slow, pytest.mark.broker]
N_DOCUMENTS, N_SHARDS = 8_000, 3
SYSTEM, MADE = "bm25", "baseline 'bm25'%"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    needs_broker(REDIS)
    with Site(tmp_path / "site", broker=REDIS) as site:
        yield site


def shards_at_work(site: Site) -> list[int]:
    result = site.rows(
        "SELECT id FROM benchmarks_app_job WHERE kind = 'retrieve-shard' AND state = 'running'"
    )
    return [int(key) for (key,) in result]


def test_worker_killed_in_the_middle_changes_no_byte_of_the_run(site):
    # Both are there beforehand: one alone may have done it all before another has started.
    site.start("worker", name="first")
    site.start("worker", name="second")
    site.start("sweeper")
    shared = {"n_documents": N_DOCUMENTS, "system": SYSTEM, "n_shards": N_SHARDS}
    started = site.call("share_words", slug="words", **shared)
    parent, alone = started["job"], Path(started["alone"]).read_bytes()

    site.wait_for(lambda: len(shards_at_work(site)) == 2, "both to be at work", pause=0.005)
    site.kill("first")

    wait_for_job(site, parent)
    ((stored,),) = site.rows(
        "SELECT stored FROM benchmarks_app_upload WHERE imported_as LIKE ?", MADE
    )
    assert (site.folder / "files" / stored).read_bytes() == alone
    assert len(alone.splitlines()) > 1000
    steps = site.rows(
        "SELECT step, attempt FROM scoring_shardjob JOIN benchmarks_app_job AS job"
        " ON job.id = job_id ORDER BY job.id"
    )
    assert sorted(attempt for _, attempt in steps) == [*[1] * (2 * N_SHARDS + 1), 2]
    assert [step for step, _ in steps].count("merge") == 1
    assert job_row(site, parent).attempt == 1
    site.wait_for(
        lambda: not list((site.folder / "staging").glob("shards-*")), "no file to be left"
    )

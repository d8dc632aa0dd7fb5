"""A corpus that several workers retrieve: one of them dies in the middle, and no byte differs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.conftest import REDIS, needs_broker
from tests.system.site import Site
from tests.system.working import job_row, wait_for_job

pytestmark = [pytest.mark.slow, pytest.mark.broker]
N_DOCUMENTS, N_SHARDS = 8_000, 3
SYSTEM = "bm25"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    needs_broker(REDIS)
    with Site(tmp_path / "site", broker=REDIS) as site:
        yield site


def shards_at_work(site: Site) -> list[int]:
    found = site.rows(
        "SELECT id FROM benchmarks_app_job WHERE kind = 'retrieve-shard' AND state = 'running'"
    )
    return [int(key) for (key,) in found]


def test_worker_killed_in_the_middle_changes_no_byte_of_the_run(site, tmp_path):
    site.call("make_words", slug="words", n_documents=N_DOCUMENTS, n_queries=20)
    alone = tmp_path / "alone.trec"
    site.manage("retrieve", "words", "--system", SYSTEM, "--shards", "1", "-o", str(alone))
    parent = site.call("start_baseline", slug="words", system=SYSTEM, n_shards=N_SHARDS)
    site.start("worker", name="first")
    site.start("worker", name="second")
    site.start("sweeper")

    site.wait_for(lambda: len(shards_at_work(site)) == 2, "both to be at work", pause=0.005)
    site.kill("first")

    wait_for_job(site, parent)
    made = site.call("baseline_made", slug="words")
    assert Path(made["path"]).read_bytes() == alone.read_bytes()
    assert len(alone.read_bytes().splitlines()) > 1000
    assert made["attempts"] == [*[1] * (2 * N_SHARDS + 1), 2]
    assert [step for step, _ in made["steps"]].count("merge") == 1
    assert job_row(site, parent).attempt == 1
    assert not list((site.folder / "staging").glob("shards-*"))

"""A slow job that was given to another worker: the first one wakes up, and must not write."""

import contextlib
import signal
import sqlite3

import psycopg
import pytest

from tests.system.making import beir_zip
from tests.system.site import Site
from tests.system.working import (
    assert_nothing_half_done,
    is_reading,
    is_staging,
    job_row,
    wait_for_job,
)

pytestmark = pytest.mark.slow
N_QUERIES = 6_000


def is_writable(site: Site) -> bool:
    """No transaction that writes is open, as a stopped process would hold it for ever."""
    if site.database.startswith("sqlite"):
        path = site.database.removeprefix("sqlite:///")
        with contextlib.closing(
            sqlite3.connect(path, timeout=0.05, isolation_level=None)
        ) as writer:
            try:
                writer.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return False
            writer.execute("ROLLBACK")
            return True
    with psycopg.connect(site.database) as writer:
        writer.execute("SET lock_timeout = '50ms'")
        try:
            writer.execute("SELECT id FROM benchmarks_app_job FOR UPDATE")
        except psycopg.errors.LockNotAvailable:
            return False
        writer.rollback()
        return True


def stop_between_writes(site: Site, name: str) -> None:
    """Halt a worker at a moment when it holds nothing that others would wait for."""

    def is_stopped() -> bool:
        site.kill(name, signal.SIGSTOP)
        if is_writable(site):
            return True
        site.kill(name, signal.SIGCONT)
        return False

    # Small steps: between two batches of rows there is little time.
    site.wait_for(is_stopped, "a moment between two transactions", pause=0.002)


@pytest.mark.parametrize("halted_while", [is_reading, is_staging])
def test_worker_that_wakes_up_late_writes_nothing(site, tmp_path, halted_while):
    slug = halted_while.__name__.replace("_", "-")
    archive = beir_zip(tmp_path / "slow.zip", n_documents=40_000, n_queries=N_QUERIES)
    site.start("worker", name="first")
    job = site.call("start_import", slug=slug, path=str(archive))
    site.wait_for(lambda: halted_while(site, job), "the first worker to be at it")

    stop_between_writes(site, "first")
    assert job_row(site, job).state == "running"
    site.start("sweeper")
    site.start("worker", name="second")
    assert wait_for_job(site, job).attempt == 2
    facts = site.call("contents", slug=slug)
    site.kill("first", signal.SIGCONT)
    text = f"job {job} attempt 1 was fenced off"
    site.wait_for(lambda: text in site.log("first"), "the first worker to notice")

    assert (job_row(site, job).state, job_row(site, job).attempt) == ("done", 2)
    assert site.call("contents", slug=slug) == facts
    assert (len(facts["versions"]), len(facts["sets"])) == (1, 1)
    assert (facts["n_queries"], facts["n_families"]) == (N_QUERIES, N_QUERIES)
    assert_nothing_half_done(site, slug)

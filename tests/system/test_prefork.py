"""What a worker's forked processes have of their own: polars, and a connection they keep.

polars hangs in a process forked from one that has used it: a worker's parent never does.
"""

import pkgutil
import time
from pathlib import Path

import pytest

import annotation
import benchmarks_app
import benchwright
import scoring
from tests.system.making import beir_zip
from tests.system.working import wait_for_job

pytestmark = pytest.mark.slow
LEFT_OUT = ("migrations", "management", "wsgi", "cli", "settings")


def every_module() -> list[str]:
    """The names of all modules of the library and the apps that a worker could import."""
    return [
        module.name
        for app in (benchwright, annotation, benchmarks_app, scoring)
        for module in pkgutil.walk_packages(app.__path__, f"{app.__name__}.")
        if not set(module.name.split(".")) & set(LEFT_OUT)
    ]


def test_forked_worker_with_everything_imported_does_a_polars_job(plain_site, tmp_path):
    archive = beir_zip(tmp_path / "forked.zip", n_documents=5_000, n_queries=10)
    assert "benchwright.corpora.store" in every_module()
    everything = ",".join(["polars", *every_module()])
    worker = plain_site.start("worker", n_workers=2, arguments=["--include", everything])

    jobs = [
        plain_site.call("start_import", slug=slug, path=str(archive)) for slug in ("one", "two")
    ]

    for job in jobs:
        wait_for_job(plain_site, job, seconds=40)
    assert len(plain_site.alive()) == 3, "a parent and two forked children"
    assert worker.poll() is None


def connections_of_child(site, worker):
    """What a worker's child has open of the database, a moment after it has done something.

    On PostgreSQL of the whole site: no other process of these tests keeps a connection.
    """
    time.sleep(0.5)
    if site.database.startswith("postgres"):
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        rows = site.rows(f"SELECT pid FROM pg_stat_activity WHERE {others} ORDER BY backend_start")
        return [pid for (pid,) in rows]
    (child,) = set(site.alive()) - {worker.pid}
    files = {path: path.readlink() for path in Path(f"/proc/{child}/fd").iterdir()}
    return sorted(path for path in files if files[path].name == "benchwright.sqlite3")


@pytest.fixture
def jobs_done(plain_site, tmp_path, monkeypatch):
    """A worker's child after its first job; a function has it do another.

    Its environment is that of a web server, which has a pool.
    """
    archive = str(beir_zip(tmp_path / "small.zip", n_documents=10, n_queries=5))
    first = plain_site.call("start_import", slug=tmp_path.name, path=archive)
    with monkeypatch.context() as patched:
        patched.setitem(plain_site.env, "DATABASE_POOL", "1")
        worker = plain_site.start("worker")
    wait_for_job(plain_site, first, seconds=120)

    def do_another():
        job = plain_site.call("start_import", slug=f"{tmp_path.name}-again", path=archive)
        return wait_for_job(plain_site, job, seconds=120)

    return worker, do_another


def test_forked_worker_keeps_its_connection_for_the_next_job(plain_site, jobs_done):
    worker, do_another = jobs_done
    after_first = connections_of_child(plain_site, worker)
    do_another()

    assert after_first
    assert connections_of_child(plain_site, worker) == after_first


def test_forked_worker_whose_connection_was_ended_opens_another(plain_site, jobs_done):
    if not plain_site.database.startswith("postgres"):
        pytest.skip("nobody ends a connection of SQLite")
    worker, do_another = jobs_done
    ended = connections_of_child(plain_site, worker)
    for backend in ended:
        plain_site.rows("SELECT pg_terminate_backend(?)", backend)

    assert do_another().attempt == 1
    assert set(ended).isdisjoint(connections_of_child(plain_site, worker))

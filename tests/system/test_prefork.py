"""polars hangs in a process forked from one that has used it: a worker's parent never does."""

import pkgutil

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
        found.name
        for app in (benchwright, annotation, benchmarks_app, scoring)
        for found in pkgutil.walk_packages(app.__path__, f"{app.__name__}.")
        if not set(found.name.split(".")) & set(LEFT_OUT)
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

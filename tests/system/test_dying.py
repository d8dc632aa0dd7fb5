"""kill -9 of worker and web, on both databases: nothing is half done, nothing acknowledged lost.

Scoring, publishing and exporting die at every point: each is a commit, a stored file or a note of
progress, before it and after it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.making import beir_zip, run_file
from tests.system.sending import half_sent, sent_in, signed_in
from tests.system.site import ROOT, Site
from tests.system.working import assert_nothing_half_done, wait_for_job

pytestmark = pytest.mark.slow
N_QUERIES = 40


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def site(request, tmp_path_factory):
    """A site without processes on each database."""
    is_there = os.environ.get("DATABASE_URL", "").startswith("postgres")
    if request.param == "postgresql" and not is_there:
        pytest.skip("DATABASE_URL names no PostgreSQL server")
    with Site(tmp_path_factory.mktemp("site"), on_sqlite=request.param == "sqlite") as made:
        yield made


@pytest.fixture(scope="module")
def dying(site):
    """A process of the site that does jobs and dies."""
    command = [sys.executable, "-m", "tests.system.dying"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=ROOT, env=site.env, **pipes)
    yield process
    process.communicate()


@pytest.fixture
def dies_well(site, dying, capsys):
    """A function that lets a job die everywhere, and looks at what comes of it."""

    def check(kind: str, job: int, slug: str) -> None:
        dying.stdin.write(f"{kind} {job}\n")
        dying.stdin.flush()
        report = json.loads(dying.stdout.readline())
        with capsys.disabled():
            print(f"\n{kind} died at {report['points']} points")  # noqa: T201
        assert report["wrong"] == []
        assert report["points"] >= 10
        wait_for_job(site, job)
        site.call("sweep_in_days")
        assert_nothing_half_done(site, slug)
        assert site.call("broken_files") == []

    return check


def test_scoring_that_dies_anywhere_is_done_once(site, dies_well, tmp_path):
    site.call("make_phase", slug="dying", n_queries=N_QUERIES)
    path = str(run_file(tmp_path / "made.run", n_queries=N_QUERIES, depth=20, n_documents=100))
    job = site.call("start_submission", slug="dying", path=path, name="dies", username="sam")

    dies_well("scoring", job, "dying")

    (scores,) = site.call("scores", slug="dying", name="dies")
    same = site.call("start_submission", slug="dying", path=path, name="lives", username="sue")
    site.call("run_queued")
    wait_for_job(site, same)
    assert [scores] == site.call("scores", slug="dying", name="lives")


def test_publication_that_dies_anywhere_is_made_once_with_all_that_follows(site, dies_well):
    site.call("make_phase", slug="published", n_queries=N_QUERIES)
    site.call("make_runs", slug="published", n=2, n_queries=N_QUERIES, depth=10)
    job = site.call("start_publication", slug="published", version="1.0.1")

    dies_well("publishing", job, "published")


def test_export_that_dies_anywhere_is_whole(site, dies_well, tmp_path):
    archive = str(beir_zip(tmp_path / "small.zip", n_documents=60, n_queries=N_QUERIES))
    wait = site.call("start_import", slug="exported", path=archive)
    site.call("run_queued")
    wait_for_job(site, wait)
    job = site.call("start_export", slug="exported", format="trec")

    dies_well("exporting", job, "exported")


def test_web_that_dies_keeps_what_it_acknowledged_and_nothing_of_the_rest(site, tmp_path):
    site.call("make_phase", slug="web", n_queries=N_QUERIES)
    paths = [
        str(run_file(tmp_path / f"{name}.run", n_queries=N_QUERIES, depth=depth, n_documents=60))
        for name, depth in (("first", 10), ("half", 11))
    ]
    site.start("web")
    with signed_in(site, "sam") as client:
        assert sent_in(client, "web", paths[0]).status_code == 200
        with half_sent(client, site, "web"):
            site.wait_for(lambda: left_of_uploads(site), "the upload to be under way")
            site.kill("web")

    assert site.call("submissions", slug="web", username="sam")["states"] == {"first": "received"}
    sql = "SELECT count(*) FROM benchmarks_app_upload WHERE name = ?"
    assert site.rows(sql, "half.run") == [(0,)]
    for path in left_of_uploads(site):
        os.utime(path, (0, 0))
    site.call("sweep_in_days")
    assert left_of_uploads(site) == []
    site.start("web")
    with signed_in(site, "sam") as client:
        assert sent_in(client, "web", paths[1]).status_code == 200
    site.call("run_queued")
    answer = site.call("submissions", slug="web", username="sam")
    assert (answer["states"], answer["n_runs"]) == ({"first": "scored", "half": "scored"}, 2)


def left_of_uploads(site: Site) -> list[Path]:
    return list((site.folder / "incoming").iterdir())

"""The drill: a site is backed up while people and workers are busy, lost, and goes on elsewhere."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchwright.backups.layout import BackupFolder
from tests.databases import VENDORS
from tests.system.making import beir_zip, run_file
from tests.system.site import Site
from tests.system.test_judging_during_import import Annotator
from tests.system.working import assert_nothing_half_done, wait_for_job

pytestmark = pytest.mark.slow
N_IMPORTED = 3_000
N_SCORED = 300
ENOUGH = 10


class Feeder(threading.Thread):
    """Keeps the queue of a site from running empty: an import and a submission by turns."""

    def __init__(self, site: Site, folder: Path) -> None:
        super().__init__(name="feeder")
        self.site, self.folder = site, folder
        self.is_over = threading.Event()

    def run(self) -> None:
        archive = beir_zip(self.folder / "made.zip", n_documents=N_IMPORTED, n_queries=N_IMPORTED)
        n = 0
        while not self.is_over.wait(0.1):
            if len(unfinished(self.site)) < 4:
                n += 1
                self.site.call("start_import", slug=f"imported{n}", path=str(archive))
                path = self.folder / f"run{n}.run"
                run_file(path, n_queries=N_SCORED, depth=100 + n, n_documents=300)
                of_sam = {"path": str(path), "name": path.stem, "username": "sam"}
                self.site.call("start_submission", slug="scored", **of_sam)


def unfinished(site: Site) -> list[int]:
    query = "SELECT id FROM benchmarks_app_job WHERE state IN ('queued', 'running')"
    return [job for (job,) in site.rows(query)]


@pytest.fixture(params=VENDORS)
def busy(request, tmp_path) -> Iterator[Site]:
    """A site with an open pool, imports and submissions on its queue, and workers at them."""
    with Site(tmp_path / "busy", on_sqlite=request.param == "sqlite") as site:
        # However fast the workers are: nobody waits for tomorrow.
        site.env["SUBMISSIONS_PER_DAY"] = "10000"
        pool = {"n_queries": 60, "n_documents": 50, "overlap": 1, "people": ["ada", "bo"]}
        site.pool = site.call("make_large_pool", slug="judged", **pool)
        site.call("begin", pool=site.pool)
        site.call("make_phase", slug="scored", n_queries=N_SCORED)
        site.start("worker", n_workers=2)
        site.start("web")
        feeder = Feeder(site, tmp_path)
        feeder.start()
        try:
            yield site
        finally:
            feeder.is_over.set()
            feeder.join(timeout=60)


def judging(site: Site, pool: int) -> list[Annotator]:
    annotators = [Annotator(site, username, pool) for username in ("ada", "bo")]
    for annotator in annotators:
        annotator.start()
    return annotators


def n_answers(annotators: list[Annotator]) -> int:
    return sum(len(annotator.answers) for annotator in annotators)


def ended(annotators: list[Annotator]) -> int:
    """Labels that were acknowledged, once all have stopped."""
    for annotator in annotators:
        annotator.is_over.set()
    for annotator in annotators:
        annotator.join(timeout=60)
    assert [annotator.trouble for annotator in annotators] == [[], []]
    return n_answers(annotators)


def backed_up_while_busy(site: Site, place: Path) -> tuple[int, int, int]:
    """Labels acknowledged before the backup, in it, and after it."""
    annotators = judging(site, site.pool)
    site.wait_for(lambda: n_answers(annotators) > ENOUGH, "some labels", 90)
    n_before = n_answers(annotators)
    report = json.loads(site.manage("backup", str(place), "--json", "--verbosity", "0"))
    n_after = ended(annotators)
    assert report["broken"] == []
    rows = BackupFolder(place).snapshot().manifest()["tables"]["annotation_judgment"]["rows"]
    return n_before, rows["n_rows"], n_after


def test_site_that_was_lost_under_load_goes_on_from_its_backup(busy, tmp_path, capsys):
    place = tmp_path / "backups"
    n_before, n_kept, n_after = backed_up_while_busy(busy, place)
    busy.end_processes()  # kill -9 of all
    assert n_before <= n_kept <= n_after
    assert "0 missing or altered" in busy.manage("verify_backup", str(place))
    manifest = BackupFolder(place).snapshot().manifest()

    # The other database, where there is one; each into itself is in test_backups.py.
    target = VENDORS[-1] if busy.database.startswith("sqlite") else VENDORS[0]
    with Site(tmp_path / "new", on_sqlite=target == "sqlite") as site:
        site.manage("restore", str(place), "--verbosity", "0")
        assert_as_in(manifest, site)
        waiting = unfinished(site)
        with capsys.disabled():
            print(f"\n{n_kept} labels, {len(waiting)} jobs unfinished")  # noqa: T201
        assert waiting, "nothing was under way: the drill is too easy"
        assert_work_goes_on(site, busy.pool, waiting, n_kept)


def assert_as_in(manifest: dict[str, Any], site: Site) -> None:
    """Every count and every digest."""
    answer = site.call("rows_said")
    answer.pop("benchmarks_app_storecheck")  # the restore itself has made one
    assert answer == {
        name: [facts["rows"]["n_rows"], facts["rows"]["content"]]
        for name, facts in manifest["tables"].items()
        if name != "benchmarks_app_storecheck"
    }


def assert_work_goes_on(site: Site, pool: int, waiting: list[int], n_kept: int) -> None:
    for kind in ("web", "worker", "sweeper"):
        site.start(kind)
    annotators = judging(site, pool)
    site.wait_for(lambda: n_answers(annotators) > ENOUGH, "labels after the restore", 90)
    n_more = ended(annotators)

    for job in waiting:
        wait_for_job(site, job, seconds=120)
    events = {"events": n_kept + n_more, "surplus": 0, "entries": n_kept + n_more}
    assert site.call("judged", pool=pool) == events
    imported = "SELECT DISTINCT slug FROM benchmarks_app_benchmark b JOIN benchmarks_app_job j"
    for (slug,) in site.rows(f"{imported} ON j.benchmark_id = b.id WHERE j.kind = 'import-file'"):
        assert site.call("contents", slug=slug)["n_queries"] == N_IMPORTED
        assert_nothing_half_done(site, slug)
    states = site.call("submissions", slug="scored", username="sam")["states"]
    assert set(states.values()) == {"scored"}
    assert "0 broken" in site.manage("verify_store")

"""What goes wrong around scoring: dead workers, a dead broker, a full disk. Nothing is half done.

The full disk is a small tmpfs, which is mounted for a test: without the right to mount they skip.
"""

import contextlib
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import are_services_required
from tests.system.making import run_file
from tests.system.sending import sent_in, signed_in
from tests.system.site import Site, free_port
from tests.system.test_fenced_worker import stop_between_writes
from tests.system.working import (
    assert_nothing_half_done,
    is_reading,
    job_row,
    left_in_folders,
    wait_for_job,
)

pytestmark = pytest.mark.slow
N_QUERIES = 100
FULL = "The disk of this site is full"


@pytest.fixture
def plain_site(tmp_path: Path) -> Iterator[Site]:
    """A site of this test's own: what others left in its folders would fill a small disk."""
    with Site(tmp_path / "own") as site:
        yield site


def run_files(folder: Path, names: str, depth: int = 20) -> list[str]:
    """Runs of other bytes each: they differ in depth."""
    return [
        str(
            run_file(
                folder / f"{name}.run",
                n_queries=N_QUERIES,
                depth=depth + n,
                n_documents=depth + 100,
            )
        )
        for n, name in enumerate(names.split())
    ]


def assert_each_scored_once(site: Site, slug: str, names: str, n_left: int) -> None:
    answer = site.call("submissions", slug=slug, username="sam")
    assert answer["states"] == dict.fromkeys(names.split(), "scored")
    assert (answer["n_score_sets"], answer["n_runs"]) == (len(names.split()),) * 2
    assert answer["n_left"] == n_left
    assert_nothing_half_done(site, slug)


# --- workers -------------------------------------------------------------------------------


def test_one_of_two_workers_is_killed_in_the_middle_of_many_submissions(site, tmp_path):
    names = "a b c d e f g h"
    site.call("make_phase", slug="two-workers", n_queries=N_QUERIES)
    site.start("worker", name="first")
    site.start("worker", name="second")
    paths = run_files(tmp_path, names, depth=12_000)
    jobs = site.call("start_submissions", slug="two-workers", paths=paths, username="sam")

    def both_are_at_work() -> bool:
        return [job_row(site, job).state for job in jobs].count("running") == 2

    site.wait_for(both_are_at_work, "both workers to be at work", pause=0.005)
    site.kill("first")
    site.start("sweeper")

    attempts = [wait_for_job(site, job).attempt for job in jobs]
    assert sorted(attempts)[:-1] == [1] * 7
    assert_each_scored_once(site, "two-workers", names, n_left=12)


def test_job_that_is_cancelled_at_work_leaves_nothing(plain_site, tmp_path):
    site = plain_site
    site.call("make_phase", slug="cancelled", n_queries=N_QUERIES)
    (path,) = run_files(tmp_path, "endless", depth=20_000)
    site.start("worker")
    (job,) = site.call("start_submissions", slug="cancelled", paths=[path], username="sam")
    site.wait_for(lambda: is_reading(site, job), "the run to be read", pause=0.005)
    # Meanwhile it must not end: a process that cancels takes its time to start.
    stop_between_writes(site, "worker")

    site.call("cancel", job=job, username="olga")
    site.kill("worker", signal.SIGCONT)

    assert job_row(site, job).state == "cancelled"
    answer = site.call("submissions", slug="cancelled", username="sam")
    assert (answer["states"], answer["n_left"]) == ({"endless": "failed"}, 20)
    text = f"job {job} attempt 1 was fenced off"
    site.wait_for(lambda: text in site.log("worker"), "the worker to notice")
    assert_nothing_half_done(site, "cancelled")
    # The worker lives, and takes the next.
    site.call("try_again", job=job, username="sam")
    assert wait_for_job(site, job).attempt == 2
    assert_each_scored_once(site, "cancelled", "endless", n_left=19)


# --- the broker ----------------------------------------------------------------------------


class Broker:
    """A Redis of one's own that keeps nothing: killed, it has lost every message."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        self.process = subprocess.Popen(
            [*command, "--appendonly", "no", "--dir", str(self.folder)], stdout=subprocess.DEVNULL
        )

    def kill(self) -> None:
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(timeout=10)
            self.process = None


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    if shutil.which("redis-server") is None:
        why = "needs the program redis-server"
        (pytest.fail if are_services_required() else pytest.skip)(why)
    made = Broker(tmp_path)
    made.start()
    yield made
    made.kill()


def test_broker_that_dies_and_comes_back_costs_no_submission(broker, tmp_path):
    before, meanwhile = "a b c", "d e f"
    with Site(tmp_path / "site", broker=broker.url) as site:
        site.call("make_phase", slug="brokered", n_queries=N_QUERIES)
        first, second = run_files(tmp_path, before), run_files(tmp_path, meanwhile, depth=40)
        jobs = site.call("start_submissions", slug="brokered", paths=first, username="sam")
        broker.kill()
        site.start("worker")
        site.start("sweeper")

        jobs += site.call("start_submissions", slug="brokered", paths=second, username="sam")
        assert {job_row(site, job).state for job in jobs} == {"queued"}
        broker.start()

        for job in jobs:
            wait_for_job(site, job)
        assert_each_scored_once(site, "brokered", f"{before} {meanwhile}", n_left=14)


def test_queue_folder_that_is_emptied_costs_no_submission(plain_site, tmp_path):
    site, names = plain_site, "a b c"
    site.call("make_phase", slug="folder", n_queries=N_QUERIES)
    site.start("worker")
    jobs = site.call(
        "start_submissions", slug="folder", paths=run_files(tmp_path, names), username="sam"
    )
    for path in (site.folder / "queue").rglob("*"):
        if path.is_file():
            path.unlink(missing_ok=True)
    site.start("sweeper")

    for job in jobs:
        wait_for_job(site, job)
    assert_each_scored_once(site, "folder", names, n_left=17)


# --- the disk ------------------------------------------------------------------------------


class SmallDisk:
    """A file system of a few megabytes in the place of a folder of the site."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filling = folder / "filling"

    def fill(self) -> None:
        with contextlib.suppress(OSError), self._filling.open("wb", buffering=0) as out:
            while out.write(b"\0" * 65_536):
                pass

    def free(self) -> None:
        self._filling.unlink()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[Path], SmallDisk]]:
    """A function that puts a folder, with what is in it, on a small disk."""
    mounted: list[Path] = []

    def mount(folder: Path) -> SmallDisk:
        kept = shutil.copytree(folder, tmp_path / "kept")
        command = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("needs the right to mount a file system")
        mounted.append(folder)
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        return SmallDisk(folder)

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=False)


@pytest.mark.parametrize(
    ("part", "depth"),
    [("files", 20), ("staging", 20), ("incoming", 2_000)],
    ids=["storage", "staging", "incoming"],
)
def test_file_sent_to_a_full_disk_is_refused_and_nothing_of_it_stays(
    plain_site, tmp_path, small_disk, part, depth
):
    site, slug = plain_site, f"full-{part}"
    site.call("make_phase", slug=slug, n_queries=N_QUERIES)
    (path,) = run_files(tmp_path, "mine", depth=depth)
    disk = small_disk(site.folder / part)
    disk.fill()
    site.start("web")
    with signed_in(site, "sam") as client:
        answer = sent_in(client, slug, path)

        assert (answer.status_code, answer.headers.get("X-Error-Code")) == (507, "disk-full")
        assert FULL in answer.text
        result = site.call("submissions", slug=slug, username="sam")
        assert (result["states"], result["n_left"]) == ({}, 20)
        assert not [path for path in (site.folder / part).rglob("*upload*") if path.is_file()]
        disk.free()
        assert sent_in(client, slug, path).status_code == 200
    assert site.call("submissions", slug=slug, username="sam")["states"] == {"mine": "received"}


@pytest.mark.parametrize("part", ["staging", "files"])
def test_disk_that_fills_up_while_a_run_is_scored_costs_nothing(
    plain_site, tmp_path, small_disk, part
):
    site, slug = plain_site, f"filled-{part}"
    site.call("make_phase", slug=slug, n_queries=N_QUERIES)
    (path,) = run_files(tmp_path, "mine", depth=30)
    (job,) = site.call("start_submissions", slug=slug, paths=[path], username="sam")
    disk = small_disk(site.folder / part)
    disk.fill()
    site.start("worker")

    row = wait_for_job(site, job, state="failed")

    assert row.error.startswith(FULL)
    answer = site.call("submissions", slug=slug, username="sam")
    assert (answer["states"], answer["n_left"]) == ({"mine": "failed"}, 20)
    assert (answer["n_runs"], answer["n_score_sets"]) == (0, 0)
    assert not [folder for folder in left_in_folders(site) if folder.name != "filling"]
    disk.free()
    site.call("try_again", job=job, username="sam")
    wait_for_job(site, job)
    assert_each_scored_once(site, slug, "mine", n_left=19)

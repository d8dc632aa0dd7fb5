"""One site a folder: the second one is told who has it."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks_app import site_lock
from benchmarks_app.site_lock import FolderInUseError, SiteLock

ROOT = Path(__file__).resolve().parent.parent.parent
HOLD = """
import sys, time
from django.conf import settings
database = {"ENGINE": "x.sqlite3", "NAME": "a"}
settings.configure(DATA_DIR=sys.argv[1], DATABASES={"default": database})
from benchmarks_app.site_lock import SiteLock
lock = SiteLock("http://127.0.0.1:8000/")
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def on(monkeypatch, tmp_path):
    """A function that takes the lock of the test's folder, for a site on a database."""
    held = []

    def take(
        engine: str,
        name: str = "a",
        host: str = "",
        address: str = "http://x/",
        is_alone: bool = False,
    ) -> SiteLock:
        database = {"ENGINE": f"django.db.backends.{engine}", "NAME": name, "HOST": host}
        facts = SimpleNamespace(DATA_DIR=tmp_path, DATABASES={"default": database})
        monkeypatch.setattr(site_lock, "settings", facts)
        held.append(SiteLock(address, is_alone=is_alone))
        return held[-1]

    yield take
    for lock in held:
        lock._file.close()


def test_second_site_on_a_folder_is_told_who_has_it(on, tmp_path):
    on("sqlite3", address="http://127.0.0.1:8000/")

    with pytest.raises(FolderInUseError) as refusal:
        on("sqlite3")

    text = str(refusal.value)
    assert f"The folder {tmp_path} is in use by another site: process {os.getpid()} on " in text
    assert ", at http://127.0.0.1:8000/, since " in text


def test_folder_is_free_once_it_was_given_back(on):
    on("sqlite3").release()

    assert not on("sqlite3").was_left


def test_folder_of_a_process_that_was_killed_is_free(on, tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(FolderInUseError, match=f"process {holder.pid} on"):
            on("sqlite3")
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()

    assert on("sqlite3").was_left


def test_machines_of_one_site_share_a_folder(on):
    on("postgresql", "site", "db")
    second = on("postgresql", "site", "db")
    second.release()

    on("postgresql", "site", "db")
    with pytest.raises(FolderInUseError):
        on("postgresql", "another", "db")
    with pytest.raises(FolderInUseError):
        on("sqlite3")


def test_who_wants_a_folder_alone_waits_for_nobody_and_lets_nobody_in(on):
    first = on("postgresql", "site", "db", is_alone=True)
    with pytest.raises(FolderInUseError, match=f"process {os.getpid()} on"):
        on("postgresql", "site", "db")
    first.release()

    on("postgresql", "site", "db")
    with pytest.raises(FolderInUseError):
        on("postgresql", "site", "db", is_alone=True)


def test_folder_that_another_takes_while_it_is_opened_to_share_is_in_use(on, monkeypatch):
    locked = SiteLock._is_locked
    monkeypatch.setattr(
        SiteLock, "_is_locked", lambda lock, kind: kind != "LOCK_SH" and locked(lock, kind)
    )

    with pytest.raises(FolderInUseError):
        on("postgresql", "site", "db")

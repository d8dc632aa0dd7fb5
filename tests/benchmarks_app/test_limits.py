"""Counts of limits: one for all processes, and none is lost."""

import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.conf import settings

from benchmarks_app import limits
from benchmarks_app.supervisor import MOST_WEB_PROCESSES, commands_of, usual_web_processes

COUNT = """
import sys
from django.conf import settings
caches = {"limits": {"BACKEND": "benchmarks_app.limits.SharedCounts"}}
settings.configure(DATA_DIR=sys.argv[1], CACHES=caches)
from benchmarks_app import limits
print(sum(limits.is_among_first(60, of="asked") for _ in range(50)))
"""


def test_several_processes_have_one_limit():
    command = [sys.executable, "-c", COUNT, str(settings.DATA_DIR)]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]

    assert sum(int(child.communicate()[0]) for child in children) == 60
    assert not limits.is_among_first(60, of="asked")
    assert limits.is_among_first(60, of="another")


def test_those_who_come_first_at_once_are_all_counted(monkeypatch):
    """One who makes the file one with a log of writes would fail another who does, at once."""
    making: list[int] = []
    most: list[int] = []

    class Slow(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            if "journal_mode" not in statement:
                return super().execute(statement, *values)
            making.append(1)
            most.append(len(making))
            time.sleep(0.02)
            cursor = super().execute(statement, *values)
            making.pop()
            return cursor

    connect = partial(sqlite3.connect, factory=Slow)
    monkeypatch.setattr(limits.sqlite3, "connect", connect)
    begin = threading.Barrier(8)

    def count(_: int) -> bool:
        begin.wait()
        return limits.is_among_first(5, of="first")

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(count, range(8))) == 5
    assert most == [1] * 8


def test_a_count_ends_with_its_time(monkeypatch):
    began = time.time()
    monkeypatch.setattr(time, "time", lambda: began)
    assert limits.counts.add("a", 5, 0.05)
    assert not limits.counts.add("a", 1, 60)
    assert limits.counts.incr("a") == 6
    monkeypatch.setattr(time, "time", lambda: began + 0.06)
    assert limits.counts.get("a") is None
    with pytest.raises(ValueError, match="not counted"):
        limits.counts.incr("a")
    assert limits.counts.add("a", 1, 60)


def test_values_are_lists_and_numbers_and_go_when_they_are_old(monkeypatch):
    monkeypatch.setattr(limits, "CLEARED_EVERY", 2)
    limits.counts.set("times", [1.5, 2.5], 60)
    assert limits.counts.get("times") == [1.5, 2.5]
    limits.counts.set("old", 1, 0.001)
    time.sleep(0.01)
    for n in range(2):
        limits.counts.set(f"k{n}", n, 60)
    path = settings.DATA_DIR / "cache" / "limits.sqlite3"
    with sqlite3.connect(path) as reader:
        assert not reader.execute("SELECT 1 FROM counts WHERE key LIKE '%old'").fetchall()
    assert limits.counts.touch("times", 60)
    assert limits.counts.delete("times")
    assert not limits.counts.delete("times")
    limits.counts.clear()
    assert limits.counts.get("k0", "nothing") == "nothing"


def test_web_processes_follow_the_cores(monkeypatch):
    for cores, n in ((1, 1), (2, 2), (64, MOST_WEB_PROCESSES)):
        monkeypatch.setattr("os.sched_getaffinity", lambda pid, n=cores: set(range(n)))
        assert usual_web_processes() == n
    web = commands_of("127.0.0.1", 8000, 1, 3)["web"]
    assert web[web.index("--workers") + 1] == "3"

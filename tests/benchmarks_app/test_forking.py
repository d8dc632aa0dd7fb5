"""What the forks of `up` begin with, and what a fork does apart from it."""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")
ENVIRONMENT = os.environ | {
    "OPENBLAS_NUM_THREADS": "1",
    "DJANGO_SETTINGS_MODULE": "benchmarks_app.settings",
}

LOADED = """
import gc, os
from benchmarks_app import forking

forking.load()
from django.db import connections
opened = [each for each in connections.all(initialized_only=True) if each.connection is not None]
print(len(os.listdir("/proc/self/task")), len(opened), gc.isenabled(), gc.get_freeze_count() > 1e5,
      gc.get_threshold()[0])
"""


def ended(program: str) -> subprocess.CompletedProcess[str]:
    """A program of Python that has come to its end."""
    return subprocess.run(
        [sys.executable, "-c", program],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_processes_are_forked_from_one_without_threads_or_connections():
    done = ended(LOADED)

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "0", "True", "True", "5000"]


APART = """
import os, signal, sys
from django.db import connection
from benchmarks_app.forking import apart

before = os.getpid()
kept = []

def work():
    kept.append(1)
    connection.ensure_connection()
    print("done by another one:", os.getpid() != before)
    {more}

print("before")
apart(work)
print("after", kept, connection.connection)
"""


def test_what_is_done_apart_leaves_no_connection_and_nothing_loaded():
    done = ended(APART.format(more=""))

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["before", "done by another one: True", "after [] None"]


@pytest.mark.parametrize(
    ("more", "code", "why"),
    [
        ("sys.exit(3)", 3, ""),
        ("raise ValueError(7)", 1, "ValueError: 7"),
        ("os.kill(os.getpid(), signal.SIGKILL)", 128 + signal.SIGKILL, ""),
        ("raise KeyboardInterrupt", 130, ""),
    ],
)
def test_what_fails_apart_ends_the_program_once_and_says_why(more, code, why):
    done = ended(APART.format(more=more))

    assert done.returncode == code
    assert "after" not in done.stdout
    assert done.stderr.count("Traceback") == done.stderr.count("ValueError: 7") == bool(why)
    assert why in done.stderr


INTERRUPTED = """
from django.core import management

def interrupted(words):
    raise KeyboardInterrupt

management.execute_from_command_line = interrupted
from benchmarks_app.__main__ import main
main(["manage.py", "up"])
"""


def test_what_somebody_interrupts_ends_with_a_word():
    done = ended(INTERRUPTED)

    assert (done.returncode, done.stderr) == (130, "Interrupted.\n")

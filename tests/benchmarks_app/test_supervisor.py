"""How `up` looks after its three processes, tried on commands that take no time to start."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.core.management import CommandError

from benchmarks_app.management.commands.up import Command
from benchmarks_app.supervisor import (
    FIRST_PAUSE_SECONDS,
    GRACE_SECONDS,
    POLL_SECONDS,
    Child,
    own_address,
)

ROOT = Path(__file__).resolve().parent.parent.parent
STARTED = "import os, pathlib, time; pathlib.Path(os.environ['BENCHWRIGHT_STARTED']).touch()\n"
RUNS = STARTED + "print('at work', os.getpid(), flush=True); time.sleep(60)\n"
FAILS = "import sys; print('one'); sys.stderr.write('the port is taken\\n'); sys.exit(3)\n"
NO_PROGRAM = "/no/such/program"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + RUNS
SUPERVISE = """
import json, sys
from benchmarks_app.supervisor import Supervisor
commands = {
    name: [code] if code.startswith("/") else [sys.executable, "-S", "-c", code]
    for name, code in json.loads(sys.argv[1]).items()
}
say = lambda text: print(text, flush=True)
sys.exit(Supervisor(commands, say=say).run(when_up=lambda: say("all up")))
"""


class Up:
    """A supervisor in a process of its own; what it printed is in `log`."""

    def __init__(self, folder: Path, **codes: str) -> None:
        self.path = folder / "log"
        with self.path.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-c", SUPERVISE, json.dumps(codes)],
                cwd=ROOT,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    @property
    def log(self) -> str:
        return self.path.read_text()

    def wait_for(self, text: str, n: int = 1) -> None:
        deadline = time.monotonic() + 30
        while self.log.count(text) < n:
            assert time.monotonic() < deadline, f"no {n} x {text!r} in\n{self.log}"
            time.sleep(0.02)

    def children(self) -> list[int]:
        """The ids of all that said they are at work, in order."""
        return [int(line.split()[-1]) for line in self.log.splitlines() if "at work" in line]


@pytest.fixture
def up(tmp_path):
    """A function that starts a supervisor of codes by name; none of it outlives the test."""
    made = []

    def start(**codes: str) -> Up:
        made.append(Up(tmp_path, **codes))
        return made[-1]

    yield start
    for case in made:
        case.process.kill()
        case.process.wait()


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_child_that_was_killed_is_started_again_and_the_others_stay(up):
    site = up(web=RUNS, worker=RUNS)
    site.wait_for("at work", 2)
    site.wait_for("all up")
    before = site.children()

    os.kill(before[0], signal.SIGKILL)
    site.wait_for("at work", 3)

    name = "web" if "web was ended" in site.log else "worker"
    assert f"{name} was ended by signal 9; starting it again in 1 s" in site.log
    site.wait_for(f"{name} runs again")
    assert is_alive(before[1]) and is_alive(site.children()[2])
    assert site.process.poll() is None


def test_child_that_starts_and_ends_is_started_again_more_than_three_times(up):
    site = up(web=RUNS, worker=STARTED + "time.sleep(.1); raise SystemExit(1)")

    site.wait_for("worker ended with code 1; starting it again in 1 s")
    site.wait_for("worker ended with code 1; starting it again in 2 s")
    site.wait_for("worker ended with code 1; starting it again in 4 s")

    assert site.process.poll() is None


def test_child_that_cannot_start_three_times_ends_the_site_and_its_last_lines_come_last(up):
    site = up(web=FAILS, worker=RUNS)

    assert site.process.wait(timeout=30) == 1

    *_, words, how, first, second = site.log.splitlines()
    assert words == "web could not start 3 times in a row; stopping the others"
    assert how == "web ended with code 3. It said last:"
    assert {first, second} == {"  one", "  the port is taken"}
    assert site.log.count("the port is taken") == 4  # each time, and once more
    assert not any(map(is_alive, site.children()))


def test_program_that_cannot_be_run_is_a_start_that_failed(up):
    site = up(web=NO_PROGRAM, worker=RUNS)

    assert site.process.wait(timeout=30) == 1

    assert site.log.count("web could not be started ([Errno 2]") == 3
    assert not any(map(is_alive, site.children()))


def test_child_that_was_up_once_is_started_again_for_as_long_as_it_takes(up, tmp_path):
    mark = f"import pathlib, sys; mark = pathlib.Path({str(tmp_path / 'mark')!r})\n"
    fails_later = mark + "if mark.exists(): sys.exit(3)\nmark.touch()\n" + STARTED + "sys.exit(1)"
    site = up(web=RUNS, worker=fails_later)

    for seconds in (2, 4, 8):
        site.wait_for(f"worker ended with code 3; starting it again in {seconds} s")

    time.sleep(1)
    assert site.process.poll() is None
    assert is_alive(site.children()[0])


def test_site_stops_within_five_seconds_though_a_child_does_not_want_to(up):
    site = up(web=STUBBORN, worker=RUNS)
    site.wait_for("at work", 2)

    began = time.monotonic()
    site.process.send_signal(signal.SIGTERM)

    assert site.process.wait(timeout=30) == 0
    assert time.monotonic() - began < 5
    assert f"web did not stop in {GRACE_SECONDS:g} s; ending it" in site.log
    assert not any(map(is_alive, site.children()))


# A closed terminal is no reason to leave the others behind.
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_stops_all_in_order(up, number):
    site = up(web=RUNS, worker=RUNS)
    site.wait_for("at work", 2)

    site.process.send_signal(number)

    assert site.process.wait(timeout=30) == 0
    assert not any(map(is_alive, site.children()))
    assert "did not stop" not in site.log


def test_site_goes_on_though_nobody_reads_what_it_says(tmp_path):
    talks = RUNS.replace("time.sleep(60)", "time.sleep(.2)\nwhile True: print('line', flush=True)")
    command = [sys.executable, "-c", SUPERVISE, json.dumps({"web": talks, "worker": RUNS})]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    pids = []
    while len(pids) < 2:
        line = process.stdout.readline()
        pids += [int(line.split()[-1])] if "at work" in line else []
    process.stdout.close()

    os.kill(pids[0], signal.SIGKILL)
    time.sleep(FIRST_PAUSE_SECONDS + 0.5)

    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=30)
    assert not any(map(is_alive, pids))


def test_site_comes_up_though_nobody_reads_that_it_is(tmp_path):
    """Its terminal was closed before the web server had started."""
    seen = tmp_path / "seen"
    web = STARTED + f"pathlib.Path({str(seen)!r}).touch(); time.sleep(60)"
    command = [sys.executable, "-c", SUPERVISE, json.dumps({"web": web})]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    process.stdout.close()
    deadline = time.monotonic() + 30
    while not seen.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)

    time.sleep(2 * POLL_SECONDS)  # it looks once more, and says so

    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_children_of_a_supervisor_that_was_killed_end_as_well(up):
    site = up(web=RUNS, worker=RUNS)
    site.wait_for("at work", 2)

    site.process.kill()

    deadline = time.monotonic() + 10
    while any(map(is_alive, site.children())):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_pauses_grow_to_a_minute():
    child = Child("web", [])

    pauses = []
    for child.n_ends in range(1, 9):
        pauses.append(child.pause / FIRST_PAUSE_SECONDS)

    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]


def test_server_listens_on_the_number_of_a_name():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        _, port = taken.getsockname()

        assert own_address("localhost", port) == "127.0.0.1"
    assert own_address("::", port) == "::"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"host": "198.51.100.1"}, "Nothing can listen on 198.51.100.1:8000 here"),
        ({"web_processes": 0}, "--web-processes is 0"),
        ({"workers": 0}, "--workers is 0"),
    ],
)
def test_what_no_site_can_be_started_with_is_told_before_anything_is(options, words):
    usual = {"host": "127.0.0.1", "port": 8000, "workers": 1, "web_processes": 1}

    with pytest.raises(CommandError, match=words):
        Command().handle(**{**usual, **options}, no_migrate=True)

"""Web server, worker and sweeper as one: started together, stopped together."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from types import FrameType

from django.conf import settings

GRACE_SECONDS = 15
POLL_SECONDS = 0.3
START_SECONDS = 30


def commands_of(host: str, port: int, n_workers: int) -> dict[str, list[str]]:
    """The three commands, by the name the log gives them."""
    python = sys.executable
    manage = str(settings.BASE_DIR / "manage.py")
    return {
        "web": [
            python, "-m", "granian", "--interface", "wsgi", "benchmarks_app.wsgi:application",
            "--host", host, "--port", str(port), "--workers", "1", "--blocking-threads", "8",
            "--backpressure", "64", "--log-level", "error", "--no-ws",
        ],
        "worker": [
            python, "-m", "celery", "-A", "benchmarks_app.celery", "--quiet", "worker",
            "--concurrency", str(n_workers), "--without-gossip", "--without-mingle",
            "--loglevel", "WARNING",
        ],
        "sweeper": [python, manage, "sweep", "--loop"],
    }  # fmt: skip


def is_free(host: str, port: int) -> bool:
    """Whether nobody listens there: two servers may share a port, and answer at random."""
    try:
        with socket.create_connection((host, port), timeout=1):
            return False
    except OSError:
        return True


class Supervisor:
    """Starts commands, and ends them all on a signal or when one of them ends."""

    def __init__(self, commands: Mapping[str, list[str]], *, say: Callable[[str], object]) -> None:
        self.commands = commands
        self.say = say
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.is_stopping = False

    def start(self) -> None:
        # A closed terminal is no reason to leave the others behind.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._asked_to_stop)
        environment = {**os.environ, "DATABASE_POOL": "1"}
        for name, command in self.commands.items():
            # A session of its own: Ctrl-C reaches this process only, which then stops the others.
            self.processes[name] = subprocess.Popen(
                command,
                cwd=settings.BASE_DIR,
                start_new_session=True,
                env=environment if name == "web" else None,
            )

    def _asked_to_stop(self, number: int, frame: FrameType | None) -> None:
        self.is_stopping = True

    def wait_for_web(self, host: str, port: int) -> None:
        """Return once the web server takes connections, or will not: `watch` says which."""
        deadline = time.monotonic() + START_SECONDS
        while is_free(host, port) and time.monotonic() < deadline and not self.is_stopping:
            if any(process.poll() is not None for process in self.processes.values()):
                return
            time.sleep(POLL_SECONDS / 3)

    def watch(self) -> int:
        """Wait for a signal or the end of one process; stop all; the exit code of the cause."""
        while not self.is_stopping:
            for name, process in self.processes.items():
                code = process.poll()
                if code is not None:
                    self.say(f"{name} ended with code {code}; stopping the others")
                    self.stop()
                    return code or 1
            time.sleep(POLL_SECONDS)
        self.say("Stopping …")
        self.stop()
        return 0

    def stop(self) -> None:
        """Ask every process to end, and make those end that do not within the grace time."""
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        for name, process in self.processes.items():
            try:
                process.wait(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.say(f"{name} did not stop in {GRACE_SECONDS} s; ending it")
            _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a process and of those it started, which may have outlived it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()

"""Web server and worker as one: started together, kept running, stopped together.

`up` is a supervisor of both, once the database is there (`forking`): it looks at processes and
passes on lines for as long as the site runs.
"""

import contextlib
import ctypes
import errno
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Protocol

# Where the packages are that the commands are run from.
FOLDER = Path(__file__).resolve().parent.parent
# The site is to be gone within 5 seconds: who is asked to stop has this long for it.
GRACE_SECONDS = 3.0
POLL_SECONDS = 0.2
# So soon a child is started again that ended; each further time it takes twice as long.
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
# Who has run for so long has ended for the first time.
CALM_SECONDS = 60.0
MOST_FAILED_STARTS = 3
LINES_TOLD = 20
MOST_WEB_PROCESSES = 4
CHUNK = 1 << 16
# In the environment of a child: the file by which it says that it has started.
STARTED = "BENCHWRIGHT_STARTED"
# Of the web server's command: it is the sweeper as well.
SWEEPS = "--sweeps"
# By it several web processes share what they count; the client library of Prometheus calls it so.
FIGURES = "PROMETHEUS_MULTIPROC_DIR"
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15


def usual_web_processes() -> int:
    """One for each core that this process may use, as one process has one interpreter.

    Not more than `MOST_WEB_PROCESSES` unasked: each takes memory, and connections of a database.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(cores or 1, MOST_WEB_PROCESSES))


def commands_of(
    host: str, port: int, n_workers: int, n_web_processes: int = 1
) -> dict[str, list[str]]:
    """The three commands of a site on several machines, by the names that logs give them."""
    python = sys.executable
    return {
        "web": [
            python, "-m", "benchmarks_app.web",
            "--host", host, "--port", str(port), "--workers", str(n_web_processes),
        ],
        "worker": [
            python, "-m", "celery", "-A", "benchmarks_app.celery", "--quiet", "worker",
            "--concurrency", str(n_workers), "--without-gossip", "--without-mingle",
            "--loglevel", "WARNING",
        ],
        "sweeper": [python, "-m", "benchmarks_app", "sweep", "--loop"],
    }  # fmt: skip


def commands_of_one(
    host: str, port: int, n_workers: int, n_web_processes: int
) -> dict[str, list[str]]:
    """Those of a site on one machine: a sweeper of its own would load once more what web has."""
    commands = commands_of(host, port, n_workers, n_web_processes)
    del commands["sweeper"]
    commands["web"].append(SWEEPS)
    return commands


def own_address(host: str, port: int) -> str:
    """The address in numbers, of this machine, that `host` names; the server takes no name.

    Raises
    ------
    OSError
        If there is none, or this process may not listen there. That somebody else does is no error.
    """
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    # Of "localhost" the older one, which every system has.
    family, *_, place = min(entries, key=lambda entry: entry[0] != socket.AF_INET)
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(place)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    return str(place[0])


def is_free(host: str, port: int) -> bool:
    """Whether nobody listens there: two servers may share a port, and answer at random."""
    try:
        with socket.create_connection((host, port), timeout=1):
            return False
    except OSError:
        return True


def tell_started() -> None:
    """Called by a process that has started: where it is a child of `up`, that one notices."""
    if STARTED in os.environ:
        with contextlib.suppress(OSError):
            Path(os.environ[STARTED]).touch()


def wait_until_started() -> None:
    """Return when a process of the same child of `up` has told that it has started."""
    while not Path(os.environ[STARTED]).exists():
        time.sleep(POLL_SECONDS)


class Process(Protocol):
    """What is asked of a child's process; `subprocess.Popen` has it, and `forking.Fork`."""

    pid: int

    def poll(self) -> int | None: ...
    def wait(self) -> int | None: ...
    def send_signal(self, number: int) -> None: ...
    @property
    def stdout(self) -> IO[bytes] | None: ...
    @property
    def stderr(self) -> IO[bytes] | None: ...


# Starts a command with an environment; a child of this name.
Begin = Callable[[Sequence[str], Mapping[str, str], str], Process]


def spawned(command: Sequence[str], environment: Mapping[str, str], name: str) -> Process:
    """A process that begins with nothing loaded."""
    return subprocess.Popen(
        command,
        cwd=FOLDER,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: leave_to_itself(name),
    )


@dataclass
class Child:
    """One of the commands, and how it fares; without a process, it waits for its next start."""

    name: str
    command: list[str]
    process: Process | None = None
    started: Path = Path()
    n_starts: int = 0
    begun_at: float = 0.0
    due_at: float = 0.0
    is_up: bool = False
    # Since this supervisor began: who was up once is started again for as long as it takes.
    was_up: bool = False
    # In a row: starts that came to nothing before it was up, and ends with little time between.
    n_failed: int = 0
    n_ends: int = 0
    # How it ended last, and what it said before.
    end: str = ""
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LINES_TOLD))

    @property
    def pause(self) -> float:
        """Seconds to wait after the last end."""
        return float(min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** (self.n_ends - 1)))


class Supervisor:
    """Starts commands, starts again what ended, and ends them all on a signal.

    A command that could not start three times in a row, and never could, ends the others as well.
    """

    def __init__(self, commands: Mapping[str, list[str]], *, say: Callable[[str], object]) -> None:
        self.children = [Child(name, command) for name, command in commands.items()]
        self._say = say
        self.begin: Begin = spawned
        self.is_stopping = False
        self._pipes = selectors.DefaultSelector()
        self._folder = tempfile.TemporaryDirectory(prefix="benchwright-up-")
        # What several web processes count of their requests is added up there.
        self.figures = os.environ.get(FIGURES) or str(Path(self._folder.name, "figures"))
        Path(self.figures).mkdir(parents=True, exist_ok=True)

    def run(self, when_up: Callable[[], object]) -> int:
        """Start all, and keep them running until a signal comes; the exit code.

        `when_up` is called once, when the web server has started.
        """
        # A closed terminal is no reason to leave the others behind.
        for number in STOPPING:
            signal.signal(number, self._asked_to_stop)
        with self._folder:
            return self._run(when_up)

    def say(self, text: str) -> None:
        """Tell whoever looks; a terminal that was closed is no reason to leave anything undone."""
        with contextlib.suppress(OSError):
            self._say(text)

    def _asked_to_stop(self, number: int, frame: FrameType | None) -> None:
        self.is_stopping = True

    def _run(self, when_up: Callable[[], object]) -> int:
        is_told = False
        while not self.is_stopping:
            for child in self.children:
                self._look_after(child)
                if child.n_failed >= MOST_FAILED_STARTS:
                    return self._give_up(child)
                if child.name == "web" and child.is_up and not is_told:
                    with contextlib.suppress(OSError):  # as in `say`
                        when_up()
                    is_told = True
            self._pass_on(POLL_SECONDS)
        self.say("Stopping …")
        self._stop()
        return 0

    def _look_after(self, child: Child) -> None:
        """Start what is due, and notice what has started or ended."""
        now = time.monotonic()
        if child.process is None:
            if now >= child.due_at:
                self._start(child)
            return
        if not child.is_up and child.started.exists():
            child.is_up = child.was_up = True
            if child.n_ends:
                self.say(f"{child.name} runs again")
        code = child.process.poll()
        if code is not None:
            self._ended(child, _how_ended(code))

    def _start(self, child: Child) -> None:
        child.n_starts += 1
        child.started = Path(self._folder.name) / f"{child.name}-{child.n_starts}"
        child.lines.clear()
        child.begun_at, child.is_up = time.monotonic(), False
        try:
            process = self.begin(child.command, self._environment(child), child.name)
        except OSError as error:  # no memory or no descriptor is left, for now
            self._ended(child, f"could not be started ({error})")
            return
        child.process = process
        for pipe, to in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self._pipes.register(pipe, selectors.EVENT_READ, Output(child, pipe, to))

    def _environment(self, child: Child) -> dict[str, str]:
        # What is printed is read here, and would be kept back in blocks.
        more = {STARTED: str(child.started), "PYTHONUNBUFFERED": "1"}
        if child.name == "web":
            # Its last lines are to be the reason, and not where in the program it was.
            more |= {"DATABASE_POOL": "1", "RUST_BACKTRACE": "0", FIGURES: self.figures}
        return {**os.environ, **more}

    def _ended(self, child: Child, how: str) -> None:
        if child.started.exists():  # between two looks
            child.is_up = child.was_up = True
        child.n_failed = 0 if child.was_up else child.n_failed + 1
        is_calm = child.is_up and time.monotonic() - child.begun_at > CALM_SECONDS
        child.n_ends = 1 if is_calm else child.n_ends + 1
        self._clear_away(child)
        child.due_at = time.monotonic() + child.pause
        child.end = f"{child.name} {how}"
        if child.n_failed < MOST_FAILED_STARTS:
            self.say(f"{child.end}; starting it again in {child.pause:g} s")

    def _clear_away(self, child: Child) -> None:
        """End what is left of a process and of those it started, which may have outlived it."""
        process, child.process = child.process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for key in list(self._pipes.get_map().values()):
            if key.data.child is child:
                key.data.pass_on()
                self._pipes.unregister(key.data.pipe)
                key.data.close()

    def _give_up(self, child: Child) -> int:
        self.say(
            f"{child.name} could not start {MOST_FAILED_STARTS} times in a row; stopping the others"
        )
        self._stop()
        self.say(f"{child.end}. {'It said last:' if child.lines else 'It said nothing.'}")
        for line in child.lines:
            self.say(f"  {line}")
        return 1

    def _stop(self) -> None:
        """Ask every process to end, and make those end that do not within the grace time."""
        deadline = time.monotonic() + GRACE_SECONDS
        for child in self.children:
            if child.process is not None and child.process.poll() is None:
                child.process.send_signal(signal.SIGTERM)
        while time.monotonic() < deadline and any(map(_is_alive, self.children)):
            self._pass_on(POLL_SECONDS / 4)
        for child in self.children:
            if _is_alive(child):
                self.say(f"{child.name} did not stop in {GRACE_SECONDS:g} s; ending it")
            self._clear_away(child)

    # --- what the children print ---------------------------------------------------------------

    def _pass_on(self, seconds: float) -> None:
        """Pass on what the children print; return after so long, or when something came."""
        if not self._pipes.get_map():
            time.sleep(seconds)
            return
        for key, _ in self._pipes.select(seconds):
            if not key.data.pass_on():
                # How the child ended is noticed elsewhere.
                self._pipes.unregister(key.data.pipe)
                key.data.close()


@dataclass
class Output:
    """What a child prints, handed on line by line."""

    child: Child
    pipe: IO[bytes]
    to: IO[str]
    begun: bytes = b""

    def pass_on(self) -> bool:
        """Hand on a piece of what is there; False once there will be no more.

        One: a child that prints without end must leave time for the others and for signals. It is
        as large as a pipe, so it is all that an ended process has left.
        """
        try:
            piece = os.read(self.pipe.fileno(), CHUNK)
        except BlockingIOError:
            return True
        self._take(piece)
        return bool(piece)

    def close(self) -> None:
        if self.begun:
            self._take(b"\n")
        self.pipe.close()

    def _take(self, piece: bytes) -> None:
        *lines, self.begun = (self.begun + piece).split(b"\n")
        for line in lines:
            text = line.decode(errors="replace")
            self.child.lines.append(text)
            with contextlib.suppress(OSError):
                self.to.write(text + "\n")
        with contextlib.suppress(OSError):
            self.to.flush()


def _is_alive(child: Child) -> bool:
    return child.process is not None and child.process.poll() is None


def _how_ended(code: int) -> str:
    return f"ended with code {code}" if code >= 0 else f"was ended by signal {-code}"


# Loaded before anything is forked.
_PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def leave_to_itself(name: str) -> None:
    """In a child, before its command: a session of its own, and no handlers of this process.

    Ctrl-C reaches `up` only, which then stops the others; they are asked to stop when it is no
    more, even after kill -9. A system's tools show a fork by its name, which has 15 bytes at most.
    """
    os.setsid()
    for number in STOPPING:
        signal.signal(number, signal.SIG_DFL)
    end_with_parent()
    if _PRCTL is not None:
        _PRCTL(PR_SET_NAME, f"bench-{name}".encode())


def end_with_parent() -> None:
    """In a child: be asked to stop when the process that forked it is no more."""
    if _PRCTL is not None:
        _PRCTL(PR_SET_PDEATHSIG, signal.SIGTERM)

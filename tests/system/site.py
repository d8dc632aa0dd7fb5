"""A whole site of its own for a test: data folder, database, broker, and real processes."""

import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

import kombu
import psycopg

from benchmarks_app.supervisor import commands_of
from tests.made_once import made_once, run_name

ROOT = Path(__file__).resolve().parent.parent.parent
FILESYSTEM = "filesystem://localhost"
SHORT = {
    "JOB_HEARTBEAT_SECONDS": "1",
    "JOB_LOST_AFTER_SECONDS": "4",
    "JOB_RESEND_AFTER_SECONDS": "5",
    "SWEEP_SECONDS": "1",
    "SEARCHABLE_MAX_DOCS": "0",  # no further job after each import
}
# In the environment of every process of a site, by which each can be found again.
MARK = "BENCHWRIGHT_TEST_SITE"
SETUP = "import django; django.setup()\n"
TEMPLATES = "benchwright_template_"


class Site:
    """Makes its database at once; processes are started by name; `stop` leaves nothing behind.

    Parameters
    ----------
    folder
        The data folder, made if missing. Logs are in `folder/logs/<name>.log`.
    broker
        A `BROKER_URL`. On Redis and RabbitMQ the site has a queue of its own, deleted by `stop`.
    on_sqlite
        Its database is SQLite in the folder. Otherwise it is so only where the environment's
        `DATABASE_URL` names no PostgreSQL server; on that, a fresh one is made, dropped by `stop`.
    host
        The address of loopback that it listens on.
    beside
        Another host of the same site, whose database and queue are its own as well; it ends first.
    """

    # After which an answer or a command has hung: many times what it takes on a busy machine.
    longest_seconds = 600

    def __init__(
        self,
        folder: Path,
        *,
        broker: str = FILESYSTEM,
        on_sqlite: bool = False,
        host: str = "127.0.0.1",
        beside: "Site | None" = None,
    ) -> None:
        self.folder = folder
        self.broker = broker
        self.name = f"benchwright_site_{uuid.uuid4().hex[:12]}"
        self.host = host
        self.port = free_port()
        self.beside = beside
        self.root = ROOT  # of the code that its processes run
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._asked: tuple[subprocess.Popen[str], dict[str, str]] | None = None
        self._asking = threading.Lock()
        self._server = "" if on_sqlite else os.environ.get("DATABASE_URL", "")
        if not self._server.startswith("postgres"):
            self._server = ""
        self.database = beside.database if beside else self._own_database()
        (folder / "logs").mkdir(parents=True, exist_ok=True)
        self.env = self._environment()
        if beside:
            return
        if self._server:
            template = migrated_template(self._server)
            _execute(self._server, f"CREATE DATABASE {self.name} TEMPLATE {template}")
        else:
            shutil.copyfile(migrated_file(), folder / "benchwright.sqlite3")

    def _own_database(self) -> str:
        if self._server:
            return urlunsplit(urlsplit(self._server)._replace(path=f"/{self.name}"))
        return f"sqlite:///{self.folder / 'benchwright.sqlite3'}"

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            **SHORT,
            "BENCHWRIGHT_DATA": str(self.folder),
            "BROKER_URL": self.broker,
            "DATABASE_URL": self.database,
            "DJANGO_SETTINGS_MODULE": "benchmarks_app.settings",
            "HOST": self.host,
            "PORT": str(self.port),
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "QUEUE_NAME": self.beside.name if self.beside else self.name,
            "SECRET_KEY": "only-for-tests-0123456789-abcdefghijklmnopqrstuvwxyz",
            MARK: self.name,
        }

    def run_code_of(self, root: Path) -> None:
        """What is started from now on has its code from a copy of the checkout."""
        self.root = root
        self.env["PYTHONPATH"] = str(root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The address of the site, without a slash at the end."""
        return f"http://{self.host}:{self.port}"

    # --- short commands ------------------------------------------------------------------

    def manage(self, *args: str) -> str:
        """What a management command prints; AssertionError with its output if it fails."""
        return self._run(sys.executable, "manage.py", *args)

    def python(self, code: str) -> str:
        """What a piece of Python prints that runs in a process of the site, after `setup`."""
        return self._run(sys.executable, "-c", SETUP + code)

    def snippet(self, code: str) -> str:
        """The same in the process of `call`, which need not start."""
        return str(self.call("python", code=code))

    def call(self, name: str, /, **arguments: Any) -> Any:
        """What a function of `inside.py` returns that runs in a process of the site.

        It is one process for all questions, for as long as `env` stays the same.
        """
        with self._asking:
            asked = self._asked_process()
            out_of_time = threading.Timer(self.longest_seconds, asked.kill)
            out_of_time.start()
            try:
                asked.stdin.write(json.dumps([name, arguments]) + "\n")
                asked.stdin.flush()
                line = asked.stdout.readline()
            finally:
                out_of_time.cancel()
        report = json.loads(line or '{"error": "it ended, or took too long"}')
        if "error" in report:
            raise AssertionError(f"{name} failed inside the site:\n{report['error']}")
        return report["answer"]

    def _asked_process(self) -> "subprocess.Popen[str]":
        # Without the mark: it is no process that the site has started.
        env = {name: value for name, value in self.env.items() if name != MARK}
        if self._asked is None or self._asked[1] != env or self._asked[0].poll() is not None:
            self._end_asked()
            command = [sys.executable, "-m", "tests.system.asked"]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            self._asked = subprocess.Popen(command, cwd=self.root, env=env, **pipes), env
        return self._asked[0]

    def _end_asked(self) -> None:
        if self._asked is not None:
            self._asked[0].communicate()  # its input ends, and with it the process
            self._asked = None

    def _run(self, *command: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.root,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=self.longest_seconds,
        )
        if done.returncode:
            raise AssertionError(f"{command[1:3]} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query, read past Django and at once; placeholders are `?`."""
        if self.database.startswith("sqlite"):
            path = self.database.removeprefix("sqlite:///")
            with contextlib.closing(sqlite3.connect(path, timeout=30)) as reader:
                rows = reader.execute(sql, values).fetchall()
                reader.commit()
                return rows
        with psycopg.connect(self.database, autocommit=True) as reader:
            cursor = reader.execute(sql.replace("?", "%s").encode(), values)
            return cursor.fetchall() if cursor.description else []

    def drop_tables(self) -> None:
        """Leave a database as new: a site of a test has its tables already."""
        if self.database.startswith("sqlite"):
            Path(self.database.removeprefix("sqlite:///")).unlink()
        else:
            self.rows("DROP SCHEMA public CASCADE")
            self.rows("CREATE SCHEMA public")

    # --- processes -----------------------------------------------------------------------

    def start(
        self,
        kind: str,
        *,
        name: str = "",
        n_workers: int = 1,
        arguments: Sequence[str] = (),
        is_ready: bool = True,
    ) -> "subprocess.Popen[bytes]":
        """Start "web", "worker", "sweeper", "up" or "demo", in a process group of its own.

        `name` tells two of one kind apart; `arguments` are added to the command. A web server is
        waited for, unless `is_ready` is false.
        """
        name = name or kind
        if name in self.processes and self.processes[name].poll() is None:
            raise ValueError(f"{name} runs already")
        with self.log_path(name).open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [*self._command(kind, n_workers), *arguments],
                cwd=self.root,
                env={**self.env, "DATABASE_POOL": "1"} if kind == "web" else self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        if kind in ("web", "up", "demo") and is_ready:
            self.wait_for(self.is_serving, f"{name} to answer", 120)
        return self.processes[name]

    def _command(self, kind: str, n_workers: int) -> list[str]:
        if kind == "up":
            return [sys.executable, "manage.py", "up", "--workers", str(n_workers)]
        if kind == "demo":
            return [sys.executable, "manage.py", "demo", "--serve"]
        return commands_of(self.host, self.port, n_workers)[kind]

    def is_serving(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def kill(self, name: str, sig: int = signal.SIGKILL, group: bool = True) -> None:
        """Send a signal to a process and all of its group, or to it alone; waits for a SIGKILL."""
        process = self.processes[name]
        (os.killpg if group else os.kill)(process.pid, sig)
        if sig == signal.SIGKILL:
            process.wait(timeout=10)

    def log_path(self, name: str) -> Path:
        return self.folder / "logs" / f"{name}.log"

    def log(self, name: str) -> str:
        """What a process has printed so far."""
        return self.log_path(name).read_text(errors="replace")

    def alive(self) -> list[int]:
        """The ids of every living process that was started with this site's environment."""
        mark = f"{MARK}={self.name}".encode()
        return sorted(pid for pid in _all_pids() if mark in _environ(pid).split(b"\0"))

    def wait_for(
        self, condition: Callable[[], Any], what: str, seconds: float = 60, pause: float = 0.05
    ) -> Any:
        """The first true value of `condition`; AssertionError with the logs after `seconds`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if value := condition():
                return value
            time.sleep(pause)
        raise AssertionError(f"waited {seconds} s for {what}\n{self._logs()}")

    def _logs(self) -> str:
        return "\n".join(f"--- {name}\n{self.log(name)[-3000:]}" for name in self.processes)

    # --- the end -------------------------------------------------------------------------

    def end_processes(self) -> None:
        """End every process of the site, by id; the site itself stays and can be started again."""
        while pids := self.alive():
            _end(pids)
        for process in self.processes.values():
            process.wait(timeout=10)
        self.processes.clear()

    def stop(self) -> None:
        """End every process of the site; drop its database and queue."""
        self.end_processes()
        self._end_asked()
        if self.beside:
            return
        if self.broker.startswith("amqp"):
            with kombu.Connection(self.broker) as connection:
                connection.default_channel.queue_delete(self.name)
                connection.default_channel.exchange_delete(self.name)
        if self.broker.startswith("redis"):
            self._delete_queue()
        if self._server:
            _execute(self._server, f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")

    def _delete_queue(self) -> None:
        import redis

        with redis.Redis.from_url(self.broker) as client:
            for key in client.scan_iter(f"*{self.name}*"):  # the queue, and what leads to it
                client.delete(key)
            # Messages received and never acknowledged by a worker that was killed.
            for tag, message in client.hscan_iter("unacked"):
                if self.name.encode() in message:
                    client.hdel("unacked", tag)
                    client.zrem("unacked_index", tag)


# --- a migrated database to copy: made once in a test run ---------------------------------


def migrated_file() -> Path:
    """An SQLite file with empty tables."""

    def make(folder: Path) -> None:
        _make_tables(f"sqlite:///{folder / 'migrated.sqlite3'}", folder)

    return made_once("sqlite", make) / "migrated.sqlite3"


def migrated_template(server: str) -> str:
    """The name of a PostgreSQL database with empty tables; it is dropped when the tests end."""
    name = f"{TEMPLATES}{run_name()}"

    def make(folder: Path) -> None:
        _execute(server, f"CREATE DATABASE {name}")
        _make_tables(urlunsplit(urlsplit(server)._replace(path=f"/{name}")), folder)

    made_once("postgresql", make)
    return name


def drop_template() -> None:
    """Drop the template of this run, if it has made one."""
    server = os.environ.get("DATABASE_URL", "")
    if server.startswith("postgres"):
        _execute(server, f"DROP DATABASE IF EXISTS {TEMPLATES}{run_name()} WITH (FORCE)")


# As `up` makes those of a new site; test_first_tables holds them against all migrations in turn.
MAKE_TABLES = "from benchmarks_app.first_tables import bring_up_to_date as made; made()"


def _make_tables(database: str, folder: Path) -> None:
    env = {**os.environ, "DATABASE_URL": database, "BENCHWRIGHT_DATA": str(folder)}
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", MAKE_TABLES]
    subprocess.run(command, cwd=ROOT, env=env, check=True, timeout=600)


def _execute(server: str, statement: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(statement.encode())


# --- processes of this machine -------------------------------------------------------------


# Below those that the system gives to whoever asks for any: of these another test would be given
# one before the process that is to have it listens. Each worker has a thousand of its own.
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_FIRST_PORT = 20_000 + 1_000 * (_WORKER % 12)
_PORTS = itertools.cycle(random.sample(range(_FIRST_PORT, _FIRST_PORT + 1_000), 1_000))


def free_port() -> int:
    """A port of loopback at which nothing listens, each time another."""
    for port in _PORTS:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError


def _all_pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it has ended meanwhile, or belongs to somebody else
        return b""


def _end(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

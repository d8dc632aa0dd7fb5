"""What `up` starts its parts from: it loads the site once, and forks.

Models, pages and the queue's library take seconds of processor to load, and are most of what a
process of a quiet site holds: web server and worker share them. What is there to do before, in the
database, a fork does that ends with it (`apart`): of those that serve none begins with a
connection, with a thread or with the memory that it took.
"""

import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import IO, NoReturn

from django.conf import settings
from django.db import connections
from prometheus_client import values

from benchmarks_app import web
from benchmarks_app.memory import loading_for_good
from benchmarks_app.site_lock import SiteLock
from benchmarks_app.supervisor import FOLDER, Supervisor, end_with_parent, leave_to_itself
from benchwright.cli.start import INTERRUPTED

# Elsewhere some of what is loaded does not outlive a fork.
HAS_FORKS = sys.platform == "linux"
# What a worker imports as it starts.
OF_WORKERS = (
    "celery.bin.worker",
    "celery.apps.worker",
    "celery.concurrency.prefork",
    "celery.worker.autoscale",
    "celery.worker.consumer",
)
STREAMS = (1, 2)


def load() -> None:
    """Load all that a web server and a worker begin with."""
    web.load()
    with loading_for_good():
        from benchmarks_app.celery import app
        from benchmarks_app.jobs.services.jobs import load_handlers

        for name in OF_WORKERS:
            import_module(name)
        app.loader.import_default_modules()
        app.finalize(auto=True)
        _ = app.connection_for_read().transport_cls
        load_handlers()


def serve(words: Sequence[str]) -> None:
    """Be `python -m benchmarks_app.web WORDS`, whose processes keep their connections."""
    connections.settings["default"].update(settings.DATABASE_KEPT)
    # When it was loaded the client library was not told yet where processes share what they count.
    values.ValueClass = values.get_value_class()
    web.main(words)


def work(words: Sequence[str]) -> None:
    """Be `python -m celery … worker WORDS`, without the shell that celery's command line loads."""
    from celery.bin.base import CLIContext
    from celery.bin.worker import worker

    from benchmarks_app.celery import app

    context = CLIContext(app=app, no_color=True, workdir=None, quiet=True)
    worker.main(words[words.index("worker") + 1 :], prog_name="celery worker", obj=context)


# By the module that a command names.
MAINS: dict[str, Callable[[Sequence[str]], None]] = {"benchmarks_app.web": serve, "celery": work}


class Fork:
    """A command of one of `MAINS` in a fork of this process; what it has of `subprocess.Popen`."""

    stdout: IO[bytes]
    stderr: IO[bytes]

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], name: str) -> None:
        _python, _m, module, *words = command
        pipes = [os.pipe() for _ in STREAMS]
        begun, begins = os.pipe()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self.returncode: int | None = None
        try:
            self.pid = os.fork()
        except OSError:  # no memory is left, for now
            for number in (begun, begins, *chain(*pipes)):
                os.close(number)
            raise
        if not self.pid:
            _live([write for _, write in pipes], environment, name, MAINS[module], words)
        for write in (begins, *(write for _, write in pipes)):
            os.close(write)
        os.read(begun, 1)  # it is the leader of its group, and can be ended with it
        os.close(begun)
        self.stdout, self.stderr = (os.fdopen(read, "rb", buffering=0) for read, _ in pipes)

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._waited(os.WNOHANG)

    def wait(self) -> int | None:
        return self._waited(0)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def _waited(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def _live(
    outputs: Sequence[int],
    environment: Mapping[str, str],
    name: str,
    main: Callable[[Sequence[str]], None],
    words: Sequence[str],
) -> NoReturn:
    """In the fork: have nothing of the supervisor's, and be another program to the end."""
    code = 1
    try:
        leave_to_itself(name)
        for number, output in zip(STREAMS, outputs, strict=True):
            os.dup2(output, number)
        with Path(os.devnull).open() as nothing:
            os.dup2(nothing.fileno(), 0)
        # Pipes of others, and the lock of the site, which ends with the supervisor.
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(line_buffering=True)
        os.chdir(FOLDER)
        os.environ.update(environment)
        main(words)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 (a fork never goes on as the supervisor)
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        # Without what the supervisor wants done at its own end.
        os._exit(code)


def apart(work: Callable[[], None]) -> None:
    """Do it in a fork, and return when it is done.

    One that fails goes its way to the end of the program and says why; this process ends there,
    with the same exit code (SystemExit).
    """
    if not HAS_FORKS:
        work()
        return
    connections.close_all()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    pid = os.fork()
    if not pid:
        end_with_parent()
        try:
            work()
        except KeyboardInterrupt:  # which both are told of, and one of them says
            os._exit(INTERRUPTED)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        sys.exit(code if code > 0 else 128 - code)


def supervise(commands: Mapping[str, list[str]], *, lines: Sequence[str], lock: SiteLock) -> int:
    """Start the commands, and keep them running until a signal comes; the exit code.

    `lines` are printed when the web server has started. `lock` is released when all is stopped.
    """

    def say(*lines: str) -> None:
        sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()

    connections.close_all()
    supervisor = Supervisor(commands, say=say)
    if HAS_FORKS:
        supervisor.begin = Fork
    code = supervisor.run(when_up=lambda: say(*lines))
    lock.release()
    return code

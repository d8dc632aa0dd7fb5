"""`python -m benchmarks_app.web OPTIONS`: granian, whose processes share what is loaded.

With `--sweeps`, as `up` starts it, the first of them is the site's sweeper as well.

The pages are loaded once, in the process that the others are forked from: that takes seconds of
processor, and is most of what a web process holds.

A browser keeps up to six connections for its next requests. Granian opens no more than its
`backpressure` at a time, quiet ones counted: with 64 a dozen people kept all others waiting for
half a minute. So it may have thousands; what is computed at a time, `places` limits.
"""

import os
import resource
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from threading import Thread

from benchmarks_app.memory import loading_for_good
from benchmarks_app.supervisor import STARTED, SWEEPS, wait_until_started

# Of each process. The rest of its files are the database's, what is read and what is told.
MOST_CONNECTIONS = 8192
OTHER_FILES = 256


def load() -> None:
    """Load settings, models and pages, if they are not; this opens no connection and no thread."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
    with loading_for_good():
        import django
        from django.conf import settings

        django.setup()
        import_module(settings.ROOT_URLCONF)


def most_connections() -> int:
    """How many a process may have. Each is an open file: those it lets itself have, up to what the
    system allows.
    """
    wanted = MOST_CONNECTIONS + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    n_files = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < n_files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (n_files, hard))
    return max(n_files - OTHER_FILES, n_files // 2)


def sweep_beside() -> None:
    """Sweep in a thread of this process, once the others are forked: they would have its locks."""
    with loading_for_good():
        from benchmarks_app.jobs.services.jobs import load_handlers
        from benchmarks_app.jobs.services.sweeping import sweep_on
        from benchmarks_app.site_path import tell_thread

        load_handlers()

    def sweep() -> None:
        tell_thread()
        wait_until_started()
        sweep_on(print, partial(print, file=sys.stderr))

    Thread(target=sweep, name="sweeper", daemon=True).start()


def seconds_to_end() -> int:
    """How long requests that have begun have to end, once the server is to stop.

    An upload that is on its way may take hours: it is no reason to stay. `up` is gone in 5 seconds;
    what units and containers are given by default is 10.
    """
    return 2 if STARTED in os.environ else 8


def main(words: Sequence[str]) -> None:
    from granian.cli import cli

    from benchmarks_app.places import N_THREADS

    load()
    from benchmarks_app.site_lock import FolderInUseError, at_work

    try:
        held = at_work()
    except FolderInUseError as error:
        sys.exit(str(error))
    if SWEEPS in words:
        words = [word for word in words if word != SWEEPS]
        sweep_beside()
    options = [
        "--interface", "wsgi", "--no-ws", "--log-level", "error",
        "--blocking-threads", str(N_THREADS), "--backpressure", str(most_connections()),
        "--workers-kill-timeout", str(seconds_to_end()),
    ]  # fmt: skip
    with held:
        cli([*options, "benchmarks_app.wsgi:application", *words])


if __name__ == "__main__":
    main(sys.argv[1:])

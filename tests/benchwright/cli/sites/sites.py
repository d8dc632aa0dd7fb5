"""A site in this process for the commands that ask one: what they send goes straight into it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job
from benchwright.cli.main import main

URL = "http://localhost:8000"
CLIENT = httpx.Client


@contextmanager
def connected() -> Iterator[httpx.WSGITransport]:
    """What carries requests into the site of this test, on the test's own connection."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield httpx.WSGITransport(get_wsgi_application())
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


@contextmanager
def carried_by(monkeypatch: pytest.MonkeyPatch, transport: httpx.BaseTransport) -> Iterator[None]:
    """Every client that is made meanwhile has its requests carried by this."""

    def client(**settings) -> httpx.Client:
        return CLIENT(**{**settings, "transport": transport})

    with monkeypatch.context() as patch:
        patch.setattr("benchwright.client.transport.httpx.Client", client)
        patch.setattr("benchwright.client.transport.time.sleep", lambda seconds: do_jobs())
        yield


def do_jobs() -> None:
    """What the site does while a client waits."""
    for job in Job.objects.filter(state=Job.State.QUEUED).order_by("pk"):
        jobs.execute(job.pk, has_heartbeat=False)


def runner(config: Path) -> Callable[..., Result]:
    """A function that runs `benchwright` with words, its logins kept in a folder."""
    environment = {"XDG_CONFIG_HOME": str(config), "BENCHWRIGHT_TOKEN": "", "NO_COLOR": "1"}

    def run(*words: str, stdin: str = "", **more: str) -> Result:
        return CliRunner().invoke(
            Main(), list(words), input=stdin, env={**environment, **more}, catch_exceptions=False
        )

    return run


class Main:
    """`main` as `CliRunner` wants it: ending the process is a result, whatever it ends with."""

    name = "benchwright"

    def main(self, args, prog_name, **settings) -> None:
        main.main(args)

"""A site in this process for the commands that ask one: what they send goes straight into it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from click.testing import CliRunner, Result
from django.core.wsgi import get_wsgi_application

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job
from benchwright.cli.main import main
from tests.own_connection import own_connection

URL = "http://localhost:8000"
CLIENT = httpx.Client


@contextmanager
def connected() -> Iterator[httpx.WSGITransport]:
    """What carries requests into the site of this test, on the test's own connection."""
    with own_connection():
        yield httpx.WSGITransport(_of_bytes(get_wsgi_application()))


def _of_bytes(application: Callable) -> Callable:
    """The application, with paths as PEP 3333 has them: each byte a letter, which httpx leaves."""

    def called(environ, start_response):
        environ["PATH_INFO"] = environ["PATH_INFO"].encode().decode("latin-1")
        return application(environ, start_response)

    return called


@contextmanager
def carried_by(monkeypatch: pytest.MonkeyPatch, transport: httpx.BaseTransport) -> Iterator[None]:
    """Every client of a site that is made meanwhile has its requests carried by this."""

    def client(**settings) -> httpx.Client:
        return CLIENT(**{**settings, "transport": transport})

    with monkeypatch.context() as patch:
        # What the site asks itself, such as a judge, goes over the network all the same.
        of_client = SimpleNamespace(**{**vars(httpx), "Client": client})
        patch.setattr("benchwright.client.transport.httpx", of_client)
        of_waiting = SimpleNamespace(**{**vars(time), "sleep": lambda seconds: do_jobs()})
        patch.setattr("benchwright.client.transport.time", of_waiting)
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

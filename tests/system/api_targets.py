"""What made-up requests are sent to: the site in this process, or one of processes.

Both have the objects of `tests/world.py`, and both take back what a request has changed.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import psycopg
import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core.wsgi import get_wsgi_application
from django.db import transaction
from django.test import override_settings
from psycopg import sql

from benchmarks_app.models import User
from benchmarks_app.people.services.api_tokens import create_api_token
from tests import world as worlds
from tests.system.site import Site

# Nobody is known by no token.
MEMBERS = ("vi", "sam", "olga", "cy", "gil")
UNLIMITED = dict.fromkeys(
    (
        *("API_REQUESTS_PER_MINUTE", "API_UPLOADS_PER_MINUTE", "API_COMPUTATIONS_PER_MINUTE"),
        "API_ANONYMOUS_PER_MINUTE",
    ),
    "1000000000",
)


class Target(Protocol):
    """Where cases go; `arguments` are those of the world, `tokens` by the name of a person."""

    arguments: dict[str, Any]
    tokens: dict[str, str]

    def ask(self, case: Any, headers: dict[str, str]) -> Any: ...


def tokens() -> dict[str, str]:
    """What each member sends to be known."""
    people = User.objects.filter(username__in=MEMBERS)
    return {
        person.username: create_api_token(user=person, name="fuzz", days=1).secret
        for person in people
    }


@dataclass
class ThisProcess:
    """The site in this process; each request is a transaction that is rolled back."""

    arguments: dict[str, Any]
    tokens: dict[str, str]
    files: Path
    application: Any = field(default_factory=get_wsgi_application)

    def ask(self, case: Any, headers: dict[str, str]) -> Any:
        # Nothing between here and the application would take a compressed answer apart.
        plain = headers | {"Accept-Encoding": "identity"}
        with transaction.atomic():
            answer = case.call(headers=plain, app=self.application)
            transaction.set_rollback(True)
        return answer


@contextmanager
def this_process(folder: Path, blocker: Any) -> Iterator[ThisProcess]:
    hasher = f"{MD5PasswordHasher.__module__}.{MD5PasswordHasher.__name__}"
    patched = pytest.MonkeyPatch()
    patched.setattr("benchmarks_app.jobs.services.jobs.send", lambda job: None)
    with (
        override_settings(MEDIA_ROOT=folder, STAGING_DIR=folder, PASSWORD_HASHERS=[hasher]),
        blocker.unblock(),
        transaction.atomic(),
    ):
        world = worlds.build(files=folder)
        yield ThisProcess(world.arguments, tokens(), folder)
        transaction.set_rollback(True)
    patched.undo()


# --- processes ---------------------------------------------------------------------------------


@dataclass
class LiveSite:
    """A site of web server, worker and sweeper on PostgreSQL and Redis."""

    arguments: dict[str, Any]
    tokens: dict[str, str]
    site: Site
    kept: "Kept"

    def ask(self, case: Any, headers: dict[str, str]) -> Any:
        answer = case.call(headers=headers, base_url=self.site.url)
        if case.method.upper() != "GET" and answer.status_code < 400:
            self.kept.put_back()
        return answer


@contextmanager
def live_site(folder: Path, server: str, broker: str) -> Iterator[LiveSite]:
    """`server` is that of `DATABASE_URL`, which has to be PostgreSQL."""
    assert server.startswith("postgres"), "DATABASE_URL names no PostgreSQL server"
    with Site(folder, broker=broker) as site:
        # Nothing outside of this machine is asked.
        site.env |= {**UNLIMITED, "HF_HUB_OFFLINE": "1"}
        world = site.call("make_world")
        with Kept(site.database, folder) as kept:
            for kind in ("web", "worker", "sweeper"):
                site.start(kind)
            yield LiveSite(world["arguments"], world["tokens"], site, kept)


class Kept:
    """The rows and files of a site as they were, in a schema and a folder beside them."""

    def __init__(self, database: str, folder: Path) -> None:
        self.files, self.copies = folder / "files", folder / "kept"
        self.connection = psycopg.connect(database, autocommit=True)
        shutil.copytree(self.files, self.copies)
        self.connection.execute("CREATE SCHEMA kept")
        for table in self._tables():
            self.connection.execute(
                sql.SQL("CREATE TABLE kept.{0} AS TABLE public.{0}").format(sql.Identifier(table))
            )

    def __enter__(self) -> "Kept":
        return self

    def __exit__(self, *error: object) -> None:
        self.connection.close()

    def _tables(self) -> list[str]:
        rows = self.connection.execute("SELECT tablename FROM pg_tables WHERE schemaname='public'")
        return [table for (table,) in rows.fetchall()]

    def put_back(self) -> None:
        """All rows as they were; of the files, those that are gone."""
        while True:
            with suppress(psycopg.errors.DeadlockDetected):
                self._put_rows_back()
                break
        for copy in self.copies.rglob("*"):
            file = self.files / copy.relative_to(self.copies)
            if copy.is_file() and not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                os.link(copy, file)

    def _put_rows_back(self) -> None:
        statements = [
            sql.SQL("DELETE FROM public.{0}; INSERT INTO public.{0} TABLE kept.{0}").format(
                sql.Identifier(table)
            )
            for table in self._tables()
        ]
        with self.connection.transaction():
            # Neither foreign keys nor triggers: what is put back fits together.
            self.connection.execute("SET LOCAL session_replication_role = replica")
            # A worker holds rows in an order of its own. Who gives way, and comes again, is this.
            self.connection.execute("SET LOCAL deadlock_timeout = '50ms'")
            self.connection.execute(sql.SQL("; ").join(statements))

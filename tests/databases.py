"""Databases of a test's own, of either kind, in the place of the one of the settings."""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import dj_database_url
import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.utils import ConnectionHandler
from django.test import override_settings

from benchmarks_app.settings import SQLITE_OPTIONS
from tests.system.site import migrated_file, migrated_template

SERVER = os.environ.get("DATABASE_URL", "")
HAS_POSTGRESQL = SERVER.startswith("postgres")
VENDORS = ("sqlite", "postgresql") if HAS_POSTGRESQL else ("sqlite",)


@contextmanager
def site_of_its_own(folder: Path, vendor: str) -> Iterator[None]:
    """A data folder, and a migrated database without rows, for all that this process does."""
    folder.mkdir(parents=True)
    places = {"DATA_DIR": folder, "MEDIA_ROOT": folder / "files", "STAGING_DIR": folder / "staging"}
    for place in places.values():
        place.mkdir(exist_ok=True)
    with _database(folder, vendor) as config, override_settings(**places), _instead(config):
        yield


@contextmanager
def _database(folder: Path, vendor: str) -> Iterator[dict[str, Any]]:
    if vendor == "sqlite":
        path = folder / "benchwright.sqlite3"
        shutil.copyfile(migrated_file(), path)
        config = dj_database_url.parse(f"sqlite:///{path}")
        yield {**config, "OPTIONS": SQLITE_OPTIONS}
        return
    name = f"benchwright_test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE {migrated_template(SERVER)}".encode())
    try:
        yield dj_database_url.parse(urlunsplit(urlsplit(SERVER)._replace(path=f"/{name}")))
    finally:
        with psycopg.connect(SERVER, autocommit=True) as server:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def _instead(config: dict[str, Any]) -> Iterator[None]:
    """Let the default connection be another, in this thread and in those it starts."""
    before, configured = connections[DEFAULT_DB_ALIAS], connections.settings[DEFAULT_DB_ALIAS]
    handler = ConnectionHandler({DEFAULT_DB_ALIAS: {**config, "TIME_ZONE": None}})
    connections.settings[DEFAULT_DB_ALIAS] = handler.settings[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = handler[DEFAULT_DB_ALIAS]
    in_settings, settings.DATABASES[DEFAULT_DB_ALIAS] = (
        settings.DATABASES[DEFAULT_DB_ALIAS],
        handler.settings[DEFAULT_DB_ALIAS],
    )
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS].close()
        settings.DATABASES[DEFAULT_DB_ALIAS] = in_settings
        connections.settings[DEFAULT_DB_ALIAS] = configured
        connections[DEFAULT_DB_ALIAS] = before

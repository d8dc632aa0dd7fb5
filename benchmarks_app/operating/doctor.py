"""Looking at all that a site rests on, and saying what to do where something is wrong."""

import logging
import shutil
import stat
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks, mail
from django.db import DatabaseError, connection

from benchmarks_app.hosts import differences, site_version, this_host
from benchmarks_app.migrated import unapplied
from benchmarks_app.site import selectors
from benchmarks_app.store import file_store

log = logging.getLogger(__name__)

FINE, ODD, WRONG = "fine", "odd", "wrong"
N_ASKED = 20
SLOW_MILLISECONDS = 5.0
MAIL_SECONDS = 5
TO_FILES = "django.core.mail.backends.filebased.EmailBackend"
LOOPBACK = {"localhost", "127.0.0.1", "[::1]", "::1", "testserver"}
# What the framework warns of that is decided elsewhere: by HTTPS, or by who has the domain.
DECIDED = {"security.W004", "security.W005", "security.W008", "security.W012", "security.W016"}
DECIDED |= {"security.W021"}


@dataclass(frozen=True)
class Finding:
    """What was found of one part: `level` is fine, odd or wrong; `advice` says what to do."""

    part: str
    level: str
    what: str
    advice: str = ""

    def as_json(self) -> dict[str, str]:
        return asdict(self)


def examined() -> Iterator[Finding]:
    """Look at each part after the other; one that breaks while it is looked at is wrong."""
    for part, look in PARTS.items():
        try:
            for level, what, advice in look():
                yield Finding(part, level, what, advice)
        except Exception as error:
            log.debug("%s could not be looked at", part, exc_info=True)
            what = f"could not be looked at: {error}"
            yield Finding(part, WRONG, what, "Mend what is said above it, then ask again.")


Found = Iterator[tuple[str, str, str]]


def _versions() -> Found:
    python = ".".join(map(str, sys.version_info[:3]))
    yield FINE, f"Benchwright {site_version()}, Python {python}", ""


def _settings() -> Found:
    hosts = [host for host in settings.ALLOWED_HOSTS if host not in LOOPBACK]
    messages = checks.run_checks(include_deployment_checks=True)
    warnings = [
        message
        for message in messages
        if message.id not in DECIDED and message.level >= checks.WARNING
    ]
    if settings.DEBUG and hosts:
        yield WRONG, "DEBUG is on and others reach the site", "Take DEBUG away."
    if hosts and not settings.SECURE_SSL_REDIRECT and not settings.SESSION_COOKIE_SECURE:
        what = f"others reach it as {hosts[0]} without HTTPS"
        yield ODD, what, "Put a proxy that speaks TLS before it, and set HTTPS=1."
    if settings.SESSION_COOKIE_SECURE and not settings.TRUSTED_PROXIES:
        what = "HTTPS is on, and no proxy is trusted"
        yield ODD, what, "Set TRUSTED_PROXIES: else everybody shares the proxy's limits."
    if hosts and not settings.IS_PLACE_TOLD:
        what = "links in mails begin as whoever asks for them calls the site"
        yield ODD, what, "Set SITE_URL: else a stranger has a new password's link lead elsewhere."
    for warning in warnings:
        level = WRONG if warning.level >= checks.ERROR else ODD
        yield level, str(warning.msg), str(warning.hint or f"See {warning.id} of Django's checks.")
    if not warnings:
        yield FINE, "nothing to say", ""


def _data_folder() -> Found:
    folder = Path(settings.DATA_DIR)
    mode = folder.stat().st_mode
    if mode & stat.S_IROTH:
        what = f"everybody on this machine can read {folder}"
        yield ODD, what, f"chmod 700 {folder}"
    else:
        yield FINE, f"{folder}", ""


def _database() -> Found:
    seconds = []
    try:
        with connection.cursor() as cursor:
            for _ in range(N_ASKED):
                began = time.perf_counter()
                cursor.execute("SELECT 1")
                cursor.fetchone()
                seconds.append(time.perf_counter() - began)
    except DatabaseError as error:
        what = f"does not answer: {str(error).strip()}"
        yield WRONG, what, "Start it, or correct DATABASE_URL."
        return
    middle = 1000 * statistics.median(seconds)
    what = f"{connection.vendor} answers in {middle:.1f} ms"
    if middle > SLOW_MILLISECONDS:
        yield ODD, what, "Pages ask it dozens of times: bring it nearer to this host."
    else:
        yield FINE, what, ""


def _hosts() -> Found:
    here = this_host()
    wrong = differences(selectors.workers_seen(), here)
    for what in wrong:
        yield WRONG, what, "See docs/operating.md, Several hosts."
    if not wrong:
        apart = "" if here.clock_ahead is None else f"; {abs(here.clock_ahead):.1f} s apart"
        yield FINE, f"same files, one version, one time{apart}", ""


def _migrations() -> Found:
    if missing := unapplied():
        yield WRONG, f"{len(missing)} are missing", "Run manage.py migrate, or start with up."
    else:
        yield FINE, "all are there", ""


def _storage() -> Found:
    """A file is written, read and removed again."""
    content = uuid.uuid4().bytes
    name, staged = f"doctor-{uuid.uuid4().hex}", settings.STAGING_DIR / f"doctor-{uuid.uuid4().hex}"
    staged.write_bytes(content)
    began = time.perf_counter()
    try:
        file_store().put(staged, name, "")
        try:
            with file_store().opened(name) as file:
                is_same = file.read() == content
        finally:
            file_store().delete(name)
    finally:
        staged.unlink(missing_ok=True)
    milliseconds = 1000 * (time.perf_counter() - began)
    state = selectors.storage_state()
    if not is_same:
        yield WRONG, "a file that was written came back otherwise", "Look at its disk."
    elif state.is_tight:
        what = f"{(state.n_free or 0) / 1e9:.1f} GB are free"
        yield WRONG, what, "Free some space, or move the data folder."
    else:
        free = f", {state.n_free / 1e9:,.1f} GB free" if state.n_free is not None else ""
        if state.n_copied is not None and state.n_copied_most is not None:
            copied, most = state.n_copied / 1e9, state.n_copied_most / 1e9
            free = f"; copies here {copied:,.1f} of {most:,.1f} GB"
        sentence = f"a file was written, read and removed in {milliseconds:,.0f} ms"
        yield FINE, f"{file_store().place}: {sentence}{free}", ""


def _temporary_files() -> Found:
    import tempfile

    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    what = f"{free / 1e9:,.1f} GB free in {folder}"
    if free < settings.UPLOAD_LIMIT_BYTES:
        yield ODD, what, "Uploads of the size that is allowed do not fit: set TMPDIR elsewhere."
    else:
        yield FINE, what, ""


def _broker() -> Found:
    kind = settings.CELERY_BROKER_URL.split("://")[0]
    if selectors.is_broker_there():
        yield FINE, f"{kind} answers", ""
    else:
        yield WRONG, f"{kind} does not answer", "Start it, or correct BROKER_URL."


def _workers() -> Found:
    n_alive = sum(worker.is_alive for worker in selectors.workers_seen())
    queue = selectors.queue_state()
    what = f"{n_alive} seen in two minutes; {queue.n_queued} jobs wait, {queue.n_running} run"
    if not n_alive:
        yield WRONG, what, "Start one: manage.py up does."
    elif queue.waits_too_long:
        yield ODD, what, "A job has waited for two minutes: start more workers."
    else:
        yield FINE, what, ""


def _failed_jobs() -> Found:
    n = selectors.n_failed_jobs()
    what = f"{n} are listed" if n else "none"
    yield (ODD, what, "Read why on the page System, /system/.") if n else (FINE, what, "")


def _mail() -> Found:
    if settings.EMAIL_BACKEND == TO_FILES:
        what = "goes to files in the data folder"
        yield ODD, what, "Set EMAIL_HOST, or hand links on yourself."
        return
    server = mail.get_connection(fail_silently=False, timeout=MAIL_SECONDS)
    name = settings.EMAIL_HOST or settings.EMAIL_BACKEND
    try:
        server.open()
        yield FINE, f"{name} answers", ""
    except OSError as error:
        what = f"{name} does not answer: {error}"
        yield WRONG, what, "Correct EMAIL_HOST, EMAIL_PORT or the password."
    finally:
        with suppress(Exception):
            server.close()


def _kept() -> Found:
    """Stored files and backups, as the page System tells of them."""
    store, backups = selectors.last_store_check(), selectors.newest_backups()
    queue, storage = selectors.queue_state(), selectors.storage_state()
    states = selectors.state_of([], queue, storage, store, backups)
    for check in states[-2:]:
        level = FINE if check.is_good and (store if check.name != "Backup" else backups) else ODD
        yield level if check.is_good else WRONG, f"{check.name.lower()}: {check.text}", ""


Look = Callable[[], Found]
# Features that stand above this one add what they rest on: `oidc/examining.py`.
PARTS: dict[str, Look] = {
    "versions": _versions,
    "settings": _settings,
    "data folder": _data_folder,
    "database": _database,
    "hosts": _hosts,
    "migrations": _migrations,
    "storage": _storage,
    "temporary files": _temporary_files,
    "broker": _broker,
    "workers": _workers,
    "failed jobs": _failed_jobs,
    "mail": _mail,
    "kept": _kept,
}


def as_json(findings: list[Finding]) -> dict[str, Any]:
    return {
        "is_fine": all(finding.level != WRONG for finding in findings),
        "findings": [finding.as_json() for finding in findings],
    }

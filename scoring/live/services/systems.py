"""Live systems: made, changed and removed; and what is needed to ask one."""

import os
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from benchmarks_app.common.services import audit, reading_apart
from benchmarks_app.models import Benchmark, User
from benchwright.fetching.addresses import is_public
from benchwright.gates.small_files import answer_in
from benchwright.live.asking import Endpoint
from benchwright.live.connections import Server
from benchwright.live.errors import AnswerError, EndpointError
from benchwright.live.headers import Secrets, check_secrets, filled_headers, read_headers
from benchwright.live.paths import Reading, Shape, read_shape
from benchwright.live.templates import Template, read_template
from benchwright.sandbox import ReaderEndedError, ReadersBusyError, UnreadableFileError
from scoring.live.selectors import job_at_work
from scoring.live.services.errors import LiveBusyError, LiveNameTakenError
from scoring.models import LiveSystem

CHANGEABLE = (
    *("name", "description", "kind", "url", "method", "template", "headers"),
    *("results_path", "id_path", "score_path", "k"),
    *("requests_per_second", "concurrency", "timeout_seconds", "retries"),
)


@transaction.atomic
def make_live_system(*, benchmark: Benchmark, user: User, **fields: Any) -> LiveSystem:
    """A live system of the benchmark; `given` are fields of `CHANGEABLE`.

    Raises
    ------
    LiveError
        If its address, template, headers or paths cannot be used.
    LiveNameTakenError
        If another has its name.
    """
    system = LiveSystem(benchmark=benchmark, created_by=user, **_fields(fields))
    check_live_system(system)
    _save(system)
    audit.record(actor=user, action="make-live-system", benchmark=benchmark, target=system.name)
    return system


@transaction.atomic
def change_live_system(*, system: LiveSystem, user: User, **fields: Any) -> LiveSystem:
    """Change fields of `CHANGEABLE`; runs made before stay as they are.

    Raises
    ------
    LiveBusyError
        If it is being asked.
    LiveError, LiveNameTakenError
        As `make_live_system`.
    """
    locked = _idle(system)
    for name, value in _fields(fields).items():
        setattr(locked, name, value)
    check_live_system(locked)
    locked.changed_at, locked.tried_at, locked.tried_well = timezone.now(), None, False
    _save(locked)
    audit.record(
        actor=user, action="change-live-system", benchmark=locked.benchmark, target=locked.name
    )
    return locked


@transaction.atomic
def delete_live_system(*, system: LiveSystem, user: User) -> None:
    """Remove a live system; the runs made from it stay.

    Raises
    ------
    LiveBusyError
        If it is being asked.
    """
    locked = _idle(system)
    audit.record(
        actor=user, action="delete-live-system", benchmark=locked.benchmark, target=locked.name
    )
    locked.delete()


def _idle(system: LiveSystem) -> LiveSystem:
    locked = LiveSystem.objects.select_for_update().get(pk=system.pk)
    if job_at_work(locked):
        raise LiveBusyError(name=locked.name)
    return locked


def _fields(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in CHANGEABLE}


def _save(system: LiveSystem) -> None:
    try:
        with transaction.atomic():
            system.save()
    except IntegrityError as error:
        same = LiveSystem.objects.filter(benchmark=system.benchmark_id, name=system.name)
        if same.exclude(pk=system.pk).exists():
            raise LiveNameTakenError(name=system.name) from error
        raise


# --- what is needed to ask -------------------------------------------------------------------


def check_live_system(system: LiveSystem) -> None:
    """Refuse what can be seen to be wrong before anything is asked.

    Raises
    ------
    EndpointError, TemplateError, HeadersError, SecretError, PathError
    """
    server = server_of(system)
    _refuse_private_number(server)
    template_of(system)
    check_secrets(read_headers(system.headers), address=system.url, secrets=secrets())
    shape_of(system)


def endpoint_of(system: LiveSystem) -> Endpoint:
    """Everything needed to ask it, with the secrets of its headers: for the moment of asking alone.

    Raises
    ------
    EndpointError, TemplateError, HeadersError, SecretError, PathError
        If something is wrong with it, or a secret has no value in this process.
    """
    headers = read_headers(system.headers)
    filled = filled_headers(headers, address=system.url, secrets=secrets(), environment=os.environ)
    variables = {name for header in headers for name in header.variables}
    return Endpoint(
        server=server_of(system),
        method=system.method,
        template=template_of(system),
        shape=shape_of(system),
        k=system.k,
        requests_per_second=system.requests_per_second,
        concurrency=system.concurrency,
        retries=system.retries,
        headers=filled,
        hidden=tuple(os.environ[name].strip() for name in variables),
        read=_read_apart,
    )


def _read_apart(content: bytes, shape: Shape, k: int) -> Reading:
    """Read an answer in a process of its own, whose end is a fault of the answer."""
    try:
        reading: Reading = reading_apart.call(answer_in, content, shape, k, file="its answer")
    except ReadersBusyError as error:
        why = f"nothing was free to read its answer for {error.seconds:.0f} seconds"
        raise AnswerError(why=why, is_passing=True) from error
    except UnreadableFileError as error:
        is_passing = isinstance(error, ReaderEndedError)
        why = f"reading its answer {error.reason}"
        raise AnswerError(why=why, is_passing=is_passing) from error
    return reading


def secrets() -> Secrets:
    """Which variables of the environment may be sent where, as whoever runs the site allows."""
    return Secrets.of(settings.LIVE_SECRETS)


def server_of(system: LiveSystem) -> Server:
    return Server(
        system.url,
        private=settings.LIVE_PRIVATE_ADDRESSES,
        timeout=system.timeout_seconds,
        most_bytes=settings.LIVE_ANSWER_BYTES,
    )


def template_of(system: LiveSystem) -> Template:
    return read_template(system.template, method=system.method)


def shape_of(system: LiveSystem) -> Shape:
    return read_shape(
        results=system.results_path,
        id=system.id_path,
        score=system.score_path,
        is_opensearch=system.kind == LiveSystem.Kind.OPENSEARCH,
    )


def _refuse_private_number(server: Server) -> None:
    """A name is looked up when it is asked; a number can be told already."""
    try:
        ip = ip_address(server.parts.hostname or "")
    except ValueError:
        return
    if not (is_public(ip) or server.may_be_private):
        raise EndpointError(
            address=f"{server.parts.scheme}://{server.parts.netloc}",
            why=f"{ip} is not in the public network",
            advice=(
                "Only public addresses are asked; whoever runs the site can allow others "
                f"(LIVE_PRIVATE_ADDRESSES={ip})."
            ),
        )

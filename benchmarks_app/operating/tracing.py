"""Which request or job a line of the log belongs to.

A number is made here for each request; a proxy that is trusted may send its own.
"""

import logging
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.http import HttpRequest
from django.urls import Resolver404, resolve

REQUEST: ContextVar[str] = ContextVar("request", default="")
JOB: ContextVar[int | None] = ContextVar("job", default=None)
# Parts of addresses that let in whoever has them: links that are mailed, or handed on.
SECRETS = {"secret", "stop", "ticket", "token"}
# What a proxy may name a request.
NAME = re.compile(r"[A-Za-z0-9._-]{8,80}")


def request_name(name: str) -> str:
    """The name that was sent, where it can be one, else a new one."""
    return name if NAME.fullmatch(name) else uuid.uuid4().hex


@contextmanager
def of_job(key: int) -> Iterator[None]:
    """What is logged within belongs to a job."""
    token = JOB.set(key)
    try:
        yield
    finally:
        JOB.reset(token)


class Belonging(logging.Filter):
    """Adds `request` and `job` to a record: of the one that is being answered or done.

    What the framework says of a request names its address: the secret of a link is taken out, and
    the request itself, which a line of JSON would have with its whole address.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = REQUEST.get() or None
        record.job_id = JOB.get()
        request = record.__dict__.pop("request", None)
        record.__dict__.pop("status_code", None)
        if isinstance(request, HttpRequest) and isinstance(record.args, tuple):
            record.args = tuple(_without(_secrets_of(request), arg) for arg in record.args)
        return True


def _secrets_of(request: HttpRequest) -> list[str]:
    try:  # where it broke before a view was found, nobody has looked yet
        parts = (request.resolver_match or resolve(request.path_info)).kwargs
    except Resolver404:
        return []
    return [str(value) for name, value in parts.items() if name in SECRETS]


def _without(secrets: list[str], arg: object) -> object:
    for secret in secrets:
        arg = arg.replace(f"/{secret}", "/…") if isinstance(arg, str) else arg
    return arg

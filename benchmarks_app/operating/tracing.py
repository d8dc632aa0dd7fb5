"""Which request or job a line of the log belongs to.

A number is made here for each request; a proxy that is trusted may send its own.
"""

import logging
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

REQUEST: ContextVar[str] = ContextVar("request", default="")
JOB: ContextVar[int | None] = ContextVar("job", default=None)
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
    """Adds `request` and `job` to a record: of the one that is being answered or done."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = REQUEST.get() or None
        record.job_id = JOB.get()
        return True

"""Traces for a collector of OpenTelemetry, where the environment names one; else nothing is loaded.

A span is a request, a job or a statement of the database. It says which view, which job, how long,
and what broke by its kind. It has no address (there are secrets in some), no text that somebody
wrote, and of a statement the SQL with marks in the place of values.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from benchmarks_app.operating.tracing import JOB, REQUEST

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
SERVICE = "benchwright"
LONGEST_STATEMENT = 2000


def is_on() -> bool:
    return any(os.environ.get(name) for name in ENDPOINTS)


@contextmanager
def span(name: str, **attributes: Any) -> Iterator[Callable[..., None]]:
    """What is done within, as a span; gives a function that adds attributes and another name.

    `__` in a name of an attribute is a dot. Of an error its class is kept, not what it says.
    """
    if not is_on():
        yield _nothing
        return
    from opentelemetry.trace import Status, StatusCode

    belonging: dict[str, Any] = {
        "benchwright.request_id": REQUEST.get() or None,
        "benchwright.job_id": JOB.get(),
    }
    with _tracer().start_as_current_span(
        name, record_exception=False, set_status_on_exception=False
    ) as begun:

        def tell(renamed: str = "", **more: Any) -> None:
            if renamed:
                begun.update_name(renamed)
            for key, value in more.items():
                if value is not None:
                    begun.set_attribute(key.replace("__", "."), value)

        tell(**attributes, **belonging)
        try:
            yield tell
        except Exception as error:
            tell(error__type=type(error).__name__)
            begun.set_status(Status(StatusCode.ERROR))
            raise


def _nothing(renamed: str = "", **more: Any) -> None:
    """Where nobody is told."""


@cache
def _tracer() -> Any:
    """Made when a process does its first work: a fork before that has nothing to inherit."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = os.environ.get("OTEL_SERVICE_NAME", SERVICE)
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider.get_tracer(SERVICE)


def _statement(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    kind = sql.split(None, 1)[0].upper() if sql.strip() else "EMPTY"
    system = context["connection"].vendor
    with span(kind, db__system__name=system, db__query__text=sql[:LONGEST_STATEMENT]):
        return execute(sql, params, many, context)


def _listen(connection: BaseDatabaseWrapper, **_: Any) -> None:
    if is_on() and _statement not in connection.execute_wrappers:
        connection.execute_wrappers.append(_statement)


connection_created.connect(_listen, dispatch_uid="benchwright.spans")

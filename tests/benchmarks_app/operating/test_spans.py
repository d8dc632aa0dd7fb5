"""Traces, as a collector on the loopback is sent them."""

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.db import connection
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job
from benchmarks_app.operating import spans
from tests import factories

pytestmark = pytest.mark.django_db


class Collected(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        sent = ExportTraceServiceRequest.FromString(
            self.rfile.read(int(self.headers["Content-Length"]))
        )
        self.server.sent.append((self.path, sent))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def collected(monkeypatch):
    """A function that gives the spans so far: name, attributes, whether it broke."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collected)
    server.sent = []
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    spans._tracer.cache_clear()
    wrappers = [*connection.execute_wrappers]
    spans._listen(connection)

    def so_far():
        spans._tracer().span_processor.force_flush()
        return [
            (
                span.name,
                {
                    attribute.key: next(v for _, v in attribute.value.ListFields())
                    for attribute in span.attributes
                },
                span.status.code == span.status.STATUS_CODE_ERROR,
            )
            for path, sent in server.sent
            for resource in sent.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
            if path == "/v1/traces"
        ]

    yield so_far
    connection.execute_wrappers[:] = wrappers
    spans._tracer().span_processor.shutdown()
    spans._tracer.cache_clear()
    server.shutdown()
    thread.join()
    server.server_close()


def test_request_is_a_span_with_its_view_and_number_and_no_address(collected, client, settings):
    settings.TRUSTED_PROXIES = 1
    secret = "a-secret-of-an-invitation"

    client.get(f"/join/{secret}/?q=hush", headers={"X-Request-ID": "request-0001"})
    client.get("/sign-in/", {"next": f"/{secret}"}, headers={"X-Request-ID": "request-0002"})

    spans = collected()
    (page,) = [attributes for name, attributes, _ in spans if name == "GET sign-in"]
    assert page["http.response.status_code"] == 200
    assert page["benchwright.request_id"] == "request-0002"
    assert secret not in str(spans)
    assert "hush" not in str(spans)


def test_statements_of_a_request_are_there_without_their_values(collected, client):
    factories.user("ada")

    client.post("/sign-in/", {"username": "ada", "password": "guessed wrongly"})

    statements = [attributes for name, attributes, _ in collected() if name == "SELECT"]
    asked = [statement["db.query.text"] for statement in statements]
    assert any('"benchmarks_app_user"."username" = %s' in sql for sql in asked)
    assert {statement["db.system.name"] for statement in statements} == {connection.vendor}
    assert "guessed wrongly" not in str(collected())
    assert "'ada'" not in str(collected())


def test_job_is_a_span_and_its_statements_name_it(collected, benchmark, owner, monkeypatch):
    monkeypatch.setitem(jobs.HANDLERS, "nothing", lambda job: None)
    job = Job.objects.create(kind="nothing", title="t", benchmark=benchmark, created_by=owner)

    jobs.execute(job.pk, has_heartbeat=False)

    spans = collected()
    (done,) = [attributes for name, attributes, _ in spans if name == "job nothing"]
    assert done["benchwright.job_id"] == job.pk
    assert any(
        attributes.get("benchwright.job_id") == job.pk
        for name, attributes, _ in spans
        if name == "UPDATE"
    )


def test_what_broke_is_named_by_its_class_and_not_by_its_words(collected):
    with pytest.raises(ValueError, match="hush"), spans.span("breaks"):
        raise ValueError("hush")

    ((_, result, is_broken),) = [span for span in collected() if span[0] == "breaks"]
    assert (result["error.type"], is_broken) == ("ValueError", True)
    assert "hush" not in str(result)


CODE = """
import sys, django
django.setup()
from django.test import Client
from benchmarks_app.operating import spans
with spans.span("nobody asks"):
    pass
print(sorted(name for name in sys.modules if name.startswith("opentelemetry")))
"""


def test_without_a_collector_nothing_of_it_is_loaded(tmp_path):
    env = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    env |= {"BENCHWRIGHT_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "benchmarks_app.settings"}

    done = subprocess.run(
        [sys.executable, "-c", CODE], env=env, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"

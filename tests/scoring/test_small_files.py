"""Small files, texts and answers from outside are read in a process of their own."""

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from scoring.live.services.systems import make_live_system
from scoring.live.services.trying import try_system
from scoring.models import GatePolicy, ReportedScore
from tests import factories
from tests.scoring.conftest import GOOD
from tests.scoring.search_server import BODY, Answer, hits

pytestmark = pytest.mark.django_db
PARSERS = (
    "benchwright.runs.metadata.tree_of",
    "benchwright.evaluation.mteb_results._of_file",
    "benchwright.gates.policy._Reader.policy",
    "benchwright.live.answers._parsed",
)
MTEB = json.dumps({"task_name": "T", "scores": {"test": [{"main_score": 0.5}]}}).encode()
# A few MB that become a hundred.
NESTED = b"[" + b",".join([b"[" * 900 + b"]" * 900] * 1500) + b"]"


@pytest.fixture
def no_parser(monkeypatch) -> None:
    """Parsers fail in this process, and no other knows of it."""

    def refuse(*args, **options):
        raise AssertionError

    for parser in PARSERS:
        monkeypatch.setattr(parser, refuse)


@pytest.fixture
def little_memory(settings) -> None:
    settings.READ_MEMORY_MB = 64


def resident_mb() -> float:
    status = Path("/proc/self/status").read_text().split("VmRSS:")[1]
    return int(status.split()[0]) / 1024


def submitted(client, **fields):
    run = SimpleUploadedFile("bm25.run", GOOD)
    address = reverse("scoring:submission-new", args=["stdlib"])
    return client.post(address, {"file": run, "name": "bm25", "visibility": "benchmark", **fields})


def reported(client, content: bytes):
    file = SimpleUploadedFile("T.json", content)
    address = reverse("scoring:reported-new", args=["stdlib"])
    return client.post(address, {"what": "file", "file-file": file, "file-system": "ours"})


# --- what describes a run ------------------------------------------------------------------------


def test_metadata_is_read_apart(phase, sam, signed_in, no_parser):
    file = SimpleUploadedFile("ours.yml", b"tag: ours\nactor:\n  team: Owls\n")

    answer = submitted(signed_in(sam), ir_metadata="tag: other", ir_metadata_file=file)

    assert answer.status_code == 302
    parameters = phase.submissions.get().job.parameters
    assert parameters["metadata"]["ir_metadata"] == {"tag": "ours", "actor": {"team": "Owls"}}


@pytest.mark.parametrize("field", ["ir_metadata", "ir_metadata_file"])
def test_metadata_nested_deep_is_told_with_its_place(phase, sam, signed_in, field):
    text = "a: 1\nb: " + 100_000 * "["
    result = SimpleUploadedFile("ours.yml", text.encode()) if field.endswith("file") else text

    answer = submitted(signed_in(sam), **{field: result})

    assert answer.status_code == 422
    name = "ours.yml" if field.endswith("file") else "The text"
    words = f"{name}: the ir_metadata is nested more than 64 levels deep on line 2"
    assert words in answer.content.decode()


# --- values of elsewhere -------------------------------------------------------------------------


def test_reported_file_is_read_apart(benchmark, sam, signed_in, no_parser):
    assert reported(signed_in(sam), MTEB).status_code == 302

    assert ReportedScore.objects.get().value == 0.5


def test_reported_file_of_the_api_is_read_apart(benchmark, sam, signed_in, no_parser):
    file = SimpleUploadedFile("T.json", MTEB)
    address = "/api/v1/benchmarks/stdlib/reported/"

    answer = signed_in(sam).post(address, {"file": file, "system": "ours"})

    assert answer.status_code == 201
    assert answer.json()["n_new"] == 1


def test_reported_file_that_takes_too_much_is_told_on_its_form(
    benchmark, sam, signed_in, little_memory
):
    client = signed_in(sam)
    reported(client, MTEB)
    before = resident_mb()

    answer = reported(client, NESTED)

    assert answer.status_code == 422
    assert "T.json: reading it took more than 64 MB of memory" in answer.content.decode()
    assert resident_mb() - before < 40


# --- policies ------------------------------------------------------------------------------------


def test_policy_is_read_apart(benchmark, sam, signed_in, no_parser):
    factories.run(benchmark, GOOD.decode(), "bm25", owner=sam)
    fields = {"name": "nightly", "baseline": "bm25", "content": {"goal": "not_worse"}}
    address = "/api/v1/benchmarks/stdlib/gates/policies/"

    answer = signed_in(sam).post(address, fields, content_type="application/json")

    assert answer.status_code == 201, answer.content
    assert GatePolicy.objects.get().content["goal"] == "not_worse"


def test_policy_that_is_none_is_told_as_before(benchmark, sam, signed_in):
    factories.run(benchmark, GOOD.decode(), "bm25", owner=sam)
    fields = {"name": "nightly", "baseline": "bm25", "content": {"alpha": 2}}
    address = "/api/v1/benchmarks/stdlib/gates/policies/"

    answer = signed_in(sam).post(address, fields, content_type="application/json")

    assert answer.status_code == 422
    assert "alpha" in answer.json()["message"]


# --- answers of live systems ---------------------------------------------------------------------


@pytest.fixture
def live(benchmark, owner, server, settings):
    settings.LIVE_PRIVATE_ADDRESSES = ["127.0.0.1"]
    return make_live_system(
        benchmark=benchmark,
        user=owner,
        name="staging",
        kind="opensearch",
        url=server.url,
        method="POST",
        template=BODY,
        results_path="hits.hits",
        id_path="_id",
        score_path="_score",
        k=5,
        timeout_seconds=30.0,
    )


def test_answer_is_read_apart(live, server, no_parser):
    server.answer = lambda asked: hits(("d1", 2.0), ("d2", 1.0))

    trial = try_system(system=live, query="what")

    assert [result.docid for result in trial.results] == ["d1", "d2"]


def test_answer_that_takes_too_much_fails_its_query_alone(live, server, little_memory):
    try_system(system=live, query="what")
    before = resident_mb()
    server.answer = lambda asked: Answer(NESTED)

    trial = try_system(system=live, query="what")

    assert trial.why == "reading its answer took more than 64 MB of memory"
    assert resident_mb() - before < 40
    server.answer = lambda asked: hits(("d1", 2.0))
    assert try_system(system=live, query="what").is_good


def test_answer_of_another_shape_is_told_as_before(live, server):
    server.answer = lambda asked: Answer(b'{"hits": {"hits": [{"_id": 1.5}]}}')

    assert try_system(system=live, query="what").why.startswith("the id of result 1 is a number")

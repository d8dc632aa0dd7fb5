"""`benchwright contextual` against a stub of the protocol."""

import base64
import json

import pytest

from tests.judge_stub import JudgeStub

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
ROWS = [
    {
        "id": "q1",
        "input": "Who wrote it?",
        "expected_output": "Ada.",
        "retrieval_context": ["a useful node", "bread"],
        "slices": ["head", "exact"],
    },
    {
        "id": "q2",
        "input": "And this?",
        "expected_output": "Bo.",
        "retrieval_context": ["bread", "a useful node"],
        "slices": ["head"],
    },
    {"id": "q3", "input": "Where?", "expected_output": "There.", "retrieval_context": []},
]


@pytest.fixture
def stub(monkeypatch):
    monkeypatch.setenv("BENCHWRIGHT_JUDGE_KEY", "sk-judge")
    with JudgeStub(key="sk-judge") as stub:
        yield stub


@pytest.fixture
def judge(files, stub, benchwright):
    """`judge(*options)`: the command on cases.jsonl, asking the stub."""
    (files / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))

    def run(*options):
        at = ("--model", "m", "--base-url", stub.url, "--attempts", "1")
        return benchwright("contextual", "cases.jsonl", *at, *options)

    return run


def cells(done):
    return {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[1:]}


def test_means_stand_by_slice_with_what_they_cost(judge):
    done = judge("--price-in", "1", "--price-out", "2")

    assert done.exit_code == 0, done.stderr
    # 1 for q1, 1/2 for q2, 0 for q3 without a node.
    assert cells(done) == {
        "all": ["3", "0", "0.5000", "67", "%"],
        "exact": ["1", "0", "1.0000", "100", "%"],
        "head": ["2", "0", "0.7500", "100", "%"],
    }
    assert "4 requests;" in done.stderr
    assert "cost 0.00" in done.stderr


def test_json_holds_every_case(judge):
    report = json.loads(judge("--format", "json", "--strict").stdout)

    assert [(case["id"], case["score"]) for case in report["cases"]] == [
        ("q1", 1.0),
        ("q2", 0.0),
        ("q3", 0.0),
    ]
    assert report["rows"][0]["contextual_precision"] == pytest.approx(1 / 3)
    assert report["cases"][1]["verdicts"][1] == {
        "node": 2,
        "verdict": "yes",
        "reason": "Node 2 is help.",
    }
    assert "sk-judge" not in json.dumps(report)


def test_only_a_case_that_fails_ends_with_one(judge, stub, files):
    stub.always_fault("And this?", "500")

    done = judge("--output", "out.jsonl")

    assert done.exit_code == 1
    assert "q2: The endpoint failed (500) in 1 attempts." in done.stderr
    assert cells(done)["head"][:3] == ["2", "1", "1.0000"]
    written = [json.loads(line) for line in (files / "out.jsonl").read_text().splitlines()]
    assert {row["id"]: row["error"] and row["error"]["code"] for row in written} == {
        "q1": None,
        "q2": "judge-server",
        "q3": None,
    }


def test_cache_asks_only_what_is_new(judge, stub):
    first = judge("--cache", "judged.jsonl")
    n_asked = len(stub.requests)

    again = judge("--cache", "judged.jsonl", "--threshold", "0.9")

    assert len(stub.requests) == n_asked == 4
    assert "0 requests; 2 cases from the cache." in again.stderr
    assert cells(again)["all"] == ["3", "0", "0.5000", "33", "%"]
    assert first.exit_code == again.exit_code == 0


def test_images_of_the_folder_are_sent(judge, stub, files):
    (files / "pictures").mkdir()
    (files / "pictures" / "a.png").write_bytes(PNG)
    row = {**ROWS[0], "retrieval_context": ["bread", ["see", {"image": "a.png"}]]}
    (files / "cases.jsonl").write_text(json.dumps(row))

    done = judge("--images", "pictures", "--no-reason")

    assert cells(done)["all"][2] == "0.5000"
    assert base64.b64decode(stub.requests[0].images[0].partition(",")[2]) == PNG


def test_everything_wrong_is_told_before_anything_is_asked(judge, stub, files):
    (files / "cases.jsonl").write_text('{"input": "x"}\n{"a": 1\n')

    done = judge()

    assert done.exit_code == 1
    assert "cases.jsonl:1: no 'expected_output'" in done.stderr
    assert "cases.jsonl:2: not JSON" in done.stderr
    assert stub.requests == []


def test_wrong_key_is_told_without_it(judge, stub, monkeypatch):
    monkeypatch.setenv("BENCHWRIGHT_JUDGE_KEY", "sk-other")

    done = judge()

    assert done.exit_code == 1
    assert "gave no access (401)" in done.stderr
    assert "sk-other" not in done.stderr + done.stdout


def test_address_that_is_none_is_told(files, judge, benchwright):
    done = benchwright("contextual", "cases.jsonl", "--model", "m", "--base-url", "ftp://x")

    assert done.exit_code == 1
    assert "base_url is refused: 'ftp' is not http or https" in done.stderr


def test_missing_extra_is_named(judge, monkeypatch):
    monkeypatch.setattr("benchwright.judges.client.find_spec", lambda _: None)

    done = judge()

    assert done.exit_code == 1
    assert "pip install 'benchwright[judge]'" in done.stderr


def test_field_that_is_unknown_is_a_note(judge, files):
    (files / "cases.jsonl").write_text(json.dumps({**ROWS[0], "remarks": ["x"]}))

    assert "Note: cases.jsonl:1: 'remarks' is no field of a case" in judge().stderr


def test_file_that_is_no_cache_is_left_alone(judge, files):
    (files / "notes.txt").write_text("mine\n")

    done = judge("--cache", "notes.txt")

    assert done.exit_code == 1
    assert "notes.txt: it begins with other words" in done.stderr
    assert (files / "notes.txt").read_text() == "mine\n"

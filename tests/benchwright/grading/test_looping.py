"""Pairs through a judge: faults belong to their pair, and nothing is paid for twice."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchwright.grading import (
    Budget,
    Grade,
    GradeCache,
    Graded,
    GradingPrompt,
    Pair,
    estimated,
    graded,
    gradings_of,
    key_of,
)
from benchwright.grading.caching import grading_as_json, grading_from_json
from benchwright.grading.looping import MemoryCache
from benchwright.judges.client import OpenAIJudge
from benchwright.judges.endpoint import Endpoint
from benchwright.judges.errors import CacheFileError, JudgeSettingError
from tests.benchwright.contextual.scripted import AsyncScripted, Scripted
from tests.judge_stub import JudgeStub

ROOT = Path(__file__).parents[3]
PROMPT = GradingPrompt()
PRICES = {"price_in": 1e6, "price_out": 1e6}


def pairs(n, text="useful useful"):
    return [Pair(f"q{i}", f"d{i}", f"query {i}", f"document {i} is {text}") for i in range(n)]


def answer(grade, reason="so"):
    return {"reason": reason, "grade": grade}


@pytest.fixture
def stub():
    with JudgeStub() as stub:
        yield stub


def judge_at(stub, **settings):
    fields = {"first_wait": 0.01, "max_attempts": 2, "timeout": 5.0, **settings}
    return OpenAIJudge(Endpoint("m", stub.url, **fields))


def one(stub, **settings):
    (grading,) = gradings_of(pairs(1), judge_at(stub, **settings), PROMPT)
    return grading


def test_grade_comes_with_reason_model_version_and_cost(stub):
    grading = one(stub, price_in=2.0, price_out=10.0)

    (sent,) = stub.requests
    assert (grading.query_id, grading.document_id) == ("q0", "d0")
    assert (grading.grade, grading.reason) == (2, "It says so 2 times.")
    assert grading.model == "m-2026-01-01"
    assert grading.prompt_hash == PROMPT.hash
    assert json.loads(grading.raw) == answer(2, "It says so 2 times.")
    expected = (2.0 * (len(sent.text) // 4) + 10.0 * (len(grading.raw) // 4)) / 1e6
    assert grading.cost == grading.paid == pytest.approx(expected)
    assert grading.at.endswith("Z")
    assert sent.body["response_format"]["json_schema"]["schema"] == PROMPT.schema["schema"]


FAULTS = [
    ("grade-as-text", 2, None, 1),
    ("fenced", 2, None, 1),
    ("slow:0.05", 2, None, 1),
    ("429:0.01", 2, None, 2),
    ("cut", 2, None, 2),
    ("500", 2, None, 2),
    ("out-of-scale", None, "the grade is 10; expected one of 0, 1, 2, 3", 2),
    ("injected", None, "the grade is 99; expected one of 0, 1, 2, 3", 2),
    ("no-grade", None, "it has no 'grade'", 2),
    ("two-grades", None, "'grade' comes more than once", 2),
    ("bad-json", None, "it is not JSON", 2),
    ("refusal", None, "declined to answer", 1),
    ("length", None, "cut off after", 1),
    ("filter", None, "content filter", 1),
    ("403", None, "gave no access (403)", 1),
]


@pytest.mark.parametrize(("fault", "grade", "words", "n_requests"), FAULTS)
def test_fault_ends_as_it_should(stub, fault, grade, words, n_requests):
    is_passing = grade is not None and n_requests > 1
    if is_passing:
        stub.script("query 0", fault)
    else:
        stub.always_fault("query 0", fault)

    grading = one(stub)

    assert grading.grade == grade
    assert (grading.error is None) is (words is None)
    assert words is None or words in grading.error.message
    assert len(stub.requests) == n_requests


def test_answer_off_the_scale_is_asked_for_once_more(stub):
    stub.script("query 0", "out-of-scale")

    grading = one(stub, **PRICES)

    assert grading.grade == 2
    assert [answer.problem for answer in grading.answers] == [
        "the grade is 10; expected one of 0, 1, 2, 3",
        "",
    ]
    assert "the grade is 10" in stub.requests[1].body["messages"][-1]["content"]
    assert grading.cost == pytest.approx(sum(one.cost for one in grading.answers))


@pytest.mark.parametrize("kind", [Scripted, AsyncScripted])
def test_error_of_a_pair_is_no_error_of_the_next(kind):
    judge = kind(answer(7), answer(8), ValueError("broken"), answer(1))

    gradings = list(gradings_of(pairs(3), judge, PROMPT, concurrency=1))

    assert [grading.grade for grading in gradings] == [None, None, 1]
    assert [grading.error and grading.error.code for grading in gradings] == [
        "judge-answer",
        "judge-object",
        None,
    ]


def test_empty_document_is_an_error_without_a_question():
    judge = Scripted()

    grading = graded(Pair("q", "d", "query", "  "), judge, PROMPT)

    assert (grading.error.code, judge.asked) == ("empty-part", [])


def test_probabilities_of_the_grade_are_kept_where_there_are_any(stub):
    assert one(stub, has_probabilities=True).probabilities == pytest.approx(
        {0: 0, 1: 0, 2: 2 / 3, 3: 1 / 3}
    )
    assert one(stub).probabilities == {}
    stub.refuses = ("logprobs",)
    assert one(stub, has_probabilities=True).grade == 2


def test_seed_is_sent_and_names_another_question(stub):
    judge, seeded = judge_at(stub), judge_at(stub, seed=7)

    list(gradings_of(pairs(1), seeded, PROMPT))

    assert stub.requests[0].body["seed"] == 7
    assert key_of(pairs(1)[0], judge, PROMPT) != key_of(pairs(1)[0], seeded, PROMPT)


# --- nothing is paid for twice -------------------------------------------------------------------


def test_same_question_is_asked_once_whatever_its_ids(stub):
    same = [Pair(f"q{i}", "d", "query", "useful") for i in range(20)]

    gradings = list(gradings_of(same, judge_at(stub, **PRICES), PROMPT, concurrency=16))

    assert len(stub.requests) == 1
    assert sorted(grading.query_id for grading in gradings) == sorted(f"q{i}" for i in range(20))
    assert {grading.grade for grading in gradings} == {1}
    assert sum(grading.paid > 0 for grading in gradings) == 1


def test_cache_answers_the_same_prompt_and_no_other(tmp_path, stub):
    with GradeCache(tmp_path / "cache") as cache:
        first = list(gradings_of(pairs(3), judge_at(stub), PROMPT, cache=cache))
    with GradeCache(tmp_path / "cache") as cache:
        again = list(gradings_of(pairs(3), judge_at(stub), PROMPT, cache=cache))
        n_asked = len(stub.requests)
        list(gradings_of(pairs(3), judge_at(stub), GradingPrompt(guideline="New"), cache=cache))

    assert n_asked == 3
    assert len(stub.requests) == 6
    key = {one.query_id: one for one in first}
    for grading in again:
        assert grading.is_cached
        assert grading.paid == 0
        assert grading == replace(key[grading.query_id], is_cached=True, seconds=0.0)


def test_failed_pair_is_asked_again(tmp_path):
    with GradeCache(tmp_path / "cache") as cache:
        graded(pairs(1)[0], Scripted(answer(9), answer(9)), PROMPT, cache=cache)
        again = graded(pairs(1)[0], Scripted(answer(3)), PROMPT, cache=cache)

    assert (again.grade, again.is_cached) == (3, False)


def test_cache_of_contextual_precision_is_refused(tmp_path):
    path = tmp_path / "cache"
    path.write_bytes(b'{"benchwright_contextual_cache": 1}\n')

    with pytest.raises(CacheFileError, match="that `benchwright judge --cache` has made"):
        GradeCache(path)


def test_grading_survives_json(stub):
    grading = one(stub, has_probabilities=True, **PRICES)
    failed = Graded("q", "d", error=grading.error)

    for each in (grading, failed):
        assert grading_from_json(json.loads(json.dumps(grading_as_json(each)))) == each


KILLED = """\
import os, signal, sys
from pathlib import Path
from benchwright.grading import GradeCache, GradingPrompt, gradings_of
from benchwright.judges.client import OpenAIJudge
from benchwright.judges.endpoint import Endpoint
from tests.benchwright.grading.test_looping import pairs

with GradeCache(Path(sys.argv[2])) as cache:
    judge = OpenAIJudge(Endpoint("m", sys.argv[1]))
    for n, _ in enumerate(gradings_of(pairs(60), judge, GradingPrompt(), cache=cache), start=1):
        if n == 30:
            os.kill(os.getpid(), signal.SIGKILL)
"""


def test_killed_in_the_middle_it_goes_on_and_pays_for_nothing_twice(tmp_path, stub):
    command = [sys.executable, "-c", textwrap.dedent(KILLED), stub.url, str(tmp_path / "cache")]

    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    n_before = len(stub.requests)
    with GradeCache(tmp_path / "cache") as cache:
        n_kept = len(cache)
        gradings = list(gradings_of(pairs(60), judge_at(stub), PROMPT, cache=cache))

    assert done.returncode == -signal.SIGKILL
    assert 30 <= n_kept <= n_before <= n_kept + 16
    assert len(gradings) == 60
    assert {grading.grade for grading in gradings} == {2}
    # What was answered is asked no more; what was under way when it was killed is.
    assert len(stub.requests) - n_before == 60 - n_kept


# --- money, access, and a hand on the switch ------------------------------------------------------


def test_no_pair_is_begun_once_the_money_is_spent(stub):
    each = one(stub, **PRICES).cost
    budget = Budget(limit=3 * each, spent=each)

    gradings = list(
        gradings_of(pairs(9), judge_at(stub, **PRICES), PROMPT, concurrency=1, budget=budget)
    )

    assert len(gradings) == 2
    assert budget.spent == pytest.approx(3 * each)
    assert budget.is_spent


def test_limit_without_prices_is_refused(stub):
    with pytest.raises(JudgeSettingError, match="the judge has no prices"):
        gradings_of(pairs(1), judge_at(stub), PROMPT, budget=Budget(limit=1))


def test_endpoint_without_access_is_asked_no_further(stub):
    stub.always_fault("query", "401")

    gradings = list(gradings_of(pairs(9), judge_at(stub), PROMPT, concurrency=2))

    assert 1 <= len(stub.requests) == len(gradings) <= 2


def test_cancelled_it_begins_no_further_pair():
    judge = Scripted(*[answer(1)] * 9)
    seen = []

    for grading in gradings_of(
        pairs(9), judge, PROMPT, concurrency=1, cancel=lambda: len(seen) >= 4
    ):
        seen.append(grading)

    assert len(judge.asked) == len(seen) == 4


@pytest.mark.parametrize("ahead", [0, 3])
def test_judge_is_asked_on_while_gradings_are_written_but_not_far_ahead(ahead):
    judge = Scripted(*[answer(1)] * 20)
    begun = []

    for n_taken, _ in enumerate(
        gradings_of(pairs(20), judge, PROMPT, concurrency=1, ahead=ahead), start=1
    ):
        time.sleep(0.02)  # as long as a database takes
        begun.append(len(judge.asked) - n_taken)

    assert len(judge.asked) == 20
    assert max(begun) == ahead


def test_what_goes_wrong_in_a_cache_is_raised_where_gradings_are_taken():
    class Broken(MemoryCache):
        def get(self, key):
            raise OSError(key)

    with pytest.raises(OSError, match=r"^[0-9a-f]{64}$"):
        list(gradings_of(pairs(3), Scripted(answer(1)), PROMPT, cache=Broken()))


def test_gradings_are_not_to_be_taken_inside_of_an_event_loop():
    async def taken():
        return list(gradings_of(pairs(1), Scripted(answer(1)), PROMPT))

    with pytest.raises(RuntimeError, match="an event loop is running"):
        asyncio.run(taken())


def test_as_many_are_under_way_as_wanted(stub):
    stub.delay = 0.05

    list(gradings_of(pairs(24), judge_at(stub), PROMPT, concurrency=8))

    assert stub.most_at_once == 8


def test_estimate_counts_what_must_be_asked(tmp_path, stub):
    judge = judge_at(stub, price_in=1.0, price_out=2.0)
    with GradeCache(tmp_path / "cache") as cache:
        list(gradings_of(pairs(2), judge, PROMPT, cache=cache))
        estimate = estimated([*pairs(5), pairs(5)[-1]], judge, PROMPT, cache=cache)

    assert (estimate.n_pairs, estimate.n_known, estimate.n_asked) == (6, 3, 3)
    sent = sum(len(asked.text) + len(asked.system) for asked in stub.requests) / 2
    assert estimate.tokens_in == pytest.approx(3 * sent / 4, rel=0.01)
    assert estimate.cost == pytest.approx((estimate.tokens_in + 2 * 240) / 1e6)


def test_scale_of_two_grades_is_graded_by_it(stub):
    prompt = GradingPrompt((Grade(0, "No"), Grade(1, "Yes")))

    (grading,) = gradings_of(pairs(1), judge_at(stub), prompt)

    assert grading.grade == 1

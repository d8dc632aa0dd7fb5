"""From cases to outcomes: what is asked, asked again, cached, dropped and told."""

import asyncio
import threading
import time

import pytest

from benchwright.contextual.judging import evaluate_cases, judge_case, judged, outcomes_of
from benchwright.contextual.types import Case, Options
from benchwright.judges.errors import JudgeRefusalError, JudgeSettingError
from benchwright.judges.messages import Image, JudgeFailedError, Reply
from tests.benchwright.contextual.scripted import AsyncScripted, Scripted, answer, case

NO_REASON = Options(include_reason=False)
TOO_FEW = answer(True)


def by_thread(of, judge, options=Options()):  # noqa: B008 options are frozen
    return judged(of, judge, options)


def by_loop(of, judge, options=Options()):  # noqa: B008 options are frozen
    return asyncio.run(judge_case(of, judge, options))


WAYS = [(by_thread, Scripted), (by_loop, Scripted), (by_loop, AsyncScripted)]
each_way = pytest.mark.parametrize(("ask", "kind"), WAYS, ids=["sync", "thread", "async"])


@each_way
def test_one_call_for_all_nodes_and_one_for_the_reason(ask, kind):
    judge = kind(answer(True, False, True))

    outcome = ask(case(3), judge)

    assert outcome.score == pytest.approx(5 / 6)
    assert outcome.is_success is True
    assert [verdict.is_relevant for verdict in outcome.verdicts] == [True, False, True]
    assert outcome.reason == "It is so."
    assert outcome.error is None
    assert [one.kind for one in outcome.answers] == ["verdicts", "reason"]
    assert "0.83 of 1" in judge.asked[1][0]["content"]


@each_way
def test_answer_of_no_use_is_asked_for_once_again_with_what_is_wrong(ask, kind):
    judge = kind(TOO_FEW, answer(False, True))

    outcome = ask(case(2), judge, NO_REASON)

    assert outcome.score == 0.5
    again = judge.asked[1]
    assert again[:2] == judge.asked[0]
    assert again[2]["role"] == "assistant"
    assert "no verdict on node 2" in again[3]["content"]
    assert "no verdict on node 2" in outcome.answers[0].problem
    assert outcome.answers[1].problem == ""


@each_way
def test_second_answer_of_no_use_fails_the_case_with_words(ask, kind):
    judge = kind(TOO_FEW, {"verdicts": {"1": {"verdict": "maybe"}, "2": {"verdict": "no"}}})

    outcome = ask(case(2), judge)

    assert (outcome.score, outcome.is_success, outcome.verdicts) == (None, None, ())
    assert outcome.error.code == "judge-answer"
    assert "'maybe'; expected 'yes' or 'no'" in outcome.error.message
    assert len(judge.asked) == 2
    assert len(outcome.answers) == 2


@each_way
def test_empty_context_is_zero_without_a_call(ask, kind):
    judge = kind()

    outcome = ask(case(0), judge)

    assert (outcome.score, outcome.is_success, judge.asked) == (0.0, False, [])
    assert "Nothing was retrieved" in outcome.reason


@each_way
@pytest.mark.parametrize("part", ["input", "expected_output"])
@pytest.mark.parametrize("nothing", ["", " \n", []], ids=["empty", "blank", "list"])
def test_empty_input_or_expected_output_is_refused_without_a_call(ask, kind, part, nothing):
    judge = kind()

    outcome = ask(case(2, **{part: nothing}), judge)

    assert (outcome.error.code, outcome.score, judge.asked) == ("empty-part", None, [])
    assert f"The {part.replace('_', ' ')} is empty" in outcome.error.message


@each_way
@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [
        (ValueError("no luck"), "judge-object", "raised ValueError: no luck"),
        (JudgeFailedError(JudgeRefusalError(words="no")), "judge-refusal", "declined"),
    ],
)
def test_what_a_judge_raises_is_the_error_of_its_case(ask, kind, raised, code, words):
    outcome = ask(case(2), kind(raised))

    assert outcome.error.code == code
    assert words in outcome.error.message


def test_judge_may_return_text_object_or_reply():
    reply = Reply('{"verdicts": {"1": {"verdict": "yes"}}}', model="m", tokens_in=7, cost=0.1)
    replies = (answer(True), '{"verdicts": {"1": {"verdict": "yes"}}}', reply)

    outcomes = [judged(case(1), Returning(one), NO_REASON) for one in replies]

    assert [outcome.score for outcome in outcomes] == [1.0, 1.0, 1.0]
    assert (outcomes[2].answers[0].model, outcomes[2].tokens_in, outcomes[2].cost) == ("m", 7, 0.1)
    assert outcomes[0].answers[0].model == "Returning"


def test_judge_that_returns_something_else_fails_its_case():
    outcome = judged(case(1), Returning(42))

    assert outcome.error.code == "judge-object"
    assert "returned a int; expected a text, a mapping or a Reply" in outcome.error.message


class Returning:
    def __init__(self, given):
        self.given = given

    def generate(self, messages, schema):
        return self.given


def test_failed_reason_leaves_the_score_and_says_why():
    judge = Scripted(answer(True, False), "no JSON", "still none")

    outcome = judged(case(2), judge)

    assert (outcome.score, outcome.error, outcome.reason) == (1.0, None, None)
    assert outcome.reason_error.code == "judge-answer"
    assert len(outcome.answers) == 3


def test_paid_answer_of_a_failed_call_is_kept():
    paid = Reply("half an ans", tokens_out=4000, cost=0.04)
    outcome = judged(case(1), Scripted(JudgeFailedError(JudgeRefusalError(words="no"), paid)))

    assert outcome.error.code == "judge-refusal"
    assert (outcome.answers[0].text, outcome.cost) == ("half an ans", 0.04)


def test_strict_mode_is_all_or_nothing():
    strict = Options(strict_mode=True, include_reason=False)

    assert judged(case(2), Scripted(answer(True, False)), strict).score == 1.0
    below = judged(case(2), Scripted(answer(False, True)), strict)
    assert (below.score, below.is_success) == (0.0, False)


def test_without_threshold_there_is_no_verdict_on_success():
    options = Options(threshold=None, include_reason=False)

    assert judged(case(2), Scripted(answer(True, False)), options).is_success is None


@pytest.mark.parametrize("threshold", [-0.1, 1.5, float("nan")])
def test_threshold_out_of_range_is_refused(threshold):
    with pytest.raises(JudgeSettingError, match="expected a number from 0 to 1"):
        Options(threshold=threshold)


def test_object_that_cannot_be_asked_is_refused():
    for ask in (by_thread, by_loop):
        with pytest.raises(JudgeSettingError, match="generate"):
            ask(case(1), object())


# --- many cases ----------------------------------------------------------------------------------


class Rule:
    """Finds a node relevant that says "useful"; fails where the input says so."""

    model = "rule"

    def __init__(self):
        self.n_open = self.most_open = self.n_asked = 0

    async def a_generate(self, messages, schema):
        self.n_open += 1
        self.n_asked += 1
        self.most_open = max(self.most_open, self.n_open)
        await asyncio.sleep(0.001)
        self.n_open -= 1
        text = messages[1]["content"]
        if "fail" in text:
            msg = "as you wish"
            raise RuntimeError(msg)
        return answer("useful" in text.partition("NODE 1>>")[2])


def many(n, **failing):
    return [
        Case(f"{failing.get(f'c{number}', 'ask')} {number}", "x", ["useful"], id=f"c{number}")
        for number in range(n)
    ]


def test_outcomes_stand_in_the_order_of_cases_and_errors_stay_with_theirs():
    judge, progress = Rule(), []

    outcomes = asyncio.run(
        evaluate_cases(
            many(50, c7="fail"), judge, NO_REASON, concurrency=8, on_outcome=progress.append
        )
    )

    assert [outcome.case_id for outcome in outcomes] == [f"c{number}" for number in range(50)]
    assert [outcome.case_id for outcome in outcomes if outcome.error] == ["c7"]
    assert {outcome.score for outcome in outcomes if not outcome.error} == {1.0}
    assert sorted(progress, key=outcomes.index) == outcomes
    assert judge.most_open == 8


def test_outcomes_come_while_others_are_under_way():
    seen = []
    for outcome in outcomes_of(many(20), Rule(), NO_REASON, concurrency=4):
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()  # so a database may be written to here
        seen.append(outcome.case_id)

    assert sorted(seen) == sorted(f"c{number}" for number in range(20))


def test_closing_the_iterator_drops_what_is_under_way():
    judge = Rule()
    running = outcomes_of(many(1000), judge, NO_REASON, concurrency=4)

    next(running)
    running.close()

    assert judge.n_asked < 20


def test_cancel_finishes_what_is_under_way_and_begins_nothing():
    judge, done = Rule(), []

    outcomes = asyncio.run(
        evaluate_cases(
            many(100),
            judge,
            NO_REASON,
            concurrency=4,
            on_outcome=done.append,
            cancel=lambda: len(done) >= 10,
        )
    )

    assert 10 <= len(outcomes) <= 13
    assert judge.n_asked == len(outcomes)
    assert all(outcome.score == 1.0 for outcome in outcomes)


def test_judge_without_coroutine_is_asked_in_as_many_threads():
    class Slow:
        open_now, most = 0, 0
        lock = threading.Lock()

        def generate(self, messages, schema):
            with self.lock:
                self.open_now += 1
                self.most = max(self.most, self.open_now)
            time.sleep(0.01)
            with self.lock:
                self.open_now -= 1
            return answer(True)

    judge = Slow()

    outcomes = list(outcomes_of(many(40), judge, NO_REASON, concurrency=10))

    assert len(outcomes) == 40
    assert 5 <= judge.most <= 10


def test_concurrency_below_one_is_refused():
    with pytest.raises(JudgeSettingError, match="concurrency is 0"):
        list(outcomes_of(many(1), Rule(), concurrency=0))


def test_error_of_the_source_of_cases_is_raised():
    def broken():
        yield from many(3)
        msg = "disk gone"
        raise OSError(msg)

    with pytest.raises(OSError, match="disk gone"):
        list(outcomes_of(broken(), Rule(), NO_REASON))


def test_cancel_after_an_outcome_holds_for_code_that_is_not_async():
    judge, done = Rule(), []

    for outcome in outcomes_of(
        many(100), judge, NO_REASON, concurrency=4, cancel=lambda: len(done) >= 10
    ):
        done.append(outcome)

    assert 10 <= len(done) <= 13
    assert judge.n_asked == len(done)


# --- images by address ---------------------------------------------------------------------------

REMOTE = Image(url="https://example.org/a.png", name="https://example.org/a.png")


def test_address_of_an_image_is_passed_on():
    judge = Scripted(answer(True))

    judged(case(1, retrieval_context=[REMOTE]), judge, NO_REASON)

    image = judge.asked[0][1]["content"][1]
    assert image == {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


@each_way
def test_address_of_an_image_is_refused_where_that_is_wanted(ask, kind):
    judge = kind()

    outcome = ask(case(1, retrieval_context=[REMOTE]), judge, Options(remote_images="refuse"))

    assert (outcome.error.code, judge.asked) == ("remote-image", [])
    assert "https://example.org/a.png" in outcome.error.message


@each_way
def test_image_of_a_private_address_is_not_fetched(ask, kind):
    local = Image(url="http://127.0.0.1:9/a.png")

    outcome = ask(case(1, input=["see", local]), kind(), Options(remote_images="fetch"))

    assert outcome.error.code == "remote-image"
    assert "not in the public network" in outcome.error.message

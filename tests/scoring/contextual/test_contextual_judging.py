"""Evaluations: what a judge says, what goes wrong with it, what it costs, and going on."""

import pytest
from django.urls import reverse

from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.retry import JobFinishedError
from benchmarks_app.judges.services.errors import JudgeInUseError
from benchmarks_app.judges.services.judges import change_judge, delete_judge
from benchmarks_app.models import Job
from scoring.contextual.services import judging
from scoring.contextual.services.errors import (
    CasesChosenTwiceError,
    CostCapUsedError,
    CostUnknownError,
    EvaluationActiveError,
    JudgeGoneError,
    NoCasesChosenError,
    NothingToRetryError,
)
from scoring.contextual.services.estimates import estimate
from scoring.contextual.services.evaluating import (
    cancel_evaluation,
    delete_evaluation,
    retry_evaluation,
)
from scoring.contextual.services.importing import delete_case_set
from scoring.contextual.services.results import compare, results_of
from scoring.models import ContextualEvaluation
from tests.judge_stub import JudgeStub
from tests.scoring.making_contextual import (
    CASES,
    HELPS,
    NOT,
    SCORES,
    case,
    case_set,
    evaluation,
    judge,
    judged,
    png,
)

pytestmark = pytest.mark.django_db
PRICES = {"price_in": 1_000_000.0, "price_out": 1_000_000.0}  # a token costs 1


@pytest.fixture(scope="module")
def stub_at_work():
    with JudgeStub() as stub:
        yield stub


@pytest.fixture
def stub(stub_at_work, settings):
    """A judge without scripts, on the loopback, which this site may ask."""
    settings.JUDGE_PRIVATE_ADDRESSES = True
    for kept in (stub_at_work.requests, stub_at_work.scripts, stub_at_work.always):
        kept.clear()
    return stub_at_work


@pytest.fixture
def four(benchmark, owner):
    return case_set(benchmark, owner)


@pytest.fixture
def by(benchmark, owner, stub):
    return judge(benchmark, owner, stub.url, **PRICES)


def scores(of: ContextualEvaluation) -> list[float | None]:
    return list(of.outcomes.order_by("case__number").values_list("score", flat=True))


def done(of: ContextualEvaluation, do_jobs) -> ContextualEvaluation:
    do_jobs()
    return ContextualEvaluation.objects.get(pk=of.pk)


def test_verdicts_make_the_scores_that_a_person_works_out(four, by, owner, do_jobs):
    finished = done(evaluation(four, by, owner), do_jobs)

    assert (finished.state, finished.n_scored, finished.n_failed) == ("done", 4, 0)
    assert scores(finished) == pytest.approx(SCORES, abs=1e-12)
    assert finished.mean == pytest.approx(sum(SCORES) / 4)
    assert finished.n_success == 3
    outcome = finished.outcomes.get(case__case_id="c4")
    assert [verdict["is_relevant"] for verdict in outcome.verdicts] == [True, False, True]
    assert outcome.verdicts[1]["reason"] == "Node 2 is no help."
    assert outcome.reason == "2 nodes help."
    assert finished.cost == finished.tokens_in + finished.tokens_out > 0


def test_cost_is_reckoned_by_the_prices_of_the_start(four, by, owner, do_jobs):
    started = evaluation(four, by, owner)
    change_judge(judge=by, user=owner, price_in=0, price_out=0)

    finished = done(started, do_jobs)

    assert finished.cost == finished.tokens_in + finished.tokens_out


def test_strictly_all_below_one_is_nothing(four, by, owner, do_jobs):
    finished = done(evaluation(four, by, owner, is_strict=True), do_jobs)

    assert scores(finished) == [1.0, 0.0, 0.0, 0.0]
    assert finished.n_success == 1


def test_without_reasons_each_case_is_one_question(four, by, owner, stub, do_jobs):
    finished = done(evaluation(four, by, owner, has_reasons=False, threshold=None), do_jobs)

    assert len(stub.requests) == 4
    assert finished.n_success == 0
    assert set(finished.outcomes.values_list("is_success", flat=True)) == {None}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [({"only_slice": "hard"}, ["c3", "c4"]), ({"only_first": 2}, ["c1", "c2"]), ({}, None)],
)
def test_only_the_chosen_cases_are_judged(four, by, owner, choice, expected):
    finished = evaluation(four, by, owner, **choice)

    ids = list(finished.outcomes.order_by("pk").values_list("case__case_id", flat=True))
    assert ids == (expected or ["c1", "c2", "c3", "c4"])


def test_the_first_of_a_slice_are_refused_and_not_the_whole_slice_asked(four, by, owner):
    both = {"only_slice": "hard", "only_first": 1}

    with pytest.raises(CasesChosenTwiceError, match="The first 1 cases or the slice 'hard'"):
        evaluation(four, by, owner, **both)
    with pytest.raises(CasesChosenTwiceError):
        estimate(four, by, **both)


def test_a_slice_that_nobody_is_in_is_refused(four, by, owner):
    with pytest.raises(NoCasesChosenError, match="in the slice 'none'"):
        evaluation(four, by, owner, only_slice="none")


def test_a_judge_gets_the_bytes_of_an_image(benchmark, owner, by, stub, do_jobs):
    import base64

    cases = case_set(benchmark, owner, [case(1, {"image": "a.png"})], {"a.png": png()})

    result = done(evaluation(cases, by, owner), do_jobs)

    asked = next(request for request in stub.requests if request.images)
    assert asked.images == [f"data:image/png;base64,{base64.b64encode(png()).decode()}"]
    assert (scores(result), result.outcomes.get().error) == ([1.0], "")


# --- faults ----------------------------------------------------------------------------------

FAULTS = {
    "429:0": "judge-busy",
    "500:0": "judge-server",
    "bad-json": "judge-answer",
    "too-few": "judge-answer",
    "wrong-word": "judge-answer",
    "refusal": "judge-refusal",
    "length": "judge-length",
    "echo-key": "judge-answer",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fails_its_case_alone_and_is_told(fault, four, by, owner, stub, signed_in, do_jobs):
    stub.always_fault("question 2 ", fault)

    finished = done(evaluation(four, by, owner, has_reasons=False), do_jobs)

    assert (finished.state, finished.n_scored, finished.n_failed) == ("done", 3, 1)
    outcome = finished.outcomes.get(case__case_id="c2")
    assert (outcome.state, outcome.score) == ("failed", None)
    assert outcome.error_code == FAULTS[fault]
    assert finished.mean == pytest.approx((1 + 0 + 5 / 6) / 3)
    page = signed_in(owner).get(finished.get_absolute_url()).content.decode()
    assert "1 case failed" in page
    assert "Retry the 1 failed" in page
    assert outcome.error_code in page
    url = reverse("scoring:contextual-case", args=["stdlib", finished.pk, 2])
    assert "This case could not be judged" in signed_in(owner).get(url).content.decode()


def test_a_judge_that_hangs_is_given_up_in_time(benchmark, owner, stub, do_jobs):
    cases = case_set(benchmark, owner, CASES[:1])
    slow = judge(benchmark, owner, stub.url, max_attempts=1, timeout_seconds=1)
    stub.always_fault("question 1 ", "hang")

    result = done(evaluation(cases, slow, owner), do_jobs)

    outcome = result.outcomes.get()
    assert (outcome.error_code, result.n_failed) == ("judge-timeout", 1)
    assert "within 1 s" in outcome.error


def test_an_explanation_that_fails_leaves_the_score(four, by, owner, stub, do_jobs):
    stub.script("question 1 ", "", "refusal")

    finished = done(evaluation(four, by, owner), do_jobs)

    outcome = finished.outcomes.get(case__case_id="c1")
    assert (outcome.score, outcome.reason) == (1.0, "")
    assert "declined" in outcome.error


def test_a_wrong_key_ends_it_before_every_case_was_told_so(benchmark, owner, settings, do_jobs):
    settings.JUDGE_PRIVATE_ADDRESSES = True
    cases = case_set(benchmark, owner, [case(n, HELPS) for n in range(1, 40)])
    with JudgeStub(key="the right one") as stub:
        wrong = judge(benchmark, owner, stub.url, key="sk-wrong", concurrency=2)
        result = done(evaluation(cases, wrong, owner), do_jobs)
        n_asked = len(stub.requests)

    assert result.state == "failed"
    assert n_asked < 10
    assert result.n_left > 25
    assert "sk-wrong" not in result.error


def test_judge_in_a_private_network_is_refused_by_the_worker(four, by, owner, settings, do_jobs):
    started = evaluation(four, by, owner)
    settings.JUDGE_PRIVATE_ADDRESSES = False

    finished = done(started, do_jobs)

    assert finished.state == "failed"
    assert "http" in finished.error


# --- going on --------------------------------------------------------------------------------


def test_failed_cases_are_asked_again_and_no_others(four, by, owner, stub, do_jobs):
    stub.always_fault("question 2 ", "refusal")
    finished = done(evaluation(four, by, owner), do_jobs)
    spent, stub.always = finished.cost, {}
    stub.requests.clear()

    retry_evaluation(evaluation=finished, user=owner)
    finished = done(finished, do_jobs)

    assert {asked.text.split("\n")[1] for asked in stub.requests} == {"question 2 of many"}
    assert scores(finished) == pytest.approx(SCORES)
    # What failed was paid as well.
    assert finished.cost > spent


class Lost(BaseException):
    """The worker is gone, in the middle of its work."""


def test_what_is_written_is_not_asked_again_after_a_lost_worker(
    benchmark, owner, stub, monkeypatch, do_jobs
):
    cases = case_set(benchmark, owner, [case(n, HELPS, NOT) for n in range(1, 9)])
    one_by_one = judge(benchmark, owner, stub.url, concurrency=1)
    started = evaluation(cases, one_by_one, owner)
    keep = judging._Course.keep

    def lost_after_three(self, outcome):
        keep(self, outcome)
        if self.n_done == 3:
            raise Lost

    monkeypatch.setattr(judging._Course, "keep", lost_after_three)
    with pytest.raises(Lost):
        jobs.execute(started.job_id, has_heartbeat=False)
    monkeypatch.undo()
    monkeypatch.setattr(jobs, "send", lambda job: None)
    assert started.outcomes.scored().count() == 3
    # The sweeper finds it without a heartbeat, and gives it another attempt.
    Job.objects.filter(pk=started.job_id).update(state="queued", token=None)

    result = done(started, do_jobs)

    assert (result.state, result.n_scored) == ("done", 8)
    n_asked = {n: len(stub.asked_about(f"question {n} ")) for n in range(1, 9)}
    # Two questions each; the fourth case may have been under way when the worker went.
    assert {n_asked[n] for n in (1, 2, 3, 5, 6, 7, 8)} == {2}
    assert n_asked[4] <= 4


def test_a_fenced_attempt_writes_no_outcome(four, by, owner):
    started = evaluation(four, by, owner)
    running = jobs.RunningJob(started.job)
    jobs._take(started.job_id)  # another attempt has it now
    course = judging._Course(running, started)
    outcome = judging.Outcome("c1", score=1.0)

    with pytest.raises(jobs.JobFencedError):
        course.keep(outcome)

    assert not started.outcomes.scored().exists()


def test_cancelling_keeps_what_is_judged(benchmark, owner, stub, monkeypatch, do_jobs):
    cases = case_set(benchmark, owner, [case(n, HELPS) for n in range(1, 9)])
    started = evaluation(cases, judge(benchmark, owner, stub.url, concurrency=1), owner)
    keep = judging._Course.keep

    def cancelled_after_two(self, outcome):
        keep(self, outcome)
        if self.n_done == 2:
            cancel_evaluation(evaluation=started, user=owner)

    monkeypatch.setattr(judging._Course, "keep", cancelled_after_two)

    result = done(started, do_jobs)

    assert (result.state, result.n_scored, result.n_left) == ("cancelled", 2, 6)
    assert result.mean == 1.0
    with pytest.raises(JobFinishedError):
        cancel_evaluation(evaluation=result, user=owner)


def test_a_cancelled_evaluation_is_taken_up_where_it_was(four, by, owner, stub, do_jobs):
    started = evaluation(four, by, owner)
    cancel_evaluation(evaluation=started, user=owner)
    started.refresh_from_db()
    assert started.state == "cancelled"

    retry_evaluation(evaluation=started, user=owner)

    assert scores(done(started, do_jobs)) == pytest.approx(SCORES)


def test_the_cost_limit_begins_no_further_case(benchmark, owner, stub, do_jobs):
    cases = case_set(benchmark, owner, [case(n, HELPS) for n in range(1, 21)])
    one_by_one = judge(benchmark, owner, stub.url, concurrency=1, **PRICES)

    result = done(evaluation(cases, one_by_one, owner, cost_cap=500), do_jobs)

    assert result.state == "capped"
    assert 0 < result.n_scored < 20
    per_case = result.cost / result.n_scored
    assert 500 <= result.cost < 500 + 2 * per_case
    with pytest.raises(CostCapUsedError):
        retry_evaluation(evaluation=result, user=owner)
    retry_evaluation(evaluation=result, user=owner, cost_cap=1_000_000)
    assert done(result, do_jobs).n_scored == 20


def test_a_cost_limit_needs_prices(four, benchmark, owner, stub):
    free = judge(benchmark, owner, stub.url, name="free")

    with pytest.raises(CostUnknownError):
        evaluation(four, free, owner, cost_cap=1)


def test_what_is_under_way_is_not_deleted_or_started_twice(four, by, owner):
    started = evaluation(four, by, owner)

    for refused in (
        lambda: delete_evaluation(evaluation=started, user=owner),
        lambda: delete_case_set(case_set=four, user=owner),
        lambda: retry_evaluation(evaluation=started, user=owner),
    ):
        with pytest.raises(EvaluationActiveError):
            refused()
    with pytest.raises(JudgeInUseError):
        delete_judge(judge=by, user=owner)


def test_a_whole_evaluation_has_nothing_to_retry(four, by, owner):
    with pytest.raises(NothingToRetryError):
        retry_evaluation(evaluation=judged(four, by, owner), user=owner)


def test_verdicts_stay_when_the_judge_goes(four, by, owner):
    evaluation = judged(four, by, owner)
    delete_judge(judge=by, user=owner)
    evaluation.refresh_from_db()

    assert (evaluation.judge_name, evaluation.model, evaluation.outcomes.count()) == (
        "stub",
        "tiny",
        4,
    )
    evaluation.outcomes.update(state="waiting", score=None)
    with pytest.raises(JudgeGoneError):
        retry_evaluation(evaluation=evaluation, user=owner)


def test_another_model_does_not_go_on_with_the_first_ones_verdicts(four, by, owner):
    evaluation = judged(four, by, owner)
    evaluation.outcomes.filter(case__number=1).update(state="waiting", score=None)
    change_judge(judge=by, user=owner, model="other")

    with pytest.raises(JudgeGoneError):
        retry_evaluation(evaluation=evaluation, user=owner)


# --- what it comes to ------------------------------------------------------------------------


def test_an_estimate_is_near_what_the_stub_counts(four, by, owner, do_jobs):
    expected = estimate(four, by)
    finished = done(evaluation(four, by, owner), do_jobs)

    assert (expected.n_cases, expected.n_calls) == (4, 8)
    # The stub counts the user's message only, four characters a token.
    assert finished.tokens_in < expected.tokens_in < 20 * finished.tokens_in
    assert expected.cost == expected.tokens_in + expected.tokens_out


def test_slices_have_means_of_their_own(four, by, owner, do_jobs):
    results = results_of(done(evaluation(four, by, owner), do_jobs))

    assert {row.name: (row.n, round(row.mean, 4)) for row in results.slices} == {
        "easy": (2, 0.75),
        "hard": (2, 0.4167),
        "short": (1, 0.5),
    }
    assert results.overall.low < results.overall.mean < results.overall.high
    assert results.overall.success_share == 0.75


def test_two_evaluations_are_held_against_each_other(four, by, owner, do_jobs):
    before = judged(four, by, owner)  # 1, 1, 1, 1
    after = done(evaluation(four, by, owner), do_jobs)  # 1, 1/2, 0, 5/6

    result = compare(before, after)

    assert [pair.case_id for pair in result.pairs] == ["c3", "c2", "c4", "c1"]
    assert result.difference == pytest.approx(sum(SCORES) / 4 - 1)
    assert (result.n_better, result.n_worse, result.n_equal) == (0, 3, 1)
    # c2: both nodes; c3: the first; c4: the third.
    assert (result.n_apart, result.n_nodes) == (4, 9)

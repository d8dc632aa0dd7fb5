"""A run that answers a handful of hidden queries: its mean would be about these alone."""

import pytest

from scoring.models import Phase, ScoreSet, Submission
from scoring.submissions.services import submitting
from tests import factories
from tests.scoring.hiding import HIDDEN, PUBLIC, hiding_benchmark, hiding_release, lines

pytestmark = pytest.mark.django_db
State = Submission.State


@pytest.fixture
def send(do_jobs):
    """A function that submits a run of some queries to the phase with the hidden split."""
    return _sender(hiding_benchmark(), do_jobs)


@pytest.fixture
def send_where_one_has_no_grade(do_jobs):
    """The same, where the hidden split has a query `u0` that nobody graded."""
    benchmark = hiding_benchmark()
    factories.query(benchmark, "u0", family=benchmark.families.create(split="test"))
    return _sender(benchmark, do_jobs)


def _sender(benchmark, do_jobs):
    release = hiding_release(benchmark)
    sam = factories.member(benchmark, "sam", "submitter")
    phase = Phase.objects.get(release=release, split="test")

    def send(answered: list[str]) -> Submission:
        content = lines({qid: [f"{qid}-good", f"{qid}-x"] for qid in answered}).encode()
        upload = factories.waiting_upload(benchmark, f"{len(answered)}.run", content, sam)
        submission = submitting.accept_submission(
            phase=phase, user=sam, upload=upload, name=f"run {len(answered)}"
        )
        do_jobs()
        return Submission.objects.get(pk=submission.pk)

    return send


@pytest.mark.parametrize("n", [1, 5, 23])
def test_a_run_of_few_hidden_queries_is_refused_and_costs_nothing(send, n):
    refused = send(PUBLIC + HIDDEN[:n])

    assert refused.state == State.INVALID
    (problem,) = refused.problems
    assert problem["code"] == "few-hidden-queries"
    assert (
        f"answers {n} of the 30 queries of hidden splits; expected at least 24" in problem["text"]
    )
    assert not ScoreSet.objects.exists()
    assert submitting.n_left_today(phase=refused.phase, user=refused.submitter) == (
        refused.phase.daily_limit
    )


@pytest.mark.parametrize("besides", [[], PUBLIC])
@pytest.mark.parametrize("qid", ["u0", HIDDEN[0]])
def test_a_refusal_does_not_tell_whether_a_hidden_query_is_graded(
    send_where_one_has_no_grade, qid, besides
):
    (problem,) = send_where_one_has_no_grade([*besides, qid]).problems

    assert problem["code"] == "few-hidden-queries"
    assert "answers 1 of the 31 queries of hidden splits; expected at least 25" in problem["text"]


@pytest.mark.parametrize("n", [24, 30])
def test_most_hidden_queries_are_enough(send, n):
    assert send(HIDDEN[:n]).state == State.SCORED

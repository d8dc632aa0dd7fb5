"""A refused file without its bad lines, and a run that is sent on to a later phase."""

import gzip

import pytest
from django.urls import reverse

from benchmarks_app.models import QrelSet, Run
from benchwright.releases.options import ReleaseOptions
from scoring.models import Phase, Score, Submission
from scoring.scores.services.errors import NothingToLeaveOutError, NotSentOnError
from scoring.submissions.services.resending import (
    best_to_send_on,
    lines_to_leave_out,
    score_without_lines,
    send_on,
)
from scoring.submissions.services.submitting import n_left_today
from scoring.submissions.services.withdrawing import withdraw_submission
from tests import factories
from tests.scoring.conftest import GOOD, GRADES

pytestmark = pytest.mark.django_db
BAD_LINES = b"q1 Q0 d7 9 n/a s\nq1 Q0 d1 9 0.1 s\nq2 d4\n"
WORSE = b"q1 Q0 d3 1 3.0 s\nq2 Q0 d5 1 5.0 s\nq3 Q0 d6 1 1 s\n"


@pytest.fixture
def refused(submit, sam, do_jobs) -> Submission:
    submission = submit(sam, GOOD + BAD_LINES)
    do_jobs()
    submission.refresh_from_db()
    return submission


def url(view: str, submission: Submission) -> str:
    return reverse(f"scoring:{view}", args=[submission.phase.benchmark.slug, submission.pk])


def means(run: Run) -> dict[str, float]:
    scores = Score.objects.filter(score_set__run=run, slice_name="")
    return dict(scores.values_list("measure", "mean"))


# --- without the bad lines -----------------------------------------------------------------------


def test_rest_of_a_refused_file_has_the_scores_of_a_file_without_the_lines(
    refused, submit, sam, maintainer, signed_in, do_jobs, phase
):
    clean = submit(maintainer, GOOD, name="clean")
    left = n_left_today(phase=phase, user=sam)
    page = signed_in(sam).get(refused.get_absolute_url()).content.decode()
    assert "Leave 3 lines out and score" in page

    answer = signed_in(sam).post(url("submission-leave-out", refused), {"n": 3})
    do_jobs()

    scored = sam.submissions.get(state="scored")
    clean.refresh_from_db()
    assert answer.url == scored.get_absolute_url()
    assert [line["line"] for line in scored.left_out] == [6, 7, 8]
    assert scored.run.metadata["lines left out"] == 3
    assert means(scored.run) == means(clean.run)
    assert n_left_today(phase=phase, user=sam) == left - 1
    assert "Scored without 3 lines" in signed_in(sam).get(answer.url).content.decode()
    # Once is enough: what is counted is not offered again.
    again = signed_in(sam).post(url("submission-leave-out", refused), {"n": 3}, follow=True)
    assert "cannot be scored without its bad lines" in again.content.decode()


@pytest.mark.parametrize("n", [0, 2, 4])
def test_other_number_of_lines_than_is_wrong_is_not_taken(refused, sam, n):
    with pytest.raises(NothingToLeaveOutError, match=f"3 lines are wrong, and {n} were agreed to"):
        score_without_lines(submission=refused, user=sam, n=n)


def test_nobody_else_and_no_closed_phase_scores_a_refused_file(refused, sam, maintainer, phase):
    with pytest.raises(NothingToLeaveOutError):
        score_without_lines(submission=refused, user=maintainer, n=3)

    Phase.objects.filter(pk=phase.pk).update(daily_limit=0)
    refused.phase.refresh_from_db()
    with pytest.raises(NothingToLeaveOutError):
        score_without_lines(submission=refused, user=sam, n=3)


def test_more_bad_lines_than_agreed_to_are_refused_again(submit, sam, do_jobs):
    submission = submit(sam, GOOD + BAD_LINES, n_agreed=2)
    do_jobs()

    submission.refresh_from_db()
    assert (submission.state, submission.left_out, len(submission.problems)) == ("invalid", [], 3)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b'{"q1": {"d1": "high"}, "q2": {"d4": 2}}', id="an object has no lines"),
        pytest.param(GOOD + b"q1 d1\n" * 100, id="reading stopped before the end"),
        pytest.param(b"other Q0 d1 1 1.0 s\n", id="the file as a whole"),
        pytest.param(gzip.compress(GOOD)[:-9], id="a file that ends too soon"),
    ],
)
def test_what_single_lines_do_not_mend_is_not_offered(submit, sam, do_jobs, content):
    submission = submit(sam, content)
    do_jobs()

    submission.refresh_from_db()
    assert (submission.state, lines_to_leave_out(submission)) == ("invalid", 0)


def test_lines_are_not_offered_beside_what_no_line_is_wrong_with(refused):
    whole = {"file": "my.run", "line": 0, "text": "it is too deep", "code": "file-problems"}
    refused.problems = [*refused.problems, whole]

    assert lines_to_leave_out(refused) == 0


def test_a_file_of_bad_lines_alone_is_not_offered_once_they_were_left_out(submit, sam, do_jobs):
    again = submit(sam, b"q1 Q0 d1 1 n/a s\n", n_agreed=1)
    do_jobs()

    again.refresh_from_db()
    assert (again.state, len(again.problems), lines_to_leave_out(again)) == ("invalid", 1, 0)


# --- on to another phase -------------------------------------------------------------------------


@pytest.fixture
def later(phase, benchmark, publish) -> Phase:
    """A phase of the next release, which is open beside the first."""
    release = publish(factories.qrel_set(benchmark, GRADES, name="more"), "2.0.0")
    return Phase.objects.get(release=release)


def test_best_run_is_offered_and_sent_on_as_the_same_run(
    submit, sam, do_jobs, phase, later, benchmark, signed_in
):
    phase_of_first = Phase.objects.get(pk=phase.pk)
    Phase.objects.filter(pk=phase.pk).update(closes_at=None)
    best = submit(sam, GOOD, name="best", phase=phase_of_first)
    submit(sam, WORSE, name="newer", phase=phase_of_first)
    do_jobs()
    assert best_to_send_on(benchmark, later, sam) == best

    home = signed_in(sam).get(f"{benchmark.get_absolute_url()}?phase={later.pk}").content.decode()
    assert url("submission-send-on", best) in home
    signed_in(sam).post(url("submission-send-on", best), {"phase": later.pk})
    do_jobs()

    sent, best = later.submissions.get(), Submission.objects.get(pk=best.pk)
    assert (sent.state, sent.run) == ("scored", best.run)
    assert best_to_send_on(benchmark, later, sam) is None


def test_a_withdrawn_run_is_neither_offered_nor_sent_on(
    submit, sam, do_jobs, phase, later, benchmark
):
    """Of two with one score the newest is offered."""
    Phase.objects.filter(pk=phase.pk).update(closes_at=None)
    phase.refresh_from_db()
    older, newer = (
        submit(sam, content, name=name, phase=phase)
        for name, content in (("older", GOOD), ("newer", GOOD.replace(b"3.0 s", b"3.5 s")))
    )
    do_jobs()
    assert best_to_send_on(benchmark, later, sam) == newer
    newer.refresh_from_db()

    withdrawn = withdraw_submission(submission=newer, user=sam)

    assert best_to_send_on(benchmark, later, sam) == older
    with pytest.raises(NotSentOnError):
        send_on(submission=withdrawn, phase=later, user=sam)


def test_a_run_that_was_sent_on_is_withdrawn_from_both_phases(submit, sam, do_jobs, later, phase):
    Phase.objects.filter(pk=phase.pk).update(closes_at=None)
    phase.refresh_from_db()
    submission = submit(sam, GOOD, phase=phase)
    do_jobs()
    submission.refresh_from_db()
    send_on(submission=submission, phase=later, user=sam)
    do_jobs()

    withdraw_submission(submission=submission, user=sam)

    assert not sam.submissions.filter(withdrawn_at=None).exists()
    assert sam.submissions.count() == 2


def test_best_run_is_the_one_by_the_measure_that_was_declared_first(
    submit, sam, do_jobs, benchmark, later
):
    """Also where that is none of every board."""
    grades = factories.qrel_set(benchmark, GRADES, name="declared")
    QrelSet.objects.filter(pk=grades.pk).update(n_relevant=1)
    grades.refresh_from_db()
    options = ReleaseOptions(measures=("R@1",))
    phase = Phase.objects.get(release=factories.release(grades, "3.0.0", options=options))
    best = submit(sam, GOOD, name="best", phase=phase)
    submit(sam, WORSE, name="newer", phase=phase)
    do_jobs()
    Phase.objects.filter(pk=later.pk).update(closes_at=None)

    assert best_to_send_on(benchmark, Phase.objects.get(pk=later.pk), sam) == best


def test_nobody_sends_on_the_run_of_another(submit, sam, maintainer, do_jobs, later, phase):
    submission = submit(sam, GOOD)
    do_jobs()

    with pytest.raises(NotSentOnError):
        send_on(submission=Submission.objects.get(pk=submission.pk), phase=later, user=maintainer)

"""Submissions: who may send how much, and nothing twice."""

import gzip
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.utils import timezone

from benchmarks_app.jobs.services import jobs, sweeping
from benchmarks_app.jobs.services.retry import cancel, retry
from benchmarks_app.models import AuditEvent, Job, Run, Upload
from benchmarks_app.store.errors import StoreAwayError
from scoring.models import Phase, ScoreSet, Submission
from scoring.scores.services import scoring
from scoring.scores.services.errors import (
    DailyLimitError,
    NameInUseError,
    NoOpenPhaseError,
    SubmittedBeforeError,
)
from scoring.submissions.selectors.submissions import state_of
from scoring.submissions.services import scoring_submission
from scoring.submissions.services.submitting import (
    n_left_today,
    phase_open_in,
    submit_file,
    why_closed,
)
from scoring.submissions.services.withdrawing import withdraw_submission
from tests import factories
from tests.scoring.conftest import GOOD, GRADES, means

State = Submission.State


def refreshed(submission: Submission) -> Submission:
    return Submission.objects.select_related("run", "job").get(pk=submission.pk)


def test_published_release_opens_a_phase_once(release, publish, benchmark):
    from scoring.listeners import open_and_score

    open_and_score(sender=None, release=release)

    phase = Phase.objects.get(release=release)
    assert (phase.name, phase.split, phase.daily_limit) == ("Open submissions", "test", 20)
    assert phase_open_in(benchmark) == phase


def test_benchmark_without_release_takes_no_runs(benchmark):
    with pytest.raises(NoOpenPhaseError, match="need a published release"):
        phase_open_in(benchmark)


def test_newest_release_takes_the_runs(benchmark, release, publish):
    newer = publish(benchmark.qrel_sets.get(), "1.1.0")

    assert phase_open_in(benchmark).release == newer


def test_valid_submission_becomes_a_run_with_scores(submit, sam, release, do_jobs):
    submission = submit(sam, description="BM25", metadata={"model": "bm25"})
    assert submission.state == State.RECEIVED

    do_jobs()

    submission = refreshed(submission)
    assert submission.state == State.SCORED
    assert submission.job.state == Job.State.DONE
    run = submission.run
    assert (run.kind, run.owner, run.metadata) == (Run.Kind.SUBMITTED, sam, {"model": "bm25"})
    assert run.upload.sha256 == run.sha256
    assert means(run, release)["RR@10"] == pytest.approx(2 / 3)


def test_gzip_run_is_taken(submit, sam, do_jobs):
    submission = submit(sam, gzip.compress(GOOD))

    do_jobs()

    assert refreshed(submission).state == State.SCORED


def test_acceptance_is_written_to_the_audit(submit, sam):
    submit(sam)

    event = AuditEvent.objects.get(action="submit-run")
    assert (event.actor, event.target) == (sam, "mine")


def test_invalid_file_names_its_lines_and_leaves_no_run(submit, sam, do_jobs):
    submission = submit(sam, GOOD + b"q1 Q0 d7 9 n/a s\nq1 Q0 d1 9 0.1 s\nq2 d4\n")

    do_jobs()

    submission = refreshed(submission)
    assert submission.state == State.INVALID
    assert [problem["line"] for problem in submission.job.problems] == [6, 7, 8]
    assert "expected a number" in submission.job.problems[0]["text"]
    assert not Run.objects.filter(kind=Run.Kind.SUBMITTED).exists()
    assert not ScoreSet.objects.exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"# nothing\n", "ranks no document"), (b"other Q0 d1 1 1.0 s\n", "share no query")],
)
def test_run_that_cannot_be_scored_is_invalid_and_says_why(submit, sam, do_jobs, content, words):
    submission = submit(sam, content)

    do_jobs()

    submission = refreshed(submission)
    assert submission.state == State.INVALID
    assert words in submission.job.error + str(submission.job.problems)


def test_missing_and_extra_queries_are_counted_beside_the_scores(submit, sam, release, do_jobs):
    submission = submit(sam, b"q1 Q0 d1 1 1 s\nnew Q0 d1 1 1 s\nnewer Q0 d1 1 1 s\n")

    do_jobs()

    run = refreshed(submission).run
    score_set = ScoreSet.objects.get(run=run, release=release)
    assert (score_set.n_queries, score_set.n_missing, score_set.n_extra) == (3, 2, 2)


def test_same_bytes_again_are_recognised(submit, sam, do_jobs):
    first = submit(sam)
    with pytest.raises(SubmittedBeforeError, match=r"as 'mine'.*not scored again"):
        submit(sam, name="while it waits")
    do_jobs()

    with pytest.raises(SubmittedBeforeError) as caught:
        submit(sam, name="when it is scored")

    assert caught.value.submission == first
    assert Submission.objects.count() == 1


def test_same_bytes_of_another_person_are_taken(submit, sam, maintainer, do_jobs):
    submit(sam, name="sam's")
    submit(maintainer, name="mia's")

    do_jobs()

    assert set(Submission.objects.values_list("state", flat=True)) == {State.SCORED}


def test_same_bytes_may_be_sent_again_after_they_were_invalid(submit, sam, do_jobs):
    submit(sam, b"wrong\n")
    do_jobs()

    assert submit(sam, b"wrong\n").state == State.RECEIVED


def test_daily_limit_refuses_and_says_when_the_next_is_possible(submit, phase, sam, do_jobs):
    Phase.objects.update(daily_limit=2)
    phase.refresh_from_db()
    first = submit(sam, GOOD, "one")
    submit(sam, GOOD + b"q2 Q0 d5 2 1 s\n", "two")
    earlier = timezone.now() - timedelta(hours=20)
    Submission.objects.filter(pk=first.pk).update(created_at=earlier)

    with pytest.raises(DailyLimitError) as caught:
        submit(sam, GOOD + b"q2 Q0 d8 2 1 s\n", "three")

    assert f"{earlier + timedelta(hours=24):%Y-%m-%d %H:%M} UTC" in str(caught.value)
    assert n_left_today(phase=phase, user=sam) == 0


def test_lowered_limit_waits_until_enough_submissions_are_a_day_old(submit, phase, sam):
    times = [timezone.now() - timedelta(hours=hours) for hours in (20, 10, 5)]
    for number, at in enumerate(times):
        submission = submit(sam, GOOD + b"q2 Q0 x%d 2 1 s\n" % number, f"run {number}")
        Submission.objects.filter(pk=submission.pk).update(created_at=at)
    Phase.objects.update(daily_limit=2)

    with pytest.raises(DailyLimitError) as caught:
        submit(sam, GOOD, "one more")

    assert caught.value.next_at == times[1] + timedelta(hours=24)


def test_invalid_failed_old_and_foreign_submissions_take_no_place(submit, phase, sam, maintainer):
    Phase.objects.update(daily_limit=1)
    phase.refresh_from_db()
    for number, change in enumerate(
        [
            {"state": State.INVALID},
            {"state": State.FAILED},
            {"created_at": timezone.now() - timedelta(hours=24, minutes=1)},
            {"submitter": maintainer},
        ]
    ):
        submission = submit(sam, GOOD + b"q2 Q0 x%d 2 1 s\n" % number, f"run {number}")
        Submission.objects.filter(pk=submission.pk).update(**change)
        assert n_left_today(phase=phase, user=sam) == 1


def test_name_of_a_run_or_of_a_waiting_submission_is_refused(submit, sam, maintainer, do_jobs):
    submit(sam, name="taken")
    with pytest.raises(NameInUseError, match="'taken'"):
        submit(maintainer, name="taken")
    do_jobs()

    with pytest.raises(NameInUseError, match="Choose another name"):
        submit(maintainer, GOOD + b"q2 Q0 d5 2 1 s\n", name="taken")


def test_name_of_a_withdrawn_run_stays_in_use_for_its_own_bytes_too(
    submit, sam, do_jobs, phase, benchmark, publish
):
    submission = submit(sam)
    do_jobs()
    withdraw_submission(submission=refreshed(submission), user=sam)
    later = publish(factories.qrel_set(benchmark, GRADES, name="more"), "2.0.0").phases.get()

    with pytest.raises(NameInUseError):
        submit(sam, phase=later)


def test_file_for_a_phase_that_is_switched_off_is_told_so(phase, sam):
    Phase.objects.update(daily_limit=0)
    phase.refresh_from_db()

    with pytest.raises(NoOpenPhaseError, match="its phases are switched off"):
        submit_file(user=sam, file=SimpleUploadedFile("a.run", GOOD), phase=phase, name="mine")


def test_a_coming_phase_is_announced_unless_it_is_switched_off(phase, benchmark):
    tomorrow = timezone.now() + timedelta(days=1)
    Phase.objects.update(opens_at=tomorrow, closes_at=None)
    assert why_closed(benchmark) == f"'{phase.name}' opens on {tomorrow:%Y-%m-%d %H:%M} UTC."

    Phase.objects.update(daily_limit=0)
    assert why_closed(benchmark) == "its phases are switched off."


def test_file_whose_name_is_refused_is_not_kept(phase, sam, maintainer):
    terms = {"phase": phase, "name": "taken"}
    submit_file(user=sam, file=SimpleUploadedFile("a.run", GOOD), **terms)

    with pytest.raises(NameInUseError):
        submit_file(user=maintainer, file=SimpleUploadedFile("b.run", GOOD + b"\n"), **terms)

    assert list(Upload.objects.values_list("name", flat=True)) == ["a.run"]
    assert [name for name in factories.stored_below("uploads") if name.endswith("b.run")] == []


def test_name_taken_while_the_job_waited_makes_the_submission_invalid(
    submit, sam, benchmark, do_jobs
):
    from tests import factories

    submission = submit(sam, name="late")
    factories.run(benchmark, "q1 Q0 d1 1 1 s", name="late")

    do_jobs()

    submission = refreshed(submission)
    assert (submission.state, submission.run) == (State.INVALID, None)
    assert "'late'" in submission.job.error
    assert not ScoreSet.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        {
            "closes_at": timezone.now() - timedelta(minutes=1),
            "opens_at": timezone.now() - timedelta(days=2),
        },
        {"opens_at": timezone.now() + timedelta(days=1)},
        {"daily_limit": 0},
    ],
)
def test_closed_phase_takes_nothing(submit, phase, sam, benchmark, change):
    Phase.objects.update(**change)

    with pytest.raises(NoOpenPhaseError):
        submit(sam)
    with pytest.raises(NoOpenPhaseError):
        phase_open_in(benchmark)


# --- jobs that die, repeat or are fenced ---------------------------------------------------


def test_second_message_of_a_scored_submission_changes_nothing(submit, sam, do_jobs):
    submission = submit(sam)
    do_jobs()
    Job.objects.filter(pk=submission.job_id).update(state=Job.State.QUEUED)

    do_jobs()

    assert refreshed(submission).state == State.SCORED
    assert (Run.objects.count(), ScoreSet.objects.count()) == (1, 1)


# Of a job that is over in less time than anybody is told in, no stage is written.
@pytest.mark.parametrize(("told_after", "stage"), [(0, State.SCORING), (60, State.RECEIVED)])
@pytest.mark.parametrize("error", [OperationalError("the database went away"), StoreAwayError()])
def test_attempt_that_died_before_its_commit_is_repeated_whole(
    submit, sam, do_jobs, monkeypatch, told_after, stage, error
):
    submission = submit(sam)
    monkeypatch.setattr(jobs, "PROGRESS_EVERY_SECONDS", told_after)
    with monkeypatch.context() as broken:

        def die(**kwargs):
            raise error

        broken.setattr(scoring, "store_scores", die)
        do_jobs()
    assert (Run.objects.count(), ScoreSet.objects.count()) == (0, 0)
    assert refreshed(submission).state == stage
    Job.objects.update(state=Job.State.QUEUED, token=None)

    do_jobs()

    assert refreshed(submission).state == State.SCORED
    assert (Run.objects.count(), ScoreSet.objects.count()) == (1, 1)


def test_submission_whose_files_stay_away_has_failed_and_is_not_invalid(
    submit, sam, do_jobs, monkeypatch, phase
):
    submission = submit(sam)

    def away(**kwargs):
        raise StoreAwayError

    monkeypatch.setattr(scoring, "store_scores", away)
    for _ in range(3):
        assert refreshed(submission).state not in (State.INVALID, State.FAILED)
        do_jobs()

    submission = refreshed(submission)
    assert (submission.state, submission.job.state) == (State.FAILED, Job.State.FAILED)
    assert submission.problems[0]["text"] == str(StoreAwayError())
    assert n_left_today(phase=phase, user=sam) == phase.daily_limit


def test_attempt_that_was_given_up_for_lost_writes_nothing(submit, sam, do_jobs, monkeypatch):
    submission = submit(sam)
    evaluate = scoring.scored_run

    def taken_over_meanwhile(**kwargs):
        Job.objects.filter(pk=submission.job_id).update(state=Job.State.QUEUED, token=None)
        return evaluate(**kwargs)

    with monkeypatch.context() as slow:
        slow.setattr(scoring, "scored_run", taken_over_meanwhile)
        do_jobs()

    assert (Run.objects.count(), ScoreSet.objects.count()) == (0, 0)
    do_jobs()
    assert refreshed(submission).state == State.SCORED


def test_fault_of_ours_is_told_as_failed(submit, sam, do_jobs, monkeypatch):
    submission = submit(sam)
    monkeypatch.setattr(scoring, "scored_run", lambda **kwargs: 1 / 0)

    do_jobs()

    assert refreshed(submission).state == State.FAILED


def test_submission_follows_a_job_that_was_given_up(submit, sam, settings):
    submission = submit(sam)
    long_ago = timezone.now() - timedelta(hours=1)
    lost = {"state": Job.State.RUNNING, "token": "0" * 32, "heartbeat_at": long_ago}
    Job.objects.filter(pk=submission.job_id).update(**lost, attempt=1)
    sweeping.sweep()
    assert Job.objects.get(pk=submission.job_id).state == Job.State.QUEUED

    Job.objects.filter(pk=submission.job_id).update(**lost, attempt=settings.JOB_MAX_ATTEMPTS)
    sweeping.sweep()

    assert refreshed(submission).state == State.FAILED


def test_submission_of_a_cancelled_job_has_failed_and_costs_nothing(submit, sam, phase):
    submission = submit(sam)

    cancel(job=submission.job, user=sam)

    submission = refreshed(submission)
    assert submission.state == State.FAILED
    assert submission.problems[0]["text"] == "Cancelled by sam."
    assert n_left_today(phase=phase, user=sam) == phase.daily_limit


@pytest.fixture
def cancelled(submit, sam):
    """A function that sends a run and cancels its job."""

    def send_and_cancel(content: bytes, name: str) -> Submission:
        submission = submit(sam, content, name)
        cancel(job=submission.job, user=sam)
        return refreshed(submission)

    return send_and_cancel


OTHERS = [GOOD + f"q2 Q0 d{number} 2 1 s\n".encode() for number in (5, 8)]


def test_cancelled_submissions_take_their_places_when_they_are_started_again(
    cancelled, sam, do_jobs
):
    Phase.objects.update(daily_limit=1)
    first, second = (cancelled(content, f"n{n}") for n, content in enumerate(OTHERS))

    retry(job=first.job, user=sam)
    with pytest.raises(DailyLimitError, match="You have submitted 1 runs"):
        retry(job=second.job, user=sam)
    do_jobs()

    assert refreshed(first).state == State.SCORED
    assert refreshed(second).state == State.FAILED
    assert Job.objects.get(pk=second.job_id).state == Job.State.CANCELLED


def test_submission_of_yesterday_that_is_started_again_counts_today(cancelled, submit, sam):
    Phase.objects.update(daily_limit=1)
    submission = cancelled(OTHERS[0], "early")
    Submission.objects.update(created_at=timezone.now() - timedelta(days=2))

    retry(job=submission.job, user=sam)

    with pytest.raises(DailyLimitError):
        submit(sam, OTHERS[1], "late")


def test_cancelled_submission_is_not_started_again_by_its_sender_when_the_phase_is_over(
    cancelled, sam, maintainer
):
    submission = cancelled(GOOD, "mine")
    now = timezone.now()
    Phase.objects.update(opens_at=now - timedelta(days=2), closes_at=now - timedelta(days=1))

    with pytest.raises(NoOpenPhaseError, match="closed on"):
        retry(job=submission.job, user=sam)
    assert retry(job=submission.job, user=maintainer).state == Job.State.QUEUED


def test_a_keeper_starts_a_submission_of_their_own_again_whatever_the_limits(
    submit, maintainer, do_jobs
):
    submission = submit(maintainer)
    cancel(job=submission.job, user=maintainer)
    now = timezone.now()
    Phase.objects.update(opens_at=now - timedelta(days=2), closes_at=now - timedelta(days=1))

    retry(job=refreshed(submission).job, user=maintainer)
    do_jobs()

    assert refreshed(submission).state == State.SCORED


def test_bytes_that_were_sent_again_meanwhile_are_not_started_again(cancelled, submit, sam):
    submission = cancelled(GOOD, "mine")
    submit(sam, GOOD, "again")

    with pytest.raises(SubmittedBeforeError):
        retry(job=submission.job, user=sam)


def test_submission_whose_worker_was_lost_is_shown_as_queued(submit, sam):
    submission = submit(sam)
    Submission.objects.update(state=State.SCORING)
    Job.objects.filter(pk=submission.job_id).update(attempt=1)

    assert state_of(refreshed(submission)) == State.QUEUED
    scoring_submission.set_back_submission(submission.job_id)
    assert refreshed(submission).state == State.QUEUED


# --- the command ---------------------------------------------------------------------------


def test_command_submits_for_a_team_with_facts(phase, sam, tmp_path):
    from io import StringIO

    from django.core.management import call_command

    from benchmarks_app.people.services.teams import make_team

    team = make_team(name="Owls", user=sam)
    (tmp_path / "my.run").write_bytes(GOOD)
    (tmp_path / "meta.yml").write_text("tag: from-yaml\n")
    options = {"team": "owls", "visibility": "team", "fact": ["latency_ms=12.5", "k1=0.9"]}
    out = StringIO()

    call_command(
        "submit_run",
        *("stdlib", tmp_path / "my.run"),
        user="sam",
        ir_metadata=tmp_path / "meta.yml",
        stdout=out,
        **options,
    )

    run = Submission.objects.get().run
    assert (run.team, run.visibility) == (team, "team")
    assert (run.metadata["latency_ms"], run.metadata["k1"]) == (12.5, "0.9")
    assert run.metadata["system"] == "from-yaml"
    assert "nDCG@10\t0.6546" in out.getvalue()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fact": ["latency_ms"]}, "is not NAME=VALUE"),
        ({"fact": ["type=neural"]}, "expected one of sparse"),
        ({"team": "nobody's"}, "You are not in the team"),
        ({"phase": 0}, "Phase 0 takes no runs"),
    ],
)
def test_command_says_what_is_wrong(phase, sam, tmp_path, options, words):
    from django.core.management import CommandError, call_command

    (tmp_path / "my.run").write_bytes(GOOD)

    with pytest.raises(CommandError, match=words):
        call_command("submit_run", "stdlib", tmp_path / "my.run", user="sam", **options)
    assert not Submission.objects.exists()


def test_owners_own_command_is_not_held_to_the_limit_of_a_day(phase, owner, sam, tmp_path):
    from io import StringIO

    from django.core.management import CommandError, call_command

    Phase.objects.update(daily_limit=1)
    for number, document in enumerate(("d5", "d8")):
        path = tmp_path / f"{number}.run"
        path.write_bytes(GOOD + f"q2 Q0 {document} 2 1 s\n".encode())
        call_command("submit_run", "stdlib", path, name=f"ours {number}", stdout=StringIO())

    assert Submission.objects.filter(submitter=owner, state=State.SCORED).count() == 2
    path.write_bytes(GOOD)
    call_command("submit_run", "stdlib", path, user="sam", name="theirs", stdout=StringIO())
    path.write_bytes(GOOD + b"q2 Q0 d9 2 1 s\n")
    with pytest.raises(CommandError, match="in the last 24 hours"):
        call_command("submit_run", "stdlib", path, user="sam", name="more", stdout=StringIO())

"""Sending again what is here already: a refused file without its bad lines, a run to a later phase.

Both are submissions like any other: they take a place, stand under the phase's rules, and are
checked and scored from the bytes that were sent.
"""

from datetime import datetime
from operator import itemgetter
from typing import Any

from benchmarks_app.models import Benchmark, Run, Upload, User
from benchwright.errors import DEFAULT_LIMIT, FileProblemsError
from benchwright.runs.aggregation import AGGREGATIONS
from scoring.models import Phase, Submission
from scoring.scores.selectors.phases import UNCOUNTED, state_of_phase
from scoring.scores.services.errors import NothingToLeaveOutError, NotSentOnError
from scoring.scores.services.firewall import measure_seen
from scoring.submissions.selectors.submissions import problems_of_submission, submission_rows
from scoring.submissions.services.sight import rows_as_seen
from scoring.submissions.services.submitting import accept_submission

RUNS_LOOKED_AT = 100
OF_LINES = FileProblemsError.code


# --- a refused file, without its bad lines -------------------------------------------------------


def lines_to_leave_out(submission: Submission) -> int:
    """How many lines are wrong with a refused file; 0 where leaving them out does not mend it.

    All of them have to be known: of a file with very many reading stopped before its end. And
    they were not left out already: then nothing was left that could be scored.
    """
    if submission.state != Submission.State.INVALID or _upload_of(submission) is None:
        return 0
    problems = problems_of_submission(submission)
    of_lines = [
        problem for problem in problems if problem["line"] and problem.get("code") == OF_LINES
    ]
    is_all = len(of_lines) == len(problems) < DEFAULT_LIMIT
    n_lines = len({problem["line"] for problem in of_lines}) if is_all else 0
    parameters = submission.job.parameters if submission.job else {}
    return n_lines if n_lines > parameters.get("n_agreed", 0) else 0


def n_offered(submission: Submission, user: User) -> int:
    """As `lines_to_leave_out`, for who sent the file, while its phase is open and it is not scored.

    The same bytes may have been sent again meanwhile.
    """
    is_theirs = submission.submitter_id == user.pk
    if not is_theirs or state_of_phase(submission.phase) != "open":
        return 0
    n = lines_to_leave_out(submission)
    return n if n and not was_sent_again(submission) else 0


def was_sent_again(submission: Submission) -> bool:
    """Whether the bytes of a refused submission were sent to its phase once more, and counted."""
    upload = _upload_of(submission)
    own = Submission.objects.filter(phase=submission.phase_id, submitter=submission.submitter_id)
    counted = own.exclude(state__in=UNCOUNTED)
    return upload is not None and counted.filter(job__parameters__sha256=upload.sha256).exists()


def score_without_lines(*, submission: Submission, user: User, n: int) -> Submission:
    """Send a refused file again, without its `n` bad lines; the new submission names them.

    Raises
    ------
    NothingToLeaveOutError
        If that does not mend the file, it is somebody else's, or other lines are wrong than `n`.

    As well as what `accept_submission` raises.
    """
    offered, upload = n_offered(submission, user), _upload_of(submission)
    if not offered or upload is None:
        reason = "it is not a refused file of yours in an open phase, wrong in single lines alone."
        raise NothingToLeaveOutError(name=submission.name, reason=reason)
    if n != offered:
        raise NothingToLeaveOutError(
            name=submission.name, reason=f"{offered} lines are wrong, and {n} were agreed to."
        )
    return accept_submission(
        phase=submission.phase,
        user=user,
        upload=upload,
        name=submission.name,
        team=submission.team,
        n_agreed=n,
        **_terms_of(submission),
    )


def _upload_of(submission: Submission) -> Upload | None:
    parameters = submission.job.parameters if submission.job else {}
    return Upload.objects.filter(pk=parameters.get("upload") or 0).first()


def _terms_of(submission: Submission) -> dict[str, Any]:
    """What was said of the run when it was sent."""
    parameters = submission.job.parameters if submission.job else {}
    plain = ("description", "metadata", "visibility", "aggregation")
    dates = ("public_from", "anonymous_until")
    return {
        **{name: parameters[name] for name in plain if name in parameters},
        **{
            name: datetime.fromisoformat(parameters[name]) for name in dates if parameters.get(name)
        },
    }


# --- a run, to a later phase ---------------------------------------------------------------------


def best_to_send_on(benchmark: Benchmark, phase: Phase, user: User) -> Submission | None:
    """One's best run in the phase one sent something to last, where an open one has none of one's.

    Best is what one sees: rounded means where grades are hidden, and of equal ones the newest.
    """
    own = Submission.objects.filter(submitter=user, phase__benchmark=benchmark)
    counted = own.exclude(state__in=UNCOUNTED)
    if state_of_phase(phase) != "open" or counted.filter(phase=phase).exists():
        return None
    scored = own.filter(
        state=Submission.State.SCORED, withdrawn_at=None, run__upload__isnull=False
    ).exclude(phase=phase)
    related = ("phase__release__benchmark", "phase__benchmark", "run", "submitter", "team", "job")
    newest_first = scored.select_related(*related).order_by("-created_at", "-pk")
    newest = newest_first.first()
    if newest is None:
        return None
    of_phase = list(newest_first.filter(phase=newest.phase_id)[:RUNS_LOOKED_AT])
    measure = measure_seen(user, newest.phase.release).name
    valued = [
        (score.mean, row.submission)
        for row in rows_as_seen(user, submission_rows(of_phase))
        for score in row.stored
        if score.measure == measure and score.mean is not None
    ]
    return max(valued, key=itemgetter(0))[1] if valued else None


def send_on(*, submission: Submission, phase: Phase, user: User) -> Submission:
    """Send a scored run, as it was sent, to another phase.

    Raises
    ------
    NotSentOnError
        If it is somebody else's, not scored, or its file is no longer here.

    As well as what `accept_submission` raises.
    """
    run = submission.run
    is_theirs = submission.submitter_id == user.pk
    is_standing = submission.state == Submission.State.SCORED and not submission.withdrawn_at
    if run is None or run.upload is None or not is_theirs or not is_standing:
        reason = "only who sent a run sends it on, while it stands and its file is here."
        raise NotSentOnError(name=submission.name, reason=reason)
    return accept_submission(
        phase=phase,
        user=user,
        upload=run.upload,
        name=submission.name,
        team=submission.team,
        n_agreed=len(submission.left_out),
        **_terms_now(run),
    )


def _terms_now(run: Run) -> dict[str, Any]:
    """What stands with the run; in another phase it is the same one."""
    aggregation = run.metadata.get("aggregation")
    return {
        "description": run.description,
        "metadata": run.metadata,
        "visibility": run.visibility,
        "public_from": run.public_from,
        "anonymous_until": run.anonymous_until,
        # A fact of this name may have been sent with a run of documents, in words of its own.
        "aggregation": aggregation if aggregation in AGGREGATIONS else "",
    }

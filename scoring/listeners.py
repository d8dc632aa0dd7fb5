"""What this app does when something happens below it."""

from typing import Any

from benchmarks_app.models import Release


def open_and_score(sender: Any, release: Release, **unused: Any) -> None:
    """A published release takes submissions, and the runs that are there get their scores on it."""
    # Most processes see no release published, and what scores loads numpy and scipy.
    from scoring.gates.services.gating import resume_waiting_gates
    from scoring.rescoring.services.rescoring import start_scoring_runs
    from scoring.scores.selectors.score_sets import runs_without_scores
    from scoring.submissions.services.phases import open_submissions

    open_submissions(release=release)
    if runs_without_scores(release).exists():
        start_scoring_runs(release=release, user=release.created_by)
    resume_waiting_gates(release)


def furnish_demo(sender: Any, **facts: Any) -> None:
    """The demo gets phases, a gate and cases; what makes them is loaded for nothing else."""
    from scoring.demo import furnish

    furnish(sender, **facts)

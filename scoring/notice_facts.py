"""Who may be told of submissions and gates: who may see their pages, when it is told."""

from collections.abc import Mapping
from typing import Any

from benchmarks_app.models import Benchmark, User
from benchmarks_app.models.notices import Event
from benchmarks_app.notice_facts import sees
from benchmarks_app.permissions import Action, may
from scoring.models import Submission


@sees(Event.SUBMISSION_SCORED)
def sees_submission(user: User, benchmark: Benchmark | None, about: Mapping[str, Any]) -> bool:
    if benchmark is None or not may(user, Action.SUBMIT, benchmark):
        return False
    return Submission.objects.visible_to(user).filter(pk=about["submission"]).exists()


@sees(Event.GATE_DECIDED)
def sees_gate(user: User, benchmark: Benchmark | None, about: Mapping[str, Any]) -> bool:
    # Most processes tell of no gate.
    from scoring.gates.selectors import gates_seen_by

    if benchmark is None or not may(user, Action.SEE_RESULTS, benchmark):
        return False
    return gates_seen_by(user, benchmark).filter(pk=about["gate"]).exists()

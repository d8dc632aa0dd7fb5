"""What this app knows of a person, and where names of people are written."""

from collections.abc import Iterator
from typing import Any

from benchmarks_app.models import User
from benchmarks_app.person_records import LASTING, WRITTEN, records
from benchmarks_app.selectors.people import told
from scoring.models import (
    CaseSet,
    EmbeddingPair,
    GatePolicy,
    GateRehearsal,
    GateResult,
    JudgeEndpoint,
    LiveRun,
    LiveSystem,
    OnlineResult,
    Phase,
    ReportedScore,
    Submission,
)

WRITTEN.update(
    {
        CaseSet: ("name", "file_name", "notes"),
        EmbeddingPair: ("name", "description", "files"),
        GateRehearsal: ("name", "error"),
        JudgeEndpoint: ("name",),
        LiveRun: ("asked_as",),
        LiveSystem: ("name", "description"),
        OnlineResult: ("note",),
        ReportedScore: ("source", "note", "metadata"),
        Submission: ("name", "problems"),
    }
)
LASTING.update(
    {
        GatePolicy: ("benchmark", ("name", "content")),
        GateResult: ("policy__benchmark", ("report",)),
        Phase: ("benchmark", ("name", "description")),
        ReportedScore: ("benchmark", ("system",)),
    }
)


@records("submissions")
def _submissions(user: User) -> Iterator[dict[str, Any]]:
    yield from told(
        user.submissions.order_by("pk"),
        benchmark="phase__benchmark__slug",
        phase="phase__name",
        name="name",
        state="state",
        created_at="created_at",
        withdrawn_at="withdrawn_at",
    )

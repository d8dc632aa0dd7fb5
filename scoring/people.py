"""What this app knows of a person, and where names of people are written."""

from benchmarks_app.person_records import LASTING, WRITTEN, columns
from scoring.models import (
    CaseSet,
    EmbeddingPair,
    GatePolicy,
    GateRehearsal,
    GateResult,
    LiveRun,
    LiveSystem,
    OnlineResult,
    PersonVerdict,
    Phase,
    ReportedScore,
    Submission,
)

WRITTEN.update(
    {
        CaseSet: ("name", "file_name", "notes"),
        EmbeddingPair: ("name", "description", "files"),
        GateRehearsal: ("name", "error"),
        LiveRun: ("asked_as",),
        LiveSystem: ("name", "description"),
        OnlineResult: ("note",),
        PersonVerdict: ("reason",),
        ReportedScore: ("source", "note", "metadata"),
        Submission: ("name", "problems", "left_out"),
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


OF_BENCHMARK = {"benchmark": "benchmark__slug"}
columns(
    "submissions",
    lambda user: user.submissions.all(),
    *("name", "state", "created_at", "withdrawn_at"),
    benchmark="phase__benchmark__slug",
    phase="phase__name",
)
columns(
    "live-systems",
    lambda user: user.live_systems.all(),
    *("name", "description", "url"),
    **OF_BENCHMARK,
)
columns(
    "case-sets", lambda user: user.case_sets.all(), "name", "file_name", "notes", **OF_BENCHMARK
)
columns(
    "case-verdicts",
    lambda user: user.node_verdicts.all(),
    *("node", "is_relevant", "reason", "created_at"),
    benchmark="case__case_set__benchmark__slug",
    case="case__case_id",
)
columns(
    "embedding-pairs",
    lambda user: user.embedding_pairs.all(),
    *("name", "description", "files", "created_at"),
    **OF_BENCHMARK,
)
columns(
    "reported-scores",
    lambda user: user.reported_scores.all(),
    *("system", "measure", "value", "source", "note", "metadata", "created_at"),
    **OF_BENCHMARK,
)
columns(
    "online-results",
    lambda user: user.online_results.all(),
    *("outcome", "metric", "note", "created_at"),
    benchmark="gate__policy__benchmark__slug",
)

"""The shared nouns; import them from here."""

from benchmarks_app.models.audit import AuditEvent, Forgetting
from benchmarks_app.models.candidates import CandidateList
from benchmarks_app.models.collection import (
    Benchmark,
    Change,
    Corpus,
    CorpusImage,
    CorpusVersion,
    Document,
    DocumentContent,
    Grade,
    Guideline,
    Unit,
)
from benchmarks_app.models.grouping import FamilyChange, FamilyLink, Grouping
from benchmarks_app.models.jobs import Job, WorkerHeartbeat
from benchmarks_app.models.judges import JudgeEndpoint
from benchmarks_app.models.logs import PendingLog, QueryLog, QuerySample
from benchmarks_app.models.notices import Delivery, MailChoice, Notice, Webhook
from benchmarks_app.models.people import (
    ApiToken,
    Identity,
    Invitation,
    Membership,
    Role,
    Scope,
    Team,
    User,
)
from benchmarks_app.models.qrels import Qrel, QrelSet
from benchmarks_app.models.queries import Query, QueryDraw, QueryFamily
from benchmarks_app.models.releases import Release
from benchmarks_app.models.requests import KeyedRequest
from benchmarks_app.models.runs import Run, Upload
from benchmarks_app.models.slices import Slice, SliceMember
from benchmarks_app.models.splits import ContaminatedQuery, ContaminationCheck, SplitPlan
from benchmarks_app.models.store import Backup, LeftFile, StoreCheck

__all__ = [
    "ApiToken",
    "AuditEvent",
    "Backup",
    "Benchmark",
    "CandidateList",
    "Change",
    "ContaminatedQuery",
    "ContaminationCheck",
    "Corpus",
    "CorpusImage",
    "CorpusVersion",
    "Delivery",
    "Document",
    "DocumentContent",
    "FamilyChange",
    "FamilyLink",
    "Forgetting",
    "Grade",
    "Grouping",
    "Guideline",
    "Identity",
    "Invitation",
    "Job",
    "JudgeEndpoint",
    "KeyedRequest",
    "LeftFile",
    "MailChoice",
    "Membership",
    "Notice",
    "PendingLog",
    "Qrel",
    "QrelSet",
    "Query",
    "QueryDraw",
    "QueryFamily",
    "QueryLog",
    "QuerySample",
    "Release",
    "Role",
    "Run",
    "Scope",
    "Slice",
    "SliceMember",
    "SplitPlan",
    "StoreCheck",
    "Team",
    "Unit",
    "Upload",
    "User",
    "Webhook",
    "WorkerHeartbeat",
]

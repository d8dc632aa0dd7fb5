"""What this app knows of a person, and where names of people are written."""

import re
from collections.abc import Iterator
from typing import Any

from axes.models import AccessAttempt, AccessLog
from django.contrib.admin.models import LogEntry
from django.db.models import Q, QuerySet

from benchmarks_app.common.selectors.factors import factors_of
from benchmarks_app.forwarding import told_network
from benchmarks_app.models import (
    AuditEvent,
    Backup,
    Benchmark,
    CandidateList,
    ContaminationCheck,
    Corpus,
    Grade,
    Guideline,
    Invitation,
    Job,
    JudgeEndpoint,
    KeyedRequest,
    QrelSet,
    Query,
    QueryLog,
    Release,
    Run,
    Slice,
    SliceMember,
    StoreCheck,
    Team,
    Upload,
    User,
)
from benchmarks_app.person_records import LASTING, WRITTEN, columns, records, told

WRITTEN.update(
    {
        AuditEvent: ("target", "detail"),
        Backup: ("broken", "error"),
        CandidateList: ("name", "origin"),
        ContaminationCheck: ("name",),
        Corpus: ("name",),
        Invitation: ("note",),
        Job: ("title", "parameters", "message", "error", "problems", "result", "result_url"),
        JudgeEndpoint: ("name",),
        KeyedRequest: ("answer",),
        LogEntry: ("object_repr", "change_message"),
        QrelSet: ("name",),
        Query: ("excluded_reason",),
        QueryLog: ("name",),
        Run: ("name", "description", "metadata"),
        Slice: ("description",),
        SliceMember: ("reason",),
        StoreCheck: ("broken",),
        Team: ("name",),
        Upload: ("name", "imported_as", "reading"),
    }
)
LASTING.update(
    {
        Benchmark: ("pk", ("name", "slug", "description", "licence", "citation")),
        Grade: ("benchmark", ("name", "anchor")),
        Guideline: ("benchmark", ("text",)),
        Release: ("benchmark", ("notes", "manifest", "deprecated_reason")),
        Slice: ("benchmark", ("name",)),
    }
)


class Person(str):
    """How events name a person: by number, for a name would outlive the account."""


PERSON = re.compile(r"user ([1-9][0-9]{0,17})", re.ASCII)


def named(user_id: int) -> Person:
    return Person(f"user {user_id}")


def events_of(user: User) -> QuerySet[AuditEvent]:
    """What somebody did, and what was done about them."""
    return AuditEvent.objects.filter(Q(actor=user) | Q(target=named(user.pk)))


@records("account")
def _account(user: User) -> Iterator[dict[str, Any]]:
    yield {
        "username": user.username,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "email": user.email,
        "verified_email": user.verified_email,
        "language": user.language,
        "is_staff": user.is_staff,
        "is_superuser": user.is_superuser,
        "joined_at": user.date_joined,
        "last_sign_in_at": user.last_login,
    }


@records("invitations")
def _invitations(user: User) -> Iterator[dict[str, Any]]:
    """Those made, with what was noted, and those accepted: an address may be another's."""
    about = {"benchmark": "benchmark__slug", "role": "role", "created_at": "created_at"}
    ends = {"expires_at": "expires_at", "accepted_at": "accepted_at", "revoked_at": "revoked_at"}
    for row in told(user.invitations_made.order_by("pk"), note="note", **about, **ends):
        yield {"as": "inviter", **row}
    accepted = user.invitations_accepted.order_by("pk")
    for row in told(accepted, email="email", **about, **ends):
        yield {"as": "invited", **row}


@records("sign-ins")
def _sign_ins(user: User) -> Iterator[dict[str, Any]]:
    """Whoever failed under their name may be somebody else, of whom the network alone is told."""
    where = {"at": "attempt_time", "address": "ip_address"}
    signed_in = AccessLog.objects.filter(username=user.username)
    for row in told(signed_in, browser="user_agent", signed_out_at="logout_time", **where):
        yield {"result": "signed in", **row}
    failed = AccessAttempt.objects.filter(username=user.username)
    for row in told(failed, n_failures="failures_since_start", **where):
        yield {"result": "failed", **row, "address": told_network(row["address"] or "")}


@records("events")
def _events(user: User) -> Iterator[dict[str, Any]]:
    """Other people are not named: who did something about the person is "somebody else"."""
    rows = told(
        events_of(user).order_by("pk"),
        at="at",
        action="action",
        benchmark="benchmark__slug",
        on="target",
        detail="detail",
        by="actor_id",
    )
    who = {user.pk: "you", None: "the site"}
    for row in rows:
        yield {**row, "by": who.get(row["by"], "somebody else")}


@records("factors")
def _factors(user: User) -> Iterator[dict[str, Any]]:
    """Without what is secret of them."""
    for factor in factors_of(user):
        yield {
            "kind": factor.type,
            "name": factor.data.get("name", ""),
            "created_at": factor.created_at,
            "last_used_at": factor.last_used_at,
        }


OF_BENCHMARK = {"benchmark": "benchmark__slug"}
columns("memberships", lambda user: user.memberships, "role", since="created_at", **OF_BENCHMARK)
columns("teams", lambda user: user.teams, "name")
columns(
    "tokens",
    lambda user: user.api_tokens,
    *("name", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at"),
    begins_with="hint",
)
columns("identities", lambda user: user.identities, "issuer", "subject", "created_at", "used_at")
columns(
    "uploads", lambda user: user.uploads, "name", "sha256", "size", "created_at", **OF_BENCHMARK
)
columns(
    "runs",
    lambda user: user.runs,
    *("name", "description", "metadata", "visibility", "sha256", "created_at"),
    **OF_BENCHMARK,
)
columns("jobs", lambda user: user.jobs, "kind", "title", "state", "created_at", **OF_BENCHMARK)
columns("judges", lambda user: user.judges, "name", **OF_BENCHMARK)
columns("corpora", lambda user: user.corpora, "name")
columns("candidate-lists", lambda user: user.candidate_lists, "name", "origin", **OF_BENCHMARK)
# What was changed has no name here: it may be that of another person.
columns(
    "staff-pages",
    lambda user: LogEntry.objects.filter(user=user),
    at="action_time",
    kind="content_type__model",
    number="object_id",
    flag="action_flag",
)


@records("other-work")
def _other_work(user: User) -> Iterator[dict[str, Any]]:
    """How many rows of each kind name the person as who made or decided something."""
    for relation in sorted(User._meta.related_objects, key=_name_of):
        n = relation.related_model._base_manager.filter(**{relation.field.name: user.pk}).count()
        if n:
            yield {"kind": _name_of(relation), "n": n}


def _name_of(relation: Any) -> str:
    return f"{relation.related_model._meta.verbose_name}: {relation.field.verbose_name}"

"""The audit log: which events there are, whom they are about, page after page."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple, Self

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from benchmarks_app.common.selectors.people import PERSON, named
from benchmarks_app.models import AuditEvent, Benchmark, User
from benchmarks_app.models.audit import SIGN_INS
from benchwright.formats.numbers import row_key

PAGE_SIZE = 50
CHUNK = 2000
# Events by what one looks for; whatever is none of these is a change of the benchmark's work.
KINDS: dict[str, tuple[str, ...]] = {
    "roles": (
        *("member-add", "member-role", "member-remove", "member-blindness", "pool-people"),
        *("invitation-create", "invitation-accept", "invitation-revoke"),
        *("team-create", "team-add", "team-join", "team-leave", "team-change"),
    ),
    "sign-ins": SIGN_INS,
    "accounts": (
        *("account-create", "account-change", "email-change", "address-verify"),
        *("password-change", "password-reset", "identity-link"),
    ),
    "two-factor": ("factor-add", "factor-remove", "recovery-codes-create", "recovery-code-use"),
    "tokens": ("api-token-create", "api-token-revoke"),
    "reads": ("read-hidden-grades", "read-judgments"),
    "exports": (
        *("export-release", "export-judgments", "download-qrels"),
        *("export-audit", "export-person"),
    ),
    "deletions": (
        *("user-delete", "user-anonymise", "delete-cases", "delete-contamination", "delete-draft"),
        *("delete-embeddings", "delete-judge", "delete-live-system", "delete-qrels"),
        *("delete-slice", "delete-verdicts", "delete-webhook", "discard-log", "discard-snapshot"),
        *("known-grade-remove", "remove-reported", "withdraw-run"),
    ),
}
CHANGES = "changes"
KIND_LABELS = {
    "roles": "roles, invitations and teams",
    "sign-ins": "sign-ins",
    "accounts": "accounts and passwords",
    "two-factor": "second factors",
    "tokens": "API tokens",
    "reads": "reads of hidden grades and judgments",
    "exports": "exports and downloads",
    "deletions": "deletions",
    CHANGES: "all other changes",
}
KIND_OF = {action: kind for kind, actions in KINDS.items() for action in actions}


@dataclass(frozen=True)
class Asked:
    """Which events are asked for; what is empty does not narrow them. Days are whole, in UTC."""

    kind: str = ""
    person: str = ""
    since: date | None = None
    until: date | None = None
    text: str = ""

    @property
    def problem(self) -> str:
        """What is wrong with `until`, or ""."""
        is_turned = self.since and self.until and self.until < self.since
        return "The last day is before the first." if is_turned else ""


@dataclass(frozen=True)
class Key:
    """Where a page ends: the next one has the events before this."""

    at: datetime
    pk: int

    def __str__(self) -> str:
        return f"{self.at.isoformat()}~{self.pk}"

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The key that was written so; None where it is none."""
        at, _, pk = text.partition("~")
        try:
            moment = parse_datetime(at)
            key = row_key(pk)
            if moment is None or moment.tzinfo is None or key is None:
                return None
            return cls(moment.astimezone(UTC), key)
        except (ValueError, OverflowError):
            return None


class EventsPage(NamedTuple):
    events: list[AuditEvent]
    next_key: Key | None


def kind_of(event: AuditEvent) -> str:
    return KIND_OF.get(event.action, CHANGES)


@dataclass(frozen=True)
class Events:
    """Events that are asked for, and how an index gives them in their order.

    They are the rows of any of `branches`: equalities, each of which has an index that ends with
    the time. A database that is asked for all at once may read the whole log for a few rare ones.
    """

    rows: QuerySet[AuditEvent]
    branches: tuple[dict[str, Any], ...] = ()


def events_asked_for(benchmark: Benchmark | None, filters: Asked) -> Events:
    """Events of one benchmark, or of the whole site, the newest first."""
    events = AuditEvent.objects.select_related("actor", "benchmark").order_by("-at", "-pk")
    if benchmark is not None:
        events = events.filter(benchmark=benchmark)
    if filters.kind == CHANGES:
        events = events.exclude(action__in=list(KIND_OF))
    if filters.since:
        events = events.filter(at__gte=_midnight(filters.since))
    if filters.until and filters.until < date.max:
        events = events.filter(at__lt=_midnight(filters.until + timedelta(days=1)))
    if filters.text:
        has_text = Q(target__icontains=filters.text) | Q(action__icontains=filters.text)
        for is_ascii in (True, False):  # as SQLite and as PostgreSQL write JSON
            written = json.dumps(filters.text, ensure_ascii=is_ascii)[1:-1]
            has_text |= Q(detail_text__icontains=written)
        events = events.annotate(detail_text=Cast("detail", TextField())).filter(has_text)
    branches: list[dict[str, Any]] = [{"action": action} for action in KINDS.get(filters.kind, ())]
    if filters.person:
        pk = User.objects.filter(username=filters.person).values_list("pk", flat=True).first()
        if pk is None:
            return Events(events.none())
        by_or_about: tuple[dict[str, Any], ...] = ({"actor": pk}, {"target": named(pk)})
        branches = [
            {**branch, **condition} for branch in branches or [{}] for condition in by_or_about
        ]
    return Events(events, tuple(branches))


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=timezone.get_default_timezone())


def page_before(events: Events, key: Key | None, size: int) -> EventsPage:
    """So many events before the key; the cost does not depend on how many come before them."""
    rows = events.rows
    if key is not None:
        rows = rows.filter(Q(at__lt=key.at) | Q(at=key.at, pk__lt=key.pk), at__lte=key.at)
    if events.branches:
        keys = {
            row
            for branch in events.branches
            for row in rows.filter(**branch).values_list("at", "pk")[: size + 1]
        }
        newest = sorted(keys, reverse=True)[: size + 1]
        rows = rows.filter(pk__in=[pk for _, pk in newest])
    page = list(rows[: size + 1])
    last = page[size - 1] if len(page) > size else None
    return EventsPage(page[:size], Key(last.at, last.pk) if last else None)


def all_pages(events: Events) -> Iterator[list[AuditEvent]]:
    """Every event, some thousands at a time, so that memory does not grow with their number."""
    key: Key | None = None
    while True:
        page = page_before(events, key, CHUNK)
        if page.events:
            yield page.events
        key = page.next_key
        if key is None:
            return


def people_named(events: Sequence[AuditEvent]) -> dict[str, User]:
    """The people whom events are about, by how the events name them; one query for all."""
    numbers = {match[1] for event in events if (match := PERSON.fullmatch(event.target))}
    return {named(pk): user for pk, user in User.objects.in_bulk(map(int, numbers)).items()}


def as_object(event: AuditEvent, people: dict[str, User]) -> dict[str, Any]:
    """An event as it leaves the site: `by` is who did it, `about` whom it was done to."""
    about = people.get(event.target)
    return {
        "id": event.pk,
        "at": event.at.isoformat(),
        "kind": kind_of(event),
        "action": event.action,
        "by": event.actor.username if event.actor_id and event.actor else None,
        "benchmark": event.benchmark.slug if event.benchmark_id and event.benchmark else None,
        "target": event.target,
        "about": about.username if about else None,
        "detail": event.detail,
    }

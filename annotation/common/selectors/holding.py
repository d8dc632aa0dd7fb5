"""Who has which documents of a pool, and what waits for whom."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from annotation.models import Judgment, Pool, Question, Slot
from benchmarks_app.models import Role, User
from benchmarks_app.permissions import ALLOWED, Action


@dataclass(frozen=True)
class Holder:
    """`n_aside` documents wait for an answer; `until` is when the last one held comes free."""

    person: User
    role: str
    is_named: bool
    n_done: int
    n_held: int
    n_aside: int
    until: datetime | None

    @property
    def has_some(self) -> bool:
        return self.n_held + self.n_aside > 0


def holders_of(pool: Pool) -> list[Holder]:
    """Everybody who may judge the pool, and whoever else has documents of it, by name."""
    counts = {row["annotator"]: row for row in _counts(pool)}
    roles = dict(pool.benchmark.memberships.values_list("user", "role"))
    named = set(pool.pool_annotators.values_list("annotator", flat=True))
    judges = {user for user, role in roles.items() if role in ALLOWED[Action.JUDGE]}
    people = User.objects.in_bulk((named & judges or judges) | counts.keys())
    nothing = {"n_done": 0, "n_held": 0, "n_aside": 0, "until": None}
    holders = [
        Holder(
            person=person,
            role=Role(roles[key]).label if key in roles else "no longer a member",
            is_named=key in named,
            **{name: counts.get(key, nothing)[name] for name in nothing},
        )
        for key, person in people.items()
    ]
    return sorted(holders, key=lambda holder: str(holder.person).lower())


def _counts(pool: Pool) -> QuerySet:
    is_held = Q(state=Slot.State.CLAIMED, lease_expires_at__gt=Now())
    return (
        Slot.objects.filter(pool=pool, annotator__isnull=False)
        .order_by()
        .values("annotator")
        .annotate(
            n_done=Count("pk", filter=Q(state=Slot.State.DONE)),
            n_held=Count("pk", filter=is_held),
            n_aside=Count("pk", filter=Q(state=Slot.State.ASIDE)),
            until=Max("lease_expires_at", filter=is_held),
        )
    )


def second_labels(pool: Pool) -> QuerySet[Slot]:
    """Further labels that are wanted of documents with a grade, and that nobody is giving.

    Where all that was said is that the document cannot be judged, they are its first.
    """
    grades = Judgment.events.current().filter(
        slot__entry=OuterRef("entry"), slot__kind=Slot.Kind.LABEL, slot__state=Slot.State.DONE
    )
    labels = Slot.objects.filter(pool=pool, kind=Slot.Kind.LABEL)
    return labels.claimable().filter(Exists(grades.exclude(grade=None)))


def open_questions(pool: Pool) -> QuerySet[Question]:
    return Question.objects.filter(entry__pool=pool, answered_at=None)


def judges_of(pool: Pool) -> QuerySet[User]:
    """Members of the benchmark whose role lets them judge, by name."""
    may = pool.benchmark.memberships.filter(role__in=ALLOWED[Action.JUDGE])
    return User.objects.filter(pk__in=may.values("user"), is_active=True).order_by("username")

"""Slices renamed, registered and taken away."""

from django.db import transaction
from django.utils import timezone

from benchmarks_app.common.services import audit
from benchmarks_app.models import Slice, SliceMember, User
from benchmarks_app.models.slices import SMALLEST_SLICE
from benchmarks_app.result_facts import n_results_seen
from benchmarks_app.slices.services.records import (
    members_digest,
    members_of,
    refuse_name,
    refuse_registered,
    save_named,
)
from benchwright.slices.errors import (
    SliceAlreadyRegisteredError,
    SliceHasSuggestionsError,
    SliceInUseError,
    SliceRegisteredError,
    SliceTooSmallError,
)
from benchwright.slices.expressions import parse_expression


@transaction.atomic
def change_slice(
    *, of: Slice, actor: User, name: str, description: str, minimum: int = SMALLEST_SLICE
) -> Slice:
    """Another name, description or minimum; of a registered slice only the description.

    Raises
    ------
    SliceRegisteredError
        If a registered slice would get another name or minimum.
    SliceNameError, SliceTakenError
        If the name will not do.
    SliceInUseError
        If another slice's rule names it.
    """
    locked = Slice.objects.select_for_update().select_related("benchmark").get(pk=of.pk)
    if name.strip() != locked.name:
        refuse_registered(locked, "name")
        _refuse_named_elsewhere(locked)
        locked.name = refuse_name(locked.benchmark, name, but=locked)
    if minimum != locked.minimum:
        refuse_registered(locked, "minimum")
        locked.minimum = max(minimum, SMALLEST_SLICE)
    locked.description = description
    save_named(locked)
    audit.record(actor=actor, action="change-slice", benchmark=locked.benchmark, target=locked.name)
    return locked


@transaction.atomic
def delete_slice(*, of: Slice, actor: User) -> None:
    """Remove a slice; its queries stay.

    Raises
    ------
    SliceRegisteredError
        If it is registered.
    SliceInUseError
        If another slice's rule names it.
    """
    locked = Slice.objects.select_for_update().select_related("benchmark").get(pk=of.pk)
    if locked.is_registered:
        raise SliceRegisteredError(name=locked.name, what="members, name and existence")
    _refuse_named_elsewhere(locked)
    audit.record(actor=actor, action="delete-slice", benchmark=locked.benchmark, target=locked.name)
    locked.delete()


def _refuse_named_elsewhere(of: Slice) -> None:
    others = Slice.objects.filter(benchmark=of.benchmark, kind=Slice.Kind.EXPRESSION)
    named = [
        other.name
        for other in others
        if of.name in parse_expression(other.rule.get("expression", "id is missing")).slices
    ]
    if named:
        raise SliceInUseError(name=of.name, others=", ".join(f"'{name}'" for name in named))


@transaction.atomic
def register_slice(*, of: Slice, actor: User) -> Slice:
    """Fix a slice's members, rule and name for good, so that a gate may use it.

    Raises
    ------
    SliceAlreadyRegisteredError
        If it is registered.
    SliceHasSuggestionsError
        If there are suggestions that nobody has decided on.
    SliceTooSmallError
        If it has fewer members than its minimum.
    """
    locked = Slice.objects.select_for_update().select_related("benchmark").get(pk=of.pk)
    if locked.is_registered:
        since = f"{locked.registered_at:%Y-%m-%d}"
        raise SliceAlreadyRegisteredError(name=locked.name, since=since)
    n_suggested = locked.members.filter(state=SliceMember.State.SUGGESTED).count()
    qids = members_of(locked)
    if len(qids) < locked.minimum:
        raise SliceTooSmallError(
            name=locked.name,
            n_members=len(qids),
            minimum=locked.minimum,
            n_lacking=locked.minimum - len(qids),
        )
    if n_suggested:
        raise SliceHasSuggestionsError(name=locked.name, n_suggested=n_suggested)
    locked.is_registered = True
    locked.registered_at = timezone.now()
    locked.registered_by = actor
    locked.members_sha256 = members_digest(qids)
    locked.n_results_before = n_results_seen(locked.benchmark)
    locked.save()
    audit.record(
        actor=actor,
        action="register-slice",
        benchmark=locked.benchmark,
        target=locked.name,
        members_sha256=locked.members_sha256,
        n_results_before=locked.n_results_before,
    )
    return locked

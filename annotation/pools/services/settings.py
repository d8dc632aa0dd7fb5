"""Changing who judges a pool, by when, and what they see beside it."""

from collections.abc import Collection
from datetime import date
from typing import Any

from django.db import transaction

from annotation.judging.protocol.errors import MachineShownError
from annotation.models import Pool, PoolAnnotator
from benchmarks_app.common.services import audit
from benchmarks_app.models import User


@transaction.atomic
def set_pool_people(
    *, pool: Pool, annotators: Collection[User], assignment: str, actor: User
) -> Pool:
    """Name who may judge a pool (nobody: everybody), and how queries of a family are shared.

    What people hold stays theirs until they finish it, or it is given back.
    """
    locked = Pool.objects.select_for_update(of=("self",)).get(pk=pool.pk)
    people = {person.pk for person in annotators}
    named = set(locked.pool_annotators.values_list("annotator", flat=True))
    if (people, assignment) == (named, locked.assignment):
        return locked
    locked.pool_annotators.exclude(annotator__in=people).delete()
    PoolAnnotator.objects.bulk_create(
        PoolAnnotator(pool=locked, annotator_id=key) for key in sorted(people - named)
    )
    locked.assignment = assignment
    locked.save(update_fields=["assignment"])
    audit.record(
        actor=actor,
        action="pool-people",
        benchmark=locked.benchmark,
        target=locked.name,
        annotators=sorted(people),
        assignment=assignment,
    )
    return locked


def set_pool_search(*, pool: Pool, may_search: bool, actor: User) -> Pool:
    """Let annotators of a pool search the corpus and grade what they find, or no longer."""
    return _switched(pool, "may_search", may_search, action="pool-search", actor=actor)


@transaction.atomic
def set_pool_machine(*, pool: Pool, shows_machine: bool, actor: User) -> Pool:
    """Show annotators beside their labels what machines said, once the pool is closed, or not.

    Raises
    ------
    MachineShownError
        If it is taken back when the pool is closed: people may have looked.
    """
    locked = Pool.objects.select_for_update(of=("self",)).get(pk=pool.pk)
    if locked.has_shown_machine and not shows_machine:
        raise MachineShownError(pool=locked.name)
    return _switched(locked, "shows_machine", shows_machine, action="pool-machine", actor=actor)


@transaction.atomic
def _switched(pool: Pool, name: str, value: bool, *, action: str, actor: User) -> Pool:
    locked = Pool.objects.select_for_update(of=("self",)).get(pk=pool.pk)
    if getattr(locked, name) == value:
        return locked
    setattr(locked, name, value)
    locked.save(update_fields=[name])
    change: dict[str, Any] = {name: value}
    benchmark, target = locked.benchmark, locked.name
    audit.record(actor=actor, action=action, benchmark=benchmark, target=target, **change)
    return locked


@transaction.atomic
def set_pool_due(*, pool: Pool, due_on: date | None, actor: User) -> Pool:
    """Say by which day a pool's labels are wanted, or by none."""
    locked = Pool.objects.select_for_update(of=("self",)).get(pk=pool.pk)
    if locked.due_on == due_on:
        return locked
    locked.due_on = due_on
    locked.save(update_fields=["due_on"])
    audit.record(
        actor=actor,
        action="pool-due",
        benchmark=locked.benchmark,
        target=locked.name,
        due_on=due_on and due_on.isoformat(),
    )
    return locked

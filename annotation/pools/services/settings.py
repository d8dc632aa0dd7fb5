"""Changing who judges a pool, and by when."""

from collections.abc import Collection
from datetime import date

from django.db import transaction

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
    wanted = {person.pk for person in annotators}
    named = set(locked.pool_annotators.values_list("annotator", flat=True))
    if (wanted, assignment) == (named, locked.assignment):
        return locked
    locked.pool_annotators.exclude(annotator__in=wanted).delete()
    PoolAnnotator.objects.bulk_create(
        PoolAnnotator(pool=locked, annotator_id=key) for key in sorted(wanted - named)
    )
    locked.assignment = assignment
    locked.save(update_fields=["assignment"])
    audit.record(
        actor=actor,
        action="pool-people",
        benchmark=locked.benchmark,
        target=locked.name,
        annotators=sorted(wanted),
        assignment=assignment,
    )
    return locked


@transaction.atomic
def set_pool_search(*, pool: Pool, may_search: bool, actor: User) -> Pool:
    """Let annotators of a pool search the corpus and grade what they find, or no longer."""
    locked = Pool.objects.select_for_update(of=("self",)).get(pk=pool.pk)
    if locked.may_search == may_search:
        return locked
    locked.may_search = may_search
    locked.save(update_fields=["may_search"])
    audit.record(
        actor=actor,
        action="pool-search",
        benchmark=locked.benchmark,
        target=locked.name,
        may_search=may_search,
    )
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

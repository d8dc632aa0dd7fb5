"""What the groups of somebody give, at every sign-in: given, changed and taken back.

What a person gave is never taken: it is kept beside what the group gave, and comes back.
"""

import logging
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from benchmarks_app.common.selectors.people import named
from benchmarks_app.common.services import audit
from benchmarks_app.errors import LastOwnerError, TeamFullError
from benchmarks_app.models import Benchmark, Membership, Role, Team, User
from benchmarks_app.oidc.provider import BENCHMARK, STAFF, TEAM, Provider
from benchmarks_app.people.services import people, teams

log = logging.getLogger(__name__)


@transaction.atomic
def follow_groups(*, provider: Provider, user: User, claims: Mapping[str, Any]) -> None:
    """Give what the groups in the claims give, and take back what earlier ones gave.

    Where a provider leaves them out, because they are too many, nothing changes.
    """
    if provider.groups_claim in (claims.get("_claim_names") or {}):
        log.warning("groups of user %s are not in the claims: their roles stay", user.pk)
        return
    claim = claims.get(provider.groups_claim)
    groups = claim if isinstance(claim, list) else [claim]
    grants = [grant for grant in provider.grants if grant.group in groups]
    _follow_rank(user, is_given=any(grant.kind == STAFF for grant in grants))
    _follow_teams(user, {grant.name for grant in grants if grant.kind == TEAM})
    granted_roles = {(grant.name, Role(grant.role)) for grant in grants if grant.kind == BENCHMARK}
    _follow_roles(user, granted_roles)


def _follow_rank(user: User, *, is_given: bool) -> None:
    if is_given == (user.is_staff_by_group if user.is_staff else False):
        return
    if user.is_superuser or (is_given and user.is_staff):
        return  # by a person
    user.is_staff = user.is_staff_by_group = is_given
    user.save(update_fields=["is_staff", "is_staff_by_group"])
    audit.record(
        actor=None, action="account-change", target=named(user.pk), is_staff=is_given, by="group"
    )


def _follow_teams(user: User, names: set[str]) -> None:
    for team in user.teams_by_group.exclude(name__in=names):
        teams.take_out(team=team, user=user)
    for team in Team.objects.filter(name__in=names).exclude(members=user):
        try:
            teams.put_in(team=team, user=user)
        except TeamFullError:
            log.warning("team %s is full: user %s is not let in by their group", team.pk, user.pk)


def _follow_roles(user: User, granted_roles: set[tuple[str, Role]]) -> None:
    """The highest of several roles in one benchmark counts."""
    roles: dict[str, Role] = {}
    for role in reversed(Role):
        roles |= {
            slug: granted_role for slug, granted_role in granted_roles if granted_role == role
        }
    before = user.memberships.exclude(role_by_group="").values("benchmark")
    concerned = Benchmark.objects.filter(slug__in=roles) | Benchmark.objects.filter(pk__in=before)
    for benchmark in concerned.order_by("pk").distinct():
        try:
            _follow_role(user, benchmark, roles.get(benchmark.slug))
        except LastOwnerError:
            log.warning("user %s stays the only owner of %s", user.pk, benchmark.slug)


def _follow_role(user: User, benchmark: Benchmark, role: Role | None) -> None:
    membership = Membership.objects.filter(benchmark=benchmark, user=user).first()
    by_group = membership.role_by_group if membership else ""
    if by_group == (role or ""):
        return
    own = ""  # what a person gave
    if membership:
        own = membership.role_before_group if by_group else membership.role
    if role and own and not people.is_higher(role, than=Role(own)):
        role = None
    if not (role or own):
        if membership:
            people.remove_member(membership=membership, actor=None)
        return
    best = role or Role(own)
    if membership is None:
        membership = people.add_member(benchmark=benchmark, user=user, role=best, actor=None)
    else:
        membership = people.change_role(membership=membership, role=best, actor=None)
    membership.role_by_group, membership.role_before_group = role or "", own if role else ""
    membership.save(update_fields=["role_by_group", "role_before_group"])

"""Teams: making one, letting people in, leaving.

A link that invites is signed and not stored: it works for a week, for as long as who made it is a
member. A team whose last member leaves is gone, unless something was submitted for it: then its
name stays beside that.
"""

import unicodedata

from django.core import signing
from django.db import IntegrityError, transaction

from benchmarks_app.common.services import audit
from benchmarks_app.errors import NotAMateError, TeamFullError, TeamLinkError, TeamNameTakenError
from benchmarks_app.models import Team, User

SALT = "benchwright.team-link"
LINK_DAYS = 7
MOST_MEMBERS = 100


@transaction.atomic
def make_team(*, name: str, user: User) -> Team:
    """A team whose only member is who made it.

    Raises
    ------
    TeamNameTakenError
        If a team is called so, in whatever case it is written.
    """
    shown_name = " ".join(unicodedata.normalize("NFC", name).split())
    # SQLite compares without case in ASCII alone, and PostgreSQL tells ß from SS.
    if shown_name.casefold() in map(str.casefold, Team.objects.values_list("name", flat=True)):
        raise TeamNameTakenError(name=shown_name)
    try:
        with transaction.atomic():
            team = Team.objects.create(name=shown_name)
    except IntegrityError as error:
        raise TeamNameTakenError(name=shown_name) from error
    team.members.add(user)
    audit.record(actor=user, action="team-create", target=_named(team))
    return team


@transaction.atomic
def add_mate(*, team: Team, username: str, user: User) -> User:
    """Let in somebody who works on one of the same benchmarks, by their user name.

    Raises
    ------
    NotAMateError
        If nobody who shares a benchmark with `user` is called so.
    TeamFullError
        If the team has as many members as one may have.
    """
    shared = user.memberships.values("benchmark")
    mates = User.objects.filter(is_active=True, memberships__benchmark__in=shared)
    mate = mates.filter(username=username.strip()).distinct().first()
    if mate is None:
        raise NotAMateError(username=username.strip())
    if _let_in(team, mate):
        audit.record(actor=user, action="team-add", target=_named(team), member=mate.pk)
    return mate


def _let_in(team: Team, person: User) -> bool:
    """Whether they were no member before."""
    Team.objects.select_for_update().get(pk=team.pk)
    is_new = not team.members.filter(pk=person.pk).exists()
    others = team.members.exclude(pk=person.pk)
    if others.count() >= MOST_MEMBERS:
        raise TeamFullError(limit=MOST_MEMBERS)
    team.members.add(person)
    team.members_by_group.remove(person)  # from here on they are in by a person's word
    return is_new


# --- what a group at the provider gives ----------------------------------------------------


@transaction.atomic
def put_in(*, team: Team, user: User) -> None:
    """Let somebody in because of their group, until they have left it.

    Raises
    ------
    TeamFullError
        If the team has as many members as one may have.
    """
    _let_in(team, user)
    team.members_by_group.add(user)
    audit.record(actor=None, action="team-add", target=_named(team), member=user.pk, by="group")


@transaction.atomic
def take_out(*, team: Team, user: User) -> None:
    """Take out whom a group let in; a team that is empty then stays for who comes next."""
    team.members.remove(user)
    team.members_by_group.remove(user)
    audit.record(actor=None, action="team-leave", target=_named(team), member=user.pk, by="group")


# --- the link ------------------------------------------------------------------------------


def team_link_secret(*, team: Team, user: User) -> str:
    """The secret of a link by which others join; it says which team, and who made it."""
    return signing.dumps([team.pk, user.pk], salt=SALT, compress=False)


def team_of_link(secret: str) -> tuple[Team, User]:
    """The team that a link leads into, and who made it.

    Raises
    ------
    TeamLinkError
        If it is none of ours, is older than a week, or its maker has left the team.
    """
    try:
        team_id, maker_id = signing.loads(secret, salt=SALT, max_age=LINK_DAYS * 24 * 3600)
    except signing.SignatureExpired as error:
        raise TeamLinkError(reason=f"it is older than {LINK_DAYS} days.") from error
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise TeamLinkError(reason="it is not complete.") from error
    team = Team.objects.filter(pk=team_id).first()
    maker = team.members.filter(pk=maker_id, is_active=True).first() if team else None
    if team is None or maker is None:
        raise TeamLinkError(reason="who made it is no longer in the team.")
    return team, maker


@transaction.atomic
def join_team(*, secret: str, user: User) -> Team:
    """Join by a link; who is a member already stays one.

    Raises
    ------
    TeamLinkError, TeamFullError
        If the link no longer works, or the team is full.
    """
    team, _ = team_of_link(secret)
    if not team.members.filter(pk=user.pk).exists():
        _let_in(team, user)
        audit.record(actor=user, action="team-join", target=_named(team))
    return team


# --- leaving -------------------------------------------------------------------------------


@transaction.atomic
def leave_team(*, team: Team, user: User) -> None:
    """Leave; what was submitted for the team stays the team's, and who sent it keeps seeing it."""
    Team.objects.select_for_update().get(pk=team.pk)
    team.members.remove(user)
    team.members_by_group.remove(user)
    audit.record(actor=user, action="team-leave", target=_named(team))
    if not team.members.exists() and not _has_work(team):
        team.delete()


def _has_work(team: Team) -> bool:
    """Whether anything refers to the team, of whichever app."""
    related = (
        getattr(team, name)
        for field in Team._meta.related_objects
        if not field.many_to_many and (name := field.get_accessor_name())
    )
    return any(rows.exists() for rows in related)


def _named(team: Team) -> str:
    return f"team {team.pk}"

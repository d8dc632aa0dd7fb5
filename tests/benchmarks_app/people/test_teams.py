"""Teams: making one, letting people in by name or link, leaving, and what a team sees."""

import io
import zipfile
from datetime import timedelta
from unicodedata import normalize

import pytest
from django.core import signing
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.common.selectors.naming import facts_told, owner_name
from benchmarks_app.errors import NotAMateError, TeamFullError, TeamLinkError, TeamNameTakenError
from benchmarks_app.models import Run, Team, User
from benchmarks_app.people.services import teams
from benchmarks_app.people.services.forgetting import delete_person
from tests import factories
from tests.tokens import text_without_tokens

LINES = "q1 Q0 d1 1 1 s"


@pytest.fixture
def team(sam) -> Team:
    return teams.make_team(name="Owls", user=sam)


# --- making and joining --------------------------------------------------------------------


def test_who_makes_a_team_is_its_member(sam):
    team = teams.make_team(name="  Night   owls ", user=sam)

    assert team.name == "Night owls"
    assert list(team.members.all()) == [sam]


@pytest.mark.parametrize(
    ("name", "other"),
    [("Owls", "OWLS"), ("Straßenväter", "STRASSENVÄTER"), ("Väter", "Va\u0308ter")],
)
def test_name_is_taken_in_whatever_case(sam, ada, name, other):
    teams.make_team(name=name, user=sam)

    with pytest.raises(TeamNameTakenError, match=normalize("NFC", f"'{other}'")):
        teams.make_team(name=other, user=ada)


def test_mate_is_added_by_user_name(team, sam, ada):
    assert teams.add_mate(team=team, username="ada", user=sam) == ada

    assert set(team.members.all()) == {sam, ada}


def test_stranger_is_not_added_and_not_told_to_exist(team, sam, cy, ada):
    User.objects.filter(pk=ada.pk).update(is_active=False)

    for name in ("cy", "nobody-of-this-name", "ada"):
        with pytest.raises(NotAMateError, match=f"'{name}' is nobody who works on"):
            teams.add_mate(team=team, username=name, user=sam)


def test_link_lets_anybody_with_an_account_in(team, sam, cy, signed_in):
    link = signed_in(sam).post(reverse("team-link", args=[team.pk])).context["link"]

    page = signed_in(cy).get(link)
    joined = signed_in(cy).post(link)

    assert b"Join Owls" in page.content
    assert joined.url == reverse("team-detail", args=[team.pk])
    assert cy in team.members.all()


def test_link_of_somebody_who_left_works_no_more(team, sam, ada, cy):
    secret = teams.team_link_secret(team=team, user=sam)
    team.members.add(ada)
    teams.leave_team(team=team, user=sam)

    with pytest.raises(TeamLinkError, match="no longer in the team"):
        teams.join_team(secret=secret, user=cy)
    secret = teams.team_link_secret(team=team, user=ada)
    User.objects.filter(pk=ada.pk).update(is_active=False)
    with pytest.raises(TeamLinkError, match="no longer in the team"):
        teams.join_team(secret=secret, user=cy)


def test_old_or_forged_link_is_refused(team, sam, cy, monkeypatch):
    secret = teams.team_link_secret(team=team, user=sam)
    other = signing.dumps([team.pk, sam.pk], salt="of something else")

    with pytest.raises(TeamLinkError, match="not complete"):
        teams.join_team(secret=other, user=cy)
    monkeypatch.setattr(teams, "LINK_DAYS", -1)
    with pytest.raises(TeamLinkError, match="older than"):
        teams.join_team(secret=secret, user=cy)


def test_page_of_a_bad_link_says_so(sam, signed_in):
    answer = signed_in(sam).get(reverse("team-join", args=["nonsense"]))

    assert answer.status_code == 410
    assert b"This link does not work" in answer.content


def test_full_team_takes_nobody(team, sam, ada, monkeypatch):
    monkeypatch.setattr(teams, "MOST_MEMBERS", 1)

    with pytest.raises(TeamFullError):
        teams.add_mate(team=team, username="ada", user=sam)
    assert teams.join_team(secret=teams.team_link_secret(team=team, user=sam), user=sam) == team


def test_team_page_is_its_members_own(team, ada, signed_in):
    for name in ("team-detail", "team-add", "team-link", "team-leave"):
        url = reverse(name, args=[team.pk])
        client = signed_in(ada)
        answer = client.get(url) if name == "team-detail" else client.post(url)
        assert answer.status_code == 404


def test_wrong_name_is_told_at_the_field(team, sam, signed_in):
    client = signed_in(sam)

    taken = client.post(reverse("team-list"), {"name": "owls"})
    reserved = client.post(reverse("team-list"), {"name": "Anonymous"})
    stranger = client.post(reverse("team-add", args=[team.pk]), {"username": "cy"})

    assert (taken.status_code, reserved.status_code, stranger.status_code) == (422, 422, 422)
    assert "Choose another name" in taken.content.decode()
    assert "means something else" in reserved.content.decode()
    assert "Send a link instead" in stranger.content.decode()


# --- leaving -------------------------------------------------------------------------------


def test_team_without_members_and_work_is_gone(team, sam):
    teams.leave_team(team=team, user=sam)

    assert not Team.objects.exists()


def test_team_without_members_stays_beside_its_runs(team, sam, benchmark):
    factories.run(benchmark, LINES, owner=sam, team=team)

    teams.leave_team(team=team, user=sam)

    assert Team.objects.get() == team


def test_forgotten_person_is_in_no_team(team, sam, ada):
    team.members.add(ada)

    delete_person(user=sam, actor=None)

    assert list(team.members.all()) == [ada]


# --- what is seen --------------------------------------------------------------------------


def test_run_of_a_team_is_seen_by_the_team(team, sam, ada, vi, benchmark):
    run = factories.run(benchmark, LINES, owner=sam, team=team, visibility="team")

    assert run not in Run.objects.visible_to(ada)
    team.members.add(ada)
    assert run in Run.objects.visible_to(ada)
    assert run not in Run.objects.visible_to(vi)


def test_private_run_becomes_public_on_its_day(sam, vi, cy, benchmark):
    run = factories.run(benchmark, LINES, owner=sam, visibility="owner")
    assert run not in Run.objects.visible_to(vi)

    Run.objects.update(public_from=timezone.now() + timedelta(days=1))
    assert run not in Run.objects.visible_to(vi)
    Run.objects.update(public_from=timezone.now() - timedelta(seconds=1))

    assert run in Run.objects.visible_to(vi)
    assert run not in Run.objects.visible_to(cy)


def test_withdrawn_run_does_not_stand(sam, benchmark):
    run = factories.run(benchmark, LINES, owner=sam)
    assert run in Run.objects.standing()

    Run.objects.update(withdrawn_at=timezone.now())

    assert run not in Run.objects.standing()
    assert run in Run.objects.visible_to(sam)


# --- who it is by --------------------------------------------------------------------------


@pytest.fixture
def secret_run(team, sam, benchmark) -> Run:
    run = factories.run(benchmark, LINES, name="hush", owner=sam, team=team)
    later = timezone.now() + timedelta(days=3)
    facts = {"method": "BM25", "repository": "https://example.org/owls", "commit": "ab12"}
    Run.objects.filter(pk=run.pk).update(anonymous_until=later, metadata=facts)
    return Run.objects.select_related("owner", "team", "benchmark").get(pk=run.pk)


def test_anonymous_run_is_named_to_owner_team_and_keepers_alone(
    secret_run, team, sam, ada, vi, owner, maintainer
):
    from django.contrib.auth.models import AnonymousUser

    assert [owner_name(secret_run, person) for person in (sam, owner, maintainer)] == ["Owls"] * 3
    assert [owner_name(secret_run, person) for person in (vi, ada, AnonymousUser())] == [
        "anonymous"
    ] * 3
    team.members.add(ada)
    assert owner_name(secret_run, type(ada).objects.get(pk=ada.pk)) == "Owls"


def test_anonymity_ends_on_its_day(secret_run, vi):
    secret_run.anonymous_until = timezone.now()

    assert owner_name(secret_run, vi) == "Owls"


def test_links_that_lead_to_the_owner_are_held_back_meanwhile(secret_run, sam, vi):
    assert [fact.label for fact in facts_told(secret_run, vi)] == ["Method"]
    assert [fact.label for fact in facts_told(secret_run, sam)] == [
        *("Method", "Repository", "Commit"),
    ]


def test_exported_run_holds_nothing_that_leads_to_the_owner(secret_run, sam, vi, signed_in):
    tree = {"actor": {"team": "Owls"}}
    Run.objects.update(metadata={**secret_run.metadata, "ir_metadata": tree})
    url = reverse("run-export", args=["stdlib", secret_run.pk])

    def held(person) -> bytes:
        packed = b"".join(signed_in(person).get(url).streaming_content)
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            return b"".join(archive.read(name) for name in archive.namelist())

    assert b"Owls" in held(sam)
    assert b"Owls" not in held(vi)
    assert b"example.org" not in held(vi)
    assert b"BM25" in held(vi)


@pytest.mark.parametrize("name", ["run-list", "run-detail"])
def test_pages_of_an_anonymous_run_do_not_tell_who_it_is_by(secret_run, vi, signed_in, name):
    args = ["stdlib"] if name == "run-list" else ["stdlib", secret_run.pk]
    content = text_without_tokens(signed_in(vi).get(reverse(name, args=args)))

    assert "hush" in content
    assert "anonymous" in content
    assert "Owls" not in content
    assert "sam" not in content.lower().replace("sample", "").replace("same", "")
    assert "example.org" not in content

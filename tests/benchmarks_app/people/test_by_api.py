"""Members, invitations and teams through the API."""

import pytest
from django.test import Client

from benchmarks_app.models import Membership, Role
from benchmarks_app.people.services import people
from tests import factories

pytestmark = pytest.mark.django_db


def signed_in(person) -> Client:
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def of():
    return factories.benchmark("bench")


@pytest.fixture
def owner(of) -> Client:
    return signed_in(factories.member(of, "olga", Role.OWNER))


def test_a_link_invites_and_is_told_once(of, owner):
    at = "/api/v1/benchmarks/bench/people/invitations/"
    sent = {"role": "annotator", "note": "Ada", "days": 3}
    record = owner.post(at, sent, content_type="application/json").json()

    listed = owner.get(at).json()["results"]
    ada = factories.user("ada")
    accepted = signed_in(ada).post(
        "/api/v1/me/invitations/accept/", {"link": record["link"]}, content_type="application/json"
    )

    assert [(row["note"], "link" in row) for row in listed] == [("Ada", False)]
    assert accepted.json() == {"benchmark": "bench", "role": "annotator"}
    assert Membership.objects.get(user=ada).role == Role.ANNOTATOR
    assert owner.get(at).json()["results"] == []


def test_a_withdrawn_link_lets_nobody_in(of, owner):
    at = "/api/v1/benchmarks/bench/people/invitations/"
    record = owner.post(at, {}, content_type="application/json").json()
    withdrawn = owner.delete(f"{at}{record['id']}/")

    answer = signed_in(factories.user("ada")).post(
        "/api/v1/me/invitations/accept/", {"link": record["link"]}, content_type="application/json"
    )

    assert (withdrawn.status_code, answer.status_code) == (204, 410)
    assert not Membership.objects.filter(user__username="ada").exists()


def test_roles_change_and_members_leave_but_never_the_last_owner(of, owner):
    ada = factories.member(of, "ada", Role.VIEWER)
    at = "/api/v1/benchmarks/bench/people/"
    of_ada = f"{at}{ada.memberships.get().pk}/"
    last = Membership.objects.get(user__username="olga")

    changed = owner.patch(of_ada, {"role": "annotator"}, content_type="application/json")
    removed = owner.delete(of_ada)
    refusals = [
        owner.patch(f"{at}{last.pk}/", {"role": "viewer"}, content_type="application/json"),
        owner.delete(f"{at}{last.pk}/"),
        owner.patch(f"{at}{last.pk}/", {}, content_type="application/json"),
    ]

    assert (changed.json()["role"], removed.status_code) == ("annotator", 204)
    assert not Membership.objects.filter(user=ada).exists()
    assert [answer.status_code for answer in refusals] == [409, 409, 400]
    assert Membership.objects.get(user__username="olga").role == Role.OWNER


def test_a_team_is_made_joined_and_left(of, owner):
    ada = signed_in(factories.member(of, "ada", Role.SUBMITTER))
    at = "/api/v1/me/teams/"
    team = owner.post(at, {"name": "the eager"}, content_type="application/json").json()
    link = owner.post(f"{at}{team['id']}/link/", {}, content_type="application/json").json()

    joined = ada.post(f"{at}join/", link, content_type="application/json").json()
    left = ada.delete(f"{at}{team['id']}/")

    assert (joined["name"], joined["members"]) == ("the eager", ["ada", "olga"])
    assert left.status_code == 204
    assert owner.get(f"{at}{team['id']}/").json()["members"] == ["olga"]
    again = owner.post(at, {"name": "The Eager"}, content_type="application/json")
    assert (again.status_code, again.json()["code"]) == (409, "team-name-taken")


def test_who_is_removed_by_two_at_once_is_gone_for_the_second(of, owner, monkeypatch):
    ada = factories.member(of, "ada", Role.VIEWER).memberships.get()
    at = f"people/{ada.pk}/"
    locked = people._locked

    def another_was_quicker(membership: Membership) -> Membership:
        Membership.objects.filter(pk=ada.pk).delete()
        return locked(membership)

    monkeypatch.setattr(people, "_locked", another_was_quicker)
    by_api = owner.delete(f"/api/v1/benchmarks/bench/{at}")
    by_page = owner.post(f"/b/bench/{at}remove/")

    assert (by_api.status_code, by_api.json()["code"]) == (404, "not-found")
    assert by_page.status_code == 404

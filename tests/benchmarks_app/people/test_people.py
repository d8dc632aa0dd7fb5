"""Invitations, roles, the last owner, and being forgotten."""

import getpass
import io
import re
from datetime import timedelta

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.errors import (
    InvitationDaysError,
    InvitationExpiredError,
    InvitationRevokedError,
    InvitationUsedError,
    LastOwnerError,
)
from benchmarks_app.models import AuditEvent, Invitation, Membership, Role, User
from benchmarks_app.people.services import people
from benchmarks_app.people.services.forgetting import delete_person
from tests import factories

NEW_ACCOUNT = {
    "username": "nora",
    "email": "nora@example.org",
    "password1": "quite a long secret",
    "password2": "quite a long secret",
}


@pytest.fixture
def invited(benchmark, owner):
    """An invitation as annotator, with its secret."""
    return people.invite(benchmark=benchmark, role=Role.ANNOTATOR, actor=owner, days=7)


def role_of(benchmark, user) -> str:
    return Membership.objects.get(benchmark=benchmark, user=user).role


def membership(benchmark, user) -> Membership:
    return Membership.objects.get(benchmark=benchmark, user=user)


def join_url(secret: str) -> str:
    return reverse("invitation-accept", args=[secret])


def expire(invitation: Invitation) -> None:
    long_ago = timezone.now() - timedelta(days=30)
    Invitation.objects.filter(pk=invitation.pk).update(
        created_at=long_ago, expires_at=long_ago + timedelta(days=7)
    )


# --- making a link -------------------------------------------------------------------------


def test_link_is_shown_once_and_only_its_digest_is_stored(signed_in, benchmark, owner):
    client = signed_in(owner)
    fields = {"role": "submitter", "note": "for Sam", "days": "3"}

    answer = client.post(reverse("invitation-create", args=[benchmark.slug]), fields)

    secret = re.search(r"http://testserver/join/([\w-]+)/", answer.content.decode())[1]
    invitation = Invitation.objects.get()
    assert invitation.secret_digest == Invitation.digest_of(secret)
    assert (invitation.role, invitation.note) == ("submitter", "for Sam")
    assert invitation.expires_at - invitation.created_at == timedelta(days=3)
    assert "data-copy" in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    page = client.get(reverse("people-list", args=[benchmark.slug])).content.decode()
    assert "for Sam" in page
    assert secret not in page
    assert secret not in str(list(AuditEvent.objects.values()))


@pytest.mark.parametrize(
    "fields",
    [
        {"days": "0"},
        {"days": "91"},
        {"days": "soon"},
        {"days": "7", "email": factories.LONG_ADDRESS},
    ],
)
def test_expiry_or_address_outside_the_limits_is_refused(signed_in, benchmark, owner, fields):
    client = signed_in(owner)
    of_api = f"/api/v1/benchmarks/{benchmark.slug}/people/invitations/"

    answer = client.post(
        reverse("invitation-create", args=[benchmark.slug]), {"role": "viewer", **fields}
    )
    assert client.post(of_api, fields, "application/json").status_code == 400

    assert answer.status_code == 422
    assert not Invitation.objects.exists()


def test_expiry_outside_the_limits_is_refused_by_the_service(benchmark, owner):
    with pytest.raises(InvitationDaysError, match="cannot last 0 days; expected 1 to 90"):
        people.invite(benchmark=benchmark, role=Role.VIEWER, actor=owner, days=0)


@pytest.mark.parametrize("person", ["maintainer", "bo", "ada", "sam", "vi"])
def test_only_owners_manage_people(request, signed_in, benchmark, owner, person):
    client = signed_in(request.getfixturevalue(person))
    pk = membership(benchmark, owner).pk

    assert client.get(reverse("people-list", args=[benchmark.slug])).status_code == 403
    for name, args in [
        ("invitation-create", []),
        ("invitation-revoke", [1]),
        ("member-role", [pk]),
        ("member-remove", [pk]),
    ]:
        assert client.post(reverse(name, args=[benchmark.slug, *args])).status_code == 403


def test_owner_of_another_benchmark_finds_no_page(signed_in, benchmark, owner, cy):
    assert signed_in(cy).get(reverse("people-list", args=[benchmark.slug])).status_code == 404


def test_member_of_another_benchmark_cannot_be_changed_from_here(signed_in, benchmark, owner, cy):
    elsewhere = Membership.objects.get(user=cy)

    answer = signed_in(owner).post(reverse("member-remove", args=[benchmark.slug, elsewhere.pk]))

    assert answer.status_code == 404
    assert Membership.objects.filter(pk=elsewhere.pk).exists()


# --- accepting it --------------------------------------------------------------------------


def test_signed_in_person_joins_with_the_role_of_the_link(signed_in, benchmark, invited, cy):
    client = signed_in(cy)

    page = client.get(join_url(invited.secret))
    answer = client.post(join_url(invited.secret))

    assert "Join as cy" in page.content.decode()
    assert answer["Location"] == benchmark.get_absolute_url()
    assert role_of(benchmark, cy) == "annotator"
    assert AuditEvent.objects.filter(action="invitation-accept", actor=cy).exists()


def test_looking_at_a_link_does_not_use_it(client, signed_in, invited, cy):
    client.get(join_url(invited.secret))
    signed_in(cy).get(join_url(invited.secret))

    assert Invitation.objects.open().filter(pk=invited.invitation.pk).exists()


def test_newcomer_makes_an_account_joins_and_is_signed_in(client, benchmark, invited):
    answer = client.post(join_url(invited.secret), NEW_ACCOUNT)

    nora = User.objects.get(username="nora")
    assert answer.status_code == 302
    assert role_of(benchmark, nora) == "annotator"
    assert nora.check_password("quite a long secret")
    assert not nora.is_staff
    assert client.session["_auth_user_id"] == str(nora.pk)


@pytest.fixture
def for_nora(benchmark, owner):
    """An invitation for one address, as an owner types it."""
    asked = {"role": Role.ANNOTATOR, "days": 7, "email": "Nora@Example.org"}
    return people.invite(benchmark=benchmark, actor=owner, **asked)


def test_invitation_for_an_address_is_for_no_other_account(signed_in, benchmark, for_nora, cy):
    client = signed_in(cy)

    page = client.get(join_url(for_nora.secret)).content.decode()
    answer = client.post(join_url(for_nora.secret))

    assert "for another address" in page
    assert "nora@" not in page.lower()
    assert "Join as" not in page
    assert answer.status_code == 403
    assert not benchmark.memberships.filter(user=cy).exists()
    assert Invitation.objects.open().filter(pk=for_nora.invitation.pk).exists()


@pytest.fixture
def nora(db):
    """An account that says it has the address which is invited; nothing proves it."""
    person = factories.user("nora")
    User.objects.filter(pk=person.pk).update(email="nora@example.ORG")
    person.refresh_from_db()
    return person


def test_account_that_only_claims_the_address_is_asked_to_prove_it(
    signed_in, benchmark, for_nora, nora
):
    client = signed_in(nora)

    page = client.get(join_url(for_nora.secret)).content.decode()
    answer = client.post(join_url(for_nora.secret))

    assert "Mail me the link" in page
    assert "Join as" not in page
    assert answer.status_code == 403
    assert "not confirmed" in answer.content.decode()
    assert not benchmark.memberships.filter(user=nora).exists()
    assert Invitation.objects.open().filter(pk=for_nora.invitation.pk).exists()


def test_link_that_was_mailed_leads_back_to_the_invitation(signed_in, benchmark, for_nora, nora):
    client, url = signed_in(nora), join_url(for_nora.secret)

    asked = client.post(reverse("address-link"), {"next": url})
    opened = client.get(re.search(r"http://testserver(/\S+)", mail.outbox[0].body)[1])

    assert mail.outbox[0].to == ["nora@example.ORG"]
    assert asked["Location"] == opened["Location"] == url
    assert "Join as" in client.get(url).content.decode()
    client.post(url)
    assert role_of(benchmark, nora) == "annotator"


def test_account_of_the_address_accepts_however_it_is_written(signed_in, benchmark, for_nora, cy):
    User.objects.filter(pk=cy.pk).update(
        email="nora@example.ORG", verified_email="nora@example.ORG"
    )
    cy.refresh_from_db()

    signed_in(cy).post(join_url(for_nora.secret))

    assert role_of(benchmark, cy) == "annotator"


def test_newcomer_needs_the_address_that_was_invited(client, benchmark, for_nora):
    url = join_url(for_nora.secret)

    refused = client.post(url, {**NEW_ACCOUNT, "email": "other@example.org"})

    assert refused.status_code == 422
    assert "for another address" in refused.context["form"].errors["email"][0]
    assert "nora@" not in refused.content.decode().lower()
    assert not User.objects.filter(username="nora").exists()
    answer = client.post(url, {**NEW_ACCOUNT, "email": "nora@example.org"}, follow=True)
    assert "Mail me the link" in answer.content.decode()
    assert not benchmark.memberships.filter(user__username="nora").exists()
    people.verify_address(user=User.objects.get(username="nora"), actor=None)
    client.post(url)
    assert role_of(benchmark, User.objects.get(username="nora")) == "annotator"


def test_owner_binds_a_link_on_the_page_and_by_the_command(signed_in, benchmark, owner):
    client = signed_in(owner)
    fields = {"role": "viewer", "days": "3", "email": "page@example.org"}

    answer = client.post(reverse("invitation-create", args=[benchmark.slug]), fields)
    run_command("invite", "stdlib", "--role", "viewer", "--email", "shell@example.org")

    assert "page@example.org" in answer.content.decode()
    listed = client.get(reverse("people-list", args=[benchmark.slug])).content.decode()
    assert "page@example.org" in listed
    assert "shell@example.org" in listed
    rows = AuditEvent.objects.filter(action="invitation-create").values_list("detail", flat=True)
    assert [event["is_bound"] for event in rows] == [True, True]
    assert "example.org" not in str(list(rows))


@pytest.mark.parametrize("email", ["nobody", "a@b", "a b@example.org"])
def test_address_that_is_none_is_refused(signed_in, benchmark, owner, email):
    fields = {"role": "viewer", "days": "3", "email": email}

    answer = signed_in(owner).post(reverse("invitation-create", args=[benchmark.slug]), fields)

    assert answer.status_code == 422
    with pytest.raises(CommandError, match="valid email"):
        run_command("invite", "stdlib", "--role", "viewer", "--email", email)
    assert not Invitation.objects.exists()


def test_address_of_a_removed_person_stays_in_no_invitation(benchmark, owner, for_nora, cy):
    nora = factories.user("nora2")
    User.objects.filter(pk=nora.pk).update(email="nora@example.org")
    nora.refresh_from_db()

    delete_person(user=nora, actor=None)

    invitation = Invitation.objects.get()
    assert "nora" not in invitation.email
    assert invitation.is_for("Nora@example.org")  # what others offer to the address stays open
    assert not invitation.is_for(cy.email) and not invitation.is_for("")


def test_link_works_once(client, invited, cy, signed_in):
    client.post(join_url(invited.secret), NEW_ACCOUNT)

    answer = signed_in(cy).get(join_url(invited.secret))

    assert answer.status_code == 410
    assert "already used" in answer.content.decode()


def test_accepting_a_used_link_is_refused_by_the_service(invited, cy):
    people.accept_invitation(invitation=invited.invitation, user=factories.user("first"))

    with pytest.raises(InvitationUsedError, match="each link works once"):
        people.accept_invitation(invitation=invited.invitation, user=cy)
    assert Membership.objects.filter(user=cy).count() == 1


def test_expired_link_says_so(client, invited):
    expire(invited.invitation)

    answer = client.post(join_url(invited.secret), NEW_ACCOUNT)

    assert answer.status_code == 410
    assert "expired on" in answer.content.decode()
    assert not User.objects.filter(username="nora").exists()


def test_accepting_an_expired_link_is_refused_by_the_service(invited, cy):
    expire(invited.invitation)

    with pytest.raises(InvitationExpiredError, match="expired on"):
        people.accept_invitation(invitation=invited.invitation, user=cy)


def test_withdrawn_link_says_so(signed_in, client, benchmark, owner, invited):
    url = reverse("invitation-revoke", args=[benchmark.slug, invited.invitation.pk])
    signed_in(owner).post(url)
    client.logout()

    answer = client.get(join_url(invited.secret))

    assert answer.status_code == 410
    assert "withdrawn" in answer.content.decode()


def test_owner_who_withdraws_what_was_accepted_meanwhile_is_told_by_whom(
    signed_in, benchmark, owner, invited, cy
):
    people.accept_invitation(invitation=invited.invitation, user=cy)
    url = reverse("invitation-revoke", args=[benchmark.slug, invited.invitation.pk])

    page = signed_in(owner).post(url, follow=True).content.decode()

    assert "cy has accepted it already. Remove them from the members" in page
    assert "no longer works" not in page


def test_link_lost_between_page_and_click_makes_no_account(client, invited, monkeypatch):
    still_open = people.accept_with_new_account

    def too_late(**values):
        people.revoke_invitation(invitation=invited.invitation, actor=invited.invitation.created_by)
        return still_open(**values)

    monkeypatch.setattr(people, "accept_with_new_account", too_late)

    answer = client.post(join_url(invited.secret), NEW_ACCOUNT)

    assert answer.status_code == 410
    assert not User.objects.filter(username="nora").exists()


def test_secret_nobody_made_is_not_found(client, db):
    assert client.get(join_url("made-up")).status_code == 404


@pytest.mark.parametrize("role", ["owner", "maintainer", "adjudicator", "annotator"])
def test_member_never_loses_a_role_as_high_and_the_link_stays_open(benchmark, invited, role):
    member = factories.member(benchmark, "max", role)

    people.accept_invitation(invitation=invited.invitation, user=member)

    assert role_of(benchmark, member) == role
    assert Invitation.objects.open().filter(pk=invited.invitation.pk).exists()


def test_member_of_a_lower_role_is_raised(benchmark, invited, vi):
    people.accept_invitation(invitation=invited.invitation, user=vi)

    assert role_of(benchmark, vi) == "annotator"
    assert Invitation.objects.get(pk=invited.invitation.pk).accepted_by == vi


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("username", "ADA", "already exists"),
        ("email", "ADA@example.org", "This address cannot be used"),
        ("password1", "short", "at least 10 characters"),
        ("password2", "something else", "match"),
    ],
)
def test_account_form_says_what_is_wrong(client, invited, ada, field, value, words):
    fields = {**NEW_ACCOUNT, field: value}
    if field == "password1":
        fields["password2"] = value

    answer = client.post(join_url(invited.secret), fields)

    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert Invitation.objects.open().exists()


# --- roles and leaving ---------------------------------------------------------------------


def test_owner_changes_a_role(signed_in, benchmark, owner, ada):
    url = reverse("member-role", args=[benchmark.slug, membership(benchmark, ada).pk])

    signed_in(owner).post(url, {"role": "adjudicator"})

    assert role_of(benchmark, ada) == "adjudicator"
    event = AuditEvent.objects.get(action="member-role")
    assert event.detail == {"before": "annotator", "after": "adjudicator"}


def test_role_that_does_not_exist_changes_nothing(signed_in, benchmark, owner, ada):
    url = reverse("member-role", args=[benchmark.slug, membership(benchmark, ada).pk])

    signed_in(owner).post(url, {"role": "king"})

    assert role_of(benchmark, ada) == "annotator"


def test_owner_removes_a_member(signed_in, benchmark, owner, ada):
    url = reverse("member-remove", args=[benchmark.slug, membership(benchmark, ada).pk])

    signed_in(owner).post(url)

    assert not benchmark.memberships.filter(user=ada).exists()


def test_last_owner_can_neither_leave_nor_step_down(benchmark, owner):
    mine = membership(benchmark, owner)

    with pytest.raises(LastOwnerError, match="olga is the only owner of Standard library"):
        people.remove_member(membership=mine, actor=owner)
    with pytest.raises(LastOwnerError, match="Make somebody else an owner first"):
        people.change_role(membership=mine, role=Role.VIEWER, actor=owner)
    assert role_of(benchmark, owner) == "owner"


def test_page_tells_the_last_owner_why_not(signed_in, benchmark, owner):
    pk = membership(benchmark, owner).pk

    answer = signed_in(owner).post(reverse("member-remove", args=[benchmark.slug, pk]))

    assert answer.status_code == 409
    assert "only owner" in answer.content.decode()


def test_owner_whose_account_is_closed_does_not_count_as_the_other_owner(benchmark, owner):
    gone = factories.member(benchmark, "gone", "owner")
    User.objects.filter(pk=gone.pk).update(is_active=False)

    with pytest.raises(LastOwnerError):
        people.remove_member(membership=membership(benchmark, owner), actor=owner)


def test_owner_steps_down_once_there_is_another(signed_in, benchmark, owner):
    factories.member(benchmark, "otto", "owner")
    url = reverse("member-role", args=[benchmark.slug, membership(benchmark, owner).pk])

    answer = signed_in(owner).post(url, {"role": "viewer"})

    assert role_of(benchmark, owner) == "viewer"
    assert answer["Location"] == reverse("home")


@pytest.mark.parametrize("leaves", [True, False])
def test_former_owner_has_no_open_link_left(benchmark, owner, leaves):
    factories.member(benchmark, "otto", "owner")
    own = people.invite(benchmark=benchmark, role=Role.OWNER, actor=owner, days=7)
    mine = membership(benchmark, owner)

    if leaves:
        people.remove_member(membership=mine, actor=owner)
    else:
        people.change_role(membership=mine, role=Role.VIEWER, actor=owner)

    with pytest.raises(InvitationRevokedError, match="withdrawn"):
        people.accept_invitation(invitation=own.invitation, user=owner)
    event = AuditEvent.objects.get(action="invitation-revoke")
    assert (event.actor, event.target) == (owner, f"invitation {own.invitation.pk}")


@pytest.mark.parametrize("n", [2, 20])
def test_people_page_asks_as_often_for_20_members_as_for_2(signed_in, benchmark, owner, n):
    client = signed_in(owner)
    url = reverse("people-list", args=[benchmark.slug])
    for number in range(n):
        person = factories.member(benchmark, f"member{number}", "viewer")
        people.invite(benchmark=benchmark, role=Role.VIEWER, actor=owner, days=7)
        people.invite(benchmark=benchmark, role=Role.VIEWER, actor=person, days=7)

    client.get(url)  # which remembers the tab
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(url)

    assert f"member{n - 1}" in answer.content.decode()
    assert len(queries) == 10, [query["sql"] for query in queries]


# --- commands ------------------------------------------------------------------------------


def run_command(*args: str, stdin: str = "", monkeypatch=None) -> str:
    out = io.StringIO()
    if monkeypatch:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
    call_command(*args, stdout=out)
    return out.getvalue()


def test_command_makes_a_member(benchmark, monkeypatch):
    output = run_command(
        "create_user", "nora", "--email", "nora@example.org", "--password-stdin",
        "--benchmark", "stdlib", "--role", "annotator",
        stdin="quite a long secret\n", monkeypatch=monkeypatch,
    )  # fmt: skip

    nora = User.objects.get(username="nora")
    assert nora.check_password("quite a long secret")
    assert role_of(benchmark, nora) == "annotator"
    assert "account nora, annotator of stdlib" in output


@pytest.mark.parametrize(
    ("more", "password", "words"),
    [
        ([], "short", "password: This password is too short"),
        (["--role", "viewer"], "quite a long secret", "go together"),
        (["--benchmark", "none", "--role", "viewer"], "quite a long secret", "no benchmark 'none'"),
    ],
)
def test_command_refuses_what_the_page_refuses(db, monkeypatch, more, password, words):
    with pytest.raises(CommandError, match=words):
        run_command(
            "create_user", "nora", "--email", "nora@example.org", "--password-stdin", *more,
            stdin=password, monkeypatch=monkeypatch,
        )  # fmt: skip
    assert not User.objects.filter(username="nora").exists()


def test_command_shows_no_password_where_it_cannot_hide_it(db, monkeypatch):
    monkeypatch.setattr("getpass.getpass", getpass.fallback_getpass)  # as without a terminal

    with pytest.raises(CommandError, match=r"no terminal .* --password-stdin"):
        run_command("create_user", "nora", "--email", "n@example.org", monkeypatch=monkeypatch)


def test_command_prints_a_link_that_works(client, benchmark, owner):
    output = run_command("invite", "stdlib", "--role", "annotator", "--site", "https://b.example/")

    link = output.strip()
    assert link.startswith("https://b.example/join/")
    assert client.get(link.removeprefix("https://b.example")).status_code == 200
    assert Invitation.objects.get().created_by == owner


def test_command_invites_only_as_an_owner(benchmark, owner, ada):
    with pytest.raises(CommandError, match="ada is not an owner of stdlib"):
        run_command("invite", "stdlib", "--role", "annotator", "--as", "ada")


def test_command_verifies_an_address_and_it_is_written_down(ada):
    output = run_command("verify_address", "ada")

    assert User.objects.get(pk=ada.pk).has_verified_email
    assert "ada: ada@example.org is verified" in output
    event = AuditEvent.objects.get(action="address-verify")
    assert (event.actor, event.target, event.detail) == (None, f"user {ada.pk}", {})
    User.objects.filter(pk=ada.pk).update(email="", verified_email="")
    with pytest.raises(CommandError, match="ada has no address"):
        run_command("verify_address", "ada")

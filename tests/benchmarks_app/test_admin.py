"""The staff's pages: everything can be looked at, what is append-only cannot be changed."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.urls import reverse

from benchmarks_app.common.services import audit
from benchmarks_app.models import AuditEvent, Release, Team, User
from tests import factories

OURS = sorted(
    (model for model in admin.site._registry if model._meta.app_label == "benchmarks_app"),
    key=lambda model: model.__name__,
)


def admin_url(model, page: str, *args) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


@pytest.fixture
def chief(signed_in, db):
    return signed_in(factories.user("chief", is_staff=True, is_superuser=True))


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_list_opens(chief, benchmark, owner, model):
    audit.record(actor=owner, action="test", benchmark=benchmark)

    assert chief.get(admin_url(model, "changelist")).status_code == 200


def test_audit_event_can_be_read_and_not_changed(chief, benchmark, owner):
    event = audit.record(actor=owner, action="test", benchmark=benchmark, n=3)
    url = admin_url(AuditEvent, "change", event.pk)

    assert "&quot;n&quot;: 3" in chief.get(url).content.decode()
    assert chief.post(url, {"action": "other"}).status_code == 403
    assert chief.post(admin_url(AuditEvent, "delete", event.pk)).status_code == 403
    assert chief.get(admin_url(AuditEvent, "add")).status_code == 403


def test_release_cannot_be_added_by_hand(chief):
    assert chief.get(admin_url(Release, "add")).status_code == 403


def test_account_is_not_deleted_without_a_password(chief, ada):
    assert chief.post(admin_url(User, "delete", ada.pk)).status_code == 403
    for action in ("remove_accounts", "delete_selected"):
        chief.post(admin_url(User, "changelist"), {"action": action, "_selected_action": [ada.pk]})

    assert User.objects.get(pk=ada.pk).username == "ada"


# --- what is changed here is in the audit log ----------------------------------------------


def changed(client, row, **values) -> None:
    """The row's page, sent with these values in place of its own."""
    page = client.get(admin_url(type(row), "change", row.pk))
    form = page.context["adminform"].form
    fields = {name: form[name].value() for name in form.fields}
    for inline in page.context["inline_admin_formsets"]:
        for form in [inline.formset.management_form, *inline.formset.forms]:
            fields |= {form.add_prefix(name): form[name].value() for name in form.fields}
    dates = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    results = {name: value for name, value in {**fields, **values}.items() if value or value == 0}
    answer = client.post(admin_url(type(row), "change", row.pk), {**results, **dates})
    assert answer.status_code == 302, answer.context["errors"]


def told(action: str) -> tuple:
    event = AuditEvent.objects.get(action=action)
    return event.actor.username, event.target, event.benchmark and event.benchmark.slug


def test_change_of_an_account_is_written_down(chief, ada):
    changed(chief, ada, email="new@example.org", is_superuser="on")

    assert told("account-change") == ("chief", f"user {ada.pk}", None)
    text = str(AuditEvent.objects.get(action="account-change").detail)
    assert "Superuser status" in text and "new@example.org" not in text
    assert User.objects.get(pk=ada.pk).is_superuser


def test_new_address_given_by_the_staff_is_not_verified(chief, ada):
    User.objects.filter(pk=ada.pk).update(verified_email=ada.email)

    changed(chief, ada, email="new@example.org")

    assert not User.objects.get(pk=ada.pk).has_verified_email
    changed(chief, User.objects.get(pk=ada.pk), email="ada@example.org")
    assert not User.objects.get(pk=ada.pk).has_verified_email


def test_password_that_is_set_is_written_down(chief, ada):
    url = reverse("admin:auth_user_password_change", args=[ada.pk])
    secret = "another long password"
    fields = {"password1": secret, "password2": secret, "usable_password": "true"}

    assert chief.post(url, fields).status_code == 302

    assert told("password-change") == ("chief", f"user {ada.pk}", None)


def test_account_that_is_made_is_written_down(chief):
    secret = "another long password"
    fields = {"username": "eve", "password1": secret, "password2": secret}
    chief.post(admin_url(User, "add"), {**fields, "usable_password": "true"})

    assert told("account-create") == ("chief", f"user {User.objects.get(username='eve').pk}", None)


def test_change_of_a_team_and_of_a_benchmark_is_written_down(chief, benchmark, owner, ada):
    team = Team.objects.create(name="T")
    changed(chief, team, members=[ada.pk])
    changed(chief, benchmark, visibility="private")

    assert told("team-change") == ("chief", f"team {team.pk}", None)
    assert told("change-settings") == ("chief", "", "stdlib")


def test_own_password_is_changed_on_the_sites_page(chief):
    assert chief.get("/admin/password_change/")["Location"] == reverse("password-change")


# --- ranks ---------------------------------------------------------------------------------


@pytest.fixture
def clerk(signed_in, db):
    """Of the staff, who may change accounts, and is no superuser."""
    person = factories.user("clerk", is_staff=True)
    person.user_permissions.add(Permission.objects.get(codename="change_user"))
    return signed_in(person)


def test_clerk_gives_nobody_a_rank(clerk, ada):
    changed(clerk, ada, first_name="Ada", is_superuser="on", is_staff="on", email="c@example.org")

    record = User.objects.get(pk=ada.pk)
    assert (record.first_name, record.email) == ("Ada", "ada@example.org")
    assert not record.is_superuser and not record.is_staff


def test_clerk_does_not_become_who_is_above(clerk):
    boss = factories.user("boss", is_staff=True, is_superuser=True)
    url = reverse("admin:auth_user_password_change", args=[boss.pk])

    assert clerk.post(url, {}).status_code == 403
    assert clerk.post(admin_url(User, "change", boss.pk), {}).status_code == 403


def test_admin_is_closed_to_owners(signed_in, owner):
    assert signed_in(owner).get("/admin/").status_code == 302

"""The staff's pages: everything can be looked at, what is append-only cannot be changed."""

import pytest
from django.contrib import admin
from django.urls import reverse

from benchmarks_app.models import AuditEvent, Release, User
from benchmarks_app.services import audit
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


def test_account_is_removed_by_forgetting_it_not_by_deleting_it(chief, benchmark, owner, ada):
    assert chief.post(admin_url(User, "delete", ada.pk)).status_code == 403

    given = {"action": "remove_accounts", "_selected_action": [ada.pk, owner.pk]}
    page = chief.post(admin_url(User, "changelist"), given, follow=True).content.decode()

    assert User.objects.get(pk=ada.pk).username.startswith("person-")
    assert User.objects.get(pk=owner.pk).username == "olga"
    assert "is the only owner of Standard library" in page


def test_admin_is_closed_to_owners(signed_in, owner):
    assert signed_in(owner).get("/admin/").status_code == 302

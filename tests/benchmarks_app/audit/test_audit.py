"""The audit log: what is written down, who sees it, how it is narrowed, paged and exported."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from axes.models import AccessLog
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from annotation.models import Pool, SparingRule
from benchmarks_app.common.selectors.audit import KIND_LABELS, KINDS, Key
from benchmarks_app.common.selectors.people import named
from benchmarks_app.common.services import audit
from benchmarks_app.models import AuditEvent, Role
from benchmarks_app.people.services import people
from benchmarks_app.templatetags.benchwright import DEEDS
from tests import factories

SIGN_IN = "/sign-in/"
DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)
APPS = ("benchmarks_app", "annotation", "scoring")
# `action="make-slice"`, and `_record(invitation, "invitation-create", …)` and the like.
ACTION = re.compile(r'(?:action=|_(?:record|written_down)\((?:\w+, )+)"([a-z-]+)"')


@pytest.fixture
def manager(db):
    return factories.user("manager", is_staff=True)


def events(*actions: str) -> list[tuple]:
    rows = AuditEvent.objects.filter(action__in=actions).order_by("pk")
    return list(rows.values_list("action", "actor__username", "target", "detail"))


def rows(of, n: int, **values) -> None:
    AuditEvent.objects.bulk_create(
        AuditEvent(
            benchmark=of, action="import", target=f"file {i}", at=DAY + timedelta(i), **values
        )
        for i in range(n)
    )


# --- sign-ins ------------------------------------------------------------------------------


def test_sign_ins_failures_and_lock_outs_are_written_with_the_network_alone(client, ada, settings):
    sent = {"REMOTE_ADDR": "192.0.2.77"}
    network = {"network": "192.0.2.0/24"}
    client.post(SIGN_IN, {"username": "ada", "password": "a long password"}, **sent)
    client.post("/sign-out/")
    other = {"REMOTE_ADDR": "198.51.100.9"}
    client.cookies.clear()
    for _ in range(settings.AXES_FAILURE_LIMIT + 3):
        client.post(SIGN_IN, {"username": "ada", "password": "wrong"}, **other)

    result = events("sign-in", "sign-in-fail", "sign-in-lock")

    about = f"user {ada.pk}"
    assert result[0] == ("sign-in", "ada", about, network)
    assert result[1] == ("sign-in-fail", None, about, {"network": "198.51.100.0/24"})
    assert [row[0] for row in result].count("sign-in-lock") == 1
    assert len(result) <= settings.AXES_FAILURE_LIMIT + 2
    assert "192.0.2.77" not in str(result) and "198.51.100.9" not in str(result)


def test_name_that_nobody_has_is_not_kept(client, db):
    client.post(SIGN_IN, {"username": "my-secret-password", "password": "x"})

    assert events("sign-in-fail") == [("sign-in-fail", None, "", {"network": "127.0.0.0/24"})]
    assert "my-secret" not in str(list(AuditEvent.objects.values()))


def test_addresses_of_sign_ins_go_when_they_let_nobody_in_any_more(db, settings):
    settings.SIGN_INS_KEPT_DAYS = 30
    for days in (31, 89, 91):
        log = AccessLog.objects.create(username=f"{days}", path_info="/")
        AccessLog.objects.filter(pk=log.pk).update(attempt_time=timezone.now() - timedelta(days))

    audit.drop_old_sign_ins()

    assert set(AccessLog.objects.values_list("username", flat=True)) == {"31", "89"}


def test_names_that_nobody_has_make_one_lock_out(client, ada, settings):
    for n in range(settings.AXES_FAILURE_LIMIT * 10 + 9):
        client.post(SIGN_IN, {"username": f"name{n}", "password": "x"})
    client.post(SIGN_IN, {"username": "ada", "password": "x"})

    assert [event[2] for event in events("sign-in-lock")] == ["", f"user {ada.pk}"]


def test_ipv6_is_told_by_48_bits(client, ada):
    client.post(
        SIGN_IN, {"username": "ada", "password": "a long password"}, REMOTE_ADDR="2001:db8:1:2::3"
    )

    assert events("sign-in")[0][3] == {"network": "2001:db8:1::/48"}


def test_old_sign_ins_go_and_nothing_else_does(ada, settings):
    settings.SIGN_INS_KEPT_DAYS = 30
    old = timezone.now() - timedelta(31)
    for action in ("sign-in", "sign-in-fail", "member-add"):
        AuditEvent.objects.create(action=action, at=old)
        AuditEvent.objects.create(action=action)

    assert audit.drop_old_sign_ins() == 2

    left = list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))
    assert sorted(left) == ["member-add", "member-add", "sign-in", "sign-in-fail"]
    with pytest.raises(IntegrityError), transaction.atomic():
        AuditEvent.objects.filter(action="member-add").delete()


# --- who sees it ---------------------------------------------------------------------------


def test_keeper_sees_their_benchmark_and_manager_all(signed_in, benchmark, owner, ada, manager):
    people.change_role(membership=ada.memberships.get(), role=Role.VIEWER, actor=owner)
    audit.record(actor=ada, action="api-token-create", target="token 7")

    page = signed_in(owner).get(reverse("activity-list", args=["stdlib"])).content.decode()
    assert "changed the role of" in page and ">ada<" in page
    assert "token 7" not in page

    site = signed_in(manager).get(reverse("audit-log")).content.decode()
    assert "token 7" in site and "changed the role of" in site and "Standard library" in site


def test_what_somebody_calls_a_thing_names_nobody(signed_in, benchmark, owner, manager):
    audit.record(actor=owner, action="make-slice", benchmark=benchmark, target=f"user {manager.pk}")
    audit.record(actor=manager, action="import", target="user 5.tsv")

    results = signed_in(owner).get(reverse("api:event-list", args=["stdlib"])).json()["results"]
    about = signed_in(manager).get(reverse("api:site-events"), {"person": "manager"}).json()

    assert [(event["target"], event["about"]) for event in results] == [
        (f"“user {manager.pk}”", None)
    ]
    assert [event["target"] for event in about["results"]] == ["user 5.tsv"]


@pytest.mark.parametrize("number", ["9" * 20, "٣", "0"])
def test_number_that_no_account_has_breaks_no_page(signed_in, benchmark, owner, number):
    old = AuditEvent(benchmark=benchmark, action="make-slice", target=f"user {number}")
    AuditEvent.objects.bulk_create([old])
    client = signed_in(owner)

    page = client.get(reverse("activity-list", args=["stdlib"]))
    answer = client.get(reverse("api:event-export", args=["stdlib"]))

    assert f"user {number}" in page.content.decode()
    assert json.loads(text_of(answer).splitlines()[-1])["about"] is None


# --- narrowing -----------------------------------------------------------------------------


@pytest.fixture
def log(benchmark, owner, ada):
    audit.record(actor=owner, action="member-add", benchmark=benchmark, target=named(ada.pk))
    audit.record(
        actor=ada, action="import", benchmark=benchmark, target="=cmd|x", file='Zürich "queries"'
    )
    audit.record(actor=owner, action="read-hidden-grades", benchmark=benchmark, target="q 7")
    audit.record(actor=None, action="sweep-up", benchmark=benchmark, target="job 1")
    return benchmark


@pytest.mark.parametrize(
    ("asked", "actions"),
    [
        ({}, ["sweep-up", "read-hidden-grades", "import", "member-add"]),
        ({"kind": "roles"}, ["member-add"]),
        ({"kind": "reads"}, ["read-hidden-grades"]),
        ({"kind": "changes"}, ["sweep-up", "import"]),
        ({"person": "ada"}, ["import", "member-add"]),
        ({"person": "nobody"}, []),
        ({"text": "QUERIES"}, ["import"]),
        ({"text": 'Zürich "q'}, ["import"]),
        ({"text": "q 7"}, ["read-hidden-grades"]),
        ({"since": "2099-01-01"}, []),
        ({"until": "2000-01-01"}, []),
        ({"since": "2000-01-01", "until": "2099-01-01", "kind": "roles"}, ["member-add"]),
        ({"since": "0001-01-01", "until": "9999-12-31", "kind": "roles"}, ["member-add"]),
    ],
)
def test_filters_narrow_page_api_and_command_alike(signed_in, log, owner, asked, actions):
    client = signed_in(owner)

    page = client.get(reverse("activity-list", args=["stdlib"]), asked)
    answer = client.get(reverse("api:event-list", args=["stdlib"]), asked).json()
    out = io.StringIO()
    options = [f"--{name}={value}" for name, value in asked.items()]
    call_command("audit_log", "--benchmark", "stdlib", *options, stdout=out)

    assert [event.action for event in page.context["events"]] == actions
    assert [event["action"] for event in answer["results"]] == actions
    assert [line.split("\t")[2] for line in out.getvalue().splitlines()] == actions
    assert ("No event fits" in page.content.decode()) == (not actions)


def test_filter_that_cannot_be_says_so(signed_in, log, owner):
    turned = {"since": "2026-02-02", "until": "2026-02-01"}
    client = signed_in(owner)

    page = client.get(reverse("activity-list", args=["stdlib"]), turned)
    answers = [
        client.get(reverse(f"api:{name}", args=["stdlib"]), turned)
        for name in ("event-list", "event-export")
    ]
    with pytest.raises(CommandError, match="--until: The last day is before the first"):
        call_command("audit_log", *(f"--{name}={day}" for name, day in turned.items()))

    assert page.status_code == 422
    assert "before the first" in page.content.decode()
    assert [answer.status_code for answer in answers] == [400, 400]
    assert all("before the first" in answer.content.decode() for answer in answers)


def test_empty_log_says_what_will_be_there(signed_in, benchmark, owner):
    page = signed_in(owner).get(reverse("activity-list", args=["stdlib"])).content.decode()

    assert "Nothing yet" in page


def test_every_kind_has_a_label_and_no_action_two_kinds():
    assert set(KIND_LABELS) == {*KINDS, "changes"}
    actions = [action for kind in KINDS.values() for action in kind]
    assert len(actions) == len(set(actions))


# --- paging --------------------------------------------------------------------------------


def test_pages_follow_each_other_without_gap_or_repeat(signed_in, benchmark, owner):
    same = [AuditEvent(benchmark=benchmark, action="x", target=str(i), at=DAY) for i in range(120)]
    AuditEvent.objects.bulk_create(same)
    client, url = signed_in(owner), reverse("activity-list", args=["stdlib"])

    seen, key = [], ""
    for _ in range(5):
        page = client.get(url, {"before": key}).context
        seen += [event.target for event in page["events"]]
        key = page["next_key"]
        if key is None:
            break

    assert seen == [str(i) for i in reversed(range(120))]


@pytest.mark.parametrize(
    "key",
    [
        *("", "x", "2026-01-01~", "~3", "2026-13-01T00:00:00+00:00~3"),
        *("0001-01-01T00:00:00+14:00~1", "9999-12-31T23:59:59-14:00~1"),
    ],
)
def test_key_that_is_none_shows_the_newest(key):
    assert Key.read(key) is None


def test_key_is_read_as_it_was_written():
    key = Key(DAY, 7)

    assert Key.read(str(key)) == key


@pytest.mark.parametrize("n", [3, 60])
def test_page_asks_the_same_whatever_there_is(signed_in, benchmark, owner, n):
    client, url = signed_in(owner), reverse("activity-list", args=["stdlib"])
    for i in range(n):
        person = factories.user(f"p{i}")
        audit.record(actor=person, action="member-add", benchmark=benchmark, target=named(i))
    client.get(url)

    with CaptureQueriesContext(connection) as queries:
        client.get(url)

    assert not any("COUNT(" in query["sql"] and "audit" in query["sql"] for query in queries)
    assert len([query for query in queries if "auditevent" in query["sql"]]) == 1
    assert len([query for query in queries if "benchmarks_app_user" in query["sql"]]) <= 4


# --- exports -------------------------------------------------------------------------------


def text_of(answer) -> str:
    return b"".join(answer.streaming_content).decode()


def test_csv_has_all_events_and_no_formula(signed_in, log, owner):
    answer = signed_in(owner).get(reverse("activity-export", args=["stdlib"]), {"form": "csv"})

    lines = list(csv.DictReader(io.StringIO(text_of(answer))))
    assert "text/csv" in answer["Content-Type"]
    assert [line["action"] for line in lines][:2] == ["export-audit", "sweep-up"]
    assert {"'=cmd|x", "ada"} <= {line["target"] for line in lines} | {
        line["about"] for line in lines
    }
    assert not any(
        cell.startswith(("=", "+", "-", "@")) for line in lines for cell in line.values()
    )


def test_json_lines_are_streamed_and_narrowed(signed_in, benchmark, owner):
    rows(benchmark, 5000)
    url = reverse("activity-export", args=["stdlib"])

    answer = signed_in(owner).get(url, {"form": "jsonl", "kind": "changes"})

    pieces = list(answer.streaming_content)
    lines = [json.loads(line) for line in b"".join(pieces).splitlines()]
    assert len(pieces) >= 3
    assert [line["target"] for line in lines] == [f"file {i}" for i in reversed(range(5000))]
    assert events("export-audit")[0][1] == "olga"


def test_unknown_form_is_not_found(signed_in, log, owner):
    url = reverse("activity-export", args=["stdlib"])

    assert signed_in(owner).get(url, {"form": "xml"}).status_code == 404


def test_command_exports_the_site(log):
    out = io.StringIO()

    call_command("audit_log", "--format", "jsonl", stdout=out)

    results = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [event["action"] for event in results][-1] == "member-add"
    assert results[-1]["about"] == "ada"


def test_lines_tell_the_terminal_nothing(log, benchmark):
    audit.record(actor=None, action="change-settings", benchmark=benchmark, target="a\x1b[2Jb")
    out = io.StringIO()

    call_command("audit_log", "--limit", "1", stdout=out)

    assert "\ta�[2Jb\t" in out.getvalue()


def test_command_that_is_to_show_no_line_is_refused(log):
    with pytest.raises(CommandError, match=r"--limit is -1; expected 1 or more\."):
        call_command("audit_log", "--limit", "-1")


def test_api_gives_pages_by_key(signed_in, benchmark, owner):
    rows(benchmark, 60)
    client = signed_in(owner)

    first = client.get(reverse("api:event-list", args=["stdlib"])).json()
    second = client.get(first["next"]).json()

    assert len(first["results"]) == 50 and len(second["results"]) == 10
    assert second["results"][-1]["target"] == "file 0"
    assert second["next"] is None


def test_api_of_the_site_is_for_its_managers(signed_in, log, manager):
    answer = signed_in(manager).get(reverse("api:site-events"), {"kind": "roles"}).json()

    assert [event["about"] for event in answer["results"]] == ["ada"]


# --- in words ------------------------------------------------------------------------------------


def test_every_action_that_is_recorded_has_words():
    sources = [path for app in APPS for path in (settings.BASE_DIR / app).rglob("*.py")]
    recorded = {name for path in sources for name in ACTION.findall(path.read_text())}
    recorded -= {"action"}  # a column of an export
    assert len(recorded) > 80

    states = {f"pool-{state}" for state in Pool.State} - {"pool-building"}
    states |= {f"sparing-{state}" for state in SparingRule.State} - {"sparing-auditing"}
    of_kinds = {action for actions in KINDS.values() for action in actions}

    assert sorted((recorded | of_kinds | states) - set(DEEDS)) == []


def test_who_joins_by_an_invitation_is_told_by_name(benchmark, owner, cy, signed_in):
    invited = people.invite(benchmark=benchmark, role=Role.VIEWER, actor=owner, days=7)
    people.accept_invitation(invitation=invited.invitation, user=cy)
    people.add_member(benchmark=benchmark, user=factories.user("di"), role=Role.VIEWER, actor=owner)
    factories.query(benchmark, "q1")

    for view in ("benchmark-detail", "activity-list"):
        page = signed_in(owner).get(reverse(view, args=[benchmark.slug])).content.decode()
        words = " ".join(strip_tags(page).split())
        assert "joined" in words, view
        assert "added di" in words, view
        assert f"made invitation {invited.invitation.pk}" in words, view

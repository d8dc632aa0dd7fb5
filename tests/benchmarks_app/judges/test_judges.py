"""Judges and their keys: sealed, bound to a host, and never given out."""

import json
import logging

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from benchmarks_app.judges.services import keys
from benchmarks_app.judges.services.errors import (
    JudgeAddressError,
    JudgeExtraMissingError,
    JudgeInUseError,
    JudgeKeyMovedError,
    JudgeKeySealError,
    JudgeKeyVariableError,
    JudgeNameError,
)
from benchmarks_app.judges.services.judges import change_judge, delete_judge, start_trial
from benchmarks_app.judges.services.keys import key_of, origin
from benchmarks_app.models import AuditEvent, JudgeEndpoint
from benchmarks_app.people.services.api_tokens import create_api_token
from tests import world as worlds
from tests.judge_stub import JudgeStub
from tests.open_pages import opened
from tests.scoring.making_contextual import case_set, evaluation, judge

pytestmark = pytest.mark.django_db
SENTINEL = "sk-sentinel-4711"
PUBLIC = "https://judge.example.org/v1"


@pytest.fixture
def private(settings):
    settings.JUDGE_PRIVATE_ADDRESSES = True


# --- sealed ----------------------------------------------------------------------------------


def test_a_key_is_sealed_and_opens_again(benchmark, owner):
    machine = judge(benchmark, owner, PUBLIC, key=SENTINEL)

    assert SENTINEL not in machine.key_sealed
    assert key_of(JudgeEndpoint.objects.get(pk=machine.pk)) == SENTINEL


def test_no_column_of_any_table_holds_the_key(benchmark, owner):
    judge(benchmark, owner, PUBLIC, key=SENTINEL)

    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')
            assert SENTINEL not in repr(cursor.fetchall()), table


def test_a_key_of_another_secret_is_asked_for_again(benchmark, owner, settings):
    machine = judge(benchmark, owner, PUBLIC, key=SENTINEL)
    before, settings.SECRET_KEY = settings.SECRET_KEY, "another secret"

    with pytest.raises(JudgeKeySealError, match="Enter the key again"):
        key_of(machine)

    settings.SECRET_KEY_FALLBACKS = [before]
    assert key_of(machine) == SENTINEL


def test_a_stored_key_does_not_go_to_another_host(benchmark, owner):
    machine = judge(benchmark, owner, PUBLIC, key=SENTINEL)

    with pytest.raises(JudgeKeyMovedError, match=r"https://judge\.example\.org"):
        change_judge(judge=machine, user=owner, base_url="https://evil.example.org/v1")
    machine.refresh_from_db()
    assert machine.base_url == PUBLIC

    machine.answer_format, machine.trial = "json_object", {"is_good": True}
    machine.save()
    change_judge(judge=machine, user=owner, name="another")
    assert machine.trial == {"is_good": True}
    change_judge(judge=machine, user=owner, base_url="https://judge.example.org/v2")
    assert key_of(machine) == SENTINEL
    assert (machine.answer_format, machine.trial) == ("", {})  # it was tried somewhere else
    change_judge(judge=machine, user=owner, base_url="https://evil.example.org/v1", key="other")
    assert key_of(machine) == "other"


def test_a_forgotten_key_is_gone(benchmark, owner):
    machine = judge(benchmark, owner, PUBLIC, key=SENTINEL)

    change_judge(judge=machine, user=owner, is_key_forgotten=True)

    assert key_of(JudgeEndpoint.objects.get(pk=machine.pk)) == ""


# --- in the environment ----------------------------------------------------------------------


def test_a_variable_is_used_for_its_own_address_alone(benchmark, owner, settings, monkeypatch):
    settings.JUDGE_KEYS = {"HOUSE_KEY": "https://judge.example.org/v1"}
    monkeypatch.setenv("HOUSE_KEY", SENTINEL)
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")

    machine = judge(benchmark, owner, PUBLIC, key="stored")
    change_judge(judge=machine, user=owner, key_variable="HOUSE_KEY")
    assert (key_of(machine), machine.key_sealed) == (SENTINEL, "")  # the stored one is forgotten
    with pytest.raises(JudgeKeyVariableError, match="not allowed it"):
        judge(benchmark, owner, PUBLIC, name="b", key_variable="DATABASE_URL")
    with pytest.raises(JudgeKeyVariableError, match="it is for https"):
        judge(benchmark, owner, "https://evil.org/v1", name="c", key_variable="HOUSE_KEY")


def test_a_variable_that_is_no_longer_allowed_opens_nothing(
    benchmark, owner, settings, monkeypatch
):
    settings.JUDGE_KEYS = {"HOUSE_KEY": PUBLIC}
    machine = judge(benchmark, owner, PUBLIC, key_variable="HOUSE_KEY")
    with pytest.raises(JudgeKeyVariableError, match="empty where the worker runs"):
        key_of(machine)
    monkeypatch.setenv("HOUSE_KEY", SENTINEL)
    settings.JUDGE_KEYS = {}

    with pytest.raises(JudgeKeyVariableError, match="not allowed it"):
        key_of(machine)


# --- addresses -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "http://judge.example.org/v1",
        "https://127.0.0.1/v1",
        "https://localhost/v1",
        "https://10.1.2.3/v1",
        "https://[::ffff:10.0.0.1]/v1",
        "https://169.254.169.254/latest",
        "https://user:pw@judge.example.org/v1",
        "https://judge.example.org/v1?key=1",
        "file:///etc/passwd",
        "judge",
    ],
)
def test_an_address_that_may_not_be_asked_is_refused(benchmark, owner, address):
    with pytest.raises(JudgeAddressError):
        judge(benchmark, owner, address)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://Judge.example.org/v1", "https://judge.example.org"),
        ("https://judge.example.org:443/v1", "https://judge.example.org"),
        ("https://judge.example.org:8443/v1", "https://judge.example.org:8443"),
    ],
)
def test_what_a_key_belongs_to_is_scheme_host_and_port(address, expected):
    assert origin(address) == expected


# --- made and tried --------------------------------------------------------------------------


def test_a_name_is_given_once(benchmark, owner):
    judge(benchmark, owner, PUBLIC)

    with pytest.raises(JudgeNameError):
        judge(benchmark, owner, PUBLIC)


def test_a_missing_extra_is_named(benchmark, owner, signed_in, monkeypatch):
    machine = judge(benchmark, owner, PUBLIC)
    known = keys.find_spec
    monkeypatch.setattr(keys, "find_spec", lambda name: None if name == "openai" else known(name))

    with pytest.raises(JudgeExtraMissingError, match="openai is not installed"):
        start_trial(judge=machine, user=owner)
    page = signed_in(owner).get(machine.get_absolute_url()).content.decode()
    assert "benchwright[judge]" in page
    assert "Try it" not in page


def tried(made, owner, do_jobs):
    start_trial(judge=made, user=owner)
    do_jobs()
    made.refresh_from_db()
    return made.trial


def test_a_trial_says_what_came_back(benchmark, owner, private, do_jobs, signed_in):
    with JudgeStub(key=SENTINEL, knows="json") as stub:
        machine = judge(benchmark, owner, stub.url, key=SENTINEL, price_in=1.0, price_out=2.0)
        outcome = tried(machine, owner, do_jobs)

    assert outcome["is_good"]
    assert outcome["model"] == "tiny-2026-01-01"
    assert outcome["cost"] > 0
    assert machine.answer_format == "json"
    page = signed_in(owner).get(machine.get_absolute_url()).content.decode()
    assert "differently than a person would" in page  # the stub knows nothing of Paris
    assert "as JSON, without a schema" in page


@pytest.mark.parametrize(
    ("fault", "code"), [("refusal", "judge-refusal"), ("404", ""), ("bad-json", "judge-answer")]
)
def test_a_trial_that_fails_says_why(fault, code, benchmark, owner, private, do_jobs, signed_in):
    with JudgeStub() as stub:
        stub.always_fault("capital of France", fault)
        machine = judge(benchmark, owner, stub.url)
        outcome = tried(machine, owner, do_jobs)

    assert not outcome["is_good"]
    assert code in outcome["code"]
    assert "It did not work." in signed_in(owner).get(machine.get_absolute_url()).content.decode()


def test_a_trial_of_nobody_says_so(benchmark, owner, private, do_jobs):
    machine = judge(benchmark, owner, "http://127.0.0.1:9/v1", max_attempts=1)

    assert tried(machine, owner, do_jobs)["code"] == "judge-connection"


def test_what_came_meanwhile_is_neither_put_back_nor_started_twice(benchmark, owner):
    machine = judge(benchmark, owner, PUBLIC)
    early = JudgeEndpoint.objects.get(pk=machine.pk)
    trial, answer_format = {"answer": "1"}, "json_object"
    JudgeEndpoint.objects.filter(pk=machine.pk).update(trial=trial, answer_format=answer_format)

    change_judge(judge=early, user=owner, name="another")
    assert (early.name, early.trial, early.answer_format) == ("another", trial, answer_format)

    late = JudgeEndpoint.objects.get(pk=machine.pk)
    start_trial(judge=JudgeEndpoint.objects.get(pk=machine.pk), user=owner)
    with pytest.raises(JudgeInUseError, match="being tried"):
        start_trial(judge=late, user=owner)
    with pytest.raises(JudgeInUseError, match="being tried"):
        delete_judge(judge=early, user=owner)


# --- the key is nowhere to be seen -----------------------------------------------------------


@pytest.fixture
def whole(benchmark, owner, private, do_jobs):
    """A judge with the sentinel for a key that the stub repeats wherever it can."""
    with JudgeStub(key=SENTINEL) as stub:
        machine = judge(benchmark, owner, stub.url, key=SENTINEL, max_attempts=1)
        stub.always_fault("question 1 ", "500:0")
        stub.always_fault("question 2 ", "echo-key")
        stub.always_fault("question 3 ", "400")
        start_trial(judge=machine, user=owner)
        done = evaluation(case_set(benchmark, owner), machine, owner)
        do_jobs()
        assert stub.requests[0].headers["authorization"] == f"Bearer {SENTINEL}"
    return done


def test_no_page_endpoint_export_or_log_holds_the_key(benchmark, owner, whole, signed_in, caplog):
    caplog.set_level(logging.DEBUG)
    assert whole.outcomes.failed().count() == 3
    known = {
        "slug": benchmark.slug,
        "pk": None,
        "number": 1,
        "format": "json",
        "image": 0,
    }
    pks = {"judge": whole.endpoint_id, "set": whole.case_set_id, "evaluation": whole.pk}
    issued = create_api_token(user=owner, name="test", days=1)
    api = Client(headers={"Authorization": f"Bearer {issued.secret}"})
    asked = []
    for address in worlds.addresses():
        noun, *words = address.name.rpartition(":")[2].split("-")
        kinds = [kind for kind in pks if kind in (noun, *words)]
        if noun not in ("judge", "contextual", "job", "activity"):
            continue
        for pk in {pks[k] for k in kinds} or set(pks.values()):
            arguments = {name: known[name] for name in address.parameters}
            if "pk" in arguments:
                arguments["pk"] = pk
            client = api if address.name.startswith("api:") else signed_in(owner)
            response = client.get(reverse(address.name, kwargs=arguments))
            content = b"".join(response) if response.streaming else response.content
            assert SENTINEL.encode() not in content, address.name
            asked.append((address.name, response.status_code))
    assert len({name for name, status in asked if status == 200}) >= 30
    for job in benchmark.jobs.all():
        assert SENTINEL not in json.dumps([job.parameters, job.result, job.error, job.problems])
    assert SENTINEL not in repr(list(AuditEvent.objects.values()))
    assert SENTINEL not in caplog.text


def test_a_form_that_comes_back_does_not_hold_the_key(benchmark, owner, signed_in):
    url = reverse("judge-new", args=[benchmark.slug])
    sent = {"name": "", "base_url": PUBLIC, "model": "m", "key": SENTINEL, "concurrency": 8}

    response = signed_in(owner).post(url, sent)

    assert response.status_code == 422
    assert SENTINEL not in response.content.decode()


def test_page_makes_and_changes_a_judge(benchmark, owner, signed_in):
    client = signed_in(owner)
    facts = {"concurrency": 4, "timeout_seconds": 30, "max_attempts": 2}
    sent = {"name": "a", "base_url": f"{PUBLIC}/", "model": "m", "key": SENTINEL, **facts}

    client.post(reverse("judge-new", args=[benchmark.slug]), sent)

    record = JudgeEndpoint.objects.get()
    assert (record.base_url, key_of(record), record.concurrency) == (PUBLIC, SENTINEL, 4)
    edit = reverse("judge-edit", args=[benchmark.slug, record.pk])
    client.post(edit, {**sent, "key": "", "model": "n"})
    record.refresh_from_db()
    assert (record.model, key_of(record)) == ("n", SENTINEL)
    response = client.post(edit, {**sent, "key": "", "base_url": "https://evil.example.org/v1"})
    assert response.status_code == 422
    assert "not sent elsewhere" in response.content.decode()


def test_a_page_open_for_a_while_does_not_put_back_what_another_has_changed(
    benchmark, owner, signed_in
):
    machine = judge(benchmark, owner, PUBLIC)
    client, edit = signed_in(owner), reverse("judge-edit", args=[benchmark.slug, machine.pk])
    page = client.get(edit).content.decode()
    initials = opened(page)
    fields = {name.removeprefix("initial-"): value for name, value in initials.items()}
    change_judge(judge=machine, user=owner, model="n", price_in=1.0, price_out=2.0, key=SENTINEL)

    answer = client.post(edit, {**initials, **fields, "concurrency": "9", "key": ""})

    machine.refresh_from_db()
    assert answer.status_code == 302
    assert (machine.model, machine.price_in, machine.price_out) == ("n", 1.0, 2.0)
    assert (machine.concurrency, key_of(machine)) == (9, SENTINEL)
    assert SENTINEL not in page


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("base_url", "http://10.0.0.1/v1", "expected https"),
        ("key", "with a blank", "visible ASCII"),
        ("price_in", "1", "Enter both prices"),
        ("concurrency", "65", "Expected a whole number from 1 to 64."),
    ],
)
def test_page_says_what_is_wrong_with_a_judge(benchmark, owner, signed_in, field, value, words):
    sent = {"name": "a", "base_url": PUBLIC, "model": "m", "concurrency": 4}
    sent |= {"timeout_seconds": 30, "max_attempts": 2, field: value}

    url = reverse("judge-new", args=[benchmark.slug])
    response = signed_in(owner).post(url, sent)

    assert response.status_code == 422
    assert words in response.content.decode()


def test_the_api_takes_both_prices_or_none(benchmark, owner, signed_in):
    sent = {"name": "a", "base_url": PUBLIC, "model": "m"}
    prices = {"price_in": 1.0, "price_out": 2.0}
    client, url = signed_in(owner), reverse("api:judge-list", args=[benchmark.slug])

    half = client.post(url, {**sent, "price_in": 1.0}, content_type="application/json")
    both = client.post(url, {**sent, **prices}, content_type="application/json")
    address = reverse("api:judge-detail", args=[benchmark.slug, both.json()["id"]])
    changes = [{"price_out": None}, {"price_out": 3.0}, dict.fromkeys(prices)]
    answers = [client.patch(address, change, content_type="application/json") for change in changes]

    assert (half.status_code, half.json()["errors"]) == (
        400,
        {"price_out": ["Send both prices, or neither."]},
    )
    assert [answer.status_code for answer in (both, *answers)] == [201, 400, 200, 200]

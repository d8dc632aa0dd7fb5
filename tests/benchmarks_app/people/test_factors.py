"""Second factors: set up, asked for, gone around by nobody, taken away."""

import json
import random
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest
from allauth.core.context import request_context
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.core import mail
from django.core.cache import cache, caches
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import NoReverseMatch, reverse
from fido2.utils import websafe_decode, websafe_encode

from benchmarks_app.errors import FactorSecretError
from benchmarks_app.models import AuditEvent, User
from benchmarks_app.people.services import factors
from benchmarks_app.people.services.api_tokens import create_api_token
from benchmarks_app.people.services.forgetting import delete_person
from tests import factories
from tests.benchmarks_app.security_key import SecurityKey

PASSWORD = "a long password"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
SECOND = "/sign-in/second/"
LIST = "/account/factors/"
NEW = "another long one"


@pytest.fixture(autouse=True)
def mail_goes_with_the_commit(monkeypatch):
    """Nothing commits within a test: what waits for it is done at once."""
    monkeypatch.setattr("django.db.transaction.on_commit", lambda send, **options: send())


def code_of(secret: str = SECRET, steps: int = 0) -> str:
    """The app's code of now, or of so many steps of 30 s later."""
    step = int(time.time()) // 30 + steps
    return totp.format_hotp_value(totp.hotp_value(secret, step))


def with_app(user: User) -> list[str]:
    """Set up an app whose codes were not used; its recovery codes."""
    codes = factors.add_totp(user=user, secret=SECRET, step=0)
    mail.outbox.clear()
    return codes


def half(name: str = "ada", password: str = PASSWORD, **extra: str) -> Client:
    """A browser after the password."""
    client = Client(HTTP_HOST="localhost")
    client.post("/sign-in/", {"username": name, "password": password, **extra})
    return client


def is_in(client: Client) -> bool:
    return client.get(reverse("account-detail")).status_code == 200


def second(client: Client, code: str, **extra: str):
    return client.post(SECOND, {"code": code}, **extra)


def options_in(response) -> dict:
    return response.context["options"]


def with_key(user: User, **options) -> SecurityKey:
    """Set up a security key through its page."""
    client, key = Client(HTTP_HOST="localhost"), SecurityKey(**options)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(reverse("security-key-create"))
    fields = {"name": "blue", "password": PASSWORD, "credential": key.create(options_in(page))}
    assert client.post(reverse("security-key-create"), fields).status_code in (200, 302)
    mail.outbox.clear()
    return key


# --- signing in ----------------------------------------------------------------------------


def test_password_alone_signs_in_who_has_no_second_factor(ada):
    assert is_in(half())


def test_code_of_the_app_after_the_password_signs_in_and_leads_on(ada):
    with_app(ada)
    client = half(next=reverse("team-list"))
    assert not is_in(client)

    answer = second(client, code_of())

    assert answer["Location"] == reverse("team-list")
    assert is_in(client)
    assert factors.factors_of(ada).get(type="totp").last_used_at


@pytest.mark.parametrize("steps", [-1, 1])
def test_code_of_the_step_before_or_after_is_taken(ada, steps):
    with_app(ada)
    client = half()

    second(client, code_of(steps=steps))

    assert is_in(client)


@pytest.mark.parametrize("code", ["", "000", "12345678901", "²³⁴⁵⁶⁷", "x" * 60, "\x00"])
def test_wrong_code_signs_nobody_in(ada, code):
    with_app(ada)
    client = half()

    assert second(client, code).status_code == 422
    assert not is_in(client)


@pytest.mark.parametrize("steps", [-40, -3, 3, 40])
def test_codes_of_other_times_are_wrong(ada, steps):
    with_app(ada)
    client = half()

    assert second(client, code_of(steps=steps)).status_code == 422
    assert not is_in(client)


def test_code_is_good_once_in_whatever_browser_and_process(ada):
    with_app(ada)
    code = code_of()
    assert second(half(), code).status_code == 302
    # Another process has a cache of its own.
    cache.clear()

    other = half()

    assert second(other, code).status_code == 422
    assert second(other, code_of(steps=-1)).status_code == 422
    assert not is_in(other)


def test_code_that_set_the_app_up_does_not_sign_in_as_well(ada):
    step = int(time.time()) // 30
    factors.add_totp(user=ada, secret=SECRET, step=step)
    client = half()

    assert second(client, code_of()).status_code == 422


def test_code_of_another_persons_app_is_wrong(ada, bo):
    with_app(ada)
    factors.add_totp(user=bo, secret=SECRET[::-1].replace("3", "B"), step=0)
    client = half("bo")

    assert second(client, code_of()).status_code == 422


def test_recovery_code_signs_in_once_and_its_person_is_told(ada):
    codes = with_app(ada)
    client, other = half(), half()

    second(client, codes[3])
    again = second(other, codes[3].replace("-", ""))

    assert is_in(client)
    assert again.status_code == 422
    assert "9 are left" in mail.outbox[0].body
    assert AuditEvent.objects.filter(action="recovery-code-use", actor=ada).count() == 1
    assert "<strong>9</strong> left" in client.get(LIST).content.decode()


def test_security_key_signs_in(ada):
    key = with_key(ada)
    client = half()

    answer = client.post(SECOND, {"credential": key.get(options_in(client.get(SECOND)))})

    assert answer.status_code == 302
    assert is_in(client)


def test_key_without_a_counter_signs_in_again_and_again(ada):
    key = with_key(ada, counts=False)

    for _ in range(2):
        client = half()
        client.post(SECOND, {"credential": key.get(options_in(client.get(SECOND)))})
        assert is_in(client)


def test_answer_of_a_key_is_good_once(ada):
    key = with_key(ada, counts=False)
    client = half()
    answer = key.get(options_in(client.get(SECOND)))
    client.post(SECOND, {"credential": answer})

    other = half()
    other.get(SECOND)

    assert other.post(SECOND, {"credential": answer}).status_code == 422
    assert not is_in(other)


def test_copy_of_a_key_that_counts_behind_it_is_refused(ada):
    key = with_key(ada)
    key.counter = 7
    first, later = half(), half()
    first.post(SECOND, {"credential": key.get(options_in(first.get(SECOND)))})
    key.counter = 3

    answer = later.post(SECOND, {"credential": key.get(options_in(later.get(SECOND)))})

    assert answer.status_code == 422


def test_key_of_another_site_or_another_person_or_unknown_is_refused(ada, bo):
    key, bos = with_key(ada), with_key(bo)
    lured = key.__class__.__new__(SecurityKey)
    lured.__dict__ = {**key.__dict__, "origin": "https://localhost.evil.example"}

    for wrong in (bos, lured, SecurityKey()):
        client = half()
        answer = client.post(SECOND, {"credential": wrong.get(options_in(client.get(SECOND)))})
        assert answer.status_code == 422
        assert not is_in(client)


@pytest.mark.parametrize(
    "credential",
    [
        "{}",
        "[]",
        "null",
        "[" * 15_000,
        '{"a":' * 3_000,
        "x" * 30_000,
        '{"a": "\\u0000"}',
        '{"id": "a", "rawId": "b", "response": {}, "type": "public-key"}',
        '{"id": 1, "rawId": "é", "response": {"clientDataJSON": "e30", "authenticatorData": "AA", '
        '"signature": ""}, "type": "public-key", "clientExtensionResults": {}}',
    ],
    ids=lambda text: text[:12],
)
def test_answers_that_are_none_are_refused(ada, credential):
    with_key(ada)
    client = half()
    client.get(SECOND)

    assert client.post(SECOND, {"credential": credential}).status_code == 422


def test_answers_that_were_tampered_with_are_refused_and_never_break(ada):
    rng, key = random.Random(7), with_key(ada, counts=False)
    page = half().get(SECOND)
    good = key.get(options_in(page))

    state = page.wsgi_request.session["mfa.webauthn.state"]

    with request_context(page.wsgi_request):
        for answer in tampered(good, rng):
            factor = factors.use_key(user=ada, credential=answer)
            # What stands beside the signed response proves nothing, and may be anything.
            assert factor is None or answer["response"] == json.loads(good)["response"]
            page.wsgi_request.session["mfa.webauthn.state"] = state
        assert factors.use_key(user=ada, credential=json.loads(good))


def test_new_keys_that_were_tampered_with_never_break(ada, signed_in):
    rng = random.Random(8)
    page = signed_in(ada).get(reverse("security-key-create"), headers={"host": "localhost"})
    good = SecurityKey().create(options_in(page))
    state = page.wsgi_request.session["mfa.webauthn.state"]

    with request_context(page.wsgi_request):
        for answer in tampered(good, rng):
            with transaction.atomic():
                factors.add_key(user=ada, name="x", credential=answer)
                transaction.set_rollback(True)
            page.wsgi_request.session["mfa.webauthn.state"] = state


ODD = [None, 7, "", [], {}, "AA", "x" * 900, True, {"a": {}}, "\x00", "\ud800"]


def tampered(good: str, rng: random.Random) -> Iterator[dict]:
    """Answers with one value cut short, changed in one bit, or of another kind."""
    for _ in range(400):
        answer = json.loads(good)
        name = rng.choice(list(answer["response"]))
        raw = bytearray(websafe_decode(answer["response"][name]))
        place = rng.randrange(len(raw))
        match rng.randrange(4):
            case 0:
                raw[place] ^= 1 << rng.randrange(8)
                answer["response"][name] = websafe_encode(bytes(raw))
            case 1:
                answer["response"][name] = websafe_encode(bytes(raw[:place]))
            case 2:
                answer["response"][name] = rng.choice(ODD)
            case 3:
                answer[rng.choice(["id", "rawId", "response", "type"])] = rng.choice(ODD)
        # As the forms read it.
        if credential := factors.read_credential(json.dumps(answer)):
            yield credential


def test_credential_that_a_database_could_not_keep_is_none():
    assert factors.read_credential('{"id": "a"}') == {"id": "a"}
    assert factors.read_credential('{"id": "\\u0000"}') is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(
    connection.vendor != "postgresql",
    reason="threads share one connection of the in-memory SQLite; run with DATABASE_URL",
)
@pytest.mark.parametrize("kind", ["app", "recovery"])
def test_code_that_comes_twice_at_the_same_time_is_taken_once(ada, kind):
    codes = with_app(ada)
    code, start = code_of() if kind == "app" else codes[0], threading.Barrier(6)

    def use(_) -> bool:
        try:
            start.wait()
            return factors.use_code(user=ada, code=code) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        assert sorted(threads.map(use, range(6))) == [False] * 5 + [True]


# --- ways around ---------------------------------------------------------------------------


def test_browser_after_the_password_is_signed_in_nowhere(ada, owner):
    with_app(owner)
    client = half("olga")

    for name, args in [("home", []), ("people-list", ["stdlib"]), ("benchmark-detail", ["stdlib"])]:
        assert not client.get(reverse(name, args=args)).wsgi_request.user.is_authenticated
    assert client.get("/api/v1/benchmarks/stdlib/people/").status_code == 401
    assert client.get("/admin/").status_code == 302
    assert client.get(LIST).status_code == 302
    assert client.post("/account/tokens/", {"name": "x", "days": 3}).status_code == 302


def test_second_page_without_the_password_leads_to_the_password(ada):
    with_app(ada)

    assert second(Client(), code_of())["Location"] == "/sign-in/"


def test_reset_link_does_not_go_around_the_second_factor(ada):
    with_app(ada)
    client = Client()
    client.post("/password/reset/", {"email": "ada@example.org"})
    link = re.search(r"http://testserver(/password/reset/\S+)", mail.outbox[-1].body)[1]
    form = client.get(link, follow=True)
    client.post(form.request["PATH_INFO"], {"new_password1": NEW, "new_password2": NEW})

    assert not is_in(client)
    after = half(password=NEW)
    assert not is_in(after)
    assert second(after, code_of()).status_code == 302


def test_new_password_ends_what_waits_for_a_code(ada):
    with_app(ada)
    client = half()
    ada.set_password(NEW)
    ada.save()

    assert second(client, code_of())["Location"] == "/sign-in/"


def test_deactivated_account_does_not_finish(ada):
    with_app(ada)
    client = half()
    User.objects.filter(pk=ada.pk).update(is_active=False)

    assert second(client, code_of())["Location"] == "/sign-in/"


def test_what_waits_for_a_code_ends_after_ten_minutes(ada, monkeypatch):
    with_app(ada)
    client = half()
    now = time.time()
    monkeypatch.setattr("benchmarks_app.people.second_step.time.time", lambda: now + 601)

    assert second(client, code_of(steps=20))["Location"] == "/sign-in/"


def test_staffs_pages_have_no_door_of_their_own(db):
    root = factories.user("root", is_staff=True, is_superuser=True)
    with_app(root)
    client = Client()

    page = client.get("/admin/login/?next=/admin/")
    fields = {"username": "root", "password": PASSWORD, "next": "/admin/"}
    client.post("/admin/login/?next=/admin/", fields)

    assert page["Location"] == "/sign-in/?next=/admin/"
    assert client.get("/admin/").status_code == 302
    finished = half("root", next="/admin/")
    assert second(finished, code_of())["Location"] == "/admin/"
    assert finished.get("/admin/").status_code == 200


def test_staffs_pages_show_no_secrets(db, signed_in):
    root = factories.user("root", is_staff=True, is_superuser=True)
    with_app(root)

    assert "authenticator" not in signed_in(root).get("/admin/").content.decode().lower()
    with pytest.raises(NoReverseMatch):
        reverse("admin:mfa_authenticator_changelist")


def test_own_second_factor_does_not_open_anothers_account(ada, bo):
    """The one who waits is who gave a password last."""
    with_app(ada)
    factors.add_totp(user=bo, secret=SECRET[::-1].replace("3", "B"), step=0)
    client = half("bo")
    client.post("/sign-in/", {"username": "ada", "password": PASSWORD})

    second(client, code_of(SECRET[::-1].replace("3", "B")))
    assert not is_in(client)
    second(client, code_of())

    assert client.get(LIST).wsgi_request.user == ada


def test_challenge_of_one_is_no_challenge_of_another(ada, bo):
    with_key(bo)
    mine = with_key(ada)
    client = half("ada")
    answer = mine.get(options_in(client.get(SECOND)))
    client.post("/sign-in/", {"username": "bo", "password": PASSWORD})

    assert client.post(SECOND, {"credential": answer}).status_code == 422
    assert not is_in(client)


def test_who_is_signed_in_stays_so_until_the_other_has_given_both(ada, bo):
    with_app(bo)
    client = half("ada")
    client.post("/sign-in/", {"username": "bo", "password": PASSWORD})

    assert client.get(LIST).wsgi_request.user == ada
    second(client, code_of())
    assert client.get(LIST).wsgi_request.user == bo


def test_session_of_the_password_is_a_new_one(ada):
    with_app(ada)
    client = Client()
    client.get("/sign-in/")
    client.session.save()
    record = client.cookies.get("sessionid")
    client.post("/sign-in/", {"username": "ada", "password": PASSWORD})
    after_password = client.cookies["sessionid"].value
    second(client, code_of())

    assert record is None or record.value != after_password
    assert client.cookies["sessionid"].value != after_password


@pytest.mark.parametrize("path", ["signup", "login", "email", "password/reset", "logout", "2fa"])
def test_addresses_of_the_library_are_not_there(client, db, path):
    assert client.get(f"/accounts/{path}/").status_code == 404
    with pytest.raises(NoReverseMatch):
        reverse("account_login")
    with pytest.raises(NoReverseMatch):
        reverse("mfa_index")


def test_sessions_of_before_go_on(ada):
    client = half()

    with_app(ada)

    assert is_in(client)


def test_api_tokens_go_on(ada):
    token = create_api_token(user=ada, name="x", days=3)
    with_app(ada)

    answer = Client().get("/api/v1/me/", headers={"Authorization": f"Bearer {token.secret}"})

    assert answer.status_code == 200


# --- limits --------------------------------------------------------------------------------


def test_wrong_codes_are_counted_like_wrong_passwords(ada):
    with_app(ada)
    client = half()

    answers = [second(client, "000000").status_code for _ in range(5)]

    assert answers == [422] * 4 + [429]
    assert second(client, code_of()).status_code == 429
    assert not is_in(client)


def test_outsiders_with_the_password_do_not_lock_out_a_browser_that_is_known(ada):
    with_app(ada)
    known = half()
    second(known, code_of(steps=-1))
    known.post(reverse("sign-out"))
    for n in range(25):
        stranger = Client(REMOTE_ADDR=f"203.0.113.{n}")
        stranger.post("/sign-in/", {"username": "ada", "password": PASSWORD})
        second(stranger, "000000")

    known.post("/sign-in/", {"username": "ada", "password": PASSWORD})

    assert second(known, code_of()).status_code == 302


def test_codes_from_unknown_browsers_are_few_an_hour_and_the_owner_is_told(ada, settings):
    settings.AXES_FAILURE_LIMIT = 1_000
    with_app(ada)
    answers = []
    for n in range(21):
        stranger = Client(REMOTE_ADDR=f"203.0.113.{n}")
        stranger.post("/sign-in/", {"username": "ada", "password": PASSWORD})
        answers.append(second(stranger, "000000").status_code)

        if n == 10:  # others fill up what is counted in memory, or the web server starts anew
            caches["limits"].clear()

    assert answers == [422] * 20 + [429]
    assert AuditEvent.objects.filter(action="code-try", target=f"user {ada.pk}").count() == 20
    assert "tried many wrong codes" in mail.outbox[0].body
    stranger = Client(REMOTE_ADDR="203.0.113.99")
    stranger.post("/sign-in/", {"username": "ada", "password": PASSWORD})
    assert second(stranger, code_of()).status_code == 429
    assert len(mail.outbox) == 1
    ada.set_password(NEW)
    ada.save()
    assert second(half(password=NEW), code_of()).status_code == 302


def test_codes_are_in_no_record_of_failures(ada):
    from axes.models import AccessAttempt

    with_app(ada)
    second(half(), "987654")

    assert "987654" not in str(list(AccessAttempt.objects.values()))
    assert AccessAttempt.objects.get().failures_since_start == 1


# --- setting up ----------------------------------------------------------------------------


def test_app_is_set_up_by_its_first_code_and_codes_are_shown_once(signed_in, ada):
    client = signed_in(ada)
    page = client.get(reverse("totp-create"))
    secret = page.context["secret"].replace(" ", "")

    fields = {"code": code_of(secret), "password": PASSWORD}
    answer = client.post(reverse("totp-create"), fields)

    codes = answer.context["codes"]
    assert "<svg" in page.content.decode()
    assert secret in page.context["address"]
    assert len(set(codes)) == 10
    assert "\n".join(codes) in answer.content.decode()
    assert not any(code in client.get(LIST).content.decode() for code in codes)
    assert "an authenticator app was set up" in mail.outbox[0].body
    assert mail.outbox[0].to == ["ada@example.org"]
    assert AuditEvent.objects.filter(action="factor-add", actor=ada).count() == 1
    assert client.get(reverse("totp-create")).status_code == 409


@pytest.mark.parametrize(
    ("code", "password", "field"),
    [("000000", PASSWORD, "code"), (None, "wrong", "password"), (None, "", "password")],
)
def test_app_is_not_set_up_without_its_code_and_the_password(signed_in, ada, code, password, field):
    client = signed_in(ada)
    secret = client.get(reverse("totp-create")).context["secret"].replace(" ", "")

    fields = {"code": code or code_of(secret), "password": password}
    answer = client.post(reverse("totp-create"), fields)

    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert not factors.factors_of(ada).exists()
    # The same key is still there: the app that has read it need not begin anew.
    assert answer.context["secret"].replace(" ", "") == secret


def test_passwords_on_these_pages_are_counted(signed_in, ada):
    with_app(ada)
    client, url = signed_in(ada), reverse("recovery-codes-create")
    for _ in range(20):
        client.post(url, {"password": "wrong"})

    answer = client.post(url, {"password": PASSWORD})

    assert "Too many passwords" in answer.content.decode()


def test_secrets_are_stored_encrypted(ada):
    codes = with_app(ada)
    stored = str(list(Authenticator.objects.values("data")))

    assert SECRET not in stored
    assert not any(code.replace("-", "") in stored for code in codes)


def test_secret_of_the_site_may_change_while_the_earlier_one_is_named(ada, settings):
    with_app(ada)
    earlier, settings.SECRET_KEY = settings.SECRET_KEY, "another" * 10
    with pytest.raises(FactorSecretError):
        factors.use_code(user=ada, code=code_of())

    settings.SECRET_KEY_FALLBACKS = [earlier]

    assert factors.use_code(user=ada, code=code_of())


def test_second_key_brings_no_new_codes(signed_in, ada):
    with_key(ada)
    client = signed_in(ada)
    page = client.get(reverse("security-key-create"), headers={"host": "localhost"})
    fields = {"name": "red", "password": PASSWORD}
    fields["credential"] = SecurityKey().create(options_in(page))
    url = reverse("security-key-create")

    answer = client.post(url, fields, headers={"host": "localhost"})

    assert answer["Location"] == LIST
    names = [str(factor) for factor in factors.factors_of(ada).filter(type="webauthn")]
    assert names == ["blue", "red"]


def test_key_needs_the_password_and_the_challenge_of_this_session(signed_in, ada):
    client, url, key = signed_in(ada), reverse("security-key-create"), SecurityKey()
    page = client.get(url, headers={"host": "localhost"})
    credential = key.create(options_in(page))

    refused = client.post(
        url,
        {"name": "k", "password": "wrong", "credential": credential},
        headers={"host": "localhost"},
    )
    # The page that says so has a challenge of its own.
    stale = client.post(
        url,
        {"name": "k", "password": PASSWORD, "credential": credential},
        headers={"host": "localhost"},
    )

    assert refused.status_code == stale.status_code == 422
    assert not factors.factors_of(ada).exists()


def test_account_has_so_many_keys(ada, monkeypatch):
    monkeypatch.setattr(factors, "MOST_KEYS", 1)
    with_key(ada)
    client = half()
    client.force_login(ada, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(reverse("security-key-create"))
    fields = {"name": "k", "password": PASSWORD}
    fields["credential"] = SecurityKey().create(options_in(page))

    assert client.post(reverse("security-key-create"), fields).status_code == 409


def test_new_codes_end_the_earlier_ones(signed_in, ada):
    [old, *_] = with_app(ada)
    answer = signed_in(ada).post(reverse("recovery-codes-create"), {"password": PASSWORD})
    [new, *_] = answer.context["codes"]

    assert second(half(), old).status_code == 422
    assert second(half(), new).status_code == 302
    assert "new recovery codes" in mail.outbox[0].body


def test_codes_are_made_only_beside_another_factor(signed_in, ada):
    assert signed_in(ada).get(reverse("recovery-codes-create")).status_code == 404


# --- taking away ---------------------------------------------------------------------------


def test_factor_goes_with_the_password_only_and_its_person_is_told(signed_in, ada):
    with_app(ada)
    client, factor = signed_in(ada), factors.factors_of(ada).get(type="totp")
    url = reverse("factor-remove", args=[factor.pk])

    assert client.post(url, {}).status_code == 422
    assert client.post(url, {"password": "wrong"}).status_code == 422
    assert factors.factors_of(ada).count() == 2
    client.post(url, {"password": PASSWORD})

    # Recovery codes alone would sign in beside the password for nothing.
    assert not factors.factors_of(ada).exists()
    assert "taken away" in mail.outbox[0].body
    assert AuditEvent.objects.filter(action="factor-remove", actor=ada).count() == 1
    assert is_in(half())


def test_recovery_codes_stay_while_another_factor_does(signed_in, ada):
    with_app(ada)
    with_key(ada)
    factor = factors.factors_of(ada).get(type="totp")

    signed_in(ada).post(reverse("factor-remove", args=[factor.pk]), {"password": PASSWORD})

    kinds = set(factors.factors_of(ada).values_list("type", flat=True))
    assert kinds == {"webauthn", "recovery_codes"}


def test_nobody_takes_anothers_factor_away(signed_in, ada, bo):
    with_app(bo)
    url = reverse("factor-remove", args=[factors.factors_of(bo).get(type="totp").pk])

    assert signed_in(ada).post(url, {"password": PASSWORD}).status_code == 404
    assert factors.factors_of(bo).count() == 2


def test_operator_takes_all_away_and_it_is_written_down(ada):
    with_app(ada)
    with_key(ada)
    out = StringIO()

    call_command("remove_factors", "ada", stdout=out)

    assert "2 second factors taken away" in out.getvalue()
    assert not factors.factors_of(ada).exists()
    event = AuditEvent.objects.get(action="factor-remove")
    assert (event.actor_id, event.target) == (None, f"user {ada.pk}")
    assert "by whoever runs the site" in mail.outbox[0].body
    assert is_in(half())


def test_operator_is_told_who_is_unknown_or_has_none(ada):
    out = StringIO()
    call_command("remove_factors", "ada", stdout=out)

    assert "ada has none" in out.getvalue()
    with pytest.raises(CommandError, match="No user 'nobody'"):
        call_command("remove_factors", "nobody")


def test_account_that_is_removed_loses_its_factors(ada):
    with_app(ada)

    delete_person(user=ada, actor=None)

    assert not Authenticator.objects.exists()


# --- whom the site asks --------------------------------------------------------------------

ASKED = [
    ("keepers", "olga", True),
    ("keepers", "mia", True),
    ("keepers", "root", True),
    ("keepers", "bo", False),
    ("keepers", "ada", False),
    ("all", "ada", True),
    ("all", "vi", True),
    ("off", "olga", False),
    ("off", "root", False),
]


@pytest.fixture
def cast(owner, maintainer, ada, bo, vi):
    root = factories.user("root", is_staff=True)
    return {user.username: user for user in (owner, maintainer, ada, bo, vi, root)}


@pytest.mark.parametrize(("asks", "name", "is_asked"), ASKED)
def test_whom_the_site_asks_is_led_to_setting_one_up(settings, cast, asks, name, is_asked):
    settings.TWO_FACTORS = asks
    client = half(name)

    answer = client.get("/b/stdlib/")

    assert (answer.status_code, answer.get("Location")) == (
        (302, LIST) if is_asked else (200, None) if name != "root" else (404, None)
    )
    assert ("to go on" in client.get(LIST).content.decode()) == is_asked


def test_asked_person_goes_on_where_they_were_after_setting_up(settings, owner):
    settings.TWO_FACTORS = "keepers"
    client = half("olga")
    client.get("/b/stdlib/people/?page=1")
    secret = client.get(reverse("totp-create")).context["secret"].replace(" ", "")
    client.post(reverse("totp-create"), {"code": code_of(secret), "password": PASSWORD})

    page = client.get(LIST)

    assert page.context["then"] == "/b/stdlib/people/?page=1"
    assert client.get("/b/stdlib/people/").status_code == 200


def test_asked_person_without_one_changes_nothing_meanwhile(settings, owner):
    settings.TWO_FACTORS = "keepers"
    client = half("olga")

    posted = client.post("/b/stdlib/settings/", {"name": "x"})
    swapped = client.get("/b/stdlib/", headers={"HX-Request": "true"})

    assert posted["Location"] == LIST
    assert swapped["HX-Redirect"] == LIST
    assert client.get("/api/v1/benchmarks/stdlib/people/").json()["code"] == "factor-asked"
    assert client.get("/admin/")["Location"] == LIST
    assert client.get("/sign-in/").status_code == 200
    assert client.post(reverse("sign-out")).status_code == 302


def test_token_of_an_asked_person_reads_and_does_not_manage(settings, owner):
    token = create_api_token(user=owner, name="x", days=3)
    headers = {"Authorization": f"Bearer {token.secret}"}
    settings.TWO_FACTORS = "keepers"
    membership = factories.member(owner.memberships.get().benchmark, "guest", "annotator")
    url = f"/api/v1/benchmarks/stdlib/people/{membership.memberships.get().pk}/"
    fields = {"data": {"is_blindness_lifted": True}, "content_type": "application/json"}

    assert Client().get(url, headers=headers).status_code == 200
    refused = Client().patch(url, headers=headers, **fields)
    with_app(owner)

    assert (refused.status_code, refused.json()["code"]) == (403, "factor-asked")
    assert Client().patch(url, headers=headers, **fields).status_code == 200


def test_where_nobody_is_asked_no_statement_is_spent_on_it(settings, owner):
    client, n = half("olga"), {}
    for asks in ("off", "keepers"):
        settings.TWO_FACTORS = asks
        with_app(owner) if asks == "keepers" else None
        client.get("/teams/")
        with CaptureQueriesContext(connection) as queries:
            client.get("/teams/")
        n[asks] = len(queries)

    assert n["keepers"] == n["off"] + 1


# --- who sees it ---------------------------------------------------------------------------


def test_owner_sees_who_has_two_factors(signed_in, owner, ada, bo):
    with_app(ada)
    client = signed_in(owner)

    page = client.get("/b/stdlib/people/").content.decode()
    rows = client.get("/api/v1/benchmarks/stdlib/people/").json()["results"]

    assert page.count("two factors") == 1
    assert {row["username"]: row["has_two_factors"] for row in rows} == {
        "ada": True,
        "bo": False,
        "olga": False,
    }

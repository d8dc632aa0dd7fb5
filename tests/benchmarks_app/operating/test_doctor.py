"""What the doctor finds, and what to do about it."""

import json
import socket
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from benchmarks_app.models import Team, WorkerHeartbeat
from benchmarks_app.oidc import examining  # noqa: F401  # adds its part
from benchmarks_app.oidc.provider import Grant, Provider
from benchmarks_app.operating import doctor
from benchmarks_app.store.folder import FolderStore
from tests import oidc_provider

pytestmark = pytest.mark.django_db


@pytest.fixture
def look_at():
    """A function that looks at one part."""

    def look(part: str) -> list[tuple[str, str, str]]:
        return list(doctor.PARTS[part]())

    return look


def test_site_that_is_well_is_fine_and_says_so(settings, tmp_path):
    WorkerHeartbeat.objects.create(name="w", seen_at=timezone.now())
    Path(settings.DATA_DIR).chmod(0o700)
    settings.EMAIL_BACKEND = doctor.TO_FILES
    text, as_json = StringIO(), StringIO()

    call_command("doctor", stdout=text)
    call_command("doctor", "--json", stdout=as_json)

    report = json.loads(as_json.getvalue())
    levels = {finding["part"]: finding["level"] for finding in report["findings"]}
    assert report["is_fine"] is True
    assert set(levels) == set(doctor.PARTS)
    assert (
        levels["database"] == levels["storage"] == levels["broker"] == levels["workers"] == "fine"
    )
    assert "fine   database: " in text.getvalue()
    # Without a server mail goes to files: it works, and is odd.
    assert levels["mail"] == "odd"
    assert "Set EMAIL_HOST" in text.getvalue()


def test_site_without_workers_ends_with_1_and_says_what_to_do(capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("doctor")

    assert ended.value.code == 1
    assert "Start one: manage.py up does." in capsys.readouterr().out


def test_mail_server_that_does_not_answer(look_at, settings):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", taken.getsockname()[1]
        ((level, what, advice),) = look_at("mail")

    assert level == "wrong"
    assert what.startswith("127.0.0.1 does not answer")
    assert "EMAIL_PORT" in advice


def test_mail_of_another_backend_goes_to_no_files(look_at, settings):
    settings.EMAIL_HOST = ""
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"

    assert look_at("mail") == [("fine", f"{settings.EMAIL_BACKEND} answers", "")]


PROVIDER = {"client_id": "b", "secret": "s", "label": "SSO", "scopes": "openid", "domains": ()}
PROVIDER |= {"groups_claim": "groups", "grants": (), "links_accounts": False}


def test_sign_in_is_by_password_alone_where_there_is_no_provider(look_at):
    assert look_at("sign-in") == [("fine", "by password alone", "")]


def test_provider_that_answers_is_fine_and_what_is_lacking_is_told(look_at, settings):
    grants = (Grant("labelers", "benchmark", "nowhere", "viewer"), Grant("a", "team", "Nobody"))
    with oidc_provider.running() as server:
        server.described = {
            "code_challenge_methods_supported": ["plain"],
            "claims_supported": ["sub", "email"],
        }
        settings.OIDC = Provider(**{**PROVIDER, "issuer": server.url, "grants": grants})
        result = look_at("sign-in")

    assert [(level, what.split(":")[0]) for level, what, _ in result] == [
        ("odd", "the provider says that it knows no PKCE (S256), which is always sent"),
        ("odd", "the provider does not say that it knows the claim groups"),
        ("wrong", "the group labelers gives a place in the benchmark nowhere"),
        ("wrong", "the group a gives a place in the team Nobody"),
        ("fine", "through http"),
        ("fine", "the provider must lead back to http"),
    ]
    assert result[4][1] == f"through {server.url}, 1 keys; passwords as well"
    assert result[5][1].endswith("/sign-in/provider/callback/")


def test_provider_with_what_groups_give_there_is_fine(look_at, settings, benchmark):
    """One that does not tell which methods and claims it knows may know these."""
    team = Team.objects.create(name="Reds")
    grants = (
        Grant("labelers", "benchmark", benchmark.slug, "viewer"),
        Grant("labelers", "team", team.name),
        Grant("admins", "staff"),
    )
    with oidc_provider.running() as server:
        server.described = {"code_challenge_methods_supported": None}
        settings.OIDC = Provider(**{**PROVIDER, "issuer": server.url, "grants": grants})

        assert {level for level, _, _ in look_at("sign-in")} == {"fine"}


def test_provider_that_does_not_answer_or_is_another_is_wrong(look_at, settings):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        silent = f"http://127.0.0.1:{taken.getsockname()[1]}"
        settings.OIDC = Provider(**{**PROVIDER, "issuer": silent})
        ((level, what, advice),) = look_at("sign-in")
    assert (level, "does not answer" in what, "OIDC_ISSUER" in advice) == ("wrong", True, True)

    with oidc_provider.running() as server:
        server.described = {"issuer": "https://another.example"}
        settings.OIDC = Provider(**{**PROVIDER, "issuer": server.url})
        ((level, what, _),) = look_at("sign-in")
    assert (level, "it calls itself https://another.example" in what) == ("wrong", True)


def test_settings_that_others_could_use(look_at, settings):
    settings.ALLOWED_HOSTS = ["benchmarks.example.org"]
    settings.DEBUG = True
    settings.SESSION_COOKIE_SECURE = settings.SECURE_SSL_REDIRECT = False
    result = look_at("settings")

    assert ("wrong", "DEBUG is on and others reach the site", "Take DEBUG away.") in result
    assert any(what.endswith("without HTTPS") for _, what, _ in result)
    assert any("Set SITE_URL" in advice for _, _, advice in result)
    settings.IS_PLACE_TOLD = True
    assert not any("Set SITE_URL" in advice for _, _, advice in look_at("settings"))


def test_part_that_cannot_be_looked_at_is_wrong_and_the_others_are_told(monkeypatch):
    def breaks():
        raise RuntimeError("no such thing")
        yield

    monkeypatch.setattr(doctor, "PARTS", {"first": breaks, "versions": doctor._versions})
    first, second = doctor.examined()

    assert (first.part, first.level) == ("first", "wrong")
    assert "no such thing" in first.what
    assert (second.part, second.level) == ("versions", "fine")


def test_file_that_comes_back_otherwise(look_at, monkeypatch):
    def opened(name):
        from io import BytesIO

        return BytesIO(b"something else")

    monkeypatch.setattr(FolderStore, "opened", lambda store, name: opened(name))
    ((level, what, _),) = look_at("storage")

    assert (level, what) == ("wrong", "a file that was written came back otherwise")

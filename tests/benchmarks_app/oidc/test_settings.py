"""What the operator may say of the provider, and what stops the start."""

import os
import subprocess
import sys

import pytest

from benchmarks_app.env import EnvError
from benchmarks_app.models import Role
from benchmarks_app.oidc import provider
from benchmarks_app.oidc.provider import Grant, env_passwords, env_provider

ENOUGH = {
    "OIDC_ISSUER": "https://sso.example.org/realms/lab/",
    "OIDC_CLIENT_ID": "benchwright",
    "OIDC_CLIENT_SECRET": "hush",
}


@pytest.fixture
def read_settings(monkeypatch):
    """A function that reads what is said beside the least that is needed."""
    for name in [*os.environ]:
        if name.startswith("OIDC_"):
            monkeypatch.delenv(name)

    def read(**values):
        for name, value in {**ENOUGH, **values}.items():
            monkeypatch.setenv(name, value)
        return env_provider()

    return read


def test_nothing_said_is_no_provider(monkeypatch):
    monkeypatch.delenv("OIDC_ISSUER", raising=False)

    assert env_provider() is None


def test_least_that_is_said_has_careful_defaults(read_settings):
    known = read_settings()

    assert known.issuer == "https://sso.example.org/realms/lab"
    assert known.origin == "https://sso.example.org"
    assert (known.secret, known.label, known.scopes) == (
        *("hush", "single sign-on", "openid profile email"),
    )
    assert (known.domains, known.grants, known.links_accounts) == ((), (), False)


def test_secret_is_read_from_a_file_before_all_else(read_settings, tmp_path):
    (tmp_path / "secret").write_text("from the file\n")

    assert read_settings(OIDC_CLIENT_SECRET_FILE=str(tmp_path / "secret")).secret == "from the file"


def test_groups_give_rank_teams_and_roles(read_settings):
    groups = "/admins=staff, a=b=team:The Reds,labelers=stdlib:annotator"

    assert read_settings(OIDC_GROUPS=groups).grants == (
        Grant("/admins", "staff"),
        Grant("a=b", "team", "The Reds"),
        Grant("labelers", "benchmark", "stdlib", "annotator"),
    )


def test_domains_are_compared_in_small_letters_and_without_the_at(read_settings):
    assert read_settings(OIDC_DOMAINS="@Example.org, b.org").domains == ("example.org", "b.org")


def test_roles_are_those_of_the_site():
    assert tuple(Role.values) == provider.ROLES


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"OIDC_ISSUER": "http://sso.example.org"}, "OIDC_ISSUER"),
        ({"OIDC_ISSUER": "sso.example.org"}, "OIDC_ISSUER"),
        ({"OIDC_ISSUER": "https://[bad"}, "OIDC_ISSUER"),
        ({"OIDC_ISSUER": "https://sso.example.org/?realm=x"}, "OIDC_ISSUER"),
        ({"OIDC_DOMAINS": "*.example.org"}, "OIDC_DOMAINS"),
        ({"OIDC_DOMAINS": "b.org,https://example.org"}, "OIDC_DOMAINS"),
        ({"OIDC_DOMAINS": "example.org b.org"}, "OIDC_DOMAINS"),
        ({"OIDC_DOMAINS": "@"}, "OIDC_DOMAINS"),
        ({"OIDC_CLIENT_ID": ""}, "OIDC_CLIENT_ID"),
        ({"OIDC_CLIENT_SECRET": ""}, "OIDC_CLIENT_SECRET"),
        ({"OIDC_CLIENT_SECRET_FILE": "/nowhere/secret"}, "OIDC_CLIENT_SECRET_FILE"),
        ({"OIDC_GROUPS": "admins"}, "OIDC_GROUPS"),
        ({"OIDC_GROUPS": "admins=superuser"}, "OIDC_GROUPS"),
        ({"OIDC_GROUPS": "admins=stdlib:king"}, "OIDC_GROUPS"),
        ({"OIDC_GROUPS": "=staff"}, "OIDC_GROUPS"),
        ({"OIDC_LINK_ACCOUNTS": "maybe"}, "OIDC_LINK_ACCOUNTS"),
    ],
)
def test_what_cannot_be_used_stops_the_start_and_says_what_is_accepted(
    read_settings, values, named
):
    with pytest.raises(EnvError, match=rf"^{named} is .*; accepted: ") as stopped:
        read_settings(**values)

    assert "hush" not in str(stopped.value)


def test_provider_without_its_packages_says_what_to_install(read_settings, monkeypatch):
    monkeypatch.setattr(provider, "find_spec", lambda name: None)

    with pytest.raises(EnvError, match=r"pip install 'benchwright\[oidc\]'"):
        read_settings()


def test_passwords_are_switched_off_only_beside_a_provider(read_settings, monkeypatch):
    monkeypatch.setenv("SIGN_IN_BY_PASSWORD", "off")

    assert env_passwords(read_settings()) is False
    with pytest.raises(EnvError, match="SIGN_IN_BY_PASSWORD is 'off'; accepted: on, unless"):
        env_passwords(None)


CODE = """
import os, sys, django
django.setup()
from django.conf import settings
from django.urls import get_resolver
get_resolver().url_patterns
print([b.rpartition(".")[2] for b in settings.AUTHENTICATION_BACKENDS],
      settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]["form-action"],
      {"authlib", "joserfc"} & set(sys.modules))
"""


@pytest.mark.parametrize(
    ("values", "printed"),
    [
        ({}, """['AxesStandaloneBackend', 'ModelBackend'] ["'self'"] set()"""),
        (
            {**ENOUGH, "SIGN_IN_BY_PASSWORD": "off"},
            "['AxesStandaloneBackend', 'ProviderBackend'] "
            """["'self'", 'https://sso.example.org'] set()""",
        ),
    ],
    ids=["without", "with"],
)
def test_site_starts_without_loading_what_talks_to_the_provider(tmp_path, values, printed):
    named = {"DJANGO_SETTINGS_MODULE": "benchmarks_app.settings", "BENCHWRIGHT_DATA": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, **named, **values},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == printed

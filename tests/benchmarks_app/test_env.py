"""A wrong setting stops the start, and says what is accepted."""

import os
import subprocess
import sys
from functools import partial
from ipaddress import ip_network
from pathlib import Path

import pytest

from benchmarks_app import checks, env
from benchmarks_app.env import EnvError

NAME = "BENCHWRIGHT_TEST_SETTING"


@pytest.fixture
def set_variable(monkeypatch):
    """A function that sets the variable, or takes it away."""

    def give(value: str | None) -> None:
        monkeypatch.delenv(NAME, raising=False)
        if value is not None:
            monkeypatch.setenv(NAME, value)

    return give


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (None, True),
        ("1", True),
        ("Yes", True),
        ("on", True),
        ("0", False),
        ("OFF", False),
        ("", True),
    ],
)
def test_switch_is_read(set_variable, value, read):
    set_variable(value)

    assert env.env_bool(NAME, default=True) is read


@pytest.mark.parametrize("value", ["maybe", "2", " "])
def test_switch_that_is_neither_on_nor_off_is_refused(set_variable, value):
    set_variable(value)

    with pytest.raises(EnvError) as caught:
        env.env_bool(NAME, default=False)

    assert str(caught.value) == (
        f"{NAME} is '{value}'; accepted: 1, true, yes, on, 0, false, no, off."
    )


@pytest.mark.parametrize(("value", "read"), [(None, 7), ("1", 1), ("0010", 10)])
def test_number_is_read(set_variable, value, read):
    set_variable(value)

    assert env.env_int(NAME, 7, minimum=1) == read


@pytest.mark.parametrize("value", ["", "ten", "1.5", "-1", "0", "²", "1 "])
def test_number_that_is_none_or_too_small_is_refused(set_variable, value):
    set_variable(value)

    with pytest.raises(EnvError) as caught:
        env.env_int(NAME, 7, minimum=1)

    assert str(caught.value) == f"{NAME} is '{value}'; accepted: a whole number from 1."


@pytest.mark.parametrize("value", ["65536", "9" * 5000])
def test_number_that_is_too_large_is_refused(set_variable, value):
    set_variable(value)

    with pytest.raises(EnvError, match="accepted: a whole number from 1 to 65535"):
        env.env_int(NAME, 7, minimum=1, maximum=env.MOST_PORT)


@pytest.mark.parametrize("read", [env.env_str, env.env_broker, env.env_web])
def test_empty_text_is_as_none(set_variable, read):
    set_variable("")

    assert read(NAME, "redis://a" if read is env.env_broker else "http://a").endswith("://a")


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (env.env_database, "mysql://user:secret@host/name"),
        (env.env_database, "postgres://user:secret@host:port/name"),
        (env.env_broker, "rabbit://user:secret@host"),
        (env.env_level, "LOUD"),
        (env.env_web, "hub.example.org"),
        (partial(env.env_web, holds="{name}"), "https://example.org/beir.zip"),
    ],
)
def test_text_that_cannot_be_used_is_refused_without_its_secret(set_variable, read, value):
    set_variable(value)

    with pytest.raises(EnvError, match=f"^{NAME} is .*; accepted: ") as caught:
        read(NAME, "default")

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (partial(env.env_web, default=""), "https://"),
        (partial(env.env_web, default=""), "https://[bad"),
        (partial(env.env_web, default=""), "https://user:secret@hub.example.org"),
        (partial(env.env_site, default=""), "https://[bad"),
        (partial(env.env_site, default=""), "https://user:secret@bench.example.org"),
        (partial(env.env_site, default=""), "https://bench.example.org:port"),
        (env.env_store, "s3://[bad"),
        (env.env_store, "s3://bucket?endpoint=https://[bad"),
        (env.env_store, "s3://bucket?endpoint=https://user:secret@s3.example.org"),
        (env.env_addresses, "KEY=https://"),
        (env.env_addresses, "KEY=https://user:secret@judge.example.org"),
        (env.env_addresses, "KEY=ftp://judge.example.org"),
        (partial(env.env_names, default=[]), "https://bench.example.org"),
        (partial(env.env_names, default=[]), "bench.example.org/"),
        (partial(env.env_names, default=[]), "bench.example.org:8000"),
        (partial(env.env_names, default=[]), '"bench.example.org"'),
        (partial(env.env_names, default=[]), "bench.example.org www.example.org"),
        (env.env_origins, "bench.example.org"),
        (env.env_origins, "https://bench.example.org/benchwright"),
    ],
)
def test_address_that_cannot_be_asked_is_refused_without_its_password(set_variable, read, value):
    set_variable(value)

    with pytest.raises(EnvError, match=f"^{NAME} is .*; accepted: ") as caught:
        read(NAME)

    assert "secret" not in str(caught.value)


def test_names_and_origins_are_read(set_variable):
    set_variable("bench.example.org, .example.org,*,[::1],10.0.0.1")
    names = ["bench.example.org", ".example.org", "*", "[::1]", "10.0.0.1"]
    assert env.env_names(NAME, []) == names
    set_variable(" https://bench.example.org/,https://*.example.org, http://[::1]:8000")
    origins = ["https://bench.example.org", "https://*.example.org", "http://[::1]:8000"]
    assert env.env_origins(NAME) == origins
    set_variable("")
    assert (env.env_names(NAME, ["::1"]), env.env_origins(NAME)) == (["::1"], [])


@pytest.mark.parametrize(
    ("host", "link"),
    [("0.0.0.0", "localhost"), ("::", "localhost"), ("::1", "[::1]"), ("a.local", "a.local")],
)
def test_links_lead_to_a_host_that_can_be_opened(host, link):
    assert env.host_in_links(host) == link


def test_weight_of_messages_and_hosts_are_read_in_any_case(set_variable):
    set_variable("debug")
    assert env.env_level(NAME, "INFO") == "DEBUG"
    set_variable("Search.internal, *, 10.0.3.7:9200")
    assert env.env_hosts(NAME) == ["search.internal", "*", "10.0.3.7:9200"]
    set_variable("http://search.internal/")
    with pytest.raises(EnvError, match="accepted: hosts such as"):
        env.env_hosts(NAME)


def test_limits_of_no_job_and_regions_of_no_country_stop_the_start(settings, monkeypatch):
    monkeypatch.setenv("LOG_REGIONS", "CH")
    assert (checks.limits_are_of_jobs(), checks.regions_are_countries()) == ([], [])
    settings.JOB_TIME_LIMITS = {"*": 1, "import-file": 2, "import-fiel": 3}
    settings.LOG_REGIONS = ("CH", "ZZ")

    (limit,), (region,) = checks.limits_are_of_jobs(), checks.regions_are_countries()

    assert "JOB_TIME_LIMITS has 'import-fiel'" in limit.msg
    assert "'ZZ' is no country" in region.msg


def test_jobs_that_are_lost_between_two_signs_of_life_stop_the_start(settings):
    settings.JOB_HEARTBEAT_SECONDS, settings.JOB_LOST_AFTER_SECONDS = 5, 6
    assert checks.jobs_are_heard_of() == []
    settings.JOB_LOST_AFTER_SECONDS = 5

    (error,) = checks.jobs_are_heard_of()

    assert "JOB_LOST_AFTER_SECONDS is 5, and a job says every 5 s" in error.msg


@pytest.mark.parametrize(
    "backend", ["smtp", "anymail.Backend", "benchmarks_app.env.EnvError", "a.b"]
)
def test_mail_that_nothing_sends_stops_the_start(settings, backend):
    assert checks.mail_can_be_sent() == []
    settings.EMAIL_BACKEND = backend

    (error,) = checks.mail_can_be_sent()

    assert f"EMAIL_BACKEND is '{backend}'" in error.msg


def test_mail_is_encrypted_in_one_way(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_USE_TLS = True
    assert checks.mail_can_be_sent() == []
    settings.EMAIL_USE_SSL = True

    (error,) = checks.mail_can_be_sent()

    assert "mutually exclusive" in error.msg


@pytest.mark.parametrize(
    ("value", "read"),
    [(None, ["a"]), ("", ["a"]), (" , ", ["a"]), ("b, c ,", ["b", "c"]), ("b", ["b"])],
)
def test_list_is_read(set_variable, value, read):
    set_variable(value)

    assert env.env_list(NAME, ["a"]) == read


LIMITS = "*=1,a=2"


@pytest.mark.parametrize(
    ("value", "read"),
    [("", {"*": 1, "a": 2}), (" , ", {"*": 1, "a": 2}), ("b=0, c=7", {"b": 0, "c": 7})],
)
def test_limits_are_read(set_variable, value, read):
    set_variable(value)

    assert env.env_limits(NAME, LIMITS) == read


@pytest.mark.parametrize("value", ["a", "=1", "a=-1", "a=1000000001", "a=" + "9" * 5000])
def test_limits_that_are_none_are_refused(set_variable, value):
    set_variable(value)

    with pytest.raises(EnvError, match="accepted: kind=number, separated by commas, to 1000000000"):
        env.env_limits(NAME, LIMITS)


def test_folder_is_made_absolute(set_variable, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    set_variable("site")

    assert env.env_path(NAME, Path("other")) == tmp_path / "site"


def test_folder_under_home_is_found(set_variable, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    set_variable("~/site")

    assert env.env_path(NAME, Path("other")) == tmp_path / "site"


@pytest.mark.parametrize("value", [None, ""])
def test_folder_that_is_not_given_is_the_default(set_variable, tmp_path, value):
    set_variable(value)

    assert env.env_path(NAME, tmp_path) == tmp_path


def test_file_in_place_of_a_folder_is_refused(set_variable, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    set_variable(str(file))

    with pytest.raises(EnvError) as caught:
        env.env_path(NAME, tmp_path)

    assert str(caught.value) == f"{NAME} is '{file}'; accepted: a folder, existing or to be made."


@pytest.mark.parametrize(
    ("value", "read"), [(None, ("US",)), ("ch, fr", ("CH", "FR")), ("none", ()), ("", ("US",))]
)
def test_countries_are_read(set_variable, value, read):
    set_variable(value)

    assert env.env_regions(NAME, ["US"]) == read


@pytest.mark.parametrize("value", ["CH;FR", "Schweiz", "C1"])
def test_countries_that_are_none_are_refused(set_variable, value):
    set_variable(value)

    with pytest.raises(EnvError, match="accepted: two letters a country"):
        env.env_regions(NAME, ["US"])


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (None, 0),
        ("", 0),
        ("2", 2),
        ("10.0.0.0/8, ::1", (ip_network("10.0.0.0/8"), ip_network("::1"))),
    ],
)
def test_proxies_are_a_number_or_networks(set_variable, value, read):
    set_variable(value)

    assert env.env_proxies(NAME) == read


@pytest.mark.parametrize("value", ["-1", "proxy.example.org", "10.0.0.1/8", "1, 10.0.0.0/8"])
def test_proxies_that_are_neither_are_refused(set_variable, value):
    set_variable(value)

    with pytest.raises(EnvError, match="a number of proxies, or networks"):
        env.env_proxies(NAME)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (None, "http://127.0.0.1:8000"),
        ("", "http://127.0.0.1:8000"),
        ("https://bench.example.org/", "https://bench.example.org"),
        (
            "https://tools.example.org:8443/benchwright/",
            "https://tools.example.org:8443/benchwright",
        ),
        ("http://[::1]:8000/a/b.c-d_e~", "http://[::1]:8000/a/b.c-d_e~"),
    ],
)
def test_address_of_the_site_is_read(set_variable, value, read):
    set_variable(value)

    assert env.env_site(NAME, "http://127.0.0.1:8000") == read


@pytest.mark.parametrize(
    "value",
    [
        "bench.example.org",
        "/benchwright",
        "https://x.org/a b",
        "https://x.org/é",
        "https://x.org/a%20b",
        "https://x.org/a/../b",
        "https://x.org/a//b",
        "https://x.org/?a=b",
        "https://x.org/#a",
        "https://",
    ],
)
def test_address_that_no_site_has_is_refused(set_variable, value):
    set_variable(value)

    with pytest.raises(EnvError, match=r"accepted: https://host, or https://host/path of letters"):
        env.env_site(NAME, "")


STRONG = "".join(chr(33 + n) for n in range(50))


@pytest.mark.parametrize(
    "weak", ["changeme", STRONG[:49], "abcd" * 20, f"django-insecure-{STRONG}"], ids=len
)
def test_weak_secret_ends_the_start_and_is_not_told(set_variable, weak):
    set_variable(weak)

    with pytest.raises(EnvError, match="50 characters or more") as caught:
        env.env_secret(NAME, is_debug=False)

    assert weak not in str(caught.value)
    assert env.env_secret(NAME, is_debug=True) == weak


def test_secret_is_read_or_there_is_none(set_variable):
    set_variable(STRONG)
    assert env.env_secret(NAME, is_debug=False) == STRONG

    set_variable(None)
    assert env.env_secret(NAME, is_debug=False) == ""


def deployed(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    manage = Path(__file__).resolve().parent.parent.parent / "manage.py"
    return subprocess.run(
        [sys.executable, str(manage), "check", "--deploy", "--fail-level", "WARNING"],
        env={"PATH": os.environ["PATH"], "BENCHWRIGHT_DATA": str(folder), **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("path", ["", "/benchwright"])
def test_site_behind_https_passes_the_checks_of_a_deployment(tmp_path, path):
    answer = deployed(tmp_path, HTTPS="1", SITE_URL=f"https://tools.example.org{path}")

    assert (answer.returncode, answer.stderr) == (0, "")
    assert len((tmp_path / "secret_key").read_text()) >= 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_weak_secret_in_the_file_ends_the_start_as_well(tmp_path):
    (tmp_path / "secret_key").write_text("changeme")

    answer = deployed(tmp_path)

    assert answer.returncode == 1
    assert "SECRET_KEY is 'too weak'; accepted: 50 characters or more" in answer.stderr

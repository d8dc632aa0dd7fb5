"""`benchwright login`: a token that the site takes is kept, and shown nowhere."""

import stat

import pytest

from benchmarks_app.models import ApiToken


def test_token_from_standard_input_is_checked_and_kept(benchwright, site, sam, token_of, tmp_path):
    secret = token_of(sam)

    done = benchwright("login", site, stdin=f"{secret}\n")

    kept = next((tmp_path / "config").rglob("servers.json"))
    assert done.exit_code == 0
    assert done.stdout.startswith(f"Signed in to {site} as sam. The token is good until 20")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert secret in kept.read_text()
    assert secret not in done.output


def test_token_from_the_environment_is_taken_first(benchwright, site, sam, token_of):
    done = benchwright("login", site, stdin="wrong\n", BENCHWRIGHT_TOKEN=token_of(sam))

    assert (done.exit_code, "as sam" in done.stdout) == (0, True)


@pytest.mark.parametrize("way", ["unknown", "revoked", "expired"])
def test_token_that_the_site_does_not_take_is_not_kept(
    benchwright, site, sam, token_of, tmp_path, way
):
    secret = token_of(sam)
    token = ApiToken.objects.get()
    when = token.created_at.replace(year=2020)
    if way == "expired":
        ApiToken.objects.update(created_at=when, expires_at=when.replace(year=2021))
    elif way == "revoked":
        ApiToken.objects.update(revoked_at=when)
    typed = "bw_nobody-has-this" if way == "unknown" else secret

    done = benchwright("login", site, stdin=f"{typed}\n")

    assert done.exit_code == 1
    assert f"run `benchwright login {site}`" in done.stderr
    assert typed not in done.output
    assert not list((tmp_path / "config").rglob("servers.json"))


def test_no_token_at_all_is_a_usage_error(benchwright, site):
    done = benchwright("login", site, stdin="")

    assert (done.exit_code, "paste it there" in done.stderr) == (2, True)


def test_sites_are_listed_without_their_tokens_and_forgotten(benchwright, site, sam, token_of):
    secret = token_of(sam)
    benchwright("login", site, stdin=secret)

    listed = benchwright("login", "--list")
    gone = benchwright("login", "--logout", f"{site}/")
    again = benchwright("login", "--logout", site)
    after = benchwright("login", "--list")

    assert listed.stdout.startswith(f"{site} (sam, until 20")
    assert secret not in listed.output
    assert "Revoke it" in gone.stdout
    assert "There is no token" in again.stdout
    assert after.stdout.startswith("No site is known.")


def test_plain_http_to_another_machine_is_warned_of(benchwright, site, sam, token_of, settings):
    settings.ALLOWED_HOSTS = ["bench.example.org"]

    done = benchwright("login", "http://bench.example.org", stdin=token_of(sam))

    assert done.exit_code == 0
    assert "Warning: http://bench.example.org is plain http" in done.stderr


def test_what_is_no_address_is_said(benchwright):
    done = benchwright("login", "bench.example.org")

    assert (done.exit_code, "does not begin with https://" in done.stderr) == (1, True)


def test_no_address_is_a_usage_error(benchwright):
    assert benchwright("login").exit_code == 2

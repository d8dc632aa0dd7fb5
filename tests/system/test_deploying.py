"""What lies in deploy/: checked by the tools it is for, and held to what the site starts itself."""

import http.client
import re
import signal
import socket
import ssl
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks_app.supervisor import commands_of
from tests.system.proxies import proxying, run, tool
from tests.system.site import ROOT, Site, free_port

DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
OURS = ("web", "migrate", "worker", "sweeper")
MOST_EXPOSED = 2.0
NAME = "bench.example.org"


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]


# --- containers ----------------------------------------------------------------------------


def test_compose_file_is_as_its_specification_wants_it():
    run(
        tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml"
    )


def test_containerfile_has_nothing_that_its_linter_knows():
    run(tool("hadolint"), DEPLOY / "Containerfile")


def without_python(command: list[str]) -> list[str]:
    assert Path(command[0]).name.startswith("python")
    return command[1:]


def test_containers_start_what_up_starts(services):
    known = commands_of("0.0.0.0", 8000, 2)

    for name, command in known.items():
        assert without_python(services[name]["command"]) == without_python(command)


def test_each_container_of_ours_may_do_the_least(services):
    for name in OURS:
        service = services[name]
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "privileged" not in service
    assert [name for name in services if "ports" in services[name]] == ["web"]
    assert services["web"]["ports"] == ["127.0.0.1:8000:8000"]


def test_containers_are_told_only_settings_that_there_are(services):
    documented = (ROOT / "docs" / "settings.md").read_text()

    for name in OURS:
        assert [key for key in services[name]["environment"] if f"`{key}`" not in documented] == []


def test_image_runs_as_nobody_that_is_root():
    lines = (DEPLOY / "Containerfile").read_text().splitlines()
    users = [line.split()[1] for line in lines if line.startswith("USER ")]

    assert users == ["10001:10001"]
    assert any(line.startswith("HEALTHCHECK ") for line in lines)


# --- systemd -------------------------------------------------------------------------------


def setting(unit: Path, name: str) -> str:
    (value,) = re.findall(rf"(?m)^{name}=(.*)$", unit.read_text())
    return value


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_unit_is_one_that_systemd_takes(unit, tmp_path):
    """With an interpreter that is here in the place of the one that it names."""
    here = tmp_path / unit.name
    here.write_text(unit.read_text().replace("/opt/benchwright/bin/python", sys.executable))

    assert run(tool("systemd-analyze"), "verify", "--man=no", here) == ""


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_unit_is_kept_apart_from_the_rest_of_the_machine(unit):
    result = run(tool("systemd-analyze"), "security", "--offline=true", "--no-pager", unit)

    exposure = float(re.search(r"exposure level for \S+: ([\d.]+)", result)[1])
    assert exposure <= MOST_EXPOSED


def test_units_start_what_up_starts():
    known = commands_of("127.0.0.1", 8000, 2)

    assert {unit.stem.removeprefix("benchwright-") for unit in UNITS} == set(known)
    for unit in UNITS:
        command = known[unit.stem.removeprefix("benchwright-")]
        assert without_python(setting(unit, "ExecStart").split()) == without_python(command)


# --- proxies -------------------------------------------------------------------------------


def certificate(folder: Path) -> tuple[Path, Path]:
    key, cert = folder / "key.pem", folder / "cert.pem"
    run(
        *(tool("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key),
        *("-out", cert, "-days", "2", "-subj", f"/CN={NAME}"),
    )
    return key, cert


def nginx(folder: Path, port: int, site: int) -> list[object]:
    key, cert = certificate(folder)
    text = (DEPLOY / "nginx.conf").read_text()
    for old, new in (
        ("/etc/ssl/bench.example.org.pem", str(cert)),
        ("/etc/ssl/bench.example.org.key", str(key)),
        ("127.0.0.1:8000", f"127.0.0.1:{site}"),
        ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
        ("listen 443 ssl http2;", f"listen 127.0.0.1:{port} ssl http2;"),
    ):
        assert old in text
        text = text.replace(old, new)
    text = re.sub(r"(?m)^ *listen \[::\].*\n", "", text)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    whole = folder / "nginx.conf"
    whole.write_text(
        f"pid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{places}{text}}}\n"
    )
    command = [tool("nginx"), "-e", folder / "error.log", "-c", whole]
    run(*command, "-t")
    return [*command, "-g", "daemon off;"]


def caddy(folder: Path, port: int, site: int) -> list[object]:
    run(tool("caddy"), "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile")
    key, cert = certificate(folder)
    text = (DEPLOY / "Caddyfile").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{site}")
    head = f"https://{NAME}:{port} {{\n\ttls {cert} {key}"
    text = re.sub(rf"(?m)^{re.escape(NAME)} {{", head, text)
    whole = folder / "Caddyfile"
    whole.write_text(
        "{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n}\n" + text
    )
    return [tool("caddy"), "run", "--adapter", "caddyfile", "--config", whole]


class Named(http.client.HTTPSConnection):
    """To the loopback, with the site's name in the handshake."""

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        self.sock = self._context.wrap_socket(self.sock, server_hostname=NAME)


def connected(port: int, seconds: int) -> Named:
    context = ssl._create_unverified_context()
    return Named("127.0.0.1", port, timeout=seconds, context=context)


class Proxied:
    """A running site, asked through a proxy."""

    def __init__(self, site: Site, port: int) -> None:
        self.site, self.port = site, port

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        connection = connected(self.port, 60)
        connection.request(method, path, body, {"Host": NAME, **headers})
        answer = connection.getresponse()
        answer.body = answer.read()
        connection.close()
        return answer


def test_request_that_takes_seconds_is_answered_before_its_host_ends(plain_site):
    """Units and containers, which are given more time than `up`, are ended so."""
    plain_site.start("web")
    body = b"username=olga&password=half"
    head = (
        f"POST /sign-in/ HTTP/1.1\r\nHost: 127.0.0.1:{plain_site.port}\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", plain_site.port), timeout=30) as connection:
        connection.sendall(head.encode() + body[:9])
        time.sleep(0.5)
        plain_site.kill("web", signal.SIGTERM, group=False)
        time.sleep(4)
        connection.sendall(body[9:])

        assert connection.recv(100).startswith(b"HTTP/1.1 403 ")
    assert plain_site.processes["web"].wait(timeout=30) == 0


@pytest.fixture(scope="module", params=[nginx, caddy], ids=["nginx", "caddy"])
def proxied(request, tmp_path_factory) -> Iterator[Proxied]:
    tool(request.param.__name__)  # before a site is started
    folder = tmp_path_factory.mktemp("proxy")
    with Site(folder / "site") as site:
        site.env |= {"HTTPS": "1", "TRUSTED_PROXIES": "1", "ALLOWED_HOSTS": f"{NAME},127.0.0.1"}
        site.env |= {"METRICS_TOKEN": "0123456789abcdef"}
        site.start("web")
        port = free_port()
        command = request.param(folder, port, site.port)
        with proxying(command, folder, port):
            yield Proxied(site, port)


def test_pages_go_through_and_what_is_for_watchers_does_not(proxied):
    assert proxied.ask("GET", "/healthz").status == 200
    page = proxied.ask("GET", "/sign-in/")
    assert "Secure" in page.headers["Set-Cookie"]
    for path in ("/metrics", "/metrics/", "/readyz", "/readyz/"):
        assert proxied.ask("GET", path).status == 404


def test_parts_of_files_go_through(proxied):
    part = proxied.ask("GET", "/static/benchmarks_app/benchwright.css", Range="bytes=0-9")

    assert (part.status, len(part.body)) == (206, 10)


def test_client_is_who_it_is_and_links_lead_to_the_site_whatever_it_says(proxied):
    proxied.site.snippet(
        "from tests import factories; from benchmarks_app.models import User\n"
        "User.objects.filter(username='ada').exists() or factories.user('ada')"
    )
    page = proxied.ask("GET", "/sign-in/")
    token = re.search(rb'csrfmiddlewaretoken" value="(\w+)"', page.body)[1].decode()
    fields = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Cookie": page.headers["Set-Cookie"].partition(";")[0],
        "Referer": f"https://{NAME}/sign-in/",
        "X-Forwarded-For": "203.0.113.9",
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "http",
    }
    posted = f"csrfmiddlewaretoken={token}"

    wrong = proxied.ask("POST", "/sign-in/", f"{posted}&username=ada&password=x", **fields)
    sent = proxied.ask("POST", "/password/reset/", f"{posted}&email=ada@example.org", **fields)

    assert (wrong.status, sent.status) == (200, 302)
    seen = proxied.site.snippet(
        "from axes.models import AccessAttempt as A\n"
        "print(*A.objects.values_list('ip_address', flat=True))"
    )
    assert seen.split() == ["127.0.0.1"]
    mails = proxied.site.folder / "mail"

    def links() -> list[str]:  # the file is there a moment before it is written
        words = "".join(mail.read_text() for mail in mails.glob("*.log"))
        return re.findall(r"https?://[^/\s]+/password", words)

    assert proxied.site.wait_for(links, "the mail", 20) == [f"https://{NAME}/password"]


def test_events_come_as_they_happen(proxied):
    """Through a proxy that keeps them, the first would come with the last, after 25 seconds."""
    key, secret = proxied.site.snippet(
        "from tests import factories; from benchmarks_app.models import Job\n"
        "from benchmarks_app.people.services.api_tokens import create_api_token\n"
        "of = factories.benchmark(); olga = factories.member(of, 'olga', 'owner')\n"
        "from benchmarks_app.models import User\n"
        "user = User.objects.get(username='olga')\n"
        "job = Job.objects.create(kind='x', title='x', benchmark=of, created_by=user)\n"
        "print(job.pk, create_api_token(user=user, name='t', days=1).secret)"
    ).split()
    connection = connected(proxied.port, 20)
    headers = {"Host": NAME, "Authorization": f"Bearer {secret}", "Accept": "text/event-stream"}
    connection.request("GET", f"/api/v1/jobs/{key}/events/", headers=headers)
    answer = connection.getresponse()

    assert (answer.status, answer.readline()) == (200, b"event: job\n")
    connection.close()


def test_upload_of_more_than_a_proxy_takes_by_itself_reaches_the_site(proxied):
    """nginx by itself takes 1 MB: the site's own answer is that nobody is signed in."""
    large = proxied.ask("POST", "/api/v1/benchmarks/none/uploads/", b"x" * (3 << 20))

    assert large.status == 401

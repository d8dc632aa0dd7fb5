"""A site below a path of a host that has other tools: all of it is there, and nothing above."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from tests.system.proxies import DEPLOY, PATH, nginx_below, proxying, run, tool
from tests.system.site import Site, free_port

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site path")]

LIMITS = [f"API_{of}_PER_MINUTE" for of in ("REQUESTS", "ANONYMOUS", "UPLOADS", "COMPUTATIONS")]


def test_whatever_a_site_answers_leads_below_its_path(tmp_path):
    with Site(tmp_path) as site:
        site.longest_seconds = 600
        site.env |= dict.fromkeys(LIMITS, "100000") | {"ALLOWED_HOSTS": "tools.example.org"}
        site.env["SITE_URL"] = f"http://tools.example.org{PATH}/"

        seen = json.loads(
            site.snippet("from tests.system.path_walk import walked; print(walked())")
        )

    assert seen["faults"] == []
    assert seen["n"] > 1500
    assert seen["n_static"] > 15


# --- behind a proxy ------------------------------------------------------------------------


class Proxied(NamedTuple):
    """A site, and who asks its proxy, for addresses from the root of the host."""

    site: Site
    client: httpx.Client

    def token(self, page: httpx.Response) -> str:
        return re.search(r'csrfmiddlewaretoken" value="(\w+)"', page.text)[1]


def caddy_below(folder: Path, port: int, site: int, *, strips: bool) -> list[object]:
    source = DEPLOY / "Caddyfile-path"
    run(tool("caddy"), "validate", "--adapter", "caddyfile", "--config", source)
    text = source.read_text().replace("127.0.0.1:8000", f"127.0.0.1:{site}")
    text = text.replace("\nhttps://tools.example.org {", f"\nhttp://127.0.0.1:{port} {{")
    if strips:
        text = text.replace(f"handle {PATH}/*", f"handle_path {PATH}/*")
    whole = folder / "Caddyfile"
    whole.write_text("{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n}\n" + text)
    return [tool("caddy"), "run", "--adapter", "caddyfile", "--config", whole]


@pytest.fixture(
    scope="module",
    params=[(proxy, strips) for proxy in (nginx_below, caddy_below) for strips in (False, True)],
    ids=lambda it: f"{it[0].__name__}-{'takes-off' if it[1] else 'hands-on'}",
)
def proxied(request, tmp_path_factory) -> Iterator[Proxied]:
    proxy, strips = request.param
    tool(proxy.__name__.partition("_")[0])  # before a site is started
    folder, port = tmp_path_factory.mktemp("proxy"), free_port()
    with Site(folder / "site") as site:
        site.env |= {
            "SITE_URL": f"http://127.0.0.1:{port}{PATH}",
            "TRUSTED_PROXIES": "1",
            "METRICS_TOKEN": "0123456789abcdef",
        }
        site.snippet("from tests import factories; factories.user('ada')")
        site.start("web")
        with (
            proxying(proxy(folder, port, site.port, strips=strips), folder, port),
            httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
        ):
            yield Proxied(site, client)


def test_pages_are_below_the_path_and_what_is_for_watchers_is_not(proxied):
    ask = proxied.client.get

    assert ask(f"{PATH}/healthz").text == "ok\n"
    assert ask("/healthz").text != "ok\n"
    assert ask(PATH, follow_redirects=True).status_code == 200
    for page in ("/metrics", "/metrics/", "/readyz", "/readyz/"):
        assert ask(PATH + page).status_code == 404, page


def test_who_is_sent_to_sign_in_comes_back(proxied):
    client = proxied.client
    refused = client.get(f"{PATH}/account/")
    page = client.get(refused.headers["Location"])
    fields = {"csrfmiddlewaretoken": proxied.token(page), "next": f"{PATH}/account/"}
    fields |= {"username": "ada", "password": "a long password"}

    signed_in = client.post(f"{PATH}/sign-in/", data=fields, headers={"Referer": str(page.url)})

    assert refused.headers["Location"] == f"{PATH}/sign-in/?next={PATH}/account/"
    assert signed_in.headers["Location"] == f"{PATH}/account/"
    assert client.get(f"{PATH}/account/").status_code == 200
    assert {cookie.path for cookie in client.cookies.jar} == {PATH}
    assert {"sessionid.benchwright", "csrftoken.benchwright"} <= set(client.cookies)


def test_mailed_link_leads_below_the_path(proxied):
    client, mails = proxied.client, proxied.site.folder / "mail"
    client.cookies.clear()
    page = client.get(f"{PATH}/password/reset/")
    fields = {"csrfmiddlewaretoken": proxied.token(page), "email": "ada@example.org"}
    sent = client.post(str(page.url), data=fields, headers={"Referer": str(page.url)})

    def links() -> list[str]:  # the file is there a moment before it is written
        words = "".join(mail.read_text() for mail in mails.glob("*.log"))
        return re.findall(r"http://\S+/password/\S+", words)

    (link,) = proxied.site.wait_for(links, "the mail", 20)
    assert sent.headers["Location"] == f"{PATH}/password/reset/sent/"
    assert link.startswith(f"{client.base_url}".rstrip("/") + f"{PATH}/password/")
    assert client.get(link, follow_redirects=True).status_code == 200


def test_files_and_the_api_are_there(proxied):
    proxied.client.cookies.clear()
    ask = proxied.client.get
    page = ask(f"{PATH}/sign-in/").text
    (styles,) = re.findall(r'<link rel="stylesheet" href="([^"]*benchwright\.css[^"]*)"', page)
    part = ask(styles, headers={"Range": "bytes=0-9", "Accept-Encoding": "identity"})
    described = ask(f"{PATH}/api/v1/schema/?format=json").json()
    missing = ask(f"{PATH}/api/v1/benchmarks/none/")
    large = proxied.client.post(f"{PATH}/api/v1/benchmarks/none/uploads/", content=b"x" * (3 << 20))

    assert (part.status_code, len(part.content)) == (206, 10)
    assert described["servers"] == [{"url": PATH}]
    assert "/api/v1/me/" in described["paths"]
    assert missing.json()["instance"] == f"{PATH}/api/v1/benchmarks/none/"
    # nginx by itself takes 1 MB: the site's own answer is that nobody is signed in.
    assert large.status_code == 401

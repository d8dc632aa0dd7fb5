"""A walk over a site below a path: what of all that it answers does not lead below that path.

`walked` runs inside such a site (`Site.snippet`).
"""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.conf import settings
from django.core import mail
from django.http import HttpResponse
from django.http.cookie import SimpleCookie
from django.test import Client, override_settings
from django.test.client import ClientHandler
from django.urls import NoReverseMatch, reverse

from benchmarks_app.models import Job, Notice, User
from benchmarks_app.notices.services.mailing import send_mail_of
from benchmarks_app.notices.services.sending import body_of
from benchmarks_app.site_path import below_site_path
from tests import world as worlds
from tests.world import World, addresses

PEOPLE = ("olga", "ada", "gil", "anonymous")
PATH, HOST = settings.SITE_PATH, urlsplit(settings.SITE_URL).netloc
# What a person or a file says, and no browser goes to.
WORDS = {"value", "placeholder", "title", "alt", "aria-label", "data-value", "d", "content"}
HEADERS = ("Location", "Content-Location", "HX-Redirect", "HX-Location", "HX-Push-Url")
WHOLE = re.compile(rf"https?://{re.escape(HOST)}(?P<path>[^\s\"'<>)\\&;,]*)")
# In scripts and styles, but for those of others.
OURS = ("/benchmarks_app/", "/annotation/", "/scoring/")
ROOTED = re.compile(r"""["'`(]/[a-z][\w-]*/""")


class Handler(ClientHandler):
    """As the site's web server has it."""

    def __call__(self, environ: dict[str, Any]) -> HttpResponse:
        return below_site_path(lambda request, _: ClientHandler.__call__(self, request))(
            environ, None
        )


class Page(HTMLParser):
    """What a page leads to: values of attributes that begin at the root, and of JSON in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.is_json = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_json = tag == "script" and "json" in (dict(attrs).get("type") or "")
        for name, value in attrs:
            if name not in WORDS and value:
                self.addresses += strings_in(read(value))

    def handle_data(self, data: str) -> None:
        if self.is_json:
            self.addresses += strings_in(read(data))


def read(text: str) -> Any:
    try:
        return json.loads(text) if text[:1] in "{[" else text
    except ValueError:
        return text


def strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings_in(inner)


def is_outside(address: str) -> bool:
    """Whether it begins at the root of the host and not at the path, or what it leads to next."""
    if not address.startswith("/") or address.startswith("//"):
        return False
    parts = urlsplit(address)
    is_below = parts.path == PATH or parts.path.startswith(f"{PATH}/")
    # Twice is a page that is not there.
    is_below = is_below and not parts.path.startswith(f"{PATH}{PATH}/")
    return not is_below or any(is_outside(value) for _, value in parse_qsl(parts.query))


def body_text(response: HttpResponse) -> str:
    body = b"".join(response) if response.streaming else response.content
    return body.decode(errors="replace")


def faults_of(response: HttpResponse) -> Iterator[str]:
    kind = response.get("Content-Type", "")
    text = body_text(response)
    found = [response[name] for name in HEADERS if response.has_header(name)]
    found += re.findall("<([^>]*)>", response.get("Link", ""))
    if kind.startswith("text/html"):
        found += Page(text).addresses
    elif "json" in kind:
        found += strings_in(read(text))
    yield from (f"leads to {address}" for address in found if is_outside(address))
    yield from whole_faults(f"{text} {response.headers}")
    if response.status_code >= 500 and response.status_code != 503:
        yield f"is answered {response.status_code}"
    for name, cookie in response.cookies.items():
        if not name.endswith(PATH.replace("/", ".")) or cookie["path"] != PATH:
            yield f"sets {name} at {cookie['path']}"


def whole_faults(text: str) -> Iterator[str]:
    """Addresses with the name of the host that do not go on with the path."""
    for match in WHOLE.finditer(text):
        if is_outside(match["path"] or "/"):
            yield f"says {match[0]}"


def client_of(world: World, person: str) -> Client:
    world.handlers[False] = Handler(enforce_csrf_checks=False)
    client = world.client(person, SERVER_NAME=HOST)
    if person in world.sessions:
        name = f"{settings.SESSION_COOKIE_NAME}{PATH.replace('/', '.')}"
        client.cookies = SimpleCookie({name: world.sessions[person]})
    return client


def urls_of(world: World) -> Iterator[str]:
    for address in addresses():
        try:
            url = reverse(address.name, kwargs=address.arguments(world.arguments))
        except (KeyError, NoReverseMatch):
            continue  # tests/test_hidden_walk.py names it
        yield url
        if address.name.startswith("api:") and address.name.endswith("-list"):
            yield f"{url}?limit=1"  # it leads to a next page
    runs = ",".join(str(pk) for pk in world.benchmark.runs.values_list("pk", flat=True))
    yield f"{reverse('scoring:comparison', args=[world.benchmark.slug])}?runs={runs}"
    yield from (f"{PATH}{page}" for page in ("", "/", "/admin/", "/nothing/", "/api/v1/nothing/"))


def static_faults(client: Client, urls: set[str]) -> Iterator[str]:
    for url in sorted(urls):
        answer = client.get(url)
        text = body_text(answer)
        if answer.status_code != 200:
            yield f"{url} is answered {answer.status_code}"
        if any(app in url for app in OURS) and (rooted := ROOTED.search(text)):
            yield f"{url} has {rooted[0]}"


def sent_faults() -> Iterator[str]:
    """Of what is told to webhooks and people, and of where jobs say that their results are."""
    notice = Notice.objects.first()
    with override_settings(EMAIL_BACKEND="django.core.mail.backends.locmem.EmailBackend"):
        send_mail_of(notice, User.objects.get(username="olga"))
    (letter,) = mail.outbox
    told = f"{letter.body} {letter.extra_headers} {body_of(notice).decode()}"
    if told.count(f"{HOST}{PATH}/") < 5:
        yield f"tells too few addresses: {told}"
    yield from whole_faults(told)


def result_faults(client: Client) -> Iterator[str]:
    results = Job.objects.filter(benchmark__slug="stdlib").exclude(result_url="")
    if not results:
        yield "no job has a result"
    for job in results:
        answer = client.get(job.result_address)
        if job.result_url.startswith(PATH) or answer.status_code != 200:
            yield f"{job.kind} leads to {job.result_address}, kept as {job.result_url}"


def walked() -> str:
    """As JSON: how many answers were looked at, and what is wrong with which."""
    world = worlds.build(files=Path(settings.MEDIA_ROOT))
    faults, n, static = set(), 0, set()
    for person in PEOPLE:
        client = client_of(world, person)
        for url in urls_of(world):
            response = client.get(url)
            faults |= {f"{url} as {person} {fault}" for fault in faults_of(response)}
            if response.get("Content-Type", "").startswith("text/html") and response.content:
                page = Page(body_text(response))
                static |= {
                    address for address in page.addresses if address.startswith(settings.STATIC_URL)
                }
            n += 1
    olga = client_of(world, "olga")
    faults |= {*static_faults(olga, static), *sent_faults(), *result_faults(olga)}
    return json.dumps({"n": n, "n_static": len(static), "faults": sorted(faults)})

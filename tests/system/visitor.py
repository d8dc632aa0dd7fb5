"""A person at a browser, as far as HTTP goes: cookies, forms, and how long an answer took."""

import re
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from http.cookiejar import CookieJar

PASSWORD = "a long password"  # of everybody `factories.user` makes


@dataclass(frozen=True)
class Answer:
    """`seconds` from the first byte sent to the last one received; redirects were followed."""

    status: int
    text: str
    seconds: float

    def field(self, name: str) -> str:
        """The value of a hidden field of the page's first form that has it."""
        answers = re.search(rf'name="{name}" value="([^"]*)"', self.text)
        if answers is None:
            raise AssertionError(f"no field {name} in an answer {self.status}: {self.text[:2000]}")
        return answers.group(1)


class Visitor:
    def __init__(self, url: str, username: str) -> None:
        self.url = url
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(CookieJar()),
            urllib.request.ProxyHandler({}),
        )
        page = self.get("/sign-in/")
        data = {"username": username, "password": PASSWORD}
        answer = self.post("/sign-in/", page, data)
        if answer.status != 200 or "sign-out" not in answer.text:
            raise AssertionError(f"{username} could not sign in: {answer.text[:2000]}")

    def get(self, path: str) -> Answer:
        return self._ask(urllib.request.Request(self.url + path))

    def post(
        self, path: str, page: Answer, data: dict[str, str], *, is_htmx: bool = False
    ) -> Answer:
        """Send a form of `page`, with its token against forgery."""
        body = {"csrfmiddlewaretoken": page.field("csrfmiddlewaretoken"), **data}
        request = urllib.request.Request(
            self.url + path, data=urllib.parse.urlencode(body).encode()
        )
        if is_htmx:
            request.add_header("HX-Request", "true")
        return self._ask(request)

    def _ask(self, request: urllib.request.Request) -> Answer:
        started = time.monotonic()
        try:
            with self._opener.open(request, timeout=60) as answer:
                status, body = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, body = error.code, error.read()
        return Answer(status, body.decode(), time.monotonic() - started)

"""Requests to one site: its token to it alone, polite repeats, and an error for each answer."""

import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from benchwright.client.errors import (
    NotSignedInError,
    RedirectedError,
    StrangeAnswerError,
    TooManyRequestsError,
    UnreachableError,
    UnsendableError,
    error_of,
)
from benchwright.client.servers import Token

API = "/api/v1/"
AGENT = "benchwright"
MAX_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
# A busy or restarting server; 501 and 505 would say the same for ever.
NOTHING_LEFT = 416
PASSING = (429, 500, 502, 503, 504)
SAFE = ("GET", "HEAD")
KEY = "Idempotency-Key"
# An attempt that was cut off is not at its end yet.
STILL_ANSWERED = "idempotency-key-busy"
MOST_OF_A_PAGE = 200


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try: attempts of one request, the pause after the first, the longest pause."""

    n_tries: int = 5
    pause: float = 0.5
    longest: float = 90.0
    timeout: float = 60.0


class SiteAuth(httpx.Auth):
    """Gives the token to the site itself, and to no other host, port, scheme or path."""

    def __init__(self, url: str, token: Token) -> None:
        self.origin = origin_of(url)
        self.path = f"{urlsplit(url).path}/"
        self.token = token

    def auth_flow(self, request: httpx.Request) -> Iterator[httpx.Request]:  # type: ignore[override]
        is_site = origin_of(str(request.url)) == self.origin
        if self.token and is_site and request.url.path.startswith(self.path):
            request.headers["Authorization"] = f"Bearer {self.token}"
        yield request


def origin_of(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port, by which two addresses are of one site."""
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or usual


class Transport:
    """Asks one site.

    Parameters
    ----------
    transport
        What carries the requests, in place of the network; for tests.
    sleep
        What waits so many seconds.
    """

    def __init__(
        self,
        url: str,
        token: Token,
        *,
        patience: Patience | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self.url = url
        self.patience = patience or Patience()
        self.sleep = sleep or time.sleep
        self.has_token = bool(token)
        self._http = httpx.Client(
            auth=SiteAuth(url, token),
            headers={"User-Agent": AGENT, "Accept": "application/json"},
            timeout=httpx.Timeout(self.patience.timeout, connect=15.0),
            transport=transport,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def close(self) -> None:
        self._http.close()

    # --- what is asked ------------------------------------------------------------------------

    def json(self, how: str, path: str, *, may_repeat: bool | None = None, **arguments: Any) -> Any:
        """Return what the API answers to a request below `/api/v1/`.

        `may_repeat` says that the request does no harm when it is made twice; by default only
        those that read. `arguments` are httpx's; a callable among them is called anew for each
        attempt.

        Raises
        ------
        ClientError
            As `errors` draws them.
        """
        with self.opened(how, path, may_repeat=may_repeat, **arguments) as response:
            return self.body(response)

    def body(self, response: httpx.Response) -> Any:
        """Return the JSON of an answer that `opened` gave; None where there is none."""
        self._read(response)
        return self._json_of(response)

    def pages(self, path: str, **params: Any) -> Iterator[Any]:
        """Yield the rows of a list, asking for its pages as they are wanted."""
        # Sites before cursors know `page_size` alone; either way `next` says how it goes on.
        parameters: Any = {**params, "limit": MOST_OF_A_PAGE, "page_size": MOST_OF_A_PAGE}
        while True:
            answer = self.json("GET", path, params=parameters)
            if isinstance(answer, list):
                yield from answer
                return
            rows = answer.get("results") if isinstance(answer, dict) else None
            if not isinstance(rows, list):
                why = f"a list came as {answer!r:.40}"
                raise StrangeAnswerError(url=f"{self.url}{API}{path}", why=why)
            yield from rows
            if not answer.get("next"):
                return
            # Of its address the query alone: nothing is asked of another site.
            parameters = parse_qsl(urlsplit(answer["next"]).query, keep_blank_values=True)

    @contextmanager
    def opened(
        self, how: str, path: str, *, may_repeat: bool | None = None, **arguments: Any
    ) -> Iterator[httpx.Response]:
        """Give an answer that is not an error, its body not yet read; raises as `json` does.

        That nothing is left of a range that was asked for is an answer (416).
        """
        response = self._answered(how, path, may_repeat=may_repeat, arguments=arguments)
        try:
            yield response
        except (httpx.TransportError, httpx.StreamError) as error:
            raise UnreachableError(url=self.url, why=_why(error)) from None
        finally:
            response.close()

    # --- trying, and trying again --------------------------------------------------------------

    def _answered(
        self, how: str, path: str, *, may_repeat: bool | None, arguments: Mapping[str, Any]
    ) -> httpx.Response:
        is_repeatable = how in SAFE if may_repeat is None else may_repeat
        if how == "POST":  # what the site has answered already it does not do again
            headers = {KEY: str(uuid.uuid4()), **arguments.get("headers", {})}
            arguments = {**arguments, "headers": headers}
        may_be_done = False
        for attempt in range(1, self.patience.n_tries + 1):
            is_last = attempt == self.patience.n_tries
            try:
                response = self._asked(how, f"{self.url}{API}{path}", arguments)
            except httpx.TransportError as error:
                # Where no connection came about, nothing was asked.
                was_asked = not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                if is_last or (was_asked and not is_repeatable):
                    raise UnreachableError(url=self.url, why=_why(error)) from None
                may_be_done |= was_asked
                self.sleep(self._pause(attempt))
                continue
            is_beyond = response.status_code == NOTHING_LEFT and "Range" in arguments.get(
                "headers", {}
            )
            if response.status_code < 400 or is_beyond:
                return response
            if how == "DELETE" and response.status_code == 404 and may_be_done:
                response.close()
                return httpx.Response(204, request=response.request)  # the first one was heard
            wait = self._wait(response, attempt, is_repeatable)
            if is_last or wait is None:
                self._refuse(response)
            may_be_done |= response.status_code >= 500
            response.close()
            self.sleep(wait or 0.0)
        raise AssertionError  # the last attempt returns or raises

    def _wait(self, response: httpx.Response, attempt: int, is_repeatable: bool) -> float | None:
        """Seconds until the request is made again, or None where that makes no sense."""
        status = response.status_code
        # What was refused for its number was not done, whatever it was.
        is_passing = status in PASSING or response.headers.get("X-Error-Code") == STILL_ANSWERED
        if not is_passing or not (is_repeatable or status == 429):
            return None
        seconds = retry_after(response.headers)
        if seconds is None:
            return self._pause(attempt)
        return seconds if seconds <= self.patience.longest else None

    def _pause(self, attempt: int) -> float:
        """Twice as long each time, and never the same as everybody's."""
        longest = min(self.patience.pause * 2.0 ** (attempt - 1), self.patience.longest)
        return float(longest * random.uniform(0.5, 1.0))

    def _asked(self, how: str, address: str, arguments: Mapping[str, Any]) -> httpx.Response:
        """The answer, after whatever a read is led to."""
        target = address
        for _ in range(MAX_REDIRECTS + 1):
            fresh = {
                name: value() if callable(value) else value for name, value in arguments.items()
            }
            if target != address:
                fresh.pop("params", None)  # the address it led to has what it needs
            try:
                request = self._http.build_request(how, target, **fresh)
            except (ValueError, httpx.InvalidURL) as error:
                raise UnsendableError(url=self.url, why=_why(error)) from None
            response = self._http.send(request, stream=True, follow_redirects=False)
            if response.status_code not in REDIRECTS:
                return response
            following = str(response.url.join(response.headers.get("Location", "")))
            response.close()
            self._check_redirect(how, target, following)
            target = following
        why = "it goes on for more than five times"
        raise RedirectedError(url=address, target=target, why=why)

    def _check_redirect(self, how: str, address: str, following: str) -> None:
        secure, other = (origin_of(url)[0] == "https" for url in (address, following))
        target = _without_query(following)
        if secure and not other:
            why = "the way there is not encrypted"
            raise RedirectedError(url=address, target=target, why=why)
        if how not in SAFE:
            site = target.partition(API)[0]
            why = f"nothing is sent elsewhere. If it is the same site, use {site}."
            raise RedirectedError(url=address, target=target, why=why)

    # --- what came back -------------------------------------------------------------------------

    def _read(self, response: httpx.Response) -> None:
        try:
            response.read()
        except (httpx.TransportError, httpx.StreamError) as error:
            raise UnreachableError(url=self.url, why=_why(error)) from None

    def _json_of(self, response: httpx.Response) -> Any:
        if response.status_code == 204 or not response.content:
            return None
        try:
            return response.json()
        except ValueError:
            kind = response.headers.get("Content-Type", "nothing said")
            raise StrangeAnswerError(
                url=_without_query(str(response.url)), why=f"the answer is no JSON but {kind}"
            ) from None

    def _refuse(self, response: httpx.Response) -> None:
        """Raise what an answer from 400 on means."""
        self._read(response)
        response.close()
        status = response.status_code
        try:
            answer = response.json()
        except ValueError:
            answer = None
        answer = answer if isinstance(answer, dict) else {}
        if status == 404 and not answer:
            raise StrangeAnswerError(url=_without_query(str(response.url)), why="nothing is there")
        if status == 401 and not self.has_token:
            raise NotSignedInError(url=self.url)
        seconds = retry_after(response.headers) or 60.0
        kind = error_of(status)
        more = {"seconds": seconds} if kind is TooManyRequestsError else {}
        raise kind(
            url=self.url,
            address=_without_query(str(response.url)),
            answer_status=status,
            answer_code=str(answer.get("code", "")),
            said=str(answer.get("message") or f"the site answers HTTP {status}."),
            detail=_detail_of(answer),
            **more,
        )


def _detail_of(answer: Mapping[str, Any]) -> Any:
    """What an error says beside its sentence; of sites before RFC 9457 all of it was `detail`."""
    if "facts" not in answer:
        return answer.get("detail")
    members = {name: answer[name] for name in ("problems",) if name in answer}
    return {**answer["facts"], **answer.get("errors", {}), **members}


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that `Retry-After` asks to wait, given as a number or as a date.

    Examples
    --------
    >>> retry_after({"Retry-After": "17"}), retry_after({})
    (17.0, None)
    """
    value = headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return max(0.0, at.timestamp() - time.time())


def _why(error: Exception) -> str:
    """What httpx says, without what was sent."""
    reason = str(error) or type(error).__name__
    return reason.rstrip(".")


def _without_query(address: str) -> str:
    """An address as it may be shown: a signed one has its secret after the '?'."""
    return address.partition("?")[0]

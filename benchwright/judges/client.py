"""A judge behind an address that speaks the chat completions protocol: `OpenAIJudge`.

Asked by the `openai` package, which is imported with the first question. Whatever goes wrong is
raised as `JudgeFailedError` with words for a person, and never with the key.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from benchwright.errors import BenchmarkError
from benchwright.fetching.addresses import check_host, refuse_private
from benchwright.judges.completions import Completion, Form, read_completion, request_body
from benchwright.judges.endpoint import OPENAI, Endpoint, Key
from benchwright.judges.errors import (
    CaseError,
    JudgeExtraError,
    JudgeFilterError,
    JudgeLengthError,
    JudgeRefusalError,
)
from benchwright.judges.faults import Fault, fault_of
from benchwright.judges.messages import JudgeFailedError, Message, Reply, Schema

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# The library wants some key; endpoints that need none do not look at it.
NO_KEY = "none"
HEADERS = {
    *("host", "accept", "accept-encoding", "connection", "content-type", "content-length"),
    *("transfer-encoding", "user-agent", "authorization"),
    "x-stainless-raw-response",
}
# Has the library return the response as it came.
RAW = {"X-Stainless-Raw-Response": "true"}
OPENAI_HEADERS = {"openai-organization", "openai-project"}
CONNECTING = "connection.connect_tcp.started"
CONNECTED = "connection.connect_tcp.complete"
SHOWN = 300


class OpenAIJudge:
    """Asks one endpoint, with its limits on speed; one object serves many cases at once.

    What the endpoint turned out to take (`answer_format`, for one) is remembered, so only the first
    cases try in vain. The limits hold for one such object: share it.

    Raises
    ------
    JudgeExtraError
        If the `openai` package is not installed.
    """

    def __init__(self, endpoint: Endpoint, key: str = "") -> None:
        if find_spec("openai") is None:
            raise JudgeExtraError(what="Asking a judge", package="openai")
        self.endpoint = endpoint
        self.model = endpoint.model
        self.fingerprint = fingerprint(endpoint)
        self._key = Key(key)
        self._form = Form(
            endpoint.answer_format,
            endpoint.temperature,
            endpoint.max_tokens,
            seed=endpoint.seed,
            has_probabilities=endpoint.has_probabilities,
        )
        self._pace = _Pace(endpoint.requests_per_minute)
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, _Line] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"OpenAIJudge({self.model!r}, {self.endpoint.base_url!r})"

    @property
    def answer_format(self) -> str:
        """How answers are asked for by now: "schema", "json" or "text"."""
        return self._form.answer_format

    async def a_generate(self, messages: Sequence[Message], schema: Schema) -> Reply:
        """The endpoint's answer, after as many attempts as allowed.

        Raises
        ------
        JudgeFailedError
            If there is none that can be read; with the reply where one was paid for.
        """
        form = begun_with = self._form
        n_asked, n_failed = 0, 0
        while True:
            n_asked += 1
            try:
                body = request_body(self.model, messages, schema, form)
                completion = await self._completion(body)
            except Exception as error:  # noqa: BLE001 sorted into words at this boundary
                fault = fault_of(
                    error,
                    timeout=self.endpoint.timeout,
                    is_cause_told=self.endpoint.may_be_private,
                )
                other = form.easier(fault.words) if fault.is_form else None
                if other is not None:
                    form = other
                    continue
                n_failed += 1
                await self._wait(fault, n_failed, n_asked)
                continue
            if form is not begun_with:
                self._form = form
            return self._reply(completion, n_asked)

    async def a_close(self) -> None:
        """Close the connections of this event loop."""
        line = self._lines.pop(asyncio.get_running_loop(), None)
        if line is not None:
            await line.client.close()

    async def _completion(self, body: dict[str, Any]) -> Completion:
        line = self._line()
        await self._pace.turn()
        async with line.free, asyncio.timeout(self.endpoint.timeout):
            # Not by `chat.completions.create`: that walks through every part of the messages.
            raw: Any = await line.client.post(
                "/chat/completions", body=body, cast_to=object, options={"headers": RAW}
            )
        return read_completion(raw.http_response.text)

    async def _wait(self, fault: Fault, n_failed: int, n_asked: int) -> None:
        """Wait before the next attempt; raise what is wrong where there is none."""
        is_last = not fault.is_passing or n_failed >= self.endpoint.max_attempts
        if is_last or (fault.wait or 0) > self.endpoint.max_wait:
            raise JudgeFailedError(self._safe(fault.error(n_asked)))
        if fault.wait is not None:
            # What the endpoint says to one call it says to all of them.
            self._pace.hold(fault.wait)
            return
        longest = min(self.endpoint.first_wait * 2 ** (n_failed - 1), self.endpoint.max_wait)
        await asyncio.sleep(longest * random.uniform(0.5, 1))

    def _safe(self, error: CaseError) -> CaseError:
        """The same error, should the endpoint have repeated the key in its words."""
        facts = {
            name: self._key.hidden_in(value) if isinstance(value, str) else value
            for name, value in error.facts.items()
        }
        return type(error)(**facts)

    def _reply(self, completion: Completion, n_asked: int) -> Reply:
        reply = Reply(
            text=self._key.hidden_in(completion.text),
            model=self._key.hidden_in(completion.model) or self.model,
            tokens_in=completion.tokens_in,
            tokens_out=completion.tokens_out,
            cost=self.endpoint.cost_of(completion.tokens_in, completion.tokens_out),
            attempts=n_asked,
            tokens=completion.tokens,
        )
        if error := _withheld(completion):
            raise JudgeFailedError(self._safe(error), reply)
        return reply

    def _line(self) -> "_Line":
        """The client of this event loop: connections can not be carried into another."""
        loop = asyncio.get_running_loop()
        line = self._lines.get(loop)
        if line is None:
            free = asyncio.Semaphore(self.endpoint.concurrency)
            line = self._lines[loop] = _Line(self._client(), free)
        return line

    async def _stripped(self, request: Any) -> None:
        """Leave out what the library adds of this machine and its environment: no telemetry."""
        header_names = HEADERS | OPENAI_HEADERS if self.endpoint.base_url == OPENAI else HEADERS
        for name in [name for name in request.headers if name.lower() not in header_names]:
            del request.headers[name]
        key = self._key.reveal()
        if key:
            request.headers["authorization"] = f"Bearer {key}"
        else:
            del request.headers["authorization"]

    def _client(self) -> "AsyncOpenAI":
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        hooks = [self._stripped] if self.endpoint.may_be_private else [self._stripped, _guard]
        # A key does not follow to wherever an answer leads.
        carrier = DefaultAsyncHttpxClient(follow_redirects=False, event_hooks={"request": hooks})
        return AsyncOpenAI(
            api_key=self._key.reveal() or NO_KEY,
            base_url=self.endpoint.base_url,
            timeout=self.endpoint.timeout,
            max_retries=0,
            http_client=carrier,
        )


def fingerprint(endpoint: Endpoint) -> str:
    """What decides the answers of an endpoint, beside its model."""
    facts = f"{endpoint.base_url} {endpoint.temperature} {endpoint.max_tokens}"
    # Left out where they are not asked for: what was kept before they could be stays known.
    facts += f" seed {endpoint.seed}" if endpoint.seed is not None else ""
    return f"{facts} probabilities" if endpoint.has_probabilities else facts


@dataclass(slots=True)
class _Line:
    client: "AsyncOpenAI"
    free: asyncio.Semaphore


class _Pace:
    """Lets requests begin one after the other, so many a minute, and none while all must wait."""

    def __init__(self, requests_per_minute: float | None) -> None:
        self.gap = 60 / requests_per_minute if requests_per_minute else 0.0
        self.next = 0.0

    async def turn(self) -> None:
        now = time.monotonic()
        begin = max(now, self.next)
        self.next = begin + self.gap
        if begin > now:
            await asyncio.sleep(begin - now)

    def hold(self, seconds: float) -> None:
        self.next = max(self.next, time.monotonic() + seconds)


def _withheld(completion: Completion) -> CaseError | None:
    """Why an answer is none."""
    if completion.refusal:
        return JudgeRefusalError(words=completion.refusal[:SHOWN])
    if completion.finish_reason == "length":
        return JudgeLengthError(tokens=completion.tokens_out)
    if completion.finish_reason == "content_filter":
        return JudgeFilterError()
    return None


async def _guard(request: Any) -> None:
    """Have a machine looked at before it is connected to, and again before anything is sent.

    The machine that answers counts, whatever its name was resolved to before.
    """
    host = request.url.host
    address = f"{request.url.scheme}://{f'[{host}]' if ':' in host else host}"

    async def look(event: str, facts: dict[str, Any]) -> None:
        if event == CONNECTING:
            await asyncio.to_thread(check_host, address, may_be_private=False)
        if event == CONNECTED:
            connection = facts["return_value"]
            place = connection.get_extra_info("server_addr")
            try:
                refuse_private(str(place[0]), host=host, address=address)
            except BenchmarkError:
                await connection.aclose()
                raise

    request.extensions["trace"] = look

"""Asking an endpoint many queries: at its pace, several at a time, again where that may help."""

import queue
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from benchwright.live.answers import read_answer
from benchwright.live.connections import Connection, Server
from benchwright.live.errors import AnswerError
from benchwright.live.pacing import LONGEST_WAIT, Pace, Stopped, backoff
from benchwright.live.paths import Reading, Shape
from benchwright.live.templates import Template

WATCH_SECONDS = 0.1
JOIN_SECONDS = 2.0
HIDDEN = "•••"
SHORTEST_SECRET = 4


Read = Callable[[bytes, Shape, int], Reading]


def read_here(content: bytes, shape: Shape, k: int) -> Reading:
    """Read an answer in this process; raises as `read_answer` does."""
    return read_answer(content, shape, k=k)


@dataclass(frozen=True)
class Endpoint:
    """Everything needed to ask: where, with what, how fast, and what the answer looks like.

    `requests_per_second` counts every request, repeated ones too. `retries` are the attempts after
    the first. `headers` hold the values of secrets: they are in no message and no `repr`;
    `hidden` are those values, which are struck out of what the other side says. `read` makes the
    first k documents of the bytes of an answer, or raises an AnswerError.
    """

    server: Server
    method: str
    template: Template
    shape: Shape
    k: int
    requests_per_second: float = 10.0
    concurrency: int = 4
    retries: int = 3
    first_pause: float = 0.5
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    hidden: Collection[str] = field(default=(), repr=False)
    read: Read = field(default=read_here, repr=False)


@dataclass(frozen=True)
class Answered:
    """A query with its documents, and how long the attempt took that gave them.

    `milliseconds` are from sending the request to the last byte of the answer: without waiting for
    a turn, without making the connection, without earlier attempts, without reading it.
    """

    qid: str
    reading: Reading
    milliseconds: float
    n_tries: int


@dataclass(frozen=True)
class Failed:
    """A query without an answer: the cause of its last attempt."""

    qid: str
    why: str
    n_tries: int
    status: int = 0


Outcome = Answered | Failed
Ask = tuple[str, str]
"""Query id and text."""


def request_for(endpoint: Endpoint, query: Ask) -> tuple[str, bytes | None]:
    """What is asked of the server: the target of the request, and its body.

    Raises
    ------
    TemplateError
        If the template cannot be filled.
    """
    qid, text = query
    filled = endpoint.template.filled(query=text, k=endpoint.k, qid=qid)
    parts = endpoint.server.parts
    path = parts.path or "/"
    if endpoint.method == "POST":
        return (f"{path}?{parts.query}" if parts.query else path), filled
    return f"{path}?{'&'.join(filter(None, [parts.query, filled.decode('ascii')]))}", None


def ask_all(endpoint: Endpoint, queries: Sequence[Ask]) -> Generator[Outcome, None, None]:
    """Yield the outcome of each query, in the order in which they come.

    Close the iterator to stop: requests at work are broken off, and no other is made.

    Raises
    ------
    EndpointError
        If the address may not be asked at all.
    """
    asking = _Asking(endpoint, queries)
    try:
        yield from asking.outcomes()
    finally:
        asking.end()


class _Asking:
    """The threads that ask, what is left to ask, and what came."""

    def __init__(self, endpoint: Endpoint, queries: Sequence[Ask]) -> None:
        self.endpoint = endpoint
        self._n = len(queries)
        self._left = iter(queries)
        self._taking = threading.Lock()
        self._stop = threading.Event()
        self._pace = Pace(endpoint.requests_per_second, wait=self._stop.wait)
        # Bounded: what comes is written down before much more is asked.
        self._came: queue.Queue[Outcome | Exception] = queue.Queue(2 * endpoint.concurrency)
        n_threads = min(endpoint.concurrency, self._n)
        self._connections = [Connection(endpoint.server) for _ in range(n_threads)]
        self._threads = [
            threading.Thread(
                target=self._work, args=(connection,), daemon=True, name=f"ask-{place}"
            )
            for place, connection in enumerate(self._connections)
        ]

    def outcomes(self) -> Iterator[Outcome]:
        for thread in self._threads:
            thread.start()
        n_came = 0
        while n_came < self._n:
            for connection in self._connections:
                connection.end_if_late()
            with suppress(queue.Empty):
                came = self._came.get(timeout=WATCH_SECONDS)
                if isinstance(came, Exception):
                    raise came
                n_came += 1
                yield came

    def end(self) -> None:
        self._stop.set()
        for connection in self._connections:
            connection.end()
        until = time.monotonic() + JOIN_SECONDS
        for thread in self._threads:
            if thread.ident is not None:
                # One that waits for the name of a host cannot be woken; it ends by itself.
                thread.join(max(0.0, until - time.monotonic()))

    # --- in the threads -----------------------------------------------------------------------

    def _work(self, connection: Connection) -> None:
        try:
            while (query := self._next()) is not None:
                self._put(self._outcome(connection, query))
        except Stopped:
            pass
        except Exception as error:  # noqa: BLE001 - it is raised where outcomes are waited for
            with suppress(Stopped):
                self._put(error)
        finally:
            connection.close()

    def _next(self) -> Ask | None:
        if self._stop.is_set():
            return None
        with self._taking:
            return next(self._left, None)

    def _put(self, came: Outcome | Exception) -> None:
        while not self._stop.is_set():
            with suppress(queue.Full):
                self._came.put(came, timeout=WATCH_SECONDS)
                return
        raise Stopped

    def _outcome(self, connection: Connection, query: Ask) -> Outcome:
        attempt = 0
        while True:
            attempt += 1
            self._pace.turn()
            try:
                return self._answer(connection, query, attempt)
            except AnswerError as error:
                pause = self._pause_after(error, attempt)
                if pause is None:
                    why = _without(str(error.why), self.endpoint.hidden)
                    return Failed(query[0], why, attempt, error.answer_status)
            self._pace.sleep(pause)

    def _answer(self, connection: Connection, query: Ask, attempt: int) -> Answered:
        endpoint = self.endpoint
        target, body = request_for(endpoint, query)
        reply = connection.ask(endpoint.method, target, body, endpoint.headers)
        took = (time.perf_counter() - reply.began) * 1000
        reading = endpoint.read(reply.content, endpoint.shape, endpoint.k)
        return Answered(query[0], reading, took, attempt)

    def _pause_after(self, error: AnswerError, attempt: int) -> float | None:
        """Seconds until the next attempt, or None where there is none."""
        if not error.is_passing or attempt > self.endpoint.retries or self._stop.is_set():
            return None
        if error.wait is None:
            return backoff(attempt, first=self.endpoint.first_pause)
        if error.wait > LONGEST_WAIT:
            return None
        # All wait: it is the server that is asked too often, not this query.
        self._pace.hold(error.wait)
        return 0.0


def _without(text: str, hidden: Collection[str]) -> str:
    """A message without the secrets that the other side may have repeated."""
    for secret in hidden:
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, HIDDEN)
    return text


def try_one(
    endpoint: Endpoint, query: Ask, *, clock: Callable[[], float] = time.perf_counter
) -> tuple[Outcome, float]:
    """The outcome of one attempt at one query, and the milliseconds it took in all.

    Raises
    ------
    EndpointError
        If the address may not be asked.
    """
    began = clock()
    (outcome,) = ask_all(endpoint, [query])
    return outcome, (clock() - began) * 1000

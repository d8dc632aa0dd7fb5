"""Requests that are being sent keep none waiting that are there.

A request has a thread for as long as its body is on its way: hours, where a large file comes over a
slow line. Of threads there are many, as one that waits costs little; of places to compute in there
are few, as a process computes one thing at a time. Who waits for its body has neither a place nor
a connection of the database, and neither has what is sent piece by piece to a slow client, unless
it reads the database for the next piece: of such answers only some are sent at a time.

A small body is waited for before anything is taken, and is there at once nearly always: a place
and a connection that are given up for it would have to be taken twice.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from io import BytesIO
from threading import BoundedSemaphore, Lock
from time import monotonic
from typing import Any, Self

from django.core.exceptions import BadRequest
from django.db import close_old_connections
from django.http import FileResponse, StreamingHttpResponse

from benchmarks_app.errors import BodyCutOffError
from benchwright.errors import BROKE_OFF

# Of each process. Places and turns keep a connection each: together fewer than a pool has.
N_THREADS = 64
N_PLACES = 8
N_TURNS = 4
# So long is waited for the place that was given away: who has begun to write must not wait for who
# waits for what it writes.
LONGEST_WAIT_SECONDS = 5.0
SMALL = 1 << 16
# What is left of a body when its answer is there: so much is taken, and for so long.
MOST_LEFT = 16 << 20
LONGEST_LEFT_SECONDS = 10.0
TEXTS = ("text/", "application/json", "application/x-ndjson")
Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class Places:
    """So many at a time, each in its turn: a semaphore would let who comes pass who waits."""

    def __init__(self, n: int) -> None:
        self._lock = Lock()
        self._n_free = n
        self._waiting: deque[Lock] = deque()

    def acquire(self, timeout: float = -1) -> bool:
        """Whether a place was got in so many seconds; -1: it is waited for."""
        with self._lock:
            if self._n_free:
                self._n_free -= 1
                return True
            turn = Lock()
            turn.acquire()
            self._waiting.append(turn)
        if turn.acquire(timeout=timeout):
            return True
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return False
        return True  # given between the two

    def release(self) -> None:
        """Give the place to who has waited longest."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._n_free += 1


class Place:
    """Of one request; taken while it computes."""

    def __init__(self, free: Places) -> None:
        self._free = free
        self._is_taken = self._is_over = False

    def __enter__(self) -> Self:
        self._free.acquire()
        self._is_taken = True
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self.leave()

    def leave(self) -> None:
        if self._is_taken:
            self._is_taken = False
            self._free.release()

    def take_again(self) -> None:
        """A body that is read on while the answer is sent has no place any more."""
        if not self._is_over:
            self._is_taken = self._free.acquire(timeout=LONGEST_WAIT_SECONDS)


class CutOffBodyError(BodyCutOffError, BadRequest):
    """A bad request wherever it is read: forms are looked at before any view."""


class Body:
    """What a client sends; the place is left for as long as it is waited for.

    A server gives what came before a connection ended as if it were all: a form without its last
    fields. Of `length` bytes, where that is known, fewer are none.
    """

    def __init__(self, sent: Any, place: Place, length: int | None = None) -> None:
        self._sent = sent
        self._place = place
        self._length = length
        self._n_read = 0

    def read(self, size: int = -1) -> bytes:
        n_left = None if self._length is None else self._length - self._n_read
        return self._counted(
            self._without_place(self._sent.read, size),
            # A server may give what is there, and nothing at the end alone.
            is_end=lambda piece: not piece or size < 0 or (n_left is not None and size >= n_left),
        )

    def readline(self, size: int = -1) -> bytes:
        return self._counted(
            self._without_place(self._sent.readline, size),
            is_end=lambda line: not line.endswith(b"\n") and len(line) != size,
        )

    def finish(self) -> None:
        """Take what nobody has read.

        A server ends the connection of a client that is still sending when its answer is there:
        most clients then tell of that and not of the answer, and proxies of a gateway that is bad.
        """
        n_left = (self._length or 0) - self._n_read
        deadline = monotonic() + LONGEST_LEFT_SECONDS
        while 0 < n_left <= MOST_LEFT and monotonic() < deadline:
            piece = self._without_place(self._sent.read, min(n_left, SMALL))
            n_left -= len(piece) or n_left

    def _counted(self, piece: bytes, *, is_end: Callable[[bytes], bool]) -> bytes:
        self._n_read += len(piece)
        if self._length is not None and self._n_read < self._length and is_end(piece):
            raise CutOffBodyError(n=self._n_read, n_all=self._length)
        return piece

    def _without_place(self, ask: Callable[..., bytes], size: int) -> bytes:
        close_old_connections()
        self._place.leave()
        try:
            return ask(size)
        finally:
            self._place.take_again()


def _body_of(request: dict[str, Any], place: Place) -> Any:
    text = request.get("CONTENT_LENGTH", "")
    length = int(text) if text.isdecimal() else None
    if length is None or length > SMALL:
        return Body(request["wsgi.input"], place, length)
    content = BytesIO(request["wsgi.input"].read(length))
    is_whole = len(content.getvalue()) == length
    return content if is_whole else Body(content, place, length)


class DetachedResponse(StreamingHttpResponse):
    """Its pieces are of a file, or it gives the connection back between them."""


class BegunResponse(StreamingHttpResponse):
    """Its first pieces were read from the database before it was known how many there are."""


class SentPieces:
    """What is sent piece by piece; ended with the answer, sent to its end or not."""

    def __init__(self, response: StreamingHttpResponse, turns: BoundedSemaphore) -> None:
        self._response = response
        self._pieces = _in_turn(response, turns)

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        self._pieces.close()
        self._response.close()


def _in_turn(
    response: StreamingHttpResponse, turns: BoundedSemaphore
) -> Generator[bytes, None, None]:
    if not isinstance(response, BegunResponse):
        close_old_connections()
    if isinstance(response, DetachedResponse | FileResponse):
        yield from response
    elif isinstance(response, BegunResponse):
        yield from _to_its_end(response)
    else:
        with turns:
            yield from _to_its_end(response)


def _to_its_end(response: StreamingHttpResponse) -> Iterator[bytes]:
    """What is sent; a text that breaks off says so at its end.

    The server ends what fails as it ends what is whole. A zip lacks its last part, and what was
    begun with its length has not all of it.
    """
    try:
        yield from response
    except Exception:
        if response.get("Content-Type", "").startswith(TEXTS):
            yield BROKE_OFF
        raise


def with_places(application: Application, n: int = N_PLACES, n_turns: int = N_TURNS) -> Application:
    """The same application, which computes `n` answers at a time, and sends as many as `n_turns`
    at a time that read the database as they go.
    """
    free, turns = Places(n), BoundedSemaphore(n_turns)

    def answer(request: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        place = Place(free)
        request["wsgi.input"] = body = _body_of(request, place)
        with place:
            response = application(request, start_response)
        # Who waits to be told to go on sends nothing before.
        if isinstance(body, Body) and "HTTP_EXPECT" not in request:
            body.finish()
        return (
            SentPieces(response, turns) if isinstance(response, StreamingHttpResponse) else response
        )

    return answer

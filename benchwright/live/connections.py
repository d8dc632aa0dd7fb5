"""A kept connection to an endpoint: public addresses only, one deadline, answers of bounded size.

The machine that was checked is the one connected to, and no redirect is followed: what an address
leads to is told, so that a person can decide about it.
"""

import http.client
import socket
import threading
import time
import zlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import SplitResult

from benchwright.fetching import addresses
from benchwright.fetching.errors import AddressRefusedError, DownloadError, UnreachableError
from benchwright.live.errors import AnswerError, EndpointError
from benchwright.live.pacing import LONGEST_WAIT, seconds_asked_for

AGENT = "benchwright"
CHUNK = 1 << 16
REDIRECTS = (301, 302, 303, 307, 308)
# A busy or restarting server; others would say the same again.
PASSING = (408, 425, 429, 500, 502, 503, 504)
MOST_SAID = 300


@dataclass(frozen=True)
class Reply:
    """What came back with status 200; `began` is when the request was sent (`perf_counter`)."""

    content: bytes
    began: float


@dataclass(frozen=True)
class Server:
    """Where an endpoint is; `private` are hosts, or host:port, that need not be public."""

    url: str
    private: Collection[str] = ()
    timeout: float = 10.0
    most_bytes: int = 8 << 20
    parts: SplitResult = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", read_url(self.url))

    @property
    def may_be_private(self) -> bool:
        return addresses.may_be_private(self.parts, self.private)


def read_url(url: str) -> SplitResult:
    """The parts of an endpoint's address.

    Raises
    ------
    EndpointError
        If it is not http or https, names no host, carries a password, or has a fragment.
    """
    try:
        parts = addresses.read_address(url)
    except AddressRefusedError as error:
        raise EndpointError(
            address=_shown(url),
            why=error.why,
            advice="Write it as https://search.example.org/index/_search; secrets go into headers.",
        ) from None
    if parts.fragment or any(letter.isspace() or ord(letter) < 33 for letter in url):
        why = "it holds a blank or a #"
        raise EndpointError(address=_shown(url), why=why, advice="Percent-encode it.")
    return parts


def _shown(url: str) -> str:
    """An address without what may be secret in it."""
    bare = url.partition("?")[0].partition("#")[0]
    scheme, separator, rest = bare.partition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}{separator}{place.rpartition('@')[2]}{slash}{path}"[:200]


class Connection:
    """A connection that one thread asks over; another may `end` what takes too long."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.deadline: float | None = None
        self._open: http.client.HTTPConnection | None = None
        # Kept apart: http.client forgets it while the last answer is still being read.
        self._socket: socket.socket | None = None
        self._is_over = False
        self._lock = threading.Lock()

    def ask(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Reply:
        """The answer to one request, made once more where a kept connection had gone stale.

        Raises
        ------
        AnswerError
            If there is none that is of use; it says whether another attempt makes sense.
        EndpointError
            If the address may not be asked.
        """
        self.deadline = time.monotonic() + self.server.timeout
        try:
            for is_kept in (self._open is not None, False):
                try:
                    return self._asked(method, target, body, headers)
                except AnswerError as error:
                    if not error.answer_status:  # not read to its end
                        self.close()
                    raise
                except (OSError, http.client.HTTPException) as error:
                    self.close()
                    if is_kept and _is_stale(error) and not self._is_late():
                        continue
                    raise self._broken(str(error) or type(error).__name__) from None
            raise AssertionError  # the second round returns or raises
        finally:
            self.deadline = None

    def end_if_late(self) -> None:
        """Called from another thread: break off an exchange whose time is over."""
        if self._is_late():
            self._break_off()

    def end(self) -> None:
        """Called from another thread, once: break off what is at work, and let nothing follow."""
        with self._lock:
            self._is_over = True
        self._break_off()

    def _is_late(self) -> bool:
        deadline = self.deadline  # the other thread may take it away in between
        return deadline is not None and time.monotonic() > deadline

    def _break_off(self) -> None:
        with self._lock:
            socket_of_call = self._socket
        if socket_of_call is not None:
            with suppress(OSError):
                socket_of_call.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with self._lock:
            connection, self._open, self._socket = self._open, None, None
        if connection is not None:
            connection.close()

    # --- one exchange -------------------------------------------------------------------------

    def _asked(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Reply:
        connection = self._connected()
        own_headers = {"User-Agent": AGENT, "Accept": "application/json", "Accept-Encoding": "gzip"}
        if body is not None:
            own_headers["Content-Type"] = "application/json"
        began = time.perf_counter()
        connection.request(method, target, body=body, headers={**own_headers, **headers})
        response = connection.getresponse()
        content = self._content(response)
        if response.will_close:
            self.close()
        if response.status != 200:
            self._refuse(response, content)
        return Reply(content, began)

    def _connected(self) -> http.client.HTTPConnection:
        if self._is_over:
            raise AnswerError(why="nobody waits for it any more")
        if self._open is not None and self._open.sock is not None:
            self._open.sock.settimeout(self._left())
            return self._open
        self.close()
        connection = self._connect()
        # It would look the name up anew, and connect to whatever machine it leads to by then.
        connection.auto_open = 0
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._open, self._socket = connection, connection.sock
            is_over = self._is_over
        if is_over:
            raise AnswerError(why="nobody waits for it any more")
        return connection

    def _connect(self) -> http.client.HTTPConnection:
        server = self.server
        try:
            return addresses.connect(
                server.parts, timeout=self._left(), may_be_private=server.may_be_private
            )
        except AddressRefusedError as error:
            raise EndpointError(
                address=_shown(server.url),
                why=error.why,
                advice=(
                    "Only public addresses are asked; whoever runs the site can allow others "
                    f"(LIVE_PRIVATE_ADDRESSES={server.parts.hostname})."
                ),
            ) from None
        except UnreachableError as error:
            allowing = f"LIVE_PRIVATE_ADDRESSES={server.parts.hostname}"
            why = f"{error.why} (whoever runs the site can allow others: {allowing})"
            raise AnswerError(why=why, is_passing=True) from None
        except DownloadError as error:
            raise AnswerError(why=f"{error.why}", is_passing=True) from None

    def _content(self, response: http.client.HTTPResponse) -> bytes:
        """The body, unpacked; never more of it in memory than may be."""
        expected, content, most = response.length, bytearray(), self.server.most_bytes
        if expected is not None and expected > most:
            self._refuse_too_large(f"announces {expected:,} bytes")
        while piece := response.read(CHUNK):
            content += piece
            if len(content) > most:
                self._refuse_too_large("is larger")
        if expected is not None and len(content) < expected:
            detail = f"it ended after {len(content):,} of {expected:,} bytes"
            raise self._broken(detail)
        return self._unpacked(bytes(content), response.headers.get("Content-Encoding", ""))

    def _unpacked(self, content: bytes, encoding: str) -> bytes:
        kind = encoding.strip().lower()
        if kind in ("", "identity"):
            return content
        if kind != "gzip":
            raise AnswerError(why=f"its answer is packed as '{kind[:40]}', and only gzip is read")
        most, unpacked = self.server.most_bytes, bytearray()
        try:
            while content:
                unpacker = zlib.decompressobj(wbits=31)
                unpacked += unpacker.decompress(content, most + 1 - len(unpacked))
                if len(unpacked) > most:
                    self._refuse_too_large("unpacks to more")
                if not unpacker.eof:
                    raise AnswerError(is_passing=True, why="its packed answer ends too early")
                content = unpacker.unused_data
        except zlib.error as error:
            raise AnswerError(why=f"its answer is no gzip, though it says so ({error})") from None
        return bytes(unpacked)

    def _refuse_too_large(self, what: str) -> None:
        self.close()
        most = self.server.most_bytes / (1 << 20)
        raise AnswerError(
            why=f"its answer {what}, and at most {most:,.1f} MB are read. Leave the texts of "
            "documents out of it: only ids and scores are needed"
        )

    # --- what is wrong ------------------------------------------------------------------------

    def _refuse(self, response: http.client.HTTPResponse, content: bytes) -> None:
        status = response.status
        if status in REDIRECTS:
            target = _shown(response.headers.get("Location", ""))
            raise AnswerError(
                why=f"it leads to '{target}' (HTTP {status}), and nothing is sent elsewhere. Give "
                "the address that answers",
                status=status,
            )
        wait = seconds_asked_for(response.headers.get("Retry-After", ""), now=time.time())
        raise AnswerError(
            why=f"HTTP {status} {response.reason}{_said(content)}{_too_long(wait)}".strip(),
            is_passing=status in PASSING,
            status=status,
            wait=wait,
        )

    def _broken(self, detail: str) -> AnswerError:
        why = f"the connection broke off: {detail}"
        if self._is_late():
            why = f"no whole answer within {self.server.timeout:g} s"
        return AnswerError(why=why, is_passing=True)

    def _left(self) -> float:
        """Seconds until the deadline, never none: a socket with 0 would not wait at all."""
        return max(0.05, (self.deadline or 0.0) - time.monotonic())


def _is_stale(error: Exception) -> bool:
    """Whether a kept connection turned out to be closed by the other side, before any answer."""
    return isinstance(
        error, http.client.RemoteDisconnected | BrokenPipeError | ConnectionResetError
    )


def _too_long(wait: float | None) -> str:
    if wait is None or wait <= LONGEST_WAIT:
        return ""
    return f"; it asks to wait {wait:,.0f} s, and at most {LONGEST_WAIT:.0f} s are waited"


def _said(content: bytes) -> str:
    """What the other side says of it, short and on one line."""
    text = " ".join(content[: 4 * MOST_SAID].decode("utf-8", "replace").split())
    printable = "".join(letter for letter in text if letter.isprintable())
    if not printable:
        return ""
    return f": {printable[:MOST_SAID]}{'…' if len(printable) > MOST_SAID else ''}"

"""A small body sent to an address that somebody gave: guarded, bounded in time and size."""

import http.client
import socket
import threading
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass

from benchwright.fetching.addresses import connect, may_be_private, read_address
from benchwright.fetching.errors import DownloadError

AGENT = "benchwright"


@dataclass(frozen=True)
class Answer:
    """What came back: a status, the beginning of its text, and after how long (s).

    `location` is where it leads, of an answer that leads elsewhere; nobody goes there.
    """

    status: int
    text: str
    seconds: float
    location: str = ""


def post(
    address: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    private: Collection[str] = (),
    timeout: float = 10.0,
    most_characters: int = 500,
) -> Answer:
    """Send a body to an address, once, and return what was answered, whatever the status.

    The machine that was checked is the one connected to, no redirect is followed, and all of it
    takes at most `timeout` seconds. `private` are hosts, or host:port, or * for all, that need
    not be in the public network.

    Raises
    ------
    AddressRefusedError, DownloadError
        As `addresses.connect`; or if there was no whole answer in time.
    """
    parts = read_address(address)
    began = time.monotonic()
    connection = connect(parts, timeout=timeout, may_be_private=may_be_private(parts, private))
    # It would look the name up anew, and connect to whatever machine it leads to by then.
    connection.auto_open = 0
    opened = connection.sock
    # A timeout of the socket is one of each piece: who sends a byte now and then has no end.
    seconds_left = max(0.05, timeout - (time.monotonic() - began))
    clock = threading.Timer(seconds_left, _break_off, [opened])
    clock.daemon = True
    clock.start()
    target = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    own_headers = {"User-Agent": AGENT, "Content-Type": "application/json", "Connection": "close"}
    try:
        connection.request("POST", target, body=body, headers={**own_headers, **headers})
        response = connection.getresponse()
        # A character takes up to four bytes; the rest is never read.
        text = response.read(4 * most_characters).decode("utf-8", "replace")
        location = response.headers.get("Location", "")[:200]
    except (OSError, http.client.HTTPException) as error:
        is_late = time.monotonic() - began >= timeout
        why = f"no whole answer within {timeout:g} s" if is_late else f"{error or type(error)}"
        raise DownloadError(
            address=f"{parts.scheme}://{parts.netloc}",
            why=why if is_late else f"the connection broke off ({why})",
            advice="It is tried again.",
        ) from error
    finally:
        clock.cancel()
        connection.close()
        opened.close()
    seconds = time.monotonic() - began
    return Answer(response.status, text[:most_characters], seconds, location)


def _break_off(opened: socket.socket) -> None:
    with suppress(OSError):
        opened.shutdown(socket.SHUT_RDWR)

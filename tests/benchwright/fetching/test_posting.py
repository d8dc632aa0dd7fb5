"""One deadline holds for all of a request: names, connections, the handshake and the answer."""

import contextlib
import socket
import threading
import time

import pytest

from benchwright.fetching.errors import DownloadError
from benchwright.fetching.posting import post

SECONDS = 1.0
# A busy machine may add some; a second attempt would be as long again.
LIMIT = 1.7


@contextlib.contextmanager
def listening(backlog=5):
    with socket.create_server(("127.0.0.1", 0), backlog=backlog) as server:
        yield server, server.getsockname()[1]


def seconds_of(address):
    began = time.monotonic()
    with pytest.raises(DownloadError):
        post(address, b"{}", {}, private=["*"], timeout=SECONDS)
    return time.monotonic() - began


def trickle(server, piece, pause, until):
    """Take a connection and send it a byte now and then."""
    with contextlib.suppress(OSError):
        taken, _ = server.accept()
        with taken:
            for n in range(int(until / pause)):
                taken.sendall(piece[n : n + 1])
                time.sleep(pause)


def test_handshake_that_comes_a_byte_at_a_time_has_an_end():
    with listening() as (server, port):
        # The header of a record of 512 bytes, whose content never ends.
        record = b"\x16\x03\x03\x02\x00\x02" + b"\x00" * 500
        threading.Thread(target=trickle, args=(server, record, 0.05, 5), daemon=True).start()

        assert seconds_of(f"https://127.0.0.1:{port}/") < LIMIT


def test_addresses_of_a_name_share_one_deadline(monkeypatch):
    """Four machines that never answer take no longer than one."""
    with listening(backlog=0) as (_, port), contextlib.ExitStack() as stack:
        for _ in range(3):  # the queue is full, and who comes next waits
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
        place = (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))
        monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: [place] * 4)

        assert seconds_of(f"http://many.example:{port}/") < LIMIT


def test_slow_connection_leaves_less_for_the_handshake(monkeypatch):
    connected = socket.socket.connect

    def slowly(self, place):
        time.sleep(SECONDS * 0.95)
        connected(self, place)

    monkeypatch.setattr(socket.socket, "connect", slowly)
    with listening() as (_, port):
        assert seconds_of(f"https://127.0.0.1:{port}/") < LIMIT

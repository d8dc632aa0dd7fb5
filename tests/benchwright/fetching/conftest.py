"""A server on this machine that does what servers do: ranges, redirects, broken connections."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from benchwright.fetching.download import FetchLimits


@dataclass
class Served:
    """What an address gives. `cuts` are how many bytes each answer brings before it breaks off.

    `first` are the statuses of the first answers, before those with the content.
    """

    content: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    etag: str = '"one"'
    cuts: list[int] = field(default_factory=list)
    has_length: bool = True
    first: list[int] = field(default_factory=list)


class Server:
    """Addresses by path, and every request that came: path and range."""

    def __init__(self) -> None:
        self.served: dict[str, Served] = {}
        self.asked: list[tuple[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.answer(self)

            do_HEAD = do_GET

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.split("?")[0]
        wanted = request.headers.get("Range", "")
        self.asked.append((path, wanted))
        served = self.served.get(path, Served(status=404))
        if served.first:
            served = Served(status=served.first.pop(0))
        begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        is_rest = bool(wanted) and request.headers.get("If-Range") == served.etag
        status, body = (206, served.content[begin:]) if is_rest else (served.status, served.content)
        request.send_response(416 if is_rest and not body else status)
        if is_rest and not body:
            request.send_header("Content-Range", f"bytes */{len(served.content)}")
        elif is_rest:
            end = len(served.content) - 1
            request.send_header("Content-Range", f"bytes {begin}-{end}/{len(served.content)}")
        if served.has_length:
            request.send_header("Content-Length", str(len(body)))
        if served.etag:
            request.send_header("ETag", served.etag)
        for name, value in served.headers.items():
            request.send_header(name, value)
        request.end_headers()
        if request.command == "GET":
            cut = served.cuts.pop(0) if served.cuts else len(body)
            request.wfile.write(body[:cut])
        request.close_connection = True


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


@pytest.fixture
def limits() -> Callable[..., FetchLimits]:
    """Limits under which this machine may be asked, and nobody waits between tries."""

    def make(**more: object) -> FetchLimits:
        fields = {"max_bytes": 1 << 20, "may_be_private": True, "pause": 0.0, "n_tries": 3, **more}
        return FetchLimits(**fields)

    return make


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "downloads"
    folder.mkdir()
    return folder / "set.zip"

"""A search endpoint on this machine, which answers as told: right, late, wrong, or not at all."""

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass
class Asked:
    """A request that came: its text of the query, and all else of it."""

    query: str
    path: str
    body: Any
    headers: dict[str, str]
    at: float = field(default_factory=time.monotonic)


@dataclass
class Answer:
    """What is sent back; `cut` bytes of it, `delay` seconds later, `drip` seconds between bytes."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    delay: float = 0.0
    drip: float = 0.0


def hits(*pairs: tuple[Any, Any], **more: Any) -> Answer:
    """An answer as OpenSearch gives it."""
    rows = [{"_index": "docs", "_id": docid, "_score": score} for docid, score in pairs]
    answer = {"took": 1, "timed_out": False, "_shards": {"total": 2, "failed": 0}, **more}
    return Answer(json.dumps({**answer, "hits": {"hits": rows}}).encode())


def plain(value: Any) -> Answer:
    return Answer(json.dumps(value).encode())


def zipped(answer: Answer) -> Answer:
    packed = gzip.compress(answer.body)
    return Answer(packed, headers={"Content-Encoding": "gzip"})


class SearchServer:
    """Answers come from `answer(asked)`; `scripted` ones by the text of the query go first."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.scripted: dict[str, list[Answer]] = {}
        self.answer: Callable[[Asked], Answer] = lambda asked: hits(("d1", 2.0), ("d2", 1.0))
        self.n_connections = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                with outer._lock:
                    outer.n_connections += 1
                super().setup()

            def do_POST(self) -> None:
                outer.serve(self)

            do_GET = do_POST

            def log_message(self, *args: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: object, client: object) -> None:
                pass  # clients break off on purpose

        self.http = Quiet(("127.0.0.1", 0), Handler)
        self.port = self.http.server_port
        self.url = f"http://127.0.0.1:{self.port}/docs/_search"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        self.http.shutdown()
        self.http.server_close()

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        asked = _asked(request)
        with self._lock:
            self.asked.append(asked)
            waiting = self.scripted.get(asked.query)
            answer = waiting.pop(0) if waiting else None
        self.send(request, answer or self.answer(asked))

    def send(self, request: BaseHTTPRequestHandler, answer: Answer) -> None:
        time.sleep(answer.delay)
        if answer.status == 0:
            request.connection.shutdown(socket.SHUT_RDWR)
            request.close_connection = True
            return
        request.send_response(answer.status)
        request.send_header("Content-Length", str(len(answer.body)))
        request.send_header("Content-Type", "application/json")
        for name, value in answer.headers.items():
            request.send_header(name, value)
        request.end_headers()
        if answer.drip:
            for byte in answer.body:
                request.wfile.write(bytes([byte]))
                request.wfile.flush()
                time.sleep(answer.drip)
            return
        request.wfile.write(answer.body[: answer.cut])
        if answer.cut is not None:
            request.close_connection = True


def _asked(request: BaseHTTPRequestHandler) -> Asked:
    length = int(request.headers.get("Content-Length", "0"))
    content = request.rfile.read(length)
    headers = {name.lower(): value for name, value in request.headers.items()}
    if request.command == "GET":
        parameters = parse_qs(urlsplit(request.path).query, keep_blank_values=True)
        return Asked(parameters.get("q", [""])[0], request.path, None, headers)
    body = json.loads(content)
    return Asked(body["query"]["match"]["text"], request.path, body, headers)


BODY = '{"size": {{k}}, "_source": false, "query": {"match": {"text": {{query}}}}}'
DROPPED = Answer(b"", status=0)

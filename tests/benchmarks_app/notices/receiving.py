"""A receiver of webhooks on this machine: what came, and what it answers next."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Receiver:
    """`answers` are the statuses of the next answers, then 200; `wait` seconds come before each."""

    address: str = ""
    came: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    text: str = "ok"
    wait: float = 0.0


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.came.append((self.path, headers, body))
            time.sleep(receiver.wait)
            status = receiver.answers.pop(0) if receiver.answers else 200
            content = receiver.text.encode()
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", f"{receiver.address}/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST

        def log_message(self, *unused: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()

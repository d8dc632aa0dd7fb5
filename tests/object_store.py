"""A server of the S3 protocol for tests, on loopback, with buckets of their own."""

import http.client
import os
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

import boto3
from moto.server import ThreadedMotoServer

KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing-secret-0123456789"}
# Another server of the protocol, by its address, where one is to be tried.
OTHER = os.environ.get("TEST_S3_URL", "")


class ObjectServer:
    """A server that is there until `stop`; each `bucket` is a new one."""

    def __init__(self) -> None:
        self._moto = None if OTHER else ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self.endpoint = OTHER
        if self._moto:
            self._moto.start()
            self.endpoint = "http://{}:{}".format(*self._moto.get_host_and_port())

    def client(self) -> "boto3.client":
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=os.environ.get("AWS_ACCESS_KEY_ID", KEYS["AWS_ACCESS_KEY_ID"]),
            aws_secret_access_key=os.environ.get(
                "AWS_SECRET_ACCESS_KEY", KEYS["AWS_SECRET_ACCESS_KEY"]
            ),
        )

    def bucket(self) -> str:
        name = f"benchwright-{uuid.uuid4().hex[:12]}"
        self.client().create_bucket(Bucket=name)
        return name

    def url(self, bucket: str, prefix: str = "site", endpoint: str = "") -> str:
        """What BENCHWRIGHT_STORE says of a bucket."""
        fields = {"endpoint": endpoint or self.endpoint, "region": "us-east-1"}
        return f"s3://{bucket}/{prefix}?{urlencode(fields)}"

    def stop(self) -> None:
        if self._moto:
            self._moto.stop()


class Faults:
    """What a `Proxy` does to answers: None, "away", "torn" or "altered", to so many of them."""

    def __init__(self) -> None:
        self.kind: str | None = None
        self.n_left = 0
        self.n_done = 0

    def begin(self, kind: str, times: int) -> None:
        self.kind, self.n_left, self.n_done = kind, times, 0

    def taken(self) -> str | None:
        if self.kind is None or not self.n_left:
            return None
        self.n_left -= 1
        self.n_done += 1
        return self.kind


@contextmanager
def proxied(endpoint: str) -> Iterator[tuple[str, Faults]]:
    """The address of a proxy before a server of objects, and what it does to what is fetched."""
    target = endpoint.removeprefix("http://")
    faults = Faults()
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                caller, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=_answer, args=(caller, target, faults), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", faults
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(5)


def _answer(caller: socket.socket, target: str, faults: Faults) -> None:
    """One request, passed on, and its answer, as the faults want it."""
    with caller, caller.makefile("rb") as read:
        line = read.readline().decode()
        if not line:
            return
        verb, path, _ = line.split()
        headers = http.client.parse_headers(read)
        if headers.get("Expect"):
            caller.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            del headers["Expect"]
        body = read.read(int(headers.get("Content-Length", 0)))
        fault = faults.taken() if faults.kind == "away" or verb == "GET" else None
        if fault == "away":
            return
        asked = http.client.HTTPConnection(target, timeout=20)
        asked.request(verb, path, body, dict(headers))
        answer = asked.getresponse()
        content = answer.read()
        asked.close()
        size = len(content) if verb != "HEAD" else answer.headers.get("Content-Length", 0)
        if fault == "torn":
            content = content[: len(content) // 2]
        elif fault == "altered":
            content = bytes(255 - byte for byte in content)
        kept = [
            f"{name}: {value}\r\n"
            for name, value in answer.headers.items()
            if name.lower() not in ("content-length", "transfer-encoding", "connection")
        ]
        head = f"HTTP/1.1 {answer.status} {answer.reason}\r\n{''.join(kept)}"
        caller.sendall(f"{head}Content-Length: {size}\r\nConnection: close\r\n\r\n".encode())
        caller.sendall(content)

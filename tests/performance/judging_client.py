"""Annotators without thinking time: a client as lean as Python makes one.

Run as a process of its own, so that its time is told apart from the server's: it reads a plan as
JSON and prints what it saw as JSON. Only the public endpoints are used, one request for each
judgment, as a browser with a good line would send them; the server adds documents to an answer when
few are left, so some requests are judgment and refill in one.
"""

import json
import resource
import socket
import sys
import threading
import time
import urllib.parse
import uuid
from dataclasses import dataclass, field
from typing import Any

PASSWORD = "a long password"
WANT = 6


@dataclass
class Seen:
    """What one annotator saw: seconds of each judgment, alone or with a refill, and of claims."""

    submits: list[float] = field(default_factory=list)
    refills: list[float] = field(default_factory=list)
    claims: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


class Connection:
    """One HTTP connection that is kept, with its cookies."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self.host, self.port = host, port
        self.cookies: dict[str, str] = {}
        self.connect()

    def connect(self) -> None:
        self.socket = socket.create_connection((self.host, self.port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def close(self) -> None:
        self.socket.close()

    def ask(self, method: str, path: str, body: bytes = b"", kind: str = "") -> tuple[int, bytes]:
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nCookie: {cookie}\r\n"
            f"X-CSRFToken: {self.cookies.get('csrftoken', '')}\r\n"
            f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.socket.sendall(head.encode() + body)
        return self._answer()

    def _answer(self) -> tuple[int, bytes]:
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        length = 0
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            if name.lower() == "content-length":
                length = int(value)
            elif name.lower() == "set-cookie":
                key, _, value_sent = value.strip().partition(";")[0].partition("=")
                self.cookies[key] = value_sent
        while len(self.rest) < length:
            self._more()
        body, self.rest = self.rest[:length], self.rest[length:]
        return int(lines[0].split()[1]), body

    def _more(self) -> None:
        chunk = self.socket.recv(262_144)
        if not chunk:
            raise ConnectionError("the server closed the connection")
        self.rest += chunk

    def sign_in(self, username: str) -> None:
        self.ask("GET", "/sign-in/")
        form = {
            "username": username,
            "password": PASSWORD,
            "csrfmiddlewaretoken": self.cookies["csrftoken"],
        }
        body = urllib.parse.urlencode(form).encode()
        status, _ = self.ask("POST", "/sign-in/", body, "application/x-www-form-urlencoded")
        if status != 302 or "sessionid" not in self.cookies:
            raise SystemExit(f"{username} could not sign in: {status}")

    def exchange(self, path: str, say: list[dict[str, Any]], have: list[str], want: int) -> Any:
        body = json.dumps({"say": say, "have": have, "want": want}).encode()
        status, answer = self.ask("POST", path, body, "application/json")
        if status != 200:
            raise ValueError(f"{status}: {answer[:300].decode(errors='replace')}")
        return json.loads(answer)


def grade(token: str, number: int) -> dict[str, Any]:
    return {
        "client_id": str(uuid.uuid4()),
        "do": "grade",
        "token": token,
        "grade": number % 4,
        "dwell_ms": 2_000 + number % 5_000,
        "view": "excerpt",
    }


class Annotator(threading.Thread):
    """Judges the first document at hand until the time is over or none is left."""

    def __init__(self, plan: dict[str, Any], username: str, start: threading.Barrier) -> None:
        super().__init__(name=username)
        self.path = f"/judge/{plan['pool']}/exchange/"
        self.seconds = plan["seconds"]
        self.n_claims = plan.get("n_claims", 0)
        self.start_line = start
        self.connection = Connection(plan["port"])
        self.connection.sign_in(username)
        self.seen = Seen()

    def run(self) -> None:
        self.start_line.wait()
        try:
            self.claim_only() if self.n_claims else self.judge()
        except (OSError, ValueError) as error:
            self.seen.errors.append(repr(error))

    def judge(self) -> None:
        until = time.perf_counter() + self.seconds
        held = self._taken(self.connection.exchange(self.path, [], [], WANT))
        while held and time.perf_counter() < until:
            key = next(iter(held))
            say = [grade(held.pop(key), len(self.seen.keys))]
            started = time.perf_counter()
            answer = self.connection.exchange(self.path, say, list(held), WANT)
            took = time.perf_counter() - started
            (self.seen.refills if answer["items"] else self.seen.submits).append(took)
            self._check(answer, key)
            held |= self._taken(answer)
            for gone in answer["gone"]:
                held.pop(gone, None)

    def claim_only(self) -> None:
        """Claims timed alone: six documents, judged in one untimed request before the next."""
        for _ in range(self.n_claims):
            started = time.perf_counter()
            held = self._taken(self.connection.exchange(self.path, [], [], WANT))
            self.seen.claims.append(time.perf_counter() - started)
            say = [grade(token, number) for number, token in enumerate(held.values())]
            for done in self.connection.exchange(self.path, say, [], 0)["said"]:
                if done["state"] != "saved":
                    self.seen.errors.append(str(done))

    def _check(self, answer: dict[str, Any], key: str) -> None:
        (done,) = answer["said"]
        if done["state"] == "saved":
            self.seen.keys.append(key)
        else:
            self.seen.errors.append(str(done))

    @staticmethod
    def _taken(answer: dict[str, Any]) -> dict[str, str]:
        return {item["key"]: item["token"] for item in answer["items"]}


def main() -> None:
    plan = json.load(sys.stdin)
    start = threading.Barrier(len(plan["people"]) + 1)
    annotators = [Annotator(plan, username, start) for username in plan["people"]]
    for annotator in annotators:
        annotator.start()
    # The one who counts the time of the server reads it at this moment.
    print("ready", flush=True)
    begun_cpu = _cpu()
    begun = time.perf_counter()
    start.wait()
    for annotator in annotators:
        annotator.join()
    seconds = time.perf_counter() - begun
    seen = [annotator.seen for annotator in annotators]
    print(
        json.dumps(
            {
                "seconds": seconds,
                "cpu": _cpu() - begun_cpu,
                **{
                    name: [value for person in seen for value in getattr(person, name)]
                    for name in ("submits", "refills", "claims", "errors", "keys")
                },
            }
        )
    )


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()

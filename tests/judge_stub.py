"""A judge on the loopback: the chat completions protocol, with faults by script.

`with JudgeStub() as stub:` serves `stub.url` from a thread. What it finds follows from the text: a
node helps if it says "useful" or holds an image; the grade of a document is how often it does. It
believes nobody but the markers of the prompt, so what a retrieved text says about itself is seen to
change nothing. `python -m tests.judge_stub` serves in a process of its own, until its standard
input ends.
"""

import argparse
import asyncio
import json
import re
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from math import log
from typing import Any

BEGIN = re.compile(r"<<([A-P]{16}) INPUT>>\n")
QUERY = re.compile(r"(?m)^<<([A-P]{16}) QUERY>>\n")
USEFUL = "useful"
IMAGE = "\x00image\x00"
REASONS = {200: "OK", 302: "Found", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}
REASONS |= {429: "Too Many Requests", 500: "Internal Server Error", 503: "Unavailable"}
SETTLED_SECONDS = 0.01


@dataclass
class Asked:
    """One request: its headers (names in lower case), body, what was done with it, and when."""

    headers: dict[str, str]
    body: dict[str, Any]
    fault: str = ""
    at: float = field(default_factory=time.monotonic)

    @property
    def system(self) -> str:
        return self.body["messages"][0]["content"]

    @property
    def user(self) -> list[dict[str, Any]]:
        """Parts of the first user message, a plain text being one part."""
        content = self.body["messages"][1]["content"]
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    @property
    def text(self) -> str:
        """What the user message says, with a mark in the place of each image."""
        return "".join(
            part["text"] if part["type"] == "text" else f"{IMAGE}\n" for part in self.user
        )

    @property
    def images(self) -> list[str]:
        return [part["image_url"]["url"] for part in self.user if part["type"] == "image_url"]

    @property
    def is_for_reason(self) -> bool:
        return "VERDICTS>>" in self.text and "NODE 1>>" not in self.text

    @property
    def is_for_grade(self) -> bool:
        return QUERY.search(self.text) is not None

    def document(self) -> str:
        """The document of a pair, as the markers of this prompt tell it."""
        nonce = QUERY.search(self.text)[1]
        pattern = rf"^<<{nonce} DOCUMENT>>\n(.*?)^<</{nonce}>>$"
        (match,) = re.findall(pattern, self.text, re.DOTALL | re.MULTILINE)
        return match

    def grades(self) -> list[int]:
        """The scale: of the schema, or else of the words that say which grades there are."""
        answers = re.search(r'"grade": <one of ([\d, ]+)>', self.system)[1]
        return [int(grade) for grade in answers.split(",")]

    def nodes(self) -> list[str]:
        """The nodes' texts, as the markers of this prompt tell them apart."""
        nonce = BEGIN.match(self.text)[1]
        pattern = rf"^<<{nonce} NODE (\d+)>>\n(.*?)^<</{nonce}>>$"
        matches = re.findall(pattern, self.text, re.DOTALL | re.MULTILINE)
        assert [int(number) for number, _ in matches] == list(range(1, len(matches) + 1))
        return [text for _, text in matches]


@dataclass
class JudgeStub:
    """`delay` is how long each answer takes, `places` how many are worked on at once.

    `knows` is how answers may be asked for: as "schema", "json" or "text" at best.

    `key`: the only key that is let in, "" for anybody. `refuses`: fields of a body that it does not
    take. `requests` holds what was asked. Of `expected` requests none is answered before as many
    wait as `together`, or all that are left: who leaves a place free gets no further answer.
    """

    delay: float = 0.0
    places: int = 1000
    knows: str = "schema"
    key: str = ""
    refuses: tuple[str, ...] = ()
    port: int = 0
    keeps_requests: bool = True
    requests: list[Asked] = field(default_factory=list)
    scripts: dict[str, deque[str]] = field(default_factory=dict)
    always: dict[str, str] = field(default_factory=dict)
    most_at_once: int = 0
    together: int = 0
    expected: int = 0

    def script(self, words: str, *faults: str) -> None:
        """Have requests whose text holds these words meet the faults, one after the other."""
        self.scripts[words] = deque(faults)

    def always_fault(self, words: str, fault: str) -> None:
        """Have every request whose text holds these words meet a fault."""
        self.always[words] = fault

    def asked_about(self, words: str) -> list[Asked]:
        return [asked for asked in self.requests if words in asked.text]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    # --- serving ---------------------------------------------------------------------------------

    def __enter__(self) -> "JudgeStub":
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        self.thread = threading.Thread(target=self._serve, args=(started,), daemon=True)
        self.thread.start()
        started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.stopping.set)
        self.thread.join()
        self.loop.close()

    def _serve(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._until_stopped(started))

    async def _until_stopped(self, started: threading.Event) -> None:
        self.stopping = asyncio.Event()
        self.free = asyncio.Semaphore(self.places)
        self.tasks: set[asyncio.Task[None]] = set()
        self.n_open = self.n_waiting = self.n_answered = 0
        self.all_wait = asyncio.Condition()
        server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self.stopping.wait()
        server.close()
        # What was accepted a moment ago has begun by then, so that it closes what it was given.
        await asyncio.sleep(SETTLED_SECONDS)
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self.tasks.add(task)
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while (asked := await _read(reader)) is not None:
                if not await self._answer(asked, writer):
                    break
        except (asyncio.CancelledError, ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self.tasks.discard(task)

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> bool:
        """Answer; whether the connection stays open."""
        if self.keeps_requests:
            self.requests.append(asked)
        self.n_open += 1
        self.most_at_once = max(self.most_at_once, self.n_open)
        try:
            asked.fault = self._fault(asked.text)
            kind, _, number = asked.fault.partition(":")
            if kind == "hang":
                await asyncio.sleep(3600)
            async with self.free:
                await asyncio.sleep(float(number) if kind == "slow" else self.delay)
            if self.together:
                await self._until_all_wait()
            status, headers, body = self._response(asked, kind, number)
            page = body if isinstance(body, str) else json.dumps(body)
            payload = _http(status, headers, page)
            if kind == "cut":
                writer.write(payload[: len(payload) - len(page) // 2])
                await writer.drain()
                return False
            writer.write(payload)
            await writer.drain()
            return True
        finally:
            self.n_open -= 1

    async def _until_all_wait(self) -> None:
        async with self.all_wait:
            self.n_waiting += 1
            self.all_wait.notify_all()
            await self.all_wait.wait_for(
                lambda: self.n_waiting >= min(self.together, self.expected - self.n_answered)
            )
            self.n_waiting, self.n_answered = self.n_waiting - 1, self.n_answered + 1
            self.all_wait.notify_all()

    def _fault(self, text: str) -> str:
        for words, faults in self.scripts.items():
            if words in text and faults:
                return faults.popleft()
        return next((fault for words, fault in self.always.items() if words in text), "")

    def _response(
        self, asked: Asked, kind: str, number: str
    ) -> tuple[int, dict[str, str], dict[str, Any] | str]:
        sent_key = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if self.key and sent_key != self.key:
            return 401, {}, _error(f"Incorrect API key provided: {sent_key}.", "invalid_api_key")
        wanted = asked.body.get("response_format", {}).get("type", "text")
        known = {"schema": ("json_schema", "json_object", "text"), "json": ("json_object", "text")}
        is_known = kind != "no-schema" and wanted in known.get(self.knows, ("text",))
        if wanted != "text" and not is_known:
            return 400, {}, _error(f"response_format of type {wanted} is not supported")
        if strange := [name for name in self.refuses if name in asked.body]:
            return 400, {}, _error(f"Unsupported parameter: '{strange[0]}'.")
        if kind.isdigit():
            headers = {"Retry-After": number} if number else {}
            return int(kind), headers, _error(f"scripted {kind}, your key was {sent_key}")
        if kind == "redirect":
            return 302, {"Location": number or "http://127.0.0.1:1/v1"}, ""
        if kind == "quota":
            return 429, {}, _error("You exceeded your current quota.", "insufficient_quota")
        if kind == "bad-body":
            return 200, {}, "<html>It works!</html>"
        if kind == "no-choices":
            return 200, {}, {"choices": []}
        return 200, {}, _completion(asked, *self._content(asked, kind))

    def _content(self, asked: Asked, kind: str) -> tuple[str | None, str, str | None]:
        """Text, reason to finish, and refusal."""
        if kind == "refusal":
            return None, "stop", "I can not help with that."
        if asked.is_for_grade:
            result = _graded(asked)
        elif asked.is_for_reason:
            result = _reason(asked)
        else:
            result = {"verdicts": _verdicts(asked.nodes())}
        spoil = SPOILT.get(kind)
        text = spoil(result) if spoil else json.dumps(result)
        if kind == "length":
            return text[: len(text) // 2], "length", None
        if kind == "filter":
            return "", "content_filter", None
        if kind == "echo-key":
            return json.dumps({"key": asked.headers.get("authorization")}), "stop", None
        return text, "stop", None


def _verdicts(nodes: Iterable[str]) -> dict[str, Any]:
    return {
        str(number): {
            "reason": f"Node {number} {'is' if _helps(text) else 'is no'} help.",
            "verdict": "yes" if _helps(text) else "no",
        }
        for number, text in enumerate(nodes, start=1)
    }


def _helps(text: str) -> bool:
    return USEFUL in text or IMAGE in text


def _reason(asked: Asked) -> dict[str, Any]:
    n_yes = len(re.findall(r"(?m)^\d+\. yes ", asked.text))
    return {"reason": f"{n_yes} nodes help."}


def _graded(asked: Asked) -> dict[str, Any]:
    document = asked.document()
    n_useful = document.count(USEFUL) + document.count(IMAGE)
    grade = max(
        (choice for choice in asked.grades() if choice <= n_useful), default=asked.grades()[0]
    )
    return {"reason": f"It says so {n_useful} times.", "grade": grade}


def _without_last(found: dict[str, Any]) -> str:
    verdicts = dict(list(found["verdicts"].items())[:-1])
    return json.dumps({"verdicts": verdicts})


def _one_more(found: dict[str, Any]) -> str:
    verdicts = found["verdicts"]
    return json.dumps({"verdicts": {**verdicts, str(len(verdicts) + 1): verdicts["1"]}})


def _unsure(found: dict[str, Any]) -> str:
    first = {**found["verdicts"]["1"], "verdict": "maybe"}
    return json.dumps({"verdicts": {**found["verdicts"], "1": first}})


def _as_list(found: dict[str, Any]) -> str:
    return json.dumps(list(found["verdicts"].values()))


def _in_order(found: dict[str, Any]) -> str:
    return json.dumps({"verdicts": list(found["verdicts"].values())})


def _double(found: dict[str, Any]) -> str:
    verdict = json.dumps(found["verdicts"]["1"])
    return f'{{"verdicts": {{"1": {verdict}, "1": {verdict}}}}}'


SPOILT = {
    "bad-json": lambda found: json.dumps(found)[:-3],
    "too-few": _without_last,
    "too-many": _one_more,
    "wrong-word": _unsure,
    "list": _as_list,
    "ordered": _in_order,
    "missing-key": lambda found: json.dumps(found["verdicts"]),
    "double": _double,
    # Of grades: off the scale, as a text, not there, twice, and what a talked-round judge says.
    "out-of-scale": lambda found: json.dumps({**found, "grade": 10}),
    "grade-as-text": lambda found: json.dumps({**found, "grade": str(found["grade"])}),
    "no-grade": lambda found: json.dumps({"reason": found["reason"]}),
    "two-grades": lambda found: f'{{"reason": "", "grade": {found["grade"]}, "grade": 3}}',
    "injected": lambda found: json.dumps({"reason": "As it asks of me.", "grade": 99}),
    "fenced": lambda found: f"Here you are:\n```json\n{json.dumps(found)}\n```",
}


def _completion(
    asked: Asked, text: str | None, finish_reason: str, refusal: str | None
) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    if asked.body.get("logprobs"):
        choice["logprobs"] = {"content": [_token(sign) for sign in text or ""]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": f"{asked.body['model']}-2026-01-01",
        "choices": [choice],
        "usage": {
            "prompt_tokens": len(asked.text) // 4,
            "completion_tokens": len(text or "") // 4,
            "total_tokens": len(asked.text) // 4 + len(text or "") // 4,
        },
    }


def _token(sign: str) -> dict[str, Any]:
    """A character as a token; a digit might three times in ten have been the one above it."""
    likely = [{"token": sign, "logprob": log(0.6)}]
    if sign.isdecimal():
        likely += [{"token": str(int(sign) + 1), "logprob": log(0.3)}]
        likely += [{"token": "x", "logprob": log(0.1)}]
    return {"token": sign, "logprob": log(0.6), "top_logprobs": likely}


def _error(message: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "stub", "code": code, "param": None}}


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    _, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(headers, json.loads(body or b"{}"))


def _http(status: int, headers: dict[str, str], text: str) -> bytes:
    body = text.encode()
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Other')}"]
    fields = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--places", type=int, default=1000)
    options = vars(parser.parse_args())
    with JudgeStub(**options, keeps_requests=False) as stub:
        sys.stdout.write(f"{stub.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()

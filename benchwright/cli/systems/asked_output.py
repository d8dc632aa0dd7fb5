"""Commands that ask a judge: what they show while they ask, and the file they write meanwhile."""

import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, TypeVar

from benchwright.cli.progress import CLEAR_LINE, PAUSE

if TYPE_CHECKING:
    from benchwright.judges.client import OpenAIJudge

Answer = TypeVar("Answer")


class AskedProgress:
    """How many answers are there, on a terminal's standard error; `doing` says of what."""

    doing = "Asking"

    def __init__(self, total: int) -> None:
        self.total = total
        self.is_shown = sys.stderr.isatty()
        self.n_done = self.n_failed = 0
        self.paid = 0.0
        self.last = self.start = time.monotonic()

    def count(self, *, is_failed: bool, paid: float) -> None:
        self.n_done += 1
        self.n_failed += is_failed
        self.paid += paid
        if self.is_shown and time.monotonic() - self.last > PAUSE:
            self.last = time.monotonic()
            self._write(f"{CLEAR_LINE}{self.told()}")

    def told(self) -> str:
        """One line: done, failed, cost and time."""
        parts = [f"{self.doing} … {self.n_done:,} of {self.total:,}"]
        parts += [f"{self.n_failed:,} failed"] * bool(self.n_failed)
        parts += [f"cost {self.paid:.4f}"] * bool(self.paid)
        return ", ".join([*parts, f"{time.monotonic() - self.start:.0f} s"])

    def end(self) -> None:
        if self.is_shown:
            self._write(CLEAR_LINE)

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


class LineWriter:
    """JSON lines into a file, each at once; into nothing without a path."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.file: IO[str] | None = None

    def __enter__(self) -> Self:
        self.file = self.path.open("w", encoding="utf-8", newline="\n") if self.path else None
        return self

    def __exit__(self, *_: object) -> None:
        if self.file:
            self.file.close()

    def write(self, row: Any) -> None:
        if self.file:
            self.file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self.file.flush()


def collected(coming: Iterable[Answer], writer: Any, progress: Any) -> list[Answer]:
    """All that come, each written and counted as it comes, so that none is lost."""
    answers = []
    try:
        for answer in coming:
            writer.add(answer)
            answers.append(answer)
            progress.add(answer)
    finally:
        progress.end()
    return answers


def judge_of(model: str, address: str, chosen: dict[str, Any], **settings: Any) -> "OpenAIJudge":
    """The judge that the options of a command describe; its key comes from the environment."""
    from benchwright.judges.client import OpenAIJudge
    from benchwright.judges.endpoint import Endpoint, key_from_environment

    endpoint = Endpoint(
        model,
        address,
        timeout=chosen["timeout_seconds"],
        max_attempts=chosen["max_attempts"],
        concurrency=chosen["concurrency"],
        requests_per_minute=chosen["requests_per_minute"],
        price_in=chosen["price_in"],
        price_out=chosen["price_out"],
        **settings,
    )
    return OpenAIJudge(endpoint, key_from_environment(endpoint.base_url))

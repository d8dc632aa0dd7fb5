"""Answers written down as they come, so that who goes on later asks only what is left.

Each attempt appends to a file of its own, so that two at work at once do not mix their lines: JSON
lines after one that says what was asked of which endpoint. A last line that was cut is left out.
"""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from scoring.core.live.answers import Reading
from scoring.core.live.asking import Answered, Ask

FILES = "answers-*.jsonl"


class AnswerLog:
    """The answers of one endpoint in a folder; `endpoint` tells it from every other."""

    def __init__(self, folder: Path, *, endpoint: str, attempt: int) -> None:
        self._folder = folder
        self._endpoint = endpoint
        self._path = folder / f"answers-{attempt}.jsonl"
        self._out: TextIO | None = None

    def known(self, queries: Sequence[Ask]) -> dict[str, Answered]:
        """What is answered of these queries, by id; a query whose text was changed is not."""
        wanted = {qid: text_digest(text) for qid, text in queries}
        found: dict[str, Answered] = {}
        for row in self._rows():
            if wanted.get(row["qid"]) == row["text"]:
                found.setdefault(row["qid"], _answered(row))
        return found

    def _rows(self) -> Iterator[dict[str, Any]]:
        for path in sorted(self._folder.glob(FILES)):
            rows = _lines(path)
            head = next(rows, {})
            if head.get("endpoint") == self._endpoint:
                yield from (row for row in rows if row.keys() >= ROW)

    def add(self, answered: Answered, text: str) -> None:
        """Write an answer down before the next is awaited."""
        if self._out is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._out = self._path.open("w", encoding="utf-8")
            self._write({"endpoint": self._endpoint})
        self._write(_row(answered, text))

    def _write(self, row: dict[str, Any]) -> None:
        if self._out is not None:
            self._out.write(json.dumps(row) + "\n")
            self._out.flush()

    def __enter__(self) -> "AnswerLog":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._out is not None:
            self._out.close()


ROW = frozenset({"qid", "text", "docs", "scores", "ms", "tries", "repeated", "beyond", "unordered"})


def text_digest(text: str) -> str:
    """By which an answer is known to be of a query's present text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _row(answered: Answered, text: str) -> dict[str, Any]:
    reading = answered.reading
    return {
        "qid": answered.qid,
        "text": text_digest(text),
        "docs": [docid for docid, _ in reading.results],
        "scores": [score for _, score in reading.results],
        "ms": answered.milliseconds,
        "tries": answered.n_tries,
        "repeated": reading.n_repeated,
        "beyond": reading.n_beyond,
        "unordered": reading.is_unordered,
    }


def _answered(row: dict[str, Any]) -> Answered:
    results = tuple(zip(row["docs"], row["scores"], strict=True))
    reading = Reading(results, row["repeated"], row["beyond"], row["unordered"])
    return Answered(row["qid"], reading, row["ms"], row["tries"])


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row

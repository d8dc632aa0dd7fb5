"""Answers written down as they come, so that who goes on later asks only what is left.

A job has a folder, where each attempt appends to a file of its own, so that two at work at once do
not mix their lines: JSON lines after one that says which endpoint was asked. A command has one file
(`answer_file`). A last line that was cut is left out. Answers stay on disk: what is in memory is
where each of them lies.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Protocol

from benchwright.live.asking import Answered, Ask, Endpoint, Failed, ask_all
from benchwright.live.errors import AskingFailedError
from benchwright.live.paths import Reading

# --- Answers written down as they come, so that who goes on later asks only what is left.

FILES = "answers-*.jsonl"
ROW = frozenset({"qid", "text", "docs", "scores", "ms", "tries", "repeated", "beyond", "unordered"})


class Place(NamedTuple):
    """Where an answer lies."""

    path: Path
    offset: int


class Keeper(Protocol):
    """Who writes answers down, and knows where those to some queries are."""

    def known(self, queries: Sequence[Ask]) -> dict[str, Place]: ...

    def add(self, answered: Answered, text: str) -> None: ...


class AnswerLog:
    """The answers of one endpoint in a folder; `endpoint` tells it from every other."""

    def __init__(self, folder: Path, *, endpoint: str, attempt: int) -> None:
        self._folder = folder
        self._endpoint = endpoint
        self._path = folder / f"answers-{attempt}.jsonl"
        self._out: BinaryIO | None = None

    def known(self, queries: Sequence[Ask]) -> dict[str, Place]:
        """Where the answers to these queries are; a query whose text was changed has none."""
        ours = (path for path in sorted(self._folder.glob(FILES)) if self._is_ours(path))
        return places_of(queries, ours)

    def _is_ours(self, path: Path) -> bool:
        _, head = next(rows_in(path), (0, {}))
        return head.get("endpoint") == self._endpoint

    def add(self, answered: Answered, text: str) -> None:
        """Write an answer down before the next is awaited."""
        if self._out is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._out = self._path.open("wb")
            write_row(self._out, {"endpoint": self._endpoint})
        write_row(self._out, row_of(answered, text))

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


def places_of(queries: Sequence[Ask], paths: Iterable[Path]) -> dict[str, Place]:
    """Where the first answer to each of these queries is; one whose text was changed has none."""
    digests = {qid: text_digest(text) for qid, text in queries}
    places: dict[str, Place] = {}
    for path in paths:
        for offset, row in rows_in(path):
            if row.keys() >= ROW and digests.get(row["qid"]) == row["text"]:
                places.setdefault(row["qid"], Place(path, offset))
    return places


def answers_at(places: Mapping[str, Place], qids: Sequence[str]) -> Iterator[Answered]:
    """Yield the answers to these queries in their order, one in memory at a time."""
    opened: dict[Path, BinaryIO] = {}
    try:
        for qid in qids:
            if qid in places:
                path, offset = places[qid]
                if path not in opened:
                    opened[path] = path.open("rb")
                opened[path].seek(offset)
                yield _answered(json.loads(opened[path].readline()))
    finally:
        for each in opened.values():
            each.close()


def text_digest(text: str) -> str:
    """By which an answer is known to be of a query's present text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def write_row(out: BinaryIO, row: Mapping[str, Any]) -> None:
    """Append a row, to the system, where it outlives this process."""
    out.write(json.dumps(row).encode() + b"\n")
    out.flush()


def row_of(answered: Answered, text: str) -> dict[str, Any]:
    """What is written down of an answer to a query of this text."""
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


def rows_in(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each whole row with the offset of its line."""
    offset = 0
    with path.open("rb") as lines:
        for line in lines:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if isinstance(row, dict) and line.endswith(b"\n"):
                yield offset, row
            offset += len(line)


# --- Asking what has no answer yet, each answer written down before the next is awaited.

Tell = Callable[[int, int], None]
"""Takes how many queries are answered by now, and how many failed."""


def ask_missing(
    endpoint: Endpoint,
    queries: Sequence[Ask],
    keeper: Keeper,
    *,
    may_fail: int,
    system: str,
    kept: str,
    tell: Tell,
) -> list[Failed]:
    """Ask every query that the keeper does not know; the ones that failed, if so many may.

    `system` and `kept` are for the message: who was asked, and where answers stay.

    Raises
    ------
    AskingFailedError
        With one failure more than `may_fail`.
    EndpointError
        If the address may not be asked at all.
    """
    answered = keeper.known(queries)
    missing = [query for query in queries if query[0] not in answered]
    texts = dict(missing)
    n_answered, failed = len(answered), list[Failed]()
    tell(n_answered, 0)
    with closing(ask_all(endpoint, missing)) as outcomes:
        for outcome in outcomes:
            if isinstance(outcome, Answered):
                keeper.add(outcome, texts[outcome.qid])
                n_answered += 1
            else:
                failed.append(outcome)
            if len(failed) > may_fail:
                raise AskingFailedError(
                    system=system,
                    failed=[(query.qid, query.why) for query in failed],
                    n_asked=n_answered + len(failed),
                    may_fail=may_fail,
                    kept=kept,
                )
            tell(n_answered, len(failed))
    return failed

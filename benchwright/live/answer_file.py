"""One file of answers, for a command that may be stopped and called again.

Its first line says how the answers were asked for: in words what is short, by a digest what is long
or may be private. How fast, how often and how patiently is no part of it.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from benchwright.live.asking import Answered, Ask, Endpoint
from benchwright.live.errors import AnswersBusyError, NoAnswersError, OtherAnswersError
from benchwright.live.keeping import Place, places_of, row_of, rows_in, write_row
from benchwright.live.templates import digest_of

try:
    import fcntl
except ImportError:  # Not everywhere: there, two at once are not kept apart.
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
BEGIN = json.dumps({"answers": FORMAT, "asking": {}}).encode()[:-2]
IN_WORDS = ("method", "path to the results", "path to the id", "path to the score", "depth")

Asking = Mapping[str, str]
"""What was asked and how, by name."""


def asking_of(
    endpoint: Endpoint, queries: Sequence[Ask], *, template: str, headers: str
) -> dict[str, str]:
    """What makes answers those of this endpoint to these queries; the values of secrets do not.

    `template` and `headers` are as they were written, with the names of variables in them.
    """
    shape = endpoint.shape
    return {
        "address": digest_of(endpoint.server.url),
        "method": endpoint.method,
        "template": digest_of(template),
        "headers": digest_of(headers),
        "path to the results": shape.results.text,
        "path to the id": shape.id.text,
        "path to the score": shape.score.text if shape.score else "",
        "reading of partial answers": "refused" if shape.is_opensearch else "not known",
        "depth": str(endpoint.k),
        "queries": _digest_of_queries(queries),
    }


def _digest_of_queries(queries: Sequence[Ask]) -> str:
    digest = sha256()
    for query in queries:
        digest.update(json.dumps(query).encode() + b"\n")
    return digest.hexdigest()


class AnswerFile:
    """The answers in a file, which is begun or gone on with once it is entered.

    Raises
    ------
    OtherAnswersError
        On entering, if its answers were asked for in another way.
    NoAnswersError
        On entering, if it is a file of something else.
    AnswersBusyError
        On entering, if another process has it open.
    """

    def __init__(self, path: Path, *, asking: Asking, is_fresh: bool = False) -> None:
        self._path = path
        self._asking = dict(asking)
        self._is_fresh = is_fresh
        self._out: BinaryIO

    def known(self, queries: Sequence[Ask]) -> dict[str, Place]:
        """Where the answers to these queries are."""
        return places_of(queries, [self._path])

    def add(self, answered: Answered, text: str) -> None:
        """Write an answer down before the next is awaited."""
        write_row(self._out, row_of(answered, text))

    def __enter__(self) -> "AnswerFile":
        self._out = self._path.open("ab")
        try:
            self._begin()
        except BaseException:
            self._out.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._out.close()

    def _begin(self) -> None:
        self._claim()
        n_kept = 0 if self._is_fresh else self._n_kept_bytes()
        # A line that was cut would swallow the next one.
        self._out.truncate(n_kept)
        if not n_kept:
            write_row(self._out, {"answers": FORMAT, "asking": self._asking})

    def _claim(self) -> None:
        """Keep others away for as long as the file is open."""
        if fcntl is None:
            return
        try:
            fcntl.flock(self._out, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AnswersBusyError(file=str(self._path)) from None

    def _n_kept_bytes(self) -> int:
        """Bytes of whole lines to go on from; 0 where no answer would be lost by beginning."""
        n_whole = _n_whole_bytes(self._path)
        if not n_whole:
            # A first line that was cut is ours only if it began as ours do.
            with self._path.open("rb") as lines:
                if not BEGIN.startswith(lines.read(len(BEGIN))):
                    raise NoAnswersError(file=str(self._path))
            return 0
        rows = rows_in(self._path)
        offset, head = next(rows, (0, {}))
        differing = self._differing(offset, head)
        has_answers = any(True for _ in rows)
        if differing and has_answers:
            raise OtherAnswersError(file=str(self._path), differing=differing)
        return 0 if differing else n_whole

    def _differing(self, offset: int, head: Mapping[str, Any]) -> list[str]:
        before = head.get("asking")
        if offset or head.get("answers") != FORMAT or not isinstance(before, dict):
            raise NoAnswersError(file=str(self._path))
        return [
            _told(name, before.get(name), now)
            for name, now in self._asking.items()
            if before.get(name) != now
        ]


def _n_whole_bytes(path: Path) -> int:
    """Bytes up to the end of the last whole line; 0 where there is no file."""
    n_whole = 0
    if path.exists():
        with path.open("rb") as lines:
            for line in lines:
                n_whole += len(line) if line.endswith(b"\n") else 0
    return n_whole


def _told(name: str, before: Any, now: str) -> str:
    return f"{name} ('{before}' then, '{now}' now)" if name in IN_WORDS else f"other {name}"

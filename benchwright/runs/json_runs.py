"""A run as one JSON object, {query: {document: score}}, read with the line of every entry.

The `json` module keeps the last of two equal keys and forgets where they stood; a document that
comes twice must be told, with its line.
"""

import json
import re
from collections.abc import Iterator

from benchwright.errors import ArchiveError, Problems
from benchwright.files.inputs import Input
from benchwright.formats.mapped import ResultRow
from benchwright.formats.numbers import real
from benchwright.ids import id_problem

MAX_BYTES = 512 << 20
SHOWN = 40
_STRING = r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"'
_BEGINS = re.compile(rb'\s*\{\s*(\}\s*$|"[^"\\]*(?:\\.[^"\\]*)*"\s*:\s*\{)')
_OPEN = re.compile(r"\s*\{")
_CLOSE = re.compile(r"\s*\}")
_COMMA = re.compile(r"\s*,")
_KEY = re.compile(rf"\s*({_STRING})\s*:")
_VALUE = re.compile(rf"\s*({_STRING}|[-+]?[A-Za-z0-9.][-+A-Za-z0-9._]*)")


class _SyntaxProblem(Exception):
    """What is expected where the text goes on otherwise."""


def is_json_run(start: bytes) -> bool:
    """Return whether a file begins as one object of objects does.

    >>> is_json_run(b'{"q1": {"d1": 1.5}}'), is_json_run(b'{"qid": "q1", "docid": "d1"}')
    (True, False)
    """
    return _BEGINS.match(start.removeprefix(b"\xef\xbb\xbf")) is not None


def json_run_rows(file: Input, *, problems: Problems) -> Iterator[ResultRow]:
    """Yield the results of a run that is one JSON object.

    What is wrong is told to `problems` with its line; after broken JSON nothing more is read.

    Raises
    ------
    ArchiveError
        If it is compressed and damaged, or larger than `MAX_BYTES`.
    FileProblemsError
        When `problems` has reached its limit.
    """
    text = _text(file, problems)
    if text is None:
        return
    reader = _Reader(text, file.shown, problems)
    try:
        yield from reader.rows()
    except _SyntaxProblem as problem:
        problem_text = f"is not JSON: expected {problem}. Write {{query: {{document: score}}}}."
        problems.add(file.shown, reader.line(), problem_text)


def _text(file: Input, problems: Problems) -> str | None:
    with file.opened() as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        reason = (
            f"has more than {MAX_BYTES >> 20} MiB of JSON, which is read at once; "
            "write a TREC run or Parquet"
        )
        raise ArchiveError(file=file.shown, reason=reason)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem_text = f"byte 0x{content[error.start]:02X} is not UTF-8; save the file as UTF-8"
        problems.add(file.shown, line, problem_text)
        return None


class _Reader:
    """Goes through the text once; `at` is where it is."""

    def __init__(self, text: str, file: str, problems: Problems) -> None:
        self.text, self.file, self.problems = text, file, problems
        self.at = 0
        self._counted_to, self._line = 0, 1

    def line(self) -> int:
        """The number of the line that the next thing stands on."""
        here = self.at
        while here < len(self.text) and self.text[here].isspace():
            here += 1
        self._line += self.text.count("\n", self._counted_to, here)
        self._counted_to = max(here, self._counted_to)
        return self._line

    def rows(self) -> Iterator[ResultRow]:
        for qid in self._keys("a query"):
            line = self.line()
            is_good = self._is_good(qid, "query", line)
            for docid in self._keys("a document"):
                row = self._row(qid, docid)
                if row and is_good:
                    yield row
        if self.text[self.at :].strip():
            expected = "nothing after the last }"
            raise _SyntaxProblem(expected)

    def _keys(self, what: str) -> Iterator[str]:
        """Yield the keys of the object that begins here; the caller reads the values."""
        self._take(_OPEN, f"{{ before {what}")
        if self._skip(_CLOSE):
            return
        while True:
            yield _unquoted(self._take(_KEY, f"{what} in quotes and a colon"))
            if self._skip(_CLOSE):
                return
            self._take(_COMMA, "a comma or }")

    def _row(self, qid: str, docid: str) -> ResultRow | None:
        line = self.line()
        token = self._take(_VALUE, "a score, which is a number")
        score = real(_unquoted(token) if token.startswith('"') else token)
        if score is None:
            excerpt = token if len(token) <= SHOWN else f"{token[:SHOWN]}…"
            text = f"score of {docid[:SHOWN]!r} is {excerpt}; expected a number. Drop the entry."
            self.problems.add(self.file, line, text)
            return None
        if not self._is_good(docid, "document", line):
            return None
        return ResultRow(line, qid, docid, score)

    def _is_good(self, text: str, kind: str, line: int) -> bool:
        reason = id_problem(text)
        if reason:
            self.problems.add(self.file, line, f"{kind} id {text[:SHOWN]!r}: {reason}")
        return not reason

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match is not None

    def _take(self, pattern: re.Pattern[str], expected: str) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise _SyntaxProblem(expected)
        self.at = match.end()
        return match[1] if pattern.groups else match[0]


def _unquoted(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError as error:
        expected = f"a text in quotes instead of {token[:SHOWN]}"
        raise _SyntaxProblem(expected) from error

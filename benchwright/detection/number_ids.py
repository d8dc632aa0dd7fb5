"""Ids that are numbers in a file: taken as the digits they are written with, and counted."""

import json
import re
from collections.abc import Iterable, Iterator

from benchwright.formats.tables import Record, Records

NUMBER_ID = re.compile(rb'"_id"\s*:\s*-?\d+\s*[,}]')


class NumberIds:
    """Makes texts of ids that are numbers; `n` says how many, `example` is the first."""

    def __init__(self) -> None:
        self.n = 0
        self.example = ""
        self.file = ""

    def note(self) -> str:
        """What a reader must know of them, or nothing."""
        if not self.n:
            return ""
        were = "1 id was a number" if self.n == 1 else f"{self.n:,} ids were numbers"
        return (
            f"{were} in {self.file}, such as {self.example}; ids are texts here: "
            f"'{self.example}'. Results must name them as texts too."
        )

    def lines(self, lines: Iterable[bytes], file: str) -> Iterator[bytes]:
        """Yield JSON lines in which `_id` is no number."""
        for line in lines:
            yield self._as_text(line, file) if NUMBER_ID.search(line) else line

    def records(self, numbered: Records, columns: Iterable[str], file: str) -> Records:
        """Yield the records as they are: their readers take numbers for ids."""
        looked = tuple(columns)
        for line, record in numbered:
            self._count(record, looked, file)
            yield line, record

    def _as_text(self, line: bytes, file: str) -> bytes:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return line  # which its reader tells with its number
        if not isinstance(record, dict) or not is_number(record.get("_id")):
            return line
        self._see(record["_id"], file)
        record["_id"] = str(record["_id"])
        return json.dumps(record).encode() + b"\n"

    def _count(self, record: Record, columns: tuple[str, ...], file: str) -> None:
        for column in columns:
            if is_number(record.get(column)):
                self._see(record[column], file)

    def _see(self, value: object, file: str) -> None:
        if not self.n:
            self.example, self.file = str(value), file
        self.n += 1


def is_number(value: object) -> bool:
    """Whether a value is a whole number; truth values are none."""
    return isinstance(value, int) and not isinstance(value, bool)

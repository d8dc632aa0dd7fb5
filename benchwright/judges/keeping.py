"""What judges have answered, kept in a file of lines, so that nothing is paid for twice.

One JSON line an outcome, its key first, only ever added to: the thousandth entry costs what the
first one does. Opening looks at the keys alone. A last line that was cut short by a crash is passed
over; the next one begins on a line of its own. Several processes may add to one file.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

from benchwright.judges.errors import CacheFileError

Kept = TypeVar("Kept")
LINE = re.compile(rb'\{"key": "([0-9a-f]{64})", "outcome": ')


class LineCache(Generic[Kept]):
    """A cache in one file, made where there is none; close it, or use it in `with`.

    A kind of cache says by which `mark` its files begin, which `command` makes them, and how what
    it keeps is written and read.

    Raises
    ------
    CacheFileError
        If the file is something else.
    """

    mark: ClassVar[bytes]
    command: ClassVar[str]

    def __init__(self, path: Path) -> None:
        self.path = path
        self.places: dict[bytes, tuple[int, int]] = {}
        # Bytes go out at once, whole lines by one call: no other process writes in between.
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._find_keys()
        except BaseException:
            self.close()
            raise

    def as_json(self, kept: Kept) -> Mapping[str, Any]:
        raise NotImplementedError

    def from_json(self, facts: Mapping[str, Any]) -> Kept:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.places)

    def close(self) -> None:
        if self.file >= 0:
            os.close(self.file)
            self.file = -1

    def get(self, key: str) -> Kept | None:
        """What is kept under a key; None where there is nothing, or what is there is damaged."""
        place = self.places.get(key.encode())
        if place is None:
            return None
        try:
            line = json.loads(os.pread(self.file, place[1], place[0]))
            return self.from_json(line["outcome"])
        except (ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, kept: Kept) -> None:
        """Keep something under a key; of several, the last one counts."""
        content = json.dumps(self.as_json(kept))
        line = f'{{"key": "{key}", "outcome": {content}}}\n'.encode()
        n_written = os.write(self.file, line)
        end = os.lseek(self.file, 0, os.SEEK_CUR)
        if n_written == len(line):
            self.places[key.encode()] = (end - n_written, n_written)

    def _find_keys(self) -> None:
        with self.path.open("rb") as file:
            head = file.read(len(self.mark))
            if not head:
                os.write(self.file, self.mark)
                return
            if head != self.mark:
                reason = "it begins with other words"
                raise CacheFileError(file=self.path.name, reason=reason, command=self.command)
            start = len(self.mark)
            for line in file:
                if (match := LINE.match(line)) and line.endswith(b"}}\n"):
                    self.places[match[1]] = (start, len(line))
                start += len(line)
                last = line
            if start > len(self.mark) and not last.endswith(b"\n"):
                os.write(self.file, b"\n")

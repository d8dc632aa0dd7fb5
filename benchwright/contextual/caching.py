"""Outcomes kept in a file, so that what was paid for is not asked again.

One JSON line an outcome, its key first, only ever added to: the thousandth entry costs what the
first one does. Opening looks at the keys alone. A last line that was cut short by a crash is passed
over; the next one begins on a line of its own. Several processes may add to one file.
"""

import json
import os
import re
from pathlib import Path
from types import TracebackType

from benchwright.contextual.serial import outcome_as_json, outcome_from_json
from benchwright.contextual.types import Outcome
from benchwright.judges.errors import CacheFileError

MARK = b'{"benchwright_contextual_cache": 1}\n'
LINE = re.compile(rb'\{"key": "([0-9a-f]{64})", "outcome": ')


class FileCache:
    """A cache in one file, made where there is none; close it, or use it in `with`.

    Texts of cases are not in it, but answers of judges are, who may quote them.

    Raises
    ------
    CacheFileError
        If the file is something else.
    """

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

    def __enter__(self) -> "FileCache":
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

    def get(self, key: str) -> Outcome | None:
        """The outcome under a key; None where there is none, or what is there is damaged."""
        place = self.places.get(key.encode())
        if place is None:
            return None
        try:
            line = json.loads(os.pread(self.file, place[1], place[0]))
            return outcome_from_json(line["outcome"])
        except (ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, outcome: Outcome) -> None:
        """Keep an outcome under a key; of several, the last one counts."""
        content = json.dumps(outcome_as_json(outcome))
        line = f'{{"key": "{key}", "outcome": {content}}}\n'.encode()
        n_written = os.write(self.file, line)
        end = os.lseek(self.file, 0, os.SEEK_CUR)
        if n_written == len(line):
            self.places[key.encode()] = (end - n_written, n_written)

    def _find_keys(self) -> None:
        with self.path.open("rb") as file:
            head = file.read(len(MARK))
            if not head:
                os.write(self.file, MARK)
                return
            if head != MARK:
                raise CacheFileError(file=self.path.name, reason="it begins with other words")
            start = len(MARK)
            for line in file:
                if (match := LINE.match(line)) and line.endswith(b"}}\n"):
                    self.places[match[1]] = (start, len(line))
                start += len(line)
                last = line
            if start > len(MARK) and not last.endswith(b"\n"):
                os.write(self.file, b"\n")

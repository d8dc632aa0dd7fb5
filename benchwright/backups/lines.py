"""Rows as lines of JSON, compressed; written and read one at a time, however many they are."""

import hashlib
import io
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Self

import zstandard

from benchwright.backups.layout import PIECE, open_private


@dataclass(frozen=True)
class Written:
    """A file of lines: how many, its bytes and their SHA-256, and the SHA-256 of what they say.

    `content` is the same for the same rows whatever database they came from.
    """

    n_rows: int
    content: str
    sha256: str
    size: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class _Hashed(io.RawIOBase):
    """Writes through to a file, and adds up what was written."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out = out
        self.digest = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self.digest.update(content)
        self.size += len(content)
        return self.out.write(content)


class LineWriter:
    """Writes one line a row; `written` after its `with` block says what there is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.n_rows = 0
        self._content = hashlib.sha256()

    def __enter__(self) -> Self:
        self._out = open_private(self.path)
        self._hashed = _Hashed(self._out)
        compressor = zstandard.ZstdCompressor(level=3, write_checksum=True)
        self._zipped: IO[bytes] = compressor.stream_writer(
            self._hashed,  # type: ignore[arg-type]
            closefd=False,
        )
        return self

    def write(self, row: Sequence[Any], canonical: Sequence[Any] | None = None) -> None:
        """Add a row; `canonical` is what counts for its content where that is worded otherwise."""
        line = as_line(row)
        self._zipped.write(line)
        self._content.update(line if canonical is None else as_line(canonical))
        self.n_rows += 1

    def __exit__(self, *error: object) -> None:
        try:
            if error[0] is None:
                self._zipped.close()
                self._out.flush()
                os.fsync(self._out.fileno())
        finally:
            self._out.close()

    @property
    def written(self) -> Written:
        sha256 = self._hashed.digest.hexdigest()
        return Written(self.n_rows, self._content.hexdigest(), sha256, self._hashed.size)


def as_line(row: Sequence[Any]) -> bytes:
    """A row as it is written and as its content is counted; floats to their last bit."""
    line = json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
    # SQLite takes half a character in JSON, by its number; canonical JSON has it as it is.
    return line.encode(errors="surrogatepass")


@contextmanager
def unzipped(path: Path) -> Iterator[IO[bytes]]:
    """The lines of a file, as bytes to be read."""
    with (
        path.open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file, read_size=PIECE) as plain,
    ):
        yield io.BufferedReader(plain, PIECE)


def rows_in(path: Path) -> Iterator[list[Any]]:
    with unzipped(path) as lines:
        for line in lines:
            yield json.loads(line)


def n_lines_in(path: Path) -> int:
    """How many lines there are; of a file that was altered the decompressor may raise."""
    with unzipped(path) as plain:
        n = 0
        while piece := plain.read(PIECE):
            n += piece.count(b"\n")
    return n

"""A file that is sent in pieces and says how much of it was."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, Self

# --- A file that is sent in pieces and says how much of it was.

Sent = Callable[[int, int], None]
"""Called with the bytes sent so far, and of how many."""


class Counted:
    """A file that says how much of it was read; it is sent in pieces, whatever its size."""

    def __init__(self, stream: BufferedReader, size: int, tell: Sent | None) -> None:
        self._stream = stream
        self._size = size
        self._tell = tell
        self._done = 0

    def again(self) -> Self:
        """Return itself at the beginning, for another attempt."""
        self._stream.seek(0)
        self._done = 0
        return self

    def read(self, n: int = -1) -> bytes:
        piece = self._stream.read(n)
        self._done += len(piece)
        if self._tell:
            self._tell(self._done, self._size)
        return piece

    def seek(self, offset: int, whence: int = 0) -> int:
        self._done = self._stream.seek(offset, whence)
        return self._done

    def tell(self) -> int:
        return self._stream.tell()

    def fileno(self) -> int:
        return self._stream.fileno()


# --- The files of a submission of embeddings, sent together and counted as one.

Parts = Callable[[], dict[str, tuple[str, Counted, str]]]
"""What a request sends as files, from the beginning at each attempt."""

CONTENT_TYPE = "application/octet-stream"


@contextmanager
def opened_files(paths: Mapping[str, str | Path | None], tell: Sent | None) -> Iterator[Parts]:
    """Open the files that are given, {field: path}; `tell` hears the bytes of all together.

    Raises
    ------
    OSError
        If one cannot be read.
    """
    path_of = {field: Path(path) for field, path in paths.items() if path}
    total = sum(path.stat().st_size for path in path_of.values())
    n_sent: dict[str, int] = {}

    def told_of(field: str) -> Sent | None:
        if tell is None:
            return None

        def told(done: int, size: int) -> None:
            n_sent[field] = done
            tell(sum(n_sent.values()), total)

        return told

    with ExitStack() as stack:
        sources = {
            field: Counted(
                stack.enter_context(path.open("rb")), path.stat().st_size, told_of(field)
            )
            for field, path in path_of.items()
        }

        def parts() -> dict[str, Any]:
            n_sent.clear()
            return {
                field: (path_of[field].name, source.again(), CONTENT_TYPE)
                for field, source in sources.items()
            }

        yield parts

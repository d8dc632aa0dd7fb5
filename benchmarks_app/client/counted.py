"""A file that is sent in pieces and says how much of it was."""

from collections.abc import Callable
from io import BufferedReader
from typing import Self

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

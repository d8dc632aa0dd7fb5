"""What files of embeddings share: limits, npy headers, which of several arrays is meant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from scoring.core.contrastive.errors import PairFileError

MOST_NAMED = 6


@dataclass(frozen=True)
class Limits:
    """How much a file may claim to hold; looked at before anything of that size is read."""

    rows: int = 10_000_000
    bytes: int = 1 << 36

    def refuse_beyond(self, file: str, shape: Sequence[int], dtype: "np.dtype[Any]") -> None:
        """Raise where an array of this shape is more than is taken."""
        rows, size = shape[0], dtype.itemsize
        for length in shape:
            size *= int(length)
        if rows > self.rows:
            reason = f"{rows:,} rows; at most {self.rows:,} are taken. Take a sample of the pairs."
            raise PairFileError(file=file, reason=reason)
        if size > self.bytes:
            reason = f"{size >> 20:,} MB unpacked; at most {self.bytes >> 20:,} MB are taken."
            raise PairFileError(file=file, reason=reason)


UNLIMITED = Limits()


def header_of(stream: IO[bytes], file: str) -> tuple[tuple[int, ...], "np.dtype[Any]"]:
    """Shape and type of the array whose npy header begins here; raises `PairFileError`."""
    try:
        version = np.lib.format.read_magic(stream)
        of_version = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        if version not in of_version:
            raise ValueError
        shape, _, dtype = of_version[version](stream)
    except (ValueError, OSError, EOFError) as error:
        reason = "its npy header cannot be read: the file is cut or damaged. Save it again."
        raise PairFileError(file=file, reason=reason) from error
    return shape, dtype


def chosen(names: Sequence[str], preferred: str, file: str, what: str) -> str:
    """The only name, or the preferred one of several; raises `PairFileError` otherwise."""
    if len(names) == 1:
        return names[0]
    if preferred in names:
        return preferred
    if not names:
        reason = f"it has no {what}. Save the embeddings as rows x features."
        raise PairFileError(file=file, reason=reason)
    listed = ", ".join(names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")
    advice = f"call it {preferred}" if preferred else "keep one of them"
    reason = f"it has more than one {what}: {listed}; expected one. Save it alone, or {advice}."
    raise PairFileError(file=file, reason=reason)

"""What a reader takes of a file that may hold several matrices or lists, and what it found."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from benchwright.matrices.arrays import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which of several a reader means, and what it takes.

    Attributes
    ----------
    kinds
        Of numbers, as numpy's `dtype.kind`: "f", or "biuf" for all that are real.
    names
        What a matrix, or a column of lists, is called where there are several; the first of them
        is what messages advise.
    id_names, id_columns
        What ids are called in an .npz and in Parquet.
    is_any_list_ids
        Whether a list of another name is taken as ids where it is the only one; a Parquet file
        must have ids then.
    id_errors
        What becomes of ids that are bytes and not UTF-8, as `bytes.decode` takes it.
    takes_columns
        Whether Parquet may have a column for each dimension, instead of one of lists.
    keeps_width
        Whether numbers of Parquet stay as wide as they are, instead of float32.
    """

    kinds: str
    names: tuple[str, ...]
    id_names: tuple[str, ...]
    id_columns: tuple[str, ...]
    is_any_list_ids: bool = False
    id_errors: str = "strict"
    takes_columns: bool = False
    keeps_width: bool = False
    limits: Limits = field(default_factory=Limits)

    @property
    def advised(self) -> str:
        """How a message goes on that asks for one matrix."""
        return f", called {self.names[0]} where there are several" if self.names else ""


@dataclass(frozen=True, slots=True)
class Found:
    """A matrix, the ids where the file has some, and what to know of these."""

    matrix: npt.NDArray[Any]
    ids: list[str] | None = None
    notes: list[str] = field(default_factory=list)


def chosen(candidates: Sequence[str], names: Sequence[str], *, or_only: bool = True) -> str | None:
    """The candidate of a usual name, or else the only one there is.

    >>> chosen(["title", "_ID"], ["id", "_id"])
    '_ID'
    """
    by_name = {candidate.lower(): candidate for candidate in candidates}
    usual = next((by_name[name] for name in names if name in by_name), None)
    if usual is None and or_only and len(candidates) == 1:
        return candidates[0]
    return usual

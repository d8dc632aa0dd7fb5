"""Ids of rows from a file: one a line, a JSON list, or an array of numpy's."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchwright.formats.beir import text_problem
from benchwright.matrices.arrays import NPY_MAGIC, Limits, mapped
from benchwright.matrices.errors import MatrixFileError

# Of text, bytes and whole numbers.
ID_KINDS = "USiu"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NUMBERS_NOTE = "{file}: the ids are whole numbers; they were taken as text, 7 as '7'."


def read_ids(path: Path, *, name: str) -> tuple[list[str], list[str]]:
    """The ids of a file in its order, and what to know of them.

    Text has one id a line, as UTF-8; nothing is trimmed but the end of the line. An id with a line
    break in it needs the JSON list or the array.

    Raises
    ------
    MatrixFileError
        If it is neither, or an entry is no id.
    """
    content = path.read_bytes()
    if content.startswith(NPY_MAGIC):
        return ids_of_array(np.asarray(mapped(path, name=name, limits=Limits())), name=name)
    content = content.removeprefix(BYTE_ORDER_MARK)
    if content.lstrip().startswith(b"["):
        return _of_json(content, name)
    return _of_lines(content, name), []


def _of_lines(content: bytes, name: str) -> list[str]:
    lines = content.split(b"\n")
    if not lines[-1]:
        del lines[-1]
    try:
        return [line.removesuffix(b"\r").decode() for line in lines]
    except UnicodeDecodeError:
        number = next(n for n, line in enumerate(lines, start=1) if not _is_text(line))
        reason = (
            f"line {number} is not UTF-8; expected one id a line, or a JSON list. Save it as UTF-8."
        )
        raise MatrixFileError(file=name, reason=reason) from None


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _of_json(content: bytes, name: str) -> tuple[list[str], list[str]]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = f"begins as a JSON list and is none ({error}); expected a list of ids."
        raise MatrixFileError(file=name, reason=reason) from error
    return ids_of(value, name=name)


def ids_of(values: Sequence[Any], *, name: str) -> tuple[list[str], list[str]]:
    """Ids that came as text or whole numbers."""
    for row, value in enumerate(values):
        if not isinstance(value, str | int) or isinstance(value, bool):
            reason = (
                f"the id of row {row} (from 0) is {str(value)[:40]!r}, a {type(value).__name__}; "
                "expected text. Write the ids as text."
            )
            raise MatrixFileError(file=name, reason=reason)
        if isinstance(value, str) and (problem := text_problem(value)):
            raise MatrixFileError(file=name, reason=f"the id of row {row} (from 0) {problem}.")
    is_number = any(not isinstance(value, str) for value in values)
    return [str(value) for value in values], [NUMBERS_NOTE.format(file=name)] if is_number else []


def ids_of_array(
    array: npt.NDArray[Any], *, name: str, errors: str = "strict"
) -> tuple[list[str], list[str]]:
    """Ids of an array of one axis: text, bytes (`errors` as `bytes.decode`), or whole numbers."""
    refuse_no_ids(array.shape, array.dtype, name=name)
    if array.dtype.kind == "U":
        _refuse_no_characters(array, name=name)
    if array.dtype.kind != "S":
        return ids_of(array.tolist(), name=name)
    try:
        return [value.decode(errors=errors) for value in array.tolist()], []
    except UnicodeDecodeError as error:
        reason = f"an id is not UTF-8 ({error.object!r}); expected text. Save it as UTF-8."
        raise MatrixFileError(file=name, reason=reason) from error


def _refuse_no_characters(ids: npt.NDArray[np.str_], *, name: str) -> None:
    """Raise for numbers above Unicode, of which NumPy makes texts that nothing can encode."""
    native = np.ascontiguousarray(ids.astype(ids.dtype.newbyteorder("="), copy=False))
    numbers = native.view(np.uint32)
    if numbers.size and int(numbers.max()) > sys.maxunicode:
        row = int(numbers.argmax()) // (numbers.size // len(ids))
        reason = (
            f"the id of row {row} (from 0) holds the number {int(numbers.max()):,} where a "
            f"character belongs; expected at most {sys.maxunicode:,}. Save the file again."
        )
        raise MatrixFileError(file=name, reason=reason)


def refuse_no_ids(shape: tuple[int, ...], dtype: "np.dtype[Any]", *, name: str) -> None:
    """Raise where an array of this shape cannot be ids."""
    if len(shape) != 1 or dtype.kind not in ID_KINDS:
        reason = (
            f"the ids are an array of {dtype} ({' x '.join(map(str, shape))}); expected one axis "
            "of text. Save np.array(ids, dtype=str)."
        )
        raise MatrixFileError(file=name, reason=reason)

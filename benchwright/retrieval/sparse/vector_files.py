"""Sparse vectors kept in files: JSON lines, or the matrices that scipy saves.

JSON lines are `{"id": "d7", "vector": {"word": 1.5}}`; the names of features may be words or
numbers. A `.npz` is what `scipy.sparse.save_npz` writes, with the ids as an array `ids` in it, or
as lines of a file beside it whose name ends in `.ids` instead.
"""

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchwright.errors import DuplicateDocumentError
from benchwright.formats.beir import BOM
from benchwright.ids import id_problem
from benchwright.retrieval.errors import VectorError, VectorFileError
from benchwright.retrieval.sparse.index import refuse_duplicates
from benchwright.retrieval.sparse.vectors import as_matrix

NEGATIVE = re.compile(r"-[0-9]+")
PARTS = ("indptr", "indices", "data", "shape")


@dataclass(frozen=True, slots=True)
class VectorSet:
    """Vectors with their ids; `features` names the columns, None where they are numbers."""

    ids: tuple[str, ...]
    matrix: csr_array
    features: tuple[str, ...] | None = None


def read_vectors(path: Path, *, known: VectorSet | None = None) -> VectorSet:
    """The vectors of a file.

    With `known`, those of documents, they are given the same columns: a feature that no document
    has can find nothing, and is left out.

    Raises
    ------
    VectorFileError
        If the file cannot be read as vectors, with the line.
    VectorError
        If a dimension is below 0 or out of range, or a weight not finite.
    DuplicateDocumentError
        If an id is there twice.
    """
    vectors = _read_matrix(path) if path.suffix == ".npz" else _read_lines(path, known)
    if not vectors.ids:
        raise VectorFileError(place=path, reason="holds no vector; expected at least one.")
    _refuse_twice(path, vectors.ids)
    return vectors if known is None else _fitted(path, vectors, known)


def _refuse_twice(path: Path, ids: Sequence[str]) -> None:
    try:
        refuse_duplicates(ids)
    except DuplicateDocumentError as error:
        reason = f"'{error.docid}' is there {error.count} times; expected each id once."
        raise VectorFileError(place=path, reason=f"{reason} Keep one.") from error


def _fitted(path: Path, vectors: VectorSet, known: VectorSet) -> VectorSet:
    if (vectors.features is None) != (known.features is None):
        reason = "one of the two files names its features and the other numbers them; expected "
        raise VectorFileError(place=path, reason=f"{reason}both alike. Write both in one format.")
    if vectors.matrix.shape[1] > known.matrix.shape[1] and vectors.features is None:
        sizes = f"{vectors.matrix.shape[1]} dimensions, the documents' {known.matrix.shape[1]}"
        reason = f"its vectors have {sizes}; expected as many. Encode both with one model."
        raise VectorFileError(place=path, reason=reason)
    return vectors


# --- JSON lines ----------------------------------------------------------------------------------


def _read_lines(path: Path, known: VectorSet | None) -> VectorSet:
    """Vectors of named features; rows are put into numbers a batch at a time."""
    from benchwright.files.sources import open_lines

    numbers: dict[str, int] = {}
    fixed = None
    if known is not None and known.features is not None:
        fixed = {feature: column for column, feature in enumerate(known.features)}
    ids: list[str] = []
    columns: list[np.ndarray[Any, Any]] = []
    weights: list[np.ndarray[Any, Any]] = []
    lengths: list[int] = []
    for place, docid, vector in _records(path, open_lines(path)):
        pairs = _pairs(vector, numbers, fixed, place)
        ids.append(docid)
        lengths.append(len(pairs))
        columns.append(np.array([column for column, _ in pairs], dtype=np.int32))
        weights.append(np.array([weight for _, weight in pairs], dtype=np.float64))
    return _numbered(ids, columns, weights, lengths, fixed or numbers)


def _numbered(
    ids: Sequence[str],
    columns: Sequence[Any],
    weights: Sequence[Any],
    lengths: Sequence[int],
    numbers: Mapping[str, int],
) -> VectorSet:
    """The columns in the order of the features, whatever the order of the lines."""
    features = sorted(numbers)
    places = np.empty(len(features), dtype=np.int64)
    places[[numbers[feature] for feature in features]] = np.arange(len(features))
    indices = places[np.concatenate([np.empty(0, dtype=np.int32), *columns])]
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    data = np.concatenate([np.empty(0), *weights])
    matrix = csr_array((data, indices, ends), shape=(len(ids), len(features)))
    names = [f"'{docid}'" for docid in ids]
    return VectorSet(tuple(ids), as_matrix(matrix, len(features), places=names), tuple(features))


def _records(path: Path, lines: Iterable[bytes]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = f"is not JSON ({error}); expected an object with id and vector. Mend the line."
            raise VectorFileError(place=place, reason=reason) from error
        docid, vector = _fields(record)
        if docid is None or vector is None:
            reason = 'expected {"id": "…", "vector": {"feature": weight}}. Mend the line.'
            raise VectorFileError(place=place, reason=reason)
        if problem := id_problem(docid):
            raise VectorFileError(place=place, reason=f"id {docid!r:.40}: {problem}.")
        yield place, docid, vector


def _fields(record: Any) -> tuple[str | None, dict[str, Any] | None]:
    if not isinstance(record, dict):
        return None, None
    docid = record.get("id", record.get("_id"))
    vector = record.get("vector")
    is_id = isinstance(docid, str) and docid
    return docid if is_id else None, vector if isinstance(vector, dict) else None


def _pairs(
    vector: Mapping[str, Any],
    numbers: dict[str, int],
    fixed: Mapping[str, int] | None,
    place: str,
) -> list[tuple[int, float]]:
    pairs = []
    for feature, weight in vector.items():
        if NEGATIVE.fullmatch(feature):
            reason = f"dimension is {feature}; expected a number of at least 0, or a word."
            raise VectorError(place=place, reason=f"{reason} Check the encoder.")
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            reason = f"the weight of '{feature}' is {weight!r}; expected a number. Mend the line."
            raise VectorError(place=place, reason=reason)
        try:
            number = float(weight)
        except OverflowError:
            reason = f"the weight of '{feature}' is too large a number. Check the encoder."
            raise VectorError(place=place, reason=reason) from None
        if fixed is None:
            pairs.append((numbers.setdefault(feature, len(numbers)), number))
        elif feature in fixed:
            pairs.append((fixed[feature], number))
    return pairs


# --- scipy's matrices ----------------------------------------------------------------------------


def _read_matrix(path: Path) -> VectorSet:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            parts = {name: arrays[name] for name in PARTS}
            kind = str(arrays["format"].item().decode() if "format" in arrays else "csr")
            ids = _ids(path, arrays)
    except (KeyError, ValueError, OSError, zipfile.BadZipFile, AttributeError) as error:
        reason = f"is no matrix that scipy.sparse.save_npz wrote ({error}). Save it so."
        raise VectorFileError(place=path, reason=reason) from error
    if kind != "csr":
        reason = f"the matrix is {kind}; expected csr. Save matrix.tocsr()."
        raise VectorFileError(place=path, reason=reason)
    return VectorSet(ids, _checked(path, parts, ids))


def _checked(path: Path, parts: Mapping[str, Any], ids: Sequence[str]) -> csr_array:
    shape = tuple(int(size) for size in parts["shape"])
    if len(shape) != 2 or shape[0] != len(ids):
        reason = f"{len(ids)} ids for a matrix of {shape}; expected an id for each row. Check both."
        raise VectorFileError(place=path, reason=reason)
    _refuse_columns(path, parts, shape[1], ids)
    try:
        matrix = csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
        matrix.check_format(full_check=True)
    except ValueError as error:
        reason = f"its index is not one of a csr matrix ({error}). Save the matrix anew."
        raise VectorFileError(place=path, reason=reason) from error
    return as_matrix(matrix, shape[1], places=[f"{path}, '{docid}'" for docid in ids])


def _refuse_columns(path: Path, parts: Mapping[str, Any], width: int, ids: Sequence[str]) -> None:
    indices = np.asarray(parts["indices"])
    wrong = np.flatnonzero((indices < 0) | (indices >= width))
    if len(wrong):
        row = int(np.searchsorted(parts["indptr"], wrong[0], side="right")) - 1
        name = ids[row] if 0 <= row < len(ids) else "?"
        reason = f"dimension is {indices[wrong[0]]}; expected one from 0 to {width - 1}."
        raise VectorError(place=f"{path}, '{name}'", reason=f"{reason} Check the encoder.")


def _ids(path: Path, arrays: Any) -> tuple[str, ...]:
    if "ids" in arrays:
        ids = arrays["ids"]
        if ids.dtype.kind == "S":
            ids = np.char.decode(ids, "utf-8", "surrogateescape")
        return tuple(map(str, ids.tolist()))
    beside = path.with_suffix(".ids")
    if not beside.is_file():
        reason = f"has no ids; expected an array `ids` in it, or lines in {beside.name}. Add them."
        raise VectorFileError(place=path, reason=reason)
    # Not splitlines, which would also cut at separators that an id may hold.
    content = beside.read_bytes().removeprefix(BOM)
    text = content.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    return tuple(text.removesuffix("\n").split("\n")) if text else ()

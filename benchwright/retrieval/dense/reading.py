"""Embeddings from files: .npy with a file of ids, .npz, or Parquet; told by their first bytes."""

from pathlib import Path

from benchwright.matrices.arrays import Limits
from benchwright.matrices.errors import MatrixFileError, MatrixRowError
from benchwright.matrices.ids import read_ids
from benchwright.matrices.reading import read_matrix
from benchwright.matrices.wanted import Found, Wanted
from benchwright.retrieval.dense.embeddings import Embeddings, embeddings
from benchwright.retrieval.errors import EmbeddingFileError, EmbeddingShapeError

LARGEST = 64 << 30
# How many times larger than its file an .npz may be.
LARGEST_RATIO = 200
VECTOR_NAMES = ("vectors", "embeddings", "embedding", "vector")
ID_NAMES = ("ids", "id", "_id", "docids", "doc_ids", "qids", "query_ids")
NEEDS_IDS = (
    "holds no ids; expected a second file with one id a line, in the order of the rows, or an "
    ".npz or Parquet file that holds both."
)


def read_embeddings(
    path: Path | str,
    *,
    ids: Path | str | None = None,
    name: str = "",
    folder: Path | None = None,
    max_bytes: int = LARGEST,
) -> Embeddings:
    """The vectors of a file with their ids.

    Parameters
    ----------
    path
        `.npy` (a matrix; needs `ids`), `.npz` (of `np.savez`, compressed or not, with a matrix
        `vectors` and a list `ids`), or Parquet (columns `id` and `vector`, or any names where
        there is one of each kind).
    ids
        A file with one id a line, a JSON list of ids, or an array of numpy's.
    name
        What messages call it; by default the name of the file.
    folder
        Where a matrix that cannot be mapped from the file itself is unpacked; in memory unless
        given.
    max_bytes
        How much the numbers may take, known before they are read.

    Raises
    ------
    EmbeddingFileError
        If a file is none of these, damaged, too large, or holds Python objects.
    ArchiveError
        If an .npz is damaged or unsafe, or inflates to more than it may.
    EmbeddingShapeError, EmbeddingIdsError
        As `embeddings` does; the numbers themselves are not looked at.
    """
    path = Path(path)
    name = name or path.name
    target = folder / "matrix.bin" if folder else None
    try:
        stored = read_matrix(path, _wanted(max_bytes), name=name, target=target)
        row_ids, notes = _ids(stored, ids, name)
    except MatrixRowError as error:
        raise EmbeddingShapeError(name=error.file, reason=error.reason) from error
    except MatrixFileError as error:
        raise EmbeddingFileError(file=error.file, reason=error.reason) from error
    return embeddings(row_ids, stored.matrix, name=name, notes=notes)


def _wanted(max_bytes: int) -> Wanted:
    return Wanted(
        kinds="f",
        names=VECTOR_NAMES,
        id_names=ID_NAMES,
        id_columns=(*ID_NAMES, "docid", "qid"),
        is_any_list_ids=True,
        keeps_width=True,
        limits=Limits(bytes=max_bytes, ratio=LARGEST_RATIO),
    )


def _ids(stored: Found, ids: Path | str | None, name: str) -> tuple[list[str], list[str]]:
    """The ids of the file itself or of the other one, whichever there is; and their notes."""
    if ids is not None and stored.ids is not None:
        reason = "holds ids itself, and a file of ids was given too; expected one of both."
        raise EmbeddingFileError(file=name, reason=reason)
    if ids is not None:
        return read_ids(Path(ids), name=f"the ids of {name}")
    if stored.ids is None:
        raise EmbeddingFileError(file=name, reason=NEEDS_IDS)
    return stored.ids, stored.notes

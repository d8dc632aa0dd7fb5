"""A matrix from a file: .npy, .npz or Parquet, told by its first bytes."""

from pathlib import Path

from benchmarks_app.core.matrices.arrays import NPY_MAGIC, mapped
from benchmarks_app.core.matrices.errors import MatrixFileError
from benchmarks_app.core.matrices.wanted import Found, Wanted

ZIP_MAGIC = b"PK\x03\x04"
PARQUET_MAGIC = b"PAR1"


def read_matrix(path: Path, wanted: Wanted, *, name: str, target: Path | None = None) -> Found:
    """What a file holds: mapped from itself, or from the file `target` that it is unpacked into.

    Without a `target` what cannot be mapped is held in memory. Of an .npy that is no matrix it is
    the caller who says so.

    Raises
    ------
    MatrixFileError
        If it is of neither form, damaged, of Python objects, beyond the limits, or holds no matrix
        or several.
    ArchiveError
        If it is a zip that is damaged or unsafe, or inflates to more than it may.
    """
    with path.open("rb") as stream:
        magic = stream.read(len(NPY_MAGIC))
    if magic == NPY_MAGIC:
        return Found(mapped(path, name=name, limits=wanted.limits))
    if magic.startswith(ZIP_MAGIC):
        from benchmarks_app.core.matrices.npz import read_npz

        return read_npz(path, wanted, name=name, target=target)
    if magic.startswith(PARQUET_MAGIC):
        from benchmarks_app.core.matrices.tables import read_table

        return read_table(path, wanted, name=name, target=target)
    reason = "is neither .npy, .npz nor Parquet; expected one of them. Save it with np.save."
    raise MatrixFileError(file=name, reason=reason)

"""Rows of a result as a frame, of polars or pandas, neither of which is needed before."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchwright.errors import MissingPackageError

if TYPE_CHECKING:
    import polars

Rows = Sequence[Mapping[str, Any]]


def polars_frame(rows: Rows) -> "polars.DataFrame":
    """A frame of polars; what is not defined is null.

    Raises
    ------
    MissingPackageError
        If there is no polars.
    """
    try:
        import polars
    except ModuleNotFoundError as error:
        raise MissingPackageError.of(error, "to_frame") from error
    return polars.DataFrame(list(rows), infer_schema_length=None, nan_to_null=True)


def pandas_frame(rows: Rows) -> Any:
    """A frame of pandas; what is not defined is missing.

    Raises
    ------
    MissingPackageError
        If there is no pandas.
    """
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise MissingPackageError(what="to_pandas", package="pandas", extra="pandas") from error
    return pandas.DataFrame(list(rows))

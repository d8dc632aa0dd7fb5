"""Parquet that is written frame by frame."""

import polars as pl
import pytest

from benchwright.files.parquet import ParquetSink, rows_per_group_of

SCHEMA = {"id": pl.String(), "n": pl.Int64()}
ROWS = pl.DataFrame({"id": [f"d{n}" for n in range(500)], "n": range(500)}, schema=SCHEMA)


def written(path, frames):
    with ParquetSink(path, schema=SCHEMA, rows_per_group=100, has_statistics=True) as sink:
        for frame in frames:
            sink.write(frame)
    return path.read_bytes()


@pytest.mark.parametrize("n", [1, 7, 100, 250, 499])
def test_same_rows_are_the_same_bytes_however_they_were_cut(n, tmp_path):
    whole = written(tmp_path / "whole.parquet", [ROWS])

    assert written(tmp_path / "cut.parquet", ROWS.iter_slices(n)) == whole
    assert pl.read_parquet(tmp_path / "whole.parquet").equals(ROWS)
    assert rows_per_group_of(tmp_path / "whole.parquet") == 100


def test_no_frame_is_a_file_without_rows(tmp_path):
    written(tmp_path / "none.parquet", [])

    assert pl.read_parquet(tmp_path / "none.parquet").equals(ROWS.clear())


@pytest.mark.parametrize("frames", [[], [ROWS], [ROWS, ROWS]], ids=["none", "one", "two"])
def test_what_an_error_ends_leaves_no_file(frames, tmp_path):
    path = tmp_path / "broken.parquet"
    with (
        pytest.raises(ZeroDivisionError),
        ParquetSink(path, schema=SCHEMA, rows_per_group=100) as sink,
    ):
        for frame in frames:
            sink.write(frame)
        raise ZeroDivisionError

    assert not path.exists()


@pytest.mark.parametrize("frames", [[ROWS], [ROWS, ROWS]], ids=["one", "two"])
def test_file_that_cannot_be_written_is_told_of(frames, tmp_path):
    with pytest.raises(OSError, match="No such file"):
        written(tmp_path / "nowhere" / "a.parquet", frames)

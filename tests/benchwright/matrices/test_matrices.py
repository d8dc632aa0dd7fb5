"""Matrices from .npy, .npz and Parquet: what is read, and what is refused before it is read."""

import io
import struct
import zipfile

import numpy as np
import polars as pl
import pytest

from benchwright.errors import ArchiveError
from benchwright.matrices import tables
from benchwright.matrices.arrays import LONGEST_HEADER, NPY_MAGIC, Limits, header_of
from benchwright.matrices.errors import MatrixFileError, MatrixRowError
from benchwright.matrices.ids import read_ids
from benchwright.matrices.npz import opened_npz
from benchwright.matrices.reading import read_matrix
from benchwright.matrices.wanted import Wanted
from tests.benchwright.matrix_files import announced, npy, npz, packed, pickled, table

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)
IDS = ["a", "b\n", " c ", "é"]
NAMES = {"names": ("vectors",), "id_names": ("ids",), "id_columns": ("id",)}
REAL = Wanted(kinds="biuf", takes_columns=True, limits=Limits(1 << 20, 2000, 200), **NAMES)
FLOATS = Wanted(kinds="f", is_any_list_ids=True, keeps_width=True, limits=REAL.limits, **NAMES)


@pytest.fixture
def read(tmp_path):
    """A function that reads the bytes of a file."""

    def read(content, wanted=REAL, *, is_unpacked=True):
        (tmp_path / "given.bin").write_bytes(content)
        target = tmp_path / "unpacked" / "matrix.bin" if is_unpacked else None
        return read_matrix(tmp_path / "given.bin", wanted, name="mine.bin", target=target)

    return read


# --- what is read --------------------------------------------------------------------------


FORMS = {
    "npy": npy(MATRIX),
    "npy, columns first": npy(np.asfortranarray(MATRIX)),
    "npy, big endian": npy(MATRIX.astype(">f4")),
    "npy, version 2": npy(MATRIX, version=(2, 0)),
    "npz": npz(vectors=npy(MATRIX), norms=npy(np.ones(4))),
    "npz, stored": npz(zipfile.ZIP_STORED, whatever=npy(MATRIX)),
    "npz, columns first": npz(vectors=npy(np.asfortranarray(MATRIX))),
    "npz beside objects": npz(vectors=npy(MATRIX), notes=pickled({})),
    "lists": table({"vectors": pl.List(pl.Float32)}, id=IDS, vectors=MATRIX.tolist()),
    "arrays": table({"v": pl.Array(pl.Float32, 3)}, id=IDS, v=MATRIX.tolist()),
}


@pytest.mark.parametrize("is_unpacked", [True, False])
@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS)
def test_each_form_is_read_and_mapped_where_it_can_be(read, content, is_unpacked):
    result = read(content, is_unpacked=is_unpacked)

    assert np.array_equal(result.matrix, MATRIX)
    assert isinstance(result.matrix, np.memmap) == (is_unpacked or content.startswith(NPY_MAGIC))
    assert result.matrix.dtype.itemsize == 4


def test_a_column_for_each_dimension_is_a_matrix_where_that_is_wanted(read):
    content = table(id=IDS, **{f"f{n}": MATRIX[:, n] for n in range(3)})

    assert np.array_equal(read(content).matrix, MATRIX)
    with pytest.raises(MatrixFileError, match=r"has the columns id .*expected one of lists"):
        read(content, FLOATS)


@pytest.mark.parametrize(("wanted", "dtype"), [(REAL, "f4"), (FLOATS, "f8")])
def test_doubles_of_parquet_stay_doubles_where_that_is_wanted(read, wanted, dtype):
    assert read(table(id=IDS, v=MATRIX.tolist()), wanted).matrix.dtype == np.dtype(dtype)


@pytest.mark.parametrize("ids", [True, False])
def test_parquet_of_many_batches_keeps_its_order(read, monkeypatch, ids):
    monkeypatch.setattr(tables, "BATCH_NUMBERS", 64)
    matrix = np.arange(3000, dtype=np.float32).reshape(1000, 3)
    columns = {"id": [f"d{n}" for n in range(1000)]} if ids else {}

    result = read(table(**columns, vector=matrix.tolist()))

    assert result.ids == (columns["id"] if ids else None)
    assert np.array_equal(result.matrix, matrix)


def test_a_name_of_a_pattern_is_one_file(tmp_path):
    (tmp_path / "v[1].parquet").write_bytes(FORMS["lists"])
    (tmp_path / "v1.parquet").write_bytes(table(vectors=[[7.0]]))

    matrix = read_matrix(tmp_path / "v[1].parquet", REAL, name="mine")

    assert np.array_equal(matrix.matrix, MATRIX)


@pytest.mark.parametrize("content", [npy(np.ones((0, 3))), npz(v=npy(np.ones((0, 3))))])
def test_a_matrix_without_rows_is_not_mapped(read, content):
    assert read(content).matrix.shape == (0, 3)


def test_rows_without_dimensions_are_none_that_lack_a_number(read):
    content = table({"vector": pl.List(pl.Float32)}, vector=[[], []])

    assert read(content).matrix.shape == (2, 0)


# --- what is refused -----------------------------------------------------------------------


REFUSED = {
    "text": (b"1 2 3\n4 5 6\n", "neither .npy, .npz nor Parquet"),
    "empty": (b"", "neither .npy, .npz nor Parquet"),
    "pickle": (pickled({}), "holds Python objects, which are never read"),
    "cut": (npy(MATRIX)[:-5], "43 bytes of numbers; expected 48 for its shape 4 x 3"),
    "more than its shape": (npy(MATRIX) * 2, "expected 48 for its shape"),
    "header cut": (npy(MATRIX)[:20], "cannot be read as an array of numpy's"),
    "no header": (b"\x93NUMPY\x01\x00\xff", "cannot be read as an array of numpy's"),
    "header without an end": (npy(MATRIX).replace(b"}", b"("), "cannot be read as an array"),
    "version": (b"\x93NUMPY\x09\x00", r"version \(9, 0\); expected 1 or 2"),
    "negative": (announced((-4, 3)), "a negative length"),
    "items of nothing": (announced((10**3, 2), "<U0"), "of no bytes"),
    "too many rows": (announced((10**9, 1)), "1,000,000,000 rows; at most 2,000 are taken"),
    "too large": (announced((10, 10**9)), "40,000 MB; expected at most 1 MB"),
    "npz too large": (npz(v=announced((10, 10**9))), "40,000 MB; expected at most 1 MB"),
    "npz of too many ids": (
        npz(v=npy(MATRIX), ids=announced((10**9,), "<U1")),
        "mine.bin/ids: 1,000,000,000 rows",
    ),
    "npz of too little": (npz(v=npy(MATRIX)[:-5]), "mine.bin/v: 43 bytes .* expected 48"),
    "bomb": (npz(v=npy(MATRIX) + bytes(4 << 20)), "mine.bin/v: 49 bytes .* expected 48"),
    "npz of pickles": (npz(v=pickled({})), r"holds v \(object, 1\); expected one matrix of real"),
    "npz of nothing": (npz(), "neither .npy, .npz nor Parquet"),
    "npz of no array": (npz(v=b"text"), "mine.bin/v: cannot be read as an array"),
    "npz of a number": (npz(v=npy(np.float32(1))), r"v \(float32, a number\)"),
    "npz of several": (
        npz(a=npy(MATRIX), b=npy(MATRIX)),
        r"holds a \(float32, 4 x 3\), b .*expected one matrix .*called vectors",
    ),
    "npz of very many": (npz(**{f"a{n}": b"" for n in range(1001)}), "holds 1,001 arrays"),
    "npz with ids of objects": (
        npz(v=npy(MATRIX), ids=pickled("a")),
        "mine.bin/ids: holds Python objects, which are never read",
    ),
    "npz with ids of fractions": (
        npz(v=npy(MATRIX), ids=npy(np.ones(4))),
        r"the ids are an array of float64 \(4\); expected one axis of text",
    ),
    "npz with ids that are a matrix, told before it is read": (
        npz(v=npy(MATRIX), ids=announced((90, 90), "<U1")),
        r"the ids are an array of <U1 \(90 x 90\); expected one axis of text",
    ),
    "npz with ids that are no text": (
        npz(v=npy(MATRIX), ids=npy(np.array([b"\xff"] * 4))),
        "an id is not UTF-8",
    ),
    "npz with ids above Unicode": (
        npz(v=npy(MATRIX), ids=npy(np.array([65, 66, 67, 0x110001], "<u4").view("<U1"))),
        r"the id of row 3 \(from 0\) holds the number 1,114,113 where a character belongs",
    ),
    "npz with ids above Unicode, of another machine": (
        npz(
            v=npy(MATRIX), ids=npy(np.array([65, 0x110001, 66, 67, 1, 2, 3, 4], ">u4").view(">U2"))
        ),
        r"the id of row 0 \(from 0\) holds the number 1,114,113",
    ),
    "npz with half a character": (
        npz(v=npy(MATRIX), ids=npy(np.array([65, 66, 0xD800, 67], "<u4").view("<U1"))),
        r"the id of row 2 \(from 0\) holds half a character",
    ),
    "no Parquet": (b"PAR1 and so on", "cannot be read as Parquet"),
    "parquet cut": (table(v=[[1.0]])[:-9], "cannot be read as Parquet"),
    "parquet too large": (
        table({"v": pl.Array(pl.Float32, 200)}, v=np.zeros((1500, 200)).tolist()),
        "1,500 x 200 numbers of float32 are 1 MB; expected at most 1 MB",
    ),
    "no numbers": (table(id=["a"], text=["b"]), "has the columns id .*, text .*; expected one of"),
    "two columns of lists": (table(a=[[1.0]], b=[[1.0]]), "one of lists .*, called vectors"),
    "no id": (table(id=["a", None], v=[[1.0], [2.0]]), "the id of row 1 .*expected text"),
    "ids of numbers": (table(id=[0.5], v=[[1.0]]), "expected texts or whole numbers"),
}


@pytest.mark.parametrize("is_unpacked", [True, False])
@pytest.mark.parametrize(("content", "words"), REFUSED.values(), ids=REFUSED)
def test_refuses_with_what_is_wrong(read, content, words, is_unpacked):
    with pytest.raises(MatrixFileError, match=words) as error:
        read(content, is_unpacked=is_unpacked)

    assert str(error.value).startswith("mine.bin")


UNSAFE = {
    "damaged": (b"PK\x03\x04 and so on", "damaged"),
    "cut": (npz(v=npy(MATRIX))[:-30], "damaged"),
    "numbers changed": (
        npz(zipfile.ZIP_STORED, v=npy(MATRIX)).replace(b"\x00\x00\x80?", b"\x00\x00@?"),
        "damaged",
    ),
    "climbing": (packed({"../vectors.npy": npy(MATRIX)}), "climbs out"),
    "absolute": (packed({"/vectors.npy": npy(MATRIX)}), "absolute"),
    "inflating": (npz(v=npy(MATRIX) + bytes(40 << 20)), "inflates to more than"),
}


@pytest.mark.parametrize(("content", "words"), UNSAFE.values(), ids=UNSAFE)
def test_zips_that_are_unsafe_are_refused(read, content, words):
    with pytest.raises(ArchiveError, match=words):
        read(content)


ROWS = {
    "shorter": ([[1.0, 2.0], [1.0]], r"row 1 \(from 0\), 'b\\n', has 1 dimensions; expected 2"),
    "none": ([[1.0, 2.0], None], r"row 1 \(from 0\), 'b\\n', has no vector; expected 2"),
    "lacking": ([[1.0, 2.0], [1.0, None]], r"row 1 \(from 0\), 'b\\n', lacks a number"),
}


@pytest.mark.parametrize(("rows", "words"), ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("wanted", [REAL, FLOATS])
def test_row_unlike_the_first_is_named(read, wanted, rows, words):
    with pytest.raises(MatrixRowError, match=words):
        read(table(id=IDS[:2], v=rows), wanted)


def test_rows_are_counted_over_all_batches(read, monkeypatch):
    monkeypatch.setattr(tables, "BATCH_NUMBERS", 64)

    with pytest.raises(MatrixRowError, match=r"row 999 \(from 0\) has 2 dimensions"):
        read(table(v=[[1.0]] * 999 + [[1.0, 2.0]]))


def test_column_that_lacks_a_number_is_told_by_its_row(read):
    with pytest.raises(MatrixRowError, match=r"row 1 \(from 0\) lacks a number; expected 2"):
        read(table(a=[1.0, None], b=[1.0, 2.0]))


def test_pickle_is_never_loaded(read, tmp_path):
    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "touched"), "w"))

    for content in (pickled(Evil()), npz(vectors=npy(MATRIX), ids=pickled(Evil()))):
        with pytest.raises(MatrixFileError, match="Python objects"):
            read(content)
    assert read(npz(vectors=npy(MATRIX), other=pickled(Evil()))).ids is None
    assert not (tmp_path / "touched").exists()


def test_header_of_any_length_is_not_read_into_memory():
    class Endless:
        def __init__(self):
            self.start = io.BytesIO(NPY_MAGIC + b"\x02\x00" + struct.pack("<I", 1 << 31))

        def read(self, n=-1):
            assert n <= LONGEST_HEADER
            return self.start.read(n) or b" " * n

    with pytest.raises(MatrixFileError, match="a header of 2,147,483,648 bytes"):
        header_of(Endless(), name="mine")


# --- several arrays ------------------------------------------------------------------------


def test_arrays_of_an_npz_are_told_by_name_and_read_alone(tmp_path):
    (tmp_path / "v.npz").write_bytes(npz(a=npy(MATRIX), b=announced((10, 10**9))))

    with opened_npz(tmp_path / "v.npz", name="mine", limits=REAL.limits) as content:
        assert sorted(content.headers) == ["a", "b"]
        assert np.array_equal(content.array("a"), MATRIX)
        with pytest.raises(MatrixFileError, match=r"mine/b: .* MB; expected at most 1 MB"):
            content.array("b")


@pytest.mark.parametrize(
    ("arrays", "wanted", "ids"),
    [
        ({"who": npy(IDS)}, FLOATS, IDS),
        ({"who": npy(IDS)}, REAL, None),
        ({"who": npy(IDS), "what": npy(IDS)}, FLOATS, None),
        ({"who": npy(["x"] * 4), "IDS": npy(IDS)}, FLOATS, IDS),
        ({"ids": npy(np.array([b"1", "é".encode()]))}, REAL, ["1", "é"]),
        ({"ids": npy(np.arange(2))}, REAL, ["0", "1"]),
    ],
)
def test_ids_are_the_list_called_so_or_the_only_one(read, arrays, wanted, ids):
    assert read(npz(vectors=npy(MATRIX), **arrays), wanted).ids == ids


# --- files of ids --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "ids", "n_notes"),
    [
        (b"\xef\xbb\xbfa\r\n b\n c \n\xc3\xa9", ["a", " b", " c ", "é"], 0),
        (b'["a", "b\\n"]', ["a", "b\n"], 0),
        (b"[1, 2]", ["1", "2"], 1),
        (npy(IDS), IDS, 0),
        (npy(np.arange(2)), ["0", "1"], 1),
    ],
)
def test_ids_are_lines_a_list_or_an_array(tmp_path, content, ids, n_notes):
    (tmp_path / "ids").write_bytes(content)

    found, notes = read_ids(tmp_path / "ids", name="mine")

    assert (found, len(notes)) == (ids, n_notes)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a\nb\xff\nc\n", "line 2 is not UTF-8"),
        (b'["a", "b"', "begins as a JSON list"),
        (b'["a", 1.5, "c", "d"]', "id of row 1 .* a float"),
        (b'["a", true, "c", "d"]', "a bool"),
        (pickled("a"), "Python objects"),
        (npy(MATRIX), "expected one axis of text"),
    ],
)
def test_wrong_ids_are_refused(tmp_path, content, words):
    (tmp_path / "ids").write_bytes(content)

    with pytest.raises(MatrixFileError, match=words):
        read_ids(tmp_path / "ids", name="mine")

"""Embeddings from npy, npz and Parquet: what is read, and what is refused before it is read."""

import zipfile

import numpy as np
import polars as pl
import pytest

from benchwright.contrastive.errors import PairFileError, PairIdsError
from benchwright.contrastive.files import StoredMatrix, ids_of_pair, read_ids, read_matrix
from benchwright.errors import FileProblemsError
from benchwright.matrices.arrays import Limits
from tests.benchwright.matrix_files import announced, npy, packed, pickled, table

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)
IDS = ("a", "b", "c", "ü 1")


@pytest.fixture
def read(tmp_path):
    """A function that reads the bytes of a file."""

    def read(content, name="given.bin", **options):
        path = tmp_path / name
        path.write_bytes(content)
        unpacked = tmp_path / "unpacked"
        unpacked.mkdir(exist_ok=True)
        return read_matrix(path, folder=unpacked, **options)

    return read


READ = {
    "npy": (npy(MATRIX), None),
    "npy of doubles": (npy(MATRIX.astype(np.float64)), None),
    "npy, columns first": (npy(np.asfortranarray(MATRIX)), None),
    "npy, version 2": (npy(MATRIX, version=(2, 0)), None),
    "npz": (packed({"whatever.npy": npy(MATRIX)}), None),
    "npz, stored, with ids": (
        packed({"v.npy": npy(MATRIX), "ids.npy": npy(np.array(IDS))}, zipfile.ZIP_STORED),
        IDS,
    ),
    "npz with ids of bytes": (
        packed({"v.npy": npy(MATRIX), "qids.npy": npy(np.array([b"1", b"2", b"3", b"4"]))}),
        ("1", "2", "3", "4"),
    ),
    "npz of two": (packed({"z1.npy": npy(MATRIX), "z2.npy": npy(MATRIX + 1)}), None),
    "lists": (table(id=IDS, vector=MATRIX.tolist()), IDS),
    "arrays": (
        table({"v": pl.Array(pl.Float64, 3)}, _id=[1, 2, 3, 4], v=MATRIX.tolist()),
        ("1", "2", "3", "4"),
    ),
    "columns": (table(docid=IDS, **{f"f{n}": MATRIX[:, n] for n in range(3)}), IDS),
    "columns without ids": (table(**{f"f{n}": MATRIX[:, n] for n in range(3)}), None),
}


@pytest.mark.parametrize(("content", "ids"), READ.values(), ids=READ)
def test_reads_what_each_form_holds(read, content, ids):
    result = read(content, preferred="z1")

    assert np.array_equal(result.matrix, MATRIX)
    assert result.ids == ids
    assert isinstance(result.matrix, np.memmap)


def test_second_file_of_two_matrices_is_the_second(read):
    both = packed({"z1.npy": npy(MATRIX), "z2.npy": npy(MATRIX + 1)})

    assert np.array_equal(read(both, preferred="z2").matrix, MATRIX + 1)


# What every reader of matrices refuses: tests/benchwright/matrices/test_matrices.py.
REFUSED = {
    "text": (b"1 2 3\n4 5 6\n", "neither .npy, .npz nor Parquet"),
    "pickle": (pickled({}), "holds Python objects, which are never read"),
    "one axis": (npy(np.ones(4)), r"shape \(4,\) and type float64; expected rows x features"),
    "complex": (npy(np.ones((2, 2)) * 1j), "type complex128"),
    "cut": (npy(MATRIX)[:-5], "43 bytes of numbers; expected 48"),
    "too many rows": (announced((10**9, 1)), "1,000,000,000 rows; at most 1,000 are taken"),
    "too large": (announced((10, 10**9)), "40,000 MB; expected at most 1 MB"),
    "npz of several": (
        packed({"a.npy": npy(MATRIX), "b.npy": npy(MATRIX)}),
        r"holds a \(float32, 4 x 3\), b .*expected one matrix of real numbers, called z1",
    ),
    "npz damaged": (packed({"v.npy": npy(MATRIX)})[:-30], "mine.bin: the zip is damaged"),
    "member damaged": (
        packed({"v.npy": npy(MATRIX)}, zipfile.ZIP_STORED).replace(b"\x00\x00\x80?", b"\x00\x00@?"),
        "mine.bin/v.npy: the zip is damaged",
    ),
    "member out of the folder": (packed({"../../v.txt": b"x"}), "climbs out of the folder"),
    "no numbers": (table(id=["a"], text=["b"]), "or a column for each dimension"),
    "two columns of lists": (table(a=[[1.0]], b=[[1.0]]), "one of lists .* called z1"),
    "unequal lists": (
        table(v=[[1.0, 2.0], [1.0]]),
        r"row 1 \(from 0\) has 1 dimensions; expected 2 as row 0 has",
    ),
    "no number in a column": (table(a=[1.0, None]), r"row 1 \(from 0\) lacks a number"),
    "ids of numbers": (table(id=[0.5], v=[[1.0]]), "expected texts or whole numbers"),
}


@pytest.mark.parametrize(("content", "words"), REFUSED.values(), ids=REFUSED)
def test_refuses_with_what_is_wrong(read, content, words):
    with pytest.raises(PairFileError, match=words) as error:
        read(content, preferred="z1", name="mine.bin", limits=Limits(rows=1000, bytes=1 << 20))

    assert str(error.value).startswith("mine.bin")
    assert error.value.code == "contrastive-file"


def test_embeddings_of_a_collapsed_model_are_read_however_far_they_inflate(read):
    collapsed = np.ones((200_000, 64), dtype=np.float32)

    assert read(packed({"v.npy": npy(collapsed)})).matrix.shape == (200_000, 64)


def test_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(PairFileError, match=r"v\.npy: it cannot be read"):
        read_matrix(tmp_path / "v.npy", folder=tmp_path)


def test_ids_that_are_no_text_are_shown_as_in_files_of_ids(read):
    result = read(packed({"v.npy": npy(MATRIX[:1]), "ids.npy": npy(np.array([b"\xff"]))}))

    assert result.ids == ("\\xff",)


def test_rows_of_nothing_are_told_as_such_and_not_mapped(read):
    assert read(npy(np.ones((0, 3)))).matrix.shape == (0, 3)
    assert read(table({"v": pl.List(pl.Float32)}, v=[])).matrix.shape == (0, 0)


# --- ids -----------------------------------------------------------------------------------------


def test_ids_are_lines_whatever_ends_them(tmp_path):
    path = tmp_path / "ids.txt"
    path.write_bytes("\ufeffa\r\nb c\nü".encode())

    assert read_ids(path) == ("a", "b c", "ü")


def test_wrong_lines_of_ids_are_all_named(tmp_path):
    path = tmp_path / "ids.txt"
    path.write_bytes(b"a\n\na\n")

    with pytest.raises(FileProblemsError) as error:
        read_ids(path, name="mine.txt")

    assert [(problem.file, problem.line) for problem in error.value.problems] == [
        ("mine.txt", 2),
        ("mine.txt", 3),
    ]


@pytest.mark.parametrize(
    ("first", "second", "given", "found"),
    [
        (None, None, None, None),
        (("a",), None, None, ("a",)),
        (None, ("a",), None, ("a",)),
        (("a",), ("a",), None, ("a",)),
        (("a",), ("b",), ("c",), ("c",)),
    ],
)
def test_ids_come_from_their_own_file_or_from_those_of_embeddings(first, second, given, found):
    stored = [StoredMatrix("file", MATRIX, ids) for ids in (first, second)]

    assert ids_of_pair(*stored, given) == found


def test_files_that_disagree_about_ids_are_refused():
    first, second = StoredMatrix("one", MATRIX, IDS), StoredMatrix("two", MATRIX, IDS[::-1])

    with pytest.raises(PairIdsError, match="one: row 0 is 'a' there and 'ü 1' in two"):
        ids_of_pair(first, second)

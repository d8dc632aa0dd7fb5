"""Sparse vectors in files, and what is wrong with them by its place."""

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, save_npz

from benchwright.retrieval.errors import VectorError, VectorFileError
from benchwright.retrieval.sparse.vector_files import read_vectors

MATRIX = csr_array(np.array([[1.0, 0, 0.5], [0, 0, 0]]))


def lines(tmp_path, *rows, name="v.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(rows) + "\n")
    return path


def saved(tmp_path, matrix=MATRIX, ids=("a", "b"), *, inside=True, name="v.npz"):
    path = tmp_path / name
    save_npz(path, matrix)
    if inside:
        with np.load(path) as held:
            parts = dict(held)
        np.savez(path, ids=np.array(ids), **parts)
    elif ids:
        path.with_suffix(".ids").write_text("".join(f"{docid}\n" for docid in ids))
    return path


def test_features_are_columns_in_their_own_order_whatever_that_of_the_lines(tmp_path):
    path = lines(
        tmp_path, '{"id": "a", "vector": {"red": 1.5, "blue": 2}}', '{"_id": "b", "vector": {}}'
    )

    vectors = read_vectors(path)

    assert (vectors.ids, vectors.features) == (("a", "b"), ("blue", "red"))
    assert vectors.matrix.toarray().tolist() == [[2.0, 1.5], [0.0, 0.0]]


def test_queries_take_the_columns_of_the_documents_and_lose_unknown_features(tmp_path):
    documents = read_vectors(lines(tmp_path, '{"id": "a", "vector": {"red": 1, "blue": 2}}'))
    queries = lines(tmp_path, '{"id": "q", "vector": {"red": 3, "green": 9}}', name="q.jsonl")

    assert read_vectors(queries, known=documents).matrix.toarray().tolist() == [[0.0, 3.0]]


@pytest.mark.parametrize("inside", [True, False], ids=["ids inside", "ids beside"])
def test_matrix_of_scipy_comes_with_its_ids(tmp_path, inside):
    vectors = read_vectors(saved(tmp_path, inside=inside))

    assert (vectors.ids, vectors.features) == (("a", "b"), None)
    assert vectors.matrix.toarray().tolist() == MATRIX.toarray().tolist()


def test_ids_are_texts_as_bytes_and_after_a_byte_order_mark_too(tmp_path):
    inside = saved(tmp_path, ids=(b"a", "é".encode()))
    beside = saved(tmp_path, inside=False, name="w.npz")
    beside.with_suffix(".ids").write_bytes(b"\xef\xbb\xbfa\nb\n")

    assert read_vectors(inside).ids == ("a", "é")
    assert read_vectors(beside).ids == ("a", "b")


@pytest.mark.parametrize(
    ("row", "error", "words"),
    [
        ("{", VectorFileError, "v.jsonl:2: is not JSON"),
        ("[1]", VectorFileError, "v.jsonl:2: expected"),
        ('{"id": 7, "vector": {}}', VectorFileError, "v.jsonl:2: expected"),
        ('{"id": "b"}', VectorFileError, "v.jsonl:2: expected"),
        ('{"id": "a", "vector": {}}', VectorFileError, "v.jsonl: 'a' is there 2 times"),
        ('{"id": "b", "vector": {"-3": 1}}', VectorError, "v.jsonl:2: dimension is -3"),
        ('{"id": "b", "vector": {"x": "y"}}', VectorError, "the weight of 'x' is 'y'"),
        ('{"id": "b", "vector": {"x": true}}', VectorError, "the weight of 'x' is True"),
        ('{"id": "b", "vector": {"x": NaN}}', VectorError, "'b': the weight of dimension 0 is nan"),
        (
            f'{{"id": "b", "vector": {{"x": {"9" * 400}}}}}',
            VectorError,
            "v.jsonl:2: the weight of 'x' is too large a number",
        ),
        ('{"id": "b c", "vector": {}}', VectorFileError, "v.jsonl:2: id 'b c': the id holds white"),
        ('{"id": "b\\ud800", "vector": {}}', VectorFileError, "v.jsonl:2: id 'b.*: the id holds"),
    ],
)
def test_line_that_is_no_vector_is_told_by_its_number(tmp_path, row, error, words):
    path = lines(tmp_path, '{"id": "a", "vector": {"x": 1}}', row)

    with pytest.raises(error, match=words):
        read_vectors(path)


def test_file_that_is_no_matrix_is_refused(tmp_path):
    path = tmp_path / "v.npz"
    path.write_bytes(b"PK nothing")

    with pytest.raises(VectorFileError, match="no matrix that scipy"):
        read_vectors(path)


def test_objects_in_a_file_are_never_unpickled(tmp_path):
    path = tmp_path / "v.npz"
    parts = {"indptr": [0], "indices": [], "data": [], "shape": [0, 3]}
    np.savez(path, ids=np.array([{"a": 1}], dtype=object), **parts)

    with pytest.raises(VectorFileError, match="allow_pickle=False"):
        read_vectors(path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"matrix": csc_array(MATRIX)}, "the matrix is csc; expected csr"),
        ({"ids": ("a",)}, r"1 ids for a matrix of \(2, 3\)"),
        ({"ids": (), "inside": False}, "has no ids; expected an array `ids`"),
        ({"ids": ("a", "a")}, "'a' is there 2 times"),
    ],
)
def test_matrix_that_does_not_fit_is_refused(tmp_path, options, words):
    with pytest.raises(VectorFileError, match=words):
        read_vectors(saved(tmp_path, **options))


@pytest.mark.parametrize("dimension", [-1, 3])
def test_dimension_out_of_range_is_refused_with_its_row(tmp_path, dimension):
    path = tmp_path / "v.npz"
    parts = {"indptr": [0, 1, 2], "indices": [0, dimension], "data": [1.0, 1.0], "shape": [2, 3]}
    np.savez(path, ids=np.array(["a", "b"]), **parts)

    with pytest.raises(VectorError, match=f"'b': dimension is {dimension}; expected one from 0"):
        read_vectors(path)


def test_files_of_two_kinds_do_not_go_together(tmp_path):
    documents = read_vectors(saved(tmp_path))

    with pytest.raises(VectorFileError, match="one of the two files names its features"):
        read_vectors(lines(tmp_path, '{"id": "q", "vector": {}}'), known=documents)


def test_queries_of_more_dimensions_are_refused(tmp_path):
    documents = read_vectors(saved(tmp_path))
    wide = saved(tmp_path, csr_array((1, 9)), ("q",), name="q.npz")

    with pytest.raises(VectorFileError, match="9 dimensions, the documents' 3"):
        read_vectors(wide, known=documents)

"""Files of embeddings: those that can be used, and what is said of the others."""

import gzip
import time
import zipfile

import numpy as np
import pytest

from benchwright.families.embeddings import (
    check_embeddings,
    close_pairs,
    read_embeddings,
    sent_embeddings,
)
from benchwright.families.errors import EmbeddingsError


def saved(path, **arrays):
    np.savez(path, **arrays)
    return path


def test_an_npz_has_ids_and_unit_vectors(tmp_path):
    path = saved(
        tmp_path / "e.npz", ids=np.array(["a", "b"]), embeddings=np.array([[3, 4], [1, 0]])
    )

    embeddings = read_embeddings(path)

    assert embeddings.ids == ("a", "b")
    assert embeddings.vectors.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [1, 0]]


def test_an_npy_takes_its_ids_from_beside_it(tmp_path):
    np.save(tmp_path / "e.npy", np.eye(2))

    assert read_embeddings(tmp_path / "e.npy", ids=["a", "b"]).ids == ("a", "b")


def test_ids_are_texts_as_bytes_too(tmp_path):
    path = saved(tmp_path / "e.npz", ids=np.array([b"a", "é".encode()]), vectors=np.eye(2))

    assert read_embeddings(path).ids == ("a", "é")


def test_a_list_of_ids_is_read_as_any_text_is(tmp_path):
    np.save(tmp_path / "e.npy", np.eye(2))
    for place, content in enumerate((b"\xef\xbb\xbfa\r\n\nb", gzip.compress(b"a\nb\n"))):
        listed = tmp_path / f"{place}"
        listed.write_bytes(content)

        sent = sent_embeddings(tmp_path / "e.npy", listed, "e.npy", tmp_path / f"out{place}")

        assert list(sent) == ["a", "b"]
    listed.write_bytes(b"a\n\xff\n")
    with pytest.raises(EmbeddingsError, match=r"e\.npy: its list of ids is not UTF-8"):
        check_embeddings(tmp_path / "e.npy", listed, "e.npy")


def test_an_id_that_comes_twice_among_many_is_named_at_once(tmp_path):
    ids = [*map(str, range(20_000)), "7"]
    path = saved(tmp_path / "e.npz", ids=np.array(ids), vectors=np.ones((len(ids), 2), np.float32))
    began = time.process_time()

    with pytest.raises(EmbeddingsError, match="query 7 has two embeddings"):
        read_embeddings(path)

    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"embeddings": np.eye(2)}, 'has no array "ids"'),
        ({"ids": np.array(["a"])}, 'has no array "embeddings"'),
        ({"ids": np.array(["a"]), "embeddings": np.eye(2)}, "1 ids and 2 rows"),
        ({"ids": np.array(["a", "a"]), "embeddings": np.eye(2)}, "a has two embeddings"),
        ({"ids": np.array(["a"]), "embeddings": np.zeros((1, 2))}, "has no direction"),
        ({"ids": np.array(["a"]), "embeddings": np.array([[np.nan, 1]])}, "has no direction"),
        ({"ids": np.array(["a"]), "embeddings": np.array([1.0])}, "in two dimensions"),
        ({"ids": np.array(["a"]), "embeddings": np.array([["x"]])}, "in two dimensions"),
        ({"ids": np.array(["a", {}], object), "embeddings": np.eye(2)}, "without Python objects"),
    ],
)
def test_what_is_wrong_with_embeddings_is_said(tmp_path, arrays, words):
    with pytest.raises(EmbeddingsError, match=words):
        read_embeddings(saved(tmp_path / "e.npz", **arrays))


@pytest.mark.parametrize("content", [b"", b"no numbers", b"PK\x03\x04broken"])
def test_a_file_of_something_else_is_refused(tmp_path, content):
    (tmp_path / "e.npz").write_bytes(content)

    with pytest.raises(EmbeddingsError, match=r"e\.npz: cannot be read as numbers"):
        read_embeddings(tmp_path / "e.npz")


def test_an_npz_is_read_as_any_zip_from_outside(tmp_path):
    with zipfile.ZipFile(tmp_path / "e.npz", "w") as archive:
        archive.writestr("../ids.npy", b"")

    with pytest.raises(EmbeddingsError, match=r"e\.npz: cannot be read .*climbs out"):
        read_embeddings(tmp_path / "e.npz")


def test_size_is_known_before_anything_is_read(tmp_path):
    header = {"shape": (1 << 30, 1 << 10), "fortran_order": False, "descr": "<f4"}
    with (tmp_path / "e.npy").open("wb") as out:
        np.lib.format.write_array_header_1_0(out, header)

    with pytest.raises(EmbeddingsError, match=r"expected at most 8,590 MB"):
        read_embeddings(tmp_path / "e.npy", ids=["a"])


def test_an_npy_without_ids_is_refused(tmp_path):
    np.save(tmp_path / "e.npy", np.eye(2))

    with pytest.raises(EmbeddingsError, match="holds no ids"):
        read_embeddings(tmp_path / "e.npy")


def test_blocks_find_what_one_product_finds(monkeypatch):
    vectors = np.random.default_rng(1).normal(size=(30, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    a, b = np.nonzero(np.triu(vectors @ vectors.T, 1) >= 0.8)

    monkeypatch.setattr("benchwright.families.embeddings._BLOCK", 7)
    result = close_pairs(vectors, 0.8)

    assert list(zip(*(f.tolist() for f in result[:2]), strict=True)) == list(
        zip(a.tolist(), b.tolist(), strict=True)
    )


def test_equal_vectors_are_as_close_wherever_they_stand():
    rng = np.random.default_rng(12)
    kinds = rng.standard_normal((40, 96)).astype(np.float32)
    of_row = np.concatenate([rng.integers(0, 40, 900), np.arange(40)])
    vectors = (kinds / np.linalg.norm(kinds, axis=1, keepdims=True))[of_row]

    a, b, cosines = close_pairs(vectors, 0.1)

    value_of: dict[tuple[int, int], float] = {}
    for pair, cosine in zip(
        np.sort(of_row[np.stack([a, b])], axis=0).T.tolist(), cosines, strict=True
    ):
        assert value_of.setdefault(tuple(pair), cosine) == cosine
    # A threshold that is one of these cosines finds all pairs that have it.
    edge = float(np.median(cosines))
    assert len(close_pairs(vectors, edge)[0]) == (cosines >= edge).sum()

"""Files of embeddings: what is read, and what never is."""

import io
import json
import socket
import zipfile

import numpy as np
import polars as pl
import pytest

from benchwright.errors import ArchiveError
from benchwright.matrices import static_vectors
from benchwright.retrieval.dense import read_embeddings
from benchwright.retrieval.dense import wordllama as model
from benchwright.retrieval.dense.bundles import (
    DOCUMENT_IDS,
    DOCUMENTS,
    MANIFEST,
    QUERIES,
    Settings,
    is_bundle,
    pack,
    read_bundle,
)
from benchwright.retrieval.errors import DemoExtraError, EmbeddingFileError, EmbeddingShapeError

IDS = ["a", "b\n", " c ", "é"]
VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def files(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    return tmp_path


def assert_read(found, ids=IDS):
    assert list(found.ids) == ids
    assert np.array_equal(found.vectors, VECTORS)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_is_mapped_with_ids_of_a_json_list(files, dtype, order):
    np.save(files / "v.npy", np.array(VECTORS, dtype=dtype, order=order))
    (files / "ids.json").write_text(json.dumps(IDS))

    embeddings = read_embeddings(files / "v.npy", ids=files / "ids.json")

    assert_read(embeddings)
    assert isinstance(embeddings.vectors, np.memmap)
    assert embeddings.vectors.dtype == np.dtype(dtype)


def test_ids_of_lines_keep_all_but_the_ends_of_lines(files):
    (files / "ids.txt").write_bytes(b"\xef\xbb\xbfa\r\n b\n c \n\xc3\xa9")

    embeddings = read_embeddings(files / "v.npy", ids=files / "ids.txt")

    assert list(embeddings.ids) == ["a", " b", " c ", "é"]


def test_ids_of_an_array_are_lossless(files):
    np.save(files / "ids.npy", np.array(IDS))

    assert_read(read_embeddings(files / "v.npy", ids=files / "ids.npy"))


@pytest.mark.parametrize("ids", [[1, 2, 3, 4], np.arange(1, 5)])
def test_ids_that_are_numbers_become_text_and_are_told(files, ids):
    np.savez(files / "v.npz", ids=np.array(ids), vectors=VECTORS)

    embeddings = read_embeddings(files / "v.npz")

    assert list(embeddings.ids) == ["1", "2", "3", "4"]
    assert "taken as text" in embeddings.notes[0]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("is_unpacked", [True, False])
def test_npz_of_usual_and_other_names(files, save, is_unpacked):
    folder = files / "unpacked" if is_unpacked else None
    save(files / "one.npz", ids=np.array(IDS), vectors=VECTORS, norms=np.ones(4))
    save(files / "other.npz", who=np.array(IDS), what=np.asfortranarray(VECTORS))

    for name in ("one.npz", "other.npz"):
        embeddings = read_embeddings(files / name, folder=folder)
        assert_read(embeddings)
        assert isinstance(embeddings.vectors, np.memmap) == is_unpacked


@pytest.mark.parametrize("form", ["list", "array", "double"])
def test_parquet_of_lists_and_arrays(files, form):
    inner = pl.Float64 if form == "double" else pl.Float32
    kind = pl.Array(inner, 3) if form == "array" else pl.List(inner)
    frame = pl.DataFrame(
        {"_id": IDS, "title": IDS, "vec": VECTORS.tolist()}, schema_overrides={"vec": kind}
    )
    frame.write_parquet(files / "v.parquet")

    for folder in (None, files / "unpacked"):
        embeddings = read_embeddings(files / "v.parquet", folder=folder)
        assert_read(embeddings)
        assert embeddings.vectors.dtype == (np.float64 if form == "double" else np.float32)


def parquet(**columns):
    def write(path):
        pl.DataFrame(columns).write_parquet(path)

    return write


def test_the_only_texts_beside_whole_numbers_are_the_ids(files):
    pl.DataFrame({"who": IDS, "n_tokens": [7] * 4, "vec": VECTORS.tolist()}).write_parquet(
        files / "v.parquet"
    )
    np.savez(files / "v.npz", who=np.array(IDS), labels=np.arange(4), vectors=VECTORS)

    for name in ("v.parquet", "v.npz"):
        assert list(read_embeddings(files / name).ids) == IDS


def raw(content: bytes):
    return lambda path: path.write_bytes(content)


def npz(**arrays):
    def write(path):
        with path.open("wb") as out:
            np.savez(out, **arrays)

    return write


def unsafe(name="vectors.npy", **options):
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            out = io.BytesIO()
            np.save(out, VECTORS)
            archive.writestr(zipfile.ZipInfo(name), out.getvalue(), **options)

    return write


SHAPE = EmbeddingShapeError
OBJECTS = np.array(["a", 1, None, "b"], dtype=object)


@pytest.mark.parametrize(
    ("write", "error", "words"),
    [
        (raw(b"1 2 3\n"), EmbeddingFileError, "neither .npy, .npz nor Parquet"),
        (raw(b"\x93NUMPY\x01\x00\xff"), EmbeddingFileError, "cannot be read as an array"),
        (raw(b"PK\x03\x04 and so on"), ArchiveError, "damaged"),
        (raw(b"PAR1 and so on"), EmbeddingFileError, "cannot be read as Parquet"),
        (npz(vectors=VECTORS, ids=OBJECTS), EmbeddingFileError, "Python objects, which are never"),
        (npz(ids=np.array(IDS)), EmbeddingFileError, "expected one matrix"),
        (npz(a=VECTORS, b=VECTORS, ids=np.array(IDS)), EmbeddingFileError, "expected one matrix"),
        (npz(vectors=VECTORS), EmbeddingFileError, "holds no ids"),
        (unsafe("../vectors.npy"), ArchiveError, "climbs out"),
        (parquet(id=IDS, vector=[[1.0], [1.0], [1.0, 2], [1.0]]), SHAPE, "row 2 .*' c '.* 2 dim"),
        (parquet(id=IDS, text=IDS), EmbeddingFileError, "has the columns"),
        (parquet(id=IDS, vector=[[1]] * 4), EmbeddingFileError, "lists of floating-point numbers"),
        (parquet(a=IDS, b=IDS, vector=VECTORS.tolist()), EmbeddingFileError, "has the columns"),
    ],
)
def test_what_is_no_file_of_embeddings_is_refused(files, write, error, words):
    write(files / "file")

    with pytest.raises(error, match=words):
        read_embeddings(files / "file", folder=files / "unpacked")


def test_pickle_is_never_loaded(files):
    class Evil:
        def __reduce__(self):
            return (open, (str(files / "touched"), "w"))

    np.save(files / "evil.npy", np.array([Evil()], dtype=object), allow_pickle=True)
    np.savez(files / "evil.npz", vectors=VECTORS, ids=np.array([Evil()], dtype=object))
    (files / "ids.txt").write_text("a\n")

    for name, ids in (("evil.npy", "ids.txt"), ("evil.npz", None), ("v.npy", "evil.npy")):
        with pytest.raises(EmbeddingFileError, match="Python objects"):
            read_embeddings(files / name, ids=ids and files / ids)
    assert not (files / "touched").exists()


def test_ids_given_twice_or_not_at_all(files):
    np.savez(files / "v.npz", ids=np.array(IDS), vectors=VECTORS)
    (files / "ids.txt").write_text("a\nb\nc\nd\n")

    with pytest.raises(EmbeddingFileError, match="holds ids itself"):
        read_embeddings(files / "v.npz", ids=files / "ids.txt")
    with pytest.raises(EmbeddingFileError, match="holds no ids"):
        read_embeddings(files / "v.npy")


def test_wrong_ids_are_refused(files):
    (files / "ids").write_bytes(b"a\nb\xff\nc\n")

    with pytest.raises(EmbeddingFileError, match=r"the ids of v\.npy: line 2 is not UTF-8"):
        read_embeddings(files / "v.npy", ids=files / "ids")


@pytest.mark.parametrize("name", ["docid", "qid", "_id", "doc_ids"])
def test_ids_of_a_usual_name_are_found_beside_other_text(files, name):
    columns = {"title": ["t"] * 4, name: IDS, "vector": VECTORS.tolist()}
    pl.DataFrame(columns, schema_overrides={"vector": pl.List(pl.Float32)}).write_parquet(
        files / "v.parquet"
    )

    assert_read(read_embeddings(files / "v.parquet"))


def test_size_is_known_before_anything_is_read(files):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"shape": (1 << 40, 1 << 20), "fortran_order": False, "descr": "<f4"}
    )
    (files / "huge.npy").write_bytes(header.getvalue())
    (files / "ids.txt").write_text("a\n")
    np.savez(files / "v.npz", ids=np.array(IDS), vectors=VECTORS)
    pl.DataFrame({"id": IDS, "vector": VECTORS.tolist()}).write_parquet(files / "v.parquet")

    with pytest.raises(EmbeddingFileError, match="expected at most"):
        read_embeddings(files / "huge.npy", ids=files / "ids.txt")
    for name in ("v.npz", "v.parquet"):
        with pytest.raises(EmbeddingFileError, match="expected at most"):
            read_embeddings(files / name, max_bytes=47)


def test_array_cut_short_says_what_is_missing(files):
    (files / "ids.txt").write_text("a\nb\nc\nd\n")
    (files / "v.npy").write_bytes((files / "v.npy").read_bytes()[:-1])

    with pytest.raises(EmbeddingFileError, match=r"47 bytes .* expected 48 for its shape 4 x 3"):
        read_embeddings(files / "v.npy", ids=files / "ids.txt")


# --- bundles -------------------------------------------------------------------------------------


def parts(files, **more):
    np.savez(files / "q.npz", ids=np.array(["q"]), vectors=VECTORS[:1])
    np.save(files / "ids.npy", np.array(IDS))
    names = {QUERIES: "q.npz", DOCUMENTS: "v.npy", DOCUMENT_IDS: "ids.npy", **more}
    return {member: [(files / name).read_bytes()] for member, name in names.items() if name}


def test_bundle_comes_back_as_it_was_and_equal_files_are_equal_bytes(files):
    for name in ("one.zip", "two.zip"):
        pack(files / name, Settings("dot", 7), parts(files))

    bundle = read_bundle(files / "one.zip", folder=files / "unpacked")

    assert (files / "one.zip").read_bytes() == (files / "two.zip").read_bytes()
    assert is_bundle(files / "one.zip")
    assert not is_bundle(files / "q.npz")
    assert bundle.settings == Settings("dot", 7)
    assert_read(bundle.documents)
    assert list(bundle.queries.ids) == ["q"]


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (b"{}", "cannot be read"),
        (b"no", "cannot be read"),
        (b'{"format": 2, "similarity": "dot", "depth": 1}', "expected format 1"),
        (b'{"format": 1, "similarity": "l2", "depth": 1}', "one of dot, cosine"),
        (b'{"format": 1, "similarity": "dot", "depth": 5000}', "the depth is 5000"),
        (b'{"format": 1, "similarity": "dot", "depth": 1}', "lacks the query embeddings"),
    ],
)
def test_wrong_bundle_is_refused(files, manifest, words):
    with zipfile.ZipFile(files / "b.zip", "w") as archive:
        archive.writestr(MANIFEST, manifest)

    assert is_bundle(files / "b.zip")
    with pytest.raises(EmbeddingFileError, match=words):
        read_bundle(files / "b.zip", folder=files / "unpacked")


# --- wordllama -----------------------------------------------------------------------------------


@pytest.fixture
def no_network(monkeypatch):
    """Every attempt to reach another machine is an error, and is seen."""
    tried = []

    def refused(self, address, *rest):
        tried.append(address)
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    return tried


def test_wordllama_finds_meaning_without_a_network(no_network, monkeypatch, tmp_path):
    pytest.importorskip("wordllama")
    monkeypatch.setenv("HOME", str(tmp_path))  # nothing that was downloaded before
    static_vectors._model.cache_clear()
    documents = [("copy", "copy a directory tree"), ("cos", "cosine of an angle"), ("none", "")]

    index = model.build(documents)

    assert [docid for docid, _ in index.retrieve("duplicate a folder", k=1)] == ["copy"]
    assert dict(index.retrieve("trigonometry", k=3))["none"] == 0.0
    assert index.retrieve("", k=3) == [("none", 0.0), ("cos", 0.0), ("copy", 0.0)]
    assert no_network == []
    assert index.documents.vectors.shape == (3, 256)


def test_vectors_of_a_text_do_not_depend_on_its_neighbours():
    pytest.importorskip("wordllama")
    texts = ["short", "a longer text of several words", "", "word " * 300]

    together = model.encode(texts)

    for text, vector in zip(texts, together, strict=True):
        assert model.encode([text])[0] == pytest.approx(vector, rel=1e-5, abs=1e-6)


def test_missing_extra_is_named(monkeypatch):
    static_vectors._model.cache_clear()
    monkeypatch.setattr(static_vectors, "find_spec", lambda name: None)

    with pytest.raises(DemoExtraError, match=r"benchwright\[demo\]"):
        model.encode(["text"])
    assert not model.is_installed()

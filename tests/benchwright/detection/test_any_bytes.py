"""Whatever the bytes of a file, each detector answers; it never falls over."""

import gzip
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.detection import FileKind, Part, detect, guess, guess_as
from benchwright.detection.rows import query_rows
from benchwright.errors import BenchmarkError, Problems
from benchwright.files.inputs import FileInput
from benchwright.logs.tables import open_table
from benchwright.reading.shapes import qrels_shape, run_shape
from tests.examples import examples

TOKENS = [
    *(
        b"q1",
        b"d1",
        b"Q0",
        b"0",
        b"1",
        b"1.0",
        b"-1",
        b"0.5",
        b"nan",
        b"inf",
        b"1e400",
        b"9" * 5000,
    ),
    *(b"\xc2\xb2", b"\xd9\xa1", b"\xff", b"\xe9", b"\0", b"\r", b"\x0b", b"\xc2\xa0", b""),
    *(b"query_id", b"doc_id", b"rating", b"score", b"rank", b"text", b"_id", b"title", b"metadata"),
    *(b'"', b'""', b"'", b"#", b".I 1", b".T ", b"<top>", b"<DOC>", b"<DOCNO>", b"http://x"),
    *(b'{"_id": "d1", "text": 1}', b'{"query": [], "document": {}}', b"[" * 3000, b'{"a":' * 3000),
    *(b"PAR1", b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf", b"\xff\xfe"),
]
SEPARATORS = [b" ", b"\t", b",", b";", b"\n", b"\n", b"\r\n", b'","']
PIECES = st.lists(st.sampled_from(TOKENS) | st.binary(max_size=8), max_size=12)
_OUT = BytesIO()
pl.DataFrame({"query_id": ["q1"], "metadata": ["{}"], "score": [1.0]}).write_parquet(_OUT)
PARQUET = _OUT.getvalue()
# Cells in rows: what most files are; and what nobody would write.
FILES = st.one_of(
    st.binary(max_size=200),
    st.builds(
        lambda rows, cell: b"\n".join(cell.join(row) for row in rows),
        st.lists(st.lists(st.sampled_from(TOKENS), min_size=2, max_size=6), max_size=6),
        st.sampled_from(SEPARATORS),
    ),
    st.builds(lambda pieces, cell: cell.join(pieces), PIECES, st.sampled_from(SEPARATORS)),
    st.builds(
        lambda at, piece: PARQUET[:at] + piece + PARQUET[at + len(piece) :],
        st.integers(0, len(PARQUET)),
        st.binary(max_size=4),
    ),
)


def read_as_queries(given, folder):
    mapping = guess_as(FileKind.QUERIES, given, folder).mapping
    part = Part("", FileKind.QUERIES, mapping)
    return list(query_rows(part, given, folder=folder, problems=Problems(10**9)))


NAMES = st.sampled_from(["x", "queries.tsv", "corpus.jsonl", "qrels.csv", "a.parquet", "run.gz"])
DETECTORS = {
    "kind": lambda path, folder: guess(FileInput(path), folder).is_ready,
    "first lines": lambda path, _: detect(iter(path.read_bytes().splitlines(True)), path.name),
    "run": lambda path, _: run_shape(path),
    "qrels": lambda path, _: qrels_shape(path),
    "log": lambda path, _: open_table(path, file="f"),
    "queries": lambda path, folder: read_as_queries(FileInput(path), folder),
    **{
        f"as {kind}": lambda path, folder, kind=kind: guess_as(kind, FileInput(path), folder)
        for kind in FileKind
    },
}


@pytest.mark.parametrize("detector", DETECTORS)
@settings(max_examples=examples(120), suppress_health_check=list(HealthCheck), deadline=None)
@given(content=FILES, name=NAMES, is_packed=st.booleans())
def test_any_bytes_give_an_answer(detector, content, name, is_packed):
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(gzip.compress(content) if is_packed else content)
        work = Path(folder) / "work"
        work.mkdir()

        try:
            DETECTORS[detector](path, work)
        except BenchmarkError as refused:
            assert str(refused)

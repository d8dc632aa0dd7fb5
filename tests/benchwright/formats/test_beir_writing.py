import csv
import hashlib
import io
import json
import random
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from benchwright.errors import Problems
from benchwright.formats.beir import CorpusRow, QueryRow, open_beir
from benchwright.formats.beir_writing import (
    corpus_jsonl,
    id_hazard,
    metadata_shape,
    qrels_tsv,
    queries_jsonl,
    streamed_zip,
)
from benchwright.formats.errors import UnwritableRowError

TINY = Path(__file__).parents[3] / "fixtures" / "tiny_benchmark"


@pytest.fixture(scope="module")
def written():
    """Return what the writers make of the tiny benchmark: bytes by file name."""
    problems = Problems()
    beir = open_beir(TINY)
    documents = list(beir.corpus_rows(problems))
    queries = list(beir.queries_rows(problems))
    files = {
        "corpus.jsonl": corpus_jsonl(
            documents, shape=metadata_shape(row.metadata for row in documents)
        ),
        "queries.jsonl": queries_jsonl(
            queries, shape=metadata_shape(row.metadata for row in queries)
        ),
    }
    for split in beir.qrels_splits():
        rows = beir.qrels_rows(split, problems)
        files[f"qrels/{split}.tsv"] = qrels_tsv((row.qid, row.docid, row.grade) for row in rows)
    assert problems.found == []
    return {name: b"".join(pieces) for name, pieces in files.items()}


def records(data):
    return [json.loads(line) for line in data.decode().split("\n")[:-1]]


def qrels(written):
    tables = [data for name, data in written.items() if name.startswith("qrels/")]
    return [line.split("\t") for data in tables for line in data.decode().split("\n")[1:-1]]


# METHODS.md section 3.1, rule by rule


def test_written_files_are_those_of_the_fixture_byte_for_byte(written):
    assert written == {name: (TINY / name).read_bytes() for name in written}
    assert len(written) == 4


def test_rule_header_line_is_there(written):
    for name in ("qrels/dev.tsv", "qrels/test.tsv"):
        assert written[name].startswith(b"query-id\tcorpus-id\tscore\n")


def test_rule_score_is_an_integer_literal_and_none_is_negative(written):
    assert {score for _, _, score in qrels(written)} == {"0", "1", "2", "3"}


def test_rule_no_blank_line_and_lf_endings_and_no_bom(written):
    for data in written.values():
        assert data.endswith(b"\n")
        assert b"\n\n" not in data
        assert b"\r" not in data
        assert not data.startswith(b"\xef\xbb\xbf")
        data.decode("utf-8")


def test_rule_exactly_three_columns(written):
    assert {len(row) for row in qrels(written)} == {3}


def test_rule_ids_are_strings_even_where_they_are_digits(written):
    for name in ("corpus.jsonl", "queries.jsonl"):
        assert {type(record["_id"]) for record in records(written[name])} == {str}
    assert records(written["corpus.jsonl"])[0]["_id"] == "123"


def test_rule_qrels_ids_exist_in_queries_and_corpus(written):
    qids = {record["_id"] for record in records(written["queries.jsonl"])}
    docids = {record["_id"] for record in records(written["corpus.jsonl"])}

    assert {row[0] for row in qrels(written)} < qids
    assert {row[1] for row in qrels(written)} < docids
    assert not qids & docids


def test_rule_pairs_are_unique(written):
    pairs = [tuple(row[:2]) for row in qrels(written)]

    assert len(pairs) == len(set(pairs)) == 11


def test_rule_title_is_there_and_text_is_never_null(written):
    documents = records(written["corpus.jsonl"])

    assert [list(record) for record in documents] == [["_id", "title", "text", "metadata"]] * 8
    assert {type(record[key]) for record in documents for key in ("title", "text")} == {str}
    assert documents[2]["title"] == ""


def test_rule_one_object_a_line_with_non_ascii_kept_and_control_characters_escaped(written):
    data = written["corpus.jsonl"]

    assert "寿司".encode() in data
    assert "\u2028".encode() in data
    assert "\u0085".encode() in data
    assert b"\t" not in data
    assert b"Flour\\t500 g\\nWater" in data
    assert data.count(b"\n") == 8


def test_rule_sorted_by_id_bytes(written):
    for name in ("corpus.jsonl", "queries.jsonl"):
        ids = [record["_id"].encode() for record in records(written[name])]
        assert ids == sorted(ids)


def test_rule_metadata_has_the_same_keys_in_every_row(written):
    for name in ("corpus.jsonl", "queries.jsonl"):
        assert {tuple(record["metadata"]) for record in records(written[name])} == {("lang",)}


def test_all_zero_and_unjudged_queries_are_kept(written):
    qids = {record["_id"] for record in records(written["queries.jsonl"])}
    grades = {}
    for qid, _, score in qrels(written):
        grades.setdefault(qid, []).append(int(score))

    assert grades["q-all-zero"] == [0, 0]
    assert qids - set(grades) == {"q-unjudged"}


def test_a_loader_that_reads_as_beir_does_finds_every_row(written):
    """Our own words for the rules of METHODS.md 3.1: text mode, json per line, csv with a skip."""
    corpus = {}
    for line in io.TextIOWrapper(io.BytesIO(written["corpus.jsonl"]), encoding="utf8"):
        record = json.loads(line)
        corpus[record["_id"]] = (record.get("text"), record.get("title"))
    stream = io.StringIO(written["qrels/test.tsv"].decode(), newline="")
    reader = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
    next(reader)
    loaded = {(row[0], row[1]): int(row[2]) for row in reader}

    assert len(corpus) == 8
    assert corpus["d-separator"][0].count("\u2028") == 1
    assert len(loaded) == 7
    assert loaded["1", "123"] == 0


# What cannot be written


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("q", "d", -1)], "grade -1"),
        ([("q", "d", 1.0)], "grade 1.0"),
        ([("q", "d", True)], "grade True"),
        ([("q", "d", 128)], "grade 128"),
        ([("q", "b", 1), ("q", "a", 1)], "out of order"),
        ([("q", "a", 1), ("q", "a", 1)], "comes twice"),
        ([("q 1", "a", 1)], "white space"),
        ([("q", '"a', 1)], "begins with a quote"),
    ],
)
def test_a_judgment_that_readers_would_lose_is_refused(rows, words):
    with pytest.raises(UnwritableRowError, match=words):
        list(qrels_tsv(rows))


def test_documents_out_of_order_are_refused():
    rows = [CorpusRow(1, "é"), CorpusRow(2, "z")]

    with pytest.raises(UnwritableRowError, match=r"corpus\.jsonl: z: is out of order"):
        list(corpus_jsonl(rows, shape=metadata_shape([])))


def test_metadata_of_different_types_is_written_in_one_type_a_key():
    rows = [{"a": 1, "b": "x", "c": {"k": 1}, "d": ["y"]}, {"a": 1.5, "b": 2}, {"d": None}]

    shape = metadata_shape(rows)

    written = [shape.applied(row) for row in rows]
    assert written == [
        {"a": 1.0, "b": '"x"', "c": '{"k": 1}', "d": ["y"]},
        {"a": 1.5, "b": "2", "c": None, "d": None},
        {"a": None, "b": None, "c": None, "d": None},
    ]
    assert [shape.written.applied(row) for row in written] == written


def test_metadata_keyed_by_document_does_not_become_a_thousand_columns():
    rows = [{f"doc{n}": [n]} for n in range(100)]

    shape = metadata_shape(rows)

    assert shape.applied(rows[7]) == {"original": '{"doc7": [7]}'}
    assert shape.written.applied(shape.applied(rows[7])) == shape.applied(rows[7])
    query = QueryRow(1, "q", "x", rows[7])
    assert json.loads(b"".join(queries_jsonl([query], shape=shape)))["_id"] == "q"


@pytest.mark.parametrize("text", ["007", "00", "NA", "nan", "None", '"q'])
def test_ids_that_type_guessing_readers_change_are_named(text):
    assert id_hazard(text)


@pytest.mark.parametrize("text", ["0", "7", "123", "d-007", "nana"])
def test_ids_that_every_reader_keeps_are_not(text):
    assert id_hazard(text) is None


# The zip


def test_the_zip_is_read_by_others_and_has_the_same_bytes_each_time(written, tmp_path):
    members = [(f"tiny/{name}", [data]) for name, data in written.items()]

    first, second = (b"".join(streamed_zip(members)) for _ in range(2))

    assert hashlib.sha256(first).digest() == hashlib.sha256(second).digest()
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert archive.testzip() is None
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        archive.extractall(tmp_path)
    assert (tmp_path / "tiny" / "corpus.jsonl").read_bytes() == written["corpus.jsonl"]


def test_our_own_reader_takes_the_zip(written, tmp_path):
    path = tmp_path / "tiny.zip"
    path.write_bytes(b"".join(streamed_zip((f"tiny/{n}", [d]) for n, d in written.items())))

    with open_beir(path) as beir:
        assert len(list(beir.corpus_rows(Problems()))) == 8
        assert beir.qrels_splits() == ["dev", "test"]


def test_the_zip_does_not_depend_on_how_the_content_came_in_pieces():
    data = random.Random(5).randbytes(300_000)
    whole = [("t/a", [data])]
    pieces = [("t/a", [data[i : i + 65536] for i in range(0, len(data), 65536)])]

    def content(members):
        with zipfile.ZipFile(io.BytesIO(b"".join(streamed_zip(members)))) as archive:
            return archive.read("t/a")

    assert content(whole) == content(pieces) == data


def test_the_zip_takes_constant_memory():
    piece = random.Random(5).randbytes(100_000)
    tracemalloc.start()

    size = sum(len(part) for part in streamed_zip([("t/a", (piece for _ in range(500)))]))

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > 40_000_000
    assert peak < 4_000_000


def test_a_zip_that_broke_off_in_the_middle_cannot_be_taken_for_a_whole_one():
    def broken():
        yield b"x" * 100_000
        raise RuntimeError("the disk went away")

    parts = []
    with pytest.raises(RuntimeError, match="the disk went away"):
        parts.extend(streamed_zip([("t/a", [b"1"]), ("t/b", broken())]))

    assert not zipfile.is_zipfile(io.BytesIO(b"".join(parts)))


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["corpus.jsonl"], "one top folder"),
        (["t/../evil"], "one top folder"),
        (["/t/a"], "one top folder"),
        (["t/a", "u/b"], "outside the top folder"),
        (["t/a", "t/a"], "comes twice"),
    ],
)
def test_names_that_would_unpack_elsewhere_are_refused(names, words):
    with pytest.raises(UnwritableRowError, match=words):
        list(streamed_zip((name, [b"x"]) for name in names))

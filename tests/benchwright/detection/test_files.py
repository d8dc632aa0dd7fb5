"""What a file is: its content tells, and its name only where that leaves it open."""

import gzip
import json
import os
import time
from pathlib import Path

import polars as pl
import pytest
import zstandard

from benchwright.detection import FileKind, detect, guess, guess_as, part_of
from benchwright.detection.rows import document_rows
from benchwright.errors import ArchiveError, Problems
from benchwright.files.inputs import FileInput
from benchwright.formats.errors import UnreadableKindError
from benchwright.formats.mapping import PARENT_FROM_ID
from benchwright.formats.tables import head_of, layout_of, sample

DATA = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", Path(__file__).parents[4] / "shared" / "data"))
LONG = "a text of many words " * 20


def told(tmp_path, content: bytes | str, name: str):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return guess(FileInput(path), tmp_path)


@pytest.mark.parametrize("between", [",", ", ", ",\n", ", \r\n ", "\n,", ",\n\n"])
@pytest.mark.parametrize("begin", ["[", "[\n", " [ "])
def test_list_of_objects_is_read_however_its_lines_are_broken(tmp_path, between, begin):
    """PostgreSQL's json_agg has an object a line, the first behind the bracket."""
    rows = [{"query_id": f"q{n}", "doc_id": f"d{n}", "grade": n % 3} for n in range(30)]
    text = f"{begin}{between.join(map(json.dumps, rows))}]\n"

    assert told(tmp_path, text, "x.json").kind is FileKind.QREL_TABLE
    file = FileInput(tmp_path / "x.json")
    layout = layout_of(file, head_of(file), tmp_path)
    assert len([row for _, row in sample(file, layout, folder=tmp_path, n=99)]) == 30


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("x", '{"_id": "d1", "title": "", "text": "t"}\n', FileKind.CORPUS),
        ("x", '{"_id": "q1", "text": "short"}\n', FileKind.QUERIES),
        ("x", json.dumps({"_id": "d1", "text": LONG}), FileKind.CORPUS),
        ("corpus.jsonl", '{"_id": "d1", "text": "short"}\n', FileKind.CORPUS),
        ("x", '{"docid": "1#0", "title": "t", "text": "t"}\n', FileKind.DOCUMENTS),
        ("x", '{"query_id": "1", "query": "q", "positive_passages": []}\n', FileKind.PASSAGES),
        ("x", '{"query": "q1", "document": "d1", "grade": 1}\n', FileKind.QREL_TABLE),
        ("x", '{"qid": "q1", "docid": "d1", "score": 0.25}\n', FileKind.RUN_TABLE),
        ("x", "<top>\n<num> Number: 1\n", FileKind.TOPICS),
        ("x", "<DOC>\n<DOCNO>1</DOCNO>\nwords\n</DOC>\n", FileKind.DOCUMENTS),
        ("topics.xml", "<DOC>\n<DOCNO>1</DOCNO>\nwords\n</DOC>\n", FileKind.TOPICS),
        ("x", ".I 1\n.T\nTitle\n.W\nwords\n", FileKind.DOCUMENTS),
        ("cran.qry", ".I 1\n.W\nwords\n", FileKind.QUERIES),
        ("x", "q1 0 d1 1\nq1 0 d2 -2\n", FileKind.QRELS),
        ("x", "q1\tQ0\td1\t1\n", FileKind.QRELS),
        ("x", "query-id\tcorpus-id\tscore\nq1\td1\t1\n", FileKind.BEIR_QRELS),
        ("x", "q1 Q0 d1 1 0.5 tag\n", FileKind.RUN),
        ("x", "# ir_metadata.start\n# tag: x\nq1 Q0 d1 1 0.5 tag\n", FileKind.RUN),
        ("x", "7\t12\t1\n7\t44\t2\n8\t9\t1\n", FileKind.RUN_TABLE),
        ("x", "7\t12\t1\n7\t44\t1\n8\t9\t0\n", FileKind.QREL_TABLE),
        ("x", "q1 d1 1.0\nq1 d2 0.0\n", FileKind.QREL_TABLE),
        ("x", "q1,d1,1.0\nq1,d2,0.0\n", FileKind.QREL_TABLE),
        ("x", '"q1","d1","2"\n"q1","d2","0"\n', FileKind.QREL_TABLE),
        ("x", '"query_id","doc_id","score"\n"q1","d1","2"\n', FileKind.QREL_TABLE),
        ("x", "q1 0 d1 1.0\nq1 0 d2 0.0\n", FileKind.QRELS),
        ("x", "q1\td1\t0.5\nq1\td2\t1.0\n", None),
        ("x", "query_id,doc_id,rank,rating\nq1,d1,1,2\n", None),
        ("x", "7\tdate\n8\tvalue of time\n", FileKind.QUERIES),
        ("x", "1 184 1\n1 29 1\n1 31 3\n2 12 -1\n", FileKind.QREL_TABLE),
        ("x", "7\tquery 12\n8\tquery 13\n", FileKind.QUERIES),
        ("x", "7\twhat is 12\n8\twhat is 13\n", FileKind.QUERIES),
        ("x", "d1\nd2\n", FileKind.IDS),
        ("x", "qid,text\nq1,how\n", FileKind.QUERIES),
        ("x", "qid;text\nq1;how\n", FileKind.QUERIES),
        ("x", "doc_id,title,abstract\nd1,t,a\n", FileKind.DOCUMENTS),
        ("x", "query_id,docid,relevance\nq1,d1,1\n", FileKind.QREL_TABLE),
        ("x", "query_id,docid,rank,score\nq1,d1,1,0.5\n", FileKind.RUN_TABLE),
        ("collection.tsv", "1\tshort\n", FileKind.DOCUMENTS),
        ("german_queries.dev.tsv", "1\tkurz\n", FileKind.QUERIES),
        ("docs.tsv", f"1\t{LONG}\n", FileKind.DOCUMENTS),
        ("x", f"1\t{LONG}\n2\t{LONG}\n", FileKind.DOCUMENTS),
        ("x", "D1\thttps://x.org\tOn birds\tThey fly.\n", FileKind.DOCUMENTS),
        ("x", "query-id\tfamily\nq1\tq1\n", FileKind.FAMILIES),
        ("x", "query-id\tslice\nq1\thead\n", FileKind.SLICES),
        ("x", "query-id\tweight\nq1\t2.5\n", FileKind.WEIGHTS),
        ("x", "first words\nand other words\n", None),
    ],
)
def test_the_kind_is_told_by_the_first_lines(tmp_path, name, content, kind):
    assert told(tmp_path, content, name).kind == kind
    assert told(tmp_path, b"\xef\xbb\xbf" + content.encode(), f"bom-{name}").kind == kind
    assert told(tmp_path, gzip.compress(content.encode()), f"{name}.gz").kind == kind
    assert told(tmp_path, zstandard.compress(content.encode()), f"{name}.zst").kind == kind


def test_what_lines_alone_tell_needs_no_file():
    assert detect(iter([b"q1 0 d1 1\n"]), "x") is FileKind.QRELS
    assert detect(iter([b"words of mine\n"]), "x") is None


def test_a_parquet_file_is_told_by_its_columns(tmp_path):
    for name, columns, kind in (
        ("a", {"_id": ["d1"], "title": ["t"], "text": ["t"]}, FileKind.DOCUMENTS),
        ("b", {"query-id": ["q1"], "corpus-id": ["d1"], "score": [2]}, FileKind.QREL_TABLE),
        ("c", {"qid": [1], "query": ["what"]}, FileKind.QUERIES),
    ):
        pl.DataFrame(columns).write_parquet(tmp_path / name)
        guessed = guess(FileInput(tmp_path / name), tmp_path)
        assert guessed.kind == kind
        assert guessed.columns == tuple(columns)


def test_metadata_that_is_json_text_stays_under_its_names(tmp_path):
    metadata = {"link": "http://x", "parent": "p1", "path": "a.py", "pmid": ""}
    row = {"_id": "d1", "title": "t", "text": "x", "metadata": json.dumps(metadata)}
    pl.DataFrame([row]).write_parquet(tmp_path / "f")
    file = FileInput(tmp_path / "f")

    guessed = guess(file, tmp_path)
    part = part_of("f", guessed)
    [document] = document_rows(part, file, folder=tmp_path, problems=Problems())

    assert guessed.mapping == {"id": "_id", "title": "title", "text": "text"}
    assert document.metadata == metadata


@pytest.mark.parametrize(
    ("content", "mapping"),
    [
        ("doc_id,title,abstract,year\n1,t,a,1999\n", ("doc_id", "title", "abstract", None)),
        ("id\tbody\turl\n1\tb\thttp://x\n", ("id", None, "body", "url")),
    ],
)
def test_columns_are_found_by_their_names(tmp_path, content, mapping):
    result = told(tmp_path, content, "x").mapping

    assert tuple(result.get(name) for name in ("id", "title", "text", "url")) == mapping


def test_ids_of_passages_name_their_document(tmp_path):
    lines = [json.dumps({"docid": f"7#{n}", "title": "t", "text": "x"}) for n in range(3)]

    assert told(tmp_path, "\n".join(lines), "x").mapping["parent"] == PARENT_FROM_ID


@pytest.mark.parametrize(
    ("docid", "is_passage"),
    [("7#1", True), ("a#b#2", True), ("#1", False), ("7#", False), ("7#x", False), ("71", False)],
)
def test_id_of_a_passage_is_a_document_and_a_number(tmp_path, docid, is_passage):
    line = json.dumps({"docid": docid, "title": "t", "text": "x"})

    assert (told(tmp_path, line, "x").mapping.get("parent") == PARENT_FROM_ID) is is_passage


def test_long_id_is_looked_at_once(tmp_path):
    line = json.dumps({"docid": "a" * 40_000, "title": "t", "text": "x"})
    started = time.process_time()

    told(tmp_path, line, "x")

    assert time.process_time() - started < 1


def test_a_table_without_header_has_the_columns_of_its_layout(tmp_path):
    documents = told(tmp_path, "D1\thttps://x.org\tOn birds\tThey fly.\n", "docs.tsv")
    run = told(tmp_path, "7\t12\t1\n7\t44\t2\n", "run.tsv")

    assert list(documents.mapping) == ["id", "url", "title", "text"]
    assert list(run.mapping) == ["query", "document", "rank"]


def test_documents_in_the_second_of_four_columns_are_not_read_as_trec(tmp_path):
    output = told(tmp_path, "01 1410  0 0\n01 1572  0 0\n01 1605  0 0\n02 2434  0 0\n", "qrels")

    assert output.kind is FileKind.QREL_TABLE
    assert list(output.mapping) == ["query", "document"]
    assert "documents are taken from the second" in output.doubt
    assert not output.is_ready  # that every row is relevant, somebody must say


def test_grades_beside_documents_in_the_second_column_are_taken(tmp_path):
    output = told(tmp_path, "1 a 0 0\n1 b 0 2\n1 c 0 1\n2 d 0 0\n", "qrels")

    assert output.mapping["grade"] == "column 4"


def test_a_language_is_read_from_the_names_of_its_files(tmp_path):
    for name, lang in (
        ("topics.miracl-v1.0-sw-dev.tsv", "sw"),
        ("japanese_queries.train.tsv", "ja"),
        ("queries.tsv", ""),
    ):
        assert told(tmp_path, "1\tq\n", name).lang == lang


def test_a_header_that_a_person_denies_is_a_row(tmp_path):
    (tmp_path / "x").write_text("qid,text\nq1,how\n")

    result = guess_as(FileKind.QUERIES, FileInput(tmp_path / "x"), tmp_path, has_header=False)

    assert result.columns == ("column 1", "column 2")
    assert dict(result.mapping) == {"id": "column 1", "text": "column 2"}


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (b"%PDF-1.4\n", "is a PDF"),
        (b"\x89PNG\r\n", "is a picture"),
        (b"SQLite format 3\x00", "is a database. Export its tables as CSV"),
        (b"7z\xbc\xaf\x27\x1c", "is a 7z archive. Pack the files as zip"),
        (b"BZh91AY", "is compressed with bzip2. Compress it with gzip or zstd"),
        (b"\x00\x01\x02\x03", "is no text. Texts in UTF-8 and Parquet are taken"),
    ],
)
def test_files_that_are_never_taken_say_what_to_do(tmp_path, start, words):
    with pytest.raises(UnreadableKindError, match=words):
        told(tmp_path, start, "x")


REAL = """
scifact/queries.jsonl queries
scifact/qrels/test.tsv beir-qrels
cacm/cacm.all.gz documents
cacm/query.text queries
cacm/qrels.cacm.txt qrels
cacm/topics.cacm.txt topics
cacm/cacm-bm25.txt run
cranfield/cran.all.1400 documents
cranfield/cran.qry queries
cranfield/cranqrel qrel-table
cranfield/runs/bm25_stem.gz run
vaswani/doc-text.trec.gz documents
vaswani/query-text.trec topics
vaswani/qrels qrels
trec_covid_round1/qrels.covid-round1.txt qrels
trec_covid_round1/topics.covid-round1.xml topics
trec_covid_round1/runs/BERT.gz run
qrels_topics_only/miracl/topics.miracl-v1.0-yo-dev.tsv queries
qrels_topics_only/miracl/qrels.miracl-v1.0-yo-dev.tsv qrels
qrels_topics_only/beir/topics.beir-v1.0.0-nfcorpus.test.tsv.gz queries
qrels_topics_only/trec_dl/topics.dl20.txt queries
timestamped_topics/qrels.microblog2011.txt.gz qrels
"""


@pytest.mark.skipif(not DATA.is_dir(), reason=f"BENCHWRIGHT_TEST_DATA: no {DATA}")
@pytest.mark.parametrize("line", REAL.strip().splitlines(), ids=lambda line: line.split()[0])
def test_files_of_real_collections_are_known_and_ready(tmp_path, line):
    name, kind = line.split()

    guessed = guess(FileInput(DATA / name), tmp_path)

    assert guessed.kind == kind
    assert guessed.is_ready


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_table_of_more_columns_than_anybody_chooses_from_is_refused(tmp_path, separator):
    row = separator.join(f"c{n}" for n in range(6_000))

    with pytest.raises(UnreadableKindError, match=r"x.csv is a table of 6,000 columns. At most"):
        told(tmp_path, f"{row}\n{row}\n", "x.csv")


def test_sample_of_a_file_of_bad_records_ends_long_before_the_file(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("qid,query\nq1,one\n" + "x\n" * 50_000)
    source = FileInput(path)
    n_read = 0

    def lines():
        nonlocal n_read
        for line in path.read_bytes().splitlines(keepends=True):
            n_read += 1
            yield line

    monkeypatch.setattr(source, "lines", lines)
    layout = layout_of(source, head_of(source), tmp_path)

    assert [row for _, row in sample(source, layout, folder=tmp_path, n=50)] == [
        {"qid": "q1", "query": "one"}
    ]
    assert n_read < 2_000


def test_parquet_that_memory_does_not_suffice_for_is_not_called_damaged(tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    pl.DataFrame({"docid": ["d1"], "text": ["a text"]}).write_parquet(path)
    error = pl.exceptions.ComputeError("Cannot allocate memory to hold CompactString")

    def refuse(*args, **options):
        raise error

    monkeypatch.setattr(pl, "scan_parquet", refuse)

    with pytest.raises(ArchiveError, match=r"takes more memory than there is .* shorter cells"):
        guess(FileInput(path), tmp_path)

"""Queries from files, and `benchwright families`."""

import gzip

import pytest
from click.testing import CliRunner

from benchwright.cli.collections.families import command
from benchwright.errors import ArchiveError, FileProblemsError
from benchwright.families.errors import QueryFileError
from benchwright.families.query_files import read_query_texts


def read(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [(query.qid, query.text) for query in read_query_texts(path)]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("q.txt", "first\n\nthird\n", [("1", "first"), ("3", "third")]),
        ("q.tsv", "a\tone\nb\ttwo\textra\n", [("a", "one"), ("b", "two")]),
        ("q.tsv", "query\tn\tqid\r\none, two\t1\ta\r\n", [("a", "one, two")]),
        ("q.csv", 'id,text\na,"one, two"\n', [("a", "one, two")]),
        ("q.jsonl", '{"_id": "a", "text": "one"}\n{"qid": 2, "query": "two"}', [("a", "one"),
         ("2", "two")]),
        ("q.tsv.gz", gzip.compress("\ufeffa\tone\n".encode(), mtime=0), [("a", "one")]),
        ("q", 'id,text\na,"one, two"\n', [("a", "one, two")]),
        ("q.CSV", "a,one\nb,two\n", [("a", "one"), ("b", "two")]),
        ("q.csv", 'id,text\na,"one\n\ntwo, three"\nb,four\n', [("a", "one\n\ntwo, three"),
         ("b", "four")]),
        ("q.csv", "sep=;\n\nQuery ID;Search Text;Text\na;x;one, two\n", [("a", "one, two")]),
        ("q.txt", "one, two; three\nid, text of a passport\n", [("1", "one, two; three"),
         ("2", "id, text of a passport")]),
        ("q.xml", "<top>\n<num> Number: a\n<title> one\n</top>\n", [("a", "one")]),
    ],
)  # fmt: skip
def test_each_shape_of_file_is_read(tmp_path, name, content, expected):
    assert read(tmp_path, name, content) == expected


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("q.tsv", "a\tone\nb\n", "q.tsv:2: has fewer than 2 columns"),
        ("q.tsv", "a\tone\na\ttwo\n", "q.tsv:2: query 'a' was on line 1 before"),
        ("q.tsv", "a\tone\nb\t \n", "q.tsv:2: has no id or no text"),
        ("q.jsonl", '{"_id": "a", "text": "one"}\n{"_id"\n', "q.jsonl:2: is no JSON object"),
        ("q.jsonl", '{"_id": "a", "text": "one"}\n["b"]\n', "q.jsonl:2: is no JSON object"),
        ("q.jsonl", '{"_id": "a", "text": "one"}\n' + '{"a":' * 100_000, "q.jsonl:2: is no JSON"),
        ("q.jsonl", '{"_id": "a", "text": "one \\ud800"}\n', "q.jsonl:1: the text holds half a"),
        ("q.txt", b"one\n\xff\xfe\n", "q.txt:2: is not UTF-8"),
        ("q.txt", b"\xff\none\n", "q.txt:1: is not UTF-8"),
        ("q.csv", 'id,text\na,"one\ntwo"\nb\n', "q.csv:4: has fewer than 2 columns"),
        ("q.csv", 'id,text\na,"one\nb,two\n', "q.csv:2: is not CSV: unexpected end of data"),
        ("q.xml", "<top>\n<num> Number: a\n</top>\n", "q.xml:1: topic 'a' has no text"),
        (
            *("q.jsonl", '{"_id": "a\\tb", "text": "one"}\n'),
            r"q.jsonl:1: query id 'a\tb': the id holds white space (U+0009)",
        ),
    ],
)
def test_every_wrong_line_is_named(tmp_path, name, content, words):
    with pytest.raises(FileProblemsError) as raised:
        read(tmp_path, name, content)

    assert words in str(raised.value)


def test_a_file_that_has_no_lines_is_named_as_what_it_is(tmp_path):
    with pytest.raises(ArchiveError, match=r"q\.txt: is a picture; expected lines of text"):
        read(tmp_path, "q.txt", b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize("content", ["", "\n\n", "qid\ttext\n"])
def test_a_file_without_a_query_is_refused(tmp_path, content):
    with pytest.raises(QueryFileError, match="holds no query"):
        read(tmp_path, "q.tsv", content)


QUERIES = "1\tDo goldfish grow?\n2\tdo goldfish  grow\n3\tdo golddish grow\n4\tcost of a house\n"


def test_the_command_writes_families_and_links(tmp_path):
    (tmp_path / "q.tsv").write_text(QUERIES)
    out, links = tmp_path / "families.tsv", tmp_path / "links.tsv"

    result = CliRunner().invoke(
        command, [str(tmp_path / "q.tsv"), "-o", str(out), "--links", str(links)]
    )

    assert result.output.startswith("2 families of 4 queries, 1 of several; 2 links; 1 family")
    rows = [line.split("\t")[:2] for line in out.read_text().splitlines()]
    assert rows == [["query-id", "family"], ["1", "1"], ["2", "1"], ["3", "1"], ["4", "4"]]
    reasons = [line.split("\t")[2] for line in links.read_text().splitlines()]
    assert reasons == ["reason", "exact", "text"]


def test_the_command_counts_relevant_documents(tmp_path):
    (tmp_path / "q.tsv").write_text("1\taaaa\n2\tbbbb\n3\tcccc\n")
    (tmp_path / "qrels").write_text("1 0 d1 1\n2 0 d1 2\n3 0 d1 0\n")

    result = CliRunner().invoke(
        command, [str(tmp_path / "q.tsv"), "--qrels", str(tmp_path / "qrels")]
    )

    assert "2\t1\t" in result.stdout and "3\t3\t" in result.stdout
    assert "2 families of 3 queries" in result.stderr


@pytest.mark.data
def test_copies_across_the_line_of_banking77_are_found(data):
    """6 questions of test are in train letter for letter, 25 without case and punctuation."""
    import csv

    from benchwright.families import exact_key, similar_pairs

    folder = data / "query_families" / "banking77"
    with gzip.open(folder / "train.csv.gz", "rt", newline="") as table:
        train = [row["text"] for row in csv.DictReader(table)]
    with (folder / "test.csv").open(newline="") as table:
        test = [row["text"] for row in csv.DictReader(table)]
    letters, keys = {text.strip() for text in train}, {exact_key(text) for text in train}

    exact = [n for n, text in enumerate(test) if text.strip() in letters]
    equal = [n for n, text in enumerate(test) if exact_key(text) in keys]
    near = set(similar_pairs(test, train, threshold=0.8).a.tolist())

    assert len(exact) == 6
    assert len(equal) == 26  # the 25, and "isn't" beside "isnt"
    assert set(exact) <= set(equal) <= near


def test_the_command_refuses_a_word_that_is_no_language(tmp_path):
    (tmp_path / "q.txt").write_text("one\n")

    done = CliRunner().invoke(command, [str(tmp_path / "q.txt"), "--language", "klingon"])

    assert done.exit_code != 0
    assert "'klingon' is no language we know" in str(done.exception)

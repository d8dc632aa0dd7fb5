"""Tables of slices, families and parents: what they say, and what is refused with its line."""

import gzip

import pytest

from benchwright.errors import FileProblemsError, MissingFileError, Problems
from benchwright.formats import pairs
from benchwright.formats.side_tables import (
    read_families,
    read_parents,
    read_slices,
    read_weights,
    warn_of_unknown,
)


@pytest.fixture
def table(tmp_path):
    def written(content):
        path = tmp_path / "table.tsv"
        path.write_bytes(content)
        return path

    return written


def test_query_may_be_in_several_slices(table):
    path = table(b"q1\thead\nq1\tlong\nq2\thead\n")

    assert read_slices(path) == {"head": [b"q1", b"q2"], "long": [b"q1"]}


@pytest.mark.parametrize("name", [b"query-id", b"query_id", b"Query ID"])
def test_header_comments_blank_lines_mark_and_line_ends_are_passed_over(table, name):
    path = table(b"\xef\xbb\xbf" + name + b"\tslice\r\n# note\r\n\r\nq1\ta slice\r\n")

    assert read_slices(path) == {"a slice": [b"q1"]}


def test_ids_stay_bytes_and_names_become_text(table):
    path = table(b"\xff\tf\xc3\xa4\n")

    assert read_families(path) == {b"\xff": "fä"}


def test_families_and_parents_keep_the_order_of_the_file(table):
    path = table(b"p2\td\np1\td\n")

    assert list(read_parents(path).items()) == [(b"p2", b"d"), (b"p1", b"d")]


def test_compressed_table_is_read(table):
    assert read_families(table(gzip.compress(b"q1\tf\n"))) == {b"q1": "f"}


@pytest.mark.parametrize(
    ("read", "content", "words"),
    [
        (read_slices, b"q1 head\n", "table.tsv:1: 1 column; expected 2 .query-id, slice. sep"),
        (read_slices, b"q1\ta\nq2\tb\tc\n", "table.tsv:2: 3 columns; expected 2"),
        (read_slices, b"q1\t\n", "table.tsv:1: 1 column; expected 2"),
        (
            read_families,
            b"q1\tf\n\nq1\tg\n",
            "table.tsv:3: query 'q1' was in line 1 already, with family 'f' and here 'g'; "
            "expected one family. Drop one of the two.",
        ),
        (
            read_weights,
            b"q1\t1_0\n",
            "the weight of query 'q1' is '1_0'; expected a number above 0",
        ),
        (read_parents, b"p\td\np\te\n", "table.tsv:2: passage 'p' was in line 1 .* one document"),
    ],
)
def test_wrong_line_is_refused_with_its_place(table, read, content, words):
    with pytest.raises(FileProblemsError, match=words):
        read(table(content))


@pytest.mark.parametrize("read", [read_slices, read_families, read_parents])
def test_same_row_twice_is_only_warned_of(table, read):
    problems = Problems()

    read(table(b"q1\ta\nq1\ta\n"), problems=problems)

    assert [warning.line for warning in problems.warnings] == [2]
    assert problems.found == []


def test_missing_table_is_told(tmp_path):
    with pytest.raises(MissingFileError, match=r"none\.tsv: no file found"):
        read_slices(tmp_path / "none.tsv")


def test_queries_that_the_qrels_lack_are_told_once(tmp_path):
    problems = Problems()

    warn_of_unknown(tmp_path / "a.tsv", [b"q1", b"q9", b"q9"], {b"q1": {}}, problems=problems)

    (warning,) = problems.warnings
    assert str(warning) == "a.tsv: 1 query is not in the qrels and was passed over: 'q9'"


def test_a_file_of_families_means_the_same_to_a_command_and_to_a_site(tmp_path):
    content = b"\xef\xbb\xbfQuery-ID\tgroup\r\n# of March\r\n\r\nq1\ta\r\nq2\tb\r\n"
    (tmp_path / "families.tsv").write_bytes(content)
    problems = Problems()

    of_command = read_families(tmp_path / "families.tsv")
    of_site = pairs.read_families(content.splitlines(True), file="f", problems=problems)

    assert of_command == {b"q1": "a", b"q2": "b"}
    assert (of_site, problems.found) == ({"q1": "a", "q2": "b"}, [])

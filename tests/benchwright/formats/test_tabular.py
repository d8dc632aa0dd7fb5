from benchwright.errors import Problems
from benchwright.formats.beir import CorpusRow
from benchwright.formats.tabular import docid_rows


def test_a_list_of_ids_makes_documents_without_text():
    problems = Problems()
    lines = iter([b"docid\n", b"d1\n", b"d 2\n", b"d3\n"])

    rows = list(docid_rows(lines, file="f", problems=problems))

    assert rows == [CorpusRow(2, "d1"), CorpusRow(4, "d3")]
    assert [problem.line for problem in problems.found] == [3]

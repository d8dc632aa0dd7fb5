"""Passages and their documents: in a corpus, in a run, and mixed up."""

import pytest

from benchwright.corpora.errors import UnknownUnitError
from benchwright.corpora.store import CorpusReader, natural_key, write_corpus
from benchwright.corpora.units import Parents, read_unit, with_parents
from benchwright.errors import FileProblemsError, Problems
from benchwright.formats.beir import CorpusRow


def with_parents_of(rows, how=Parents.STATED):
    problems = Problems()
    items = list(with_parents(rows, how, file="c.jsonl", problems=problems))
    return items, [str(problem) for problem in problems.found]


def test_a_parent_is_read_from_the_column_and_from_either_key_of_the_metadata():
    rows = [
        CorpusRow(1, "p1", parent="a"),
        CorpusRow(2, "p2", metadata={"parent_id": "b"}),
        CorpusRow(3, "p3", metadata={"parent": "c", "year": 1}),
        CorpusRow(4, "p4", metadata={"parent_id": 0}),
    ]

    parents, problems = with_parents_of(rows)

    assert [row.parent for row in parents] == ["a", "b", "c", "0"]
    assert not problems
    # An export carries it, and an import of the export finds it again.
    assert parents[0].metadata == {"parent_id": "a"}
    assert parents[2].metadata == {"parent": "c", "year": 1}
    assert parents[3].metadata == {"parent_id": 0}


def test_ids_are_taken_apart_only_where_that_is_asked_for():
    rows = [CorpusRow(1, "12#0"), CorpusRow(2, "12#1")]

    assert [row.parent for row in with_parents_of(rows)[0]] == ["", ""]
    assert [row.parent for row in with_parents_of(rows, Parents.IDS)[0]] == ["12", "12"]


def test_a_row_without_parent_among_others_is_named_with_one_that_has_it():
    rows = [CorpusRow(1, "p1", parent="a"), CorpusRow(2, "p2"), CorpusRow(3, "p3")]

    _, problems = with_parents_of(rows)

    assert problems == [
        "c.jsonl:2: passage 'p2' names no parent, while 'p1' does; give every row one, or none"
    ]


def test_a_first_row_without_parent_is_named_as_well():
    _, problems = with_parents_of([CorpusRow(1, "p1"), CorpusRow(2, "p2", parent="a")])

    assert problems == [
        "c.jsonl: passage 'p1' names no parent, while 'p2' does; give every row one, or none"
    ]


def test_an_id_that_is_not_of_the_form_is_named_where_ids_are_taken_apart():
    _, problems = with_parents_of([CorpusRow(1, "12#0"), CorpusRow(7, "13")], Parents.IDS)

    assert problems == [
        "c.jsonl:7: '13' is no passage id; expected DOCUMENT#PASSAGE in every row, as in 12#0. "
        "Mend it, or map a parent column."
    ]


def test_unknown_unit_is_refused_with_those_there_are():
    with pytest.raises(UnknownUnitError, match=r"'chapter' is not a unit\. Choose one of: passage"):
        read_unit("chapter")


@pytest.fixture
def reader(tmp_path):
    rows = [
        CorpusRow(1, "a#10", "A", "ten", parent="a"),
        CorpusRow(2, "a#2", "A", "two", parent="a"),
        CorpusRow(3, "b#0", "B", "zero", parent="b"),
    ]
    corpus = write_corpus(rows, directory=tmp_path, problems=Problems(), file="c.jsonl")
    assert corpus.n_parents == 2
    return CorpusReader(corpus.parquet, corpus.index)


def test_passages_come_in_the_natural_order_of_their_ids(reader):
    assert [passage.docid for passage in reader.passages(["a", "zzz"])["a"]] == ["a#2", "a#10"]
    assert sorted(["p10", "p9", "p-1"], key=natural_key) == ["p9", "p10", "p-1"]


def test_a_document_is_put_together_of_its_passages(reader):
    document = reader.documents(["a"])["a"]

    assert (document.title, document.text) == ("A", "two\n\nten")


def test_all_documents_come_by_the_bytes_of_their_ids(reader, monkeypatch):
    monkeypatch.setattr("benchwright.corpora.store.DOCUMENTS_AT_ONCE", 1)

    items = list(reader.iterate_documents())

    assert [(item.docid, item.text) for item in items] == [("a", "two\n\nten"), ("b", "zero")]


def test_parents_first_passages_and_what_is_neither(reader, monkeypatch):
    for few in (2_000, 0):  # looked up one by one, and read whole
        monkeypatch.setattr("benchwright.corpora.store.FEW", few)
        assert reader.parents_of(["a#2", "b#0", "q"]) == {"a#2": "a", "b#0": "b"}
        assert reader.first_passages(["a", "b", "q"]) == {"a#2", "b#0"}
    assert reader.missing_parents(["a", "a#2", "q"]) == {"a#2", "q"}
    assert reader.missing(["a", "a#2"]) == {"a"}


def test_a_stored_passage_keeps_its_parent(reader):
    assert reader.get(["a#2"])["a#2"].parent == "a"
    assert [passage.docid for passage in reader.at([2, 0])] == ["a#10", "b#0"]


def test_a_corpus_that_mixes_units_is_refused_with_an_example_of_each(tmp_path):
    rows = [CorpusRow(1, "a#0", parent="a"), CorpusRow(2, "a", parent="x")]

    with pytest.raises(FileProblemsError) as raised:
        write_corpus(rows, directory=tmp_path / "made", problems=Problems(), file="c.jsonl")

    assert str(raised.value) == (
        "c.jsonl: 'a' is a document of its own and also the parent of passage 'a#0': passages and "
        "documents are mixed. Keep one of the units."
    )
    assert list((tmp_path / "made").iterdir()) == []


def test_documents_without_parents_are_stored_as_ever(tmp_path):
    corpus = write_corpus([CorpusRow(1, "a")], directory=tmp_path, problems=Problems(), file="c")
    reader = CorpusReader(corpus.parquet, corpus.index)

    assert not reader.has_parents
    assert corpus.n_parents == 0
    assert reader.passages(["a"]) == {}
    assert reader.missing_parents(["a"]) == {"a"}

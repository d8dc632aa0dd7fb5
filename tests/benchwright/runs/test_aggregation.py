"""Passages to documents: four rules by hand, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import FileProblemsError, ParentsNeededError, UnknownAggregationError
from benchwright.formats.trec import RunRow
from benchwright.reading import ranked
from benchwright.runs.aggregation import AGGREGATIONS, aggregate

PARENTS = {b"a1": b"a", b"a2": b"a", b"a3": b"a", b"a4": b"a", b"b1": b"b", b"b2": b"b"}


def run(*passages):
    return {
        b"q": [
            RunRow(line, b"q", docid, score)
            for line, (docid, score) in enumerate(passages, start=1)
        ]
    }


# a's passages rank 1, 3, 4, 5, b's only one is second.
RUN = run((b"a2", 9.0), (b"b1", 7.0), (b"a1", 5.0), (b"a3", 4.0), (b"a4", -1.0))


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("maxp", {b"a": 9.0, b"b": 7.0}),
        ("firstp", {b"a": 5.0, b"b": 7.0}),
        ("sump", {b"a": 18.0, b"b": 7.0}),
        ("rrf", {b"a": 1 / 61 + 1 / 63 + 1 / 64 + 1 / 65, b"b": 1 / 62}),
    ],
)
def test_documents_score_as_computed_by_hand(how, expected):
    documents = aggregate(RUN, PARENTS, how, file="run")[b"q"]

    assert {document.docid: document.score for document in documents} == pytest.approx(expected)


def test_document_whose_first_passage_was_not_retrieved_is_left_out_by_firstp():
    documents = aggregate(run((b"a2", 9.0), (b"b1", 1.0)), PARENTS, "firstp", file="run")[b"q"]

    assert [document.docid for document in documents] == [b"b"]


def test_equal_passages_rank_by_the_tie_rule_for_rrf():
    tied = run((b"a1", 1.0), (b"b1", 1.0))

    def best(ties):
        return ranked(aggregate(tied, PARENTS, "rrf", file="run", ties=ties)[b"q"])[0].docid

    assert (best("trec"), best("docid-asc")) == (b"b", b"a")


def test_ids_with_a_hash_name_their_document_before_the_last_one():
    documents = aggregate(run((b"d#1#2", 1.0), (b"d#1#3", 2.0)), None, file="run")

    assert documents == {b"q": [(b"d#1", 2.0)]}


@pytest.mark.parametrize(
    ("docid", "parents", "words"),
    [
        (b"c1", PARENTS, "run:2: passage 'c1' has no document; expected it in the file of parents"),
        (b"b", PARENTS, "run:2: 'b' is a document; expected passages only. Do not mix the two"),
        (b"b", None, "run:2: 'b' is no passage; expected DOCUMENT#PASSAGE in every row"),
        (b"#1", None, "run:2: '#1' is no passage"),
        (b"b#", None, "run:2: 'b#' is no passage"),
    ],
)
def test_result_without_a_document_is_refused_with_its_line(docid, parents, words):
    first = b"a1" if parents else b"a#1"
    mixed = run((first, 2.0), (docid, 1.0))

    with pytest.raises(FileProblemsError, match=words) as refused:
        aggregate(mixed, parents, file="run")

    assert len(refused.value.problems) == 1


def test_firstp_without_parents_is_refused():
    with pytest.raises(ParentsNeededError, match="Name it"):
        aggregate(run((b"a#1", 1.0)), None, "firstp", file="run")


def test_unknown_aggregation_names_the_known_ones():
    with pytest.raises(UnknownAggregationError, match="maxp, firstp, sump, rrf"):
        aggregate(RUN, PARENTS, "meanp", file="run")


@given(
    st.sampled_from(AGGREGATIONS),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8),
)
def test_where_every_document_is_one_passage_the_order_stays(how, scores):
    passages = run(*((b"%d#0" % n, score) for n, score in enumerate(scores)))
    parents = {row.docid: row.docid[:-2] for row in passages[b"q"]}

    documents = aggregate(passages, parents, how, file="run", ties="file")[b"q"]

    ordered = [row.docid[:-2] for row in ranked(passages[b"q"], "file")]
    assert [row.docid for row in ranked(documents, "file")] == ordered

"""What makes scores wrong without an error, from ids alone."""

import pytest

from benchwright.findings import Severity
from benchwright.linting.pitfalls import pitfalls
from benchwright.texts.counting import counted

QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 2}}


def codes(*args, **more):
    return [pitfall.code for pitfall in pitfalls(*args, **more)]


def test_nothing_is_said_of_what_fits_together():
    assert codes({"1", "2", "3"}, {"1": {"a": 1}, "2": {"c": 2}}, documents={"a", "c"}) == []


@pytest.mark.parametrize(
    ("queries", "qrels", "documents", "words"),
    [
        ({1, 2}, QRELS, None, "ids of a query are numbers here and texts in the qrels"),
        ({"1", "2"}, QRELS, {1, 2, 3}, "ids of a document are numbers here and texts in the qrels"),
        ({"1"}, {1: {"a": 1}}, None, "ids of a query are texts here and numbers in the qrels"),
        ({"1"}, {"1": {7.0: 1}}, {"7"}, "document are texts here and numbers with a point in"),
    ],
)
def test_ids_of_two_types_never_meet(queries, qrels, documents, words):
    pitfall = pitfalls(queries, qrels, documents=documents)[0]

    assert (pitfall.code, pitfall.severity) == ("id-types-differ", Severity.ERROR)
    assert words in pitfall.message
    assert pitfall.advice == "Make them texts everywhere: str(id)."


SAME_NUMBERS = "They are the same numbers written otherwise"


@pytest.mark.parametrize(
    ("queries", "advice"),
    [
        ({"q-1", "q-2"}, f"{SAME_NUMBERS}: '1' in the qrels, 'q-1' among the queries"),
        ({"001", "01", "10"}, f"{SAME_NUMBERS}: '1' in the qrels, '001' among the queries"),
        ({"0.0", "2.0"}, f"{SAME_NUMBERS}: '2' in the qrels, '2.0' among the queries"),
        ({"x"}, "The queries are called 'x' and the like. Look whether both are of one split"),
        (set(), "There is no query at all"),
    ],
)
def test_queries_that_do_not_meet_have_counts_and_a_cause(queries, advice):
    pitfall = pitfalls(queries, QRELS)[0]

    assert (pitfall.code, pitfall.n) == ("queries-do-not-meet", 2)
    there = counted(len(queries), "query")
    assert f"0 of the 2 queries of the qrels are among the {there};" in pitfall.message
    assert pitfall.advice.startswith(advice)


def test_queries_of_another_split_are_recognised():
    pitfall = pitfalls({"8", "9"}, QRELS, split="dev", other_splits={"train": {"1", "2"}})[0]

    assert pitfall.advice == "2 of these are queries of the split 'train' and not of 'dev': " + (
        "take its qrels."
    )


def test_documents_that_lack_are_counted_and_the_relevant_ones_among_them():
    part, whole = (
        pitfalls({"1", "2"}, QRELS, documents=documents)[0] for documents in ({"a"}, {"x"})
    )

    assert (part.severity, whole.severity) == (Severity.WARNING, Severity.ERROR)
    assert part.message == (
        "2 of the 3 judged documents are not among the 1 of the corpus, 1 of them relevant "
        "('b', 'c')."
    )
    assert part.advice.startswith("It was cut")
    assert whole.advice.startswith("It is another corpus")


def test_grades_of_0_are_a_note_and_queries_without_relevant_ones_a_warning():
    faults = pitfalls({"1"}, {"1": {"a": 0, "b": -1}})

    assert [(fault.code, fault.n) for fault in faults] == [
        ("query-without-relevant", 1),
        ("judged-not-relevant", 1),
    ]
    assert "1 of 2 grades are 0" in faults[1].message

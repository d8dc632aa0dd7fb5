"""A release looked over before it is written: rules, targets, what is kept in memory."""

import tracemalloc
from typing import Any

import pytest

from benchwright.findings import Finding, Severity
from benchwright.linting import FORMATS, TARGETS, lint
from tests.benchwright.odd_toy import Document, Query, source

CLEAN: dict[str, Any] = {
    "documents": [Document("d1", text="one"), Document("d2", text="two")],
    "queries": [Query("q1"), Query("q2")],
    "qrels": {"test": [("q1", "d1", 1), ("q1", "d2", 0), ("q2", "d2", 1)]},
}


def found(*, targets=TARGETS, **changes: Any) -> dict[str, Finding]:
    """The first finding of each code."""
    findings = lint(source(**(CLEAN | changes)), targets)
    return {finding.code: finding for finding in reversed(findings)}


def test_clean_release_has_no_finding():
    assert lint(source(**CLEAN)) == []


@pytest.mark.parametrize(
    ("changes", "code", "where"),
    [
        ({"documents": [Document("007"), Document("d1"), Document("d2", text="x")]},
         "id-leading-zeros", "document 007"),
        ({"documents": [Document("NA"), Document("d1"), Document("d2", text="x")]},
         "id-null-word", "document NA"),
        ({"documents": [Document('"d'), Document("d1"), Document("d2", text="x")]},
         "id-quote", 'document "d'),
        ({"documents": [Document("1e5"), Document("d1"), Document("d2", text="x")]},
         "id-number", "document 1e5"),
        ({"documents": [Document("d 0"), Document("d1"), Document("d2", text="x")]},
         "id-white-space", "document d 0"),
        ({"documents": [Document("d1"), Document("d1"), Document("d2", text="x")]},
         "id-duplicate", "document d1"),
        ({"documents": [Document("d2", text="x"), Document("d1")]}, "id-order", "document d1"),
        ({"documents": [Document("d1"), Document("d2", text="x"), Document("q1")]},
         "query-id-is-document-id", "query q1"),
        ({"documents": [Document("d1", text=" "), Document("d2")]},
         "document-empty", "document d1"),
        ({"documents": [Document("d1")]}, "document-dangling", "document d2"),
        ({"queries": [Query("q1", " "), Query("q2")]}, "query-empty", "query q1"),
        ({"queries": [Query("q1")]}, "query-dangling", "test: q2"),
        ({"qrels": {"test": [("q1", "d1", 0), ("q2", "d2", 1)]}}, "query-all-zero", "query q1"),
        ({"qrels": {"test": [("q1", "d1", -1), ("q2", "d2", 1)]}},
         "grade-negative", "test: q1, d1"),
        ({"qrels": {"test": [("q1", "d1", 128), ("q2", "d2", 1)]}}, "grade-range", "test: q1, d1"),
        ({"qrels": {"test": [("q1", "d1", 1.0), ("q2", "d2", 1)]}},
         "grade-not-integer", "test: q1, d1"),
        ({"qrels": {"test": [("q1", "d1", 1), ("q1", "d1", 0), ("q2", "d2", 1)]}},
         "pair-duplicate", "test: q1, d1"),
        ({"qrels": {"dev": [("q1", "d1", 1)], "test": [("q1", "d2", 1), ("q2", "d2", 1)]}},
         "query-in-two-splits", "query q1"),
        ({"documents": [Document("d1", text="Same  text"), Document("d2", text="same text")]},
         "text-conflict", "query q1, d1 and d2"),
    ],
)  # fmt: skip
def test_broken_rule_is_found(changes, code, where):
    result = found(**changes)

    assert result[code].where == where
    assert result[code].n == 1


def test_finding_is_of_one_target_and_as_bad_as_it_is_there():
    result = lint(
        source(**(CLEAN | {"documents": [Document("007"), *CLEAN["documents"]]})), TARGETS
    )

    assert {(finding.target, finding.severity) for finding in result} == {
        ("beir", Severity.ERROR),
        ("croissant", Severity.ERROR),
        ("ids-only", Severity.ERROR),
    }


def test_parquet_may_hold_ids_that_tables_of_text_may_not():
    assert found(documents=[Document("007"), *CLEAN["documents"]], targets=("hub", "mteb")) == {}


def test_cases_are_counted_and_three_are_named():
    many = [Document(f"00{n}") for n in range(7)]

    result = found(documents=[*many, *CLEAN["documents"]])["id-leading-zeros"]

    assert result.n == 7
    assert result.where == "document 000, document 001, document 002 and 4 more"


def test_same_text_with_the_same_grade_is_no_conflict():
    twins = [Document("d1", text="same"), Document("d2", text="same")]

    assert found(documents=twins, qrels={"test": [("q1", "d1", 1), ("q2", "d2", 0)]}).keys() == {
        "query-all-zero"
    }


def test_worst_comes_first():
    documents = [Document("007"), Document("d1", text=""), Document("d2")]

    severities = [
        finding.severity for finding in lint(source(**(CLEAN | {"documents": documents})))
    ]

    assert severities == sorted(severities, key=list(Severity).index)


def test_corpus_without_texts_is_looked_over_without_them():
    assert found(documents=None, targets=FORMATS) == {}


def test_memory_does_not_grow_with_the_corpus():
    def documents(n: int):
        return (Document(f"d{number:07d}", text="x" * 500) for number in range(n))

    def peak(n: int) -> int:
        bare = source(**(CLEAN | {"documents": []}))
        big = type(bare)(**{**bare.__dict__, "documents": lambda: documents(n)})
        tracemalloc.start()
        lint(big)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(20_000) < peak(200) + 200_000

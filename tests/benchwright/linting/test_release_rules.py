"""What stands against publishing a release: each rule with its case, and with one it is not for."""

import re
from pathlib import Path

import pytest

from benchwright.findings import Severity
from benchwright.linting.release_rules import (
    RULES,
    ReleaseFacts,
    SliceSize,
    SplitSize,
    release_findings,
)
from benchwright.releases.versions import Needed

PAGE = Path(__file__).resolve().parents[3] / "docs" / "linter.md"
SAID = {"licence": "CC0-1.0", "description": "What is searched."}
MAJOR = Needed("major", ("3 grades changed",))


def facts(**values) -> ReleaseFacts:
    """Of a release that nothing stands against, but for what is given."""
    return ReleaseFacts(**{"version": (1, 0, 0), **SAID, **values})


def one_finding(**values):
    (release_finding,) = release_findings(facts(**values))
    return release_finding


def test_nothing_is_said_of_a_release_that_nothing_stands_against():
    assert release_findings(facts()) == []


# A case of each rule: what is so, where it is, what is said of it, and how much of it.
CASES = {
    "release-no-relevant": ({"n_relevant": 0, "threshold": 2}, "qrels", "grade of 2 or above", 1),
    "release-version-order": (
        {"parent": (1, 0, 0)},
        "version 1.0.0",
        "1.0.0 is not later than 1.0.0, the newest release.",
        1,
    ),
    "release-version-step": (
        {"version": (1, 1, 0), "parent": (1, 0, 0), "needed": MAJOR},
        "version 1.1.0",
        "Since 1.0.0: 3 grades changed. That is a major step, and 1.1.0 says less.",
        1,
    ),
    "release-split-unjudged": (
        {"splits": [SplitSize("dev", 7, 0, 0, False)]},
        "split dev",
        "'dev' has 7 queries without a grade",
        1,
    ),
    "release-hidden-small": (
        {"splits": [SplitSize("test", 40, 35, 29, True)]},
        "split test",
        "'test' has 29 families of graded queries; a mean over fewer than 30",
        1,
    ),
    "release-hidden-apart": (
        {"told_apart": ["This release and 1.0.0"]},
        "hidden splits",
        "This release and 1.0.0 would together tell of fewer than 30 families",
        1,
    ),
    "release-weighted-withheld": (
        {"withholds_weighted": True},
        "weights",
        "Weighted means are shown to keepers alone",
        1,
    ),
    "release-exposed": ({"exposed": ["a", "b"]}, "query a, b", "2 queries of a hidden split", 2),
    "release-split-outdated": ({"is_split_outdated": True}, "splits", "have changed since", 1),
    "release-split-missing": ({"without_split": ["x"]}, "query x", "1 query in no split", 1),
    "release-slice-small": (
        {"slices": [SliceSize("tail", 29, 30, False)]},
        "slice tail",
        "The slice 'tail' has 29 graded queries; its minimum is 30.",
        1,
    ),
    "release-slice-registered-small": (
        {"slices": [SliceSize("tail", 29, 30, True)]},
        "slice tail",
        "The registered slice 'tail' has 29",
        1,
    ),
    "release-query-all-zero": (
        {"all_zero": ["q"]},
        "query q",
        "1 query without a grade above 0",
        1,
    ),
    "release-query-no-relevant": (
        {"no_relevant": ["q"], "threshold": 2},
        "query q",
        "none from grade 2 on",
        1,
    ),
    "release-query-unjudged": ({"unjudged": ["q"]}, "query q", "1 query without any grade", 1),
    "release-all-zero-dropped": ({"n_dropped": 4}, "queries", "4 queries without a grade", 4),
    "release-pair-unjudged": (
        {"n_pairs_unjudged": 3},
        "qrels.trec",
        "In qrels.trec only: 3 pairs pooled, not judged.",
        3,
    ),
    "release-pool-open": (
        {"pools": [{"name": "p1", "n_open": 12}, {"name": "p2", "n_open": 0}]},
        "pool p1",
        "still wants 12 labels",
        12,
    ),
    "release-judged-share": (
        {"judged_shares": {"good": 0.8, "new": 0.5, "worse": 0.1}},
        "runs",
        "Of 2 runs less than 80% of the first 10 documents are judged: worse 10%, new 50%.",
        2,
    ),
    "release-size": (
        {"n_graded": 199, "detectable": 0.0512},
        "queries",
        "199 graded queries are too few to rely on small differences. Differences below 0.051",
        1,
    ),
    "release-machine-untold": (
        {"is_machine_judged": True, "words": "ours"},
        "qrels",
        "A machine",
        1,
    ),
    "release-machine-share-untold": (
        {"n_machine_labels": 30, "n_grades": 10, "words": "ours"},
        "machine_labels.tsv",
        "Beside 10 grades of people: 30 labels of a machine (75% of all)",
        30,
    ),
    "release-drawn-untold": (
        {"n_drawn": 7, "words": "ours"},
        "qrels",
        "Drawn to estimate runs: 7 graded documents",
        7,
    ),
    "release-licence-missing": ({"licence": " "}, "licence", "There is no licence", 1),
    "release-card-missing": ({"description": ""}, "card", "has no description", 1),
    "release-corpus-cut": (
        {"cut": {"n": 1000, "of": 25000}},
        "corpus",
        "cut to 1,000 of 25,000 documents",
        1,
    ),
    "release-texts-withheld": ({"are_texts_withheld": True}, "corpus", "are not passed on", 1),
}


def test_every_rule_has_a_case():
    assert set(CASES) == set(RULES)


@pytest.mark.parametrize("code", CASES)
def test_rule_says_where_what_and_what_to_do(code):
    values, where, words, n = CASES[code]

    item = one_finding(**values)

    assert (item.code, item.severity, item.where, item.n) == (code, RULES[code], where, n)
    assert words in item.message
    assert item.advice.endswith(".")


# What is counted, once each.
ONES = {
    "release-exposed": {"exposed": ["a"]},
    "release-split-unjudged": {"splits": [SplitSize("dev", 1, 0, 0, False)]},
    "release-hidden-small": {"splits": [SplitSize("test", 1, 1, 1, True)]},
    "release-slice-small": {"slices": [SliceSize("tail", 1, 30, False)]},
    "release-query-no-relevant": {"no_relevant": ["q"], "threshold": 2},
    "release-all-zero-dropped": {"n_dropped": 1},
    "release-pair-unjudged": {"n_pairs_unjudged": 1},
    "release-pool-open": {"pools": [{"name": "p1", "n_open": 1}]},
    "release-judged-share": {"judged_shares": {"new": 0.5}},
    "release-size": {"n_graded": 1},
    "release-machine-share-untold": {"n_machine_labels": 1, "n_grades": 1, "words": "ours"},
    "release-drawn-untold": {"n_drawn": 1, "words": "ours"},
}


@pytest.mark.parametrize("code", ONES)
def test_one_of_a_thing_is_said_so(code):
    finding = one_finding(**ONES[code])

    assert finding.code == code
    assert re.search(r"\b1 [a-z]+", finding.message)
    assert not re.search(r"\b1 (graded )?[a-z]+s\b|query are", finding.message)


# Just on the other side of each line.
SILENT = {
    "a first release of any version": {"version": (0, 0, 1)},
    "a step that is larger than needed": {
        "version": (2, 0, 0),
        "parent": (1, 0, 0),
        "needed": Needed("patch", ("x",)),
    },
    "a major change before 1.0.0 as a minor step": {
        "version": (0, 2, 0),
        "parent": (0, 1, 0),
        "needed": MAJOR,
    },
    "a hidden split of 30": {"splits": [SplitSize("test", 30, 30, 30, True)]},
    "a public split of 1": {"splits": [SplitSize("test", 1, 1, 1, False)]},
    "a slice at its minimum": {"slices": [SliceSize("tail", 30, 30, True)]},
    "runs judged to 80 %": {"judged_shares": {"good": 0.8}},
    "200 graded queries": {"n_graded": 200},
}


@pytest.mark.parametrize("case", SILENT)
def test_nothing_is_said_of(case):
    assert release_findings(facts(**SILENT[case])) == []


def test_errors_come_first_and_stay_in_the_order_of_the_rules():
    result = release_findings(facts(licence="", n_relevant=0, n_dropped=1, all_zero=["q"]))

    severities = [finding.severity for finding in result]
    assert severities == [Severity.ERROR, Severity.WARNING, Severity.WARNING, Severity.NOTE]
    assert [finding.code for finding in result][1:3] == [
        "release-query-all-zero",
        "release-licence-missing",
    ]


def test_many_queries_are_counted_and_few_are_named():
    item = one_finding(unjudged=[f"q{n}" for n in range(1200)])

    assert item.where == "query q0, q1, q2, q3, q4 and 1,195 more"
    assert item.message.startswith("1,200 queries without any grade")


def test_every_rule_has_a_heading_with_its_severity():
    headings = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("### ")]

    wanted = {f"### `{code}` ({severity.value})" for code, severity in RULES.items()}
    assert wanted - set(headings) == set()


TOLD = [
    ("release-machine-share-untold", {"n_machine_labels": 3, "n_grades": 1}, "By a model, too."),
    ("release-drawn-untold", {"n_drawn": 3}, "A sample of documents was judged."),
]


@pytest.mark.parametrize(("code", "values", "words"), TOLD)
def test_what_is_told_is_not_warned_of(code, values, words):
    assert one_finding(**values, words="ours").code == code
    assert release_findings(facts(**values, words=words)) == []

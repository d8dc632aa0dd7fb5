"""What leaks from one split into another is named, each kind by its own name."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from benchwright.findings import Severity
from benchwright.leaks import (
    LeakQuery,
    as_json,
    as_markdown,
    findings_of,
    hard_violations,
    leak_report,
)

START = datetime(2024, 1, 1, tzinfo=UTC)
# Questions that have nothing to do with each other.
CLEAN = [
    ("t1", "how long do goldfish live in a bowl", "train"),
    ("t2", "cheapest flights from oslo to lisbon", "train"),
    ("t3", "recipe for sourdough bread without starter", "train"),
    ("e1", "symptoms of vitamin d deficiency", "test"),
    ("e2", "who painted the night watch", "test"),
    ("e3", "reset a forgotten router password", "test"),
]


def day(n: int) -> datetime:
    return START + timedelta(days=n)


def query(qid: str, text: str, split: str, **values: object) -> LeakQuery:
    return LeakQuery(qid, text, values.pop("family", qid), split, **values)


def clean() -> list[LeakQuery]:
    """Six queries in two splits, each with a document and a day of its own."""
    return [
        query(qid, text, split, relevant=frozenset({f"d-{qid}"}), first_seen=day(place))
        for place, (qid, text, split) in enumerate(CLEAN)
    ]


CHRONOLOGICAL = {"mode": "chronological", "cuts": {"test": day(3).isoformat()}}


def test_a_clean_split_finds_nothing():
    documents = {f"d-{qid}": day(place) for place, (qid, _, _) in enumerate(CLEAN)}

    report = leak_report(clean(), plan=CHRONOLOGICAL, documents_first_seen=documents)

    assert report["findings"] == []
    assert hard_violations(report) == []
    assert report["pairs"][0]["leaks"] == {}


@pytest.mark.parametrize(
    ("leak", "code", "severity"),
    [
        ("how long do goldfish live in a bowl", "split-leak-exact", Severity.ERROR),
        ("How long do GOLDFISH live in a bowl", "split-leak-exact", Severity.ERROR),
        ("how long do goldfish live, in a bowl?", "split-leak-exact", Severity.ERROR),
        ("Hów lông dó göldfish livé in a böwl?", "split-leak-accents", Severity.ERROR),
        ("in a bowl how long do goldfish live", "split-leak-bag", Severity.ERROR),
        ("how long do goldfish live in a bowls please", "split-leak-near", Severity.ERROR),
        ("how long do goldfsh live in a bwl", "split-leak-possible", Severity.WARNING),
    ],
)
def test_a_planted_wording_is_named_with_both_texts(leak, code, severity):
    planted = query("leak", leak, "test", relevant=frozenset({"d-leak"}))

    report = leak_report([*clean(), planted])

    found = findings_of(report)
    assert [(one.code, one.severity) for one in found] == [(code, severity)]
    assert "t1 “how long do goldfish live in a bowl”" in found[0].message
    assert "leak “" in found[0].message
    assert report["pairs"][0]["nearest"][0]["b"]["qid"] == "leak"


def test_a_family_on_two_sides_is_named_though_its_wordings_differ():
    planted = query("leak", "lifespan of carassius auratus", "test", family="t1")

    found = hard_violations(leak_report([*clean(), planted]))

    assert [one.code for one in found] == ["split-leak-family"]
    assert "1 family is on both sides" in found[0].message


def test_a_relevant_document_of_both_sides_is_named_and_does_not_stop_a_release():
    planted = query("leak", "map of the moon", "test", relevant=frozenset({"d-t1", "d-leak"}))

    report = leak_report([*clean(), planted])

    (found,) = findings_of(report)
    assert (found.code, found.severity) == ("split-leak-documents", Severity.WARNING)
    assert "1 document is relevant on both sides (d-t1): 20.0 %" in found.message
    assert report["pairs"][0]["shared_documents"]["listed"] == [
        {"docid": "d-t1", "a": ["t1"], "b": ["leak"]}
    ]
    assert hard_violations(report) == []


def test_a_query_out_of_time_is_named_where_time_decides():
    planted = query("late", "map of the moon", "train", first_seen=day(4))

    found = hard_violations(leak_report([*clean(), planted], plan=CHRONOLOGICAL))
    elsewhere = leak_report([*clean(), planted], plan={"mode": "stratified"})

    assert [one.code for one in found] == ["split-leak-time"]
    assert "late (2024-01-05)" in found[0].message
    assert elsewhere["findings"] == []
    assert elsewhere["pairs"][0]["time"]["n_inverted"] == 1


def test_a_train_positive_that_appeared_after_the_cut_is_named():
    documents = {"d-t1": day(0), "d-t2": day(9), "d-e1": day(9)}

    report = leak_report(clean(), plan=CHRONOLOGICAL, documents_first_seen=documents)

    (found,) = hard_violations(report)
    assert found.code == "split-leak-late-documents"
    assert "1 document that appeared after the cut (2024-01-04) is relevant" in found.message
    assert "d-t2 (2024-01-10)" in found.message
    assert report["documents_after_cut"]["n_known"] == 2


def test_pairs_that_people_told_apart_are_counted_and_not_held_against_the_split():
    near = query("leak", "how long do goldfish live in a bowls please", "test")

    report = leak_report([*clean(), near], told_apart={("leak", "t1")})

    assert report["findings"] == []
    assert report["pairs"][0]["told_apart"] == 1
    assert report["pairs"][0]["nearest"][0]["is_told_apart"] is True


@pytest.mark.parametrize(
    ("one", "other", "code"),
    [
        ("Où est le café", "ou est le cafe", "split-leak-accents"),
        ("año nuevo", "ano nuevo", "split-leak-accents"),
        ("τι ώρα είναι", "τι ωρα ειναι", "split-leak-accents"),
        ("ещё раз", "еще раз", "split-leak-accents"),
        ("хлеб мой", "хлеб мои", None),
        ("किताब", "कताब", None),
    ],
)
def test_accents_alone_are_an_error_and_marks_that_are_letters_are_not(one, other, code):
    queries = [query("a", one, "train"), query("b", other, "test")]

    hard = hard_violations(leak_report([*clean(), *queries]))
    assert [found.code for found in hard] == ([code] if code else [])
    apart = leak_report([*clean(), *queries], told_apart={("a", "b")})
    assert hard_violations(apart) == []


def test_the_same_text_is_never_excused():
    same = query("leak", "How long do goldfish live in a bowl?", "test")

    report = leak_report([*clean(), same], told_apart={("leak", "t1")})

    assert [one.code for one in hard_violations(report)] == ["split-leak-exact"]


def test_a_hidden_split_keeps_its_documents_to_itself():
    sentinel = "secret-document"
    queries = [
        query("t9", "map of the moon", "train", relevant=frozenset({sentinel})),
        query("e9", "height of mount fuji", "test", relevant=frozenset({sentinel})),
        *clean(),
    ]

    hidden = leak_report(queries, hidden={"test"})
    other = leak_report(
        [*queries[:1], query("e9", "height of mount fuji", "test"), *clean()], hidden={"test"}
    )

    whole = leak_report(queries)
    assert whole["pairs"][0]["shared_documents"]["n"] == 1
    assert hidden["pairs"][0]["shared_documents"] is None
    assert "of hidden grades | not told" in as_markdown(hidden)
    assert as_json(hidden) == as_json(other)
    assert sentinel not in as_json(hidden)
    assert sentinel not in as_markdown(hidden)
    # Nor may a digest or a count be tried against guesses at single grades.
    assert hidden["inputs_sha256"] == other["inputs_sha256"]
    assert hidden["label_density"] == other["label_density"]
    assert hidden["splits"][1]["n_without_relevant"] is None


def test_each_pair_of_splits_has_its_facts():
    queries = [*clean(), query("v1", "height of mount fuji", "dev")]

    report = leak_report(queries)

    assert [(pair["a"], pair["b"]) for pair in report["pairs"]] == [
        ("train", "dev"),
        ("train", "test"),
        ("dev", "test"),
    ]


def test_one_split_alone_leaks_nothing():
    queries = [query("e1", "one", "test"), query("e2", "one", "test")]

    report = leak_report(queries)

    assert (report["pairs"], report["findings"]) == ([], [])


def test_counts_and_balance_are_those_computed_by_hand():
    queries = [
        query("a", "how long do goldfish live", "train", slices=("tail",)),
        query("b", "cheapest flights to lisbon", "train", relevant=frozenset({"x"})),
        query("c", "how long do goldfish live?", "test", slices=("tail",), family="a"),
        query("d", "symptoms of vitamin d deficiency", "test", relevant=frozenset({"x", "y"})),
    ]

    report = leak_report(queries)

    (pair,) = report["pairs"]
    assert pair["shared_families"] == 1
    assert (pair["shared_exact_keys"], pair["shared_bag_keys"]) == (1, 1)
    assert pair["max_similarity"] == 1.0
    assert pair["pairs_at_least"] == {"from_60": 1, "from_70": 1, "from_80": 1}
    assert pair["shared_documents"]["share_of_a"] == 1.0
    assert pair["shared_documents"]["share_of_b"] == 0.5
    (tail,) = report["slices"]
    assert (tail["name"], tail["n"], tail["share"], tail["deviation"]) == ("tail", 2, 0.5, 0.0)


def test_report_is_json_and_markdown_that_say_the_same():
    report = leak_report([*clean(), query("leak", "How long do goldfish live in a bowl!", "test")])

    assert json.loads(as_json(report)) == report
    text = as_markdown(report)
    assert "**error** `split-leak-exact` (train and test)" in text
    assert "| 1.000 | how long do goldfish live in a bowl (t1) |" in text
    assert report["assignment_sha256"] in text


def test_report_is_the_same_in_whatever_order_queries_come():
    assert as_json(leak_report(clean())) == as_json(leak_report(clean()[::-1]))

"""Which step a change needs, by hand; and the number that says so."""

import pytest

from benchwright.releases.diffing import Changes, ReleaseDiff, Side, release_diff
from benchwright.releases.errors import VersionError
from benchwright.releases.source import HIDDEN_FILES, public_manifest
from benchwright.releases.versions import (
    is_enough,
    needed_step,
    next_version,
    parse_version,
    step_between,
)
from tests.benchwright.sources import made_source

GRADES = {"train": {("q1", "d1"): 2, ("q2", "d1"): 0}, "test": {("q3", "d2"): 1}}
DOCUMENTS = {"d1": "one", "d2": "two"}


def side(grades=GRADES, *, tie_rule="trec", corpus="a", **values) -> Side:
    source = made_source(grades, documents=values.pop("documents", DOCUMENTS), **values)
    splits = {split: sorted({qid for qid, _ in rows}) for split, rows in grades.items()}
    return Side(source, splits, tie_rule=tie_rule, corpus_sha256=corpus)


def with_grades(**rows) -> dict:
    """The grades with some of them changed: `q3_d2=1`, or None for gone."""
    results = {split: dict(pairs) for split, pairs in GRADES.items()}
    for name, grade in rows.items():
        qid, docid = name.split("_")
        split = "test" if qid == "q3" else "train"
        results[split].pop((qid, docid), None)
        if grade is not None:
            results[split][qid, docid] = grade
    return results


# What is changed, the step it needs, and what is said of it.
TABLE = [
    ({}, "patch", "nothing but card and metadata changed"),
    ({"licence": "CC0", "title": "Another"}, "patch", "nothing but card"),
    ({"grades": with_grades(q3_d1=2)}, "minor", "1 label was added"),
    ({"slices": {"short": ("q1",)}}, "minor", "1 slice was added"),
    ({"families": {"q1": "q1", "q2": "q1"}}, "minor", "1 query is in another family"),
    ({"grades": with_grades(q3_d2=2)}, "major", "1 grade changed"),
    ({"grades": with_grades(q2_d1=None)}, "major", "1 label is gone; query: 1 removed"),
    ({"texts": {"q1": "another"}}, "major", "query: 1 changed"),
    ({"texts": {"q9": "more"}}, "major", "query: 1 added"),
    ({"documents": {"d1": "one", "d2": "zwei"}, "corpus": "b"}, "major", "document: 1 changed"),
    ({"documents": {"d1": "one"}, "corpus": "b"}, "major", "document: 1 removed"),
    ({"documents": None, "corpus": "b"}, "major", "corpus: from a to b"),
    ({"weights": {"q1": 3.0}}, "major", "1 query has another weight"),
    ({"unit": "passage"}, "major", "unit: from document to passage"),
    ({"threshold": 1}, "major", "threshold: from 2 to 1"),
    ({"tie_rule": "other"}, "major", "ties: from trec to other"),
    ({"hidden": ("test",)}, "major", "hidden from now on: test"),
    (
        {"grades": {"train": GRADES["train"] | GRADES["test"], "test": {}}},
        "major",
        "1 query is in another split",
    ),
]


@pytest.mark.parametrize(("change", "step", "words"), TABLE, ids=[row[2] for row in TABLE])
def test_step_that_a_change_needs(change, step, words):
    needed = needed_step(release_diff(side(), side(**change)))

    assert (needed.step, words in "; ".join(needed.reasons)) == (step, True), needed


def test_slice_with_other_queries_needs_a_major_step_and_a_gone_one_too():
    before = side(slices={"short": ("q1",), "old": ("q2",)})
    after = side(slices={"short": ("q1", "q2")})

    needed = needed_step(release_diff(before, after))

    assert needed.step == "major"
    assert needed.reasons == ("1 slice has other queries", "1 slice is gone")


def test_split_that_is_hidden_no_more_needs_a_minor_step():
    needed = needed_step(release_diff(side(hidden=("test",)), side()))

    assert (needed.step, needed.reasons) == ("minor", ("no longer hidden: test",))


def test_every_reason_is_told_and_the_highest_step_counts():
    diff = ReleaseDiff(labels=Changes(added=3, changed=1200), moved=Changes(changed=2))

    assert needed_step(diff).reasons == ("1,200 grades changed", "2 queries are in another split")


@pytest.mark.parametrize("is_hidden", [(True, True), (True, False), (False, True)])
def test_labels_are_counted_by_split_and_slice_and_those_of_hidden_splits_not_at_all(is_hidden):
    """Those of a split that one of the two hides would tell what was, or will be, hidden."""
    slices = {"all": ("q1", "q2", "q3")}
    was, now = (("test",) if hides else () for hides in is_hidden)
    before = side(slices=slices, hidden=was)
    after = side(with_grades(q1_d2=1, q2_d1=2, q3_d2=2), slices=slices, hidden=now)

    record = release_diff(before, after).as_json()

    counts = {"added": 1, "changed": 1, "removed": 0}
    assert record["labels"] == counts
    assert record["by_split"] == {"train": counts}
    assert record["by_slice"] == {"all": counts}


@pytest.mark.parametrize(
    ("rows", "step", "words"),
    [
        ({"q3_d2": 2}, "major", ("grades of hidden splits changed, or are gone",)),
        (
            {"q3_d2": None},
            "major",
            ("grades of hidden splits changed, or are gone", "query: 1 removed"),
        ),
        ({"q3_d1": 2}, "minor", ("labels of hidden splits were added",)),
    ],
)
def test_labels_of_hidden_splits_need_their_step_and_are_not_counted(rows, step, words):
    before, after = (side(of, hidden=("test",)) for of in (GRADES, with_grades(**rows)))

    needed = needed_step(release_diff(before, after))

    assert (needed.step, needed.reasons) == (step, words)


def test_moved_query_is_named_and_its_labels_are_not_changed_ones():
    after = side({"train": GRADES["train"] | GRADES["test"], "test": {}})

    diff = release_diff(side(), after)

    assert diff.moved.named == {"changed": ["q3"]}
    assert not diff.labels


@pytest.mark.parametrize(
    ("newest", "step", "wanted"),
    [
        (None, "major", (0, 1, 0)),
        ((0, 3, 1), "patch", (0, 3, 2)),
        ((0, 3, 1), "minor", (0, 4, 0)),
        ((0, 3, 1), "major", (0, 4, 0)),
        ((1, 3, 1), "patch", (1, 3, 2)),
        ((1, 3, 1), "minor", (1, 4, 0)),
        ((1, 3, 1), "major", (2, 0, 0)),
    ],
)
def test_version_that_is_proposed(newest, step, wanted):
    assert next_version(newest, step) == wanted
    assert newest is None or is_enough(newest, wanted, step)


@pytest.mark.parametrize(
    ("version", "needed", "enough"),
    [
        ((1, 2, 1), "patch", True),
        ((1, 2, 1), "minor", False),
        ((1, 3, 0), "minor", True),
        ((1, 3, 0), "major", False),
        ((2, 0, 0), "major", True),
        ((9, 0, 0), "patch", True),
        ((1, 2, 0), "patch", False),
        ((1, 1, 9), "patch", False),
    ],
)
def test_version_says_enough_of_a_change_since_1_2_0(version, needed, enough):
    assert is_enough((1, 2, 0), version, needed) is enough


def test_step_between_versions_is_that_of_the_first_number_that_differs():
    assert step_between((1, 2, 3), (1, 2, 4)) == "patch"
    assert step_between((1, 2, 3), (1, 4, 0)) == "minor"
    assert step_between((1, 2, 3), (3, 0, 0)) == "major"
    assert step_between((1, 2, 3), (1, 2, 3)) is None


@pytest.mark.parametrize("text", ["1.0", "v1.0.0", "1.0.0-rc1", "01.0.0", ""])
def test_what_is_no_version_is_named(text):
    with pytest.raises(VersionError, match="is not a version; write three whole numbers"):
        parse_version(text)


def test_public_manifest_of_hidden_grades_tells_no_digest_of_them_and_nothing_of_their_labels():
    qrels = {"n": 5, "digest": "f2", "agreement": {"alpha": 0.7}, "labels_per_pair": 1.4}
    files = {"queries.jsonl": {"sha256": "f3"}, f"{HIDDEN_FILES}test.trec": {"sha256": "f1"}}
    manifest = {"version": "1.0.0", "files": files, "qrels": qrels}
    without = {"version": "1.0.0", "files": {"queries.jsonl": {"sha256": "f3"}}, "qrels": qrels}

    withheld = dict.fromkeys(("digest", "agreement", "labels_per_pair"))
    assert public_manifest(manifest) == {
        "version": "1.0.0",
        "files": {"queries.jsonl": {"sha256": "f3"}, f"{HIDDEN_FILES}test.trec": {}},
        "qrels": {"n": 5, **withheld, "derivation": {}},
    }
    assert public_manifest(without) == without

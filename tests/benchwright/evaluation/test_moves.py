"""What a difference is made of: hand-computed, against all orders, and always the whole of it."""

from itertools import permutations
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright import evaluate
from benchwright.evaluation.evaluating import evaluate_hits
from benchwright.evaluation.moves import (
    ADDED,
    CHANGED,
    ELSEWHERE,
    KINDS,
    PARTS,
    QUERIES,
    REMOVED,
    RULES,
    LabelCounts,
    Side,
    counts_retrieved,
    explained,
    label_counts,
    ranks,
)
from benchwright.reading.hits import Hit, Judged, QueryHits
from tests.examples import examples


def side(qrels, run, measure="P@2", top_grade=3, is_complete=False) -> Side:
    """One run ({qid: docids in order}) against these grades."""
    results = {
        qid: QueryHits(
            qid,
            tuple(
                Hit(rank, grades[docid])
                for rank, docid in enumerate(run[qid], start=1)
                if docid in grades
            ),
            len(run[qid]),
        )
        for qid, grades in qrels.items()
        if run.get(qid)
    }
    judged = {qid: Judged(tuple(of.values()), is_complete) for qid, of in qrels.items()}
    whole = evaluate_hits(judged, results, [measure], allow_empty=True, top_grade=top_grade)
    values = {qid: of[measure] for qid, of in whole.per_query.items()}
    return Side(measure, values, results, qrels, top_grade, is_complete)


RUN = {"q1": ["a", "b", "c"], "q2": ["d", "e"]}


def test_one_kind_of_change_accounts_for_all_of_it():
    explanation = explained(
        side({"q1": {"a": 1}, "q2": {"d": 0}}, RUN),
        side({"q1": {"a": 1, "b": 1}, "q2": {"d": 0}}, RUN),
    )

    assert (explanation.before, explanation.after) == (0.25, 0.5)
    assert explanation.parts == {ADDED: 0.25, CHANGED: 0, REMOVED: 0, RULES: 0, QUERIES: 0}


def test_a_run_falls_for_what_was_found_elsewhere():
    """Its own documents kept their grades; two new relevant ones that it lacks cost it recall."""
    before = {"q1": {"a": 1, "z": 0}, "q2": {"d": 1}}
    after = {"q1": {"a": 1, "z": 0, "x": 1, "y": 2, "w": 0}, "q2": {"d": 1}}

    explanation = explained(side(before, RUN, "R@2"), side(after, RUN, "R@2"))

    assert (explanation.before, explanation.after) == (1.0, pytest.approx(2 / 3))
    assert explanation.parts[ADDED] == pytest.approx(-1 / 3)
    assert (explanation.elsewhere, explanation.n_elsewhere) == (pytest.approx(-1 / 3), 2)


def test_labels_of_its_own_documents_are_not_elsewhere():
    before, after = {"q1": {"a": 1, "b": 0}}, {"q1": {"a": 1, "b": 0, "c": 1}}

    explanation = explained(side(before, RUN, "R@3"), side(after, RUN, "R@3"))
    beyond = explained(side(before, RUN, "R@2"), side(after, RUN, "R@2"))

    assert (explanation.elsewhere, explanation.n_elsewhere) == (0.0, 0)
    # Found, but below the ranks that count.
    assert (beyond.elsewhere, beyond.n_elsewhere) == (-0.5, 1)


def test_both_at_once_share_what_they_do_together():
    """RR of a first hit and recall of 2: found first 1 to 1, found last .5 to 1, and back."""
    before, after = {"q1": {"b": 1}}, {"q1": {"b": 1, "a": 1, "x": 1}}

    explanation = explained(side(before, RUN, "R@1"), side(after, RUN, "R@1"))

    # From 0; own alone .5, elsewhere alone 0, both 1/3.
    assert explanation.parts[ADDED] == pytest.approx(1 / 3)
    assert explanation.elsewhere == pytest.approx(((0 - 0) + (1 / 3 - 1 / 2)) / 2)


def test_kinds_that_do_not_meet_account_for_their_own():
    before = {"q1": {"a": 1, "b": 1}, "q2": {"d": 0}}
    after = {"q1": {"a": 0, "b": 1}, "q2": {"d": 0, "e": 1}}

    parts = explained(side(before, RUN), side(after, RUN)).parts

    assert (parts[CHANGED], parts[ADDED], parts[REMOVED]) == (-0.25, 0.25, 0)


def test_what_two_kinds_do_together_is_shared_between_them():
    # Alone, an added answer at rank 2 makes RR 1/2 and a raised grade at rank 1 makes it 1.
    before, after = {"q1": {"a": 0}}, {"q1": {"a": 1, "b": 1}}

    parts = explained(side(before, RUN, "RR"), side(after, RUN, "RR")).parts

    # Added first gives 1/2 and then nothing: (1/2 + 0) / 2; changed gives (1 + 1/2) / 2.
    assert (parts[ADDED], parts[CHANGED]) == (0.25, 0.75)


def test_queries_that_only_one_release_has_are_told_apart():
    before = {"q1": {"a": 1, "b": 1}}
    after = {"q1": {"a": 1, "b": 1}, "q2": {"d": 0}}

    explanation = explained(side(before, RUN), side(after, RUN))

    assert (explanation.before, explanation.after) == (1.0, 0.5)
    assert explanation.parts[QUERIES] == -0.5
    assert sum(map(abs, explanation.parts.values())) == 0.5


def test_releases_without_a_common_query_differ_by_their_queries_alone():
    explanation = explained(side({"q1": {"a": 1}}, RUN), side({"q2": {"d": 1, "e": 1}}, RUN))

    assert explanation.parts[QUERIES] == explanation.difference == 0.5


def test_another_scale_is_told_apart_from_labels():
    grades = {"q1": {"a": 1, "b": 2}}
    run = {"q1": ["a", "b"]}

    explanation = explained(side(grades, run, "P@2"), side(grades, run, "P(rel=2)@2"))

    assert explanation.parts[RULES] == explanation.difference == -0.5


def test_documents_that_count_as_not_relevant_on_one_release_alone_are_another_rule():
    grades = {"q1": {"b": 1}}

    explanation = explained(
        side(grades, RUN, "Judged@2"), side(grades, RUN, "Judged@2", is_complete=True)
    )

    assert explanation.parts[RULES] == explanation.difference == 0.5


def test_mean_that_is_undefined_has_no_parts():
    nothing = {"q3": {"a": 1}}

    assert explained(side(nothing, RUN, "Judged@2"), side(nothing, RUN, "Judged@2")) is None


# --- counts --------------------------------------------------------------------------------


def test_labels_are_counted_once_each_and_what_is_not_judged_is_none():
    before = {"q1": {"a": 1, "b": 0, "pooled": -1}, "gone": {"x": 1}}
    after = {"q1": {"a": 2, "c": 0, "pooled": 0}}

    assert label_counts(before, after) == LabelCounts(added=2, changed=1, removed=2)


def test_labels_of_what_was_retrieved_are_counted_down_to_the_cutoff():
    before = side({"q1": {"a": 1, "b": 0}}, RUN).hits
    after = side({"q1": {"a": 2, "c": 1, "never": 1}}, RUN).hits

    assert counts_retrieved(before, after) == LabelCounts(1, 1, 1)
    assert counts_retrieved(before, after, cutoff=2) == LabelCounts(0, 1, 1)


def test_equal_means_share_a_rank_and_who_has_none_is_not_ranked():
    assert ranks({7: 0.12344, 8: 0.12340, 9: 0.9, 1: float("nan"), 2: None}) == {9: 1, 7: 2, 8: 2}
    assert ranks({7: 0.1234, 8: 0.1241}, decimals=2) == {7: 1, 8: 1}


# --- always --------------------------------------------------------------------------------

DOCS = ["a", "b", "c", "d", "e", "f"]
GRADES = st.dictionaries(st.sampled_from(DOCS), st.integers(-1, 3), min_size=1)
QRELS = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), GRADES, min_size=1)
RUNS = st.fixed_dictionaries(
    {qid: st.permutations(DOCS).map(lambda docs: docs[:4]) for qid in ("q1", "q2")}
)
MEASURES = st.sampled_from(["nDCG@3", "RR@3", "AP", "bpref", "P@2", "ERR@3", "R@2", "RBP"])


def over_all_orders(before, after, run, measure, was_complete, is_complete) -> dict[str, float]:
    """What each kind adds, from whole qrels, by every order in which the kinds can happen.

    Labels added are two kinds that come one right after the other, in either order.
    """
    shared = [qid for qid in after if qid in before]
    scores = {
        qid: {doc: -float(rank) for rank, doc in enumerate(docs)} for qid, docs in run.items()
    }
    depth = int(measure.partition("@")[2] or 100)
    top = {qid: docs[:depth] for qid, docs in run.items()}

    def mean(done: set[str], are_complete: bool = is_complete) -> float:
        mixed = {}
        for qid in shared:
            old, new = before[qid], after[qid]
            grades = {}
            for doc in old.keys() | new.keys():
                if doc in old and doc in new:
                    grades[doc] = new[doc] if CHANGED in done else old[doc]
                elif doc in old and REMOVED not in done:
                    grades[doc] = old[doc]
                elif doc in new and (ADDED if doc in top.get(qid, ()) else ELSEWHERE) in done:
                    grades[doc] = new[doc]
            mixed[qid] = grades
        nonempty = {qid: grades or {"nothing at all": 0} for qid, grades in mixed.items()}
        unlisted = "not-relevant" if are_complete else "unknown"
        options = {"allow_empty": True, "top_grade": 3, "unlisted": unlisted}
        return evaluate(nonempty, scores, [measure], **options).means[measure]

    parts = dict.fromkeys([*KINDS, ELSEWHERE], 0.0)
    pairs = [(ADDED, ELSEWHERE), (ELSEWHERE, ADDED)]
    orders = [
        [step for kind in order for step in (pair if kind == ADDED else (kind,))]
        for order in permutations(KINDS)
        for pair in pairs
    ]
    for order in orders:
        done: set[str] = set()
        for kind in order:
            start = mean(done)
            done = done | {kind}
            parts[kind] += (mean(done) - start) / len(orders)
    parts[ADDED] += parts[ELSEWHERE]
    parts[RULES] = mean(set()) - mean(set(), was_complete)
    return parts


@settings(max_examples=examples(60), deadline=None)
@given(QRELS, QRELS, RUNS, MEASURES, st.booleans(), st.booleans())
def test_parts_add_up_and_are_those_of_all_orders(before, after, run, measure, was, is_now):
    explanation = explained(
        side(before, run, measure, is_complete=was), side(after, run, measure, is_complete=is_now)
    )

    assert isclose(sum(explanation.parts.values()), explanation.difference, abs_tol=1e-12)
    assert set(explanation.parts) == set(PARTS)
    if any(qid in before for qid in after):
        expected = over_all_orders(before, after, run, measure, was, is_now)
        for kind in (*KINDS, RULES):
            assert explanation.parts[kind] == pytest.approx(expected[kind], abs=1e-12)
        assert explanation.elsewhere == pytest.approx(expected[ELSEWHERE], abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(QRELS, RUNS, MEASURES)
def test_nothing_changed_is_explained_by_nothing(qrels, run, measure):
    explanation = explained(side(qrels, run, measure), side(qrels, run, measure))

    assert set(explanation.parts.values()) == {0.0}

"""Evidence from files small enough to be worked out on paper."""

from math import log2

import numpy as np
import pytest

from benchwright.evaluation.scorecards import Files, Rules, Scorer
from benchwright.formats.unlisted import NOT_RELEVANT
from benchwright.gates.evidence import Process
from benchwright.gates.from_files import evidence_of, wanted_of
from benchwright.gates.policy import GuardRails, Policy

QRELS = "q1 0 a 2\nq1 0 b 0\nq2 0 a 1\nq3 0 c 1\n"
RUNS = {
    # Ranked by score: q1 b a x, q2 a, q3 y c.
    "old": (
        "q1 Q0 a 9 5 t\nq1 Q0 b 9 6 t\nq1 Q0 x 9 1 t\nq2 Q0 a 1 1 t\nq3 Q0 y 1 2 t\nq3 Q0 c 2 1 t"
    ),
    "new": "q1 Q0 a 1 9 t\nq1 Q0 z 2 8 t\nq3 Q0 c 1 1 t\nq9 Q0 a 1 1 t",
    "bm25": "q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\nq3 Q0 c 1 1 t",
}
POLICY = Policy(measure="RR", guard_rails=GuardRails(measures=("P@1",)))
PROCESS = Process(is_registered=False)


@pytest.fixture
def scored(tmp_path):
    """A function: the scorer of these files, and the cards of so many runs."""

    def score(n_runs=2, qrels=QRELS, runs=RUNS, **rules):
        (tmp_path / "qrels").write_text(qrels)
        (tmp_path / "slices.tsv").write_text("q1\thead\nq3\thead\nq2\ttail\n")
        (tmp_path / "families.tsv").write_text("q1\tf\nq3\tf\n")
        for name, text in runs.items():
            (tmp_path / name).write_text(text + "\n")
        files = Files(*(tmp_path / name for name in ("qrels", "slices.tsv", "families.tsv")))
        scorer = Scorer(files, Rules(measures=("RR", "P@1", "Judged@10"), **rules))
        return scorer, [scorer.score(tmp_path / name) for name in list(runs)[:n_runs]]

    return score


def test_values_stand_in_the_order_of_the_queries(scored):
    numbers = evidence_of(scored()[0], POLICY, scored()[1], process=PROCESS)

    assert list(numbers.queries) == ["q1", "q2", "q3"]
    assert numbers.baseline.of("RR").tolist() == [0.5, 1.0, 0.5]
    assert numbers.candidate.of("RR").tolist() == [1.0, 0.0, 1.0]
    assert numbers.differences("P@1").tolist() == [1.0, -1.0, 1.0]
    assert numbers.baseline.of("Judged@10") == pytest.approx([2 / 3, 1.0, 0.5])
    assert (numbers.process, numbers.lexical) == (PROCESS, None)


def test_an_arm_knows_its_longest_list_and_what_it_left_out(scored):
    numbers = evidence_of(scored()[0], POLICY, scored()[1], process=PROCESS)

    arms = [(arm.name, arm.depth, arm.missing) for arm in (numbers.baseline, numbers.candidate)]
    assert arms == [("old", 3, ()), ("new", 2, ("q2",))]


def test_slices_and_families_are_those_of_the_files(scored):
    numbers = evidence_of(scored()[0], POLICY, scored()[1], process=PROCESS)

    masks = {name: mask.tolist() for name, mask in numbers.slices.items()}
    assert masks == {"head": [True, False, True], "tail": [False, True, False]}
    assert np.asarray(numbers.families).tolist() == [0, 1, 0]
    assert numbers.n_families == 2


def test_a_third_card_is_the_lexical_run(scored):
    scorer, cards = scored(3)

    numbers = evidence_of(scorer, POLICY, cards, process=PROCESS)

    assert numbers.lexical.name == "bm25"
    assert numbers.lexical.of("RR").tolist() == [1.0, 1.0, 1.0]


def test_a_run_that_found_nothing_has_no_depth(scored):
    scorer, cards = scored()
    empty = cards[1]._replace(hits={})

    assert evidence_of(scorer, POLICY, [cards[0], empty], process=PROCESS).candidate.depth == 0


def influence(rank, other, ideal):
    """How differently two runs rank a document, over the best DCG of its query; None: nowhere."""
    weights = [1 / log2(place + 1) if place else 0.0 for place in (rank, other)]
    return abs(weights[0] - weights[1]) / ideal


def test_documents_to_judge_are_the_unjudged_ones_of_both_runs_by_influence(scored):
    """x third of one, z second of the other (q1: a 2, best DCG 2), y first of one (q3)."""
    weights = {
        ("q3", "y"): influence(1, None, 1),
        ("q1", "z"): influence(None, 2, 2),
        ("q1", "x"): influence(3, None, 2),
    }

    grades_wanted = wanted_of(scored()[0], POLICY, scored()[1])

    assert list(grades_wanted.documents) == sorted(weights, key=weights.get, reverse=True)
    # Judged shares are .722 and .75 (of two answers); y makes it .889 and .75, z .889 and 1.
    assert grades_wanted.needed == 3


def test_documents_of_the_lexical_run_are_not_asked_for(scored):
    (scorer, three), (_, two) = scored(3), scored()

    assert wanted_of(scorer, POLICY, three) == wanted_of(scorer, POLICY, two)


def test_what_is_deeper_than_the_measure_looks_is_not_asked_for(scored):
    cut = Policy(measure="RR@2", guard_rails=GuardRails(measures=()))

    grades_wanted = wanted_of(scored()[0], cut, scored()[1])

    assert ("q1", "x") not in grades_wanted.documents
    assert set(grades_wanted.documents) == {("q3", "y"), ("q1", "z")}


def test_where_labels_are_sparse_only_the_difference_of_shares_counts(scored):
    """.722 and .75 are within .05 of each other: nothing more is needed."""
    sparse = Policy(measure="RR", labels="sparse", guard_rails=GuardRails(measures=()))

    assert wanted_of(scored()[0], sparse, scored()[1]).needed == 0


def test_unlisted_documents_that_are_not_relevant_need_no_judgment(scored):
    scorer, cards = scored(unlisted=NOT_RELEVANT)

    grades_wanted = wanted_of(scorer, POLICY, cards)

    assert (grades_wanted.documents, grades_wanted.needed) == ((), 0)


def test_passages_are_judged_as_their_documents(scored):
    runs = {
        "old": "q1 Q0 a#1 1 9 t\nq1 Q0 x#2 2 8 t\nq1 Q0 x#1 3 7 t\nq2 Q0 a#7 1 1 t",
        "new": "q1 Q0 x#1 1 9 t\nq1 Q0 a#1 2 1 t\nq2 Q0 a#1 1 1 t",
    }
    scorer, cards = scored(runs=runs, aggregate="maxp")

    assert wanted_of(scorer, POLICY, cards).documents == (("q1", "x"),)
    assert evidence_of(scorer, POLICY, cards, process=PROCESS).baseline.depth == 2


def test_names_that_are_no_text_are_told_apart(scored, tmp_path):
    scorer, cards = scored()
    raw = b"q\xff 0 d 1\nq1 0 a 1\n"
    (tmp_path / "qrels").write_bytes(raw)
    scorer = Scorer(Files(tmp_path / "qrels"), Rules(measures=("RR",)))
    (tmp_path / "old").write_bytes(b"q\xff Q0 d 1 1 t\nq1 Q0 a 1 1 t\n")
    cards = [scorer.score(tmp_path / "old")] * 2

    numbers = evidence_of(scorer, POLICY, cards, process=PROCESS)

    assert set(numbers.queries) == {"q1", "q\\xff"}
    assert numbers.families is None

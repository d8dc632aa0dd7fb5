"""Dawid-Skene finds what was planted, refuses what would fail quietly, and repeats itself."""

import numpy as np
import pytest

from benchwright.qrels.dawid_skene import fit, refuse_if_thin
from benchwright.qrels.errors import DawidSkeneRefusedError
from benchwright.qrels.events import Event, Label, Pair
from benchwright.qrels.rules import Derivation, Settings, rule_named

RULE = rule_named("dawid-skene")
# Three careful annotators, one who never gives the top grade, one who gives it too often.
PLANTED = np.array(
    [
        [[0.90, 0.07, 0.03], [0.08, 0.84, 0.08], [0.02, 0.08, 0.90]],
        [[0.85, 0.10, 0.05], [0.10, 0.80, 0.10], [0.05, 0.10, 0.85]],
        [[0.92, 0.05, 0.03], [0.05, 0.90, 0.05], [0.03, 0.07, 0.90]],
        [[0.90, 0.10, 0.00], [0.20, 0.80, 0.00], [0.10, 0.90, 0.00]],
        [[0.60, 0.20, 0.20], [0.10, 0.40, 0.50], [0.02, 0.03, 0.95]],
        [[0.88, 0.08, 0.04], [0.10, 0.82, 0.08], [0.04, 0.08, 0.88]],
    ]
)


def planted(n_items: int, per_item: int, seed: int = 3) -> tuple[list[Pair], list[int]]:
    """Documents with true grades, each graded by some of the six as their confusions say."""
    rng = np.random.default_rng(seed)
    true = rng.choice(3, size=n_items, p=[0.5, 0.3, 0.2])
    pairs = []
    for item, grade in enumerate(true):
        who = sorted(rng.choice(len(PLANTED), size=per_item, replace=False))
        results = [int(rng.choice(3, p=PLANTED[rater, grade])) for rater in who]
        labels = [
            Label((int(rater), ""), grade, item * 9 + place)
            for place, (rater, grade) in enumerate(zip(who, results, strict=True))
        ]
        pairs.append(Pair("q", f"d{item}", tuple(labels)))
    return pairs, true.tolist()


def test_planted_confusions_are_found():
    pairs, true = planted(6000, 4)

    model = fit(pairs)

    assert model.is_converged
    assert model.scale == (0, 1, 2)
    np.testing.assert_allclose(model.confusions, PLANTED, atol=0.04)
    np.testing.assert_allclose(model.prior, [0.5, 0.3, 0.2], atol=0.03)
    right = np.mean(np.array(model.grades) == true)
    by_median = np.mean([sorted(pair.grades)[1] for pair in pairs] == np.array(true))
    assert right > 0.94
    assert right > by_median


def test_rows_are_shares():
    pairs, _ = planted(300, 3)

    model = fit(pairs, smoothing=0.5)

    np.testing.assert_allclose(model.confusions.sum(axis=2), 1)
    np.testing.assert_allclose(model.probabilities.sum(axis=1), 1)
    assert model.prior.sum() == pytest.approx(1)
    assert (model.confusions > 0).all()


def test_the_expectation_of_one_document_by_hand():
    """Two steps of a case small enough for paper, with the formulas spelled out."""
    a, b = (1, ""), (2, "")
    pairs = [
        Pair("q", "d1", (Label(a, 0, 1), Label(b, 0, 2))),
        Pair("q", "d2", (Label(a, 1, 3), Label(b, 0, 4))),
    ]
    likely = [[1.0, 0.0], [0.5, 0.5]]
    s = 0.1
    for _ in range(2):
        prior = [sum(row[t] for row in likely) + s for t in (0, 1)]
        share = [value / sum(prior) for value in prior]
        # rater a gave 0 then 1, rater b gave 0 twice
        of_a = [[likely[0][t] + s, likely[1][t] + s] for t in (0, 1)]
        of_b = [[likely[0][t] + likely[1][t] + s, s] for t in (0, 1)]
        norm = (
            [[x / sum(row) for x in row] for row in of_a],
            [[x / sum(r) for x in r] for r in of_b],
        )
        raw = [
            [share[t] * norm[0][t][0] * norm[1][t][0] for t in (0, 1)],
            [share[t] * norm[0][t][1] * norm[1][t][0] for t in (0, 1)],
        ]
        likely = [[x / sum(row) for x in row] for row in raw]

    import benchwright.qrels.dawid_skene as module

    before = module.MAX_ITERATIONS
    module.MAX_ITERATIONS = 2
    try:
        model = fit(pairs, smoothing=s)
    finally:
        module.MAX_ITERATIONS = before
    np.testing.assert_allclose(model.probabilities, likely, rtol=1e-12)
    assert (model.n_iterations, model.is_converged) == (2, False)


@pytest.mark.parametrize(("n_items", "per_item", "n_enough"), [(30, 2, 0), (19, 6, 0), (200, 1, 0)])
def test_few_shared_documents_are_refused_with_the_reason(n_items, per_item, n_enough):
    pairs, _ = planted(n_items, per_item)

    with pytest.raises(DawidSkeneRefusedError, match=f"of 6 annotators {n_enough} did") as raised:
        refuse_if_thin(pairs)
    assert "5 annotators who each graded 20 documents" in str(raised.value)


def test_four_annotators_are_too_few_and_five_enough():
    pairs, _ = planted(200, 6)

    def of_first(n: int) -> list[Pair]:
        return [Pair(p.query, p.docid, p.labels[:n]) for p in pairs]

    refuse_if_thin(of_first(5))
    with pytest.raises(DawidSkeneRefusedError, match="of 4 annotators 4 did"):
        refuse_if_thin(of_first(4))


def test_twenty_shared_documents_are_enough():
    refuse_if_thin(planted(20, 6)[0])


def test_two_labels_make_a_document_shared():
    pairs, _ = planted(200, 2)

    refuse_if_thin(pairs)


def events_of(pairs: list[Pair]) -> list[Event]:
    return [
        Event(label.event, pair.query, pair.docid, "grade", label.grade, label.rater[0])
        for pair in pairs
        for label in pair.labels
    ]


def test_the_order_in_which_a_database_gives_pairs_changes_nothing():
    pairs, _ = planted(400, 3)

    first, second = Derivation(RULE, Settings()), Derivation(RULE, Settings())
    forward = list(first.of(events_of(pairs)))
    backward = list(second.of(events_of(pairs[::-1])))

    assert forward == backward
    assert first.fitted == second.fitted
    assert len(first.fitted["raters"]) == len(first.fitted["confusions"]) == 6


def test_rule_gives_each_pair_the_grade_that_was_fitted_and_keeps_what_it_found():
    pairs, _ = planted(300, 3)
    in_order = sorted(pairs, key=lambda pair: pair.docid)
    model = fit(in_order, smoothing=0.1)

    derivation = Derivation(RULE)
    graded = [(row.docid, row.grade) for row in derivation.of(events_of(pairs))]

    assert graded == list(zip([pair.docid for pair in in_order], model.grades, strict=True))
    assert sum(derivation.n_by_how.values()) == 300
    kept = derivation.fitted
    assert kept["scale"] == [0, 1, 2]
    assert kept["raters"] == [[n, ""] for n in range(6)]
    assert (kept["n_iterations"], kept["is_converged"]) == (model.n_iterations, model.is_converged)
    np.testing.assert_allclose(kept["confusions"], model.confusions, rtol=0, atol=5.1e-7)
    millionths = np.array(kept["confusions"]) * 1e6
    np.testing.assert_allclose(millionths, millionths.round(), rtol=0, atol=1e-6)


def test_equally_likely_grades_give_the_lower():
    raters = [(n, "") for n in range(2)]
    pair = Pair("q", "d", (Label(raters[0], 0, 1), Label(raters[1], 2, 2)))

    assert fit([pair]).grades == [0]


def test_no_labels_give_no_grades():
    assert list(Derivation(RULE, Settings()).of([])) == []


def test_what_has_settled_moves_no_more(monkeypatch):
    pairs, _ = planted(300, 4)
    model = fit(pairs)
    monkeypatch.setattr("benchwright.qrels.dawid_skene.TOLERANCE", 0.0)
    settled = fit(pairs, smoothing=0.1)

    assert model.is_converged and model.n_iterations < settled.n_iterations
    np.testing.assert_allclose(model.probabilities, settled.probabilities, atol=1e-4)


def test_what_never_settles_ends_after_a_hundred_steps(monkeypatch):
    monkeypatch.setattr("benchwright.qrels.dawid_skene.TOLERANCE", 0.0)

    model = fit(planted(20, 3)[0])

    assert (model.n_iterations, model.is_converged) == (100, False)


@pytest.mark.parametrize(("n_more", "grade"), [(1, 2), (-1, 0)])
def test_a_document_of_thousands_of_labels_has_shares_too(n_more, grade):
    """Of 3,000 labels that tell next to nothing, the likelihood is less than a computer holds."""
    n = 1_500
    labels = [Label((who, ""), 2 if who < n + n_more else 0, who) for who in range(2 * n)]

    model = fit([Pair("q", "d", tuple(labels))], smoothing=1e3)

    np.testing.assert_allclose(model.probabilities.sum(axis=1), 1)
    assert model.probabilities.max() < 0.6
    assert model.grades == [grade]

"""The estimate from the judged documents: fitted right, and never on its own labels."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize

from benchwright.estimation.errors import ArraysError, LearningError
from benchwright.estimation.learned import (
    N_FOLDS,
    Learned,
    estimated_ndcg,
    estimated_precision,
    estimated_reciprocal_rank,
    features,
    fitted,
    folds_of,
    learned,
    text_features,
)

N, EACH = 30, 20
OF_QUERY = np.repeat(np.arange(N), EACH)
FAMILIES = [f"f{number // 2}" for number in range(N)]


def made(seed=0):
    """Features, grades 0 to 2 that follow the first, and every second query without labels."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(N * EACH, 4))
    grades = np.clip(np.round(1 + rows[:, 0] + rng.normal(0, 0.5, N * EACH)), 0, 2)
    return rows, np.where(OF_QUERY % 4 < 2, grades, np.nan), grades


def test_fit_is_the_minimum_that_another_search_finds():
    rng = np.random.default_rng(0)
    rows = rng.normal(3, 2, (150, 3))
    y = rng.random(150) < 1 / (1 + np.exp(2 - rows[:, 0]))

    model = fitted(rows, y)

    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0)

    def loss(parameters):
        total = sum(w * w for w in parameters[:-1]) / 2
        for row, outcome in zip(standard, y, strict=True):
            margin = float(row @ parameters[:-1] + parameters[-1])
            total += 0.1 * (math.log1p(math.exp(margin)) - outcome * margin)
        return total

    result = optimize.minimize(loss, np.zeros(4), tol=1e-12)
    assert [*model.weights, model.intercept] == pytest.approx(result.x, abs=1e-5)
    assert model.probabilities(rows) == pytest.approx(
        1 / (1 + np.exp(-(standard @ result.x[:-1] + result.x[-1]))), abs=1e-5
    )


def test_outcomes_of_one_kind_are_not_certain():
    rows = np.arange(8.0)[:, np.newaxis]

    assert fitted(rows, np.ones(8, dtype=bool)).probabilities(rows) == pytest.approx([0.9] * 8)
    assert fitted(rows, np.zeros(8, dtype=bool)).probabilities(rows) == pytest.approx([0.1] * 8)


def test_feature_that_never_varies_is_no_trouble():
    rows = np.column_stack([np.ones(40), np.arange(40.0)])

    assert np.isfinite(fitted(rows, np.arange(40) > 20).probabilities(rows)).all()


def test_no_query_sees_a_label_of_its_family():
    rows, grades, _ = made()
    family = np.array([int(FAMILIES[query][1:]) for query in OF_QUERY])
    before = learned(rows, grades, OF_QUERY, FAMILIES, scale=(0, 1, 2)).expected

    for which in (0, 2, 4):
        other = np.where(family == which, 2 - grades, grades)
        after = learned(rows, other, OF_QUERY, FAMILIES, scale=(0, 1, 2)).expected
        assert (after[family == which] == before[family == which]).all()
        assert (after != before).any()


def test_each_fold_is_fitted_on_the_others():
    rows, grades, _ = made()
    grades[grades == 2] = 8
    fold = folds_of(FAMILIES)[OF_QUERY]

    result = learned(rows, grades, OF_QUERY, FAMILIES, scale=(8, 0, 1))

    for which in range(N_FOLDS):
        known = ~np.isnan(grades) & (fold != which)
        for column, grade in enumerate((1, 8)):
            p = fitted(rows[known], grades[known] >= grade).probabilities(rows[fold == which])
            higher = result.at_least[fold == which, column]
            assert (higher == p).all() or (column == 1 and (higher <= p).all())


def test_expected_grade_sums_the_steps():
    result = Learned(np.array([[0.8, 0.5], [0.2, 0.0]]), (1, 3))

    assert result.expected == pytest.approx([0.8 + 2 * 0.5, 0.2])
    assert result.relevant(2) == pytest.approx([0.5, 0.0])
    assert result.relevant(1) == pytest.approx([0.8, 0.2])
    assert result.relevant(4) == pytest.approx([0, 0])


def test_it_tells_relevant_documents_of_queries_that_nobody_judged():
    rows, grades, truth = made()
    unseen = np.isnan(grades)

    expected = learned(rows, grades, OF_QUERY, FAMILIES, scale=(0, 1, 2)).expected

    assert np.corrcoef(expected[unseen], truth[unseen])[0, 1] > 0.7


def test_labels_in_one_fold_teach_nothing():
    rows, _, truth = made()
    grades = np.where(OF_QUERY == 0, truth, np.nan)

    with pytest.raises(LearningError, match="labels are in 1 of 5 folds"):
        learned(rows, grades, OF_QUERY, FAMILIES, scale=(0, 1, 2))


def test_family_is_in_one_fold_and_folds_are_even():
    names = [f"f{number}" for number in range(1000)]

    folds = folds_of(names)

    assert (folds_of(names[::-1])[::-1] == folds).all()
    assert np.bincount(folds, minlength=5).min() > 150
    assert (folds_of(names, seed=1) != folds).any()


# --- features ------------------------------------------------------------------------------------


def test_features_of_scores_are_worked_out_by_hand():
    of_query = np.array([0, 0, 0, 1])
    scores = {"bm25": np.array([4.0, 2.0, np.nan, 7.0])}

    columns = features(scores, of_query)

    # What was not found stands at the lowest score of its query.
    spread = np.std([4, 2, 2])
    assert columns[:, 0].tolist() == [4, 2, 2, 7]
    assert columns[:, 1] == pytest.approx([(4 - 8 / 3) / spread, *[(2 - 8 / 3) / spread] * 2, 0])
    assert columns[:, 2] == pytest.approx([1, 0.5, 0.5, 1])
    assert columns[:, 3] == pytest.approx(np.log1p([0, 1, 2, 0]))


@pytest.mark.parametrize("score", [0.1, 1e9 / 3, -0.7])
def test_equal_scores_of_a_query_have_no_z(score):
    assert features({"bm25": np.full(3, score)}, np.zeros(3, dtype=int))[:, 1].tolist() == [0.0] * 3


def test_query_without_a_document_moves_no_rank_of_the_next():
    columns = features({"bm25": np.array([1.0, 2.0, 3.0])}, np.array([0, 2, 2]))

    assert columns[:, 3] == pytest.approx(np.log1p([0, 1, 0]))


def test_function_that_scored_nothing_or_below_0_has_no_share_of_its_highest():
    of_query = np.array([0, 0, 1, 1])
    scores = {"dense": np.array([np.nan, np.nan, -0.5, -2.0])}

    columns = features(scores, of_query)

    # A query of which it found nothing stands at 0 throughout.
    assert columns[:, 0].tolist() == [0.0, 0.0, -0.5, -2.0]
    assert columns[:, 1].tolist() == [0.0, 0.0, 1.0, -1.0]
    assert columns[:, 2].tolist() == [0.0] * 4


def test_features_of_texts_are_worked_out_by_hand():
    result = text_features(
        [["red", "wine", "red"]],
        [["wine", "glass"], []],
        np.array([0, 0]),
        {"red": 3.0, "wine": 1.0},
    )

    assert [column.tolist() for column in result[:2]] == [[0.5, 0.0], [0.25, 0.0]]
    assert result[2] == pytest.approx([math.log(3), 0])
    assert result[3] == pytest.approx([math.log(4)] * 2)


def test_without_features_nothing_is_learned():
    with pytest.raises(ArraysError, match="no feature"):
        features({}, np.array([0]))


# --- what a run is worth -------------------------------------------------------------------------


def test_estimated_reciprocal_rank_is_the_mean_over_all_outcomes():
    p = np.array([0.2, 0.7, 0.4])
    expected = 0.0
    for outcome in itertools.product([0, 1], repeat=3):
        chance = np.prod(np.where(outcome, p, 1 - p))
        first = next(
            (1 / place for place, is_relevant in enumerate(outcome, start=1) if is_relevant), 0
        )
        expected += chance * first

    assert estimated_reciprocal_rank(p, cutoff=10) == pytest.approx(expected)
    assert estimated_reciprocal_rank(p, cutoff=1) == pytest.approx(0.2)


def test_estimated_ndcg_and_precision_are_worked_out_by_hand():
    ranked, everything = np.array([0.5, 2.0, 1.0]), np.array([0.5, 2.0, 1.0, 1.5])

    best = 2 + 1.5 / math.log2(3)
    assert estimated_ndcg(ranked, everything, cutoff=2) == pytest.approx(
        (0.5 + 2 / math.log2(3)) / best
    )
    assert estimated_precision(np.array([0.5, 0.25]), cutoff=5) == pytest.approx(0.15)
    assert estimated_ndcg(np.zeros(2), np.zeros(2), cutoff=2) == 0

"""The interval of alpha, by a slow bootstrap that draws labels and not matrices."""

import numpy as np
import pytest

from benchwright.agreement.bootstrap import alpha_with_interval, cluster_coincidences
from benchwright.agreement.coefficients import Level, coincidences, krippendorff
from benchwright.agreement.labels import Labels

pytestmark = pytest.mark.in_thirds

SCALE = (0, 1, 2, 3)


def noisy(n_queries: int, per_query: int, seed: int = 5, spread: float = 0.8) -> Labels:
    """Two or three raters around a true grade that depends on the query, too."""
    rng = np.random.default_rng(seed)
    rows = []
    for query in range(n_queries):
        of_query = rng.normal(1.5, 1)
        for item in range(per_query):
            true = of_query + rng.normal(0, 0.7)
            for rater in rng.choice(4, size=rng.integers(1, 4), replace=False):
                grade = int(np.clip(round(true + rng.normal(0, spread)), 0, 3))
                rows.append((query, item, int(rater), grade))
    return Labels.from_rows(rows, SCALE)


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("by_query", [True, False])
def test_the_interval_is_that_of_drawing_whole_clusters_label_by_label(level, by_query):
    labels = noisy(9, 4)
    counts = labels.counts()
    of = labels.clusters if by_query else np.arange(labels.n_items)
    paired = [c for c in range(of.max() + 1) if (counts[of == c].sum(axis=1) > 1).any()]
    # The draws know clusters by what they hold.
    paired.sort(key=lambda c: tuple(coincidences(counts[of == c]).ravel()[::-1]))

    alpha = alpha_with_interval(
        labels, level, np.random.default_rng(1), by_query=by_query, draws=200
    )

    rng = np.random.default_rng(1)
    drawn = []
    for times in rng.multinomial(len(paired), np.full(len(paired), 1 / len(paired)), size=200):
        rows = [counts[of == c] for c, n in zip(paired, times, strict=True) for _ in range(n)]
        drawn.append(krippendorff(np.concatenate(rows), SCALE, level).value)
    assert (alpha.low, alpha.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=1e-9)
    assert alpha.low < alpha.value < alpha.high


def test_clusters_add_up_to_the_whole():
    labels = noisy(7, 5)
    counts = labels.counts()

    parts = cluster_coincidences(counts, labels.clusters, 7)

    np.testing.assert_allclose(parts.sum(axis=0), coincidences(counts))


def test_the_same_labels_and_seed_give_the_same_interval_in_any_order():
    grades = np.random.default_rng(3).integers(4, size=(20, 5, 2))
    rows = [
        (query, item, rater, int(grade)) for (query, item, rater), grade in np.ndenumerate(grades)
    ]
    reordered = sorted(rows, key=lambda row: 7 * row[0] % 20)

    first, second, another = (
        alpha_with_interval(
            Labels.from_rows(of, SCALE), Level.ORDINAL, np.random.default_rng(seed), draws=100
        )
        for of, seed in ((rows, 1), (reordered, 1), (rows, 2))
    )

    assert (first.low, first.high) == (second.low, second.high)
    assert (first.low, first.high) != (another.low, another.high)


def test_documents_of_a_query_are_alike_so_queries_give_the_wider_interval():
    rng = np.random.default_rng(8)
    rows = []
    for query in range(30):
        off = rng.integers(0, 2) * 2  # in half of the queries the second rater is two grades off
        for item in range(20):
            grade = int(rng.integers(0, 2))
            rows += [(query, item, "a", grade), (query, item, "b", grade + int(off))]
    labels = Labels.from_rows(rows, SCALE)

    by_query, by_item = (
        alpha_with_interval(labels, Level.ORDINAL, np.random.default_rng(1), by_query=which)
        for which in (True, False)
    )

    assert by_query.high - by_query.low > 2 * (by_item.high - by_item.low)


def test_about_95_of_100_intervals_hold_the_alpha_of_many_queries():
    whole = krippendorff(noisy(4000, 6, seed=1).counts(), SCALE, Level.ORDINAL).value

    hits = 0
    for seed in range(100):
        alpha = alpha_with_interval(
            noisy(40, 6, seed=100 + seed), Level.ORDINAL, np.random.default_rng(seed), draws=300
        )
        hits += alpha.low <= whole <= alpha.high

    assert 86 <= hits <= 100


def test_one_query_has_no_interval():
    alpha = alpha_with_interval(noisy(1, 20), Level.ORDINAL, np.random.default_rng(1))

    assert alpha.is_defined
    assert (alpha.low, alpha.high) == (None, None)


def test_undefined_stays_undefined():
    labels = Labels.from_rows([("q", "d", "a", 1), ("r", "e", "b", 1)], SCALE)

    alpha = alpha_with_interval(labels, Level.ORDINAL, np.random.default_rng(1))

    assert str(alpha) == "undefined, because no document has two labels"

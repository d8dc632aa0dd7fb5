"""The learned estimate by ids: the same numbers as from arrays, and values of runs."""

import numpy as np
import pytest

from benchwright.estimation.corrected import corrected_mean
from benchwright.estimation.drawing import drawn
from benchwright.estimation.errors import ArraysError, LearningError
from benchwright.estimation.learned import LEAST_FAMILIES, features, learned, text_features
from benchwright.estimation.learning import learned_estimate

N, EACH = 60, 15
POOL = {f"q{q}": [f"d{q}-{d}" for d in range(EACH)] for q in range(N)}


def made(seed=0):
    """Scores of two functions, true grades that follow them, and labels of every other query."""
    rng = np.random.default_rng(seed)
    scores = {"bm25": {}, "tfidf": {}}
    truth = {}
    for query, documents in POOL.items():
        signal = rng.normal(size=EACH)
        scores["bm25"][query] = dict(zip(documents, signal + rng.normal(0, 0.5, EACH), strict=True))
        # TF-IDF has found two thirds of them.
        some = zip(documents[:10], signal + rng.normal(0, 0.8, EACH), strict=False)
        scores["tfidf"][query] = dict(some)
        grades = np.clip(np.round(1 + signal), 0, 2).astype(int).tolist()
        truth[query] = dict(zip(documents, grades, strict=True))
    return scores, truth


WORDS = {
    "query_words": {query: ["red", query] for query in POOL},
    "document_words": {
        document: ["red"] * (at % 2) + ["wine"] * at
        for documents in POOL.values()
        for at, document in enumerate(documents)
    },
    "idf": {"red": 2.0, "wine": 1.0},
}


def estimate_of(scores, labels, **more):
    return learned_estimate(
        POOL, labels, scale=(0, 1, 2), relevant_from=2, scores=scores, **{**WORDS, **more}
    )


def test_estimates_are_those_of_the_arrays():
    scores, truth = made()
    labels = {query: truth[query] for query in [*POOL][::2]}
    families = {query: f"f{int(query[1:]) // 2}" for query in POOL}

    estimate = estimate_of(scores, labels, families=families)

    pairs = [(q, d) for q, documents in POOL.items() for d in documents]
    of_query = np.repeat(np.arange(N), EACH)
    rows = features(
        {name: np.array([of[q].get(d, np.nan) for q, d in pairs]) for name, of in scores.items()},
        of_query,
        text_features(
            [*WORDS["query_words"].values()],
            [WORDS["document_words"][d] for _, d in pairs],
            of_query,
            WORDS["idf"],
        ),
    )
    known = np.array([labels.get(q, {}).get(d, np.nan) for q, d in pairs])
    names = [families[q] for q in POOL]
    expected = learned(rows, known, of_query, names, scale=(0, 1, 2))
    assert [estimate.expected(q, d) for q, d in pairs] == expected.expected.tolist()
    p = expected.relevant(2)
    assert [estimate.doubt(q, d) for q, d in pairs] == pytest.approx(4 * p * (1 - p))
    assert estimate.expected("q0", "elsewhere") == estimate.doubt("nowhere", "d") == 0


@pytest.mark.parametrize("measure", ["nDCG", "P", "RR"])
def test_values_of_a_run_are_worked_out_by_hand(measure):
    scores, truth = made()
    estimate = estimate_of(scores, truth)
    run = {query: [documents[3], "unpooled", documents[0]] for query, documents in POOL.items()}
    del run["q5"]

    values = estimate.values(run, measure=measure, cutoff=3)

    assert values["q5"] == 0
    at = estimate.place["q0"]
    if measure == "nDCG":
        gains = [estimate.expected("q0", d) for d in run["q0"]]
        best = sorted((estimate.expected("q0", d) for d in POOL["q0"]), reverse=True)[:3]
        discount = [1, 1 / np.log2(3), 0.5]
        assert values["q0"] == pytest.approx(np.dot(gains, discount) / np.dot(best, discount))
        return
    p = estimate.estimates.relevant(2)
    first, last = p[at["d0-3"]], p[at["d0-0"]]
    by_hand = (first + last) / 3 if measure == "P" else first + (1 - first) * last / 3
    assert values["q0"] == pytest.approx(by_hand)


def test_it_sharpens_the_mean_of_a_run():
    """From forty labelled queries of sixty: a narrower interval about the truth."""
    scores, truth = made()
    draw = drawn(POOL, 40, seed=0)
    labels = {query: truth[query] for query in draw.families}
    run = {q: sorted(documents, key=scores["bm25"][q].get)[::-1] for q, documents in POOL.items()}

    machine = estimate_of(scores, labels).values(run, measure="P", cutoff=5)

    people = {
        query: sum(truth[query][d] >= 2 for d in run[query][:5]) / 5 for query in draw.families
    }
    estimate = corrected_mean(people, machine, draw=draw, least_families=LEAST_FAMILIES)
    assert estimate.is_helped
    assert estimate.high - estimate.low < estimate.people_high - estimate.people_low
    all_of_them = np.mean([sum(truth[q][d] >= 2 for d in run[q][:5]) / 5 for q in POOL])
    assert estimate.low < all_of_them < estimate.high


def test_what_teaches_nothing_is_refused():
    scores, truth = made()

    with pytest.raises(ArraysError, match="The pool is empty"):
        learned_estimate({"q": []}, truth, scale=(0, 1), scores=scores)
    with pytest.raises(LearningError, match="labels are in 0 of 5 folds"):
        estimate_of(scores, {})
    with pytest.raises(ArraysError, match="no feature"):
        learned_estimate(POOL, truth, scale=(0, 1, 2), scores={})

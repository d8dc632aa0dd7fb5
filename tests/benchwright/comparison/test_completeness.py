"""Which unjudged documents matter, and whether the verdict on two runs could still change."""

import gzip
from dataclasses import replace
from itertools import combinations
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from benchwright import evaluate
from benchwright.comparison.completeness import (
    BETTER,
    NO_DIFFERENCE,
    Candidate,
    Question,
    Worth,
    feature_row,
    fit_relevance,
    n_still_worth,
    pair_verdicts,
    unjudged_documents,
    worth_in_order,
)
from tests.benchwright.realdata import data_folder

GRADES = {"q1": {"a": 2, "b": 0, "z": 1}, "q2": {"c": 0}}
ONE = {"q1": ["a", "x", "b"], "q2": ["c", "w"]}
OTHER = {"q1": ["x", "a", "y"], "q2": ["w", "c"]}


def influences(runs, probability=0.5, cutoff=10):
    documents = unjudged_documents(runs, GRADES, cutoff=cutoff)
    worth = worth_in_order(documents, [probability] * len(documents), GRADES, cutoff=cutoff)
    return {(document.qid, document.docid): document.influence for document in worth}


# --- influence -----------------------------------------------------------------------------------


def test_a_document_counts_by_what_its_ranks_differ_in_over_the_ideal():
    """q1's ideal is 2 + 1/log2(3); q2 has no relevant document, and is divided by 1."""
    ideal = 2 + 1 / log2(3)

    influence = influences([ONE, OTHER])

    assert influence == pytest.approx(
        {
            ("q1", "x"): (1 - 1 / log2(3)) / ideal * 0.5,
            ("q1", "y"): 0.5 / ideal * 0.5,
            ("q2", "w"): (1 - 1 / log2(3)) * 0.5,
        }
    )


def test_the_most_influential_document_comes_first():
    documents = unjudged_documents([ONE, OTHER], GRADES, cutoff=10)

    worth = worth_in_order(documents, [0.5] * 3, GRADES, cutoff=10)

    assert [(document.docid, document.priority) for document in worth] == [
        ("w", 1),
        ("y", 2),
        ("x", 3),
    ]
    assert worth[1].ranks == (None, 3)


def test_one_run_alone_counts_its_own_discount():
    influence = influences([ONE], probability=1.0)

    assert influence[("q2", "w")] == pytest.approx(1 / log2(3))


def test_a_document_at_the_same_rank_in_both_runs_is_not_worth_judging():
    assert ("q1", "x") not in influences([ONE, {"q1": ["b", "x"]}])


def test_documents_below_the_cutoff_and_of_ungraded_queries_are_left_out():
    runs = [ONE, {"q9": ["n"], **OTHER}]

    documents = unjudged_documents(runs, GRADES, cutoff=2)

    assert [(document.qid, document.docid) for document in documents] == [("q1", "x"), ("q2", "w")]


def test_a_pair_that_was_pooled_and_not_judged_is_unjudged():
    documents = unjudged_documents([ONE], {"q2": {"c": -1, "w": 0}}, cutoff=10)

    assert documents == [Candidate("q2", "c", (1,))]


@given(
    st.lists(st.permutations("abcdef"), min_size=2, max_size=4),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3), max_size=4),
    st.integers(1, 6),
)
def test_influence_is_that_of_all_pairs_whatever_the_runs(orders, judged, cutoff):
    runs = [{"q": order} for order in orders]

    documents = unjudged_documents(runs, {"q": judged}, cutoff=cutoff)
    worth = worth_in_order(documents, [1.0] * len(documents), {"q": judged}, cutoff=cutoff)

    def counts(order, docid):
        rank = list(order).index(docid) + 1
        return 1 / log2(rank + 1) if rank <= cutoff else 0.0

    best = sorted((g for g in judged.values() if g > 0), reverse=True)[:cutoff]
    ideal = sum(g / log2(r + 1) for r, g in enumerate(best, start=1)) or 1.0
    for document in worth:
        moved = sum(
            abs(counts(x, document.docid) - counts(y, document.docid))
            for x, y in combinations(orders, 2)
        )
        assert document.influence == pytest.approx(moved / ideal)
        assert document.docid not in judged
    assert [document.influence for document in worth] == sorted(
        (w.influence for w in worth), reverse=True
    )


# --- probability ---------------------------------------------------------------------------------


def labelled(n=400, seed=0):
    rng = np.random.default_rng(seed)
    features = np.column_stack(
        [rng.uniform(0.3, 1, n), rng.integers(1, 8, n), rng.normal(0, 1, n)]
    ).astype(float)
    odds = -3 + 3 * features[:, 0] + 0.3 * features[:, 1] + 0.5 * features[:, 2]
    return features, rng.random(n) < 1 / (1 + np.exp(-odds))


def test_the_fit_is_the_maximum_of_the_penalised_likelihood():
    """scipy's general optimiser finds the same weights."""
    features, relevant = labelled()
    model = fit_relevance(features, relevant)
    design = np.column_stack([np.ones(400), (features - features.mean(0)) / features.std(0)])

    def loss(weights):
        odds = design @ weights
        return np.logaddexp(0, odds).sum() - odds[relevant].sum() + (weights[1:] ** 2).sum() / 2

    assert model.weights == pytest.approx(minimize(loss, np.zeros(4)).x, abs=1e-4)
    assert (model.n_labels, model.n_relevant, model.is_prior) == (400, relevant.sum(), False)


def test_predicted_rates_are_those_of_the_labels():
    features, relevant = labelled()

    fitted = fit_relevance(features, relevant).probabilities(features)

    assert fitted.mean() == pytest.approx(relevant.mean(), abs=1e-6)
    assert fitted[relevant].mean() > fitted[~relevant].mean()


def test_too_few_labels_give_one_rate_and_say_so():
    features, _ = labelled(49)

    model = fit_relevance(features, [True] * 5 + [False] * 44)

    assert model.is_prior
    assert model.probabilities(features) == pytest.approx([6.5 / 54] * 49)


def test_separable_labels_have_a_finite_fit():
    features = np.column_stack([np.repeat([0.1, 0.9], 50), np.ones(100), np.zeros(100)])

    fitted = fit_relevance(features, [False] * 50 + [True] * 50).probabilities(features)

    assert 0 < fitted.min() < 0.2
    assert 0.8 < fitted.max() < 1


def test_draws_scatter_around_the_fit():
    features, relevant = labelled()
    model = fit_relevance(features, relevant)

    drawn = model.drawn(features[:3], n_draws=4000, rng=np.random.default_rng(2))

    assert drawn.mean(axis=0) == pytest.approx(model.probabilities(features[:3]), abs=0.02)
    assert (drawn.std(axis=0) > 0).all()


def test_rate_that_all_labels_share_leaves_the_rate_of_others_open_by_the_ridge_alone():
    """Its weight is drawn from N(0, 1), and counts by how far the other rate is off in log odds."""
    rows = np.array([feature_row([1 + n % 9, 3], 0.13) for n in range(97)])
    model = fit_relevance(rows, [n % 9 < 3 and n % 2 == 0 for n in range(97)])

    drawn = model.drawn(
        np.array([feature_row([3, 3], 0.13), feature_row([3, 3], 0.4)]),
        n_draws=4000,
        rng=np.random.default_rng(2),
    )

    ours, others = np.log(drawn / (1 - drawn)).T
    assert np.std(others - ours) == pytest.approx(np.log(0.4 / 0.6) - np.log(0.13 / 0.87), rel=0.05)


# --- verdicts ------------------------------------------------------------------------------------


def question(grades, one, other, probability=0.5, n_draws=50, cutoff=10):
    documents = unjudged_documents([one, other], grades, cutoff=cutoff)
    return Question(
        grades=grades,
        rankings=(one, other),
        unjudged=documents,
        probabilities=np.full((n_draws, len(documents)), probability),
        grades_of=([0], [1, 2]),
        top_grade=2,
        cutoff=cutoff,
    )


def ndcg(grades, run):
    scored = {q: {d: 1.0 / r for r, d in enumerate(ds, 1)} for q, ds in run.items()}
    return evaluate(grades, scored, ["nDCG@10"]).means["nDCG@10"]


def test_raw_and_all_relevant_are_what_the_engine_says():
    verdicts = pair_verdicts(question(GRADES, ONE, OTHER))
    filled = {"q1": {**GRADES["q1"], "x": 2, "y": 2}, "q2": {**GRADES["q2"], "w": 2}}

    assert verdicts.raw == pytest.approx(ndcg(GRADES, ONE) - ndcg(GRADES, OTHER))
    assert verdicts.all_relevant == pytest.approx(ndcg(filled, ONE) - ndcg(filled, OTHER))
    assert verdicts.n_unjudged == 3


def test_drawn_differences_are_those_of_certain_grades_where_nothing_is_open():
    certain = question(GRADES, ONE, OTHER, probability=0.0, n_draws=2)

    verdicts = pair_verdicts(certain)

    assert verdicts.drawn_low == pytest.approx(verdicts.raw) == pytest.approx(verdicts.drawn_high)
    assert verdicts.drawn_alike == 1.0


def many(n, one, other):
    return (
        {f"q{i}": {"good": 1, "bad": 0} for i in range(n)},
        {f"q{i}": one for i in range(n)},
        {f"q{i}": other for i in range(n)},
    )


def test_a_difference_with_nothing_unjudged_is_settled():
    verdicts = pair_verdicts(question(*many(20, ["good", "bad"], ["bad", "good"])))

    assert verdicts.raw_verdict == verdicts.all_relevant_verdict == BETTER
    assert verdicts.is_settled
    assert verdicts.n_unjudged == 0


def test_a_lead_that_the_unjudged_could_undo_is_open():
    """The other run's first documents, were they relevant, would take it."""
    grades, one, other = many(20, ["good", "bad"], ["new", "good"])
    certain = question(grades, one, other, probability=0.0, n_draws=2)

    assert pair_verdicts(certain).drawn_alike == 1.0

    verdicts = pair_verdicts(question(grades, one, other))

    assert verdicts.raw_verdict == BETTER
    assert verdicts.all_relevant_verdict != BETTER
    assert not verdicts.is_settled


def test_equal_runs_show_no_difference_in_any_scenario():
    grades, one, _ = many(20, ["new", "good"], [])

    verdicts = pair_verdicts(question(grades, one, one))

    assert (verdicts.raw, verdicts.raw_verdict, verdicts.is_settled) == (0.0, NO_DIFFERENCE, True)


@pytest.mark.parametrize(("n", "families"), [(1, None), (3, np.zeros(3, dtype=int))])
def test_one_query_or_family_leaves_a_verdict_no_slack(n, families):
    asked = replace(question(*many(n, ["good", "bad"], ["new", "good"])), families=families)

    assert pair_verdicts(asked).slack == 0.0


def test_the_same_seed_draws_the_same():
    asked = question(*many(20, ["good", "bad"], ["new", "good"]))

    assert pair_verdicts(asked, seed=3) == pair_verdicts(asked, seed=3)
    assert pair_verdicts(asked, seed=3) != pair_verdicts(asked, seed=4)


@given(st.lists(st.floats(0.001, 1), max_size=20), st.floats(0, 3))
def test_what_is_left_after_the_worthwhile_moves_less_than_the_slack(influences, slack):
    ordered = sorted(influences, reverse=True)
    listed = [Worth("q", str(i), i + 1, of) for i, of in enumerate(ordered)]

    n = n_still_worth(listed, n_queries=1, slack=slack)

    assert sum(ordered[n:]) <= slack + 1e-9
    assert n == 0 or sum(ordered[n - 1 :]) > slack - 1e-9


def test_a_list_is_worth_judging_whole_where_the_verdict_has_no_slack():
    listed = [Worth("q", "a", 1, 0.5), Worth("q", "b", 2, 0.1)]

    assert n_still_worth(listed, n_queries=1, slack=0.0) == 2


# --- real runs -----------------------------------------------------------------------------------


def trec_covid():
    folder = data_folder("trec_covid_round1")
    grades: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.covid-round1.txt").read_text().splitlines():
        qid, _, docid, grade = line.split()
        grades.setdefault(qid, {})[docid] = int(grade)
    runs = []
    for path in sorted((folder / "runs").glob("*.gz"))[:9]:
        results: dict[str, list[tuple[float, str]]] = {}
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            qid, _, docid, _, score, _ = line.split()
            results.setdefault(qid, []).append((float(score), docid))
        runs.append({q: [d for _, d in sorted(of, reverse=True)[:50]] for q, of in results.items()})
    return grades, runs


def difference(grades, pair):
    one, other = (
        evaluate(
            grades,
            {q: {d: 1.0 / r for r, d in enumerate(ds, 1)} for q, ds in run.items()},
            ["nDCG@10"],
        )
        for run in pair
    )
    return one.means["nDCG@10"] - other.means["nDCG@10"]


def judged(start, listed, full):
    grades = {qid: dict(of) for qid, of in start.items()}
    for document in listed:
        grades[document.qid][document.docid] = full[document.qid][document.docid]
    return grades


@pytest.mark.data
def test_half_of_the_labels_by_influence_leave_less_error_than_half_at_random():
    """Three runs were pooled; what their labels say orders those of the other pairs."""
    full, runs = trec_covid()
    rng = np.random.default_rng(1)
    pooled, errors, random_errors = runs[:3], [], []
    start = {
        qid: {d: g for d, g in of.items() if any(d in run.get(qid, ())[:10] for run in pooled)}
        for qid, of in full.items()
    }

    for pair in combinations(runs[3:], 2):
        ranks: dict[tuple[str, str], list[int]] = {}
        for run in (*pair, *pooled):
            for qid in start:
                for rank, docid in enumerate(run.get(qid, ()), start=1):
                    ranks.setdefault((qid, docid), []).append(rank)
        known = [key for key in ranks if key[1] in start[key[0]]]
        model = fit_relevance(
            np.array([feature_row(ranks[key], 0.3) for key in known]),
            [start[qid][docid] > 0 for qid, docid in known],
        )
        open_ones = unjudged_documents(pair, start, cutoff=10)
        open_ones = [document for document in open_ones if document.docid in full[document.qid]]
        rows = np.array(
            [feature_row(ranks[document.qid, document.docid], 0.3) for document in open_ones]
        )
        worth = worth_in_order(open_ones, model.probabilities(rows).tolist(), start, cutoff=10)
        half = len(worth) // 2
        end = difference(judged(start, open_ones, full), pair)
        shuffled = [worth[place] for place in rng.permutation(len(worth))]
        errors.append(abs(difference(judged(start, worth[:half], full), pair) - end))
        random_errors.append(abs(difference(judged(start, shuffled[:half], full), pair) - end))

    assert not model.is_prior
    assert np.mean(errors) < 0.9 * np.mean(random_errors)

"""Systems left out of the pool they made, against scoring them again on what is left."""

import gzip
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from scoring.core import evaluate
from scoring.core.reusability import leave_one_out
from tests.scoring.core.realdata import data_folder

NAMES, DOCIDS = "abc", "uvwxyz"


def scores(run):
    return {q: {d: 1.0 / r for r, d in enumerate(ds, 1)} for q, ds in run.items() if ds}


def brute_force(runs, grades, pooled, name, cutoff=10):
    """The grades without those that `name` alone brought, as a loop over all pairs."""
    left = {}
    for qid, of in grades.items():
        for docid, grade in of.items():
            by = [r for r, d in pooled.items() if docid in list(runs[r].get(qid, ()))[:d]]
            if by != [name]:
                left.setdefault(qid, {})[docid] = grade
    return left


def values(grades, run, qids, cutoff=10):
    """nDCG and judged share of each query, by their definitions."""
    found = {}
    for qid in qids:
        top, judged = list(run.get(qid, ()))[:cutoff], grades.get(qid, {})
        gain = sum(max(judged.get(d, 0), 0) / log2(r + 1) for r, d in enumerate(top, 1))
        best = sorted((g for g in judged.values() if g > 0), reverse=True)[:cutoff]
        ideal = sum(g / log2(r + 1) for r, g in enumerate(best, 1))
        share = sum(judged.get(d, -1) >= 0 for d in top) / len(top) if top else None
        found[qid] = (gain / ideal if ideal else 0.0, share)
    return found


def mean(numbers):
    numbers = [number for number in numbers if number is not None]
    return sum(numbers) / len(numbers) if numbers else float("nan")


rankings = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]), st.permutations(DOCIDS).map(lambda o: o[:4]), min_size=1
)


@given(
    st.fixed_dictionaries(dict.fromkeys(NAMES, rankings)),
    st.dictionaries(
        st.sampled_from(["q1", "q2", "q3"]),
        st.dictionaries(st.sampled_from(DOCIDS), st.integers(-1, 2), min_size=1),
        min_size=1,
    ),
    st.fixed_dictionaries(dict.fromkeys(NAMES, st.integers(0, 4))),
)
def test_each_system_falls_as_far_as_scoring_it_again_says(runs, grades, pooled):
    found = leave_one_out(runs, grades, pooled=pooled)

    contributors = {name: depth for name, depth in pooled.items() if depth}
    assert {one.run for one in found.systems} == set(contributors)
    for one in found.systems:
        left = brute_force(runs, grades, contributors, one.run)
        before, after = (values(g, runs[one.run], grades) for g in (grades, left))
        assert one.full == pytest.approx(mean(v for v, _ in before.values()))
        assert one.without == pytest.approx(mean(v for v, _ in after.values()))
        assert one.judged == pytest.approx(mean(s for _, s in after.values()), nan_ok=True)
        assert one.judged_full == pytest.approx(mean(s for _, s in before.values()), nan_ok=True)
        assert one.n_unique == sum(
            grade >= 0 and docid not in left.get(qid, {})
            for qid, of in grades.items()
            for docid, grade in of.items()
        )


def test_a_system_that_nobody_shares_documents_with_loses_everything():
    runs = {"old": {"q": ["a"]}, "new": {"q": ["b"]}}

    found = leave_one_out(runs, {"q": {"a": 0, "b": 1}}, pooled={"old": 1, "new": 1})

    assert [(one.run, one.full, one.without, one.judged) for one in found.systems] == [
        ("old", 0.0, 0.0, 0.0),
        ("new", 1.0, 0.0, 0.0),
    ]
    assert found.worst_shift == -1.0
    assert found.least_judged == 0.0


def test_judgments_that_no_system_brought_stay():
    found = leave_one_out(
        {"a": {"q": ["x", "y"]}, "b": {"q": ["x"]}},
        {"q": {"x": 1, "y": 2}},
        pooled={"a": 1, "b": 1},
    )

    assert [one.n_unique for one in found.systems] == [0, 0]
    assert (found.n_judged, found.n_contributed) == (2, 1)


def test_runs_that_were_not_pooled_are_ranked_and_not_left_out():
    found = leave_one_out(
        {"a": {"q": ["x"]}, "late": {"q": ["x"]}}, {"q": {"x": 1}}, pooled={"a": 1}
    )

    assert [(one.run, one.rank_full, one.rank) for one in found.systems] == [("a", 1, 1)]


@pytest.mark.data
def test_the_contributors_of_trec_covid_fall_as_far_as_the_engine_says():
    """Round 1 pooled 11 of these 24 runs to depth 7, so nothing of their first 5 is unjudged."""
    folder = data_folder("trec_covid_round1")
    grades: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.covid-round1.txt").read_text().splitlines():
        qid, _, docid, grade = line.split()
        grades.setdefault(qid, {})[docid] = int(grade)
    official = [
        line.split("\t") for line in (folder / "leaderboard_official.tsv").read_text().splitlines()
    ]
    pooled_at = official[0].index("contributed_judgments")
    names = {row[0] for row in official[1:] if row[pooled_at] == "yes"}
    runs = {}
    for path in sorted((folder / "runs").glob("*.gz")):
        found: dict[str, list[tuple[float, str]]] = {}
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            qid, _, docid, _, score, _ = line.split()
            found.setdefault(qid, []).append((float(score), docid))
        runs[path.name.split(".")[0]] = {
            qid: [docid for _, docid in sorted(of, reverse=True)[:10]] for qid, of in found.items()
        }
    pooled = {name: 7 for name in runs if name in names}
    assert len(pooled) == 11

    told = leave_one_out(runs, grades, pooled=pooled)

    full = {name: evaluate(grades, scores(run), ["nDCG@10"]) for name, run in runs.items()}
    for one in told.systems:
        left = brute_force(runs, grades, pooled, one.run)
        again = evaluate(left, scores(runs[one.run]), ["nDCG@10", "Judged@10"])
        assert one.full == pytest.approx(full[one.run].means["nDCG@10"])
        assert one.without == pytest.approx(again.means["nDCG@10"])
        assert one.judged == pytest.approx(again.means["Judged@10"])
    one = told.systems[0]
    left = brute_force(runs, grades, pooled, one.run)
    others = [evaluate(left, scores(run), ["nDCG@10"]).means["nDCG@10"] for run in runs.values()]
    expected = kendalltau([of.means["nDCG@10"] for of in full.values()], others).statistic
    assert one.tau == pytest.approx(expected)
    # Few systems have a part in such a pool here, so each brought much alone: shifts are large, and
    # still nobody passes many others.
    assert all(one.without <= one.full and one.judged < one.judged_full for one in told.systems)
    assert told.tau > 0.9

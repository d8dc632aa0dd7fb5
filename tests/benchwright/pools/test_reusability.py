"""Systems left out of the pool they made, against scoring them again on what is left."""

import gzip
from dataclasses import dataclass
from functools import cache
from math import isnan, log2, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from benchwright import evaluate
from benchwright.pools.reusability import leave_out, treatment_of
from benchwright.pools.run_groups import groups_of, near_copies, overlaps
from tests.benchwright.realdata import data_folder

pytestmark = pytest.mark.in_thirds

NAMES, DOCIDS = "abc", "uvwxyz"


def leave_one_out(runs, grades, *, pooled):
    groups = [(name,) for name in runs if pooled.get(name)]
    return leave_out(runs, grades, pooled=pooled, groups=groups)


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
    results = {}
    for qid in qids:
        top, judged = list(run.get(qid, ()))[:cutoff], grades.get(qid, {})
        gain = sum(max(judged.get(d, 0), 0) / log2(r + 1) for r, d in enumerate(top, 1))
        best = sorted((g for g in judged.values() if g > 0), reverse=True)[:cutoff]
        ideal = sum(g / log2(r + 1) for r, g in enumerate(best, 1))
        share = sum(judged.get(d, -1) >= 0 for d in top) / len(top) if top else None
        results[qid] = (gain / ideal if ideal else 0.0, share)
    return results


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
    reports = leave_one_out(runs, grades, pooled=pooled)

    contributors = {name: depth for name, depth in pooled.items() if depth}
    assert {one.run for one in reports.systems} == set(contributors)
    if len(contributors) == 1:
        (system,) = reports.systems
        assert all(map(isnan, (system.without, system.judged, reports.mean_shift, reports.tau)))
        return
    for system in reports.systems:
        left = brute_force(runs, grades, contributors, system.run)
        before, after = (values(g, runs[system.run], grades) for g in (grades, left))
        assert system.full == pytest.approx(mean(v for v, _ in before.values()))
        assert system.without == pytest.approx(mean(v for v, _ in after.values()))
        assert system.judged == pytest.approx(mean(s for _, s in after.values()), nan_ok=True)
        assert system.judged_full == pytest.approx(mean(s for _, s in before.values()), nan_ok=True)
        own = [
            grade
            for qid, of in grades.items()
            for docid, grade in of.items()
            if grade >= 0 and docid not in left.get(qid, {})
        ]
        assert (system.n_unique, system.n_unique_relevant) == (len(own), sum(map(bool, own)))


def test_a_system_that_nobody_shares_documents_with_loses_everything():
    runs = {"old": {"q": ["a"]}, "new": {"q": ["b"]}}

    reports = leave_one_out(runs, {"q": {"a": 0, "b": 1}}, pooled={"old": 1, "new": 1})

    assert [
        (system.run, system.full, system.without, system.judged) for system in reports.systems
    ] == [
        ("old", 0.0, 0.0, 0.0),
        ("new", 1.0, 0.0, 0.0),
    ]
    assert reports.worst_shift == -1.0
    assert reports.least_judged == 0.0


def test_judgments_that_no_system_brought_stay():
    reports = leave_one_out(
        {"a": {"q": ["x", "y"]}, "b": {"q": ["x"]}},
        {"q": {"x": 1, "y": 2}},
        pooled={"a": 1, "b": 1},
    )

    assert [system.n_unique for system in reports.systems] == [0, 0]
    assert (reports.n_judged, reports.n_contributed) == (2, 1)


def test_runs_that_were_not_pooled_are_ranked_and_not_left_out():
    reports = leave_one_out(
        {"a": {"q": ["x"]}, "late": {"q": ["x"]}}, {"q": {"x": 1}}, pooled={"a": 1}
    )

    assert [(system.run, system.rank_full, system.rank) for system in reports.systems] == [
        ("a", 1, 1)
    ]


@dataclass(frozen=True)
class Entry:
    team: str
    contributed: bool


@cache
def trec_covid():
    """Runs to rank 100, grades, and {run: its team and whether it was pooled} of round 1."""
    folder = data_folder("trec_covid_round1")
    grades: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.covid-round1.txt").read_text().splitlines():
        qid, _, docid, grade = line.split()
        grades.setdefault(qid, {})[docid] = int(grade)
    lines = (folder / "leaderboard_official.tsv").read_text().splitlines()
    head, *rows = (line.split("\t") for line in lines)
    official = [dict(zip(head, row, strict=True)) for row in rows]
    entries = {
        row["run"]: Entry(row["team"], row["contributed_judgments"] == "yes") for row in official
    }
    runs = {}
    for path in sorted((folder / "runs").glob("*.gz")):
        results: dict[str, list[tuple[float, str]]] = {}
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            qid, _, docid, _, score, _ = line.split()
            results.setdefault(qid, []).append((float(score), docid))
        runs[path.name.removesuffix(".gz")] = {
            qid: [docid for _, docid in sorted(of, reverse=True)[:100]]
            for qid, of in results.items()
        }
    return runs, grades, entries


@pytest.mark.data
def test_the_contributors_of_trec_covid_fall_as_far_as_the_engine_says():
    """Round 1 pooled 11 of these 24 runs to depth 7, so nothing of their first 5 is unjudged."""
    runs, grades, teams = trec_covid()
    pooled = {name: 7 for name in runs if teams[name].contributed}
    assert len(pooled) == 11

    reports = leave_one_out(runs, grades, pooled=pooled)

    full = {name: evaluate(grades, scores(run), ["nDCG@10"]) for name, run in runs.items()}
    for system in reports.systems:
        left = brute_force(runs, grades, pooled, system.run)
        again = evaluate(left, scores(runs[system.run]), ["nDCG@10", "Judged@10"])
        assert system.full == pytest.approx(full[system.run].means["nDCG@10"])
        assert system.without == pytest.approx(again.means["nDCG@10"])
        assert system.judged == pytest.approx(again.means["Judged@10"])
    system = reports.systems[0]
    left = brute_force(runs, grades, pooled, system.run)
    others = [evaluate(left, scores(run), ["nDCG@10"]).means["nDCG@10"] for run in runs.values()]
    expected = kendalltau([of.means["nDCG@10"] for of in full.values()], others).statistic
    assert system.tau == pytest.approx(expected)
    # Few systems have a part in such a pool here, so each brought much alone: shifts are large, and
    # still nobody passes many others.
    assert all(one.without <= one.full and one.judged < one.judged_full for one in reports.systems)
    assert reports.tau > 0.9


# --- groups left out: golden values of TREC-COVID's first round ----------------------------------


def pooled_runs(*, depth, only_contributors, **more):
    """Runs, grades, depths and teams, with `more` runs that somebody else sent."""
    runs, grades, entries = trec_covid()
    names = [name for name in runs if entries[name].contributed or not only_contributors]
    pooled = dict.fromkeys([*names, *more], depth)
    teams = {name: entry.team for name, entry in entries.items()} | dict.fromkeys(more, "Elsewhere")
    return {**runs, **more}, grades, pooled, teams


def digits(number):
    return f"{number:.4f}"


@pytest.mark.data
@pytest.mark.parametrize("which", ["by_group", "by_run"])
@pytest.mark.parametrize(
    ("only_contributors", "depth", "shift", "worst", "judged", "tau", "n_unique"),
    [
        (True, 7, "-0.1339", ("run1", "-0.2465"), "0.4148", "0.9273", 1468),
        (False, 10, "-0.0701", ("poznan_run3", "-0.1370"), "0.4553", "0.9420", 2110),
    ],
)
def test_groups_of_single_runs_fall_as_the_runs_do(
    which, only_contributors, depth, shift, worst, judged, tau, n_unique
):
    runs, grades, pooled, teams = pooled_runs(depth=depth, only_contributors=only_contributors)

    result = getattr(treatment_of(runs, grades, pooled=pooled, teams=teams), which)

    assert (digits(result.mean_shift), digits(result.mean_judged)) == (shift, judged)
    assert (digits(result.tau), result.n_unique) == (tau, n_unique)
    furthest = min(result.systems, key=lambda system: system.shift)
    assert (furthest.run, digits(furthest.shift)) == worst
    if only_contributors:
        (run1,) = (system for system in result.systems if system.run == "run1")
        figures = digits(run1.full), digits(run1.without), f"{run1.judged:.3f}", run1.n_unique
        assert figures == ("0.6844", "0.4380", "0.547", 111)
        assert digits(result.least_judged) == "0.1867"


@pytest.mark.data
def test_a_copy_under_another_team_hides_nothing():
    copy = trec_covid()[0]["run1"]
    runs, grades, pooled, teams = pooled_runs(depth=7, only_contributors=True, copy=copy)

    treatment = treatment_of(runs, grades, pooled=pooled, teams=teams)

    alone = {system.run: system for system in treatment.by_run.systems}["run1"]
    assert (digits(alone.full), digits(alone.without), alone.n_unique) == ("0.6844", "0.6844", 0)
    assert digits(treatment.by_run.mean_shift) == "-0.1022"
    both = [system for system in treatment.by_group.systems if system.group == ("run1", "copy")]
    for report in both:
        figures = (
            digits(report.full),
            digits(report.without),
            f"{report.judged:.3f}",
            report.n_unique,
        )
        assert figures == ("0.6844", "0.4380", "0.547", 111)
    assert len(both) == 2
    assert len(treatment.by_group.groups) == treatment.n_systems == 11
    assert digits(treatment.by_group.mean_shift) == "-0.1339"
    assert (digits(treatment.by_group.tau), treatment.by_group.n_unique) == ("0.9077", 1468)
    (pair,) = treatment.across
    assert {pair.run_a, pair.run_b} == {"run1", "copy"}
    assert pair.is_same


@pytest.mark.data
def test_a_team_is_left_out_as_a_whole():
    runs, grades, pooled, teams = pooled_runs(depth=10, only_contributors=False)
    teams["UP-sdqrnd1"] = teams["Technion-MEDMM"].upper()

    treatment = treatment_of(runs, grades, pooled=pooled, teams=teams)

    def told(which, run):
        (one,) = (system for system in which.systems if system.run == run)
        return digits(one.full), digits(one.without), f"{one.judged:.3f}", one.n_unique

    assert told(treatment.by_group, "Technion-MEDMM") == ("0.4527", "0.3999", "0.620", 98)
    assert told(treatment.by_run, "Technion-MEDMM") == ("0.4527", "0.4220", "0.723", 38)
    assert told(treatment.by_group, "UP-sdqrnd1") == ("0.4165", "0.3833", "0.597", 98)
    assert told(treatment.by_run, "UP-sdqrnd1") == ("0.4165", "0.4067", "0.700", 29)
    assert treatment.across == ()
    assert treatment.n_systems == 24


@pytest.mark.data
def test_different_teams_overlap_by_half_at_most():
    runs, grades, _ = trec_covid()
    names = list(runs)

    shares = overlaps(runs, list(grades))

    (pair, *_) = sorted(near_copies(names, shares, least=0), key=lambda pair: -pair.rbo)
    assert {pair.run_a, pair.run_b} == {"Technion-MEDMM", "UP-sdqrnd1"}
    assert f"{pair.rbo:.3f}" == "0.514"
    across = shares[np.triu_indices(len(names), 1)]
    assert (round(np.median(across), 2), round(np.quantile(across, 0.99), 2)) == (0.05, 0.29)


def simple_rbo(first, second, p=0.9, depth=100):
    deepest = min(depth, len(first), len(second))
    if not deepest:
        return 0.0
    shares = [len({*first[:d]} & {*second[:d]}) / d for d in range(1, deepest + 1)]
    summed = sum(p ** (d - 1) * share for d, share in enumerate(shares, 1))
    return (1 - p) * summed + shares[-1] * p**deepest


LISTS = st.lists(st.sampled_from("abcdefghijkl"), unique=True, max_size=12)


@given(st.lists(st.tuples(LISTS, LISTS), min_size=2, max_size=4), st.integers(1, 13))
def test_overlap_is_that_of_the_definition(pairs, depth):
    runs = {str(n): {"q1": one, "q2": other} for n, (one, other) in enumerate(pairs)}

    shares = overlaps(runs, ["q1", "q2"], depth=depth)

    for a, first in enumerate(pairs):
        for b, second in enumerate(pairs):
            expected = [simple_rbo(*both, depth=depth) for both in zip(first, second, strict=True)]
            n = sum(bool(one or other) for one, other in zip(first, second, strict=True))
            assert shares[a, b] == pytest.approx(sum(expected) / n if n else nan, nan_ok=True)


def test_one_group_in_all_is_undefined_and_not_nothing():
    runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "x"]}}

    treatment = treatment_of(runs, {"q": {"x": 1, "y": 0}}, pooled={"a": 2, "b": 2}, teams=TEAMS)

    whole = treatment.by_group
    assert whole.groups == (("a", "b"),)
    numbers = whole.mean_shift, whole.worst_shift, whole.mean_judged, whole.least_judged, whole.tau
    assert all(map(isnan, numbers))
    assert treatment.by_run.mean_shift == 0


TEAMS = {"a": "The Team", "b": "the-team", "c": ""}


def test_groups_are_what_teams_and_copies_bind():
    overlap = np.eye(4)
    overlap[2, 3] = 0.8
    copies = near_copies("abcd", overlap)

    assert [(pair.run_a, pair.run_b) for pair in copies] == [("c", "d")]
    assert groups_of("abcd", teams=TEAMS, copies=copies) == [("a", "b"), ("c", "d")]
    assert groups_of("abcd", teams={}, copies=[]) == [("a",), ("b",), ("c",), ("d",)]

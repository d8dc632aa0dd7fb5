"""Calibrations: known values of real judges, a second computation, and what is too few."""

import json
import math
import statistics
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from benchwright.agreement.bootstrap import kappa_with_interval
from benchwright.agreement.coefficients import Weights
from benchwright.agreement.two_raters import cohen, kappas
from benchwright.calibration.calibrating import calibrated, too_few
from benchwright.calibration.errors import NoPairInCommonError, ScaleMissingError
from benchwright.calibration.favouring import trusted
from benchwright.calibration.from_files import calibrate, grades_of
from benchwright.calibration.words import verdict
from tests.benchwright.estimation import llmjudge

JUDGE = "willia-umbrela2"
SYSTEMS = (
    "Olz-multiprompt",
    "h2oloo-zeroshot1",
    "TREMA-direct",
    "RMITIR-GPT4o",
    "prophet-setting1",
)


def made(n_queries=25, each=10, seed=0, shift=0.4):
    """People's grades 0 to 3, and a machine's that lie a little above."""
    rng = np.random.default_rng(seed)
    people, machine = {}, {}
    for query in range(n_queries):
        of = rng.integers(0, 4, each)
        off = np.clip(np.round(of + shift + rng.normal(0, 0.7, each)), 0, 3)
        people[f"q{query}"] = {f"d{at}": int(grade) for at, grade in enumerate(of)}
        machine[f"q{query}"] = {f"d{at}": int(grade) for at, grade in enumerate(off)}
    return people, machine


@pytest.mark.data
def test_known_values_of_a_real_judge_come_out():
    calibration = calibrated(llmjudge.people(), llmjudge.judge(JUDGE), relevant_from=2)

    assert calibration.scale == (0, 1, 2, 3)
    assert calibration.confusion == (
        (1690, 235, 41, 39),
        (684, 382, 100, 67),
        (255, 297, 157, 99),
        (76, 115, 52, 134),
    )
    coefficients = (calibration.kappa, calibration.kappa_linear, calibration.kappa_quadratic)
    assert [round(coefficient.value, 6) for coefficient in coefficients] == [
        0.268752,
        0.373841,
        0.474278,
    ]
    assert all(
        coefficient.low < coefficient.value < coefficient.high
        for coefficient in (*coefficients, calibration.alpha)
    )
    assert round(calibration.bias.mean, 6) == -0.278996
    by_grade = [round(row.mean, 4) for row in calibration.bias_by["grade"]]
    assert by_grade == [0.2165, -0.3650, -0.8762, -1.3528]
    assert [row.n_pairs for row in calibration.meanings] == [2705, 1029, 350, 339]
    assert [round(row.people_mean, 4) for row in calibration.meanings] == [
        0.5257,
        1.2838,
        1.6286,
        1.9676,
    ]
    assert [round(row.relevant_share, 4) for row in calibration.meanings] == [
        0.1224,
        0.4004,
        0.5971,
        0.6873,
    ]
    assert (calibration.n_pairs, calibration.n_queries, calibration.too_few) == (4423, 25, "")


@pytest.mark.data
def test_grade_off_the_scale_is_counted_and_left_out(data):
    folder = data / "annotations_llmjudge"

    report = calibrate(folder / "nist_gold.qrels", folder / "labels" / "h2oloo-zeroshot2.qrels")

    assert (report.calibration.n_invalid, report.calibration.n_pairs) == (1, 4422)


FAVOURED = [
    ("RMITIR-GPT4o", "RMITIR-GPT4o", 0.2632, 6.00, None),
    ("RMITIR-GPT4o", "h2oloo-zeroshot1", 0.0971, None, 0.0454),
    ("TREMA-direct", "TREMA-direct", 0.3504, 7.73, None),
    (JUDGE, "h2oloo-zeroshot1", 0.1597, None, 0.0008),
    (JUDGE, "RMITIR-GPT4o", 0.1114, None, 0.0008),
]


def values_of(labels):
    queries = llmjudge.queries()
    return {
        run: dict(zip(queries, llmjudge.values(run, labels).ndcg.tolist(), strict=True))
        for run in SYSTEMS
    }


@pytest.mark.data
@pytest.mark.parametrize(("judge", "system", "favour", "t", "p"), FAVOURED)
def test_judges_that_favour_a_system_are_found(judge, system, favour, t, p):
    trust = trusted(values_of(llmjudge.people()), values_of(llmjudge.judge(judge)))

    row = next(row for row in trust.systems if row.system == system)
    assert round(row.favour, 4) == favour
    assert t is None or round(row.t, 2) == t
    assert p is None or round(row.p, 4) == p
    assert row.is_favoured


# --- a second computation ------------------------------------------------------------------------


def test_every_number_is_that_of_plain_loops():
    people, machine = made()
    families = {query: f"f{int(query[1:]) // 2}" for query in people}

    calibration = calibrated(people, machine, relevant_from=2, families=families)

    pairs = [(q, people[q][d], machine[q][d]) for q in people for d in people[q]]
    for i in range(4):
        for j in range(4):
            n = sum(a == i and b == j for _, a, b in pairs)
            assert calibration.confusion[i][j] == n
    assert calibration.exact == sum(a == b for _, a, b in pairs) / len(pairs)
    away = [b - a for _, a, b in pairs]
    assert calibration.bias.mean == pytest.approx(statistics.fmean(away))
    mean = statistics.fmean(away)
    totals = [
        sum(b - a - mean for q, a, b in pairs if families[q] == name)
        for name in set(families.values())
    ]
    n_families = len(totals)
    error = math.sqrt(n_families / (n_families - 1) * sum(t * t for t in totals)) / len(pairs)
    reach = stats.t.ppf(0.975, n_families - 1) * error
    assert (calibration.bias.low, calibration.bias.high) == pytest.approx(
        (mean - reach, mean + reach)
    )
    assert (calibration.n_families, calibration.bias.n_families) == (n_families, n_families)
    for row in calibration.meanings:
        mine = [a for _, a, b in pairs if b == row.grade]
        assert row.people_mean == pytest.approx(statistics.fmean(mine))
        assert row.relevant_share == pytest.approx(sum(a >= 2 for a in mine) / len(mine))


def test_kappas_of_a_stack_are_those_of_each_table():
    rng = np.random.default_rng(0)
    tables = rng.integers(0, 9, (5, 4, 4))

    for weights in Weights:
        each = [cohen(table, weights).value for table in tables]
        assert kappas(tables.astype(float), weights) == pytest.approx(each)


def test_interval_of_kappa_is_the_spread_of_resampled_clusters():
    rng = np.random.default_rng(1)
    tables = rng.integers(0, 4, (30, 3, 3)) + 6 * np.eye(3, dtype=np.int64)

    result = kappa_with_interval(tables, Weights.LINEAR, np.random.default_rng(0), draws=4000)

    drawn = [
        cohen(tables[rng.integers(0, 30, 30)].sum(axis=0), Weights.LINEAR).value
        for _ in range(2000)
    ]
    assert (result.low, result.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.01)
    assert kappa_with_interval(tables[:1], Weights.NONE, rng).low is None


def test_bias_is_told_by_slice_length_language_and_date():
    people, machine = made()
    documents = {f"d{at}": 100 * at for at in range(10)}

    calibration = calibrated(
        people,
        machine,
        slices={"head": ["q0", "q1"], "tail": ["q2"], "none": ["q99"]},
        lengths=documents,
        languages={"d0": "de", "d1": "en", "d2": "en"},
        dates={("q0", "d0"): "2026-01", ("q0", "d1"): "2026-02"},
    )

    by = calibration.bias_by
    assert [(row.name, row.n_pairs) for row in by["slice"]] == [("head", 20), ("tail", 10)]
    assert [row.name for row in by["length"]] == ["short", "middle", "long"]
    assert sum(row.n_pairs for row in by["length"]) == calibration.n_pairs
    assert [(row.name, row.n_pairs) for row in by["language"]] == [("de", 25), ("en", 50)]
    assert [(row.name, row.n_pairs) for row in by["date"]] == [("2026-01", 1), ("2026-02", 1)]
    # Thirds of the lengths are parted at quantiles: 300 and 600 of 0 to 900.
    assert [row.n_pairs for row in by["length"]] == [100, 75, 75]
    away = [machine[q][d] - people[q][d] for q in people for d in ("d7", "d8", "d9")]
    assert by["length"][2].mean == pytest.approx(statistics.fmean(away))
    assert by["slice"][1].is_too_few
    assert math.isnan(by["slice"][1].low)


def test_favour_is_worked_out_by_hand():
    people = {
        system: {f"q{q}": 0.1 * at + q / 100 for q in range(24)} for at, system in enumerate("abcd")
    }
    machine = {
        system: {
            query: value + 0.2 + (0.1 + int(query[1:]) / 500 if system == "b" else 0)
            for query, value in values.items()
        }
        for system, values in people.items()
    }

    trust = trusted(people, machine, same_model=["c"])

    row = {system.system: system for system in trust.systems}
    beyond = [0.1 + q / 500 for q in range(24)]
    assert row["b"].favour == pytest.approx(statistics.fmean(beyond))
    assert row["b"].bias == pytest.approx(0.2 + statistics.fmean(beyond))
    t, p = stats.ttest_1samp(beyond, 0, alternative="greater")
    assert row["b"].t == pytest.approx(t)
    assert row["b"].p == pytest.approx(4 * p)
    assert row["a"].favour == pytest.approx(-statistics.fmean(beyond) / 3)
    assert [row[system].is_favoured for system in "abcd"] == [False, True, True, False]
    assert row["a"].rho == pytest.approx(1)


@pytest.mark.parametrize("off", [[-0.2], [0.1, -0.2, 0.3, 0.3, -0.1]])
def test_judge_that_is_off_alike_for_all_systems_favours_none(off):
    people = {one: {f"q{q}": q % 7 / 10 for q in range(25)} for one in "abcd"}
    machine = {
        one: {query: value + off[int(query[1:]) % len(off)] for query, value in of.items()}
        for one, of in people.items()
    }

    trust = trusted(people, machine)

    assert [(row.favour, row.p, row.is_favoured) for row in trust.systems] == [(0, 1, False)] * 4


@pytest.mark.parametrize(("n_systems", "n_queries"), [(3, 30), (5, 19)])
def test_with_too_few_systems_or_queries_there_is_no_test(n_systems, n_queries):
    values = {
        f"s{s}": {f"q{q}": (q * s % 7) / 7 for q in range(n_queries)} for s in range(n_systems)
    }

    trust = trusted(values, values)

    assert trusted(values, {}).too_few.startswith("0 systems on 0 families")
    assert "is tested from 4 systems and 20 families on" in trust.too_few
    assert all(math.isnan(row.p) and not row.is_favoured for row in trust.systems)


def test_gain_is_what_so_many_labels_are_worth():
    rng = np.random.default_rng(0)
    people = {s: {f"q{q}": rng.random() for q in range(40)} for s in "ab"}
    machine = {
        s: {query: value + rng.normal(0, 0.2) for query, value in of.items()}
        for s, of in people.items()
    }

    trust = trusted(people, machine, n_all=100)

    rho = statistics.median(
        statistics.correlation([*people[s].values()], [*machine[s].values()]) for s in "ab"
    )
    assert trust.rho_means == pytest.approx(rho)
    assert trust.gain_means == pytest.approx(1 / (1 - 0.6 * rho**2) - 1)


def test_families_count_once_in_rho():
    people = {"a": {f"q{q}": float(q // 2 % 3) for q in range(20)}}
    machine = {"a": {query: value + int(query[1:]) % 2 for query, value in people["a"].items()}}
    families = {f"q{q}": f"f{q // 2}" for q in range(20)}

    trust = trusted(people, machine, families=families)

    assert trust.n_families == 10
    assert trust.systems[0].rho == pytest.approx(1)
    assert trusted(people, machine).systems[0].rho < 0.95


# --- from files, and what is lacking -------------------------------------------------------------


def test_runs_are_valued_by_both_sets_of_qrels(tmp_path):
    people, machine = made(each=6)
    for name, grades in (("people", people), ("machine", machine)):
        lines = [f"{q} 0 {d} {g}" for q, of in grades.items() for d, g in of.items()]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    runs = {
        f"run{at}": {
            q: {d: float((int(d[1:]) * (at + 2)) % 7) for d in of} for q, of in people.items()
        }
        for at in range(4)
    }

    report = calibrate(tmp_path / "people", tmp_path / "machine", runs=runs, measure="P@2")

    assert grades_of(tmp_path / "people") == people
    row = report.trust.systems[0]
    expected = []
    for grades in (people, machine):
        values = []
        for query, scores in runs["run0"].items():
            best = sorted(scores, key=lambda d: (scores[d], d), reverse=True)[:2]
            values.append(sum(grades[query][d] >= 1 for d in best) / 2)
        expected.append(statistics.fmean(values))
    assert (row.people, row.machine) == pytest.approx(tuple(expected))
    result = json.loads(json.dumps(report.as_json(), allow_nan=False))
    assert result["trust"]["systems"][0]["system"] == "run0"
    assert result["confusion"] == [list(row) for row in report.calibration.confusion]


def test_two_people_stand_beside_the_machine():
    people, machine = made()
    second = {
        query: {"d0": grades["d0"], "d1": 3 - grades["d1"]} for query, grades in people.items()
    }

    calibration = calibrated(people, machine, others=second)

    table = np.zeros((4, 4), dtype=np.int64)
    for query, grades in second.items():
        for document, grade in grades.items():
            table[people[query][document], grade] += 1
    assert calibration.people_with_people.value == pytest.approx(
        cohen(table, Weights.QUADRATIC).value
    )
    assert calibration.people_with_people.n_items == 50
    assert calibrated(people, machine).people_with_people.why == "no pair was graded by two people"


def test_refused_and_invalid_grades_are_counted():
    people, machine = made()
    machine["q0"]["d0"] = 9
    del machine["q1"]["d1"]

    calibration = calibrated(people, machine, refused=[("q1", "d1")])

    assert (calibration.n_invalid, calibration.n_refused, calibration.n_pairs) == (1, 1, 248)


FEW = [(199, 25, "Grade 1 more pair."), (500, 18, "Grade pairs of 2 more queries."), (200, 20, "")]


@pytest.mark.parametrize(("n_pairs", "n_queries", "words"), FEW)
def test_too_few_pairs_are_told_with_how_many_are_enough(n_pairs, n_queries, words):
    result = too_few(n_pairs, n_queries)

    assert result.endswith(words)
    assert bool(result) is bool(words)


def test_nothing_in_common_and_no_scale_are_refused():
    with pytest.raises(NoPairInCommonError, match=r"graded 2 pairs and the machine 1"):
        calibrated({"q": {"a": 0, "b": 1}}, {"q": {"c": 1}})
    with pytest.raises(ScaleMissingError, match="The scale is 1;"):
        calibrated({"q": {"a": 1}}, {"q": {"a": 1}})


@pytest.mark.parametrize(
    ("shift", "words"),
    [
        (1.0, "higher than people."),
        (-1.0, "lower than people."),
        (0.0, "Over all it leans to neither side."),
    ],
)
def test_sentence_says_to_which_side_a_judge_leans(shift, words):
    people, _ = made()
    rng = np.random.default_rng(1)
    machine = {
        query: {
            docid: int(np.clip(grade + round(shift) * (rng.random() < 0.5), 0, 3))
            for docid, grade in of.items()
        }
        for query, of in people.items()
    }

    assert verdict(calibrated(people, machine)).endswith(words)


def test_negative_kappa_has_a_minus():
    people, _ = made()
    machine = {query: {doc: 3 - grade for doc, grade in of.items()} for query, of in people.items()}

    assert "kappa with people is \N{MINUS SIGN}" in verdict(calibrated(people, machine))


def test_what_a_grade_means_is_counted():
    people = {"q": {"a": 0, "b": 1, "c": 2, "d": 3, "e": 1}}
    machine = {"q": {"a": 0, "b": 2, "c": 2, "d": 2, "e": 3}}

    calibration = calibrated(people, machine, relevant_from=2)

    rows = [
        (meaning.grade, meaning.n_pairs, meaning.people_mean, meaning.relevant_share)
        for meaning in calibration.meanings
    ]
    assert rows == [(0, 1, 0.0, 0.0), (2, 3, 2.0, pytest.approx(2 / 3)), (3, 1, 1.0, 0.0)]


@pytest.mark.parametrize(
    ("gains", "words"),
    [
        ((0.2, 0.2), "For means of runs and for their differences it is worth 20% more labels"),
        ((0.2, 0.001), "For means of runs it is worth 20% more labels at most, for differences n"),
    ],
)
def test_sentence_says_what_a_judge_is_worth(gains, words):
    people, machine = made()
    system = SimpleNamespace(system="bm25", is_favoured=True)
    trust = SimpleNamespace(systems=[system], gain_means=gains[0], gain_differences=gains[1])

    result = verdict(calibrated(people, machine), trust)

    assert words in result
    assert "It favours bm25: do not look at those by it alone." in result

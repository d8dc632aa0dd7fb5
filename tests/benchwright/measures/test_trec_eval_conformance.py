"""Every measure we have prints what trec_eval printed, cell by cell, on its own test data."""

import csv
import gzip
from fractions import Fraction
from itertools import accumulate
from math import fsum, isnan

import pytest

from benchwright import evaluate, evaluate_hits, read_qrels, read_run
from benchwright.errors import ScoringError
from benchwright.measures import parse_measure
from benchwright.measures.trec_names import relevance_string, trec_rows
from benchwright.reading import Judged, QueryHits, find_hits
from tests.benchwright.realdata import data_folder

pytestmark = pytest.mark.data

# expected file, flags, qrels, run; flags as trec_eval has them, without the -R and -Z ones
INVOCATIONS = [
    ("out.test", {}, "qrels.test", "results.test"),
    ("out.test", {}, "qrels.test.with-comments", "results.test"),
    ("out.test.a", {"m": ["all_trec"]}, "qrels.test", "results.test"),
    ("out.test.aq", {"m": ["all_trec"], "q": True}, "qrels.test", "results.test"),
    ("out.test.aqc", {"m": ["all_trec"], "q": True, "c": True}, "qrels.test", "results.trunc"),
    (
        "out.test.aqcM",
        {"m": ["all_trec"], "q": True, "c": True, "M": 100},
        "qrels.test",
        "results.trunc",
    ),
    (
        "out.test.aql",
        {"m": ["all_trec", "relstring.20"], "q": True, "l": 2},
        "qrels.rel_level",
        "results.test",
    ),
    (
        "out.test.meas_params",
        {
            "m": [
                *("iprec_at_recall..10,.20,.25,.75,.50", "P.5,7,3", "recall.20,2000"),
                *("Rprec_mult.5.0,0.2,0.35", "utility.2,-1,0,0", "11pt_avg..25,.5,.75"),
                *("ndcg.1=3,2=9,4=4.5", "ndcg_cut.10,20,23.4", "success.2,5,20"),
            ],
            "q": True,
        },
        "qrels.test",
        "results.test",
    ),
    ("out.comment.test", {"M": 100}, "qrels.comment.test", "results.comment.test.gz"),
]


def our_name(trec_name):
    """Our measure of that name; None for what is no measure (the column of the run)."""
    try:
        return str(parse_measure(trec_name))
    except ScoringError:
        return None


def printed(name, value):
    return f"{value:.0f}" if name.startswith("Num") else f"{value:.4f}"


def lines_of(flags, qrels, run):
    """What trec_eval would print."""
    grades = read_qrels(qrels)
    rows = trec_rows(flags.get("m", []), level=flags.get("l", 1))
    hits = find_hits(grades, read_run(run), depth=flags.get("M"))
    judged = {qid: Judged(tuple(of.values())) for qid, of in grades.items()}
    measures = [row.measure for row in rows if row.measure]
    missing = "zero" if flags.get("c") else "skip"
    result = evaluate_hits(judged, hits, measures, missing=missing)

    def value(row, qid):
        record = hits.get(qid) or QueryHits(qid, (), 0)
        if row.kind == "string":
            return relevance_string(record.hits, record.n_retrieved, row.length)
        return result.per_query[qid][str(row.measure)]

    tag = "comment.test" if "comment" in run.name else "STANDARD"
    for qid in sorted(result.per_query) if flags.get("q") else []:
        yield from (row.line(qid.decode(), value(row, qid)) for row in rows if row.is_per_query)
    for row in rows:
        if row.is_in_summary:
            yield row.line("all", tag if row.kind == "run" else result.means[str(row.measure)])


@pytest.mark.parametrize(("expected", "flags", "qrels", "run"), INVOCATIONS)
def test_trec_evals_own_tests_print_the_same(expected, flags, qrels, run):
    """Also `rbp` with grades above 1, as trec_eval prints it when compiled with its own flags."""
    folder = data_folder("trec_eval_test")

    ours = list(lines_of(flags, folder / qrels, folder / run))

    assert ours == (folder / expected).read_text().splitlines()


@pytest.mark.parametrize("collection", ["cranfield", "trec_covid_round1"])
def test_means_of_real_runs_equal_those_of_trec_eval_10(collection):
    folder = data_folder(collection)
    qrels = read_qrels(next(folder.glob("qrels*.txt")))
    with (folder / "expected.all.tsv").open() as lines:
        table = list(csv.DictReader(lines, delimiter="\t"))

    for row in table:
        run = read_run(folder / "runs" / f"{row['run']}.gz")
        names = {trec: name for trec in row if (name := our_name(trec))}
        means = evaluate(qrels, run, names.values()).means
        assert {trec: printed(name, means[name]) for trec, name in names.items()} == {
            trec: row[trec] for trec in names
        }


@pytest.mark.parametrize(
    ("collection", "n_cells"), [("cranfield", 53_795), ("trec_covid_round1", 25_320)]
)
def test_every_query_of_real_runs_equals_trec_eval_10(collection, n_cells):
    folder = data_folder(collection)
    qrels = read_qrels(next(folder.glob("qrels*.txt")))
    cells = {}
    with gzip.open(folder / "expected.per_topic.tsv.gz", "rt") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if name := our_name(row["measure"]):
                cells.setdefault(row["run"], []).append((name, row["topic"], row["value"]))

    for run, expected in cells.items():
        names = dict.fromkeys(name for name, _, _ in expected)
        result = evaluate(qrels, read_run(folder / "runs" / f"{run}.gz"), names)
        rows = {qid.decode(): values for qid, values in result.per_query.items()}
        rows["all"] = result.means
        assert [
            (name, qid, printed(name, rows[qid][name])) for name, qid, _ in expected
        ] == expected
    assert sum(map(len, cells.values())) == n_cells


def test_means_of_p_200_differ_from_running_sums_only_where_the_fifth_decimal_is_5():
    """Of the first topics of 32 real runs; trec_eval adds up in the order of the topics."""
    n_even, apart = 0, 0
    for qrels, run in real_runs():
        per_query = evaluate(qrels, run, ["P@200"], missing="skip").per_query
        values = [per_query[qid]["P@200"] for qid in sorted(per_query)]
        exact = [Fraction(round(200 * value), 200) for value in values]
        assert values == [float(value) for value in exact]
        for n, running in enumerate(accumulate(values), start=1):
            is_even = (sum(exact[:n]) / n * 10**5) % 10 == 5
            is_apart = printed("P_200", running / n) != printed("P_200", fsum(values[:n]) / n)
            assert is_even or not is_apart
            n_even, apart = n_even + is_even, apart + is_apart
    assert (n_even, apart) == (66, 19)


def real_runs():
    for name in ("cranfield", "trec_covid_round1"):
        folder = data_folder(name)
        qrels = next(folder.glob("qrels*.txt"))
        yield from ((qrels, run) for run in sorted((folder / "runs").glob("*.gz")))
    folder = data_folder("cacm")
    yield folder / "qrels.cacm.txt", folder / "cacm-bm25.txt"


def test_means_at_32_bits_equal_those_of_pytrec_eval():
    folder = data_folder("trec_covid_round1")
    qrels = read_qrels(folder / "qrels.covid-round1.txt")
    with (folder / "expected_pytrec_eval.all.tsv").open() as lines:
        table = list(csv.DictReader(lines, delimiter="\t"))

    for row in table:
        run = read_run(folder / "runs" / f"{row['run']}.gz")
        names = {trec: name for trec in row if (name := our_name(trec))}
        means = evaluate(qrels, run, names.values(), ties="trec9").means
        assert {trec: f"{means[name]:.6f}" for trec, name in names.items()} == {
            trec: row[trec] for trec in names
        }


def test_official_leaderboard_is_the_one_of_32_bits():
    folder = data_folder("trec_covid_round1")
    qrels = read_qrels(folder / "qrels.covid-round1.txt")
    with (folder / "leaderboard_official.tsv").open() as lines:
        table = list(csv.DictReader(lines, delimiter="\t"))
    names = {"ndcg_cut_10": "nDCG@10", "P_5": "P@5", "bpref": "bpref", "map": "AP"}
    names["rbp_p0.5"] = "rbp(p=0.5)"

    for row in table:
        run = read_run(folder / "runs" / f"{row['run']}.gz")
        means = evaluate(qrels, run, names.values(), ties="trec9").means
        assert {trec: f"{means[name]:.4f}" for trec, name in names.items()} == {
            trec: row[trec] for trec in names
        }


def test_pooled_runs_of_trec_covid_are_judged_completely_down_to_rank_five():
    folder = data_folder("trec_covid_round1")
    qrels = read_qrels(folder / "qrels.covid-round1.txt")
    with (folder / "leaderboard_official.tsv").open() as lines:
        table = list(csv.DictReader(lines, delimiter="\t"))

    shares = {
        row["run"]: evaluate(
            qrels, read_run(folder / "runs" / f"{row['run']}.gz"), ["Judged@5"], ties="trec9"
        ).means["Judged@5"]
        for row in table
        if row["contributed_judgments"] == "yes"
    }

    assert len(shares) == 11
    assert not any(map(isnan, shares.values()))
    assert set(shares.values()) == {1.0}

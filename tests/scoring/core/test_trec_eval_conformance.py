"""Every measure we have prints what trec_eval printed, cell by cell, on its own test data."""

import csv
import gzip
from math import isnan

import pytest

from scoring.core import evaluate, read_qrels, read_run
from scoring.core.errors import ScoringError
from scoring.core.measures import parse_measure
from tests.scoring.core.realdata import data_folder

pytestmark = pytest.mark.data

# expected file, qrels, run, missing, depth, relevance level, cells compared
INVOCATIONS = [
    ("out.test", "qrels.test", "results.test", "skip", None, 1, 17),
    ("out.test", "qrels.test.with-comments", "results.test", "skip", None, 1, 17),
    ("out.test.a", "qrels.test", "results.test", "skip", None, 1, 48),
    ("out.test.aq", "qrels.test", "results.test", "skip", None, 1, 189),
    ("out.test.aqc", "qrels.test", "results.trunc", "zero", None, 1, 189),
    ("out.test.aqcM", "qrels.test", "results.trunc", "zero", 100, 1, 189),
    ("out.test.aql", "qrels.rel_level", "results.test", "skip", None, 2, 189),
    ("out.test.meas_params", "qrels.test", "results.test", "skip", None, 1, 44),
    ("out.comment.test", "qrels.comment.test", "results.comment.test.gz", "skip", 100, 1, 17),
]
WITHOUT_LEVEL = {"nDCG", "DCG", "NumRet", "NumQ"}


def our_name(trec_name, level):
    """Our measure of that name at that relevance level, or None where we have none."""
    try:
        measure = parse_measure(trec_name)
    except ScoringError:
        return None
    if level == 1 or measure.family in WITHOUT_LEVEL:
        return str(measure)
    return str(
        parse_measure(
            f"{measure.family}(rel={level})" + f"@{measure.cutoff}" * bool(measure.cutoff)
        )
    )


def expected_cells(path, level):
    for line in path.read_text().splitlines():
        trec_name, qid, value = line.split("\t")
        if name := our_name(trec_name.strip(), level):
            yield name, qid.strip(), value.strip()


def printed(name, value):
    return f"{value:.0f}" if name.startswith("Num") else f"{value:.4f}"


@pytest.mark.parametrize(
    ("expected", "qrels", "run", "missing", "depth", "level", "n_cells"), INVOCATIONS
)
def test_trec_evals_own_tests_print_the_same(expected, qrels, run, missing, depth, level, n_cells):
    folder = data_folder("trec_eval_test")
    cells = list(expected_cells(folder / expected, level))

    result = evaluate(
        read_qrels(folder / qrels),
        read_run(folder / run),
        [name for name, _, _ in cells],
        missing=missing,
        depth=depth,
    )

    rows = {qid.decode(): values for qid, values in result.per_query.items()}
    rows["all"] = result.means
    ours = [(name, qid, printed(name, rows[qid][name])) for name, qid, _ in cells]
    assert ours == cells
    assert len(cells) == n_cells


@pytest.mark.parametrize("collection", ["cranfield", "trec_covid_round1"])
def test_means_of_real_runs_equal_those_of_trec_eval_10(collection):
    folder = data_folder(collection)
    qrels = read_qrels(next(folder.glob("qrels*.txt")))
    with (folder / "expected.all.tsv").open() as lines:
        table = list(csv.DictReader(lines, delimiter="\t"))

    for row in table:
        run = read_run(folder / "runs" / f"{row['run']}.gz")
        names = {trec: name for trec in row if (name := our_name(trec, 1))}
        means = evaluate(qrels, run, names.values()).means
        assert {trec: printed(name, means[name]) for trec, name in names.items()} == {
            trec: row[trec] for trec in names
        }


@pytest.mark.parametrize(
    ("collection", "n_cells"), [("cranfield", 42_721), ("trec_covid_round1", 20_112)]
)
def test_every_query_of_real_runs_equals_trec_eval_10(collection, n_cells):
    folder = data_folder(collection)
    qrels = read_qrels(next(folder.glob("qrels*.txt")))
    cells = {}
    with gzip.open(folder / "expected.per_topic.tsv.gz", "rt") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if name := our_name(row["measure"], 1):
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


def test_means_at_32_bits_equal_those_of_pytrec_eval():
    folder = data_folder("trec_covid_round1")
    qrels = read_qrels(folder / "qrels.covid-round1.txt")
    with (folder / "expected_pytrec_eval.all.tsv").open() as lines:
        table = list(csv.DictReader(lines, delimiter="\t"))

    for row in table:
        run = read_run(folder / "runs" / f"{row['run']}.gz")
        names = {trec: name for trec in row if (name := our_name(trec, 1))}
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

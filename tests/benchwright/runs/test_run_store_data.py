import csv
import os
from collections import defaultdict
from pathlib import Path

import pytest

from benchwright.errors import Problems
from benchwright.files.sources import open_lines
from benchwright.formats.trec import read_qrels, read_run
from benchwright.runs.store import hits_against, write_run

DATA = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", Path(__file__).parents[4] / "shared" / "data"))
COVID = DATA / "trec_covid_round1"


def official(run):
    with (COVID / "expected.all.tsv").open() as stream:
        return next(row for row in csv.DictReader(stream, delimiter="\t") if row["run"] == run)


def qrels():
    graded = defaultdict(dict)
    lines = open_lines(COVID / "qrels.covid-round1.txt")
    for row in read_qrels(lines, file="qrels", problems=Problems()):
        graded[row.qid.decode()][row.docid.decode()] = row.grade
    return graded


@pytest.mark.data
@pytest.mark.skipif(not COVID.is_dir(), reason=f"BENCHWRIGHT_TEST_DATA: no {COVID}")
@pytest.mark.parametrize("run", ["BERT", "BITEM_BL", "BioinfoUA-noadapt"])
def test_hits_of_real_runs_give_the_counts_and_precisions_of_trec_eval(run, tmp_path):
    problems = Problems()
    rows = read_run(open_lines(COVID / "runs" / f"{run}.gz"), file=run, problems=problems)

    summary = write_run(rows, directory=tmp_path / "made", problems=problems, file=run)
    hits = hits_against(summary.parquet, qrels())

    expected = official(run)
    results = [(rank, grade) for _, judged in hits.values() for rank, grade in judged]
    assert summary.n_rows == int(expected["num_ret"])
    assert sum(grade > 0 for _, grade in results) == int(expected["num_rel_ret"])
    for k in (5, 10, 20):
        relevant = sum(grade > 0 and rank <= k for rank, grade in results)
        assert relevant / k / 30 == pytest.approx(float(expected[f"P_{k}"]), abs=5e-5)
        judged = sum(grade >= 0 and rank <= k for rank, grade in results)
        assert 1 - judged / k / 30 == pytest.approx(float(expected[f"unj_{k}"]), abs=5e-5)

"""Real runs and qrels: the scanners give what reading and sorting every row gives.

`test_trec_eval_conformance` of measures proves of the latter that trec_eval prints it.
"""

import pytest

from benchwright.reading import choosing, find_hits, read_qrels, read_run, scan_qrels, scan_run
from tests.benchwright.reading.scanners import TIES
from tests.benchwright.realdata import data_folder

pytestmark = pytest.mark.data

OF_TREC_EVAL = [
    ("qrels.test", "results.test"),
    ("qrels.test.with-comments", "results.test"),
    ("qrels.test", "results.trunc"),
    ("qrels.rel_level", "results.test"),
    ("qrels.comment.test", "results.comment.test.gz"),
]
COLLECTIONS = {
    "cacm": ("qrels.cacm.txt", "cacm-bm25.txt", 1),
    "cranfield": ("qrels*.txt", "runs/*.gz", 7),
    "trec_covid_round1": ("qrels*.txt", "runs/*.gz", 24),
}


def check(qrels, runs, monkeypatch):
    grades = read_qrels(qrels)
    tables = {}
    for scanner in choosing.SCANNERS:
        monkeypatch.setenv(choosing.VARIABLE, scanner)
        tables[scanner] = scan_qrels(qrels)
        assert tables[scanner].grades == grades
        assert [*tables[scanner].judged] == [*grades]
    for n, run in enumerate(runs):
        rows, ties = read_run(run), TIES[n % len(TIES)]
        simply = find_hits(grades, rows, ties=ties)
        for scanner, table in tables.items():
            monkeypatch.setenv(choosing.VARIABLE, scanner)
            hits = scan_run(run, table, ties=ties)
            assert {qid: hits[qid] for qid in hits if qid in grades} == simply, run
            assert {qid: of.n_retrieved for qid, of in hits.items()} == {
                qid: len(of) for qid, of in rows.items()
            }


@pytest.mark.parametrize(("qrels", "run"), OF_TREC_EVAL)
def test_files_of_trec_evals_own_tests_are_scanned_as_they_are_read(
    extension, monkeypatch, qrels, run
):
    folder = data_folder("trec_eval_test")

    check(folder / qrels, [folder / run] * len(TIES), monkeypatch)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_runs_of_real_collections_are_scanned_as_they_are_read(extension, monkeypatch, name):
    folder = data_folder(name)
    qrels, runs, at_least = COLLECTIONS[name]

    result = sorted(folder.glob(runs))

    assert len(result) >= at_least
    check(next(folder.glob(qrels)), result, monkeypatch)

"""Scores through the services: equal to the library's on text files, and to trec_eval's."""

import csv
import gzip
import random
from math import isnan

import pytest

from benchmarks_app import files
from benchmarks_app.collections.services import uploading
from benchmarks_app.common.selectors.reading import run_path
from benchmarks_app.importing.services import importing
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Grade, Job, Qrel, Run
from benchwright import evaluate, read_qrels, read_run
from benchwright.runs import store as run_store
from scoring.models import ScoreSet
from scoring.rescoring.services.rescoring import start_scoring_runs
from scoring.scores.selectors.rescoring import RUNS_KIND
from scoring.scores.selectors.runs import per_query_values
from scoring.scores.services import scoring
from scoring.scores.services.scoring import Target, score_run, scored_run
from scoring.scores.shown import MEASURES
from tests import factories
from tests.scoring.conftest import GRADES, means

NAMES = [measure.name for measure in MEASURES]
TOP = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s\nq2 Q0 d4 1 1 s\nq3 Q0 d6 1 1 s"


def test_missing_query_counts_zero_in_every_mean(scored, release):
    whole = means(scored(TOP, "whole").run, release)
    without_q2 = means(scored(TOP.replace("q2 Q0 d4 1 1 s\n", ""), "hole").run, release)

    assert whole["nDCG@10"] == pytest.approx(2 / 3)
    assert without_q2["nDCG@10"] == pytest.approx(1 / 3)
    assert without_q2["R@100"] == pytest.approx(1 / 3)


def test_missing_query_has_a_row_that_says_so(scored):
    score_set = scored("q2 Q0 d4 1 1 s\nnew Q0 d1 1 1 s")

    rows = per_query_values(score_set)
    assert [(row["qid"], row["is_missing"], row["nDCG@10"]) for row in rows] == [
        ("q1", True, 0.0),
        ("q2", False, 1.0),
        ("q3", True, 0.0),
    ]
    assert (score_set.n_queries, score_set.n_missing, score_set.n_extra) == (3, 2, 1)


def test_judged_share_leaves_out_queries_that_found_nothing(scored):
    score_set = scored("q1 Q0 d1 1 2 s\nq1 Q0 x 2 1 s")

    judged = score_set.scores.get(measure="Judged@10")
    assert (judged.mean, judged.n) == (0.5, 1)
    assert isnan(per_query_values(score_set)[2]["Judged@10"])


def test_hits_file_holds_the_judged_documents_retrieved(scored):
    import polars as pl

    score_set = scored("q1 Q0 x 1 9 s\nq1 Q0 d2 2 8 s\nq1 Q0 d3 3 7 s\nq2 Q0 d5 1 1 s")

    hits = pl.read_parquet(files.local_path(score_set.hits))
    assert hits.rows() == [("q1", 2, 1), ("q1", 3, 0), ("q2", 1, 0)]


def test_scores_come_from_the_release_and_not_from_later_qrels(scored, release):
    before = means(scored(TOP, "before").run, release)
    Qrel.objects.filter(docid="d1").update(grade=0)
    Qrel.objects.filter(docid="d4").delete()

    after = means(scored(TOP, "after").run, release)

    assert after == before


def test_scoring_again_changes_nothing(scored, release, tmp_path):
    score_set = scored(TOP)

    again = score_run(run=score_set.run, target=Target.of(release), folder=tmp_path / "again")

    assert again == score_set
    assert (ScoreSet.objects.count(), again.scores.count()) == (1, len(MEASURES))


def test_equal_runs_have_equal_files(scored):
    first, second = scored(TOP, "one"), scored(TOP, "two")

    assert (first.per_query, first.hits) == (second.per_query, second.hits)


# --- all runs of a benchmark ---------------------------------------------------------------


def test_published_release_scores_the_runs_that_are_there(benchmark, publish, do_jobs):
    run = factories.run(benchmark, TOP)
    release = publish(factories.qrel_set(benchmark, GRADES))

    (job,) = do_jobs()

    assert job.state == Job.State.DONE
    assert means(run, release)["nDCG@10"] == pytest.approx(2 / 3)


def test_release_without_runs_starts_no_job(release):
    assert not Job.objects.filter(kind=RUNS_KIND).exists()


def test_run_that_shares_no_query_is_told_and_the_others_scored(benchmark, release, do_jobs, owner):
    factories.run(benchmark, "other Q0 d1 1 1 s", name="foreign")
    run = factories.run(benchmark, TOP, name="ours")
    start_scoring_runs(release=release, user=owner)

    (job,) = do_jobs()

    assert ScoreSet.objects.get().run == run
    assert job.result["made"] == ["scores of 1 run"]
    assert job.result["notes"][0].startswith("foreign: Run and qrels have no query in common")


def test_interrupted_scoring_of_runs_goes_on_where_it_stopped(
    benchmark, release, do_jobs, owner, monkeypatch
):
    for name in "abc":
        factories.run(benchmark, TOP, name=name)
    job = start_scoring_runs(release=release, user=owner)
    evaluate_run, seen = scoring.scored_run, []

    def dies_at_second(**kwargs):
        seen.append(kwargs)
        if len(seen) == 2:
            Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED, token=None)
        return evaluate_run(**kwargs)

    monkeypatch.setattr(scoring, "scored_run", dies_at_second)
    do_jobs()
    assert ScoreSet.objects.count() == 1

    do_jobs()

    assert ScoreSet.objects.count() == 3
    assert len(seen) == 2 + 2


# --- the same numbers as elsewhere ---------------------------------------------------------


def random_case(seed: int) -> tuple[dict[tuple[str, str], int], list[str]]:
    """Qrels with holes and grades below 0, and a run with ties, holes and extra queries."""
    rng = random.Random(seed)
    docids = [f"d{number}" for number in range(30)] + ["ä", "Z", "\uff5e", "\U0001d11e"]
    qids = [f"q{number}" for number in range(6)] + ["ü"]
    grades = {
        (qid, docid): rng.choice([-1, 0, 0, 1, 2, 3])
        for qid in qids
        for docid in rng.sample(docids, rng.randint(1, 20))
    }
    answered = [*rng.sample(qids, 5), "extra"]
    lines = [
        f"{qid} Q0 {docid} 0 {rng.choice([1, 2, 0.5, -0.0, 0, 1e-300, 1 + 1e-9])} s"
        for qid in answered
        for docid in rng.sample(docids, rng.randint(1, len(docids)))
    ]
    rng.shuffle(lines)
    return grades, lines


@pytest.mark.parametrize("seed", range(12))
def test_stored_run_scores_as_its_text_file_does(seed, benchmark, publish, tmp_path):
    grades, lines = random_case(seed)
    release = publish(factories.qrel_set(benchmark, grades))
    run = factories.run(benchmark, "\n".join(lines))

    target = Target.of(release)
    stored = scored_run(hits=target.hits_of(run_path(run)), target=target, folder=tmp_path / "s")

    (tmp_path / "run").write_text("\n".join(lines) + "\n")
    (tmp_path / "qrels").write_text(
        "".join(f"{qid} 0 {docid} {grade}\n" for (qid, docid), grade in grades.items())
    )
    text = evaluate(read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run"), NAMES)
    per_query = {qid.decode(): values for qid, values in text.per_query.items()}
    assert {q: _no_nan(v) for q, v in stored.evaluation.per_query.items()} == {
        q: _no_nan(v) for q, v in per_query.items()
    }
    assert stored.evaluation.means == pytest.approx(text.means, abs=1e-12)
    assert stored.evaluation.judged_shares == pytest.approx(text.judged_shares, abs=1e-12)
    counts = ("n_queries", "n_missing", "n_extra")
    assert [getattr(stored.evaluation, n) for n in counts] == [getattr(text, n) for n in counts]


def _no_nan(values) -> dict[str, float | None]:
    return {name: None if isnan(value) else value for name, value in values.items()}


TREC_NAMES = {"nDCG@10": "ndcg_cut_10", "R@100": "recall_100", "AP": "map", "P@10": "P_10"}


@pytest.mark.data
def test_cranfield_runs_have_the_scores_of_trec_eval(
    data, tmp_path, publish, do_jobs, owner, benchmark
):
    folder = data / "cranfield"
    Grade.objects.create(benchmark=benchmark, value=4, name="complete", is_relevant=True)
    _import(benchmark, owner, _queries(tmp_path), "queries")
    _import(benchmark, owner, folder / "qrels_derived.txt", "qrels")
    for path in sorted((folder / "runs").glob("*.gz")):
        _import(benchmark, owner, path, "run")
    release = publish(benchmark.qrel_sets.get())
    do_jobs()

    expected = _expected(folder / "expected.all.tsv")
    ranks = _reciprocal_ranks(folder / "expected.per_topic.tsv.gz")
    assert len(expected) == 7
    for run in Run.objects.all():
        values = means(run, release)
        for ours, theirs in [*TREC_NAMES.items(), ("bpref", "bpref")]:
            assert f"{values[ours]:.4f}" == expected[run.name][theirs], (run.name, ours)
        # trec_eval's recip_rank has no cutoff; 1 / rank, cut at 10, is its per-topic value or 0.
        of_run = ranks[run.name]
        cut = sum(value for value in of_run if value > 0.0999) / len(of_run)
        assert values["RR@10"] == pytest.approx(cut, abs=5e-5)
        # unj_10 counts unjudged among the first 10 as a share of 10; all runs have 10 and more.
        assert values["Judged@10"] == pytest.approx(
            1 - float(expected[run.name]["unj_10"]), abs=5e-5
        )


def _queries(folder):
    path = folder / "queries.tsv"
    path.write_text("qid\ttext\n" + "".join(f"{n}\tquery {n}\n" for n in range(1, 226)))
    return path


def _import(benchmark, owner, path, kind) -> None:
    upload = uploading.receive_path(benchmark=benchmark, owner=owner, path=path)
    arguments = importing.import_arguments(upload=upload, kind=kind)
    job = jobs.run_here(benchmark=benchmark, user=owner, **arguments)
    assert job.state == Job.State.DONE, (job.error, job.problems)


def _expected(path) -> dict[str, dict[str, str]]:
    with path.open() as lines:
        return {row["run"]: row for row in csv.DictReader(lines, delimiter="\t")}


def _reciprocal_ranks(path) -> dict[str, list[float]]:
    results: dict[str, list[float]] = {}
    with gzip.open(path, "rt") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if row["measure"] == "recip_rank" and row["topic"] != "all":
                results.setdefault(row["run"], []).append(float(row["value"]))
    return results


def test_threshold_of_the_scale_is_part_of_a_binary_measures_name(benchmark, publish, tmp_path):
    benchmark.grades.filter(value=1).update(is_relevant=False)
    judged = factories.qrel_set(benchmark, {("q1", "d1"): 1, ("q1", "d2"): 2, ("q1", "d3"): 3})
    release = publish(judged)
    run = factories.run(benchmark, "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s")

    score_set = score_run(run=run, target=Target.of(release), folder=tmp_path / "scores")

    stored = dict(score_set.scores.values_list("measure", "mean"))
    assert stored["RR(rel=2)@10"] == pytest.approx(1 / 2)
    assert stored["R(rel=2)@100"] == pytest.approx(1 / 2)
    assert "nDCG@10" in stored
    [row] = per_query_values(score_set)
    assert row["RR(rel=2)@10"] == pytest.approx(1 / 2)


# --- hits that were stored -----------------------------------------------------------------


def test_run_on_a_new_release_is_read_for_the_changed_queries_only(
    benchmark, publish, do_jobs, monkeypatch
):
    factories.run(benchmark, f"{TOP}\nextra Q0 d1 1 1 s")
    first = publish(factories.qrel_set(benchmark, GRADES))
    do_jobs()
    asked = []
    whole = run_store.hits_against
    monkeypatch.setattr(
        "benchwright.evaluation.stored_hits.hits_against",
        lambda path, qrels, *, only=None: (
            asked.append(only and set(only)) or whole(path, qrels, only=only)
        ),
    )

    changed = {**GRADES, ("q1", "d2"): 2, ("q4", "d1"): 1}
    second = publish(factories.qrel_set(benchmark, changed), "2.0.0")
    do_jobs()

    assert asked == [{"q1", "q4"}]
    before, after = (ScoreSet.objects.get(release=release) for release in (first, second))
    assert (before.n_extra, after.n_extra) == (1, 1)
    assert (after.n_queries, after.n_missing) == (4, 1)


@pytest.mark.parametrize("seed", range(8))
def test_run_on_a_new_release_scores_as_if_it_were_the_first(seed, benchmark, publish, tmp_path):
    grades, lines = random_case(seed)
    rng = random.Random(seed)
    changed = {pair: grade for pair, grade in grades.items() if rng.random() < 0.95}
    changed[rng.choice(list(changed))] = 1
    changed["extra", "d1"] = 1
    run = factories.run(benchmark, "\n".join(lines))
    first = publish(factories.qrel_set(benchmark, grades))
    score_run(run=run, target=Target.of(first), folder=tmp_path / "first")
    second = Target.of(publish(factories.qrel_set(benchmark, changed), "2.0.0"))

    score_set = score_run(run=run, target=second, folder=tmp_path / "second")

    hits = second.hits_of(run_path(run))
    whole = scored_run(hits=hits, target=second, folder=tmp_path / "whole")
    assert files.local_path(score_set.per_query).read_bytes() == whole.files.per_query.read_bytes()
    assert files.local_path(score_set.hits).read_bytes() == whole.files.hits.read_bytes()
    counts = ("n_queries", "n_missing", "n_extra")
    assert [getattr(score_set, n) for n in counts] == [getattr(whole.evaluation, n) for n in counts]


def test_run_without_a_query_of_the_new_release_is_told_as_ever(benchmark, publish, do_jobs):
    factories.run(benchmark, "q1 Q0 d1 1 1 s", name="old")
    publish(factories.qrel_set(benchmark, {("q1", "d1"): 1, ("q2", "d1"): 1}))
    do_jobs()
    publish(factories.qrel_set(benchmark, {("q2", "d1"): 1}), "2.0.0")

    (job,) = do_jobs()

    assert job.result["notes"][0].startswith("old: Run and qrels have no query in common")


# --- releases that a process holds -----------------------------------------------------------


def test_release_is_read_once_for_many_runs_and_again_where_another_pushed_it_out(
    release, monkeypatch
):
    n_read = []
    monkeypatch.setattr(scoring, "_HELD", type(scoring._HELD)())
    read = scoring.release_qrels
    monkeypatch.setattr(scoring, "release_qrels", lambda one: n_read.append(one) or read(one))

    first = scoring.held_target(release, "", ())
    assert scoring.held_target(release, "", ()) is first
    assert len(n_read) == 1
    part = scoring.held_target(release, "test", {"q1"})
    assert (set(part.qrels), len(n_read)) == ({"q1"}, 2)
    assert first.qrels == Target.of(release).qrels

    n_grades = sum(map(len, first.qrels.values()))
    monkeypatch.setattr(scoring, "GRADES_HELD", n_grades - 1)
    again = scoring.held_target(release, "", ())

    assert again is first  # it was there still, and is not kept
    assert scoring.held_target(release, "", ()) is not first

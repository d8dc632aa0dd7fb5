"""Four lexical systems as runs, from a button or a command; and the other commands."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks_app.collections.services import uploading
from benchmarks_app.common.selectors.reading import run_path
from benchmarks_app.importing.services import importing
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Corpus, Job, Run
from benchwright.retrieval import SYSTEMS
from scoring.models import Retrieval, ScoreSet, Submission
from scoring.scores.services.errors import NoQueriesError, NoTextsError
from scoring.systems.services import baseline_runs
from scoring.systems.services.baselines import start_baselines
from tests import factories
from tests.scoring.conftest import GOOD

CORPUS = b"""{"_id": "d1", "title": "Lists", "text": "sorting a list of numbers in place"}
{"_id": "d2", "title": "", "text": "reading lines from a file"}
{"_id": "d3", "title": "Dates", "text": "a calendar of days and numbers"}
"""


@pytest.fixture
def texts(db, tmp_path):
    """A benchmark whose corpus holds three texts, with two queries; Tess owns it."""
    corpus = Corpus.objects.create(name="texts", owner=factories.user("keeper"))
    bench = factories.benchmark(slug="texts", corpus=corpus)
    tess = factories.member(bench, "tess", "owner")
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(CORPUS)
    upload = uploading.receive_path(benchmark=bench, owner=tess, path=path)
    arguments = importing.import_arguments(upload=upload, kind="corpus")
    job = jobs.run_here(benchmark=bench, user=tess, **arguments)
    assert job.state == Job.State.DONE, job.error
    factories.query(bench, "q1", "sorting numbers")
    factories.query(bench, "q2", "file lines")
    return bench


@pytest.fixture
def tess(texts):
    return texts.memberships.get(role="owner").user


def test_button_makes_a_run_of_each_system(texts, tess, signed_in, do_jobs):
    posted = signed_in(tess).post(reverse("scoring:baselines-create", args=["texts"]))
    made_by = do_jobs()

    assert posted.url == reverse("scoring:baseline-list", args=["texts"])
    assert {job.state for job in made_by} == {Job.State.DONE}
    runs = Run.objects.filter(benchmark=texts, kind=Run.Kind.BASELINE)
    assert set(runs.values_list("name", flat=True)) == set(SYSTEMS)
    bm25 = runs.get(name="bm25")
    assert uploading.local(bm25.upload).read_bytes().startswith(b"q1 Q0 d1 1 ")
    assert bm25.description == SYSTEMS["bm25"].description


def test_made_run_ranks_what_the_text_answers(texts, tess, do_jobs):
    import polars as pl

    start_baselines(benchmark=texts, user=tess)
    do_jobs()

    best = pl.read_parquet(run_path(Run.objects.get(name="bm25-stem"))).filter(pl.col("rank") == 1)
    assert dict(best.select("qid", "docid").iter_rows()) == {"q1": "d1", "q2": "d2"}


def test_second_time_only_what_is_missing_or_withdrawn_is_made(texts, tess, do_jobs):
    start_baselines(benchmark=texts, user=tess)
    do_jobs()
    Run.objects.filter(name="tfidf-char").delete()
    Run.objects.filter(name="bm25").update(withdrawn_at=factories.now())
    start_baselines(benchmark=texts, user=tess)

    results = [job.result["made"] for job in do_jobs()]

    assert sorted(results) == [["run 'bm25 baseline'"], ["run 'tfidf-char'"]]


def test_name_of_another_run_is_left_alone(texts, tess, do_jobs):
    factories.run(texts, "q1 Q0 d1 1 1 s", name="bm25")
    start_baselines(benchmark=texts, user=tess)

    do_jobs()

    assert Run.objects.get(retrieval__system="bm25").name == "bm25 baseline"


def test_baselines_of_a_released_benchmark_are_scored(texts, tess, publish, do_jobs):
    release = publish(factories.qrel_set(texts, {("q1", "d1"): 2}))
    start_baselines(benchmark=texts, user=tess)
    do_jobs()

    do_jobs()

    assert ScoreSet.objects.filter(release=release).count() == 4


def test_attempt_that_fails_while_its_run_is_made_leaves_none(texts, tess, do_jobs, monkeypatch):
    start_baselines(benchmark=texts, user=tess, systems=["bm25"])

    def fails(**fields):
        reason = "disk full"
        raise OSError(reason)

    monkeypatch.setattr(baseline_runs, "keep_latencies", fails)
    (job,) = do_jobs()

    assert job.state == Job.State.FAILED
    assert not Run.objects.exists()
    assert not Retrieval.objects.exists()


def test_corpus_of_ids_is_refused_and_told_why(benchmark, owner, signed_in):
    with pytest.raises(NoTextsError, match="holds ids only"):
        start_baselines(benchmark=benchmark, user=owner)

    answer = signed_in(owner).post(reverse("scoring:baselines-create", args=["stdlib"]))
    assert answer.status_code == 409
    assert not Job.objects.exists()


def test_benchmark_without_queries_is_refused(texts, tess):
    texts.queries.all().delete()

    with pytest.raises(NoQueriesError, match="no queries yet"):
        start_baselines(benchmark=texts, user=tess)


# --- commands ------------------------------------------------------------------------------


def told(command: str, *args: str, **options) -> str:
    out = io.StringIO()
    call_command(command, *args, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


def test_retrieve_writes_a_run_that_is_cut_at_k(texts, tmp_path):
    out = tmp_path / "out.run"

    output = told("retrieve", "texts", "--system", "tfidf-word", "--k", "1", "-o", str(out))

    lines = [line.split()[:4] for line in out.read_text().splitlines()]
    assert lines == [["q1", "Q0", "d1", "1"], ["q2", "Q0", "d2", "1"]]
    assert "2 results of tfidf-word" in output


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["nowhere"], "No benchmark 'nowhere'"),
        (["texts", "--system", "magic"], "'magic' is no retrieval system"),
        (["texts", "--k", "0"], "Expected a whole number from 1 to 1,000,000."),
    ],
)
def test_retrieve_says_what_is_wrong(texts, tmp_path, args, why):
    with pytest.raises(CommandError, match=why):
        told("retrieve", *args, "-o", str(tmp_path / "out.run"))


def test_make_baselines_prints_what_it_made(texts):
    assert "made run 'bm25-stem'" in told("make_baselines", "texts")
    assert "there already" in told("make_baselines", "texts")


def test_submit_run_scores_at_once_and_leaderboard_prints_it(phase, sam, tmp_path):
    path = tmp_path / "system.run"
    path.write_bytes(GOOD)

    output = told("submit_run", "stdlib", str(path), "--user", "sam", "--name", "my system")

    assert "nDCG@10\t0.6546" in output
    assert Submission.objects.get().state == Submission.State.SCORED
    board = told("leaderboard", "stdlib", "-m", "mrr@10").splitlines()
    assert board[0] == "stdlib 1.0.0, by MRR@10, all 3 queries"
    assert board[2].split() == [
        *("1", "my", "system"),
        *("0.6546", "0.6667", "0.6667", "0.8889"),
        *("3/3", "0", "0"),
    ]


def test_submit_run_prints_the_lines_that_are_wrong(phase, sam, tmp_path):
    path = tmp_path / "bad.run"
    path.write_text("q1 d1\n")

    with pytest.raises(CommandError, match=r"bad\.run:1: 2 columns"):
        told("submit_run", "stdlib", str(path), "--user", "sam")


def test_submit_run_refuses_who_may_not_submit(phase, vi, tmp_path):
    with pytest.raises(CommandError, match="'vi' may not submit"):
        told("submit_run", "stdlib", str(tmp_path / "x"), "--user", "vi")


def test_score_runs_scores_what_has_no_scores(release, benchmark, owner):
    factories.run(benchmark, "q1 Q0 d1 1 1 s", name="late")

    assert "made scores of 1 run" in told("score_runs", "stdlib")
    assert "made scores of 0 runs" in told("score_runs", "stdlib")


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--release", "9.9.9"], "no published release 9.9.9"),
        (["-m", "magic"], "'magic' is no measure we know"),
    ],
)
def test_leaderboard_says_what_is_not_there(release, args, why):
    with pytest.raises(CommandError, match=why):
        told("leaderboard", "stdlib", *args)


def test_leaderboard_ranks_by_any_measure(release, scored):
    scored("q1 Q0 d1 1 1 s", name="a")
    scored("q1 Q0 x 1 2 s\nq1 Q0 d1 2 1 s", name="b")

    board = told("leaderboard", "stdlib", "--measure", "nDCG(dcg='exp-log2')@1").splitlines()

    assert board[0] == "stdlib 1.0.0, by nDCG(dcg='exp-log2')@1, all 3 queries"
    assert [line.split()[:2] for line in board[2:]] == [["1", "a"], ["2", "b"]]
    assert [line.split()[6] for line in board[2:]] == ["0.3333", "0.0000"]

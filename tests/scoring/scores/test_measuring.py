"""Measures, slices, intervals and ranks from what is stored of a run."""

import csv
import io
import random

import pytest
from click.testing import CliRunner
from django.urls import reverse

from benchmarks_app import files
from benchmarks_app.common.selectors.reading import run_path
from benchmarks_app.models import Query, QueryFamily, Release, Run
from benchmarks_app.releases.services.exporting import export_zip
from benchwright import evaluate, evaluate_model
from benchwright.cli.main import main
from benchwright.errors import MeasureParameterError, UnknownMeasureError
from benchwright.exports import BEIR
from scoring.boards.services.boards import board_of
from scoring.models import Score, ScoreSet
from scoring.scores.selectors.boards import whole_score_sets
from scoring.scores.selectors.runs import per_query_values
from scoring.scores.services import measuring, ranking
from scoring.scores.services.measuring import add_measure, evaluated
from scoring.scores.services.scoring import Target, score_run
from scoring.scores.shown import added, any_measure, declarable
from tests import factories
from tests.scoring.scores.test_scoring import random_case

NAMES = ["nDCG(dcg='exp-log2')@20", "AP(rel=2)", "R@3", "Success@1", "Judged@5", "NumRelRet"]
TOP = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s\nq2 Q0 d4 1 1 s\nq3 Q0 d6 1 1 s"
HALF = "q1 Q0 d9 1 3 s\nq1 Q0 d2 2 2 s"


def overall(score_set) -> dict[str, float | None]:
    return dict(score_set.scores.filter(slice_name="").values_list("measure", "mean"))


@pytest.fixture
def stored(benchmark, publish, tmp_path):
    """A function that makes a random case: score set, qrels and run as dicts."""

    def make(seed: int):
        grades, lines = random_case(seed)
        release = publish(factories.qrel_set(benchmark, grades), f"1.{seed}.0")
        run = factories.run(benchmark, "\n".join(lines))
        score_set = score_run(run=run, target=Target.of(release), folder=tmp_path / str(seed))
        qrels, results = {}, {}
        for (qid, docid), grade in grades.items():
            qrels.setdefault(qid, {})[docid] = grade
        for qid, _, docid, _, score, _ in (line.split() for line in lines):
            results.setdefault(qid, {})[docid] = float(score)
        return score_set, qrels, results

    return make


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_stored_hits_give_any_measure_of_the_run_unopened(seed, stored):
    score_set, qrels, results = stored(seed)
    run_path(score_set.run).unlink()

    scores = evaluated(score_set, NAMES)

    assert scores.means == pytest.approx(evaluate(qrels, results, NAMES).means, abs=1e-12)


def test_slice_is_scored_on_its_queries_only(stored):
    score_set, qrels, results = stored(4)
    members = sorted(qrels)[:3]

    scores = evaluated(score_set, NAMES, only=members)

    expected = evaluate({qid: qrels[qid] for qid in members}, results, NAMES)
    assert scores.means == pytest.approx(expected.means, abs=1e-12)
    assert scores.n_queries == 3


def test_added_measure_is_stored_once_for_every_run(scored, release):
    for name in ("one", "two"):
        scored(TOP, name)

    left = add_measure(release=release, score_sets=whole_score_sets(release), name="Success@1")
    again = add_measure(release=release, score_sets=whole_score_sets(release), name="Success@1")

    assert (left, again) == (0, 0)
    assert [score.mean for score in Score.objects.filter(measure="Success@1")] == [
        pytest.approx(2 / 3)
    ] * 2


def test_what_takes_too_long_is_left_for_the_next_page(scored, release, monkeypatch):
    for name in "abc":
        scored(TOP, name)
    monkeypatch.setattr(measuring, "SECONDS", -1)
    monkeypatch.setattr(measuring, "monotonic", iter([0, -2, 0, 0, -2, 0, 0, -2]).__next__)

    left = [
        add_measure(release=release, score_sets=whole_score_sets(release), name="AP@3")
        for _ in range(3)
    ]

    assert left == [2, 1, 0]
    assert Score.objects.filter(measure="AP@3").count() == 3


def test_beyond_the_limit_the_oldest_added_measure_goes(scored, release, monkeypatch):
    monkeypatch.setattr(measuring, "ADDED_KEPT", 2)
    standard = set(overall(scored(TOP)))

    for name in ("P@1", "P@2", "P@3"):
        add_measure(release=release, score_sets=whole_score_sets(release), name=name)

    assert set(overall(whole_score_sets(release).get())) == standard | {"P@2", "P@3"}


def test_name_that_is_too_long_is_refused(release):
    with pytest.raises(MeasureParameterError, match="at most 120 are kept"):
        add_measure(release=release, score_sets=[], name="x" * 121)


@pytest.mark.parametrize(
    ("text", "threshold", "name"),
    [
        ("mrr@10", 1, "RR@10"),
        ("MAP", 2, "AP(rel=2)"),
        ("R@50", 1, "R@50"),
        ("recall_50", 2, "R(rel=2)@50"),
        ("R(rel = 1)@50", 2, "R@50"),
        ("R(rel=1)@100", 2, "R@100"),
        ("ndcg_cut_20", 2, "nDCG@20"),
        ("P(judged_only=True)@5", 2, "P(rel=2,judged_only=True)@5"),
    ],
)
def test_name_means_the_grades_that_the_release_calls_relevant(text, threshold, name):
    measure = any_measure(text, threshold)

    assert measure.name == name
    # Addresses name a measure by its label.
    assert any_measure(measure.label, threshold).name == name


@pytest.mark.parametrize("name", ["R@100", "RR@10", "bpref", "Rprec", "nDCG@20", "Judged@5"])
def test_a_stored_measure_is_read_back_from_its_label_on_any_scale(name):
    assert any_measure(added(name, 2).label, 2).name == name


@pytest.mark.parametrize(
    ("text", "name"), [("R( rel=1 )@50", "R@50"), ("R@50", "R(rel=2)@50"), ("AP(rel=1)", "AP")]
)
def test_a_declared_measure_keeps_the_grade_that_was_declared(text, name):
    assert any_measure(declarable(text), 2).name == name


def test_name_that_is_none_is_refused():
    with pytest.raises(UnknownMeasureError, match="'nDGC@10' is no measure"):
        any_measure("nDGC@10", 1)


# --- intervals and ranks -------------------------------------------------------------------


def many(seed: int, skill: float, n: int = 60) -> str:
    """A run that ranks the relevant document of each query first with this probability."""
    rng = random.Random(seed)
    return "\n".join(
        f"n{number} Q0 {'good' if rng.random() < skill else 'bad'} 1 1 s" for number in range(n)
    )


def queries_of_families(benchmark, n: int, size: int) -> dict:
    """Grades of `n` queries in families of `size`."""
    for first in range(0, n, size):
        family = QueryFamily.objects.create(benchmark=benchmark)
        for number in range(first, first + size):
            factories.query(benchmark, f"n{number}", family=family)
    assert Query.objects.count() == n
    return {(f"n{number}", "good"): 1 for number in range(n)}


def test_interval_and_how_it_was_made_are_stored(benchmark, publish, tmp_path):
    release = publish(factories.qrel_set(benchmark, queries_of_families(benchmark, 60, 1)))
    run = factories.run(benchmark, many(1, 0.5))

    score_set = score_run(run=run, target=Target.of(release), folder=tmp_path / "s")

    score = score_set.scores.get(measure="RR@10")
    # A share p of n queries: its standard error is the root of p (1 - p) / n.
    half = 1.96 * (score.mean * (1 - score.mean) / 60) ** 0.5
    assert score.ci_low == pytest.approx(score.mean - half, abs=0.04)
    assert score.ci_high == pytest.approx(score.mean + half, abs=0.04)
    assert score_set.intervals == {
        "method": "t",
        "level": 0.95,
        "n_families": 60,
    }


def test_families_of_the_release_are_resampled_whole(benchmark, publish, tmp_path):
    release = publish(factories.qrel_set(benchmark, queries_of_families(benchmark, 60, 6)))
    rng = random.Random(5)
    results = [rng.random() < 0.5 for _ in range(10)]
    lines = [f"n{n} Q0 {'good' if results[n // 6] else 'bad'} 1 1 s" for n in range(60)]
    run = factories.run(benchmark, "\n".join(lines))

    score_set = score_run(run=run, target=Target.of(release), folder=tmp_path / "s")

    score = score_set.scores.get(measure="RR@10")
    assert score_set.intervals["n_families"] == 10
    # Ten coins, not sixty: about the root of 6 as wide.
    assert score.ci_high - score.ci_low > 1.8 * 2 * 1.96 * (0.25 / 60) ** 0.5


@pytest.fixture
def in_families(benchmark, publish, tmp_path):
    """Scores of 60 queries in 10 families, of which 36 queries in 6 are the slice "some"."""
    grades = queries_of_families(benchmark, 60, 6)
    some = benchmark.queries.filter(qid__in=[f"n{number}" for number in range(36)])
    factories.query_slice(benchmark, "some", *some)
    release = publish(factories.qrel_set(benchmark, grades))
    for seed, skill in ((3, 0.8), (4, 0.4)):
        run = factories.run(benchmark, many(seed, skill), name=f"run {seed}")
        score_run(run=run, target=Target.of(release), folder=tmp_path / f"s{seed}")
    return release


BOARD = "/api/v1/benchmarks/stdlib/releases/1.0.0/leaderboard/"


def test_the_same_scores_and_families_have_one_interval_at_every_door(
    in_families, signed_in, vi, tmp_path
):
    """On the board, its API and files, the run's page and API, and at the command line."""
    client, run = signed_in(vi), in_families.benchmark.runs.get(name="run 3")
    (tmp_path / "qrels").write_text("".join(f"n{n} 0 good 1\n" for n in range(60)))
    (tmp_path / "run").write_text(many(3, 0.8))
    (tmp_path / "families").write_text("".join(f"n{n}\tf{n // 6}\n" for n in range(60)))
    asked = ["score", *(str(tmp_path / name) for name in ("qrels", "run")), "-m", "RR@10"]
    asked += ["--families", str(tmp_path / "families"), "--format", "tsv"]
    line = CliRunner().invoke(main, asked).stdout.splitlines()[1].split("\t")
    ends = tuple(map(float, line[5:7]))

    board = reverse("scoring:leaderboard-release", args=["stdlib", "1.0.0"])
    page = client.get(f"{board}?m=MRR@10").context["page"].object_list
    file = client.get(reverse("scoring:leaderboard-csv", args=["stdlib", "1.0.0"]))
    table = csv.DictReader(io.StringIO(file.content.decode()))
    scores = client.get(f"/api/v1/benchmarks/stdlib/runs/{run.pk}/scores/").json()["scores"]
    of_run = client.get(reverse("scoring:run-scores", args=["stdlib", run.pk])).context
    fields = {
        "board": next(row.intervals["RR@10"] for row in page if row.run == run),
        "API": next(_ends(r) for r in client.get(BOARD).json()["rows"] if r["run"] == "run 3"),
        "file": next(tuple(map(float, _ends(row))) for row in table if row["run"] == "run 3"),
        "run": of_run["scores"][0].ranges["RR@10"],
        "API of the run": next(
            (score["low"], score["high"])
            for score in scores
            if (score["measure"], score["slice"]) == ("RR@10", "")
        ),
    }

    assert 0 < ends[0] < ends[1] < 1
    assert fields == dict.fromkeys(fields, pytest.approx(ends, abs=1e-15))


def _ends(row: dict) -> tuple:
    return row["MRR@10 low"], row["MRR@10 high"]


@pytest.mark.parametrize(("slice_name", "n"), [("", 10), ("some", 6)])
def test_an_interval_over_few_families_is_said_to_be_too_short(
    in_families, signed_in, vi, slice_name, n
):
    text = f"{n} families or queries; below 30 an interval is too short."
    board = reverse("scoring:leaderboard-release", args=["stdlib", "1.0.0"])

    page = signed_in(vi).get(f"{board}?slice={slice_name}").content.decode()
    answer = signed_in(vi).get(f"{BOARD}?slice={slice_name}").json()

    assert page.count(text) == 1
    assert answer["notes"].count(text) == 1


def test_pages_of_a_run_say_where_its_intervals_are_too_short(in_families, signed_in, vi):
    client, run = signed_in(vi), in_families.benchmark.runs.get(name="run 3")
    text = "families or queries; below 30 an interval is too short."

    page = client.get(reverse("scoring:run-scores", args=["stdlib", run.pk])).content.decode()
    slices = client.get(reverse("scoring:run-slices", args=["stdlib", run.pk])).content.decode()
    answer = client.get(f"/api/v1/benchmarks/stdlib/runs/{run.pk}/scores/").json()

    assert f">10 {text}</li>" in page
    assert slices.count(">few</span>") == 2  # all queries as well as the slice
    assert answer["notes"] == [f"10 {text}", f"some: 6 {text}"]


def test_thirty_families_are_enough_for_an_interval(benchmark, publish, signed_in, vi, tmp_path):
    release = publish(factories.qrel_set(benchmark, queries_of_families(benchmark, 60, 2)))
    run = factories.run(benchmark, many(1, 0.5))
    score_run(run=run, target=Target.of(release), folder=tmp_path / "s")

    assert signed_in(vi).get(BOARD).json()["notes"] == []
    page = signed_in(vi).get(reverse("scoring:run-scores", args=["stdlib", run.pk]))
    assert "too short" not in page.content.decode()


def test_added_measure_has_the_interval_it_had_when_stored(stored):
    score_set, *_ = stored(6)
    before = score_set.scores.get(measure="AP")
    expected = (before.mean, before.ci_low, before.ci_high, before.n, before.judged_share)
    before.delete()

    add_measure(
        release=score_set.release, score_sets=whole_score_sets(score_set.release), name="AP"
    )

    after = score_set.scores.get(measure="AP")
    assert (after.mean, after.ci_low, after.ci_high, after.n, after.judged_share) == expected


@pytest.fixture
def board(benchmark, publish, tmp_path, vi):
    """A function that gives the standings of runs by their names, ranked by a measure."""
    release = publish(factories.qrel_set(benchmark, queries_of_families(benchmark, 60, 1)))
    for name, seed, skill in (("best", 1, 0.9), ("worse", 2, 0.35), ("like worse", 3, 0.3)):
        run = factories.run(benchmark, many(seed, skill), name=name)
        score_run(run=run, target=Target.of(release), folder=tmp_path / name)

    def ranked(name: str) -> dict:
        sets = whole_score_sets(release)
        add_measure(release=release, score_sets=sets, name=name)
        board = board_of(release=release, user=vi, measure=any_measure(name, 1))
        return {row.run.name: row.standing for row in board.whole}

    return ranked


@pytest.mark.parametrize("name", ["nDCG@10", "Success@1"], ids=["stored", "added"])
def test_runs_that_cannot_be_told_apart_share_group_and_ranks(board, name):
    result = board(name)

    assert result["best"] == (1, 1, 1)
    assert result["worse"].tie_group == result["like worse"].tie_group == 2
    assert {(value.best, value.worst) for value in result.values()} == {(1, 1), (2, 3)}


@pytest.mark.parametrize(
    ("name", "first", "has_errors"), [("AP", 1, True), ("GMAP", 2, False), ("NumRelRet", 1, False)]
)
def test_ranks_are_by_the_mean_that_a_measure_has(name, first, has_errors, monkeypatch):
    """Of 1 and 0 in turn the mean is above 0.1, and the geometric mean far below it."""
    values, qids = [[1.0, 0.0] * 30, [0.1] * 60], [f"q{n}" for n in range(60)]
    monkeypatch.setattr(ranking, "values_of", lambda *_: (values, qids))
    monkeypatch.setattr(ranking, "release_families", lambda _: {})
    run = Run(kind=Run.Kind.BASELINE)
    sets = [ScoreSet(pk=pk, run=run) for pk in (1, 2)]

    facts = ranking._worked_out(ranking._Question(Release(), name, "", sets))

    assert facts.standings == {first: (1, 1, 1), 3 - first: (2, 2, 2)}
    assert bool(facts.errors) is has_errors


def test_standings_are_worked_out_once(board, monkeypatch):
    first = board("nDCG@10")
    monkeypatch.setattr(ranking, "ranked", None)

    assert board("nDCG@10") == first


def test_board_that_is_too_large_has_no_standings(board, monkeypatch):
    monkeypatch.setattr(ranking, "MOST_RUNS", 2)

    assert set(board("nDCG@10").values()) == {None}


def test_files_of_scores_are_all_that_is_read(stored):
    score_set, *_ = stored(7)
    files.local_path(score_set.hits).unlink()

    with pytest.raises(FileNotFoundError, match=r"\.parquet"):
        evaluated(score_set, ["AP"])


def test_scale_of_the_release_bounds_the_grades(benchmark, publish, tmp_path):
    """ERR needs the highest grade there could be, 3 here, and not the highest that was given."""
    release = publish(factories.qrel_set(benchmark, {("q1", "d1"): 2}))
    run = factories.run(benchmark, "q1 Q0 d1 1 1 s")
    score_set = score_run(run=run, target=Target.of(release), folder=tmp_path / "s")

    # (2^2 - 1) / 2^3 at rank 1
    assert evaluated(score_set, ["ERR@10"]).means["ERR@10"] == 3 / 8


@pytest.mark.django_db
def test_exported_release_gives_the_numbers_of_its_board(tmp_path):
    benchmark = factories.tiny_benchmark()
    benchmark.grades.filter(value=1).update(is_relevant=False)
    release = factories.release(benchmark.qrel_sets.get())
    lines = (
        "1 Q0 d-line 1 3 s\n1 Q0 d-empty-title 2 2 s\nq-cjk Q0 d-cjk 1 3 s\nq-quote Q0 123 1 3 s"
    )
    run = factories.run(benchmark, lines)
    score_set = score_run(run=run, target=Target.of(release), folder=tmp_path / "s")
    path = tmp_path / "export.zip"
    path.write_bytes(b"".join(export_zip(release, BEIR)))
    results = {}
    for qid, _, docid, _, score, _ in (line.split() for line in lines.splitlines()):
        results.setdefault(benchmark.queries.get(qid=qid).text, []).append((docid, float(score)))

    scores = evaluate_model(lambda text, k: results.get(text, []), path)

    stored = {row.pop("qid"): row for row in per_query_values(score_set)}
    assert scores.benchmark == "tiny 1.0.0"
    assert scores.per_query["1"]["RR(rel=2)@10"] == 1 / 2
    for qid, values in scores.per_query.items():
        for name in ("nDCG@10", "RR(rel=2)@10"):
            assert values[name] == stored[qid][name], (qid, name)

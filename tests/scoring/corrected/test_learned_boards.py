"""The board by people and the estimate from the judged documents: a second way, and refusals."""

import json
from math import log, log1p, log2
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from scipy.optimize import minimize

from annotation.models import Judgment
from benchmarks_app.common.selectors import learning
from benchmarks_app.models import Corpus, Qrel, QrelSet, Run
from benchmarks_app.queries import services
from benchmarks_app.queries.services import draw_families
from benchwright.estimation.learned import folds_of
from scoring.boards.services.boards import board_of
from scoring.corrected.services import machines
from scoring.corrected.services.correcting import corrected_board
from scoring.scores.services.scoring import Target, score_run
from scoring.scores.services.slice_scores import board_split
from scoring.scores.shown import measure_named
from tests import factories
from tests.scoring.corrected.conftest import graded
from tests.scoring.corrected.test_corrected_boards import by_formula

pytestmark = pytest.mark.django_db
N, DRAWN, DEPTH, TOP = 60, 40, 14, 10
QIDS = [f"q{number:02}" for number in range(N)]
WORDS = ["rye", "bread", "wheat", "oven", "flour", "salt", "water", "yeast", "crust", "knead"]
LEARNED = machines.LEARNED


@pytest.fixture
def world(benchmark, owner, publish, tmp_path, monkeypatch):
    """Sixty queries of which people labelled forty that were drawn, and four runs of scores."""
    machines._estimate.cache_clear()
    rng = Random(7)
    truth = {
        qid: {f"{qid}-d{n:02}": rng.choice([0, 0, 1, 2]) for n in range(DEPTH)} for qid in QIDS
    }
    texts = {
        docid: " ".join(rng.choices(WORDS, k=3 + rng.randint(0, 9)) + WORDS[:grade])
        for of in truth.values()
        for docid, grade in of.items()
    }
    Corpus.objects.filter(pk=benchmark.corpus_id).update(kind=Corpus.Kind.TEXTS)
    benchmark.corpus.refresh_from_db()
    lines = "\n".join(json.dumps({"_id": docid, "text": texts[docid]}) for docid in texts)
    factories.done(factories.imported(benchmark, lines.encode(), "corpus.jsonl"))
    benchmark.refresh_from_db()
    for qid in QIDS:
        factories.query(benchmark, qid, text=" ".join(rng.sample(WORDS, 2)))
    monkeypatch.setattr(services, "uuid4", lambda: SimpleNamespace(int=7))
    draw = draw_families(benchmark=benchmark, n=DRAWN, user=owner)
    people = {(qid, docid): grade for qid in draw.families for docid, grade in truth[qid].items()}
    release = publish(graded(benchmark, people, "people", QrelSet.Kind.HUMAN))
    scores = {}

    def add_run(number: int) -> None:
        noise = 0.8 + 0.4 * number
        scores[f"run{number}"] = {
            qid: {docid: 5 + grade + rng.gauss(0, noise) for docid, grade in of.items()}
            for qid, of in truth.items()
        }
        rows = "\n".join(
            f"{qid} Q0 {docid} 1 {score:.17g} s"
            for qid, of in scores[f"run{number}"].items()
            for docid, score in of.items()
        )
        kind = Run.Kind.BASELINE if number == 0 else Run.Kind.UPLOADED
        run = factories.run(benchmark, rows, name=f"run{number}")
        Run.objects.filter(pk=run.pk).update(kind=kind)
        score_run(run=run, target=Target.of(release), folder=tmp_path / run.name)

    for number in range(4):
        add_run(number)
    return SimpleNamespace(
        draw=draw,
        people=people,
        release=release,
        scores=scores,
        texts=texts,
        truth=truth,
        add_run=add_run,
    )


def asked(release, user, machine="", measure="nDCG@10", *, computes=True):
    result = measure_named(measure)
    board = board_of(release=release, user=user, measure=result, split=board_split(release))
    return corrected_board(board, machine=machine, computes=computes)


# --- the estimate a second way -------------------------------------------------------------------


def ranked(of: dict[str, float]) -> list[str]:
    return sorted(of, key=of.get, reverse=True)


def second_features(world, benchmark, pool) -> np.ndarray:
    """Eight numbers of each pooled document, by the words of docs/machine-judges.md."""
    asked_words = dict(benchmark.queries.values_list("qid", "text"))
    docids = {docid for of in pool.values() for docid in of}
    having = {word: sum(word in world.texts[d].split() for d in docids) for word in WORDS}
    idf = {word: max(0.0, log((len(docids) + 1) / (n + 0.5))) for word, n in having.items()}
    rows = []
    for qid, of in pool.items():
        known = world.scores["run0"][qid]
        column = [known[docid] for docid in of]
        mean, spread = np.mean(column), np.std(column)
        query = set(asked_words[qid].split())
        for docid in of:
            words = world.texts[docid].split()
            shared = query & set(words)
            rows.append(
                [
                    known[docid],
                    (known[docid] - mean) / spread,
                    known[docid] / max(column),
                    log1p(sum(other > known[docid] for other in column)),
                    len(shared) / len(query),
                    sum(idf[word] for word in shared) / sum(idf[word] for word in query),
                    log1p(len(words)),
                    log1p(len(asked_words[qid].split())),
                ]
            )
    return np.array(rows)


def second_fit(rows, is_one, others) -> np.ndarray:
    """Probabilities of `others` by a penalised regression, minimised by another method."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    spread = np.where(spread > 1e-12, spread, 1)
    x = (rows - mean) / spread

    def loss(w):
        margin = x @ w[:-1] + w[-1]
        return (w[:-1] ** 2).sum() / 2 + 0.1 * (np.logaddexp(0, margin) - is_one * margin).sum()

    result = minimize(loss, np.zeros(x.shape[1] + 1), method="BFGS", options={"gtol": 1e-9})
    return 1 / (1 + np.exp(-((others - mean) / spread @ result.x[:-1] + result.x[-1])))


def second_estimate(world, benchmark) -> dict[str, dict[str, float]]:
    """{query: {document: expected grade}} of runs' first ten, learned from four other folds."""
    pool = {
        qid: sorted({d for scores in world.scores.values() for d in ranked(scores[qid])[:TOP]})
        for qid in QIDS
    }
    rows = second_features(world, benchmark, pool)
    pairs = [(qid, docid) for qid in QIDS for docid in pool[qid]]
    grades = np.array([world.people.get(pair, np.nan) for pair in pairs])
    folds = np.array([folds_of([qid])[0] for qid, _ in pairs])
    at_least = np.zeros((len(pairs), 2))
    for fold in range(5):
        known = ~np.isnan(grades) & (folds != fold)
        for column, grade in enumerate((1, 2)):
            mine = folds == fold
            at_least[mine, column] = second_fit(rows[known], grades[known] >= grade, rows[mine])
    expected = at_least[:, 0] + np.minimum(at_least[:, 0], at_least[:, 1])
    by_query: dict[str, dict[str, float]] = {}
    for (qid, docid), grade in zip(pairs, expected, strict=True):
        by_query.setdefault(qid, {})[docid] = grade
    return by_query


def second_ndcg(order, grades) -> float:
    gains = [grades[docid] / log2(place + 2) for place, docid in enumerate(order[:TOP])]
    best = sorted(grades.values(), reverse=True)[:TOP]
    return sum(gains) / sum(grade / log2(place + 2) for place, grade in enumerate(best))


def second_values(world, benchmark) -> dict[str, tuple[dict[str, float], dict[str, float]]]:
    """{run: (people's nDCG@10, the estimate's)}, each by query."""
    estimate = second_estimate(world, benchmark)
    return {
        name: (
            {q: second_ndcg(ranked(scores[q]), world.truth[q]) for q in world.draw.families},
            {q: second_ndcg(ranked(scores[q]), estimate[q]) for q in QIDS},
        )
        for name, scores in world.scores.items()
    }


def test_numbers_are_those_of_a_second_fit(world, benchmark, owner):
    corrected = asked(world.release, owner)

    assert corrected.refusal == ""
    assert corrected.machine.key == LEARNED
    assert corrected.machine.function_names == ("run0",)
    assert (corrected.first.n_families, corrected.first.n_all_families) == (DRAWN, N)
    assert {row.run.name for row in corrected.helped} == {"run1", "run2", "run3"}
    drawn = list(world.draw.families)
    by_hand = second_values(world, benchmark)
    for row in corrected.helped:
        y, f = by_hand[row.run.name]
        expected = by_formula([y[q] for q in drawn], [f[q] for q in drawn], list(f.values()))
        of = row.estimate
        assert {
            "mean": of.mean,
            "low": of.low,
            "high": of.high,
            "weight": of.weight,
            "people": of.people_mean,
            "machine": of.machine_mean,
            "n_effective": of.n_effective,
        } == pytest.approx(expected, abs=1e-5)
        assert of.high - of.low < of.people_high - of.people_low
        assert of.n_effective > DRAWN
    (feature,) = corrected.others
    y, f = by_hand["run0"]
    assert feature.estimate.mean == pytest.approx(sum(y.values()) / DRAWN, abs=1e-12)
    assert feature.trust.machine == pytest.approx(np.mean([f[q] for q in drawn]), abs=1e-6)


@pytest.mark.parametrize("measure", ["P@10", "RR@10"])
def test_other_measures_are_by_probabilities(world, owner, measure):
    corrected = asked(world.release, owner, measure=measure)

    assert corrected.refusal == ""
    assert all(0 <= row.estimate.machine_mean <= 1 for row in corrected.rows)


@pytest.mark.parametrize("measure", ["R@100", "AP"])
def test_a_measure_that_it_does_not_give_is_refused(world, owner, measure):
    refusal = asked(world.release, owner, measure=measure).refusal

    assert "is none of the measures that the estimate from the judged documents gives" in refusal


# --- which machine it is -------------------------------------------------------------------------


def test_it_stands_where_no_machine_graded_and_where_it_is_asked_for(world, benchmark, owner):
    flat = {(qid, docid): n % 3 for qid in QIDS for n, docid in enumerate(world.truth[qid])}
    judged = graded(benchmark, flat, "by nova", QrelSet.Kind.MACHINE, judge="nova")

    by_default = asked(world.release, owner).machine
    asked_for = asked(world.release, owner, machine=LEARNED).machine
    unknown = asked(world.release, owner, machine=str(judged.pk + 1))

    assert by_default.key == str(judged.pk)
    assert asked_for.key == LEARNED
    assert unknown.refusal.startswith("There is no such set of a machine's grades")


def test_fewer_than_thirty_drawn_and_labelled_families_are_refused(
    world, benchmark, owner, publish, tmp_path
):
    kept = set(world.draw.families[:29])
    few = {pair: grade for pair, grade in world.people.items() if pair[0] in kept}
    release = publish(graded(benchmark, few, "few", QrelSet.Kind.HUMAN), "2.0.0")
    score_run(run=Run.objects.get(name="run0"), target=Target.of(release), folder=tmp_path / "few")

    refusal = asked(release, owner).refusal

    assert refusal.startswith("People labelled 29 drawn families")
    assert "right from 30 on. Label 1 more" in refusal


def test_labels_of_queries_that_were_not_drawn_are_refused(world, owner):
    world.release.benchmark.query_draws.all().delete()

    assert asked(world.release, owner).refusal.startswith("No queries were drawn for people")


def test_without_a_run_that_everybody_sees_there_is_nothing_to_learn_from(world, owner):
    Run.objects.update(visibility=Run.Visibility.OWNER)

    assert asked(world.release, owner).refusal.startswith("There is nothing to estimate")


def test_labels_of_queries_beside_the_draw_teach_nothing(
    world, benchmark, owner, publish, tmp_path
):
    """Whoever chose them chose by what a machine would learn."""
    before = {row.run.name: row.estimate.machine_mean for row in asked(world.release, owner).rows}
    other = next(qid for qid in QIDS if qid not in world.draw.families)
    more = world.people | {(other, docid): 2 for docid in world.truth[other]}
    release = publish(graded(benchmark, more, "more", QrelSet.Kind.HUMAN), "2.0.0")
    for run in Run.objects.all():
        score_run(run=run, target=Target.of(release), folder=tmp_path / f"more-{run.pk}")

    after = {row.run.name: row.estimate.machine_mean for row in asked(release, owner).rows}

    assert after == pytest.approx(before, abs=1e-12)


def test_hidden_labels_teach_nothing_that_others_are_told(world, benchmark, owner, monkeypatch):
    families = {qid: qid for qid in QIDS}
    hidden = frozenset(world.draw.families[:5])

    seen = machines.learner(world.release, families, frozenset(world.draw.families) - hidden)
    keepers = machines.learner(world.release, families, frozenset(world.draw.families))

    assert seen.digest != keepers.digest
    taught: list[set[str]] = []
    monkeypatch.setattr(
        machines, "estimate_from_judged", lambda _, grades, **__: taught.append({*grades})
    )
    machines._estimate(seen)
    assert taught == [set(world.draw.families) - hidden]


def test_texts_beyond_the_limit_are_left_out(world, owner, monkeypatch):
    monkeypatch.setattr(learning, "MOST_TEXTS", 10)
    results = []
    plain = learning.learned_estimate
    monkeypatch.setattr(
        learning,
        "learned_estimate",
        lambda *args, **more: results.append(more) or plain(*args, **more),
    )

    assert asked(world.release, owner).refusal == ""

    assert "document_words" not in results[0]
    assert results[0]["scores"].keys() != set()


def test_a_pool_beyond_the_limit_is_refused(world, owner, monkeypatch):
    monkeypatch.setattr(learning, "MOST_DOCUMENTS", 10)

    refusal = asked(world.release, owner).refusal

    assert refusal.startswith("Nothing can be learned: there are ")
    assert "At most 10 are looked at" in refusal


# --- computed once, never a label ----------------------------------------------------------------


def test_a_second_look_fits_nothing_and_asks_no_more(world, owner, monkeypatch):
    first = asked(world.release, owner)

    monkeypatch.setattr(machines, "_estimate", lambda _: pytest.fail("fitted again"))
    with CaptureQueriesContext(connection) as queries:
        second = asked(world.release, owner)

    assert [row.estimate for row in second.rows] == [row.estimate for row in first.rows]
    assert not [
        query for query in queries if query["sql"].startswith(("INSERT", "UPDATE", "DELETE"))
    ]


def test_database_is_asked_as_often_for_twelve_runs_as_for_four(world, owner, signed_in):
    address = reverse("scoring:leaderboard-corrected", args=[world.release.benchmark.slug, "1.0.0"])
    client = signed_in(owner)

    def asked_of_the_database() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).context["corrected"].n_waiting == 0
        return len(queries)

    first, second = asked_of_the_database(), asked_of_the_database()
    for number in range(4, 12):
        world.add_run(number)

    assert asked_of_the_database() <= first
    assert asked_of_the_database() == second < first


def test_nothing_of_it_is_written(world, owner):
    before = (Judgment.objects.count(), Qrel.objects.count(), QrelSet.objects.count())

    asked(world.release, owner)

    assert (Judgment.objects.count(), Qrel.objects.count(), QrelSet.objects.count()) == before


def test_the_run_that_is_learned_from_is_favoured_and_loses_that_view(world, owner):
    rows = asked(world.release, owner).rows

    assert [row.run.name for row in rows if row.is_favoured] == ["run0"]
    assert [row.run.name for row in rows if row.machine_mean is None] == ["run0"]


# --- pages and API -------------------------------------------------------------------------------


def test_page_and_api_say_what_it_is(world, owner, signed_in):
    client = signed_in(owner)
    args = [world.release.benchmark.slug, world.release.version]

    page = client.get(reverse("scoring:leaderboard-corrected", args=args)).content.decode()
    answer = client.get(reverse("api:leaderboard-corrected", args=args)).json()

    assert "An estimate, and never a label" in page
    assert "the scores of run0, and words of texts" in page
    assert answer["machine"] == {
        "id": None,
        "name": "Estimate from the judged documents",
        "judge": "",
        "models": [],
        "learned_from": ["run0"],
    }
    for row in answer["rows"]:
        assert f"{row['mean']:.4f}" in page


def test_reader_chooses_between_a_set_and_the_estimate(world, benchmark, owner, signed_in):
    flat = {(qid, docid): n % 3 for qid in QIDS for n, docid in enumerate(world.truth[qid])}
    graded(benchmark, flat, "by nova", QrelSet.Kind.MACHINE, judge="nova")
    address = reverse("scoring:leaderboard-corrected", args=[benchmark.slug, "1.0.0"])
    client = signed_in(owner)

    by_nova, by_estimate = (
        client.get(address + query).content.decode() for query in ("", "?machine=learned")
    )

    assert '<option value="learned">' in by_nova
    assert '<option value="learned" selected>' in by_estimate
    assert "never a label" not in by_nova
    assert "never a label" in by_estimate


def test_difference_of_two_runs_is_that_of_a_second_fit(world, benchmark, owner, signed_in):
    client = signed_in(owner)
    query = "?runs=run1,run2"

    answer = client.get(reverse("api:comparison-corrected", args=[benchmark.slug]) + query).json()
    page = client.get(reverse("scoring:comparison-corrected", args=[benchmark.slug]) + query)

    by_hand = second_values(world, benchmark)
    (y1, f1), (y2, f2) = by_hand["run1"], by_hand["run2"]
    drawn = list(world.draw.families)
    expected = by_formula(
        [y2[q] - y1[q] for q in drawn],
        [f2[q] - f1[q] for q in drawn],
        [f2[q] - f1[q] for q in QIDS],
    )
    assert answer["machine"]["learned_from"] == ["run0"]
    assert answer["people_difference"] == pytest.approx(expected["people"], abs=1e-9)
    if answer["is_helped"]:
        assert answer["difference"] == pytest.approx(expected["mean"], abs=1e-5)
        assert answer["n_effective"] == pytest.approx(expected["n_effective"], abs=1e-3)
    assert "never a label" in page.content.decode()


def test_who_is_not_signed_in_starts_no_fit(world, benchmark, client, monkeypatch):
    monkeypatch.setattr(machines, "_estimate", lambda _: pytest.fail("fitted"))
    type(benchmark).objects.filter(pk=benchmark.pk).update(visibility="public")

    answer = client.get(reverse("scoring:leaderboard-corrected", args=[benchmark.slug, "1.0.0"]))

    assert answer.context["corrected"].n_waiting == 4

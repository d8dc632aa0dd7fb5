"""Sixty queries, machine grades of all, people's of those drawn, and five runs."""

from math import log2
from random import Random
from types import SimpleNamespace

import pytest

from benchmarks_app.models import Qrel, QrelSet
from benchmarks_app.queries import services
from benchmarks_app.queries.services import draw_families
from scoring.scores.services.scoring import Target, score_run
from tests import factories

N, DRAWN, DEPTH = 60, 30, 6
QIDS = [f"q{number:02}" for number in range(N)]


def documents(qid: str) -> list[str]:
    return [f"{qid}-d{place}" for place in range(DEPTH)]


def graded(benchmark, grades, name, kind, **parameters):
    """A ready set of these grades, written at once."""
    keys = dict(benchmark.queries.values_list("qid", "pk"))
    record = QrelSet.objects.create(
        benchmark=benchmark,
        name=name,
        kind=kind,
        state=QrelSet.State.READY,
        n_qrels=len(grades),
        n_relevant=1,
        parameters=parameters,
    )
    Qrel.objects.bulk_create(
        Qrel(qrel_set=record, query_id=keys[qid], docid=docid, grade=grade)
        for (qid, docid), grade in grades.items()
    )
    return record


@pytest.fixture
def world(benchmark, owner, publish, tmp_path, monkeypatch):
    """`people` and `machine` are {(query, document): grade}; `orders` {run: {query: documents}}."""
    rng = Random(19)
    for qid in QIDS:
        factories.query(benchmark, qid)
    monkeypatch.setattr(services, "uuid4", lambda: SimpleNamespace(int=7))
    draw = draw_families(benchmark=benchmark, n=DRAWN, user=owner)
    truth = {(qid, docid): rng.randint(0, 3) for qid in QIDS for docid in documents(qid)}
    machine = {
        pair: grade if rng.random() < 0.8 else rng.randint(0, 3) for pair, grade in truth.items()
    }
    people = {pair: grade for pair, grade in truth.items() if pair[0] in draw.families}
    release = publish(graded(benchmark, people, "people", QrelSet.Kind.HUMAN))
    judged = graded(
        benchmark, machine, "by nova", QrelSet.Kind.MACHINE, judge="nova", models=["nova-1"]
    )
    orders = {}
    for number in range(5):
        orders[f"run{number}"] = {qid: rng.sample(documents(qid), DEPTH) for qid in QIDS}
        lines = "\n".join(
            f"{qid} Q0 {docid} {place} {100 - place} s"
            for qid, docids in orders[f"run{number}"].items()
            for place, docid in enumerate(docids, start=1)
        )
        run = factories.run(benchmark, lines, name=f"run{number}")
        score_run(run=run, target=Target.of(release), folder=tmp_path / run.name)
    return SimpleNamespace(
        draw=draw, people=people, machine=machine, release=release, orders=orders, judged=judged
    )


def ndcg(docids, grades) -> float:
    """nDCG@10 as its formula has it, of one query."""
    gains = [grades[docid] / log2(place + 1) for place, docid in enumerate(docids, start=1)]
    best = sorted(grades.values(), reverse=True)
    ideal = sum(grade / log2(place + 1) for place, grade in enumerate(best, start=1))
    return sum(gains) / ideal if ideal else 0.0


def values(order, grades) -> dict[str, float]:
    """{query: nDCG@10} of one run by one set of grades."""
    by_query: dict[str, dict[str, int]] = {}
    for (qid, docid), grade in grades.items():
        by_query.setdefault(qid, {})[docid] = grade
    return {qid: ndcg(order[qid], of) for qid, of in by_query.items()}

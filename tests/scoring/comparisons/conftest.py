"""A release with three runs whose values are known."""

import pytest

from benchmarks_app.models import QrelSet, Release, User
from tests import factories
from tests.conftest import done_jobs
from tests.scoring.comparisons.making import EVERY, FIRST, N, ranking


@pytest.fixture(scope="module", autouse=True)
def released(world_of_module) -> None:
    """40 queries. `good` has d1 (grade 2) first; `poor` has it second in every other query."""
    with world_of_module():
        olga = factories.user("olga")
        benchmark = factories.benchmark("bench", visibility="public")
        benchmark.memberships.create(user=olga, role="owner")
        for qid in EVERY:
            factories.query(benchmark, qid, text=f"what is {qid}")
        grades = {(qid, "d1"): 2 for qid in EVERY} | {(qid, "d2"): 0 for qid in EVERY}
        grades |= {(qid, "d3"): 1 for qid in EVERY[::4]}
        qrels = factories.qrel_set(benchmark, grades)
        QrelSet.objects.filter(pk=qrels.pk).update(n_relevant=N)
        qrels.refresh_from_db()
        factories.query_slice(
            benchmark, "head", *benchmark.queries.filter(qid__in=FIRST), minimum=30
        )
        factories.query_slice(benchmark, "tail", *benchmark.queries.filter(qid__in=EVERY[30:]))
        good = [ranking(qid, "d1", "d2", "d3") for qid in EVERY]
        poor = [
            ranking(qid, *(("d2", "d1", "d3") if place % 2 else ("d1", "d2", "d3")))
            for place, qid in enumerate(EVERY)
        ]
        third = [ranking(qid, "d9", "d1") for qid in EVERY[:20]]
        for name, lines in (("good", good), ("poor", poor), ("third", third)):
            factories.run(benchmark, "\n".join(lines), name=name)
        factories.release(qrels, by=olga)
        done_jobs()


@pytest.fixture
def olga(db) -> User:
    return User.objects.get(username="olga")


@pytest.fixture
def release(db) -> Release:
    return Release.objects.get()

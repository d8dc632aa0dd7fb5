"""What the processes of `test_replay` do inside the site: judge, change one's mind, publish."""

import json
import random
import time
import uuid

from annotation.judging.services.judging import undo_last
from annotation.labels.services import publishing
from annotation.models import Pool
from benchmarks_app.common.selectors.reading import qrels_of
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, QrelSet, User
from benchmarks_app.releases.services.releasing import trec_lines
from benchwright.qrels.rules import Settings
from tests import factories
from tests.annotation.making import claimed, judge, pool

SLUG = "replayed"
MOST_BEFORE_SETS = 50


def prepare(n_people: int, n_queries: int, n_documents: int) -> None:
    bench = factories.benchmark(SLUG)
    factories.member(bench, "olga", "owner")
    for number in range(n_people):
        factories.member(bench, f"writer{number}", "annotator")
    documents = [f"d{number}" for number in range(n_documents)]
    pool(bench, {f"q{number}": documents for number in range(n_queries)}, overlap=2)
    _publish("judged first")


def _publish(name: str, **fields) -> None:
    """A set as of now; the first finds an empty ledger, and waits for nothing."""
    benchmark = Benchmark.objects.get(slug=SLUG)
    arguments = publishing.publishing_arguments(
        benchmark=benchmark, name=name, settings=Settings(unresolved="leave-out"), **fields
    )
    jobs.run_here(benchmark=benchmark, user=User.objects.get(username="olga"), **arguments)


def write(username: str, seed: int) -> None:
    """Judge until nothing is left, taking back one label of six; prints how many were given."""
    person, made = User.objects.get(username=username), Pool.objects.get()
    dice, n = random.Random(seed), 0
    while slots := claimed(made, person, n=3):
        if n > MOST_BEFORE_SETS:
            _wait_for_sets(3)
        for slot in slots:
            judge(slot, person, dice.choice([0, 0, 1, 2, 3]))
            n += 1
        if dice.random() < 0.5 and n < 400:
            undo_last(pool=made, actor=person, client_id=uuid.uuid4())
    print(n)  # noqa: T201 (the answer)


def _wait_for_sets(n: int) -> None:
    """On a busy machine the publisher begins late: the last labels come after some sets."""
    for _ in range(600):
        if QrelSet.objects.ready().count() >= n:
            return
        time.sleep(0.1)


def publish_often(times: int) -> None:
    """Publish one set after another while others write."""
    for number in range(times):
        _publish(f"set {number}")


def published() -> None:
    """As JSON: of each set its event and bytes, and the bytes of a set made later as of it."""
    results = []
    for row in QrelSet.objects.ready().order_by("pk"):
        again = f"{row.name} again"
        _publish(again, as_of=row.as_of_event)
        results.append([row.as_of_event, _bytes(row), _bytes(QrelSet.objects.get(name=again))])
    print(json.dumps(results))  # noqa: T201 (the answer)


def _bytes(made: QrelSet) -> str:
    return b"".join(trec_lines(qrels_of(made))).decode()

"""A small benchmark with a release, and functions that publish, submit and score."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks_app.collections.services import uploading
from benchmarks_app.importing.services import importing
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Corpus, QrelSet, Release, Run
from benchmarks_app.releases.services.releasing import release_arguments
from scoring.models import Phase, ScoreSet, Submission
from scoring.scores.services.scoring import Target, score_run
from scoring.submissions.services import submitting
from tests import factories

# q3 has no relevant document: it stays in every mean with 0.
GRADES = {
    ("q1", "d1"): 3,
    ("q1", "d2"): 1,
    ("q1", "d3"): 0,
    ("q2", "d4"): 2,
    ("q2", "d5"): 0,
    ("q3", "d6"): 0,
}
GOOD = b"""q1 Q0 d1 1 3.0 s
q1 Q0 d9 2 2.0 s
q1 Q0 d2 3 1.0 s
q2 Q0 d4 1 5.0 s
q3 Q0 d6 1 1.0 s
"""


@pytest.fixture
def publish(django_capture_on_commit_callbacks) -> Callable[..., Release]:
    """A function that publishes a set of qrels as a release, with all that follows from it."""

    def publish(qrel_set: QrelSet, version: str = "1.0.0") -> Release:
        QrelSet.objects.filter(pk=qrel_set.pk).update(n_relevant=1)
        qrel_set.refresh_from_db()
        keeper = factories.user("keeper")
        arguments = release_arguments(qrel_set=qrel_set, version=version)
        with django_capture_on_commit_callbacks(execute=True):
            job = jobs.run_here(benchmark=qrel_set.benchmark, user=keeper, **arguments)
        assert job.state == job.State.DONE, job.error
        return Release.objects.get(pk=qrel_set.benchmark.releases.newest_first().first().pk)

    return publish


@pytest.fixture
def release(benchmark, publish) -> Release:
    return publish(factories.qrel_set(benchmark, GRADES))


@pytest.fixture
def phase(release) -> Phase:
    return Phase.objects.get(release=release)


@pytest.fixture
def upload(tmp_path: Path):
    """A function that stores bytes as an upload."""

    def store(benchmark, person, content: bytes, name: str = "my.run"):
        path = tmp_path / name
        path.write_bytes(content)
        return uploading.receive_path(benchmark=benchmark, owner=person, path=path)

    return store


@pytest.fixture
def submit(phase, upload) -> Callable[..., Submission]:
    """A function that accepts a submission; its job waits for `do_jobs()`."""

    def submit(person, content: bytes = GOOD, name: str = "mine", **more) -> Submission:
        return submitting.accept_submission(
            phase=more.pop("phase", phase),
            user=person,
            upload=upload(phase.benchmark, person, content),
            name=name,
            **more,
        )

    return submit


@pytest.fixture
def scored(release, tmp_path) -> Callable[..., ScoreSet]:
    """A function that makes a run of a TREC text, and scores it on the release."""

    def score(lines: str, name: str = "", on: Release | None = None, **values) -> ScoreSet:
        run = factories.run((on or release).benchmark, lines, name=name, **values)
        target = Target.of(on or release)
        return score_run(run=run, target=target, folder=tmp_path / f"scores-{run.pk}")

    return score


def means(run: Run, release: Release) -> dict[str, float | None]:
    score_set = ScoreSet.objects.get(run=run, release=release)
    return dict(score_set.scores.values_list("measure", "mean"))


# --- texts to search -----------------------------------------------------------------------

SEARCHED = ("river", "stone", "lamp", "engine", "violet", "winter", "paper")


@pytest.fixture
def texts(db, tmp_path):
    """A benchmark of ten short texts and three queries; Tess owns it."""
    corpus = Corpus.objects.create(name="texts", owner=factories.user("keeper"))
    bench = factories.benchmark(slug="texts", corpus=corpus)
    tess = factories.member(bench, "tess", "owner")
    path = tmp_path / "corpus.jsonl"
    results = (f"{SEARCHED[n % 7]} {SEARCHED[n * 3 % 7]} {SEARCHED[n // 2]}" for n in range(10))
    rows = (json.dumps({"_id": f"d{n}", "text": text}) for n, text in enumerate(results))
    path.write_text("\n".join(rows))
    upload = uploading.receive_path(benchmark=bench, owner=tess, path=path)
    factories.done(
        jobs.run_here(
            benchmark=bench, user=tess, **importing.import_arguments(upload=upload, kind="corpus")
        )
    )
    factories.query(bench, "q1", "river stone")
    factories.query(bench, "q2", "engine of paper")
    factories.query(bench, "q3", "nothing like it")
    return bench


@pytest.fixture
def tess(texts):
    return texts.memberships.get(role="owner").user

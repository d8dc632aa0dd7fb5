"""`benchwright submit` with vectors in place of a run."""

import json

import numpy as np
import pytest

from scoring.models import Submission
from tests import factories

GRADES = {("q1", "d1"): 3, ("q1", "d2"): 1, ("q2", "d4"): 2, ("q2", "d5"): 0}


@pytest.fixture
def folder(tmp_path):
    """Vectors by which q1 finds d1 first, and q2 d4."""
    np.savez(tmp_path / "q.npz", ids=np.array(["q1", "q2"]), vectors=np.eye(2))
    np.save(tmp_path / "d.npy", np.array([[1, 0], [0.5, 0], [0, 1], [0, 0.5]], dtype=np.float16))
    (tmp_path / "d.txt").write_text("d1\nd2\nd4\nd5\n")
    return tmp_path


@pytest.fixture
def submit(benchwright, site, benchmark, sam, token_of):
    """A function that submits as Sam to a benchmark with a release."""
    from benchmarks_app.models import QrelSet

    qrels = factories.qrel_set(benchmark, GRADES)
    QrelSet.objects.filter(pk=qrels.pk).update(n_relevant=1)
    qrels.refresh_from_db()
    factories.release(qrels, "1.0.0")
    known = {"BENCHWRIGHT_TOKEN": token_of(sam), "BENCHWRIGHT_SERVER": site}

    def submit(*words: str):
        return benchwright("submit", *words, "--benchmark", "stdlib", **known)

    return submit


def words(folder):
    return (
        "--query-embeddings",
        str(folder / "q.npz"),
        "--document-embeddings",
        str(folder / "d.npy"),
        "--document-ids",
        str(folder / "d.txt"),
    )


def test_vectors_are_searched_and_scored(submit, folder):
    done = submit(
        *words(folder), "--similarity", "dot", "--depth", "2", "--wait", "--format", "json"
    )

    report = json.loads(done.stdout)
    submission = Submission.objects.get()
    assert (done.exit_code, report["state"], report["name"]) == (0, "scored", "d")
    assert report["scores"]["nDCG@10"] == pytest.approx(1.0)
    assert (submission.run.n_rows, submission.run.depth) == (4, 2)


def test_same_vectors_again_give_what_came_of_them(submit, folder):
    submit(*words(folder), "--wait")

    again = submit(*words(folder), "--name", "another")

    assert "submitted before" in again.stderr
    assert Submission.objects.count() == 1


def test_what_is_wrong_of_vectors_is_told(submit, folder):
    np.save(folder / "d.npy", np.array([[1, 0], [np.nan, 0], [0, 1], [0, 1]]))

    done = submit(*words(folder), "--wait")

    assert done.exit_code == 1
    assert "document embeddings: row 1 (from 0), 'd2', holds nan" in done.stderr


def test_run_and_vectors_or_half_of_them_are_a_usage_error(submit, folder):
    (folder / "a.run").write_text("q1 Q0 d1 1 1 s\n")

    both = submit(str(folder / "a.run"), *words(folder))
    neither = submit()
    half = submit("--query-embeddings", str(folder / "q.npz"))

    assert (both.exit_code, neither.exit_code, half.exit_code) == (2, 2, 2)
    assert "cannot be sent together" in both.stderr
    assert "Missing argument 'RUN'" in neither.stderr
    assert "name both files" in half.stderr

"""`benchwright pull`: a release of a real site, whole, checked, and for whom it is."""

import hashlib
import json

import pytest

from benchmarks_app.models import Benchmark, QrelSet, QueryFamily
from benchwright.exports import EXPORTERS
from benchwright.linting import release_rules
from tests import factories


@pytest.fixture
def released(db):
    """A benchmark with texts and two releases, public."""
    benchmark = factories.tiny_benchmark("tiny")
    Benchmark.objects.filter(pk=benchmark.pk).update(visibility="public")
    factories.release(
        benchmark.qrel_sets.get(), "1.0.0", by=factories.member(benchmark, "olga", "owner")
    )
    benchmark.refresh_from_db()
    return benchmark


def test_release_comes_with_every_file_of_its_manifest(benchwright, site, released, tmp_path):
    done = benchwright("pull", "tiny", "--site", site, "-o", str(tmp_path / "out"))

    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("tiny 1.0.0: ")
    assert len(manifest["files"]) > 5
    for name, facts in manifest["files"].items():
        content = (tmp_path / "out" / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == facts["sha256"], name


def test_release_comes_in_every_form_it_is_given_in(benchwright, site, released, tmp_path):
    for form in EXPORTERS:
        out = tmp_path / form
        done = benchwright("pull", "tiny@1.0.0", "--site", site, "--format", form, "-o", str(out))
        assert (done.exit_code, done.stderr) == (0, ""), form
        assert any(path.is_file() for path in out.rglob("*")), form


def test_unknown_form_names_those_there_are(benchwright, site, released, tmp_path):
    out = str(tmp_path / "out")

    done = benchwright("pull", "tiny", "--site", site, "--format", "xml", "-o", out)

    assert done.exit_code == 1
    assert "beir" in done.stderr


def test_private_release_needs_the_token_of_a_member(
    benchwright, site, released, tmp_path, token_of
):
    Benchmark.objects.update(visibility="private")
    member, stranger = factories.member(released, "vi", "viewer"), factories.user("cy")
    out = str(tmp_path / "out")

    def pulled(**environment):
        return benchwright("pull", "tiny", "--site", site, "-o", out, **environment)

    nobody, other = pulled(), pulled(BENCHWRIGHT_TOKEN=token_of(stranger))
    done = pulled(BENCHWRIGHT_TOKEN=token_of(member))

    assert (nobody.exit_code, "There is no token for" in nobody.stderr) == (1, True)
    assert (other.exit_code, "private benchmark is seen by its members" in other.stderr) == (
        1,
        True,
    )
    assert done.exit_code == 0


def test_folder_that_is_there_is_not_written_into(benchwright, site, released, tmp_path):
    first, second = (
        benchwright("pull", "tiny", "--site", site, "-o", str(tmp_path / "out")) for _ in range(2)
    )

    assert (first.exit_code, second.exit_code) == (0, 1)
    assert "Name a new or an empty folder" in second.stderr


def test_version_that_is_not_there_is_said(benchwright, site, released, tmp_path):
    done = benchwright("pull", "tiny@9.0.0", "--site", site, "-o", str(tmp_path / "out"))

    assert (done.exit_code, "releases/9.0.0/" in done.stderr) == (1, True)


def test_interrupted_file_goes_on_at_the_site(client, released, tmp_path):
    path = "/api/v1/benchmarks/tiny/releases/1.0.0/files/queries.jsonl"
    whole = client.get(path)
    content = b"".join(whole)

    rest = client.get(path, headers={"Range": "bytes=10-", "If-Range": whole["ETag"]})
    other = client.get(path, headers={"Range": "bytes=10-", "If-Range": '"else"'})
    beyond = client.get(path, headers={"Range": "bytes=999999-", "If-Range": whole["ETag"]})

    assert (whole.status_code, rest.status_code) == (200, 206)
    assert b"".join(rest) == content[10:]
    assert rest["Content-Range"] == f"bytes 10-{len(content) - 1}/{len(content)}"
    assert int(rest["Content-Length"]) == len(content) - 10
    assert (b"".join(other), beyond.status_code) == (content, 416)
    assert beyond["Content-Range"] == f"bytes */{len(content)}"
    assert whole["ETag"] == f'"{hashlib.sha256(content).hexdigest()}"'


SENTINEL = "d-sentinel-77"


@pytest.fixture
def hiding(db, monkeypatch):
    """A release in which the grades of `test` are hidden; one of its documents is nowhere else."""
    monkeypatch.setattr(release_rules, "SMALLEST_HIDDEN_SPLIT", 1)
    benchmark = factories.benchmark("hiding")
    Benchmark.objects.filter(pk=benchmark.pk).update(visibility="public", hidden_splits=["test"])
    benchmark.refresh_from_db()
    owner = factories.member(benchmark, "olga", "owner")
    grades = {("q1", "d1"): 2, ("q1", "d2"): 0, ("q2", SENTINEL): 1, ("q2", "d1"): 3}
    qrels = factories.qrel_set(benchmark, grades, name="ours")
    QrelSet.objects.filter(pk=qrels.pk).update(n_relevant=2)
    for qid, split in (("q1", "dev"), ("q2", "test")):
        QueryFamily.objects.filter(queries__qid=qid).update(split=split)
    qrels.refresh_from_db()
    return factories.release(qrels, "1.0.0", by=owner)


@pytest.mark.parametrize("form", [None, "trec", "ids-only"])
def test_grades_of_a_hidden_split_do_not_come_and_that_is_said(
    benchwright, site, hiding, tmp_path, form
):
    words = ["--format", form] if form else []

    done = benchwright("pull", "hiding", "--site", site, *words, "-o", str(tmp_path / "out"))

    assert done.exit_code == 0, done.stderr
    assert "Hidden: the grades of test." in done.stderr
    content = b"".join(path.read_bytes() for path in tmp_path.glob("out/**/*") if path.is_file())
    assert b"d1" in content
    assert SENTINEL.encode() not in content

"""`benchwright submit`: a run goes to a real site, is waited for, and what is wrong is told."""

import json

import pytest

from benchmarks_app.models import Run, Team
from scoring.models import Submission
from tests import factories
from tests.benchwright.cli.sites.sites import carried_by

RUN = "q1 Q0 d1 1 2.0 s\nq2 Q0 d4 1 2.0 s\nq2 Q0 d5 2 1.0 s\n"
GRADES = {("q1", "d1"): 3, ("q1", "d2"): 1, ("q2", "d4"): 2, ("q2", "d5"): 0}


@pytest.fixture
def submit(benchwright, site, benchmark, sam, token_of, tmp_path):
    """A function that submits lines as Sam, to a benchmark with a release and an open phase."""
    from benchmarks_app.models import QrelSet

    qrels = factories.qrel_set(benchmark, GRADES)
    QrelSet.objects.filter(pk=qrels.pk).update(n_relevant=1)
    qrels.refresh_from_db()
    factories.release(qrels, "1.0.0")
    secret = token_of(sam)

    def submit(*words: str, lines: str = RUN, name: str = "bm25.run", **environment: str):
        path = tmp_path / name
        path.write_text(lines)
        known = {"BENCHWRIGHT_TOKEN": secret, "BENCHWRIGHT_SERVER": site, **environment}
        return benchwright("submit", str(path), "--benchmark", "stdlib", *words, **known)

    return submit


def test_run_is_sent_waited_for_and_shown(submit):
    done = submit("--wait")

    submission = Submission.objects.get()
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == f"bm25.run ({submission.pk}): scored, release 1.0.0"
    assert "  nDCG@10 " in done.stdout
    assert "0.9" in done.stdout
    assert done.stdout.splitlines()[-1].endswith(submission.get_absolute_url())


def test_answer_for_a_program_is_the_sites_own(submit):
    done = submit("--wait", "--format", "json", "--name", "BM25")

    report = json.loads(done.stdout)
    assert (report["state"], report["name"], report["release"]) == ("scored", "BM25", "1.0.0")
    assert report["scores"]["nDCG@10"] > 0.9


def test_without_waiting_it_ends_at_once(submit):
    done = submit()

    assert done.exit_code == 0
    assert ": received" in done.stdout
    assert "Not scored yet" in done.stdout
    assert "nDCG@10" not in done.stdout
    assert Submission.objects.get().state == "received"


def test_same_bytes_again_give_what_came_of_them(submit):
    first, again = submit("--wait"), submit("--wait", "--name", "another name")

    assert (first.exit_code, again.exit_code) == (0, 0)
    assert "submitted before" in again.stderr
    assert again.stdout == first.stdout
    assert Submission.objects.count() == 1


def test_what_is_wrong_is_listed_by_line_on_standard_error(submit):
    done = submit("--wait", lines=RUN + "q1 Q0 d2 2 n/a s\nq1 Q0\n")

    assert done.exit_code == 1
    assert "bm25.run:4: " in done.stderr
    assert "bm25.run:5: " in done.stderr
    assert "Error: the run is invalid. Mend it and submit it again." in done.stderr
    assert ": invalid" in done.stdout
    assert "nDCG@10" not in done.stdout
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("about.yaml", "system: Lucene 9\nlatency_ms: 12.5\n"),
        ("about.json", '{"system": "Lucene 9", "latency_ms": 12.5}'),
    ],
)
def test_metadata_comes_from_a_file(submit, tmp_path, name, content):
    (tmp_path / name).write_text(content)

    done = submit("--wait", "--metadata", str(tmp_path / name), "--description", "plain")

    run = Run.objects.get()
    assert done.exit_code == 0, done.stderr
    assert run.metadata["system"] == "Lucene 9"
    assert run.metadata["latency_ms"] == 12.5
    assert run.description == "plain"


def test_description_in_ir_metadata_is_taken_as_such(submit, tmp_path):
    (tmp_path / "ir.yaml").write_text(
        "tag: bm25\nplatform:\n  hardware:\n    cpu:\n      model: A\n"
    )

    done = submit("--wait", "--metadata", str(tmp_path / "ir.yaml"))

    assert done.exit_code == 0, done.stderr
    assert Run.objects.get().metadata["hardware"] == "A"


@pytest.mark.parametrize(
    ("content", "words"),
    [("a: [1", "about.yaml:1: "), ("- a\n- b\n", "holds no fields"), ("", "holds no fields")],
)
def test_metadata_that_cannot_be_read_is_said_by_line(submit, tmp_path, content, words):
    (tmp_path / "about.yaml").write_text(content)

    done = submit("--metadata", str(tmp_path / "about.yaml"))

    assert (done.exit_code, words in done.stderr) == (1, True), done.stderr
    assert not Submission.objects.exists()


def test_wrong_metadata_names_its_field(submit, tmp_path):
    (tmp_path / "about.yaml").write_text("paper: javascript:alert(1)\n")

    done = submit("--metadata", str(tmp_path / "about.yaml"))

    assert (done.exit_code, "paper: " in done.stderr) == (1, True)


def test_run_is_a_teams(submit, sam):
    team = Team.objects.create(name="Bees")
    team.members.add(sam)

    done = submit("--wait", "--team", "Bees", "--visibility", "team", "--phase", "1.0.0")

    assert "There is: " in done.stderr  # no phase has this name; the next has
    phase = Submission._meta.get_field("phase").related_model.objects.get()
    done = submit("--wait", "--team", "Bees", "--visibility", "team", "--phase", phase.name)
    assert done.exit_code == 0, done.stderr
    assert Run.objects.get().team == team


def test_team_of_others_is_refused(submit):
    Team.objects.create(name="Wasps")

    done = submit("--team", "Wasps")

    assert (done.exit_code, "Wasps" in done.stderr) == (1, True)


def test_who_may_not_submit_is_told_whom_to_ask(submit, vi, token_of):
    done = submit(BENCHWRIGHT_TOKEN=token_of(vi))

    assert (done.exit_code, "Ask an owner" in done.stderr) == (1, True)


def test_used_up_day_is_told(submit):
    Submission._meta.get_field("phase").related_model.objects.update(daily_limit=1)
    submit("--wait")

    done = submit(lines=RUN.replace("2.0", "3.0"), name="other.run")

    assert done.exit_code == 1
    assert "1 " in done.stderr


def test_without_a_token_it_says_how_to_get_one(submit):
    done = submit(BENCHWRIGHT_TOKEN="")

    assert (done.exit_code, "benchwright login http://localhost:8000" in done.stderr) == (1, True)
    assert not Submission.objects.exists()


def test_site_that_is_gone_is_told(submit, monkeypatch):
    import httpx

    def gone(request):
        raise httpx.ConnectError("Connection refused")

    with carried_by(monkeypatch, httpx.MockTransport(gone)):
        done = submit()

    assert done.exit_code == 1
    assert "nobody answers (Connection refused)" in done.stderr


def test_file_that_is_not_there_is_a_usage_error(benchwright, site):
    done = benchwright("submit", "nothing.run", "--benchmark", "stdlib", "--site", site)

    assert (done.exit_code, "does not exist" in done.stderr) == (2, True)

"""Commands on files done on a site, each number beside the one that the same files come to here."""

import json
import zipfile

import httpx
import numpy as np
import pytest

from benchmarks_app.models import Job, QrelSet, Query, QueryLog, QuerySample, Run
from benchwright.cli.sites import asking
from scoring.models import CaseSet, LiveSystem
from tests import factories
from tests.benchwright.cli.sites import sites
from tests.judge_stub import JudgeStub
from tests.scoring.making_contextual import CASES, lines
from tests.scoring.making_contextual import judge as contextual_judge
from tests.scoring.search_server import BODY, SearchServer, hits

EXACT = "1 Q0 123 1 3.0 e\n1 Q0 d-cjk 2 2.0 e\nq-cjk Q0 d-cjk 1 3.0 e\nq-cjk Q0 123 2 2.0 e\n"
INDEX = "1 Q0 123 1 3.0 i\nq-cjk Q0 123 1 3.0 i\n"
PAGES = "query,shown,clicked\n" + "swim,123 d-cjk,123\n" * 30 + "swim,d-cjk 123,123\n" * 30


def bench():
    return factories.Benchmark.objects.get(slug="tiny")


def answered(done):
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_log_is_sent_drawn_from_and_drawn_from_again(on, benchwright, tmp_path):
    log = tmp_path / "Süche 2024.csv"
    log.write_text(factories.LOG)

    planned = answered(on("sample", str(log), "-n", "6", "--dry-run", "--json"))
    again = on("sample", str(log), "-n", "6", "--dry-run", "--json")
    drawn = on("sample", "Süche 2024", "-n", "6", "--seed", "3")
    too_late = on("sample", "Süche 2024", "--floor", "3")
    unknown = on("sample", "Suche 2024")
    by_files = benchwright("sample", str(log), "-n", "6", "--dry-run").stdout

    strata = [line.split() for line in by_files.splitlines()[1:4]]
    assert [[stratum["name"], str(stratum["drawn"])] for stratum in planned["strata"]] == [
        [cells[0], cells[4]] for cells in strata
    ]
    assert QueryLog.objects.get().name == "Süche 2024"
    assert answered(again) == planned
    assert "'Süche 2024' is this file, sent and read before" in again.stderr
    assert "--floor says how a file is read" in too_late.stderr
    assert (drawn.exit_code, drawn.stdout.split()[0]) == (0, "drew"), drawn.output
    sample = QuerySample.objects.get()
    assert (sample.n_families, sample.seed) == (6, 3)
    assert Query.objects.filter(benchmark=bench(), weight__isnull=False).count() == 6
    assert unknown.exit_code == 2
    assert "Did you mean 'Süche 2024'?" in unknown.stderr


def test_clicks_become_a_set_and_the_log_is_gone(on, benchwright, tmp_path):
    log, here = tmp_path / "pages.csv", tmp_path / "here.qrels"
    log.write_text(PAGES)
    factories.query(bench(), "swim-1", "swim")

    output = on("clicks", str(log), "--least", "5", "--name", "clicked")
    got = on("export", "qrels", "clicked")
    benchwright("clicks", str(log), "--least", "5", "-o", str(here))

    assert (output.exit_code, output.stdout[:5]) == (0, "made "), output.output
    grades = {line.split()[2]: line.split()[3] for line in got.stdout.splitlines()}
    assert grades == {line.split()[2]: line.split()[3] for line in here.read_text().splitlines()}
    assert QrelSet.objects.get(name="clicked").kind == "click"


def test_runs_of_the_site_are_made_measured_and_brought_home(on, benchwright, tmp_path):
    output = on("retrieve", "--system", "bm25", "--depth", "3")
    again = on("retrieve", "--system", "bm25", "--depth", "3")
    unknown = on("retrieve", "--system", "bm52")
    names = [row["name"] for row in answered(on("list", "runs", "--json"))]
    brought = on("export", "run", names[0], "-o", str(tmp_path / "run.zip"), "--json")

    assert (output.exit_code, output.stdout[:5]) == (0, "made "), output.output
    assert again.stdout == "nothing to make: the runs are there\n"
    assert (unknown.exit_code, "Did you mean 'bm25'" in unknown.stderr) == (2, True)
    assert answered(brought)["n_bytes"] == (tmp_path / "run.zip").stat().st_size
    with zipfile.ZipFile(tmp_path / "run.zip") as folder:
        text = folder.read(next(name for name in folder.namelist() if name.endswith(".run")))
    assert {line.split()[0] for line in text.decode().splitlines()} <= set(
        Query.objects.values_list("qid", flat=True)
    )
    assert max(int(line.split()[3]) for line in text.decode().splitlines()) <= 3


def test_what_an_index_keeps_and_how_judgments_treat_it_is_as_on_files(on, benchwright, tmp_path):
    benchmark = bench()
    for name, text in (("exact", EXACT), ("index", INDEX)):
        factories.run(benchmark, text, name=name)
        (tmp_path / name).write_text(text)
    factories.release(benchmark.qrel_sets.get(), "1.0.0")

    there = answered(on("ann", "exact", "index", "-k", "2", "--json"))
    here = answered(
        benchwright("ann", str(tmp_path / "exact"), str(tmp_path / "index"), "-k", "2", "--json")
    )
    below = on("ann", "exact", "index", "-k", "2", "--fail-below", "0.9")
    scored = on("score")
    result = answered(on("score", "exact", "-m", "nDCG@10", "--json"))
    treated = answered(on("reusability", "--json"))
    unknown = on("reusability", "--release", "1.0.1")
    as_table = on("reusability", "--release", "1.0.0")

    assert there["recall"] == here["recall"] == 0.5
    assert (below.exit_code, "recall@2 is below 0.9." in below.stderr) == (1, True)
    assert scored.exit_code == 0, scored.output
    (tmp_path / "qrels").write_text(on("export", "qrels", benchmark.qrel_sets.get().name).stdout)
    by_files = answered(benchwright("score", str(tmp_path / "qrels"), str(tmp_path / "exact"),
                                    "-m", "nDCG@10", "--json"))  # fmt: skip
    (row,) = result[0]["scores"]
    assert row["mean"] == pytest.approx(by_files["runs"][0]["means"]["nDCG@10"], abs=1e-12)
    assert (unknown.exit_code, "Did you mean '1.0.0'?" in unknown.stderr) == (2, True)
    assert {system["run"] for system in treated["systems"]} == {"exact", "index"}
    assert (as_table.exit_code, "mean shift" in as_table.stdout) == (0, True), as_table.output


def test_live_system_is_described_asked_and_asked_again_by_name(on, settings, tmp_path):
    settings.LIVE_PRIVATE_ADDRESSES = ["127.0.0.1"]
    (tmp_path / "body.json").write_text(BODY)
    described = ("--preset", "opensearch", "--template", str(tmp_path / "body.json"))
    server = SearchServer()
    server.answer = lambda asked: hits(("123", 2.0), ("d-cjk", 1.0))
    try:
        nameless = on("ask", server.url, *described)
        output = on("ask", server.url, *described, "--name", "ours", "-k", "2")
        again = on("ask", "ours", "--run", "second")
        twice = on("ask", "ours", "--rps", "5")
        unknown = on("ask", "owrs")
    finally:
        server.stop()

    assert (nameless.exit_code, "--name" in nameless.stderr) == (2, True)
    assert output.exit_code == again.exit_code == 0, (output.output, again.output)
    assert LiveSystem.objects.get().k == 2
    assert Run.objects.get(name="second").n_queries == Query.objects.count()
    assert "--rps describes a URL; 'ours' is described already." in twice.stderr
    assert "Did you mean 'ours'?" in unknown.stderr


def test_embeddings_come_to_the_same_as_on_files(on, benchwright, tmp_path):
    rng = np.random.default_rng(5)
    first = rng.standard_normal((40, 6)).astype(np.float32)
    paths = [tmp_path / "queries.npy", tmp_path / "documents.npy"]
    for path, noise in zip(paths, (0.0, 1.5), strict=True):
        np.save(path, first + noise * rng.standard_normal((40, 6)).astype(np.float32))

    there = answered(on("contrastive", *map(str, paths), "--name", "e5", "--json"))
    here = answered(benchwright("contrastive", *map(str, paths), "--json"))
    (tmp_path / "short.npy").write_bytes(b"no matrix")
    wrong = on("contrastive", str(tmp_path / "short.npy"), str(paths[1]))

    mrr = there["parts"][0]["mrr"]["mean"]
    assert mrr == pytest.approx(here["parts"][0]["mrr"]["mean"], abs=1e-12)
    assert wrong.exit_code == 1
    assert "short.npy" in wrong.stderr


@pytest.fixture
def stub(settings):
    settings.JUDGE_PRIVATE_ADDRESSES = True
    with JudgeStub() as stub:
        yield stub


def test_judge_of_the_site_grades_a_pool_and_is_held_against_people(on, stub):
    benchmark = bench()
    contextual_judge(benchmark, factories.user("olga"), stub.url, name="stub")
    factories.run(benchmark, EXACT, name="exact")
    assert on("pool", "exact", "--depth", "2", "--name", "first").exit_code == 0

    planned = answered(on("judge", "first", "--judge", "stub", "--dry-run", "--json"))
    graded = on("judge", "first", "--judge", "stub", "--documents", "all", "--name", "by stub")
    neither = on("judge", "first")
    unknown = on("judge", "first", "--judge", "stab")
    held = answered(on("calibrate", "by stub", "--json"))
    campaigns = answered(on("list", "campaigns", "--json"))

    assert planned["n_pairs"] == 4
    assert (graded.exit_code, graded.stdout.splitlines()[0]) == (0, "campaign by stub: done")
    assert "4 graded, 0 failed, 0 left" in graded.stdout
    assert "Give --judge for a new campaign" in neither.stderr
    assert "Did you mean 'stub'?" in unknown.stderr
    assert held["verdict"]
    assert [campaign["name"] for campaign in campaigns] == ["by stub"]


def test_cases_are_sent_estimated_and_judged(on, stub, tmp_path):
    contextual_judge(bench(), factories.user("olga"), stub.url, name="stub")
    cases = tmp_path / "cases.jsonl"
    cases.write_bytes(lines(CASES))

    kept = on("contextual", str(cases))
    estimate = answered(on("contextual", "cases", "--judge", "stub", "--dry-run", "--json"))
    judged = answered(on("contextual", "cases", "--judge", "stub", "--json"))
    unknown = on("contextual", "casses", "--judge", "stub")

    assert kept.exit_code == 0, kept.output
    assert CaseSet.objects.get().n_cases == estimate["n_cases"] == len(CASES)
    assert judged["overall"]["n"] == len(CASES)
    assert "Did you mean 'cases'?" in unknown.stderr


# --- what goes wrong, and what is shown meanwhile ------------------------------------------------


def test_interrupt_says_how_the_work_is_looked_at_again(on, monkeypatch, tmp_path):
    def interrupted(seconds):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("benchwright.client.transport.time.sleep", interrupted)
        stopped = on("retrieve", "--system", "bm25")
        job = Job.objects.latest("pk")
        of_no_benchmark = on("job", str(job.pk), "--wait", benchmark="")
    later = on("job", str(job.pk), "--wait")

    assert (stopped.exit_code, stopped.stdout) == (130, "")
    again = f"benchwright --site {sites.URL} --benchmark tiny job {job.pk} --wait"
    assert f"It goes on at the site. To see how far it is: {again}" in stopped.stderr
    assert f"benchwright --site {sites.URL} job {job.pk} --wait" in of_no_benchmark.stderr
    assert (later.exit_code, "done" in later.stdout) == (0, True), later.output


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_on_standard_error_of_a_terminal_alone(on, monkeypatch, is_terminal):
    class Shown(asking.Line):
        def __init__(self):
            super().__init__()
            self._is_shown = is_terminal

    monkeypatch.setattr(asking, "Line", Shown)

    done = on("retrieve", "--system", "bm25", "--json")

    assert json.loads(done.stdout)[0]["state"] == "done"
    assert ("Make the baseline bm25: …" in done.stderr) is is_terminal, done.stderr
    assert done.stderr.endswith("\r" if is_terminal else "")
    assert "\x1b[3" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("list", "slices"),
        ("pull", "-o", "out"),
        ("submit", "a.run"),
        ("gate", "a.run", "--policy", "p"),
        ("retrieve",),
    ],
)
def test_benchmark_that_may_be_meant_is_named_by_every_command(on, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.run").write_text(EXACT)

    done = on(*words, benchmark="tinny")

    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert "'tinny' is no benchmark that you may see. Did you mean 'tiny'?" in done.stderr


def test_who_may_not_see_a_benchmark_is_told_no_more_than_of_none(on, benchwright, site, token_of):
    secret = token_of(factories.user("eve"))

    done = benchwright("--site", site, "--benchmark", "tiny", "list", "runs",
                       BENCHWRIGHT_TOKEN=secret)  # fmt: skip
    named = "'tiny' is no benchmark that you may see. There is: none so far."

    assert (done.exit_code, done.stdout) == (2, "")
    assert named in done.stderr


def test_wrong_token_and_site_that_is_down_end_with_a_sentence(on, benchwright, site, monkeypatch):
    wrong = benchwright("--site", site, "--benchmark", "tiny", "list", "runs",
                        BENCHWRIGHT_TOKEN="bw_nothing")  # fmt: skip

    def refused(request):
        raise httpx.ConnectError("Connection refused")

    with sites.carried_by(monkeypatch, httpx.MockTransport(refused)):
        down = on("list", "runs")

    assert (wrong.exit_code, wrong.stdout) == (1, "")
    assert "does not take the token" in wrong.stderr
    assert (down.exit_code, down.stdout) == (1, "")
    assert "nobody answers (Connection refused)" in down.stderr


def test_odd_names_reach_the_site_as_they_are(on, tmp_path):
    run = tmp_path / "odd.run"
    run.write_text(EXACT)
    name, slice_name = "1/2 ?#& % ü 日 " + "x" * 90, "Häufig + selten (v2) #1"

    assert on("import", str(run), "--name", name).exit_code == 0
    listed = on("list", "runs")
    output = on("slice", slice_name, "--expression", "length >= 1")
    result = on("slice", slice_name)
    refused = on("slice", "a/b", "--expression", "length >= 1")
    address = on("list", "runs", benchmark="tiny/../other")

    assert name in listed.stdout
    assert output.exit_code == result.exit_code == 0, (output.output, result.output)
    assert output.stdout == result.stdout
    assert slice_name in result.stdout
    assert (refused.exit_code, "cannot be the name of a slice" in refused.stderr) == (1, True)
    assert (address.exit_code, "names no release" in address.stderr) == (1, True)

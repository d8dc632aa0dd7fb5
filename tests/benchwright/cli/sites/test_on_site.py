"""What stands before a command: the same command on a site, with the same names and options."""

import gzip
import json
from datetime import date
from io import StringIO

import pytest
from django.core.management import get_commands, load_command_class

from annotation.estimates.services import estimates_of
from annotation.models import Pool
from benchmarks_app.management.declared import REPLACED
from benchmarks_app.models import Benchmark, Corpus, CorpusVersion, QueryFamily, Release, Unit
from benchwright.cli.main import _command_of as command_of
from benchwright.cli.sites.nouns.commands import NOUNS
from benchwright.linting.checking import check
from tests import factories, reference_pages
from tests.annotation.estimates import making as estimates
from tests.system.site import ROOT
from tests.test_doc_commands import of_benchwright

FIXTURE = ROOT / "fixtures" / "tiny_benchmark"
HALVES = ("--shares", "train=50,test=50")
RUN = "q1 Q0 d1 1 1.0 a\nq2 Q0 d1 1 1.0 a\n"


def test_pool_split_and_families_take_their_options_to_the_site(on, tmp_path):
    run = tmp_path / "bm25.run"
    run.write_text("1 Q0 123 1 2.0 s\nq-cjk Q0 d-cjk 1 2.0 s\n")
    assert on("import", str(run)).stdout == "imported run 'bm25' of 2 queries\n"

    built = on(
        "pool", "bm25", "--depth", "3", "--overlap", "2", "--due", "2030-12-01", "--seed", "7"
    )
    split = on("split", "--shares", "train=50,test=50", "--mode", "random", "--json")
    grouped = on("families", "--merge-at", "0.7", "--dry-run")

    assert (built.exit_code, built.stdout) == (0, "built depth 3: 2 documents\n"), built.stderr
    pool = Pool.objects.get()
    assert (pool.parameters["depth"], pool.overlap, pool.seed) == (3, 2, 7)
    assert pool.due_on == date(2030, 12, 1)
    assert (split.exit_code, json.loads(split.stdout)["mode"]) == (0, "random")
    assert json.loads(split.stdout)["sizes"] == {"train": 3, "dev": 0, "test": 2}
    assert (grouped.exit_code, QueryFamily.objects.count()) == (0, 5), grouped.stderr
    assert "families" in grouped.stdout


def test_folder_comes_in_whole_with_what_is_said_of_its_corpus(on, tmp_path):
    beir = tmp_path / "next"
    (beir / "qrels").mkdir(parents=True)
    rows = [
        {"_id": f"{of}#{at}", "title": "", "text": f"passage {at}"} for of in "xy" for at in "12"
    ]
    (beir / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (beir / "queries.jsonl").write_text('{"_id": "n1", "text": "a new query"}\n')
    Corpus.objects.update(unit=Unit.PASSAGE)
    words = ("--take", "--snapshot-date", "2026-03-31", "--parents", "ids", "--name", "next")

    done = on("import", str(beir), *words)

    assert done.exit_code == 0, done.stderr
    (version,) = CorpusVersion.objects.filter(snapshot_date=date(2026, 3, 31))
    assert (version.state, version.n_parents, version.n_documents) == ("ready", 2, 4)


def test_name_that_others_wrote_tells_the_terminal_nothing(on):
    """Of the clipboard (OSC 52), or of the screen."""
    Benchmark.objects.filter(slug="tiny").update(name="a\x1b]52;c;cm0=\x07\x9b2Jb")

    result = on("benchmarks")

    assert "tiny  a�]52;c;cm0=��2Jb" in result.stdout


@pytest.mark.parametrize(("at", "named"), [(".", "."), ("qrels", "..")])
def test_folder_that_one_is_in_is_called_as_it_is_and_leaves_nothing(
    on, tmp_path, monkeypatch, at, named
):
    beir, temporary = tmp_path / "next", tmp_path / "temporary"
    temporary.mkdir()
    (beir / "qrels").mkdir(parents=True)
    (beir / "queries.jsonl").write_text('{"_id": "n1", "text": "a new query"}\n')
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nn1\t123\t2\n")
    monkeypatch.chdir(beir / at)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))

    done = on("import", named)

    assert "imported qrels 'next' with 1 grade" in done.stdout, done.output
    assert list(temporary.glob("*.zip")) == []


@pytest.mark.parametrize(
    ("file", "name"),
    [("a.run.gz", "a"), ("a.v1.run", "a.v1"), (f"{'n' * 200}.run", "n" * 120)],
    ids=["packed", "dotted", "long"],
)
def test_run_is_called_as_its_file_without_its_ending(on, tmp_path, file, name):
    text = b"1 Q0 123 1 2.0 s\n"
    (tmp_path / file).write_bytes(gzip.compress(text) if file.endswith(".gz") else text)

    done = on("import", str(tmp_path / file))

    assert done.stdout == f"imported run '{name}' of 1 query\n", done.output


@pytest.mark.parametrize(
    "content",
    [b"\xef\xbb\xbf1\r\n\r\nq-cjk\r\n", "1\nq-cjk\n".encode("utf-16")],
    ids=["with a mark", "utf-16"],
)
def test_ids_are_read_as_editors_write_them(on, tmp_path, content):
    (tmp_path / "ids.txt").write_bytes(content)

    done = on("slice", "by hand", "--queries", str(tmp_path / "ids.txt"))

    assert (done.exit_code, done.stdout) == (0, "by hand (hand): 2 queries\n"), done.stderr


def test_card_that_is_no_utf_8_is_told_by_its_line(on, tmp_path):
    (tmp_path / "card.md").write_bytes(b"# Karte\nBeschr\xe4nkt\n")

    done = on("release", "tiny", "--card", str(tmp_path / "card.md"), "--dry-run")

    assert done.exit_code == 1
    assert "card.md:2: is not UTF-8. Save it as UTF-8." in done.stderr


def test_strict_release_of_what_has_warnings_leaves_nothing_behind(on):
    tried, refused = on("release", "tiny", "--dry-run"), on("release", "tiny", "--strict")

    assert (tried.exit_code, tried.stdout) == (0, "tiny would be 0.1.0\n")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "warning: " in tried.stderr
    assert refused.stderr.splitlines()[-1].startswith("Error: 0.1.0 was not published.")
    assert not Release.objects.exists()


def test_file_that_is_wrong_is_told_by_its_lines_and_ends_with_1(on, tmp_path):
    wrong = tmp_path / "wrong.qrels"
    wrong.write_text("1 0 123 2\n1 0 123 high\n")

    entered = on("import", str(wrong), "--kind", "qrels")
    labelled = on("label", str(wrong))

    for done in (entered, labelled):
        assert (done.exit_code, done.stdout) == (1, "")
        assert "wrong.qrels:2: " in done.stderr


def test_what_is_of_files_is_refused_and_what_has_its_own_site_takes_it(on, site, tmp_path):
    factories.release(factories.Benchmark.objects.get(slug="tiny").qrel_sets.get(), "1.0.0")

    pulled = on("pull", "-o", str(tmp_path / "out"), "--json")
    older = on("pull", "tiny", "--server", site, "-o", str(tmp_path / "older"))
    of_files = on("check", "a.run")
    nowhere = on("publish", "x", benchmark="")

    assert (pulled.exit_code, pulled.stderr) == (0, "")
    assert json.loads(pulled.stdout)["release"] == "1.0.0"
    assert older.exit_code == 0
    assert older.stderr == "Warning: --server is --site now; it goes with the next version.\n"
    assert of_files.exit_code == nowhere.exit_code == 2
    assert "check is of files, and of no site." in of_files.stderr
    assert "--benchmark SLUG publish" in nowhere.stderr


def test_release_that_was_pulled_is_checked_as_it_came(on, tmp_path):
    factories.release(factories.Benchmark.objects.get(slug="tiny").qrel_sets.get(), "1.0.0")
    folder = tmp_path / "out"
    on("pull", "-o", str(folder))
    grades = min((folder / "qrels").glob("*.tsv"))

    whole = check(folder)
    grades.write_text(f"{grades.read_text()}nobody\td1\t1\n")
    altered = check(folder)

    assert (whole.kind, whole.problems.found) == ("ids-only", [])
    (problem,) = altered.problems.found
    assert "query 'nobody' is not in queries.jsonl; expected it there." in str(problem)


OURS = [name for name, app in get_commands().items() if app in reference_pages.APPS]


@pytest.mark.parametrize("name", sorted(OURS))
def test_command_that_is_replaced_says_by_what_and_others_say_nothing(name, monkeypatch):
    kind = type(load_command_class(get_commands()[name], name))
    monkeypatch.setattr(kind, "handle", lambda self, *args, **options: "done")
    results = {}

    for is_typed in (True, False):
        out, err = StringIO(), StringIO()
        command = kind(stdout=out, stderr=err, no_color=True)
        command._called_from_command_line = is_typed  # as `run_from_argv` sets it
        command.execute(no_color=True, force_color=False, skip_checks=True)
        results[is_typed] = err.getvalue()
        assert out.getvalue() == "done\n"

    instead = f"`benchwright --site URL --benchmark SLUG {REPLACED.get(name)}`"
    replaced = f"{name} is replaced by {instead}; it stays for this version.\n"
    assert results == {True: replaced if name in REPLACED else "", False: ""}


def test_what_replaces_a_command_is_taken_by_the_one_command():
    assert set(REPLACED) <= set(OURS)
    for name, there in REPLACED.items():
        command = load_command_class(get_commands()[name], name)
        text = " ".join(command.create_parser("manage.py", name).format_help().split())
        words = ["--site", "https://bench.example", "--benchmark", "tiny", *there.split()]

        assert text.endswith(f"benchwright --site URL --benchmark SLUG {there}")
        of_benchwright(words)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["--site", "gate", "split"], "split"),
        (["--site=x", "--benchmark", "b", "run", "gate", "a.run"], "gate"),
        (["score", "gate"], "score"),
    ],
)
def test_command_is_known_whatever_stands_before_it(words, command):
    assert command_of(words) == command


def test_json_is_the_same_as_its_format_and_every_command_that_tells_has_it(benchwright, tmp_path):
    for name, text in (
        ("qrels", "q1 0 d1 1\nq1 0 d2 1\nq2 0 d1 1\nq2 0 d2 0\n"),
        ("a.run", RUN),
        ("b.run", RUN.replace("d1", "d2")),
    ):
        (tmp_path / name).write_text(text)
    qrels, one, other = (str(tmp_path / name) for name in ("qrels", "a.run", "b.run"))
    result = str(tmp_path / "result.json")
    benchwright("score", qrels, one, "--result", result)
    lines = {
        ("compare", qrels, one, other): "pairs",
        ("gate", qrels, one, other): "verdict",
        ("verify", result): "differences",
        ("pool", one, other, "--preview", "-o", str(tmp_path / "pool.tsv")): "n_entries",
        ("pool", one, other, "-o", str(tmp_path / "pool.tsv")): "n_documents",
        ("split", str(FIXTURE), "-o", str(tmp_path / "split"), *HALVES): "splits",
    }

    for words, member in lines.items():
        done = benchwright(*words, "--json")
        assert member in json.loads(done.stdout), words
    words = next(iter(lines))
    assert benchwright(*words, "--json").output == benchwright(*words, "--format", "json").output


def test_every_list_is_walked_and_an_empty_one_says_so(on):
    factories.release(factories.Benchmark.objects.get(slug="tiny").qrel_sets.get(), "1.0.0")

    for what in (name for name, noun in NOUNS.items() if noun.columns):
        text, rows = on("list", what), on("list", what, "--json")
        assert (text.exit_code, rows.exit_code) == (0, 0), (what, text.output, rows.output)
        n = len(json.loads(rows.stdout))
        lines = text.stdout.splitlines()
        assert (
            len(lines) == n + 1 if n else lines[0].startswith(("There are no ", "There is no "))
        ), what
    some = on("list", "queries", "--first", "2")
    assert len(some.stdout.splitlines()) == 3
    assert "These are the first 2" in some.stderr
    assert "Did you mean 'slices'" in on("list", "slicse").stderr
    assert "--words is of queries." in on("list", "runs", "--words", "x").stderr


def test_estimates_are_told_once_every_drawn_document_has_a_label(on):
    benchmark = factories.benchmark("est")
    olga = factories.member(benchmark, "olga", "owner")
    estimates.queries(benchmark)
    runs = estimates.runs(benchmark)
    pool = estimates.estimation_pool(benchmark, olga, runs, labels=60)

    early = on("estimate", "to estimate", benchmark="est")
    estimates.labelled(pool, olga)
    result = on("estimate", "to estimate", benchmark="est")
    other = on("estimate", "to estimate", "--against", "other", "--json", benchmark="est")
    unknown = on("estimate", "to estimate", "--against", "goood", benchmark="est")

    assert (early.exit_code, early.stdout) == (1, "")
    rows = {row["run"]: row for row in json.loads(other.stdout)["rows"]}
    expected = {run: row.mean.value for run, row in by_run(estimates_of(pool, olga)).items()}
    assert {run: row["mean"]["value"] for run, row in rows.items()} == pytest.approx(expected)
    assert rows["other"]["difference"] is None
    assert all(f"{value:.4f}" in result.stdout for value in expected.values())
    assert "Did you mean 'good'?" in unknown.stderr


def by_run(of):
    return {row.run: row for row in of.rows}


def test_member_changes_role_and_leaves(on):
    benchmark = factories.Benchmark.objects.get(slug="tiny")
    factories.member(benchmark, "ada", "annotator")

    changed = on("member", "ada", "--role", "adjudicator")
    mixed = on("member", "ada", "--role", "viewer", "--remove")
    left = on("member", "ada", "--remove")
    unknown = on("member", "olgo", "--role", "viewer")

    assert changed.stdout.startswith("ada: adjudicator, since ")
    assert (mixed.exit_code, "--remove ends what they are." in mixed.stderr) == (2, True)
    assert left.stdout == "ada has left tiny\n"
    assert list(benchmark.memberships.values_list("user__username", flat=True)) == ["olga"]
    assert (unknown.exit_code, "Did you mean 'olga'?" in unknown.stderr) == (2, True)

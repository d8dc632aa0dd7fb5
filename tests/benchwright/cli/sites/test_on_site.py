"""What stands before a command: the same command on a site, with the same names and options."""

import json
from datetime import date

import pytest
from django.core.management import get_commands, load_command_class

from annotation.models import Pool
from benchmarks_app.management.declared import FROM_AFAR
from benchmarks_app.models import QueryFamily, Release
from benchwright.cli.main import _command_of as command_of
from benchwright.cli.main import main
from tests import factories
from tests.system.site import ROOT

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


def test_command_of_the_site_leads_to_the_one_from_afar():
    for name, there in FROM_AFAR.items():
        command = load_command_class(get_commands()[name], name)
        shown = " ".join(command.create_parser("manage.py", name).format_help().split())

        assert shown.endswith(f"benchwright --site URL --benchmark SLUG {there}")
        assert there in main.known()


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

"""`benchwright pool` as a person types it."""

import json
import subprocess
import sys

import pytest

from benchwright.cli.main import main
from benchwright.pools import Recipe, build_pool

BM25 = "q1 Q0 a 1 9 x\nq1 Q0 b 2 8 x\nq1 Q0 c 3 7 x\nq2 Q0 a 1 5 x\n"
DENSE = "q1 Q0 b 1 .9 y\nq1 Q0 d 2 .8 y\nq2 Q0 e 1 .7 y\n"


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bm25").write_text(BM25)
    (tmp_path / "dense").write_text(DENSE)
    return ["bm25", "dense"]


@pytest.fixture
def pool(capsys):
    """Type `benchwright pool …`: exit code, standard output, standard error."""

    def typing(*words):
        with pytest.raises(SystemExit) as ended:
            main(["pool", *map(str, words)])
        return ended.value.code, *capsys.readouterr()

    return typing


def rows(path):
    made_from, columns, *lines = path.read_text().splitlines()
    return json.loads(made_from[2:]), columns.split("\t"), [line.split("\t") for line in lines]


def test_a_pool_is_that_of_the_reference_in_the_order_of_its_queue(runs, pool, tmp_path):
    code, output, _ = pool(*runs, "--depth", 2, "--seed", 7, "-o", "pool.tsv")

    rankings = {
        "bm25": [("q1", "a", 1), ("q1", "b", 2), ("q2", "a", 1)],
        "dense": [("q1", "b", 1), ("q1", "d", 2), ("q2", "e", 1)],
    }
    expected = build_pool(rankings, Recipe(depth=2, seed=7))
    made_from, _, lines = rows(tmp_path / "pool.tsv")
    assert (code, made_from["digest"]) == (0, expected.digest)
    assert [tuple(line[:2]) for line in lines] == [entry.pair for entry in expected.entries]
    assert [line[2] for line in lines] == ["1", "2", "3", "4", "5"]
    assert json.loads(lines[[line[:2] for line in lines].index(["q1", "b"])][6]) == [
        ["bm25", 2],
        ["dense", 1],
    ]
    assert f"5 documents of 2 queries, digest {expected.digest}" in output


def test_an_estimates_documents_come_with_their_probabilities(runs, pool, tmp_path):
    words = (*runs, "--strategy", "estimate", "--depth", 2, "--seed", 3, "-o", "pool.tsv")

    code, _, errors = pool(*words, "--measure", "DCG", "--labels", 3)

    assert "Warning: 2 queries; runs are estimated from 20 families or more." in errors
    _, columns, lines = rows(tmp_path / "pool.tsv")
    at = columns.index("probability")
    # By hand: b of q1 counts 1 + 1/log2(3), d 1/log2(3), the others 1; shares of 3 in all.
    amounts = {"a": 1, "b": 1 + 0.63093, "d": 0.63093, "e": 1}
    whole = 1 + amounts["b"] + amounts["d"] + 1 + 1
    assert code == 0
    assert lines
    for line in lines:
        assert float(line[at]) == pytest.approx(3 * amounts[line[1]] / whole, rel=1e-4)


def test_an_estimate_without_a_budget_or_with_too_small_a_one_is_refused(runs, pool, tmp_path):
    words = ("--strategy", "estimate", "-o", "pool.tsv")
    many = "".join(f"q1 Q0 d{n} {n} {999 - n} x\n" for n in range(1, 201))
    (tmp_path / "long").write_text(many)

    assert "An estimate has no budget; expected some labels in all" in pool(*runs, *words)[2]
    assert "labels in all do not go" in pool(*runs, "--labels", 3, "-o", "p")[2].lower()
    _, _, output = pool("long", *words, "--depth", 200, "--labels", 3)
    assert "The budget is 3 labels for 200 documents; expected at least 4, one in fifty" in output
    assert not (tmp_path / "pool.tsv").exists()


def test_the_same_words_give_the_same_bytes_and_another_seed_gives_others(runs, pool, tmp_path):
    files = []
    for seed, names in ((1, runs), (1, runs[::-1]), (2, runs)):
        pool(*names, "--control", 0.5, "--depth", 1, "--seed", seed, "-o", "pool.tsv")
        files.append((tmp_path / "pool.tsv").read_bytes())

    assert files[0] == files[1] != files[2]


def test_what_was_judged_is_carried_over_and_a_grade_below_zero_is_no_judgment(
    runs, pool, tmp_path
):
    (tmp_path / "qrels").write_text("q1 0 far 0\nq1 0 never -1\n")

    pool(*runs, "--depth", 1, "--qrels", "qrels", "-o", "pool.tsv")
    results = {tuple(line[:2]): line[4] for line in rows(tmp_path / "pool.tsv")[2]}
    assert results["q1", "far"] == "carried"
    assert ("q1", "never") not in results


def test_a_top_up_is_what_the_list_has_and_nobody_judged_in_its_order(runs, pool, tmp_path):
    (tmp_path / "list").write_text("query\tdocument\tpriority\nq2\tx\t3\nq1\ty\t1\nq1\ta\t2\n")
    (tmp_path / "qrels").write_text("q1 0 a 1\n")

    pool("--strategy", "top-up", "--candidates", "list", "--qrels", "qrels", "-o", "pool.tsv")
    lines = rows(tmp_path / "pool.tsv")[2]
    assert [line[:2] for line in lines if line[4] == "candidate"] == [["q1", "y"], ["q2", "x"]]


def test_a_preview_shows_runs_overlap_and_what_a_new_system_would_find(runs, pool):
    code, output, _ = pool(*runs, "--depth", 2, "--preview")

    assert code == 0
    assert "5 documents of 2 queries (2 to 3, median 2.5 a query)" in output
    assert "Judged@10 to expect of a new system: 0.208 (least 0.167)" in output
    assert "Warning: Two runs" in output


def test_a_pool_on_standard_output_has_its_words_elsewhere(runs, pool):
    _, output, notes = pool(*runs, "-o", "-")

    assert output.startswith("# {")
    assert "documents of" not in output
    assert "6 documents of 2 queries" in notes


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bm25"], "Nothing is asked for"),
        (["nowhere", "-o", "-"], "nowhere"),
        (["--depth", 10, "-o", "-"], "No run is named"),
        (["bm25", "--strategy", "layered", "-o", "-"], "A layered pool has no budget"),
        (["bm25", "--budget", 3, "-o", "-"], "A budget does not go with depth-k"),
        (["bm25", "--strategy", "stratified", "--strata", "x", "-o", "-"], "--strata is 'x'"),
        (["bm25", "--control", 1, "--control-run", "lm", "-o", "-"], "expected one of bm25"),
    ],
)
def test_what_does_not_fit_together_is_a_usage_error(runs, pool, words, message):
    code, _, notes = pool(*words)

    assert code == 2
    assert message in notes


def test_a_line_that_cannot_be_read_is_named(runs, pool, tmp_path):
    (tmp_path / "bad").write_text("q1 Q0 a 1 high x\n")

    code, _, notes = pool("bad", "-o", "-")
    assert code == 1
    assert "bad:1: score is 'high'" in notes


def test_it_needs_neither_django_nor_for_its_help_polars():
    script = (
        "import sys; sys.argv = ['benchwright', 'pool', '--help']\n"
        "from benchwright.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print({'django', 'polars', 'numpy'} & sys.modules.keys())"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)

    assert answer.stdout.decode().strip().endswith("set()")

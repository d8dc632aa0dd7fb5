"""`benchwright reusability`: runs left out of the judgments they brought."""

import json

import pytest

RUNS = {
    "one": "q1 Q0 d1 1 9 s\nq2 Q0 d5 1 9 s\n",
    "copy": "q1 Q0 d1 1 3 s\nq2 Q0 d5 1 3 s\n",
    "other": "q1 Q0 d2 1 9 s\nq2 Q0 d5 1 9 s\n",
}


@pytest.fixture
def pooled(files):
    (files / "judged.txt").write_text("q1 0 d1 1\nq1 0 d2 1\nq2 0 d5 1\n")
    for name, lines in RUNS.items():
        (files / name).write_text(lines)
    return files


def test_copies_are_left_out_together_and_named(pooled, benchwright):
    done = benchwright("reusability", "judged.txt", *RUNS, "--depth", "5", "--format", "json")

    report = json.loads(done.stdout)
    one = {row["run"]: row for row in report["systems"]}["one"]
    assert (report["n_systems"], report["by_group"]["n"], report["by_run"]["n"]) == (2, 2, 3)
    assert (one["group"], one["n_unique"], one["n_unique_alone"]) == (["one", "copy"], 1, 0)
    assert one["without"] == 0.5
    assert one["shift_alone"] == 0.0
    assert report["copies"] == [{"run_a": "one", "run_b": "copy", "rbo": 1.0, "is_same": True}]


def test_table_names_companions_and_says_which_depth_it_took(pooled, benchwright):
    done = benchwright("reusability", "judged.txt", *RUNS)

    assert done.exit_code == 0
    assert "2 groups" in done.stdout
    assert "no --depth is given: every run counts as pooled to depth 10" in done.stderr
    assert "one and copy: the same ranking under two names (RBO 1.00)" in done.stderr


def test_a_team_is_one_group_and_one_group_is_undefined(pooled, benchwright):
    (pooled / "teams.tsv").write_text("one\tA team\nother\ta-team\n")

    done = benchwright(
        *("reusability", "judged.txt", *RUNS, "--teams", "teams.tsv", "--format", "json")
    )

    by_group = json.loads(done.stdout)["by_group"]
    assert (by_group["n"], by_group["mean_shift"], by_group["tau"]) == (1, None, None)


def test_a_team_of_no_run_is_refused(pooled, benchwright):
    (pooled / "teams.tsv").write_text("nobody\tA team\n")

    done = benchwright("reusability", "judged.txt", *RUNS, "--teams", "teams.tsv")

    assert done.exit_code == 1
    assert "teams.tsv: no run is called 'nobody'; expected one of one, copy, other" in done.stderr


@pytest.mark.parametrize(
    ("qrels", "run", "words"),
    [
        ("", RUNS["one"], "The qrels hold no grade"),
        ("q9 0 d1 1\n", RUNS["one"], "one: Run and qrels have no query in common"),
        ("q1 0 d1 1\n", "", "one: The run holds no result"),
    ],
)
def test_nothing_in_common_is_refused(pooled, benchwright, qrels, run, words):
    (pooled / "judged.txt").write_text(qrels)
    (pooled / "one").write_text(run)

    done = benchwright("reusability", "judged.txt", "one", "other", "--depth", "5")

    assert (done.exit_code, words in done.stderr) == (1, True), done.stderr


@pytest.mark.parametrize("command", ["reusability", "calibrate"])
def test_a_run_that_is_named_twice_is_refused(pooled, benchwright, command):
    beside = ["judged.txt"] * (command == "calibrate")

    done = benchwright(command, "judged.txt", *beside, "one", "one")

    assert (done.exit_code, "A run is named twice" in done.stderr) == (2, True)


def test_labels_deeper_than_near_copies_are_told_are_a_runs_own(pooled, benchwright):
    deep = [f"q1 Q0 e{rank} {rank} {1000 - rank} s\n" for rank in range(1, 151)]
    (pooled / "one").write_text("".join(deep))
    (pooled / "judged.txt").write_text("q1 0 e150 1\nq1 0 d2 1\n")

    done = benchwright(
        *("reusability", "judged.txt", "one", "other", "--depth", "150", "--format", "json")
    )

    n_unique = {row["run"]: row["n_unique"] for row in json.loads(done.stdout)["systems"]}
    assert n_unique == {"one": 1, "other": 1}


def test_teams_may_be_of_another_encoding(pooled, benchwright):
    (pooled / "teams.tsv").write_bytes(b"n\xe9o\tA team\n")

    done = benchwright("reusability", "judged.txt", *RUNS, "--teams", "teams.tsv")

    assert "teams.tsv: no run is called 'n\\xe9o'; expected one of one" in done.stderr

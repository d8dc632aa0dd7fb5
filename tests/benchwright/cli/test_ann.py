"""`benchwright ann`: recall of an index against exact search."""

import json

import pytest

EXACT = "q1 Q0 d1 1 9 e\nq1 Q0 d2 2 8 e\nq2 Q0 d4 1 9 e\nq3 Q0 d6 1 7 e\n"
INDEX = "q1 Q0 d1 1 9 i\nq1 Q0 x 2 5 i\nq2 Q0 d4 1 9 i\nq9 Q0 d1 1 9 i\n"


@pytest.fixture
def runs(files):
    (files / "exact").write_text(EXACT)
    (files / "index").write_text(INDEX)
    (files / "slices.tsv").write_text("q1\tfirst\nq2\tfirst\nq3\tlast\n")
    return files


def test_recall_stands_beside_what_it_costs(runs, benchwright):
    done = benchwright(*("ann", "exact", "index", "-k", "2", "--qrels", "qrels.txt"))

    assert done.exit_code == 0, done.stderr
    # q1 1/2, q2 1, q3 0; q1 loses its second document, of grade 1.
    lost = (1 / 1.584962500721156) / (3 + 1 / 1.584962500721156)
    assert "0.5000" in done.stdout
    assert f"{-lost / 3:.4f}" in done.stdout
    assert "below the usual 0.95" in done.stdout
    assert "1 of the queries not answered by the index: recall 0." in done.stderr


def test_json_holds_every_query_and_slice(runs, benchwright):
    done = benchwright(
        *("ann", "exact", "index", "-k", "2", "--slices", "slices.tsv", "--format", "json")
    )

    report = json.loads(done.stdout)
    assert report["per_query"] == {"q1": 0.5, "q2": 1.0, "q3": 0.0}
    assert {row["queries"]: row["recall"] for row in report["rows"]} == {
        "all": 0.5,
        "first": 0.75,
        "last": 0.0,
    }
    assert (report["n_missing"], report["n_extra"], report["n_short"]) == (1, 1, 2)


def test_loss_is_told_of_slices_and_by_families_and_no_recall_may_be_above_1(runs, benchwright):
    (runs / "families.tsv").write_text("q1\tsame\nq2\tsame\nq3\tsame\n")
    asked = ("ann", "exact", "index", "-k", "1", "--qrels", "qrels.txt", "--format", "json")

    report = json.loads(benchwright(*asked, "--slices", "slices.tsv").stdout)
    together = json.loads(benchwright(*asked, "--families", "families.tsv").stdout)

    of = {row["queries"]: row for row in report["rows"]}
    assert of["first"]["loss"] is not None
    assert (of["all"]["low"], of["all"]["high"]) == (0.0, 1.0)
    assert together["rows"][0]["loss low"] is None


def test_a_script_can_ask_for_a_recall(runs, benchwright):
    enough = benchwright("ann", "exact", "exact", "--fail-below", "0.95")
    too_low = benchwright("ann", "exact", "index", "--fail-below", "0.95")

    assert (enough.exit_code, too_low.exit_code) == (0, 1)
    assert "below 0.95" in too_low.stderr


@pytest.mark.parametrize("words", ["--fail-below nan", "--tolerance nan", "--tolerance inf"])
def test_no_bound_is_without_a_number(words, runs, benchwright):
    refused = benchwright("ann", "exact", "index", *words.split())

    assert refused.exit_code == 2
    assert "is not in the range" in refused.stderr


def test_markdown_and_tsv_are_tables(runs, benchwright):
    markdown = benchwright("ann", "exact", "index", "--format", "markdown").stdout
    tsv = benchwright("ann", "exact", "index", "--format", "tsv").stdout

    assert "| queries |" in markdown
    assert tsv.splitlines()[0].split("\t")[:3] == ["queries", "n", "recall"]

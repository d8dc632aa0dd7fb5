"""`benchwright compare`: the numbers of `scoring.core.comparing`, in four formats."""

import csv
import hashlib
import io
import json

import pytest

from scoring.cli.compare_output import trust

GRADES = "".join(f"q{n} 0 d{n} 1\n" for n in range(12))
FIRST = "".join(f"q{n} Q0 d{n} 1 1 first\n" for n in range(12))


def below(n_lost):
    """A run that has the relevant document second for some queries."""
    lost = "".join(f"q{n} Q0 x 1 2 t\nq{n} Q0 d{n} 2 1 t\n" for n in range(n_lost))
    return lost + "".join(f"q{n} Q0 d{n} 1 1 t\n" for n in range(n_lost, 12))


@pytest.fixture
def runs(files):
    for name, content in (
        ("grades", GRADES),
        ("first", FIRST),
        ("second", below(2)),
        ("third", below(8)),
    ):
        (files / name).write_text(content)
    return files


def rows(output, kind):
    found = csv.DictReader(io.StringIO(output), delimiter="\t")
    return [row for row in found if row["kind"] == kind]


def test_pairs_have_difference_test_effect_and_power(runs, benchwright):
    done = benchwright(
        *("compare", "grades", "first", "third", "-m", "RR@10", "--format", "tsv"),
    )

    assert done.exit_code == 0
    (pair,) = rows(done.stdout, "difference")
    assert (pair["run"], pair["reference"]) == ("third", "first")
    assert float(pair["value"]) == pytest.approx(-8 * 0.5 / 12)
    # Exact, of 2^12 flips: the two that give all eight losses one sign.
    assert float(pair["p"]) == pytest.approx(2 / 2**8)
    assert (pair["wins"], pair["ties"], pair["losses"]) == ("0", "4", "8")
    assert float(pair["low"]) < float(pair["value"]) < float(pair["high"])
    assert int(pair["queries_for_observed"]) > 1


def test_queries_are_counted_for_the_difference_that_matters(runs, benchwright):
    asked = ("compare", "grades", "first", "third", "-m", "RR@10", "--format", "tsv", "--delta")

    few, many = (
        int(rows(benchwright(*asked, delta).stdout, "difference")[0]["queries_for_delta"])
        for delta in ("0.1", "0.05")
    )

    assert 3.9 < many / few < 4.1


def test_table_shows_runs_and_pairs(runs, benchwright):
    done = benchwright("compare", "grades", "first", "second", "third", "-m", "RR@10")

    lines = done.stdout.splitlines()
    assert lines[0] == "RR@10, all: 12 queries"
    assert lines[1].split()[:2] == ["run", "mean"]
    assert [line.split()[:2] for line in lines[2:5]] == [
        ["first", "1.0000"],
        ["second", "0.9167"],
        ["third", "0.6667"],
    ]
    assert [" ".join(line.split()[:3]) for line in lines[7:10]] == [
        "second - first",
        "third - first",
        "third - second",
    ]
    assert "p: signflip, corrected by tukey. Seed 0." in lines[-1]


def test_baseline_is_the_reference_of_every_pair(runs, benchwright):
    done = benchwright(
        *("compare", "grades", "first", "second", "third", "-m", "RR@10"),
        *("--baseline", str(runs / "second"), "--format", "tsv"),
    )
    by_name = benchwright(
        *("compare", "grades", "first", "second", "third", "-m", "RR@10"),
        *("--baseline", "second", "--format", "json"),
    )

    assert done.exit_code == 2  # another path than that of the run
    assert "expected one of the runs: first, second, third" in done.stderr
    pairs = json.loads(by_name.stdout)["pairs"]
    assert [(pair["run"], pair["reference"]) for pair in pairs] == [
        ("first", "second"),
        ("third", "second"),
    ]


def test_slices_and_families_reach_the_statistics(runs, benchwright):
    (runs / "slices.tsv").write_text("".join(f"q{n}\teven\n" for n in range(0, 12, 2)))
    (runs / "families.tsv").write_text("".join(f"q{n}\tf{n // 2}\n" for n in range(12)))

    done = benchwright(
        *("compare", "grades", "first", "third", "-m", "RR@10", "--format", "json"),
        *("--slices", "slices.tsv", "--families", "families.tsv"),
    )

    found = json.loads(done.stdout)
    assert found["slices"] == [
        {"name": "all", "n_families": 6, "n_queries": 12},
        {"name": "even", "n_families": 6, "n_queries": 6},
    ]
    # Four families lose whole, and of 2^6 flips two give them one sign: 2 * 2^2 / 2^6.
    assert [pair["p"] for pair in found["pairs"]] == pytest.approx([2 / 2**4] * 2)


def test_json_is_strict_and_says_how_it_was_made(runs, benchwright):
    done = benchwright(
        *("compare", "grades", "first", "second", "--format", "json", "--seed", "7"),
        *("--test", "t", "--correction", "none", "--interval", "percentile", "--draws", "500"),
    )

    found = json.loads(done.stdout)
    methods, origin = found["methods"], found["provenance"]
    assert [run["file"] for run in origin["runs"]] == ["first", "second"]
    assert origin["runs"][0]["sha256"] == hashlib.sha256(FIRST.encode()).hexdigest()
    assert origin["rules"]["ties"] == "trec"
    assert (methods["test"], methods["correction"], methods["seed"]) == ("t", "none", 7)
    assert (methods["interval"], methods["n_draws"]) == ("percentile", 500)


def test_markdown_has_a_heading_and_tables(runs, benchwright):
    done = benchwright("compare", "grades", "first", "third", "--format", "markdown", "-m", "RR")

    lines = done.stdout.splitlines()
    assert lines[0] == "### RR, all: 12 queries"
    assert lines[2].startswith("| run | mean | 95 % interval | rank |")
    assert lines[4].startswith("| first | **1.0000** |")


def test_judged_measure_is_compared_only_when_asked_for(runs, benchwright):
    asked = ("compare", "grades", "first", "second", "--format", "json", "-m", "RR@10")

    without, beside = (
        json.loads(benchwright(*asked, *more).stdout) for more in ((), ("-m", "Judged@10"))
    )

    assert without["measures"] == ["RR@10"]
    assert beside["measures"] == ["RR@10", "Judged@10"]
    assert without["judged"]["measure"] == "Judged@10"


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ((1.0, 0.99), None),
        ((0.95, 0.96), None),
        ((0.97, 1.0), "provisional"),
        ((0.94, 0.94), "provisional"),
        ((0.80, 0.84), "provisional"),
        ((0.79, 0.80), "not comparable"),
        ((0.90, 0.96), "not comparable"),
        ((0.90, float("nan")), "provisional"),
        ((float("nan"), float("nan")), None),
    ],
)
def test_judged_shares_decide_how_far_a_comparison_is_trusted(shares, told):
    said = list(trust("Judged@10", dict(zip("ab", shares, strict=True))))

    assert [told in sentence for sentence in said] == [True] * (told is not None)


def test_unequal_judged_shares_are_warned_of(runs, benchwright):
    done = benchwright("compare", "grades", "first", "third", "-m", "RR@10")

    assert done.stderr.startswith("Warning: judged@10 is 67 % for third and 100 % for first: not")


def test_runs_on_different_queries_are_refused(files, benchwright):
    done = benchwright("compare", "qrels.txt", "a.run", "b.run", "--missing", "skip")

    assert done.exit_code == 1
    assert "a.run" in done.stderr
    assert "'q2'" in done.stderr


def test_one_run_is_a_usage_error(files, benchwright):
    done = benchwright("compare", "qrels.txt", "a.run")

    assert done.exit_code == 2
    assert "One run is named; expected two or more" in done.stderr


def test_methods_that_do_not_go_together_are_refused(files, benchwright):
    done = benchwright(
        "compare", "qrels.txt", "a.run", "b.run", "--correction", "maxt", "--test", "t"
    )

    assert done.exit_code == 1
    assert "maxt" in done.stderr

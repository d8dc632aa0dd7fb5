"""`benchwright compare`: the numbers of `benchwright.comparison.comparing`, in four formats."""

import csv
import hashlib
import io
import json
import re

import pytest

from benchwright.cli.scoring.compare_output import trust

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
    result = csv.DictReader(io.StringIO(output), delimiter="\t")
    return [row for row in result if row["kind"] == kind]


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


def test_lines_say_the_verdict_and_where_test_and_interval_part(runs, benchwright):
    (runs / "good").write_text(below(11))
    results = {}
    for name in ("second", "good"):
        asked = ("compare", "grades", "first", name, "-m", "RR@10", "--format")
        (line,) = rows(benchwright(*asked, "tsv").stdout, "difference")
        (pair,) = json.loads(benchwright(*asked, "json").stdout)["pairs"]
        assert (line["decision"], line["reason"]) == (pair["decision"], pair["reason"])
        results[name] = line["decision"]

    assert results == {"second": "", "good": "worse"}


def test_score_and_compare_have_one_interval(runs, benchwright):
    (runs / "families.tsv").write_text("".join(f"q{n}\tf{n // 2}\n" for n in range(12)))
    asked = ("first", "third", "-m", "RR@10", "--families", "families.tsv", "--format", "tsv")
    compared = rows(benchwright("compare", "grades", *asked).stdout, "mean")
    scored = csv.DictReader(
        io.StringIO(benchwright("score", "grades", *asked).stdout), delimiter="\t"
    )

    ends = {row["run"]: (row["low"], row["high"]) for row in scored if row["slice"] == "all"}
    assert ends == {row["run"]: (row["low"], row["high"]) for row in compared}


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


def test_baseline_that_two_files_are_called_is_refused(runs, benchwright):
    for folder in ("main", "branch"):
        (runs / folder).mkdir()
        (runs / folder / "a.run").write_text(FIRST if folder == "main" else below(2))
    asked = ("compare", "grades", "main/a.run", "branch/a.run", "-m", "RR@10", "--format", "tsv")

    ambiguous = benchwright(*asked, "--baseline", "a.run")
    (pair,) = rows(benchwright(*asked, "--baseline", "branch/a.run").stdout, "difference")

    assert ambiguous.exit_code == 2
    assert "--baseline is 'a.run'; expected one of the runs: main/a.run" in ambiguous.stderr
    assert pair["reference"] == "branch/a.run"


def test_slices_and_families_reach_the_statistics(runs, benchwright):
    (runs / "slices.tsv").write_text("".join(f"q{n}\teven\n" for n in range(0, 12, 2)))
    (runs / "families.tsv").write_text("".join(f"q{n}\tf{n // 2}\n" for n in range(12)))

    done = benchwright(
        *("compare", "grades", "first", "third", "-m", "RR@10", "--format", "json"),
        *("--slices", "slices.tsv", "--families", "families.tsv"),
    )

    report = json.loads(done.stdout)
    assert report["slices"] == [
        {"name": "all", "n_families": 6, "n_queries": 12},
        {"name": "even", "n_families": 6, "n_queries": 6},
    ]
    # Four families lose whole, and of 2^6 flips two give them one sign: 2 * 2^2 / 2^6.
    assert [pair["p"] for pair in report["pairs"]] == pytest.approx([2 / 2**4] * 2)


def test_json_is_strict_and_says_how_it_was_made(runs, benchwright):
    done = benchwright(
        *("compare", "grades", "first", "second", "--format", "json", "--seed", "7"),
        *("--test", "t", "--correction", "none", "--interval", "percentile", "--draws", "500"),
    )

    report = json.loads(done.stdout)
    methods, origin = report["methods"], report["provenance"]
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
    ("shares", "words"),
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
def test_judged_shares_decide_how_far_a_comparison_is_trusted(shares, words):
    items = list(trust("Judged@10", dict(zip("ab", shares, strict=True))))

    assert [words in sentence for sentence in items] == [True] * (words is not None)


def test_unequal_judged_shares_are_warned_of(runs, benchwright):
    done = benchwright("compare", "grades", "first", "third", "-m", "RR@10")

    assert done.stderr.startswith("Warning: judged@10 is 67 % for third and 100 % for first: not")


def test_runs_are_compared_freely_where_unlisted_is_not_relevant(runs, benchwright):
    done = benchwright(
        *("compare", "grades", "first", "third", "-m", "RR@10", "--unlisted", "not-relevant")
    )

    assert "Warning" not in done.stderr
    assert done.exit_code == 0


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


# --- patterns --------------------------------------------------------------------------------


@pytest.fixture
def tail_for_head(tmp_path):
    """60 queries: `new` gains on the first 30 (head), and loses on the others (tail)."""
    qids = [f"q{n:02}" for n in range(60)]
    fields = {"better": ("d1", "d2"), "worse": ("d2", "d1")}
    files = {"qrels": "".join(f"{qid} 0 d1 1\n" for qid in qids)}
    for name, is_head_better in (("new", True), ("old", False)):
        lines = []
        for place, qid in enumerate(qids):
            ranked = fields["better" if (place < 30) == is_head_better else "worse"]
            # A few alike, or there would be no interval.
            ranked = fields["better"] if place % 10 == 0 else ranked
            lines += [f"{qid} Q0 {docid} {n} {9 - n} s\n" for n, docid in enumerate(ranked, 1)]
        files[name] = "".join(lines)
    files["slices"] = "query-id\tslice\n" + "".join(
        f"{qid}\t{'head' if place < 30 else 'tail'}\n" for place, qid in enumerate(qids)
    )
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return [str(tmp_path / name) for name in ("qrels", "old", "new")] + [
        "--slices",
        str(tmp_path / "slices"),
    ]


def test_patterns_come_with_their_evidence(benchwright, tail_for_head):
    result = benchwright("compare", *tail_for_head, "--patterns", "--draws", "500")

    assert result.exit_code == 0, result.output
    assert "What new - old looks like:\n- **Over-fitted to the head**" in result.stdout
    assert re.search(r"nDCG@10 over head \(30 queries\): up, \+0\.\d{4}", result.stdout)
    assert re.search(r"nDCG@10 over tail \(30 queries\): down, -0\.\d{4}", result.stdout)


def test_patterns_stand_in_json_and_leave_the_other_numbers_as_they_are(benchwright, tail_for_head):
    options = ["--draws", "500", "--format", "json"]

    plain = json.loads(benchwright("compare", *tail_for_head, *options).stdout)
    report = json.loads(benchwright("compare", *tail_for_head, *options, "--patterns").stdout)

    (pattern,) = report.pop("patterns")
    assert (pattern["code"], pattern["run"]) == ("head-over-fit", "new")
    assert [fact["direction"] for fact in pattern["evidence"]] == ["up", "down"]
    # A product of matrices may round otherwise beside further columns.
    assert rounded(report["pairs"]) == rounded(plain["pairs"])
    assert report["measures"] == plain["measures"]


def rounded(told):
    """JSON with its numbers to twelve digits."""
    return json.loads(json.dumps(told), parse_float=lambda text: round(float(text), 12))


def test_patterns_are_no_tsv(benchwright, tail_for_head):
    result = benchwright("compare", *tail_for_head, "--patterns", "--format", "tsv")

    assert result.exit_code == 2
    assert "Print it with table, markdown or json." in result.stderr

"""`benchwright score`: numbers by hand, every format, and what it says of the files."""

import csv
import gzip
import io
import json
from math import log2
from statistics import mean, stdev

import pytest

from tests.benchwright.cli.conftest import BETTER, RUN, in_process

NDCG = (3 + 1 / 2) / (3 + 1 / log2(3))
"""Of q1 in a.run, where d1 is first and d2 third."""


def table(output):
    """{(run, slice, query, measure): row} of --format tsv."""
    rows = csv.DictReader(io.StringIO(output), delimiter="\t")
    return {(r["run"], r["slice"], r["query"], r["measure"]): r for r in rows}


def values(output):
    return {key: float(row["value"]) for key, row in table(output).items() if row["value"]}


def test_means_stand_beside_judged_share_and_counts(files, benchwright):
    done = benchwright("score", "qrels.txt", "a.run", "-m", "nDCG@10", "-m", "Judged@10")

    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "a.run: 3 queries, 1 missing, 1 extra",
        "measure      mean  judged  queries",
        f"nDCG@10    {NDCG / 3:.4f}    83 %        3",
        "Judged@10  0.8333                2",
    ]


def test_tsv_holds_every_digit(files, benchwright):
    done = benchwright("score", "qrels.txt", "a.run", "-m", "nDCG@10", "--format", "tsv")

    assert table(done.stdout) == {
        ("a.run", "all", "all", "nDCG@10"): {
            "run": "a.run",
            "slice": "all",
            "query": "all",
            "measure": "nDCG@10",
            "value": repr(NDCG / 3),
            "low": "",
            "high": "",
            "judged_share": repr((2 / 3 + 1) / 2),
            "queries": "3",
            "missing": "1",
            "extra": "1",
            "undefined": "0",
        }
    }


def test_queries_are_shown_before_the_means(files, benchwright):
    done = benchwright(
        "score", "qrels.txt", "a.run", "--per-query", "--format", "tsv", "-m", "RR AP(rel=2)"
    )

    assert values(done.stdout) == {
        ("a.run", "all", query, measure): value
        for query, value in (("q1", 1.0), ("q2", 0.0), ("q3", 0.0), ("all", 1 / 3))
        for measure in ("RR", "AP(rel=2)")
    }


def test_several_runs_share_a_table(files, benchwright):
    done = benchwright("score", "qrels.txt", "a.run", "b.run", "-m", "RR", "-m", "NumRelRet")

    assert [line.split() for line in done.stdout.splitlines()] == [
        ["run", "queries", "missing", "extra", "RR", "judged", "NumRelRet"],
        ["a.run", "3", "1", "1", "0.3333", "83", "%", "2"],
        ["b.run", "3", "0", "0", "0.6667", "100", "%", "3"],
    ]


def test_slices_are_scored_beside_all_queries(files, benchwright):
    (files / "slices.tsv").write_text("q1\thead\nq2\thead\nq2\ttail\nq7\ttail\n")

    done = benchwright(
        *("score", "qrels.txt", "a.run", "--slices", "slices.tsv", "-m", "RR", "--format", "tsv")
    )

    assert {key[1]: value for key, value in values(done.stdout).items()} == {
        "all": 1 / 3,
        "head": 0.5,
        "tail": 0.0,
    }
    assert "slices.tsv: 1 query is not in the qrels and was passed over: 'q7'" in done.stderr
    rows = {key[1]: row for key, row in table(done.stdout).items()}
    assert (rows["head"]["missing"], rows["head"]["extra"]) == ("1", "0")


def test_depth_cuts_every_query(files, benchwright):
    done = benchwright(
        *("score", "qrels.txt", "a.run", "-m", "NumRet", "--depth", "2", "--format", "tsv")
    )

    assert list(values(done.stdout).values()) == [3.0]


def test_scale_is_that_of_all_qrels_in_every_slice(files, benchwright):
    (files / "slices.tsv").write_text("q2\tlow\n")
    asked = (
        "score",
        "qrels.txt",
        "b.run",
        "--slices",
        "slices.tsv",
        "-m",
        "ERR",
        "--format",
        "tsv",
    )

    result = values(benchwright(*asked).stdout)
    wider = values(benchwright(*asked, "--top-grade", "4").stdout)

    # (2^2 - 1) / 2^3 with the grade 3 of q1 as the highest, though the slice has none.
    assert result["b.run", "low", "all", "ERR"] == pytest.approx(3 / 8)
    assert wider["b.run", "low", "all", "ERR"] == pytest.approx(3 / 16)


def test_families_give_intervals_over_whole_families(files, benchwright):
    (files / "families.tsv").write_text("q1\tf\nq2\tf\nq3\tf\n")
    asked = ("score", "qrels.txt", "b.run", "-m", "RR", "-m", "NumRel", "--format", "tsv")

    alone = table(benchwright(*asked, "--ci").stdout)
    together = table(benchwright(*asked, "--families", "families.tsv").stdout)

    low, high = (float(alone["b.run", "all", "all", "RR"][bound]) for bound in ("low", "high"))
    assert 0 <= low < 2 / 3 < high <= 1
    assert alone["b.run", "all", "all", "NumRel"]["low"] == ""
    # Of one family nobody can say how much it varies.
    assert together["b.run", "all", "all", "RR"]["low"] == ""


def test_intervals_over_few_families_are_said_to_be_too_short(files, benchwright):
    (files / "slices.tsv").write_text("q1\tone\nq1\ttwo\nq2\ttwo\n")
    asked = ("score", "qrels.txt", "a.run", "b.run", "--slices", "slices.tsv", "--ci")

    done = benchwright(*asked, "-m", "RR")
    without = benchwright(*asked[:-1], "-m", "RR")

    text = "families or queries; below 30 an interval is too short."
    assert done.stderr.count(f"all: 3 {text}") == 1
    assert done.stderr.count(f"slice two: 2 {text}") == 1
    assert "slice one" not in done.stderr  # a single query has no interval
    assert text not in without.stderr


def test_thirty_families_are_enough_for_an_interval(files, benchwright):
    (files / "many.txt").write_text("".join(f"q{n} 0 d1 1\n" for n in range(60)))
    (files / "many.run").write_text("".join(f"q{n} Q0 d1 1 1 s\n" for n in range(60)))
    (files / "families.tsv").write_text("".join(f"q{n}\tf{n // 2}\n" for n in range(60)))

    done = benchwright("score", "many.txt", "many.run", "--families", "families.tsv", "-m", "RR")

    assert done.stderr == ""


def test_same_seed_gives_the_same_intervals(files, benchwright):
    asked = ("score", "qrels.txt", "b.run", "-m", "nDCG", "--ci", "--format", "json")

    first, again, other = (
        benchwright(*asked, "--seed", seed).stdout_bytes for seed in ("1", "1", "2")
    )

    assert first == again
    assert b"intervals" in first
    assert first != other


def test_rules_are_for_measures_whose_names_leave_them_open(files, benchwright):
    names = "R(rel=1)@3 R@3 nDCG(judged_only=False)@5 R( rel = 2 )@5"
    rules = ("--rel", "2", "--judged-only", "--result", "result.json")
    done = benchwright("score", "qrels.txt", "a.run", "-m", names, *rules, "--format", "tsv")

    rows = list(csv.DictReader(io.StringIO(done.stdout), delimiter="\t"))
    assert [row["measure"] for row in rows] == [
        *("R(judged_only=True)@3", "R(rel=2,judged_only=True)@3"),
        *("nDCG@5", "R(rel=2,judged_only=True)@5"),
    ]
    assert "are the same" in benchwright("verify", "result.json").stdout


def test_rel_is_for_measures_by_subtopic_whose_names_leave_it_open(files, benchwright):
    (files / "subtopics").write_text("q1 1 d1 1\nq1 1 d2 2\n")
    (files / "one.run").write_text("q1 Q0 d1 1 2 s\nq1 Q0 d2 2 1 s\n")
    names = ("StRecall(rel=1)@1", "StRecall@1", "StRecall(rel=2)@2")
    words = [word for name in names for word in ("--subtopic-measure", name)]
    asked = ("score", "subtopics", "one.run", *words, "--rel", "2", "--format", "tsv")
    done = benchwright(*asked, "--result", "result.json")

    rows = list(csv.DictReader(io.StringIO(done.stdout), delimiter="\t"))
    shown = [(row["measure"], float(row["value"])) for row in rows]
    assert shown == [("StRecall@1", 1), ("StRecall(rel=2)@1", 0), ("StRecall(rel=2)@2", 1)]
    assert "are the same" in benchwright("verify", "result.json").stdout


def test_judged_only_values_leave_unjudged_documents_out(files, benchwright):
    done = benchwright(
        *("score", "qrels.txt", "a.run", "--judged-only", "-m", "nDCG@10", "--format", "tsv")
    )

    ((key, value),) = values(done.stdout).items()
    assert (key[3], value) == ("nDCG(judged_only=True)@10", pytest.approx(1 / 3))


def test_unjudged_documents_give_brackets_and_scenarios(files, benchwright):
    asked = (
        "score",
        "qrels.txt",
        "a.run",
        "--unjudged",
        "-m",
        "P@2",
        "-m",
        "nDCG@2",
        "-m",
        "NumRet",
    )

    text = benchwright(*asked).stdout
    rows = table(benchwright(*asked, "--format", "tsv").stdout)
    held = json.loads(benchwright(*asked, "--format", "json").stdout)["runs"][0]["unjudged"]

    # Of q1 the second result has no grade; of q3 there is one result, which is not relevant.
    precision = rows["a.run", "all", "all", "P@2"]
    assert float(precision["bracket_low"]) == pytest.approx(0.5 / 3)
    assert float(precision["bracket_high"]) == pytest.approx(1 / 3)
    assert held["P@2"]["bracket"] == {
        "low": pytest.approx(0.5 / 3),
        "high": pytest.approx(1 / 3),
    }
    gain = rows["a.run", "all", "all", "nDCG@2"]
    assert gain["bracket_low"] == ""
    assert float(gain["condensed"]) == pytest.approx(1 / 3)
    assert set(held["nDCG@2"]["scenarios"]) == {
        *("raw", "condensed", "all_relevant", "drawn_low", "drawn_high"),
    }
    assert set(held) == {"P@2", "nDCG@2"}
    assert "a.run  P@2      0.1667   0.3333" in text
    assert "Scenarios, which bound nothing" in text


def test_trec_evals_format_has_its_names_and_digits(files, benchwright):
    done = benchwright(
        *("score", "qrels.txt", "b.run", "--format", "trec_eval", "--per-query"),
        *("-m", "ndcg_cut_10", "-m", "num_rel", "-m", "AP(rel=2)"),
    )

    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert lines[0] == [f"{'runid':<22}", "all", "b.run"]
    assert [f"{'ndcg_cut_10':<22}", "q1", "1.0000"] in lines
    assert [f"{'num_rel':<22}", "all", "3"] in lines
    assert [f"{'AP(rel=2)':<22}", "all", "0.6667"] in lines


def test_missing_queries_can_be_left_out(files, benchwright):
    done = benchwright(
        "score", "qrels.txt", "a.run", "-m", "RR", "--missing", "skip", "--format", "tsv"
    )

    assert list(values(done.stdout).values()) == [0.5]


def test_query_answered_with_nothing_is_not_missing(files, benchwright):
    (files / "answered.txt").write_text("q1\nq2\nq3\n")

    done = benchwright(
        *("score", "qrels.txt", "a.run", "-m", "RR", "--missing", "skip"),
        *("--answered", "answered.txt"),
    )

    assert done.stdout.splitlines()[0] == "a.run: 3 queries, 0 missing, 1 extra"
    assert "0.3333" in done.stdout


def test_answered_query_without_a_passage_is_not_missing(files, benchwright):
    (files / "passages.run").write_text("q1 Q0 d1#1 1 9 t\n")
    (files / "answered.txt").write_text("q2\n")

    done = benchwright(
        *("score", "qrels.txt", "passages.run", "--aggregate", "maxp", "-m", "RR"),
        *("--answered", "answered.txt"),
    )

    assert done.stdout.splitlines()[0] == "passages.run: 3 queries, 1 missing, 0 extra"


def test_files_of_other_formats_are_scored_as_well(files, benchwright):
    (files / "run.json").write_text('{"q1": {"d1": 3.0, "d9": 2.0, "d2": 1.0}, "q3": {"d6": 1}}')
    (files / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t3\nq1\td2\t1\nq1\td3\t0\nq2\td4\t2\nq3\td6\t0\n"
    )

    done = benchwright("score", "test.tsv", "run.json", "-m", "nDCG@10", "--format", "tsv")

    assert list(values(done.stdout).values()) == [NDCG / 3]


def test_relevance_level_applies_to_measures_that_do_not_name_one(files, benchwright):
    done = benchwright(
        *("score", "qrels.txt", "b.run", "--rel", "2", "--format", "tsv"),
        *("-m", "P@2", "-m", "P(rel=3)@2", "-m", "nDCG@10"),
    )

    results = {key[3]: value for key, value in values(done.stdout).items()}
    assert results["P(rel=2)@2"] == pytest.approx(1 / 3)
    assert results["P(rel=3)@2"] == pytest.approx(1 / 6)
    assert "nDCG@10" in results


def test_passages_are_scored_as_their_documents(files, benchwright):
    (files / "passages.run").write_text(
        "q1 Q0 p2 1 9 t\nq1 Q0 x1 2 5 t\nq1 Q0 p1 3 1 t\nq3 Q0 x1 1 1 t\n"
    )
    (files / "parents.tsv").write_text("passage-id\tdocument-id\np1\td1\np2\td1\nx1\td2\n")
    asked = ["score", "qrels.txt", "passages.run", "--parents", "parents.tsv", "-m", "nDCG@10"]

    best = benchwright(*asked, "--format", "tsv")
    first = benchwright(*asked, "--format", "tsv", "--aggregate", "firstp")

    assert list(values(best.stdout).values()) == [pytest.approx(1 / 3)]
    reversed_order = (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    assert list(values(first.stdout).values()) == [pytest.approx(reversed_order / 3)]


def test_passages_without_a_document_are_refused(files, benchwright):
    (files / "parents.tsv").write_text("d1\tD\n")

    done = benchwright("score", "qrels.txt", "a.run", "--parents", "parents.tsv")

    assert done.exit_code == 1
    assert "a.run:2: passage 'd9' has no document" in done.stderr


@pytest.mark.parametrize("content", [RUN.encode(), gzip.compress(RUN.encode(), mtime=0)])
def test_standard_input_stands_for_a_file(files, content):
    (files / "piped").write_bytes(content)

    with (files / "piped").open("rb") as piped:
        done = in_process("score", "qrels.txt", "-", "-m", "RR", stdin=piped)

    assert done.stdout.splitlines()[0] == "-: 3 queries, 1 missing, 1 extra"


def test_standard_input_is_read_once(files, benchwright):
    done = benchwright("score", "-", "-")

    assert done.exit_code == 2
    assert "'-' is named twice" in done.stderr


def test_json_is_the_result_and_holds_queries_when_asked(files, benchwright):
    asked = ("score", "qrels.txt", "a.run", "-m", "Judged@10", "--format", "json")

    short, long = (json.loads(benchwright(*asked, *more).stdout) for more in ((), ["--per-query"]))

    assert long["runs"][0]["per_query"]["q2"] == {"Judged@10": None}
    assert "per_query" not in short["runs"][0]
    assert short["runs"][0]["means"] == long["runs"][0]["means"]


def test_same_names_in_two_folders_are_told_apart(files, benchwright):
    (files / "other").mkdir()
    (files / "other" / "a.run").write_text(BETTER)

    done = benchwright("score", "qrels.txt", "a.run", "other/a.run", "-m", "RR")

    assert [line.split()[0] for line in done.stdout.splitlines()] == ["run", "a.run", "other/a.run"]


def test_warnings_go_to_standard_error(files, benchwright):
    (files / "a.run").write_text("\ufeff" + RUN)

    done = benchwright("score", "qrels.txt", "a.run", "-m", "RR")

    assert done.stderr == (
        "Warning: a.run:1: begins with a byte order mark; expected none. "
        "It was left out: remove it.\n"
    )
    assert "0.3333" in done.stdout


def test_run_without_any_document_of_the_qrels_is_told(files, benchwright):
    (files / "a.run").write_text(RUN.replace(" d", " D#"))

    done = benchwright("score", "qrels.txt", "a.run")

    assert done.exit_code == 0
    assert "a.run: no result is a document of the qrels" in done.stderr
    assert "--aggregate" in done.stderr


def test_empty_run_is_scored_only_when_asked_for(files, benchwright):
    (files / "empty.run").write_text("")
    asked = ("score", "qrels.txt", "empty.run", "-m", "RR")

    refused, scored = benchwright(*asked), benchwright(*asked, "--allow-empty")

    assert (refused.exit_code, scored.exit_code) == (1, 0)
    assert refused.stderr.startswith("Error: empty.run: The run holds no result")
    assert "0.0000" in scored.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-m", "nDCG@ten"], "cutoff is 'ten'; expected a whole number"),
        (["-m", "nope"], "'nope' is no measure we know"),
        (["--ties", "luck"], "'luck' is not one of"),
        (["--rel", "0"], "0 is not in the range"),
        (["a.run"], "A run is named twice"),
        (["--slices", "a.run", "--format", "trec_eval"], "no place for slices"),
        (["--nope"], "No such option"),
    ],
)
def test_wrong_command_line_is_a_usage_error(files, benchwright, arguments, words):
    done = benchwright("score", "qrels.txt", "a.run", *arguments)

    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stdout == ""


WEIGHTS = "query-id\tweight\nq1\t6\nq2\t3\nq3\t1\n"


def test_weighted_means_stand_beside_the_plain_ones_and_are_named_so(files, benchwright):
    (files / "weights.tsv").write_text(WEIGHTS)

    done = benchwright(
        "score", "qrels.txt", "a.run", "--weights", "weights.tsv", "-m", "nDCG@10", "-m", "NumRet"
    )

    assert done.stdout.splitlines()[2:] == [
        f"nDCG@10             {NDCG / 3:.4f}    83 %        3",
        f"nDCG@10 (weighted)  {NDCG * 6 / 10:.4f}                3",
        "NumRet                   4                3",
    ]


def test_weighted_means_of_runs_and_slices_are_columns(files, benchwright):
    (files / "weights.tsv").write_text(WEIGHTS)
    (files / "slices.tsv").write_text("q1\thead\nq3\ttail\n")

    done = benchwright(
        *("score", "qrels.txt", "a.run", "b.run", "--weights", "weights.tsv"),
        *("--slices", "slices.tsv", "-m", "RR", "--ci", "--format", "tsv"),
    )

    result = table(done.stdout)
    assert float(result["b.run", "all", "all", "RR (weighted)"]["value"]) == 0.9
    assert float(result["b.run", "head", "all", "RR (weighted)"]["value"]) == 1.0
    assert result["a.run", "all", "all", "RR (weighted)"]["low"]
    grid = benchwright(
        *("score", "qrels.txt", "a.run", "b.run", "--weights", "weights.tsv", "-m", "RR"),
    ).stdout.splitlines()
    assert "RR (weighted)" in grid[0]
    assert grid[2].split()[-1] == "0.9000"


def test_weighted_means_are_in_the_result_and_verified(files, benchwright):
    (files / "weights.tsv").write_text(WEIGHTS)
    benchwright(
        "score", "qrels.txt", "b.run", "--weights", "weights.tsv", "-m", "RR", "-o", "b.json"
    )

    result = json.loads((files / "b.json").read_text())

    assert result["runs"][0]["weighted"]["all"]["means"] == {"RR (weighted)": 0.9}
    assert benchwright("verify", "b.json").exit_code == 0
    (files / "weights.tsv").write_text(WEIGHTS.replace("6", "5"))
    changed = benchwright("verify", "b.json")
    assert changed.exit_code == 1
    assert "RR (weighted)" in changed.output


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("q1\tmany\n", "weights.tsv: the weight of query 'q1' is 'many'; expected a number above"),
        ("q1\t0\n", "weights.tsv: the weight of query 'q1' is '0'; expected a number above 0"),
        ("q1\t1\nq1\t2\n", "weights.tsv:2: query 'q1' was in line 1 already"),
        ("q1\n", "weights.tsv:1: 1 column; expected 2 (query-id, weight)"),
        ("other\t3\n", "None of the 3 scored queries has a weight"),
    ],
)
def test_weights_that_are_none_are_refused(files, benchwright, content, words):
    (files / "weights.tsv").write_text(content)

    done = benchwright("score", "qrels.txt", "a.run", "--weights", "weights.tsv")

    assert done.exit_code == 1
    assert words in done.stderr


def test_queries_without_weight_are_told(files, benchwright):
    (files / "weights.tsv").write_text("q1\t6\nq3\t1\n")

    done = benchwright("score", "qrels.txt", "b.run", "--weights", "weights.tsv", "-m", "RR")

    assert "1 of 3 queries have no weight. They are not in the weighted means." in done.stderr


def test_trec_evals_output_has_no_place_for_weights(files, benchwright):
    (files / "weights.tsv").write_text(WEIGHTS)

    done = benchwright(
        "score", "qrels.txt", "a.run", "--weights", "weights.tsv", "--format", "trec_eval"
    )

    assert done.exit_code == 2
    assert "no place for slices, weights or intervals" in done.stderr


def test_unlisted_documents_can_be_known_not_to_be_relevant(files, benchwright):
    asked = ("score", "qrels.txt", "a.run", "-m", "nDCG@10", "-m", "Judged@10", "-m", "bpref")
    rule = ("--unlisted", "not-relevant")

    unknown = values(benchwright(*asked, "--format", "tsv").stdout)
    complete = values(benchwright(*asked, *rule, "--format", "tsv").stdout)

    every = ("a.run", "all", "all")
    assert unknown[(*every, "Judged@10")] == (2 / 3 + 1) / 2
    assert complete[(*every, "Judged@10")] == 1
    assert complete[(*every, "nDCG@10")] == unknown[(*every, "nDCG@10")]


def test_rule_for_unlisted_documents_stands_in_the_result_and_verify_keeps_it(files, benchwright):
    rule = ("--unlisted", "not-relevant")
    benchwright("score", "qrels.txt", "a.run", "-m", "Judged@10", *rule, "-o", "kept.json")

    done = benchwright("verify", "kept.json")

    assert json.loads((files / "kept.json").read_text())["rules"]["unlisted"] == "not-relevant"
    assert done.exit_code == 0, done.output


def test_measures_by_subtopic_are_scored_on_qrels_that_have_subtopics(files, benchwright):
    (files / "by.qrels").write_text("q1 1 d1 1\nq1 2 d2 1\n")
    chosen = ("--subtopic-measure", "StRecall@1", "--format", "tsv")

    done = benchwright("score", "by.qrels", "a.run", *chosen)

    assert done.exit_code == 0
    head, row = (line.split("\t") for line in done.stdout.splitlines())
    assert dict(zip(head, row, strict=True)) == {
        "run": "a.run",
        "slice": "all",
        "query": "all",
        "measure": "StRecall@1",
        "value": "0.5",
        "low": "",
        "high": "",
        "judged_share": "1.0",
        "queries": "1",
        "missing": "0",
        "extra": "2",
        "undefined": "0",
    }


def test_measures_by_subtopic_have_slices_intervals_weights_and_results(files, benchwright):
    (files / "by.qrels").write_text("q1 1 d1 1\nq1 2 d2 1\nq2 1 d1 1\nq3 1 d9 1\nq4 1 d1 0\n")
    (files / "s.tsv").write_text("q1\tfirst\nq2\tfirst\nq3\tlast\n")
    (files / "w.tsv").write_text("q1\t3\nq2\t1\nq3\t1\n")
    chosen = ("--subtopic-measure", "STREC@1", "--ci", "--slices", "s.tsv", "--weights", "w.tsv")

    done = benchwright("score", "by.qrels", "a.run", *chosen, "--format", "json", "-o", "r.json")

    assert done.exit_code == 0, done.output
    (run,) = json.loads(done.stdout)["runs"]
    stored = json.loads((files / "r.json").read_text())["runs"][0]["per_query"]
    values = [stored[qid]["StRecall@1"] for qid in ("q1", "q2", "q3")]
    assert run["means"]["StRecall@1"] == pytest.approx(sum(values) / 3)
    assert run["slices"]["first"]["means"]["StRecall@1"] == pytest.approx(sum(values[:2]) / 2)
    weighted = run["weighted"]["all"]["means"]["StRecall@1 (weighted)"]
    assert weighted == pytest.approx((3 * values[0] + values[1] + values[2]) / 5)
    error = stdev(values) / 3**0.5
    expected = [max(0, mean(values) - 4.302653 * error), min(1, mean(values) + 4.302653 * error)]
    assert run["intervals"]["all"]["StRecall@1"] == pytest.approx(expected, abs=1e-6)
    assert benchwright("verify", "r.json").exit_code == 0


def test_runs_of_one_name_are_told_apart_by_subtopic_as_well(files, benchwright):
    (files / "by.qrels").write_text("q1 1 d1 1\n")
    (files / "other").mkdir()
    (files / "other" / "a.run").write_text("q1 Q0 d1 1 2.0 r\n")
    chosen = ("--subtopic-measure", "NRBP", "--format", "tsv")

    done = benchwright("score", "by.qrels", "a.run", "other/a.run", *chosen)

    names = [line.split("\t")[0] for line in done.stdout.splitlines()[1:]]
    assert len(set(names)) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--subtopic-measure", "nDCG@10"), "alpha_nDCG"),
        (("--subtopic-measure", "NRBP", "--unjudged"), "does not go with -m, --unjudged"),
        (("--subtopic-measure", "NRBP", "-m", "AP"), "does not go with -m"),
        (("--subtopic-measure", "NRBP", "--ties", "expected"), "needs an order"),
        (("-m", "alpha_nDCG@20"), "needs qrels by subtopic"),
    ],
)
def test_measures_by_subtopic_are_refused_where_they_cannot_be(files, benchwright, words, message):
    (files / "by.qrels").write_text("q1 1 d1 1\n")

    done = benchwright("score", "by.qrels", "a.run", *words)

    assert done.exit_code == 2
    assert message in done.stderr

"""`benchwright check`: every problem by line, a summary, and an exit code."""

import json

from tests.benchwright.cli.conftest import RUN


def test_clean_files_end_with_0_and_say_what_they_hold(files, benchwright):
    done = benchwright("check", "qrels.txt", "a.run")

    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "qrels.txt: qrels, 0 problems, 0 warnings",
        "  queries: 3",
        "  rows: 5",
        "  documents per query: 1 to 3, median 1",
        "  grades: 0 (2), 1 (1), 2 (1), 3 (1)",
        "  queries without relevant: 1",
        "a.run: run, 0 problems, 0 warnings",
        "  queries: 3",
        "  rows: 5",
        "  results per query: 1 to 3, median 1",
        "  tied rows: 0",
        "  queries with ties: 0",
        "  tied rows at 32 bits: 0",
        "  queries not in score order: 0",
        "  in blocks of queries: yes",
        "  tags: tag",
    ]


def test_problems_end_with_1_and_stand_by_line(files, benchwright):
    (files / "bad.run").write_text(RUN + "q1 Q0 d1 9 0 tag\nq1 Q0 d5 9 high tag\n")

    done = benchwright("check", "bad.run", "a.run")

    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("bad.run:6: document 'd1' of query 'q1' was in line 1 already")
    assert lines[1].startswith("bad.run:7: score is 'high'; expected a number.")
    assert lines[2] == "bad.run: run, 2 problems, 0 warnings"


def test_path_stands_before_the_line_as_it_was_given(files, benchwright):
    (files / "runs").mkdir()
    (files / "runs" / "bad").write_text("q Q0 d 1 x t\n")

    done = benchwright("check", "runs/bad", "--kind", "run")

    assert done.stdout.startswith("runs/bad:1: score is 'x'")


def test_warnings_count_only_when_strict(files, benchwright):
    (files / "a.run").write_text("\ufeff" + RUN)

    loose, strict = benchwright("check", "a.run"), benchwright("check", "a.run", "--strict")

    assert (loose.exit_code, strict.exit_code) == (0, 1)
    assert loose.stdout.splitlines()[0].startswith("a.run:1: warning: begins with a byte order")


def test_limit_stops_a_file_and_says_so(files, benchwright):
    (files / "bad.run").write_text("q Q0 d 1 x t\n" * 9)

    done = benchwright("check", "bad.run", "--limit", "3")

    assert done.exit_code == 1
    assert done.stdout.splitlines()[3:] == [
        "bad.run: stopped after 3 problems.",
        "bad.run: run, 3 problems, 0 warnings",
    ]


def test_json_holds_the_same(files, benchwright):
    (files / "bad.run").write_text("q Q0 d 1 x t\nq Q0 e 1 1 t\n")

    done = benchwright("check", "bad.run", "--format", "json")

    (file,) = json.loads(done.stdout)["files"]
    assert done.exit_code == 1
    assert (file["file"], file["kind"], file["holds"]["rows"]) == ("bad.run", "run", 1)
    assert [(problem["line"], problem["file"]) for problem in file["problems"]] == [(1, "bad.run")]


def test_folder_of_a_benchmark_is_checked_whole(files, benchwright):
    (files / "bench" / "qrels").mkdir(parents=True)
    (files / "bench" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    (files / "bench" / "corpus.jsonl").write_text('{"_id": "d", "title": "", "text": "x"}\n')
    (files / "bench" / "queries.jsonl").write_text('{"_id": "q", "text": "x"}\n')

    done = benchwright("check", "bench")

    assert done.exit_code == 0
    assert "  split test:" in done.stdout.splitlines()

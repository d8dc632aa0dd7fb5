"""`benchwright judge` against a stub of the protocol, and `benchwright calibrate` on its grades."""

import json

import pytest

from benchwright.grading import GradingPrompt
from tests.judge_stub import JudgeStub

PAIRS = [
    {"query_id": "q1", "document_id": "d1", "query": "Who?", "document": "useful useful useful"},
    {"query_id": "q1", "document_id": "d2", "query": "Who?", "document": "useful"},
    {"query_id": "q2", "document_id": "d1", "query": "Where?", "document": "bread"},
]


@pytest.fixture
def stub(monkeypatch):
    monkeypatch.setenv("BENCHWRIGHT_JUDGE_KEY", "sk-judge")
    with JudgeStub(key="sk-judge") as stub:
        yield stub


@pytest.fixture
def judge(files, stub, benchwright):
    """`judge(*options)`: the command on pairs.jsonl, asking the stub."""
    (files / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in PAIRS))

    def run(*options):
        at = ("--judge", f"{stub.url}/some/model", "--attempts", "1")
        return benchwright("judge", "pairs.jsonl", *at, *options)

    return run


def test_grades_are_counted_and_written(judge, files, stub):
    done = judge(
        *("--qrels", "m.qrels", "-o", "all.jsonl", "--price-in", "1", "--price-out", "2"),
    )

    assert done.exit_code == 0, done.output
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [
        ["0", "Unrelated"],
        ["1", "Related"],
        ["2", "Partial"],
        ["3", "Exact"],
    ]
    assert (files / "m.qrels").read_text() == "q1 0 d1 3\nq1 0 d2 1\nq2 0 d1 0\n"
    rows = [json.loads(line) for line in (files / "all.jsonl").read_text().splitlines()]
    assert {row["prompt_hash"] for row in rows} == {GradingPrompt().hash}
    assert {row["model"] for row in rows} == {"some/model-2026-01-01"}
    assert "3 requests;" in done.stderr
    assert "cost 0.00" in done.stderr
    assert GradingPrompt().hash[:12] in done.stderr
    assert stub.requests[0].body["model"] == "some/model"


def test_second_time_nobody_is_asked(judge, stub):
    judge("--cache", "c.jsonl")
    again = json.loads(judge("--cache", "c.jsonl", "--format", "json").stdout)

    assert len(stub.requests) == 3
    assert again["counts"] == {"0": 1, "1": 1, "2": 0, "3": 1}
    assert again["cost"] == 0
    assert all(row["is_cached"] for row in again["gradings"])
    assert "{document}" in again["prompt"]


def test_own_words_and_scale_are_asked(judge, files, stub):
    (files / "scale.txt").write_text("0 = No\n1 = Yes: it helps *\n")
    (files / "guide.md").write_text("Recipes count.")
    (files / "ask.txt").write_text("{guideline} By {scale}: {query} and {document}")

    done = judge(
        *("--scale", "scale.txt", "--guideline", "guide.md", "--template", "ask.txt"),
        *("--answer-seed", "4", "--probabilities", "--max-characters", "100", "--format", "json"),
    )

    report = json.loads(done.stdout)
    assert report["counts"] == {"0": 1, "1": 2}
    assert stub.requests[0].text.startswith("Recipes count. By 0 = No\n1 = Yes: it helps: ")
    assert stub.requests[0].body["seed"] == 4
    assert sum(report["gradings"][0]["probabilities"].values()) == pytest.approx(1)


def test_pair_that_fails_is_named_and_ends_with_one(judge, files, stub):
    stub.always_fault("Where?", "out-of-scale")

    done = judge("--qrels", "m.qrels")

    assert done.exit_code == 1
    assert "q2 d1: The judge's answer was not usable, twice: the grade is 10" in done.stderr
    assert (files / "m.qrels").read_text().count("\n") == 2


def test_dry_run_asks_nobody(judge, stub):
    done = judge("--dry-run", "--price-in", "1", "--price-out", "2")

    assert stub.requests == []
    assert "3 questions: about" in done.stdout
    assert "Cost: 0.00" in done.stdout
    assert json.loads(judge("--dry-run", "--format", "json").stdout)["cost"] is None


def test_dry_run_makes_no_cache(judge, files):
    judge("--dry-run", "--cache", "c.jsonl")

    assert not (files / "c.jsonl").exists()


def test_id_that_qrels_cannot_hold_is_refused_before_anybody_is_asked(judge, files, stub):
    row = {**PAIRS[0], "document_id": "d 1"}
    (files / "pairs.jsonl").write_text(f"{json.dumps(row)}\n")

    done = judge("--qrels", "m.qrels")

    assert (done.exit_code, stub.requests) == (2, [])
    assert "the id 'd 1' has a space" in done.stderr
    assert judge().exit_code == 0


def test_money_ends_it_and_says_how_to_go_on(judge, stub):
    prices = ("--price-in", "1000000", "--price-out", "1000000", "--concurrency", "1")

    done = judge("--cost-cap", "0.5", *prices)

    assert done.exit_code == 1
    assert len(stub.requests) == 1
    assert "2 pairs were not begun. With --cache the same command goes on" in done.stderr
    assert "the judge has no prices" in judge("--cost-cap", "0.5").stderr


def test_wrong_template_and_wrong_line_are_told(judge, files):
    (files / "ask.txt").write_text("{query} {answer}")
    assert "a slot {answer}" in judge("--template", "ask.txt").stderr
    (files / "ask.txt").write_bytes(b"{query} \xe4 {document}")
    assert "is not UTF-8" in judge("--template", "ask.txt").stderr
    (files / "pairs.jsonl").write_text('{"query": "x"}\n')
    assert "pairs.jsonl:1: 'document' is not there" in judge().stderr


# --- calibrate -----------------------------------------------------------------------------------


@pytest.fixture
def graded(files):
    """Qrels of people, of a machine and of a second person, four runs, families and slices."""
    people, machine, second, runs = [], [], [], [[] for _ in range(4)]
    for query in range(24):
        for document in range(9):
            grade = (query + document) % 4
            people.append(f"q{query} 0 d{document} {grade}")
            machine.append(f"q{query} 0 d{document} {min(grade + (document % 3 == 0), 3)}")
            second.append(f"q{query} 0 d{document} {(grade + (document == 4)) % 4}")
            for at, run in enumerate(runs):
                run.append(f"q{query} Q0 d{document} 1 {(document * (at + 2)) % 9} r{at}")
    for name, lines in (("people", people), ("machine", machine), ("second", second)):
        (files / f"{name}.qrels").write_text("\n".join(lines) + "\n")
    for at, run in enumerate(runs):
        (files / f"r{at}.run").write_text("\n".join(run) + "\n")
    (files / "families.tsv").write_text("".join(f"q{q}\tf{q // 2}\n" for q in range(24)))
    (files / "slices.tsv").write_text("".join(f"q{q}\thead\n" for q in range(12)))
    return files


RUNS = [f"r{at}.run" for at in range(4)]
TABLES = [
    "Agreement with people",
    "How often people's grade met the machine's",
    "What its grades mean in people's",
    "Bias by people's grade",
    "Bias by slice",
    "Runs by P@3, of people and of the machine",
]


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_calibration_has_a_verdict_and_its_tables(graded, benchwright, form):
    done = benchwright(
        *("calibrate", "people.qrels", "machine.qrels", *RUNS, "-m", "P@3"),
        *("--slices", "slices.tsv", "--others", "second.qrels", "--format", form),
    )

    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Quadratic kappa with people is 0.9")
    assert "two people come to 0." in done.stdout
    assert "It grades 0.25 higher than people." in done.stdout
    assert [title for title in TABLES if title not in done.stdout] == []


def test_calibration_in_json_has_every_digit(graded, benchwright):
    done = benchwright(
        *("calibrate", "people.qrels", "machine.qrels", *RUNS, "--families", "families.tsv"),
        *("--rel", "2", "--same-model", "r1.run", "--format", "json"),
    )

    report = json.loads(done.stdout)
    assert report["n_families"] == 12
    assert report["relevant_from"] == 2
    assert report["bias"]["mean"] == pytest.approx(54 / 216)
    assert [row["is_of_same_model"] for row in report["trust"]["systems"]] == [
        False,
        True,
        False,
        False,
    ]
    assert "is tested from 4 systems and 20 families on" in report["trust"]["too_few"]
    assert "It favours r1.run" in report["verdict"]


@pytest.mark.parametrize(
    ("name", "rel", "scored"),
    [
        ("P@3", 2, "P(rel=2)@3"),
        ("P(rel=1)@3", 2, "P@3"),
        ("precision_at_3", 1, "P@3"),
        ("ERR@3", 1, "ERR@3"),
    ],
)
def test_runs_are_valued_as_score_values_them(graded, benchwright, name, rel, scored):
    machine = (graded / "machine.qrels").read_text()
    (graded / "machine.qrels").write_text(machine.replace(" 3\n", " 2\n"))

    done = benchwright(
        *("calibrate", "people.qrels", "machine.qrels", *RUNS, "-m", name),
        *("--rel", str(rel), "--format", "json"),
    )

    report = json.loads(done.stdout)
    row = report["trust"]["systems"][0]
    means = []
    for qrels in ("people.qrels", "machine.qrels"):
        options = ("-m", scored, "--top-grade", "3", "--format", "json")
        card = json.loads(benchwright("score", qrels, "r0.run", *options).stdout)
        means.append(card["runs"][0]["means"][scored])
    assert (report["measure"], row["people"], row["machine"]) == (
        scored,
        pytest.approx(means[0]),
        pytest.approx(means[1]),
    )


def test_grades_that_people_did_not_give_count_where_the_scale_has_them(graded, benchwright):
    people = (graded / "people.qrels").read_text()
    (graded / "people.qrels").write_text(people.replace(" 1\n", " 2\n"))
    (graded / "scale.txt").write_text("0 = No\n1 = A little\n2 = Some *\n3 = All *\n")
    asked = ("calibrate", "people.qrels", "machine.qrels", "--format", "json")

    bare, told = (
        json.loads(benchwright(*asked, *more).stdout) for more in ((), ("--scale", "scale.txt"))
    )

    assert (bare["scale"], told["scale"]) == ([0, 2, 3], [0, 1, 2, 3])
    assert bare["n_invalid"] > 0
    assert (told["n_invalid"], told["n_pairs"]) == (0, bare["n_pairs"] + bare["n_invalid"])


def test_too_few_pairs_are_said_first(graded, benchwright):
    lines = (graded / "people.qrels").read_text().splitlines()[:50]
    (graded / "people.qrels").write_text("\n".join(lines) + "\n")

    done = benchwright("calibrate", "people.qrels", "machine.qrels")

    assert done.stdout.startswith("Too few for a verdict: 50 pairs of 6 queries")
    assert "Grade 150 more pairs and pairs of 14 more queries." in done.stdout


@pytest.mark.parametrize("option", ["--families", "--slices"])
def test_queries_that_nobody_graded_are_warned_of(graded, benchwright, option):
    (graded / "beside.tsv").write_text("q1\tone\nq2\tone\nquestion\tone\n")

    done = benchwright("calibrate", "people.qrels", "machine.qrels", option, "beside.tsv")

    words = "beside.tsv: 1 query is not in the qrels and was passed over: 'question'"
    assert (done.exit_code, words in done.stderr) == (0, True), done.stderr


def test_what_cannot_be_calibrated_is_refused(graded, benchwright):
    (graded / "other.qrels").write_text("x 0 y 1\n")

    assert "none in common" in benchwright("calibrate", "people.qrels", "other.qrels").stderr
    wrong = benchwright("calibrate", "people.qrels", "machine.qrels", *RUNS, "--same-model", "r9")
    assert (wrong.exit_code, "no such run; expected r0.run" in wrong.stderr) == (2, True)
    twice = benchwright("calibrate", "-", "machine.qrels", "--others", "-")
    assert (twice.exit_code, "'-' is named twice" in twice.stderr) == (2, True)
    two = benchwright("calibrate", "people.qrels", "machine.qrels", *RUNS, "-m", "nDCG@10 P@3")
    assert (two.exit_code, "stands for 2 measures; expected one" in two.stderr) == (1, True)

"""`benchwright gate`: verdicts as exit codes, reports, policies, what is wrong with them."""

import json
import random
from xml.etree import ElementTree

import pytest

from tests.benchwright.cli.conftest import in_process

N = 60


def graded(share=1.0, seed=0):
    rng = random.Random(seed)
    lines = [f"q{n} 0 d{rank} {int(rank == 0)}" for n in range(N) for rank in range(10)]
    return "\n".join(line for line in lines if rng.random() < share or line.endswith(" 1")) + "\n"


def run_with(rank_of, depth=10, queries=range(N)):
    """A run that puts the relevant document of query n at rank `rank_of(n)`, from 0."""
    lines = []
    for n in queries:
        order = [f"d{place}" for place in range(1, 10)]
        order.insert(rank_of(n), "d0")
        lines += [f"q{n} Q0 {docid} {i} {100 - i} t" for i, docid in enumerate(order[:depth], 1)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def gated(files):
    contents = {
        "qrels": graded(),
        "some": graded(0.5),
        "old": run_with(lambda n: 2 + n % 2),
        "new": run_with(lambda n: n % 2),
        "same": run_with(lambda n: 2 + n % 2) + "q-other Q0 d 1 1 t\n",
        "mixed": run_with(lambda n: 0 if n < 30 else 5),
        "noisy": run_with(lambda n: (2 + n % 2, 1 + n % 2, 3 + n % 2)[n % 3]),
        "few": run_with(lambda n: n % 2, queries=range(N - 3)),
        "short": run_with(lambda n: n % 2, depth=4),
        "slices.tsv": "".join(f"q{n}\t{'head' if n < 30 else 'tail'}\n" for n in range(N)),
        "small.tsv": "".join(f"q{n}\ttiny\n" for n in range(5)),
        "families.tsv": "".join(f"q{n}\tf{n // 2}\n" for n in range(N)),
    }
    for name, content in contents.items():
        (files / name).write_text(content)
    return files


@pytest.mark.parametrize(
    ("arguments", "code", "title"),
    [
        (("qrels", "old", "new"), 0, "PASS: "),
        (("qrels", "old", "new", "--slices", "slices.tsv"), 0, "PASS-STRICT: "),
        (("qrels", "old", "same", "--goal", "not-worse"), 0, "PASS: "),
        (("qrels", "old", "same"), 12, "INCONCLUSIVE: "),
        (("qrels", "new", "old"), 11, "BLOCK: "),
        (("qrels", "old", "mixed", "--slices", "slices.tsv"), 11, "BLOCK: "),
        (("some", "old", "new"), 13, "NOT COMPARABLE: "),
        (("some", "old", "new", "--unlisted", "not-relevant"), 0, "PASS: "),
        (("qrels", "old", "few"), 13, "NOT COMPARABLE: "),
        (("qrels", "old", "short"), 13, "NOT COMPARABLE: "),
    ],
)
def test_the_verdict_is_the_exit_code(gated, benchwright, arguments, code, title):
    done = benchwright("gate", *arguments)

    assert done.exit_code == code, done.output
    assert done.stdout.startswith(title)


def test_a_rehearsal_is_kept_beside_the_policy_and_shown_with_its_verdict(gated, benchwright):
    (gated / "p.json").write_text('{"guard_rails": {"measures": []}}')
    result = benchwright("gate", "--rehearse", "qrels", "old", "noisy", "--policy", "p.json")
    assert result.exit_code == 0, result.output
    assert "harm to a tenth of the queries" in result.stdout
    kept = json.loads((gated / "p.rehearsal.json").read_text())
    assert [run["run"] for run in kept["runs"]] == ["noisy"]

    reports = ("--report", "g.json", "--report", "g.md", "--report", "g.xml")
    done = benchwright("gate", "qrels", "old", "new", "--policy", "p.json", *reports)
    assert done.exit_code == 0
    assert "Before the policy was frozen, old was held against noisy" in done.stdout
    assert json.loads((gated / "g.json").read_text())["rehearsal"] == kept
    for name in ("g.md", "g.xml"):
        assert "harm to a tenth of the queries" in (gated / name).read_text()
        assert "a tenth of these queries lost 0.4" in (gated / name).read_text()


def test_a_candidate_that_was_rehearsed_with_is_held_back(gated, benchwright):
    (gated / "p.json").write_text('{"guard_rails": {"measures": []}}')
    benchwright("gate", "--rehearse", "qrels", "old", "new", "--policy", "p.json")

    done = benchwright("gate", "qrels", "old", "new", "--policy", "p.json")

    assert done.exit_code == 10
    assert "Policy before candidate (flagged)" in done.stdout


@pytest.mark.parametrize("lost", ["files", "rows", "policy_sha256"])
def test_a_rehearsal_that_was_cut_is_refused(gated, benchwright, lost):
    (gated / "p.json").write_text('{"guard_rails": {"measures": []}}')
    benchwright("gate", "--rehearse", "qrels", "old", "noisy", "--policy", "p.json")
    kept = json.loads((gated / "p.rehearsal.json").read_text())
    del kept[lost]
    (gated / "p.rehearsal.json").write_text(json.dumps(kept))

    done = benchwright("gate", "qrels", "old", "new", "--policy", "p.json")

    assert "p.rehearsal.json is no rehearsal" in done.stderr


def test_a_rehearsal_of_another_policy_is_not_shown(gated, benchwright):
    (gated / "p.json").write_text('{"guard_rails": {"measures": []}}')
    benchwright("gate", "--rehearse", "qrels", "old", "noisy", "--policy", "p.json")
    (gated / "p.json").write_text('{"guard_rails": {"measures": []}, "margin": 0.03}')

    done = benchwright("gate", "qrels", "old", "new", "--policy", "p.json")

    assert "p.rehearsal.json is of another policy and is not shown." in done.stderr
    assert "Before the policy was frozen" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("qrels", "old"), "2 files are named; --rehearse expects QRELS BASELINE RUN"),
        (("qrels", "old", "new", "--report", "x.md"), "--report is of a verdict"),
    ],
)
def test_what_a_rehearsal_needs_is_said(gated, benchwright, arguments, words):
    done = benchwright("gate", "--rehearse", *arguments)

    assert done.exit_code == 2
    assert words in done.stderr


def test_a_file_from_before_the_rule_keeps_the_hard_limit_and_its_digest(gated, benchwright):
    (gated / "p.json").write_text("{}")
    rows = {}
    for name, more in (("unsaid", ("--policy", "p.json")), ("default", ())):
        benchwright("gate", "qrels", "old", "new", *more, "--report", "r.json")
        report = json.loads((gated / "r.json").read_text())
        rows[name] = (report["policy_sha256"][:8], report["policy"]["guard_rails"]["worst_rule"])

    assert rows["unsaid"] == ("7dbf4419", "share")
    assert rows["default"][1] == "tested"


def test_an_improvement_too_small_to_count_is_held_back(gated, benchwright):
    (gated / "p.json").write_text('{"delta_min": 0.9}')
    done = benchwright("gate", "qrels", "old", "new", "--policy", "p.json")

    assert done.exit_code == 10
    assert "it improves, but by less than the 0.9 that count" in done.stdout


def test_only_verdicts_named_by_fail_on_fail(gated, benchwright):
    for named, code in (("block", 0), ("hold,not-comparable", 13), ("NOT_COMPARABLE".lower(), 13)):
        assert benchwright("gate", "some", "old", "new", "--fail-on", named).exit_code == code
    wrong = benchwright("gate", "some", "old", "new", "--fail-on", "blok")
    assert wrong.exit_code == 2
    assert "'blok' is no verdict that can fail" in wrong.stderr


def test_a_process_of_its_own_ends_with_the_verdict(gated):
    done = in_process("gate", "qrels", "new", "old", "--test", "t", cwd=gated)

    assert (done.returncode, done.stderr) == (11, "")


def test_an_arm_that_never_ran_is_an_error_and_no_verdict(gated, benchwright):
    (gated / "empty").write_text("")
    (gated / "other").write_text("x1 Q0 d 1 1 t\n")

    for candidate in ("empty", "other"):
        done = benchwright("gate", "qrels", "old", candidate)
        assert done.exit_code == 1
        assert candidate in done.stderr
    assert benchwright("gate", "qrels", "old", "nowhere").exit_code == 2
    assert benchwright("gate", "qrels", "old").exit_code == 2


def test_a_score_that_is_no_number_is_an_error_with_its_line(gated, benchwright):
    (gated / "nan").write_text(run_with(lambda n: 0) + "q1 Q0 dx 11 nan t\n")
    done = benchwright("gate", "qrels", "old", "nan")

    assert done.exit_code == 1
    assert "nan:601" in done.stderr


def test_reports_are_written_in_the_format_of_their_ending(gated, benchwright):
    reports = ("--report", "r.md", "--report", "r.json", "--report", "r.xml")
    done = benchwright("gate", "qrels", "old", "new", "--slices", "slices.tsv", *reports)

    report = json.loads((gated / "r.json").read_text())
    assert done.exit_code == report["exit_code"] == 0
    assert report["provenance"]["runs"][1]["name"] == "new"
    assert (gated / "r.md").read_text().startswith("## PASS-STRICT: new\n")
    assert ElementTree.parse(gated / "r.xml").getroot().get("failures") == "0"


def test_a_report_of_no_known_format_is_refused_before_anything_is_read(gated, benchwright):
    done = benchwright("gate", "nothing", "old", "new", "--report", "r.pdf")

    assert done.exit_code == 2


@pytest.mark.parametrize("name", ["p.json", "./p.json", "p.rehearsal.json"])
def test_a_report_is_not_written_over_what_is_read(name, gated, benchwright):
    (gated / "p.json").write_text('{"goal": "not_worse"}')

    done = benchwright("gate", "qrels", "old", "new", "--policy", "p.json", "--report", name)

    assert done.exit_code == 2
    assert f"--report would overwrite {name.removeprefix('./')}, which is" in done.stderr
    assert (gated / "p.json").read_text() == '{"goal": "not_worse"}'


def test_documents_to_judge_are_listed_with_how_many_are_needed(gated, benchwright):
    done = benchwright("gate", "some", "old", "new", "--report", "r.json")

    wanted = json.loads((gated / "r.json").read_text())["wanted"]
    assert 0 < wanted["needed"] <= len(wanted["documents"])
    assert f"Judge {wanted['needed']} documents." in done.stdout
    judged = {tuple(line.split()[::2][:2]) for line in (gated / "some").read_text().splitlines()}
    assert not judged & {tuple(pair) for pair in wanted["documents"]}


def test_judging_what_was_asked_for_makes_the_runs_comparable(gated, benchwright):
    benchwright("gate", "some", "old", "new", "--report", "r.json")
    wanted = json.loads((gated / "r.json").read_text())["wanted"]
    more = [f"{q} 0 {d} 0\n" for q, d in wanted["documents"][: wanted["needed"]]]
    (gated / "some").write_text((gated / "some").read_text() + "".join(more))

    assert benchwright("gate", "some", "old", "new").exit_code == 0


def test_sparse_labels_are_compared_and_said_to_be_sparse(gated, benchwright):
    (gated / "p.json").write_text('{"labels": "sparse"}')
    done = benchwright("gate", "some", "old", "new", "--policy", "p.json")

    assert done.exit_code == 0
    assert "Labels are sparse" in done.stdout


def test_slices_that_the_policy_does_not_name_are_exploratory(gated, benchwright):
    (gated / "p.json").write_text('{"slices": ["head"]}')
    arguments = ("--policy", "p.json", "--slices", "slices.tsv", "--report", "r.json")
    done = benchwright("gate", "qrels", "old", "mixed", *arguments)

    checks = json.loads((gated / "r.json").read_text())["checks"]
    outcomes = {finding["name"]: finding["outcome"] for finding in checks[2]["findings"]}
    assert outcomes == {"head": "non-inferior", "tail": "exploratory"}
    assert "tail (regression)" not in done.stdout


def test_a_slice_that_the_file_lacks_is_an_error(gated, benchwright):
    (gated / "p.json").write_text('{"slices": ["tail"]}')
    done = benchwright("gate", "qrels", "old", "new", "--policy", "p.json", "--slices", "small.tsv")

    assert done.exit_code == 1
    assert "slice 'tail', which holds no graded query; expected one of tiny" in done.stderr


def test_a_policy_cannot_be_changed_by_an_option(gated, benchwright):
    (gated / "p.json").write_text('{"goal": "improve"}')
    done = benchwright("gate", "qrels", "old", "new", "--policy", "p.json", "--goal", "not-worse")

    assert done.exit_code == 2
    assert "A policy is what was said beforehand" in done.stderr


def test_families_make_bounds_wider(gated, benchwright):
    lower = []
    for more in ((), ("--families", "families.tsv")):
        benchwright("gate", "qrels", "old", "noisy", *more, "--report", "r.json", "--test", "t")
        report = json.loads((gated / "r.json").read_text())
        lower.append(report["checks"][1]["findings"][0]["numbers"]["n_families"])
    assert lower == [60, 30]


def test_the_lexical_run_guards_exact_matches(gated, benchwright):
    (gated / "p.json").write_text('{"guard_rails": {"exact_slice": "tail"}, "slices": []}')
    arguments = ("--policy", "p.json", "--slices", "slices.tsv")
    without = benchwright("gate", "qrels", "old", "new", *arguments)
    behind = benchwright("gate", "qrels", "old", "mixed", *arguments, "--lexical", "new")

    assert "There is no lexical run." in without.stdout
    assert "Against new on slice tail" in behind.stdout
    assert behind.exit_code == 11


def test_the_lexical_run_may_be_the_baseline(gated, benchwright):
    (gated / "p.json").write_text('{"guard_rails": {"exact_slice": "tail"}, "slices": []}')
    arguments = ("--policy", "p.json", "--slices", "slices.tsv", "--lexical", "old")
    done = benchwright("gate", "qrels", "old", "new", *arguments)
    rehearsed = benchwright("gate", "--rehearse", "qrels", "old", "mixed", *arguments)
    itself = benchwright("gate", "qrels", "old", "old", *arguments)

    assert "Against old on slice tail" in done.stdout
    assert done.exit_code == rehearsed.exit_code == 0
    assert (itself.exit_code, "A run is named twice" in itself.stderr) == (2, True)


def test_the_same_files_give_the_same_report(gated, benchwright):
    texts = []
    for _ in range(2):
        benchwright("gate", "qrels", "old", "new", "--report", "r.json")
        texts.append((gated / "r.json").read_bytes())

    assert texts[0] == texts[1]

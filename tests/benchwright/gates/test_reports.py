"""Reports in three formats, of every verdict; JUnit holds to a schema."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import xmlschema

from benchwright.errors import BenchmarkError
from benchwright.gates.deciding import Verdict
from benchwright.gates.evidence import Process, Wanted
from benchwright.gates.policy import GuardRails, Policy
from benchwright.gates.reports import WRITERS, check_suffix, written
from benchwright.gates.verdict import decide
from tests.benchwright.gates.making import T, evidence, policy, spread

SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "gate_junit.xsd")
HALF = np.arange(400) < 200
NASTY = "a|b*<i>\x00 &\n# x"


def result_of(mean, **more):
    result = more.pop("said", policy(slices=("head",)))
    return decide(result, evidence(spread(mean), slices={"head": HALF, NASTY: ~HALF}, **more), T)


RESULTS = {
    Verdict.PASS_STRICT: lambda: result_of(0.02),
    Verdict.PASS: lambda: result_of(0.02, said=Policy(guard_rails=GuardRails())),
    Verdict.HOLD: lambda: result_of(0.02, process=Process(seen_before_policy=True)),
    Verdict.BLOCK: lambda: result_of(-0.03),
    Verdict.INCONCLUSIVE: lambda: result_of(0.0),
    Verdict.NOT_COMPARABLE: lambda: result_of(
        0.02, judged=(1, 0.5), wanted=Wanted((("q|1", "d1"),) * 40, needed=34)
    ),
}


@pytest.fixture(params=list(Verdict), ids=str)
def result(request):
    decision = RESULTS[request.param]()
    assert decision.verdict == request.param
    return decision.as_dict()


def test_junit_is_valid_and_its_counts_are_true(result):
    text = written(result, ".xml")

    SCHEMA.validate(text)
    root = ElementTree.fromstring(text.encode())
    for kind, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
        assert int(root.get(kind)) == len(list(root.iter(tag)))
        for suite in root:
            assert int(suite.get(kind)) == len(list(suite.iter(tag)))


def test_junit_fails_exactly_where_the_gate_does(result):
    root = ElementTree.fromstring(written(result, ".xml").encode())

    has_passed = result["exit_code"] == 0
    assert (int(root.get("failures")) == 0) == has_passed
    assert (root.find("testsuite/testcase/failure") is None) == has_passed


def test_the_schema_refuses_what_is_no_junit(result):
    text = written(result, ".xml")

    for wrong in (
        text.replace("testcase", "case"),
        text.replace(' time="0"', ""),
        text.replace('errors="0"', 'errors="none"'),
    ):
        assert not SCHEMA.is_valid(wrong)


def test_json_holds_everything_and_no_nan(result):
    text = written(result, ".json")

    assert json.loads(text, parse_constant=pytest.fail) == json.loads(json.dumps(result))
    assert written(result, ".json") == text


def test_markdown_says_verdict_sentence_and_what_would_change_it(result):
    lines = written(result, ".md").splitlines()

    assert lines[0] == f"## {result['title']}: new"
    assert lines[2].startswith(result["sentence"][:40].replace("_", "\\_"))
    for change in result["changes"]:
        assert f"- {change}" in lines


def test_markdown_tables_have_as_many_cells_in_every_row(result):
    lines = written(result, ".md").splitlines()
    tables = [[]]
    for line in lines:
        if line.startswith("|"):
            tables[-1].append(line.replace("\\|", "").count("|"))
        elif tables[-1]:
            tables.append([])

    assert all(len(set(table)) == 1 for table in tables if table)
    assert "<i>" not in "\n".join(lines)


def test_no_report_says_ship(result):
    for suffix in WRITERS:
        assert "ship" not in written(result, suffix)


def test_stored_results_are_reported_alike(result):
    stored = json.loads(json.dumps(result))

    for suffix in WRITERS:
        assert written(stored, suffix) == written(result, suffix)


def test_an_ending_that_names_no_format_is_refused():
    with pytest.raises(BenchmarkError, match=r"ends in '\.pdf'; expected \.md, \.json, \.xml"):
        check_suffix(Path("gate.pdf"))

"""docs/formats.md has a row for each format and for each rule of the linter, with what it loses."""

from pathlib import Path

import pytest

from benchwright.exports import EXPORTERS
from benchwright.linting import RULES

PAGE = (Path(__file__).parents[1] / "docs" / "formats.md").read_text("utf-8")


@pytest.mark.parametrize("exporter", EXPORTERS.values(), ids=list(EXPORTERS))
def test_format_has_a_row_with_all_that_it_loses(exporter):
    rows = [line for line in PAGE.splitlines() if line.startswith(f"| `{exporter.name}`: ")]

    assert len(rows) == 1
    assert exporter.about in rows[0]
    for line in exporter.loses or ("Nothing: ",):
        assert line in rows[0]


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_rule_has_a_row_with_its_sentence(rule):
    rows = [line for line in PAGE.splitlines() if line.startswith(f"| `{rule.code}` |")]

    assert len(rows) == 1
    assert rule.says.replace("<", "&lt;") in rows[0]

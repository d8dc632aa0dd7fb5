"""Whether anything leaks from one split into another: the proof that goes with a release.

The report is plain JSON: for each pair of splits what they share (families, texts, words, relevant
documents), how near their nearest queries are, with their texts, how they lie in time, and whether
slices are spread evenly; and how the split was made. docs/splits.md explains every key.
"""

from collections.abc import Mapping
from typing import Any

from benchwright.findings import Finding, Severity
from benchwright.leaks.rendering import as_json, as_markdown
from benchwright.leaks.reporting import FORMAT, leak_report
from benchwright.leaks.types import LeakQuery

__all__ = [
    "FORMAT",
    "LeakQuery",
    "as_json",
    "as_markdown",
    "findings_of",
    "hard_violations",
    "leak_report",
]


def findings_of(report: Mapping[str, Any]) -> list[Finding]:
    """Everything the report found, the gravest first; empty where nothing leaks."""
    return [
        Finding(**{**finding, "severity": Severity(finding["severity"])})
        for finding in report["findings"]
    ]


def hard_violations(report: Mapping[str, Any]) -> list[Finding]:
    """What keeps these splits from being released."""
    return [finding for finding in findings_of(report) if finding.severity is Severity.ERROR]

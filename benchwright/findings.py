"""What a check has to say about a benchmark, a release or a folder of files."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """An error stops publishing; a warning is published with the release; a note is said once."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found.

    `code` is stable and has a heading in the docs; `target` names the format or the rule's domain
    ("beir", "hub", "trec", "content", "splits", ...); `where` says where, as people look for it
    ("query q12", "qrels/test.tsv:4"); `message` says what is wrong and `advice` what to do.
    """

    code: str
    severity: Severity
    target: str
    where: str
    message: str
    advice: str
    n: int = 1

    def as_json(self) -> dict[str, Any]:
        """The finding as a release's manifest keeps it."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "target": self.target,
            "where": self.where,
            "message": self.message,
            "advice": self.advice,
            "n": self.n,
        }


def errors_in(findings: list[Finding]) -> list[Finding]:
    """Those that stop publishing."""
    return [finding for finding in findings if finding.severity is Severity.ERROR]

"""Cases of a rule, counted, the first few kept; and the findings that they make."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from benchwright.findings import Finding, Severity
from benchwright.linting.rules import RULES, TARGETS

SHOWN = 3
ORDER = tuple(Severity)


@dataclass(slots=True)
class Cases:
    """How often a rule was broken, and where first."""

    n: int = 0
    places: list[str] = field(default_factory=list)
    detail: str = ""


class Collector:
    """Takes cases one at a time, in constant memory."""

    def __init__(self) -> None:
        self.cases: dict[str, Cases] = {}

    def add(self, code: str, where: str, detail: str = "") -> None:
        """Count one case; `detail` says of the first one what it is."""
        cases = self.cases.setdefault(code, Cases())
        if not cases.n:
            cases.detail = detail
        if len(cases.places) < SHOWN:
            cases.places.append(where)
        cases.n += 1

    def findings(self, targets: Iterable[str]) -> list[Finding]:
        """One finding for each rule that was broken and each target it matters to, worst first."""
        findings = list(self._findings(tuple(dict.fromkeys(targets))))
        codes = list(RULES)
        findings.sort(
            key=lambda finding: (ORDER.index(finding.severity), codes.index(finding.code))
        )
        return findings

    def _findings(self, targets: tuple[str, ...]) -> Iterator[Finding]:
        for code, cases in self.cases.items():
            rule = RULES[code]
            for target in targets:
                severity = rule.severity(target)
                if severity is None:
                    continue
                message = f"{rule.says} {cases.detail}".rstrip()
                where = told(cases.places, cases.n)
                yield Finding(code, severity, target, where, message, rule.advice, cases.n)


def told(places: list[str], n: int) -> str:
    """Return the places in words.

    >>> told(["query q1", "query q2"], 7)
    'query q1, query q2 and 5 more'
    """
    more = n - len(places)
    return ", ".join(places) + (f" and {more:,} more" if more else "")


def worst(code: str, targets: Iterable[str] = TARGETS) -> Severity | None:
    """Return the severity of a rule for the strictest of the targets, or None."""
    severities = [RULES[code].severity(target) for target in targets]
    return min((severity for severity in severities if severity), key=ORDER.index, default=None)

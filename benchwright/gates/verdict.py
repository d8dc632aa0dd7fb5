"""From checks to one verdict: the first that applies.

(a) an error: no verdict. (b) not comparable. (c) all queries, a slice or a guard rail regresses, by
p after Holm over all of them: BLOCK. (d) a process flag, or an improvement that is shown but too
small to count: HOLD. (e) the improvement, or that nothing was lost, is not shown: INCONCLUSIVE.
(f) PASS, or PASS-STRICT where every registered slice is shown non-inferior.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchwright.errors import TooFewQueriesError
from benchwright.gates.bounds import Method
from benchwright.gates.checks import guard_rails, overall, slices, weighed
from benchwright.gates.comparable import comparable
from benchwright.gates.deciding import Verdict, verdicts
from benchwright.gates.evidence import Evidence
from benchwright.gates.findings import Check, Finding, Level, signed
from benchwright.gates.patterns import patterns
from benchwright.gates.policy import Policy
from benchwright.gates.process import process
from benchwright.gates.rehearsal.rehearsing import power_of
from benchwright.texts.counting import counted

FORMAT, FORMAT_VERSION = "benchwright-gate", 1


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with everything it rests on; checks in their order, by name."""

    verdict: Verdict
    sentence: str
    changes: tuple[str, ...]
    checks: Mapping[str, Check]
    policy: Policy
    evidence: Evidence
    method: Method

    def as_dict(self) -> dict[str, Any]:
        """As reports and the site keep it: JSON, the same for the same input."""
        evidence, is_compared = self.evidence, "overall" in self.checks
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "verdict": str(self.verdict),
            "title": self.verdict.label,
            "exit_code": self.verdict.exit_code,
            "sentence": self.sentence,
            "changes": list(self.changes),
            "policy": self.policy.as_dict(),
            "policy_sha256": self.policy.digest,
            "baseline": evidence.baseline.name,
            "candidate": evidence.candidate.name,
            "lexical": evidence.lexical.name if evidence.lexical else None,
            "n_queries": len(evidence.queries),
            "n_families": evidence.n_families,
            "checks": [check.as_dict() for check in self.checks.values()],
            "patterns": patterns(self.policy, evidence) if is_compared else [],
            "power": power_of(self.policy, evidence) if is_compared else None,
            "wanted": {
                "needed": evidence.wanted.needed,
                "documents": [list(pair) for pair in evidence.wanted.documents],
            },
            "methods": {
                "test": self.method.test,
                "draws": self.method.n_draws,
                "seed": self.method.seed,
            },
        }


def decide(policy: Policy, evidence: Evidence, method: Method | None = None) -> Decision:
    """Hold a candidate against a policy.

    Raises
    ------
    TooFewQueriesError
        Below two queries.
    PolicySliceError, PolicyMeasureError
        If the policy asks for what the evidence does not have.
    """
    method = method or Method()
    if len(evidence.queries) < 2:
        raise TooFewQueriesError(count=len(evidence.queries))
    first = comparable(policy, evidence)
    checks, verdict = {first.name: first}, Verdict.NOT_COMPARABLE
    if first.level != Level.BAD:
        of = weighed(policy, evidence, method)
        later = (
            overall(policy, evidence, of),
            slices(policy, of),
            guard_rails(policy, evidence, of),
            process(policy, evidence.process, n_queries=len(evidence.queries)),
        )
        checks |= {check.name: check for check in later}
        is_flagged = checks["process"].level == Level.BAD
        verdict = Verdict(verdicts(policy, of.outcomes, is_flagged=is_flagged)[0])
    return Decision(
        verdict=verdict,
        sentence=_sentence(verdict, policy, evidence, checks),
        changes=tuple(_changes(verdict, policy, checks)),
        checks=checks,
        policy=policy,
        evidence=evidence,
        method=method,
    )


# --- in words ------------------------------------------------------------------------------------


def _sentence(
    verdict: Verdict, policy: Policy, evidence: Evidence, checks: Mapping[str, Check]
) -> str:
    candidate, baseline = evidence.candidate.name, evidence.baseline.name
    if verdict == Verdict.NOT_COMPARABLE:
        why = " ".join(finding.reason for finding in checks["comparable"].at(Level.BAD))
        return f"{candidate} and {baseline} are not comparable: {why}"
    numbers = checks["overall"].findings[0].numbers
    difference = (
        f"{policy.measure} {signed(numbers['difference'])} against {baseline} on "
        f"{counted(numbers['n'], 'query')} (at least {signed(numbers['lower'])})"
    )
    if verdict == Verdict.BLOCK:
        return f"{candidate} makes something worse: {_names(_blockers(checks))}; {difference}."
    if verdict == Verdict.HOLD:
        return f"{candidate} is held back: {_why_held(policy, checks)}; {difference}."
    if verdict == Verdict.INCONCLUSIVE:
        goal = "an improvement" if policy.goal == "improve" else "that nothing was lost"
        return f"These queries do not show {goal}: {difference}."
    harm = "no registered slice or guard rail shows harm"
    if verdict == Verdict.PASS_STRICT:
        harm = f"every registered slice is shown to lose less than {policy.margin:g}"
    return f"{candidate} is a strong candidate for an A/B test: {difference}, and {harm}."


def _blockers(checks: Mapping[str, Check]) -> list[Finding]:
    rest = (*checks["slices"].at(Level.BAD), *checks["guard_rails"].at(Level.BAD))
    return [*checks["overall"].at(Level.BAD), *rest]


def _why_held(policy: Policy, checks: Mapping[str, Check]) -> str:
    flags = checks["process"].at(Level.BAD)
    if flags:
        return _names(flags)
    return f"it improves, but by less than the {policy.delta_min:g} that count"


def _names(findings: list[Finding]) -> str:
    return ", ".join(f"{finding.name} ({finding.outcome})" for finding in findings)


def _changes(verdict: Verdict, policy: Policy, checks: Mapping[str, Check]) -> list[str]:
    """What would change the verdict, the decisive first; then what would make it a stricter one."""
    findings = [
        finding for check in checks.values() for finding in check.findings if finding.change
    ]
    decisive = [finding for finding in findings if finding.level == Level.BAD]
    if verdict in (Verdict.INCONCLUSIVE, Verdict.HOLD):
        decisive += [finding for finding in checks["overall"].findings if finding.change]
    if verdict == Verdict.NOT_COMPARABLE or decisive:
        return list(dict.fromkeys(finding.change for finding in decisive))
    return list(dict.fromkeys(finding.change for finding in findings if finding.level != Level.BAD))

"""Check 0: may these two runs be compared at all?"""

from math import isnan

import numpy as np

from benchwright.comparison.comparability import (
    COMPARABLE,
    LARGEST_GAP,
    PROVISIONAL,
    ROUNDING,
    WIDE_GAP,
)
from benchwright.gates.evidence import Arm, Evidence
from benchwright.gates.findings import Check, Finding, Level
from benchwright.gates.policy import Policy
from benchwright.measures import parse_measure
from benchwright.texts.counting import counted, percent_beside

NAMED = 3


def comparable(policy: Policy, evidence: Evidence) -> Check:
    """Both runs answer everything, to the same depth, and are judged well and alike."""
    arms = [evidence.baseline, evidence.candidate]
    findings = [*map(_coverage, arms), _depth(policy, evidence), _judged(policy, evidence)]
    if evidence.lexical is not None:
        findings.insert(2, _coverage(evidence.lexical))
    return Check("comparable", "Comparable", tuple(findings))


def _coverage(arm: Arm) -> Finding:
    name, n = f"Coverage of {arm.name}", len(arm.missing)
    if not n:
        return Finding(name, "complete", Level.GOOD, "Every query is answered.", "", {"missing": 0})
    some = ", ".join(arm.missing[:NAMED]) + (" …" if n > NAMED else "")
    return Finding(
        name,
        "incomplete",
        Level.BAD,
        f"{counted(n, 'query')} of the benchmark {'has' if n == 1 else 'have'} no result: {some}. "
        "What was not run is no zero.",
        f"Run {arm.name} on all queries.",
        {"missing": n},
    )


def _depth(policy: Policy, evidence: Evidence) -> Finding:
    """The runs are as deep as each other, down to the deepest rank that a measure looks at."""
    cutoffs = [parse_measure(name).cutoff for name in policy.measures]
    deepest = max((k for k in cutoffs if isinstance(k, int)), default=policy.cutoff)
    first, second = evidence.baseline, evidence.candidate
    numbers = {"baseline": first.depth, "candidate": second.depth, "needed": deepest}
    depths = [min(arm.depth, deepest) for arm in (first, second)]
    if depths[0] == depths[1]:
        reason = f"Both hold up to {depths[0]} results a query."
        return Finding("Depth", "the same", Level.GOOD, reason, "", numbers)
    shallow = first if depths[0] < depths[1] else second
    return Finding(
        "Depth",
        "different",
        Level.BAD,
        f"{first.name} holds up to {first.depth} results a query and {second.name} up to "
        f"{second.depth}; the measures look at {deepest}.",
        f"Run {shallow.name} to at least {deepest} results.",
        numbers,
    )


def _judged(policy: Policy, evidence: Evidence) -> Finding:
    """The rules on judged shares; with sparse labels only the one on their difference."""
    first = judged_share(evidence.baseline, policy)
    second = judged_share(evidence.candidate, policy)
    outcome, level = judged_outcome(first, second, is_sparse=policy.labels == "sparse")
    measure = policy.judged.replace("J", "j")
    reason = (
        f"{measure} is {_share(first)} for {evidence.baseline.name} and {_share(second)} for "
        f"{evidence.candidate.name}."
    )
    if policy.labels == "sparse":
        reason += " Labels are sparse, so only the difference of the two counts."
    numbers = {"baseline": first, "candidate": second, "gap": abs(first - second)}
    return Finding(
        "Judged documents", outcome, level, reason, _what_to_judge(evidence, level), numbers
    )


def _what_to_judge(evidence: Evidence, level: Level) -> str:
    wanted = evidence.wanted
    if level == Level.BAD:
        n = wanted.needed or len(wanted.documents)
        return f"Judge {counted(n, 'document')}." if n else "Judge what is missing."
    if level == Level.WARN and wanted.documents:
        return f"Judge up to {counted(len(wanted.documents), 'document')} to be sure."
    return ""


def judged_share(arm: Arm, policy: Policy) -> float:
    """The mean share of judged documents over the queries that found something."""
    values = arm.of(policy.judged)
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")


def judged_outcome(first: float, second: float, *, is_sparse: bool) -> tuple[str, Level]:
    """What two judged shares mean: comparable, provisional or not comparable.

    Examples
    --------
    >>> judged_outcome(0.97, 0.96, is_sparse=False)[0], judged_outcome(0.9, 0.9, is_sparse=False)[0]
    ('comparable', 'provisional')
    >>> judged_outcome(0.3, 0.31, is_sparse=True)[0], judged_outcome(0.3, 0.31, is_sparse=False)[0]
    ('comparable', 'not comparable')
    """
    if isnan(first) or isnan(second):
        return "not comparable", Level.BAD
    lowest, gap = min(first, second) + ROUNDING, abs(first - second) - ROUNDING
    if gap > WIDE_GAP or (lowest < PROVISIONAL and not is_sparse):
        return "not comparable", Level.BAD
    if gap > LARGEST_GAP or (lowest < COMPARABLE and not is_sparse):
        return "provisional", Level.WARN
    return "comparable", Level.GOOD


def _share(value: float) -> str:
    return "undefined" if isnan(value) else f"{percent_beside(value, PROVISIONAL, COMPARABLE, 1)} %"

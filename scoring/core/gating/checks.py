"""Checks 1 to 3: the difference over all queries, in each slice, and the guard rails."""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan

import numpy as np

from scoring.core.gating.bounds import Difference, Method, bounds, measured
from scoring.core.gating.errors import PolicySliceError
from scoring.core.gating.evidence import Evidence, Mask
from scoring.core.gating.findings import Check, Finding, Level, counted, numbers_of, signed
from scoring.core.gating.policy import Policy
from scoring.core.statistics.corrections import holm
from scoring.core.statistics.effects import shares_worse
from scoring.core.statistics.families import Floats

LISTED = 20
"""Queries named that lost much."""

# A difference of exactly 0.01 is computed as 0.51 - 0.5, which is a little less.
ROUNDING = 1e-12

# --- over all queries ----------------------------------------------------------------------------


def overall(policy: Policy, evidence: Evidence, method: Method) -> Check:
    """Improves, regresses or inconclusive; `numbers` says by which bounds.

    `is_improved`: the lower bound is above 0; `is_enough`: so is the difference above the least
    that counts; `is_regressed`: the upper bound at alpha / 2 is below 0; `is_kept`: the lower
    bound is above minus the margin.
    """
    columns = evidence.differences(policy.measure)[:, np.newaxis]
    (found,) = measured(columns, evidence.families, method, alpha=policy.alpha)
    outer = float(bounds(columns, evidence.families, method, alpha=policy.alpha / 2)[1, 0])
    facts = {
        "is_improved": found.lower > 0,
        "is_enough": found.mean >= policy.delta_min - ROUNDING,
        "is_regressed": outer < 0,
        "is_kept": found.lower > -policy.margin,
    }
    values = {
        "baseline": float(np.mean(evidence.baseline.of(policy.measure))),
        "candidate": float(np.mean(evidence.candidate.of(policy.measure))),
        "outer_upper": outer,
        **facts,
    }
    needed = _more_overall(policy, found)
    finding = _overall_finding(policy, found, facts, needed)
    numbers = numbers_of(found, **values, more_queries=needed)
    return Check("overall", "Over all queries", (replace(finding, numbers=numbers),))


def _overall_finding(
    policy: Policy, found: Difference, facts: dict[str, bool], needed: int | None
) -> Finding:
    sure = f"{100 * (1 - policy.alpha):g} %"
    told = (
        f"{signed(found.mean)}, at least {signed(found.lower)} and at most {signed(found.upper)} "
        f"(one-sided {sure} each)"
    )
    outcome, level, change = "inconclusive", Level.WARN, _change_overall(policy, found, needed)
    if facts["is_regressed"] or found.upper < 0:
        outcome, change = "regresses", "Find what was lost: the queries that lose most come first."
        level = Level.BAD if facts["is_regressed"] else Level.WARN
    elif facts["is_improved"] and facts["is_enough"]:
        outcome, level, change = "improves", Level.GOOD, ""
    elif facts["is_improved"]:
        outcome = "improves a little"
        change = f"An improvement counts from {signed(policy.delta_min)}: improve it further."
    if policy.goal == "not_worse" and facts["is_kept"] and not facts["is_regressed"]:
        outcome = outcome if facts["is_improved"] else "not worse"
        level, change = Level.GOOD, ""
    return Finding(policy.measure, outcome, level, told, change)


def _more_overall(policy: Policy, found: Difference) -> int | None:
    """Queries to add that would decide it, if the difference is what it seems to be."""
    if isnan(found.mean):
        return None
    if policy.goal == "improve":
        return found.more(max(found.mean, policy.delta_min), alpha=policy.alpha)
    return found.more(policy.margin + min(found.mean, 0.0), alpha=policy.alpha)


def _change_overall(policy: Policy, found: Difference, needed: int | None) -> str:
    if needed is not None:
        return f"Label {_more(needed)}."
    if policy.goal == "improve":
        return (
            f"So many queries would most likely show {signed(policy.delta_min)}: the improvement "
            "is smaller, if there is one."
        )
    return "More queries would not show it: the difference itself is near or beyond the margin."


# --- slices --------------------------------------------------------------------------------------


def slices(policy: Policy, evidence: Evidence, method: Method) -> Check:
    """Each registered slice of enough queries: regression, non-inferior, or not shown.

    Raises
    ------
    PolicySliceError
        If the policy names a slice that holds no query.
    """
    differences = evidence.differences(policy.measure)
    names = list(dict.fromkeys([*policy.slices, *evidence.slices]))
    for name in policy.slices:
        if name not in evidence.slices or not evidence.slices[name].any():
            known = ", ".join(key for key, mask in evidence.slices.items() if mask.any())
            raise PolicySliceError(name=name, known=known or "none")
    if not names:
        return Check("slices", "Slices", ())
    columns = _inside(differences, [evidence.slices[name] for name in names])
    found = measured(columns, evidence.families, method, alpha=policy.alpha)
    deciding = [_decides(policy, evidence, name, of) for name, of in zip(names, found, strict=True)]
    adjusted = holm(np.where(deciding, [of.p_less for of in found], np.nan))
    return Check(
        "slices",
        "Slices",
        tuple(
            _slice_finding(policy, evidence, name, of, float(p))
            for name, of, p in zip(names, found, adjusted, strict=True)
            if of.n
        ),
    )


def _inside(differences: Floats, masks: Sequence[Mask]) -> Floats:
    return np.stack([np.where(mask, differences, np.nan) for mask in masks], axis=1)


def _is_registered(policy: Policy, evidence: Evidence, name: str) -> bool:
    registered = evidence.registered
    return name in policy.slices and (registered is None or name in registered)


def _decides(policy: Policy, evidence: Evidence, name: str, found: Difference) -> bool:
    return found.n >= policy.smallest_slice and _is_registered(policy, evidence, name)


def _slice_finding(
    policy: Policy, evidence: Evidence, name: str, found: Difference, p_adjusted: float
) -> Finding:
    needed = None
    if not _is_registered(policy, evidence, name):
        outcome, level = "exploratory", Level.NOTE
        reason = "Not registered with the policy, or registered later: told, and decides nothing."
        change = ""
    elif found.n < policy.smallest_slice:
        outcome, level = "too few queries", Level.NOTE
        reason = (
            f"{counted(found.n, 'query')}; a slice decides from {policy.smallest_slice} queries."
        )
        change = f"Label {_more(policy.smallest_slice - found.n)} of slice {name}."
    else:
        outcome, level, reason, change, needed = _shown(policy, name, found, p_adjusted)
    numbers = numbers_of(found, p_adjusted=p_adjusted, more_queries=needed)
    return Finding(name, outcome, level, reason, change, numbers)


def _shown(
    policy: Policy, name: str, found: Difference, p_adjusted: float
) -> tuple[str, Level, str, str, int | None]:
    """Of a slice that decides: outcome, level, reason, what would change it, queries to add."""
    if is_lost(policy, found, p_adjusted):
        reason = (
            f"{signed(found.mean)} is below {signed(-policy.margin)}, and not by chance "
            f"(p = {p_adjusted:.4f} after Holm)."
        )
        return "regression", Level.BAD, reason, f"Mend what slice {name} lost.", None
    if found.lower > -policy.margin:
        reason = f"At least {signed(found.lower)}, which is above {signed(-policy.margin)}."
        return "non-inferior", Level.GOOD, reason, "", None
    needed = found.more(policy.margin + min(found.mean, 0.0), alpha=policy.alpha)
    reason = (
        f"{signed(found.mean)}, at least {signed(found.lower)}: a loss of {policy.margin:g} is not "
        "ruled out."
    )
    change = f"Label {_more(needed)} of slice {name}." if needed else ""
    return "not shown", Level.WARN, reason, change, needed


def is_lost(policy: Policy, found: Difference, p_adjusted: float) -> bool:
    """Below the margin as it stands, and not by chance."""
    return found.mean < -policy.margin - ROUNDING and p_adjusted < policy.alpha


def _more(n: int) -> str:
    return f"{n:,} more {'query' if n == 1 else 'queries'}"


# --- guard rails ---------------------------------------------------------------------------------


def guard_rails(policy: Policy, evidence: Evidence, method: Method) -> Check:
    """Other measures, queries that lost much, and the exact-match slice against a lexical run."""
    findings = [*_measures(policy, evidence, method), _worst(policy, evidence)]
    findings.append(_exact(policy, evidence, method))
    return Check("guard_rails", "Guard rails", tuple(findings))


def _measures(policy: Policy, evidence: Evidence, method: Method) -> list[Finding]:
    """The measures that must not fall beyond the margin, corrected together."""
    names = policy.guard_rails.measures
    if not names:
        return []
    columns = np.stack([evidence.differences(name) for name in names], axis=1)
    found = measured(columns, evidence.families, method, alpha=policy.alpha)
    adjusted = holm(np.array([of.p_less for of in found]))
    return [
        _guard_finding(policy, name, of, float(p))
        for name, of, p in zip(names, found, adjusted, strict=True)
    ]


def _guard_finding(policy: Policy, name: str, found: Difference, p_adjusted: float) -> Finding:
    numbers = numbers_of(found, p_adjusted=p_adjusted)
    told = f"{signed(found.mean)}, at least {signed(found.lower)}."
    if is_lost(policy, found, p_adjusted):
        reason = f"{told} It fell beyond {signed(-policy.margin)} (p = {p_adjusted:.4f})."
        return Finding(name, "regression", Level.BAD, reason, f"Mend what {name} lost.", numbers)
    return Finding(name, "not regressed", Level.GOOD, told, "", numbers)


def _worst(policy: Policy, evidence: Evidence) -> Finding:
    """The share of queries that lose a lot, and which these are, the worst first."""
    rails, differences = policy.guard_rails, evidence.differences(policy.measure)
    share = float(shares_worse(differences[:, np.newaxis], by=rails.worst_loss)[0])
    order = np.argsort(differences, kind="stable")
    n_lost = round(share * len(differences))
    lost = [
        {"query": evidence.queries[place], "difference": float(differences[place])}
        for place in order[:n_lost]
    ]
    name = f"Queries that lose more than {rails.worst_loss:g}"
    numbers = {"share": share, "n": len(differences), "n_lost": n_lost, "queries": lost[:LISTED]}
    seen = f"{n_lost:,} of {len(differences):,} ({100 * share:.1f} %)"
    reason = f"{seen}; at most {100 * rails.worst_share:g} %."
    if share > rails.worst_share:
        change = "Look at these queries first."
        return Finding(name, "too many", Level.BAD, reason, change, numbers)
    return Finding(name, "few enough", Level.GOOD, reason, "", numbers)


def _exact(policy: Policy, evidence: Evidence, method: Method) -> Finding:
    """The candidate against a lexical run where queries ask for an exact match."""
    wanted = policy.guard_rails.exact_slice
    name = "Exact match against a lexical run"
    if not wanted:
        return _not_run(name, "The policy names no slice of exact-match queries.")
    if evidence.lexical is None:
        return _not_run(name, "There is no lexical run.", "Name one.")
    mask = evidence.slices.get(wanted)
    if mask is None or mask.sum() < policy.smallest_slice:
        n = 0 if mask is None else int(mask.sum())
        return _not_run(
            name, f"Slice {wanted} holds {counted(n, 'query')}; {policy.smallest_slice} are needed."
        )
    differences = evidence.candidate.of(policy.measure) - evidence.lexical.of(policy.measure)
    (found,) = measured(_inside(differences, [mask]), evidence.families, method, alpha=policy.alpha)
    finding = _guard_finding(policy, policy.measure, found, found.p_less)
    behind = f"Against {evidence.lexical.name} on slice {wanted}: {finding.reason}"
    change = "Keep a lexical part: try a hybrid." if finding.level == Level.BAD else ""
    return Finding(name, finding.outcome, finding.level, behind, change, finding.numbers)


def _not_run(name: str, reason: str, change: str = "") -> Finding:
    return Finding(name, "not run", Level.NOTE, reason, change)

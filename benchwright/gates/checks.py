"""Checks 1 to 3: the difference over all queries, in each slice, and the guard rails."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np

from benchwright.evaluation.uncertainty import span_of_differences
from benchwright.gates.bounds import Difference, Method, measured
from benchwright.gates.deciding import Kind, Outcomes, Tests, outcomes_of
from benchwright.gates.errors import PolicySliceError
from benchwright.gates.evidence import Evidence, Mask
from benchwright.gates.findings import Check, Finding, Level, numbers_of, signed
from benchwright.gates.policy import Policy
from benchwright.statistics.effects import differences_of
from benchwright.statistics.families import Floats
from benchwright.statistics.intervals import n_differing, warnings
from benchwright.statistics.losses import Losses, much_lost
from benchwright.texts.counting import counted, number_beside, percent_beside

LISTED = 20
"""Queries named that lost much."""

# --- what is tested ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tested:
    """One test: the difference, its p after Holm over all that can block, and whether it does."""

    difference: Difference
    p_adjusted: float
    blocks: bool


@dataclass(frozen=True, slots=True)
class Weighed:
    """Every test of one comparison, by kind and name, with what they come to together."""

    tests: Mapping[tuple[Kind, str], Tested]
    losses: Losses
    outcomes: Outcomes

    @property
    def overall(self) -> Tested:
        return self.tests[Kind.OVERALL, ""]


def weighed(policy: Policy, evidence: Evidence, method: Method) -> Weighed:
    """Test everything that the policy asks for, and the slices that are only told.

    Raises
    ------
    PolicySliceError
        If the policy names a slice that holds no query.
    """
    columns = dict(_columns(policy, evidence))
    names = [name if kind == Kind.MEASURE else policy.measure for kind, name in columns]
    differences = measured(
        np.stack(list(columns.values()), axis=1),
        evidence.families,
        method,
        alpha=policy.alpha,
        span=span_of_differences(names),
    )
    gain = columns[Kind.OVERALL, ""][:, np.newaxis]
    losses = much_lost(gain, by=policy.guard_rails.worst_loss, families=evidence.families)
    rows = [np.array([[getattr(of, name)] for of in differences], dtype=float) for name in ROWS]
    outcomes = outcomes_of(policy, Tests([kind for kind, _ in columns], losses, *rows))
    each = zip(columns, differences, outcomes.adjusted[:, 0], outcomes.blocks[:, 0], strict=True)
    return Weighed({key: Tested(of, float(p), bool(b)) for key, of, p, b in each}, losses, outcomes)


ROWS = ("n", "n_families", "mean", "lower", "p_less")


def _columns(policy: Policy, evidence: Evidence) -> Iterator[tuple[tuple[Kind, str], Floats]]:
    """The differences of each test, NaN outside of it."""
    gain = evidence.differences(policy.measure)
    yield (Kind.OVERALL, ""), gain
    for name in policy.slices:
        if name not in evidence.slices or not evidence.slices[name].any():
            filled = ", ".join(key for key, mask in evidence.slices.items() if mask.any())
            raise PolicySliceError(name=name, known=filled or "none")
    for name in dict.fromkeys([*policy.slices, *evidence.slices]):
        kind = Kind.SLICE if _is_registered(policy, evidence, name) else Kind.EXPLORATORY
        yield (kind, name), np.where(evidence.slices[name], gain, np.nan)
    for name in policy.guard_rails.measures:
        yield (Kind.MEASURE, name), evidence.differences(name)
    exact = exact_mask(policy, evidence)
    if exact is not None and evidence.lexical is not None:
        arms = evidence.candidate, evidence.lexical
        differences = differences_of(*(arm.of(policy.measure) for arm in arms))
        yield (Kind.EXACT, ""), np.where(exact, differences, np.nan)


def exact_mask(policy: Policy, evidence: Evidence) -> Mask | None:
    """The exact-match queries, where there are enough of them to be checked."""
    mask = evidence.slices.get(policy.guard_rails.exact_slice)
    return None if mask is None or mask.sum() < policy.smallest_slice else mask


def _is_registered(policy: Policy, evidence: Evidence, name: str) -> bool:
    registered = evidence.registered
    return name in policy.slices and (registered is None or name in registered)


# --- over all queries ----------------------------------------------------------------------------


def overall(policy: Policy, evidence: Evidence, of: Weighed) -> Check:
    """Improves, regresses or inconclusive; `numbers` says by which bounds.

    `is_improved`: the lower bound is above 0; `is_enough`: so is the difference above the least
    that counts; `is_regressed`: p of a loss is below alpha after Holm; `is_kept`: the lower bound
    is above minus the margin.
    """
    difference, outcomes = of.overall.difference, of.outcomes
    facts = {
        "is_improved": bool(outcomes.is_improved[0]),
        "is_enough": bool(outcomes.is_enough[0]),
        "is_regressed": of.overall.blocks,
        "is_kept": bool(outcomes.is_kept[0]),
    }
    # Of the queries that the difference is of: those on which both are defined.
    is_both = ~np.isnan(evidence.differences(policy.measure))
    both = [arm.of(policy.measure)[is_both] for arm in (evidence.baseline, evidence.candidate)]
    baseline, candidate = (float(each.mean()) if each.size else nan for each in both)
    values = {
        "baseline": baseline,
        "candidate": candidate,
        "p_adjusted": of.overall.p_adjusted,
        "m": int(outcomes.m[0]),
        **facts,
    }
    needed = _more_overall(policy, difference)
    differing = n_differing(evidence.differences(policy.measure)[:, np.newaxis], evidence.families)
    warned = list(warnings(difference.n_families, int(differing[0])))
    if difference.upper < 0 and not facts["is_regressed"]:
        p = number_beside(of.overall.p_adjusted, policy.alpha)
        warned.append(f"Beside all that could block, p of a loss is {p}: it does not block.")
    finding = _overall_finding(policy, difference, facts, needed, warned)
    numbers = numbers_of(difference, **values, more_queries=needed)
    return Check("overall", "Over all queries", (replace(finding, numbers=numbers),))


def _overall_finding(
    policy: Policy,
    difference: Difference,
    facts: dict[str, bool],
    needed: int | None,
    warned: Sequence[str],
) -> Finding:
    sure = f"{100 * (1 - policy.alpha):g} %"
    limits = (-policy.margin, 0.0, policy.delta_min)
    reason = (
        f"{signed(difference.mean, *limits)}, at least {signed(difference.lower, *limits)} and at "
        f"most {signed(difference.upper, *limits)} (one-sided {sure} each)."
    )
    outcome, level, change = "inconclusive", Level.WARN, _change_overall(policy, difference, needed)
    if facts["is_regressed"] or difference.upper < 0:
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
    return Finding(policy.measure, outcome, level, " ".join([reason, *warned]), change)


def _more_overall(policy: Policy, difference: Difference) -> int | None:
    """Queries to add that would decide it, if the difference is what it seems to be."""
    if isnan(difference.mean):
        return None
    if policy.goal == "improve":
        return difference.more(max(difference.mean, policy.delta_min), alpha=policy.alpha)
    return difference.more(policy.margin + min(difference.mean, 0.0), alpha=policy.alpha)


def _change_overall(policy: Policy, difference: Difference, needed: int | None) -> str:
    if needed is not None:
        return f"Label {_more(needed)}."
    if policy.goal == "improve":
        return (
            f"So many queries would most likely show {signed(policy.delta_min)}: the improvement "
            "is smaller, if there is one."
        )
    return "More queries would not show it: the difference itself is near or beyond the margin."


# --- slices --------------------------------------------------------------------------------------


def slices(policy: Policy, of: Weighed) -> Check:
    """Each registered slice of enough queries: regression, non-inferior, or not shown."""
    findings = [
        _slice_finding(policy, kind, name, test)
        for (kind, name), test in of.tests.items()
        if kind in (Kind.SLICE, Kind.EXPLORATORY) and test.difference.n
    ]
    return Check("slices", "Slices", tuple(findings))


def _slice_finding(policy: Policy, kind: Kind, name: str, of: Tested) -> Finding:
    needed, difference = None, of.difference
    if kind == Kind.EXPLORATORY:
        outcome, level = "exploratory", Level.NOTE
        reason = "Not registered with the policy, or registered later: told, and decides nothing."
        change = ""
    elif difference.n < policy.smallest_slice:
        outcome, level = "too few queries", Level.NOTE
        n = counted(difference.n, "query")
        reason = f"{n}; a slice decides from {policy.smallest_slice} queries."
        change = f"Label {_more(policy.smallest_slice - difference.n)} of slice {name}."
    elif of.blocks:
        outcome, level, reason = "regression", Level.BAD, _lost(policy, of)
        change = f"Mend what slice {name} lost."
    else:
        outcome, level, reason, needed = _shown(policy, difference, "non-inferior")
        change = f"Label {_more(needed)} of slice {name}." if needed else ""
    numbers = numbers_of(difference, p_adjusted=of.p_adjusted, more_queries=needed)
    return Finding(name, outcome, level, reason, change, numbers)


def _lost(policy: Policy, of: Tested) -> str:
    return (
        f"{signed(of.difference.mean, -policy.margin)} is below {signed(-policy.margin)}, and not "
        f"by chance (p = {number_beside(of.p_adjusted, policy.alpha)} after Holm)."
    )


def _shown(policy: Policy, difference: Difference, word: str) -> tuple[str, Level, str, int | None]:
    """Of what does not block: outcome, level, reason, queries to add; good if the bound says so."""
    if difference.lower > -policy.margin:
        lower = signed(difference.lower, -policy.margin)
        reason = f"At least {lower}, which is above {signed(-policy.margin)}."
        return word, Level.GOOD, reason, None
    needed = difference.more(policy.margin + min(difference.mean, 0.0), alpha=policy.alpha)
    reason = (
        f"{signed(difference.mean)}, at least {signed(difference.lower, -policy.margin)}: a loss "
        f"of {policy.margin:g} is not ruled out."
    )
    return "not shown", Level.WARN, reason, needed


def _more(n: int) -> str:
    return f"{n:,} more {'query' if n == 1 else 'queries'}"


# --- guard rails ---------------------------------------------------------------------------------


def guard_rails(policy: Policy, evidence: Evidence, of: Weighed) -> Check:
    """Other measures, queries that lost much, and the exact-match slice against a lexical run."""
    findings = [
        _guard_finding(policy, name, test)
        for (kind, name), test in of.tests.items()
        if kind == Kind.MEASURE
    ]
    findings += [_worst(policy, evidence, of), _exact(policy, evidence, of)]
    return Check("guard_rails", "Guard rails", tuple(findings))


def _guard_finding(policy: Policy, name: str, of: Tested) -> Finding:
    if of.blocks:
        outcome, level, reason, needed = "regression", Level.BAD, _lost(policy, of), None
        change = f"Mend what {name} lost."
    else:
        outcome, level, reason, needed = _shown(policy, of.difference, "not regressed")
        change = f"Label {_more(needed)}." if needed else ""
    numbers = numbers_of(of.difference, p_adjusted=of.p_adjusted, more_queries=needed)
    return Finding(name, outcome, level, reason, change, numbers)


def _worst(policy: Policy, evidence: Evidence, of: Weighed) -> Finding:
    """Queries that lose much, the worst first, against what this pair's own scatter explains."""
    rails, losses = policy.guard_rails, of.losses
    n, n_lost, won, mirrored = (
        int(each[0]) for each in (losses.n, losses.lost, losses.won, losses.mirrored)
    )
    share, p = float(losses.share[0]), float(losses.p[0])
    numbers = {
        "share": share,
        "n": n,
        "n_lost": n_lost,
        "n_won": won,
        "expected": mirrored,
        "p": p,
        "p_adjusted": float(of.outcomes.rail_adjusted[0]),
        "queries": _losers(evidence, evidence.differences(policy.measure), n_lost),
    }
    name = f"Queries that lose more than {rails.worst_loss:g}"
    reason = f"{n_lost:,} of {n:,} ({percent_beside(share, rails.worst_share)} %); "
    if rails.worst_rule == "tested":
        reason += (
            f"expected from this pair's own scatter: {mirrored:,} (p = {p:.4f}, "
            f"{numbers['p_adjusted']:.4f} after Holm). Up to {100 * rails.worst_share:g} % never "
            "block."
        )
    else:
        reason += f"at most {100 * rails.worst_share:g} %."
    if of.outcomes.rail_blocks[0]:
        change = "Look at these queries first."
        return Finding(name, "too many", Level.BAD, reason, change, numbers)
    if share > rails.worst_share:
        reason += (
            f" An exchange: {n_lost:,} queries lose, {won:,} win more than {rails.worst_loss:g}."
        )
        return Finding(name, "an exchange", Level.NOTE, reason, "", numbers)
    return Finding(name, "few enough", Level.GOOD, reason, "", numbers)


def _losers(evidence: Evidence, differences: Floats, n_lost: int) -> list[dict[str, str | float]]:
    order = np.argsort(differences, kind="stable")[: min(n_lost, LISTED)]
    return [
        {"query": evidence.queries[place], "difference": float(differences[place])}
        for place in order
    ]


def _exact(policy: Policy, evidence: Evidence, of: Weighed) -> Finding:
    """The candidate against a lexical run where queries ask for an exact match."""
    slice_name = policy.guard_rails.exact_slice
    name = "Exact match against a lexical run"
    if not slice_name:
        return _not_run(name, "The policy names no slice of exact-match queries.")
    if evidence.lexical is None:
        return _not_run(name, "There is no lexical run.", "Name one.")
    if exact_mask(policy, evidence) is None:
        n = int(evidence.slices[slice_name].sum()) if slice_name in evidence.slices else 0
        return _not_run(
            name,
            f"Slice {slice_name} holds {counted(n, 'query')}; {policy.smallest_slice} are needed.",
        )
    finding = _guard_finding(policy, policy.measure, of.tests[Kind.EXACT, ""])
    behind = f"Against {evidence.lexical.name} on slice {slice_name}: {finding.reason}"
    change = "Keep a lexical part: try a hybrid." if finding.level == Level.BAD else finding.change
    return Finding(name, finding.outcome, finding.level, behind, change, finding.numbers)


def _not_run(name: str, reason: str, change: str = "") -> Finding:
    return Finding(name, "not run", Level.NOTE, reason, change)

"""What the differences of a gate look like together: readings with evidence, never a verdict."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchwright.comparison.aligning import OVERALL
from benchwright.comparison.patterns import (
    ALONE,
    IN_FAMILIES,
    Fact,
    Roles,
    evidence_text,
    read_patterns,
    roles_of,
)
from benchwright.evaluation.uncertainty import span_of_differences
from benchwright.gates.evidence import Evidence, Mask
from benchwright.gates.policy import Policy
from benchwright.statistics.families import FamilyOf, Floats, ratio_means
from benchwright.statistics.intervals import mean_interval


def patterns(policy: Policy, evidence: Evidence) -> list[dict[str, Any]]:
    """The rules that hold, each with its title, advice, and the differences that it rests on."""
    roles = roles_of(policy.scored)
    # A policy's measure plays the part of the gain, whichever it is.
    roles = Roles(policy.measure, roles.first, roles.coverage, roles.condensed)
    matched = read_patterns(_facts(evidence, roles), roles, evidence.parts)
    return [
        {
            "code": pattern.code,
            "text": f"{pattern.title}: {pattern.advice}",
            "evidence": [evidence_text(fact) for fact in pattern.evidence],
        }
        for pattern in matched
    ]


def _facts(evidence: Evidence, roles: Roles) -> list[Fact]:
    """Differences of the measures over all queries, of the gain by slice, of the first hit by
    whether a query has other wordings."""
    pairs = [(name, OVERALL) for name in _measures(evidence, roles)]
    pairs += [(roles.gain, name) for name in evidence.slices]
    parts = _by_wordings(evidence.families)
    pairs += [(roles.first, name) for name in parts if roles.first in evidence.candidate.values]
    masks = {**evidence.slices, **parts}
    columns = [_column(evidence, name, masks.get(part)) for name, part in pairs]
    return _measured(pairs, np.stack(columns, axis=1), evidence.families)


def _measures(evidence: Evidence, roles: Roles) -> list[str]:
    names = dict.fromkeys((roles.gain, roles.first, roles.coverage, roles.condensed))
    return [name for name in names if name in evidence.candidate.values]


def _by_wordings(families: FamilyOf | None) -> Mapping[str, Mask]:
    """Queries whose family has several of them, and the others; only where there are both."""
    if families is None:
        return {}
    _, place, sizes = np.unique(families, return_inverse=True, return_counts=True)
    inside = sizes[place] > 1
    return {} if inside.all() or not inside.any() else {IN_FAMILIES: inside, ALONE: ~inside}


def _column(evidence: Evidence, measure: str, mask: Mask | None) -> Floats:
    differences = evidence.differences(measure)
    return differences if mask is None else np.where(mask, differences, np.nan)


def _measured(
    pairs: list[tuple[str, str]], columns: Floats, families: FamilyOf | None
) -> list[Fact]:
    # A difference is level within half its 95 % interval.
    lower, upper = mean_interval(
        columns, families=families, span=span_of_differences([measure for measure, _ in pairs])
    )
    counts = (~np.isnan(columns)).sum(axis=0)
    rows = zip(pairs, ratio_means(columns), lower, upper, counts, strict=True)
    return [
        Fact(measure, part, float(mean), float(low), float(high), int(n))
        for (measure, part), mean, low, high, n in rows
        if n
    ]

"""What `compare --patterns` adds: the rules of the pattern reader, for every pair of runs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scoring.core.comparing import OVERALL, Comparison, Pair
from scoring.core.pattern_roles import roles_of
from scoring.core.pattern_texts import pattern_dict, patterns_markdown
from scoring.core.patterns import ALONE, IN_FAMILIES, Fact, Pattern, read_patterns

Found = Sequence[tuple[Pair, Sequence[Pattern]]]
"""A pair by the first measure over all queries, and what holds for it."""

OWN_SLICES = (IN_FAMILIES, ALONE)


def found_patterns(comparison: Comparison, measures: Sequence[str]) -> Found:
    """The rules that hold for each pair; `measures` are those that were asked for."""
    roles = roles_of(measures)
    found = []
    for pair in comparison.pairs_of(comparison.measures[0], OVERALL):
        facts = [
            _fact(one)
            for one in comparison.pairs
            if (one.run, one.reference) == (pair.run, pair.reference)
        ]
        found.append((pair, read_patterns(facts, roles)))
    return found


def _fact(pair: Pair) -> Fact:
    needed = pair.power.queries_for_observed
    return Fact(pair.measure, pair.slice, pair.difference, *pair.interval, pair.n_queries, needed)


def shown(comparison: Comparison, measures: Sequence[str]) -> Comparison:
    """The comparison as it was asked for, without what only patterns look at."""
    kept = set(measures)
    return replace(
        comparison,
        measures=tuple(name for name in comparison.measures if name in kept),
        slices=tuple(one for one in comparison.slices if one.name not in OWN_SLICES),
        summaries=tuple(
            one
            for one in comparison.summaries
            if one.measure in kept and one.slice not in OWN_SLICES
        ),
        pairs=tuple(
            one for one in comparison.pairs if one.measure in kept and one.slice not in OWN_SLICES
        ),
    )


def as_dicts(found: Found) -> list[dict[str, Any]]:
    """For JSON: a row for each pattern of each pair."""
    return [
        {"run": pair.run, "reference": pair.reference, **pattern_dict(pattern)}
        for pair, patterns in found
        for pattern in patterns
    ]


def as_text(found: Found) -> str:
    """A paragraph for each pair, each pattern with its evidence."""
    parts = []
    for pair, patterns in found:
        said = patterns_markdown(patterns) or "- No pattern: the measures say different things."
        parts.append(f"What {pair.run} - {pair.reference} looks like:\n{said}")
    return "\n\n".join(parts)

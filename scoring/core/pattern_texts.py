"""Patterns as text and as JSON: for pages, reports and the command line."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from scoring.core.patterns import Fact, Pattern


def pattern_dict(pattern: Pattern) -> dict[str, Any]:
    """A pattern as JSON holds it, each difference with its direction and margin."""
    evidence = [
        {**asdict(fact), "slice": fact.slice.strip(), "margin": fact.margin, "direction": direction}
        for fact in pattern.evidence
        for direction in [fact.direction.value if fact.direction else None]
    ]
    return {**asdict(pattern), "evidence": evidence}


def patterns_markdown(patterns: Iterable[Pattern]) -> str:
    """A point for each pattern, its evidence below it."""
    lines = []
    for pattern in patterns:
        needed = f" {pattern.needed} queries would show it." if pattern.needed else ""
        lines.append(f"- **{pattern.title}**: {pattern.advice}{needed}")
        lines += [f"  - {evidence_text(fact)}" for fact in pattern.evidence]
    return "\n".join(lines)


def evidence_text(fact: Fact) -> str:
    """A difference in one line: measure, slice, number, interval, queries.

    Examples
    --------
    >>> evidence_text(Fact("nDCG@10", "all", 0.02, 0.01, 0.03, 60))
    'nDCG@10 over all (60 queries): up, +0.0200 (+0.0100 to +0.0300), level within ±0.0100'
    """
    direction = fact.direction.value if fact.direction else "undefined"
    size = f" ({fact.n} queries)" if fact.n else ""
    return (
        f"{fact.measure} over {fact.slice.strip()}{size}: {direction}, "
        f"{fact.difference:+.4f} ({fact.low:+.4f} to {fact.high:+.4f}), "
        f"level within ±{fact.margin:.4f}"
    )


def markdown_words(text: str) -> str:
    """Words of a person that end no cell and begin no markup."""
    words = " ".join(text.split())
    for sign in "\\|`*_<>[]":
        words = words.replace(sign, f"\\{sign}")
    return words

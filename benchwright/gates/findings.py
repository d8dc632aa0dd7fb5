"""What a check comes back with: an outcome in a word, the reason, and what would change it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import isnan
from typing import Any

from benchwright.gates.bounds import Difference
from benchwright.texts.counting import signed_beside


class Level(StrEnum):
    """What an outcome means for the verdict; NOTE is told and decides nothing."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a check: what it is about, how it came out, why, and what would change it."""

    name: str
    outcome: str
    level: Level
    reason: str
    change: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "outcome": self.outcome,
            "level": str(self.level),
            "reason": self.reason,
            "change": self.change,
            "numbers": {key: defined(value) for key, value in self.numbers.items()},
        }


@dataclass(frozen=True, slots=True)
class Check:
    """A step of the gate with its findings, in the order in which they are read."""

    name: str
    title: str
    findings: tuple[Finding, ...]

    @property
    def level(self) -> Level:
        """The worst of its findings."""
        levels = {finding.level for finding in self.findings}
        worst = (Level.BAD, Level.WARN, Level.GOOD)
        return next((level for level in worst if level in levels), Level.NOTE)

    def at(self, level: Level) -> list[Finding]:
        return [finding for finding in self.findings if finding.level == level]

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "level": str(self.level),
            "findings": [finding.as_dict() for finding in self.findings],
        }


def defined(value: Any) -> Any:
    """A number as JSON can hold it; NaN is null."""
    return None if isinstance(value, float) and isnan(value) else value


def numbers_of(difference: Difference, **more: Any) -> dict[str, Any]:
    """A difference as reports keep it."""
    return {
        "n": difference.n,
        "n_families": difference.n_families,
        "difference": difference.mean,
        "lower": difference.lower,
        "upper": difference.upper,
        "p": difference.p_less,
        "sigma": difference.sigma,
        **more,
    }


def signed(value: float, *limits: float) -> str:
    """A difference as sentences show it, on its side of the limits beside it.

    Examples
    --------
    >>> signed(0.02), signed(float("nan")), signed(-0.01004, -0.01)
    ('+0.0200', 'undefined', '-0.01004')
    """
    if isnan(value):
        return "undefined"
    return signed_beside(value, *limits)

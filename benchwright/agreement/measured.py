"""A number, or the reason why there is none."""

from dataclasses import dataclass
from typing import Self

FIRM, TENTATIVE = 0.80, 0.67


@dataclass(frozen=True, slots=True)
class Measured:
    """A coefficient with the number of items it rests on; `why` where it is undefined.

    `low` and `high` bound its interval where one was asked for and could be had.
    """

    value: float | None
    n_items: int = 0
    why: str = ""
    low: float | None = None
    high: float | None = None

    @classmethod
    def undefined(cls, why: str, n_items: int = 0) -> Self:
        return cls(None, n_items, why)

    @property
    def is_defined(self) -> bool:
        return self.value is not None

    def __str__(self) -> str:
        return f"undefined, because {self.why}" if self.value is None else f"{self.value:.4f}"


def band(alpha: float) -> str:
    """Krippendorff's reading of an alpha: a convention to think with, no verdict."""
    if alpha >= FIRM:
        return "firm: conclusions can rest on it"
    if alpha >= TENTATIVE:
        return "tentative: conclusions with care"
    return "low: revise the guideline, and look where people differ"

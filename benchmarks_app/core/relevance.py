"""How many grades of a set of qrels count as relevant on a benchmark's scale."""

from collections.abc import Collection, Mapping
from typing import NamedTuple


class Relevance(NamedTuple):
    """Graded pairs, how many of them count as relevant, and from which grade on."""

    n_graded: int
    n_relevant: int
    lowest: int | None

    @classmethod
    def of(cls, grades: Mapping[int, int], relevant: Collection[int]) -> "Relevance":
        """Of {grade: pairs}; `relevant` are the grades of the scale that count as relevant.

        Examples
        --------
        >>> Relevance.of({1: 696, -1: 4}, {2, 3})
        Relevance(n_graded=696, n_relevant=0, lowest=2)
        """
        n_graded = sum(n for grade, n in grades.items() if grade >= 0)
        n_relevant = sum(n for grade, n in grades.items() if grade in relevant)
        return cls(n_graded, n_relevant, min(relevant, default=None))

    @property
    def is_none(self) -> bool:
        """Whether there are grades and none counts: every score would be 0."""
        return self.n_graded > 0 and not self.n_relevant

    @property
    def sentence(self) -> str:
        """What is to be said of it before and after an import."""
        since = "" if self.lowest is None else f" (from grade {self.lowest} on)"
        if not self.is_none:
            return f"{self.n_relevant:,} of {self.n_graded:,} grades count as relevant{since}."
        such = "" if self.lowest is None else f", such as 1={self.lowest}"
        return (
            f"None of the {self.n_graded:,} grades counts as relevant{since}: every score would be "
            f"0. Map them to the grades of this benchmark{such}, or change its scale."
        )

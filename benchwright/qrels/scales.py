"""Scales of grades, written a line each: `2 = Helpful: answers a part *`."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from benchwright.errors import BenchmarkError

# --- Scales of grades, written a line each: `2 = Helpful: answers a part *`.

DEFAULT_SCALE = """0 = Not relevant: does not help
1 = Related: on the topic, but no help
2 = Helpful: answers a part *
3 = Answers: says what was asked *"""


class ScaleError(BenchmarkError, code="scale"):
    message = "{why}"


def parse_scale(text: str) -> list[dict[str, Any]]:
    """Return the grades of a scale: value, name, anchor (what it means), is_relevant (the star).

    >>> parse_scale("0 = No\\n1 = Yes: it helps *")[1]
    {'value': 1, 'name': 'Yes', 'anchor': 'it helps', 'is_relevant': True}

    Raises
    ------
    ScaleError
        If a line is something else, a grade comes twice, 0 is missing or relevant, or none is.
    """
    grades = [
        _grade(line.strip(), number)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    ]
    why = _problem({grade["value"]: grade["is_relevant"] for grade in grades}, len(grades))
    if why:
        raise ScaleError(why=why)
    return grades


def _grade(line: str, number: int) -> dict[str, Any]:
    value, _, words = line.partition("=")
    name, _, anchor = words.removesuffix("*").partition(":")
    value, name = value.strip(), name.strip()
    if len(value) != 1 or not value.isdecimal() or not name or "*" in name:
        raise ScaleError(why=f"Line {number}: '{line[:120]}' is not '2 = Name: what it means *'.")
    return {
        "value": int(value),
        "name": name,
        "anchor": anchor.strip(),
        "is_relevant": words.endswith("*"),
    }


def _problem(is_relevant: dict[int, bool], n_lines: int) -> str:
    if len(is_relevant) != n_lines:
        return "A grade stands there twice."
    if 0 not in is_relevant or n_lines < 2:
        return "A scale has grade 0 and at least one more."
    if is_relevant[0]:
        return "Grade 0 means judged and not relevant; take its * away."
    if not any(is_relevant.values()):
        return "Mark the relevant grades with a * at the end of their line."
    lowest = min(value for value, relevant in is_relevant.items() if relevant)
    if not all(relevant for value, relevant in is_relevant.items() if value >= lowest):
        return f"Grade {lowest} is relevant, so every higher grade is as well; mark them with a *."
    return ""


# --- How many grades of a set of qrels count as relevant on a benchmark's scale.


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

"""Scales of grades, written a line each: `2 = Helpful: answers a part *`."""

import re
from typing import Any

from benchmarks_app.core.errors import BenchmarkError

DEFAULT_SCALE = """0 = Not relevant: does not help
1 = Related: on the topic, but no help
2 = Helpful: answers a part *
3 = Answers: says what was asked *"""
LINE = re.compile(
    r"(?P<value>\d)\s*=\s*(?P<name>[^:*]+?)\s*(?::\s*(?P<anchor>.*?))?\s*(?P<star>\*)?"
)


class ScaleError(BenchmarkError):
    code = "scale"
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
    found = LINE.fullmatch(line)
    if found is None:
        raise ScaleError(why=f"Line {number}: '{line}' is not '2 = Name: what it means *'.")
    return {
        "value": int(found["value"]),
        "name": found["name"],
        "anchor": found["anchor"] or "",
        "is_relevant": bool(found["star"]),
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

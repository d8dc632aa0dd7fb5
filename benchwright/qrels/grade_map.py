"""Mapping the grades of a file to a benchmark's scale: `1=4, 2=3, 3=2, 4=1, -1=0`."""

import re
from collections.abc import Iterable, Mapping

from benchwright.formats.errors import GradeMapError

PAIR = re.compile(r"\s*([+-]?\d{1,3})\s*=\s*([+-]?\d{1,3})\s*")


def parse_grade_map(text: str) -> dict[int, int]:
    """Return {grade in the file: grade in the benchmark}; empty text maps nothing.

    >>> parse_grade_map("1=4, -1=0")
    {1: 4, -1: 0}

    Raises
    ------
    GradeMapError
        If a part is not a pair of whole numbers, or a grade is mapped twice.
    """
    if not text.strip():
        return {}
    pairs = [PAIR.fullmatch(part) for part in text.split(",")]
    mapping = {int(pair[1]): int(pair[2]) for pair in pairs if pair}
    if len(mapping) != len(pairs):
        raise GradeMapError(text=text)
    return mapping


Origins = dict[str, list[int]]
"""{grade: the grades of the file that became it}, of a set of which some were mapped."""


def mapped_origins(
    grades: Iterable[int], mapping: Mapping[int, int], before: Mapping[str, list[int]]
) -> Origins:
    """The origins of what `grades` are mapped to, where they have origins themselves.

    >>> first = mapped_origins([1, 2, 3], {2: 3}, {})
    >>> first, mapped_origins([1, 3], {1: 0}, first)
    ({'1': [1], '3': [2, 3]}, {'0': [1], '3': [2, 3]})
    """
    origins: Origins = {}
    for grade in sorted(grades):
        of_file = origins.setdefault(str(mapping.get(grade, grade)), [])
        of_file += before.get(str(grade), [grade])
    return origins


def merged(origins: Mapping[str, list[int]]) -> dict[int, list[int]]:
    """The grades that several grades of the file have become, with these."""
    return {int(grade): sorted(olds) for grade, olds in origins.items() if len(olds) > 1}

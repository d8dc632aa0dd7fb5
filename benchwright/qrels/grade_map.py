"""Mapping the grades of a file to a benchmark's scale: `1=4, 2=3, -1=0`, `E=3, I=0`."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from benchwright.formats.errors import GradeMapError
from benchwright.formats.numbers import FileGrade, grade_of_file, in_order, quoted, word_of

# A number or a word, which stands in quotes where it holds a comma, a quote or `=`.
PAIR = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^",=]+?))\s*=\s*([+-]?\d{1,3})\s*(?:,|$)')
LARGEST = 999


def parse_file_grade_map(text: str) -> dict[FileGrade, int]:
    """Return {grade in the file, a number or a word: grade in the benchmark}.

    >>> parse_file_grade_map('1=4, not relevant=0, "so, so"=1')
    {1: 4, 'not relevant': 0, 'so, so': 1}

    Raises
    ------
    GradeMapError
        If a part is no such pair, or a grade is mapped twice.
    """
    mapping: dict[FileGrade, int] = {}
    at = 0
    while text[at:].strip():
        pair = PAIR.match(text, at)
        if pair is None:
            raise GradeMapError(text=text)
        cell = (pair[1] or "").replace('""', '"') or pair[2]
        grade = word_of(cell) or grade_of_file(cell)
        is_grade = bool(word_of(cell)) or (isinstance(grade, int) and abs(grade) <= LARGEST)
        if not is_grade or grade in mapping:
            raise GradeMapError(text=text)
        mapping[grade], at = int(pair[3]), pair.end()
    if text.rstrip().endswith(","):
        raise GradeMapError(text=text)
    return mapping


def parse_grade_map(text: str) -> dict[int, int]:
    """Return {grade: grade} where no grade is a word; empty text maps nothing.

    >>> parse_grade_map("1=4, -1=0")
    {1: 4, -1: 0}

    Raises
    ------
    GradeMapError
        If a part is not a pair of whole numbers, or a grade is mapped twice.
    """
    mapping = parse_file_grade_map(text)
    numbers = {grade: new for grade, new in mapping.items() if isinstance(grade, int)}
    if len(numbers) != len(mapping):
        raise GradeMapError(text=text)
    return numbers


def written_grade_map(pairs: Iterable[tuple[FileGrade, int]]) -> str:
    """The mapping of these pairs as `parse_file_grade_map` reads it.

    >>> written_grade_map([(1, 4), ("so, so", 1)])
    '1=4, "so, so"=1'
    """
    return ", ".join(f"{quoted(grade)}={new}" for grade, new in pairs)


Origins = dict[str, list[FileGrade]]
"""{grade: the grades of the file that became it}, of a set of which some were mapped."""


def mapped_origins(
    grades: Iterable[FileGrade],
    mapping: Mapping[Any, int],
    before: Mapping[str, list[FileGrade]],
) -> Origins:
    """The origins of what `grades` are mapped to, where they have origins themselves.

    >>> first = mapped_origins([1, 2, 3], {2: 3}, {})
    >>> first, mapped_origins([1, 3], {1: 0}, first)
    ({'1': [1], '3': [2, 3]}, {'0': [1], '3': [2, 3]})
    """
    origins: Origins = {}
    for grade in in_order(grades):
        of_file = origins.setdefault(str(mapping.get(grade, grade)), [])
        of_file += before.get(str(grade), [grade])
    return origins


def merged(origins: Mapping[str, list[FileGrade]]) -> dict[int, list[FileGrade]]:
    """The grades that several grades of the file have become, with these."""
    return {int(grade): in_order(olds) for grade, olds in origins.items() if len(olds) > 1}

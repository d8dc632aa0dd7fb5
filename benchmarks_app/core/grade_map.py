"""Mapping the grades of a file to a benchmark's scale: `1=4, 2=3, 3=2, 4=1, -1=0`."""

import re

from benchmarks_app.core.import_errors import GradeMapError

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

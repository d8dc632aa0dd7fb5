"""What can go wrong with a log of clicks.

BenchmarkError
├── ClickColumnsError  columns that say nothing of pages of results, or no rows of such
├── NoClicksError      no page, or no click, is left of it
└── CutsError          cuts between grades that are none
"""

from benchwright.errors import BenchmarkError


class ClickColumnsError(BenchmarkError, code="click-columns"):
    message = "{file}: {why}"


class NoClicksError(BenchmarkError, code="click-none"):
    message = "{file}: {why}"


class CutsError(BenchmarkError, code="click-cuts"):
    message = "'{given}': expected numbers above 0 that rise, such as 0.5,1,2, at most {most}."

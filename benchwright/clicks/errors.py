"""What can go wrong with a log of clicks.

BenchmarkError
├── ClickColumnsError  columns that say nothing of pages of results, or no rows of such
├── NoClicksError      no page, or no click, is left of it
├── ClickRoleError      a column that is said to be what no column is
├── CutsError          cuts between grades that are none
├── ArmsError          an arm of an A/B test that the log does not have
└── ClickScaleError    more grades than a benchmark's scale has
"""

from benchwright.errors import BenchmarkError


class ClickColumnsError(BenchmarkError, code="click-columns"):
    message = "{file}: {why}"


class NoClicksError(BenchmarkError, code="click-none"):
    message = "{file}: {why}"


class CutsError(BenchmarkError, code="click-cuts"):
    message = "'{given}': expected numbers above 0 that rise, such as 0.5,1,2, at most {most}."


class ArmsError(BenchmarkError, code="click-arm"):
    message = (
        "'{arm}' {why}. Name the arms as the log's column of arms has them (arm, variant or "
        "query_attributes.arm)."
    )


class ClickScaleError(BenchmarkError, code="click-scale"):
    message = (
        "{cuts} cuts make the grades 0 to {highest}; the benchmark has {scale}. Give as many cuts "
        "as it has grades above 0."
    )


class ClickRoleError(BenchmarkError, code="click-role"):
    message = "'{given}' is no column. Write role=name; roles are {roles}."

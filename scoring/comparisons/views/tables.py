"""A comparison's numbers as tables of a page: slices by measures, runs by runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.statistics.decisions import BETTER, OPEN, WORSE
from scoring.comparisons.services.reading import Told

TURNED = {BETTER: WORSE, WORSE: BETTER, OPEN: OPEN}


@dataclass(frozen=True)
class GridRow:
    """A slice, and the pair's difference by each measure."""

    name: str
    n_queries: int
    n_families: int
    cells: list[Mapping[str, Any] | None]


@dataclass(frozen=True)
class Grid:
    measures: list[str]
    rows: list[GridRow]


def slice_grid(comparison: Told, keys: tuple[str, str]) -> Grid:
    """Differences of one pair, slices down and measures across; all queries first."""
    pairs = {
        (pair["measure"], pair["slice"]): _cell(pair)
        for pair in comparison.numbers["pairs"]
        if (pair["run"], pair["reference"]) == keys
    }
    rows = [
        GridRow(
            row["name"],
            row["n_queries"],
            row["n_families"],
            [pairs.get((measure, row["name"])) for measure in comparison.measures],
        )
        for row in comparison.slices
    ]
    return Grid(comparison.measures, rows)


def _cell(pair: Mapping[str, Any]) -> Mapping[str, Any]:
    """A pair with its verdict: the corrected p of all slices together, or of all queries."""
    p = pair["p_adjusted"] if pair["p_slices"] is None else pair["p_slices"]
    return {**pair, "p_shown": p, "kind": pair["decision"]}


@dataclass(frozen=True)
class MatrixRow:
    """A run, its mean, and its difference to each run of the columns; None to itself."""

    summary: Mapping[str, Any]
    cells: list[Mapping[str, Any] | None]


@dataclass(frozen=True)
class Matrix:
    """Rows and columns are the runs, best mean first."""

    columns: list[str]
    rows: list[MatrixRow]


def matrix_of(summaries: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]) -> Matrix:
    """Every run against every other; with a baseline, every run against that alone."""
    ordered = sorted(
        summaries,
        key=lambda summary: (summary["rank"] is None, summary["rank"] or 0, summary["run"]),
    )
    cells: dict[tuple[str, str], Mapping[str, Any]] = {}
    for pair in pairs:
        difference, p = pair["difference"], pair["p_adjusted"]
        cells[pair["run"], pair["reference"]] = _small(pair, difference, p, pair["decision"])
        turned = None if difference is None else -difference
        cells[pair["reference"], pair["run"]] = _small(pair, turned, p, TURNED[pair["decision"]])
    references = {pair["reference"] for pair in pairs} | {pair["run"] for pair in pairs}
    columns = [summary["run"] for summary in ordered if summary["run"] in references]
    is_baseline = (
        len({pair["reference"] for pair in pairs}) == 1
        and len(pairs) < len(columns) * (len(columns) - 1) / 2
    )
    if is_baseline:
        columns = [pairs[0]["reference"]]
    rows = [
        MatrixRow(summary, [cells.get((summary["run"], column)) for column in columns])
        for summary in ordered
    ]
    return Matrix(columns, rows)


def _small(
    pair: Mapping[str, Any], difference: float | None, p: float | None, kind: str
) -> dict[str, Any]:
    return {"difference": difference, "p": p, "n": pair["n_queries"], "kind": kind}

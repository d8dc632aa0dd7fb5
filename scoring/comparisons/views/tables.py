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


def slice_grid(found: Told, keys: tuple[str, str]) -> Grid:
    """Differences of one pair, slices down and measures across; all queries first."""
    pairs = {
        (one["measure"], one["slice"]): _cell(one)
        for one in found.numbers["pairs"]
        if (one["run"], one["reference"]) == keys
    }
    rows = [
        GridRow(
            one["name"],
            one["n_queries"],
            one["n_families"],
            [pairs.get((measure, one["name"])) for measure in found.measures],
        )
        for one in found.slices
    ]
    return Grid(found.measures, rows)


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
    ordered = sorted(summaries, key=lambda one: (one["rank"] is None, one["rank"] or 0, one["run"]))
    cells: dict[tuple[str, str], Mapping[str, Any]] = {}
    for one in pairs:
        difference, p = one["difference"], one["p_adjusted"]
        cells[one["run"], one["reference"]] = _small(one, difference, p, one["decision"])
        turned = None if difference is None else -difference
        cells[one["reference"], one["run"]] = _small(one, turned, p, TURNED[one["decision"]])
    references = {one["reference"] for one in pairs} | {one["run"] for one in pairs}
    columns = [one["run"] for one in ordered if one["run"] in references]
    is_baseline = (
        len({one["reference"] for one in pairs}) == 1
        and len(pairs) < len(columns) * (len(columns) - 1) / 2
    )
    if is_baseline:
        columns = [pairs[0]["reference"]]
    rows = [
        MatrixRow(one, [cells.get((one["run"], column)) for column in columns]) for one in ordered
    ]
    return Matrix(columns, rows)


def _small(
    pair: Mapping[str, Any], difference: float | None, p: float | None, kind: str
) -> dict[str, Any]:
    return {"difference": difference, "p": p, "n": pair["n_queries"], "kind": kind}

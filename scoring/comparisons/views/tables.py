"""A comparison's numbers as tables of a page: slices by measures, runs by runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from scoring.comparisons.services.reading import Told
from scoring.comparisons.services.verdicts import TURNED, Kind, SliceVerdict, Verdict

MOST_TICKS = 5
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


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
class ForestRow:
    """A slice with where its difference and interval lie, in per cent of the axis."""

    verdict: SliceVerdict
    at: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Forest:
    """Slices on one axis; `ticks` are (place, value), `band` is the margin around 0."""

    rows: list[ForestRow]
    ticks: list[tuple[float, float]]
    zero: float
    band: tuple[float, float]

    @property
    def has_few(self) -> bool:
        return any(row.verdict.kind == Kind.TOO_FEW for row in self.rows)


def forest_of(verdict: Verdict) -> Forest:
    """All queries and the slices, each as a point on its interval."""
    pairs = [row.pair for row in verdict.slices]
    ends = [end for pair in pairs for end in pair["interval"].values() if end is not None]
    ends += [pair["difference"] for pair in pairs] + [-verdict.margin, verdict.margin]
    low, high = min(ends), max(ends)
    step = next((step for step in STEPS if (high - low) / step <= MOST_TICKS), STEPS[-1])
    room = (high - low) * 0.02
    low, high = low - room, high + room

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    ticks = [step * n for n in range(ceil(low / step), floor(high / step) + 1)]
    rows = []
    for row in verdict.slices:
        interval = row.pair["interval"]
        has_ends = interval["low"] is not None and interval["high"] is not None
        rows.append(
            ForestRow(
                row,
                place(row.pair["difference"]),
                place(interval["low"]) if has_ends else None,
                place(interval["high"]) if has_ends else None,
            )
        )
    band_low = place(-verdict.margin)
    return Forest(
        rows=rows,
        ticks=[(place(tick), tick) for tick in ticks],
        zero=place(0.0),
        band=(band_low, round(place(verdict.margin) - band_low, 2)),
    )


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

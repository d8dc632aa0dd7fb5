"""What a chart is: a Vega-Lite specification without colours, its rows, and words for both."""

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks_app.charts.themes import themed
from benchwright.files.cells import safe_cell

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
# Widths in pixels: of a telephone, of half the page and of all of it.
SIZES = {"narrow": 344, "column": 560, "wide": 1120}
HEIGHT = 260
PADDING = 8
MOST_TICKS = 5
# A browser's letters may be wider than those a picture was laid out with: pixels a letter.
ROOM_A_LETTER, MOST_LETTERS = 1.2, 28


def axis_of_counts(most: int) -> dict[str, Any]:
    """The axis of counts up to `most`: a few ticks, at whole numbers alone.

    Examples
    --------
    >>> axis_of_counts(2)
    {'format': ',d', 'tickCount': 2}
    """
    return {"format": ",d", "tickCount": min(max(most, 1), MOST_TICKS)}


@dataclass(frozen=True)
class Chart:
    """A chart of a page.

    `spec` is Vega-Lite without data, size and theme; `$accent` and the like in it are colours of
    the theme. `description` says in words what the eye sees: it is the picture's text alternative.
    `rows` are what is drawn, and what the CSV file holds.
    """

    title: str
    description: str
    spec: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]
    height: int = HEIGHT

    def vega_lite(self, theme: str = "light", size: str = "column") -> dict[str, Any]:
        """The whole specification, as any Vega-Lite draws it: with data, size and theme."""
        fitted = {"width": SIZES[size], "height": self.height} if _is_single(self.spec) else {}
        return {
            "$schema": SCHEMA,
            "description": f"{self.title}. {self.description}",
            "autosize": {"type": "fit", "contains": "padding"},
            "padding": {**dict.fromkeys(("top", "right", "bottom"), PADDING), "left": self._left()},
            **fitted,
            **themed(self.spec, theme),
            "data": {"values": [dict(row) for row in self.rows]},
        }

    def _left(self) -> int:
        """The padding before the names of a vertical axis: more, the longer they are."""
        parts = [self.spec, *self.spec.get("layer", ())]
        axes = [part["encoding"]["y"] for part in parts if "y" in part.get("encoding", {})]
        fields = {y["field"] for y in axes if y.get("type") in {"nominal", "ordinal"}}
        names = [str(row[field]) for row in self.rows for field in fields if field in row]
        letters = min(max(map(len, names), default=0), MOST_LETTERS)
        return PADDING + round(ROOM_A_LETTER * letters)

    def digest(self, *more: object) -> str:
        """A digest of what is drawn, theme and size included; equal for equal pictures."""
        text = json.dumps([self.vega_lite(), *more], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def csv(self) -> str:
        """The rows as CSV, a column for each key in the order in which keys appear."""
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(columns)
        writer.writerows([safe_cell(row.get(column)) for column in columns] for row in self.rows)
        return out.getvalue()


def day(day: Any) -> str:
    """A date as charts take it; browsers read a bare date as midnight in UTC, not here."""
    return f"{day:%Y-%m-%d}T00:00:00"


def _is_single(spec: Mapping[str, Any]) -> bool:
    """Whether it is one picture, which is fitted into its frame; a grid keeps its own sizes."""
    return not {"facet", "repeat", "concat", "hconcat", "vconcat"} & set(spec)

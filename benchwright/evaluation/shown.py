"""Results as notebooks show them: a table, with an interval drawn in each row; and as frames.

No style and no script: where a policy forbids both, as on the site, a result looks the same. Lines
are drawn in the colour of the text, and so are dark where that is light.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any

from benchwright.errors import MissingPackageError

if TYPE_CHECKING:
    import polars

WIDTH, HEIGHT, MARGIN = 132, 16, 4


class Drawn(str):
    """HTML of ours, which is not escaped again."""

    __slots__ = ()


def table(
    head: Sequence[str], rows: Iterable[Sequence[object]], *, notes: Iterable[str] = ()
) -> str:
    """An HTML table, and sentences below it; numbers have four decimals."""
    lines = ["<table>", f"<thead>{_row('th', head)}</thead>", "<tbody>"]
    lines += [_row("td", row) for row in rows]
    lines += ["</tbody>", "</table>"]
    return "\n".join(lines) + sentences(notes)


def sentences(notes: Iterable[str]) -> str:
    """A paragraph each."""
    return "".join(f"\n<p>{escape(note)}</p>" for note in notes)


def _row(tag: str, cells: Iterable[object]) -> str:
    """A row of cells; what has no words heads nothing."""
    tags = ((tag if cell != "" else "td", cell) for cell in cells)
    return f"<tr>{''.join(f'<{of}>{_cell(cell)}</{of}>' for of, cell in tags)}</tr>"


def _cell(value: object) -> str:
    if isinstance(value, Drawn):
        return value
    if isinstance(value, float):
        return f"{value:.4f}" if isfinite(value) else "-"
    return "-" if value is None else escape(str(value))


def interval_words(low: float | None, high: float | None) -> str:
    """An interval in brackets; a dash where there is none."""
    if low is None or high is None or not (isfinite(low) and isfinite(high)):
        return "-"
    return f"[{low:.4f}, {high:.4f}]"


def interval_chart(
    value: float, low: float | None, high: float | None, span: tuple[float, float]
) -> Drawn:
    """A dot at the value on a line from `low` to `high`; the axis is `span`, with a mark at 0.

    Empty where the value is not defined.
    """
    first, last = span
    if not isfinite(value) or not first < last:
        return Drawn("")

    def x(of: float) -> str:
        share = (min(max(of, first), last) - first) / (last - first)
        return f"{MARGIN + share * (WIDTH - 2 * MARGIN):.1f}"

    middle = HEIGHT // 2
    words = f"{value:.4f} {interval_words(low, high)}".removesuffix(" -")
    parts = [
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{words}">',
        f'<path d="M{x(first)} {middle}H{x(last)}" stroke="currentColor" stroke-opacity=".2"/>',
    ]
    if first <= 0 <= last:
        parts.append(
            f'<path d="M{x(0)} 2V{HEIGHT - 2}" stroke="currentColor" stroke-opacity=".4"/>'
        )
    if low is not None and high is not None and isfinite(low) and isfinite(high):
        line = f'<path d="M{x(low)} {middle}H{x(high)}" stroke="currentColor" stroke-width="3"/>'
        parts.append(line)
    parts.append(f'<circle cx="{x(value)}" cy="{middle}" r="3.5" fill="currentColor"/></svg>')
    return Drawn("".join(parts))


def common_span(values: Iterable[float | None]) -> tuple[float, float]:
    """An axis that all of them and 0 are on."""
    defined = [value for value in values if value is not None and isfinite(value)]
    first, last = min([0.0, *defined]), max([0.0, *defined])
    return (first, last) if first < last else (0.0, 1.0)


# --- as frames, of polars or pandas, neither of which is needed before ---------------------------


Rows = Sequence[Mapping[str, Any]]


def polars_frame(rows: Rows) -> "polars.DataFrame":
    """A frame of polars; what is not defined is null.

    Raises
    ------
    MissingPackageError
        If there is no polars.
    """
    try:
        import polars
    except ModuleNotFoundError as error:
        raise MissingPackageError.of(error, "to_frame") from error
    return polars.DataFrame(list(rows), infer_schema_length=None, nan_to_null=True)


def pandas_frame(rows: Rows) -> Any:
    """A frame of pandas; what is not defined is missing.

    Raises
    ------
    MissingPackageError
        If there is no pandas.
    """
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise MissingPackageError(what="to_pandas", package="pandas", extra="pandas") from error
    return pandas.DataFrame(list(rows))

"""Which rows of a board are shown, and in which order; ranks stay those of the whole board."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from math import isnan
from typing import Any

from benchmarks_app.models import Run
from scoring.scores.selectors.boards import BoardRow

# What sorts a board beside the measures, and whether the largest comes first.
SORTS: dict[str, tuple[Callable[[BoardRow], Any], bool]] = {
    "rank": (lambda row: row.rank, False),
    "run": (lambda row: row.run.name.casefold(), False),
    "by": (lambda row: row.by.casefold(), False),
    "date": (lambda row: row.run.created_at, True),
    "answered": (lambda row: row.answered and row.answered.share, True),
    "missing": (lambda row: row.answered and row.answered.n_missing, True),
    "extra": (lambda row: row.answered and row.answered.n_extra, True),
    "adjusted": (lambda row: row.adjusted, True),
    "attempts": (lambda row: row.n_attempts, True),
}


@dataclass(frozen=True)
class BoardFilter:
    """What of a board is asked for; what is empty or None leaves nothing out."""

    q: str = ""
    type: str = ""
    by: str = ""
    kind: str = ""
    pooled: bool | None = None
    trained: bool | None = None
    since: date | None = None
    until: date | None = None
    best: bool = False
    sort: str = "rank"
    is_reversed: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether it may leave rows out."""
        unchanged = BoardFilter(sort=self.sort, is_reversed=self.is_reversed)
        return self != unchanged


def filtered(rows: Iterable[BoardRow], asked: BoardFilter) -> list[BoardRow]:
    """The rows that are asked for, in their order."""
    if not asked.is_narrow:
        return list(rows)
    matches = [row for row in rows if _is_asked(row, asked)]
    return best_of_each(matches) if asked.best else matches


def _is_asked(row: BoardRow, asked: BoardFilter) -> bool:
    run, day = row.run, row.run.created_at.date()
    words = asked.q.casefold().split()
    text = f"{run.name} {row.by} {row.type} {run.description}".casefold() if words else ""
    return (
        all(word in text for word in words)
        and (not asked.type or row.type == asked.type)
        and (not asked.by or row.by == asked.by)
        and (not asked.kind or run.kind == asked.kind)
        and (asked.pooled is None or bool(run.pooled_depth) == asked.pooled)
        and (asked.trained is None or row.is_trained == asked.trained)
        and (asked.since is None or day >= asked.since)
        and (asked.until is None or day <= asked.until)
    )


def best_of_each(rows: Iterable[BoardRow]) -> list[BoardRow]:
    """The first row of each team; rows that are nobody's attempts, or unknown whose, all stay."""
    seen: set[str] = set()
    best = []
    for row in rows:
        if row.team and row.team in seen:
            continue
        seen.add(row.team)
        best.append(row)
    return best


def sorted_rows(
    rows: Sequence[BoardRow], sort: str, *, is_reversed: bool = False
) -> list[BoardRow]:
    """The rows by a column, equal ones in the order of their ranks; what has no value is last."""
    value_of, is_descending = SORTS.get(sort, SORTS["rank"])
    valued = [row for row in rows if _is_there(value_of(row))]
    rest = [row for row in rows if not _is_there(value_of(row))]
    return sorted(valued, key=value_of, reverse=is_descending != is_reversed) + rest


def _is_there(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and isnan(value))


@dataclass(frozen=True)
class FilterChoices:
    """What there is to choose from on a board."""

    types: list[str]
    by: list[str]
    kinds: list[tuple[str, str]]


def filter_choices(rows: Iterable[BoardRow]) -> FilterChoices:
    types, by, kinds = set(), set(), set()
    for row in rows:
        types.add(row.type)
        by.add(row.by)
        kinds.add(row.run.kind)
    labels = [(kind.value, kind.label) for kind in Run.Kind if kind.value in kinds]
    return FilterChoices(sorted(types - {""}), sorted(by - {""}, key=str.casefold), labels)

"""Runs on the same queries as one array, with slices and families beside it."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchwright.errors import (
    MissingValueError,
    NoCommonMeasureError,
    ReservedSliceError,
    RunsDifferError,
    TooFewQueriesError,
    TooFewRunsError,
)
from benchwright.evaluation.evaluating import Evaluation
from benchwright.files.encodings import as_bytes, as_shown, as_text
from benchwright.measures import parse_measure
from benchwright.statistics.families import FamilyOf, Floats

PerQuery: TypeAlias = Evaluation[Any] | Mapping[Any, Mapping[str, float]]
"""Values of one run: measure names to numbers, of every query."""

OVERALL = "all"
"""The slice that holds every query."""

Rows: TypeAlias = Mapping[Any, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Aligned:
    """`values` are queries x runs x measures; a slice is a mask of the queries, `OVERALL` first."""

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    values: Floats
    slices: Mapping[str, NDArray[np.bool_]]
    families: FamilyOf | None
    notes: tuple[str, ...]


def align(
    runs: Mapping[str, PerQuery],
    *,
    measures: Sequence[str] | None = None,
    slices: Mapping[str, Collection[Hashable]] | None = None,
    families: Mapping[Any, Hashable] | None = None,
) -> Aligned:
    """The runs' values on their queries, which must be the same in all of them.

    Raises
    ------
    TooFewRunsError, TooFewQueriesError
        Below two of either.
    RunsDifferError
        If a run lacks queries of another.
    NoCommonMeasureError, UnknownMeasureError, MissingValueError
        If there is no measure that all have, or one that was asked for is missing.
    ReservedSliceError
        If a slice is called as all queries are.
    """
    if len(runs) < 2:
        raise TooFewRunsError(count=len(runs))
    rows = {name: _rows(run) for name, run in runs.items()}
    queries = _common_queries(rows)
    names = _common_measures(rows, measures)
    masks, slice_notes = _masks(queries, slices or {})
    numbers, family_notes = _family_numbers(queries, families)
    return Aligned(
        runs=tuple(rows),
        measures=names,
        values=_values(rows, queries, names),
        slices=masks,
        families=numbers,
        notes=(*slice_notes, *family_notes),
    )


def _rows(run: PerQuery) -> Rows:
    rows = run.per_query if isinstance(run, Evaluation) else run
    return {_name(query): values for query, values in rows.items()}


def _name(query: Any) -> Any:
    """An id as text, whatever wrote it: of files they are bytes, and people write text."""
    return as_text(query) if isinstance(query, bytes) else query


def _common_queries(rows: Mapping[str, Rows]) -> list[Any]:
    """The queries in the order of the first run."""
    (first, queries), *others = rows.items()
    for name, run in others:
        for lacking, has, missing in (
            (name, first, [q for q in queries if q not in run]),
            (first, name, [q for q in run if q not in queries]),
        ):
            if missing:
                raise RunsDifferError(
                    run=lacking, other=has, count=len(missing), ids=_some(missing)
                )
    if len(queries) < 2:
        raise TooFewQueriesError(count=len(queries))
    return list(queries)


def _some(ids: Iterable[Any]) -> str:
    """Three of the ids, for a message."""
    return ", ".join(f"'{as_shown(as_bytes(query))}'" for query in islice(ids, 3))


def _common_measures(rows: Mapping[str, Rows], measures: Sequence[str] | None) -> tuple[str, ...]:
    of_runs = {name: dict.fromkeys(chain.from_iterable(run.values())) for name, run in rows.items()}
    first, *others = of_runs.values()
    common = tuple(name for name in first if all(name in other for other in others))
    if measures is None:
        if not common:
            raise NoCommonMeasureError(
                measures="; ".join(f"{run} has {', '.join(of)}" for run, of in of_runs.items())
            )
        return common
    measures = [measures] if isinstance(measures, str) else measures
    names = (name if name in common else str(parse_measure(name)) for name in measures)
    return tuple(dict.fromkeys(names))


def _values(rows: Mapping[str, Rows], queries: list[Any], measures: tuple[str, ...]) -> Floats:
    values = np.empty((len(queries), len(rows), len(measures)))
    for place, (run, of_run) in enumerate(rows.items()):
        for row, query in enumerate(queries):
            try:
                values[row, place] = [of_run[query][measure] for measure in measures]
            except KeyError as missing:
                raise MissingValueError(
                    run=run, query=_some([query]), measure=missing.args[0]
                ) from None
    return values


def _masks(
    queries: list[Any], slices: Mapping[str, Collection[Hashable]]
) -> tuple[dict[str, NDArray[np.bool_]], list[str]]:
    if OVERALL in slices:
        raise ReservedSliceError(name=OVERALL)
    masks, notes = {OVERALL: np.ones(len(queries), dtype=bool)}, []
    known_queries = set(queries)
    for name, members in slices.items():
        inside = set(map(_name, members))
        masks[name] = np.array([query in inside for query in queries])
        if unknown := len(inside - known_queries):
            notes.append(
                f"Slice '{name}': {unknown} of its {len(inside)} queries are not compared."
            )
    return masks, notes


def _family_numbers(
    queries: list[Any], families: Mapping[Any, Hashable] | None
) -> tuple[FamilyOf | None, list[str]]:
    """A number for each query's family; queries without one get one of their own."""
    if families is None:
        return None, []
    families = {_name(query): family for query, family in families.items()}
    alone = [query for query in queries if query not in families]
    labels = [(True, families[q]) if q in families else (False, q) for q in queries]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    notes = [
        f"{len(alone)} of {len(queries)} queries are in no family, and count as one each: "
        f"{_some(alone)}{' …' if len(alone) > 3 else ''}."
    ]
    codes = np.array([numbers[label] for label in labels], dtype=np.intp)
    return codes, notes if alone else []

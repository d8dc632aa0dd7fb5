"""A run against qrels: every measure of every query, and over all of them.

What decides a mean: a query of the qrels that the run lacks counts as one that found nothing
(`missing="zero"`, trec_eval's `-c`) or is left out (`"skip"`); a query without a relevant document
stays in with 0; a NaN (only `Judged` of a query that found nothing) is left out of that measure's
mean and counted in `n_undefined`; a mean over nothing is NaN. Counts are added up, not averaged.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import fsum, isnan, nan
from pathlib import Path
from typing import Any, Generic, cast, overload

from scoring.core.errors import (
    EmptyQrelsError,
    EmptyRunError,
    NoCommonQueryError,
    UnknownMissingRuleError,
)
from scoring.core.measures.registry import Measure, parse_measure
from scoring.core.reading.hits import Judged, Qid, QueryHits
from scoring.core.reading.ranking import Scored
from scoring.core.reading.scanning import GradeTable, scan_qrels, scan_run

MISSING_RULES = ("zero", "skip")


@dataclass(frozen=True, slots=True)
class Evaluation(Generic[Qid]):
    """Values by canonical measure name, such as `means["nDCG@10"]`.

    `judged_shares` holds for each measure the mean share of judged documents among the results it
    looks at (down to its cutoff), and `n_undefined` how many queries were left out of its mean.
    """

    measures: tuple[Measure, ...]
    per_query: Mapping[Qid, Mapping[str, float]]
    means: Mapping[str, float]
    judged_shares: Mapping[str, float]
    n_undefined: Mapping[str, int]
    n_queries: int
    n_missing: int
    n_extra: int


@overload
def evaluate(
    qrels: Mapping[str, Any],
    run: Any,
    measures: Iterable[str | Measure],
    *,
    ties: str = ...,
    missing: str = ...,
    depth: int | None = ...,
    allow_empty: bool = ...,
) -> Evaluation[str]: ...


@overload
def evaluate(
    qrels: Mapping[bytes, Mapping[bytes, int]] | GradeTable | Path | str,
    run: Mapping[bytes, Sequence[Scored]] | Path | str,
    measures: Iterable[str | Measure],
    *,
    ties: str = ...,
    missing: str = ...,
    depth: int | None = ...,
    allow_empty: bool = ...,
) -> Evaluation[bytes]: ...


@overload
def evaluate(
    qrels: Any,
    run: Any,
    measures: Iterable[str | Measure],
    *,
    ties: str = ...,
    missing: str = ...,
    depth: int | None = ...,
    allow_empty: bool = ...,
) -> Evaluation[Any]: ...


def evaluate(
    qrels: Any,
    run: Any,
    measures: Iterable[str | Measure],
    *,
    ties: str = "trec",
    missing: str = "zero",
    depth: int | None = None,
    allow_empty: bool = False,
) -> Evaluation[Any]:
    """Measures of a run; `depth` looks at that many results a query only (trec_eval's `-M`).

    Paths are of TREC files, which are scanned without being kept: the quickest way. What else
    qrels and runs can be, `scoring.core.inputs` says: mappings, frames, arrays, rows. The results'
    query ids are text where those of qrels or run are, and bytes otherwise.

    Raises
    ------
    ColumnsError, FileProblemsError
        If qrels or run cannot be read.
    EmptyQrelsError, EmptyRunError, NoCommonQueryError
        If there is nothing to compare. With `allow_empty`, a run without results for any of the
        queries is scored all the same.
    UnknownMeasureError, MeasureParameterError, CutoffError, RelevanceThresholdError
        If a measure is none.
    UnknownTieRuleError, UnknownMissingRuleError
        If a rule is none.
    """
    parsed = _parsed(measures)
    table, has_text_grades = _table(qrels)
    hits, has_text_results = _hits(run, table, ties, depth)
    found = evaluate_hits(table.judged, hits, parsed, missing=missing, allow_empty=allow_empty)
    return _with_text_ids(found) if has_text_grades or has_text_results else found


def _table(qrels: Any) -> tuple[GradeTable, bool]:
    """The grades, and whether their query ids came as text."""
    if isinstance(qrels, GradeTable):
        return qrels, False
    if isinstance(qrels, str | Path):
        return scan_qrels(Path(qrels)), False
    from scoring.core.inputs import take_qrels  # not needed for files, which start quicker without

    taken = take_qrels(qrels)
    return GradeTable(taken.content), taken.is_text


def _hits(
    run: Any, table: GradeTable, ties: str, depth: int | None
) -> tuple[Mapping[bytes, QueryHits[bytes]], bool]:
    """The hits of every query that was answered, and whether query ids came as text."""
    if isinstance(run, str | Path):
        return scan_run(Path(run), table, ties=ties, depth=depth), False
    from scoring.core.inputs import hits_of

    taken = hits_of(run, table.grades, ties=ties, depth=depth)
    return taken.content, taken.is_text


def _with_text_ids(found: Evaluation[bytes]) -> Evaluation[str]:
    per_query = {
        qid.decode("utf-8", "surrogateescape"): values for qid, values in found.per_query.items()
    }
    return cast("Evaluation[str]", replace(cast("Evaluation[Any]", found), per_query=per_query))


def evaluate_hits(
    judged: Mapping[Qid, Judged],
    hits: Mapping[Qid, QueryHits[Qid]],
    measures: Iterable[str | Measure],
    *,
    missing: str = "zero",
    allow_empty: bool = False,
) -> Evaluation[Qid]:
    """Measures of hits found earlier, as `evaluate` gives them for the run they are from.

    Hits of a query that `judged` lacks are ignored and counted, so a slice needs only its `judged`.

    Raises
    ------
    EmptyQrelsError, EmptyRunError, NoCommonQueryError
        If there is nothing to compare. With `allow_empty`, a run without results for any of the
        queries is scored all the same.
    UnknownMeasureError, MeasureParameterError, CutoffError, RelevanceThresholdError
        If a measure is none.
    UnknownMissingRuleError
        If `missing` is none.
    """
    parsed = _parsed(measures)
    _check(judged, hits, missing, allow_empty)
    common = {qid: found for qid, found in hits.items() if qid in judged}
    return _evaluation(judged, common, parsed, missing, n_extra=len(hits) - len(common))


def _parsed(measures: Iterable[str | Measure]) -> tuple[Measure, ...]:
    parsed = (parse_measure(name) if isinstance(name, str) else name for name in measures)
    return tuple(dict.fromkeys(parsed))


def _check(
    judged: Mapping[Qid, object],
    found: Mapping[Qid, QueryHits[Qid]],
    missing: str,
    allow_empty: bool,
) -> None:
    if missing not in MISSING_RULES:
        raise UnknownMissingRuleError(missing=missing)
    if not judged:
        raise EmptyQrelsError
    if allow_empty:
        return
    if not any(query.n_retrieved for query in found.values()):
        raise EmptyRunError
    if judged.keys().isdisjoint(found):
        raise NoCommonQueryError(run_ids=_some_ids(found), qrel_ids=_some_ids(judged))


def _some_ids(queries: Iterable[bytes | str]) -> str:
    """Three of the ids, for a message."""
    names = (
        qid if isinstance(qid, str) else qid.decode("utf-8", "backslashreplace")
        for qid in islice(queries, 3)
    )
    return ", ".join(f"'{name}'" for name in names)


def _evaluation(
    judged: Mapping[Qid, Judged],
    hits: Mapping[Qid, QueryHits[Qid]],
    measures: tuple[Measure, ...],
    missing: str,
    *,
    n_extra: int,
) -> Evaluation[Qid]:
    found = {
        qid: hits.get(qid) or QueryHits(qid, (), 0)
        for qid in judged
        if missing == "zero" or qid in hits
    }
    named = {str(measure): measure for measure in measures}
    per_query = {
        qid: {name: measure.value(query, judged[qid]) for name, measure in named.items()}
        for qid, query in found.items()
    }
    columns = {name: [row[name] for row in per_query.values()] for name in named}
    return Evaluation(
        measures=measures,
        per_query=per_query,
        means={name: _over_all(measure, columns[name]) for name, measure in named.items()},
        judged_shares={
            name: _judged_share(measure, found, judged) for name, measure in named.items()
        },
        n_undefined={name: sum(map(isnan, column)) for name, column in columns.items()},
        n_queries=len(found),
        n_missing=sum(qid not in hits for qid in judged),
        n_extra=n_extra,
    )


def _over_all(measure: Measure, values: Sequence[float]) -> float:
    defined = [value for value in values if not isnan(value)]
    if measure.is_total:
        return fsum(defined)
    return fsum(defined) / len(defined) if defined else nan


def _judged_share(
    measure: Measure, found: Mapping[Qid, QueryHits[Qid]], judged: Mapping[Qid, Judged]
) -> float:
    share = Measure("Judged", cutoff=measure.cutoff)
    return _over_all(share, [share.value(found[qid], judged[qid]) for qid in found])

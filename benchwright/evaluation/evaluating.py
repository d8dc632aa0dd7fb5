"""A run against qrels: every measure of every query, and over all of them.

What decides a mean: a query of the qrels that the run lacks counts as one that found nothing
(`missing="zero"`, trec_eval's `-c`) or is left out (`"skip"`); a query that the run answered with
nothing is not missing, and counts 0; a query without a relevant document stays in with 0; a NaN
(only `Judged` and `Hole` of a query that found nothing) is left out of that measure's mean and
counted in `n_undefined`; a mean over nothing is NaN. Counts are added up, GMAP and GMbpref are
geometric means.
"""

from collections.abc import Collection, Iterable, Iterator, KeysView, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, overload

from benchwright.errors import (
    EmptyQrelsError,
    EmptyRunError,
    NoCommonQueryError,
    UnknownMissingRuleError,
)
from benchwright.files.encodings import as_shown, as_text
from benchwright.formats.unlisted import NOT_RELEVANT, UNKNOWN
from benchwright.measures.columns import Columns
from benchwright.measures.families import Measure
from benchwright.measures.registry import parse_measures, scored_name
from benchwright.measures.shared_hits import FEW
from benchwright.reading.hits import Judged, Qid, QueryHits, judged_by
from benchwright.reading.ranking import Scored
from benchwright.reading.scanning import GradeTable, scan_qrels, scan_run

if TYPE_CHECKING:
    import polars

MISSING_RULES = ("zero", "skip")
# Where nobody says which.
DEFAULT_MEASURES = ("nDCG@10", "AP", "RR@10", "R@100", "P@10", "Judged@10")


class Evaluation(Generic[Qid]):
    """Values by canonical measure name, such as `means["nDCG@10"]`.

    `judged_shares` holds for each measure the mean share of judged documents among the results it
    looks at (down to its cutoff), and `n_undefined` how many queries were left out of its mean.
    `top_grade` is the highest grade of the scale, as ERR and RBP need it. `rules` tells how ties,
    missing queries, depth and unlisted documents were taken; None where whoever found the hits did
    not say.
    """

    # Written out: a small score has no time to load dataclasses.
    __slots__ = (
        *("measures", "per_query", "means", "judged_shares", "n_undefined"),
        *("n_queries", "n_missing", "n_extra", "top_grade", "rules"),
    )

    def __init__(
        self,
        measures: tuple[Measure, ...],
        per_query: Mapping[Qid, Mapping[str, float]],
        means: Mapping[str, float],
        judged_shares: Mapping[str, float],
        n_undefined: Mapping[str, int],
        n_queries: int,
        n_missing: int,
        n_extra: int,
        top_grade: int = 1,
        rules: Mapping[str, str | int | None] | None = None,
    ) -> None:
        self.measures = measures
        self.per_query: Mapping[Qid, Mapping[str, float]] = per_query
        self.means = means
        self.judged_shares = judged_shares
        self.n_undefined = n_undefined
        self.n_queries = n_queries
        self.n_missing = n_missing
        self.n_extra = n_extra
        self.top_grade = top_grade
        self.rules = rules or {}

    def replaced(self, **fields: Any) -> "Evaluation[Any]":
        """A copy with other values of these fields."""
        return Evaluation(**{**self._fields(), **fields})

    def with_text_ids(self) -> "Evaluation[str]":
        """A copy whose query ids are text, whatever they were: those of files are bytes."""
        per_query = {as_text(qid): values for qid, values in self.per_query.items()}
        return self.replaced(per_query=per_query)

    def with_ids_like(self, ids: Iterable[Any]) -> "Evaluation[Any]":
        """Itself, with text ids where `ids` are text: those of files are bytes."""
        kinds = (type(next(iter(names), None)) for names in (self.per_query, ids))
        return self.with_text_ids() if tuple(kinds) == (bytes, str) else self

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and self._fields() == other._fields()

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._fields().items())
        return f"Evaluation({values})"

    def __getitem__(self, name: str) -> float:
        """A mean by any name of its measure: `found["MRR"]`, `found["ndcg_cut_10"]`."""
        return self.means[scored_name(name, self.means)]

    def keys(self) -> KeysView[str]:
        """The canonical names, so that `dict(found)` is the means."""
        return self.means.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.means)

    def __contains__(self, name: str) -> bool:
        """Whether `found[name]` is there."""
        with suppress(KeyError):
            return bool(scored_name(name, self.means))
        return False

    def _repr_html_(self) -> str:
        """A row a measure with its 95 % interval drawn, as a notebook shows it."""
        from benchwright.evaluation import shown

        spans = {str(measure): measure.span for measure in self.measures}
        rows = [
            (
                row["measure"],
                row["mean"],
                shown.interval_words(row["low"], row["high"]),
                shown.interval_chart(row["mean"], row["low"], row["high"], spans[row["measure"]]),
                row["judged_share"],
                row["n_undefined"],
            )
            for row in self._rows()
        ]
        head = ("measure", "mean", "95 % interval", "", "judged", "undefined")
        note = f"{self.n_queries:,} queries, {self.n_missing:,} of them not in the run"
        extra = f"; {self.n_extra:,} of the run not in the qrels" if self.n_extra else ""
        return shown.table(head, rows, notes=[f"{note}{extra}."])

    def to_frame(self, by: Literal["measure", "query"] = "measure") -> "polars.DataFrame":
        """A frame of polars: a row a measure with its 95 % interval, or a row a query.

        Raises
        ------
        MissingPackageError
            If there is no polars, which the extra `tools` brings.
        """
        from benchwright.evaluation.shown import polars_frame

        return polars_frame(self._rows() if by == "measure" else self._rows_of_queries())

    def to_pandas(self, by: Literal["measure", "query"] = "measure") -> Any:
        """As `to_frame`, of pandas, which the extra `pandas` brings."""
        from benchwright.evaluation.shown import pandas_frame

        return pandas_frame(self._rows() if by == "measure" else self._rows_of_queries())

    def _rows(self) -> list[dict[str, Any]]:
        """What is known of each measure; without numpy there are no intervals."""
        from benchwright.evaluation.ends import ends_of_means

        intervals: Mapping[str, tuple[float, float]] = {}
        with suppress(ModuleNotFoundError):
            intervals = ends_of_means(self.measures, list(self.per_query.values()))
        rows: list[dict[str, Any]] = []
        for name, mean in self.means.items():
            low, high = intervals.get(name, (None, None))
            row: dict[str, Any] = {"measure": name, "mean": float(mean), "low": low, "high": high}
            row |= {"judged_share": self.judged_shares[name], "n_queries": self.n_queries}
            rows.append(row | {"n_undefined": self.n_undefined[name]})
        return rows

    def _rows_of_queries(self) -> list[dict[str, Any]]:
        return [{"query": as_text(qid), **values} for qid, values in self.per_query.items()]


@overload
def evaluate(
    qrels: Mapping[str, Any],
    run: Any,
    measures: Iterable[str | Measure] = ...,
    *,
    ties: str = ...,
    missing: str = ...,
    depth: int | None = ...,
    allow_empty: bool = ...,
    top_grade: int | None = ...,
    unlisted: str = ...,
) -> Evaluation[str]: ...


@overload
def evaluate(
    qrels: Mapping[bytes, Mapping[bytes, int]] | GradeTable | Path | str,
    run: Mapping[bytes, Sequence[Scored]] | Path | str,
    measures: Iterable[str | Measure] = ...,
    *,
    ties: str = ...,
    missing: str = ...,
    depth: int | None = ...,
    allow_empty: bool = ...,
    top_grade: int | None = ...,
    unlisted: str = ...,
) -> Evaluation[bytes]: ...


@overload
def evaluate(
    qrels: Any,
    run: Any,
    measures: Iterable[str | Measure] = ...,
    *,
    ties: str = ...,
    missing: str = ...,
    depth: int | None = ...,
    allow_empty: bool = ...,
    top_grade: int | None = ...,
    unlisted: str = ...,
) -> Evaluation[Any]: ...


def evaluate(
    qrels: Any,
    run: Any,
    measures: Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    ties: str = "trec",
    missing: str = "zero",
    depth: int | None = None,
    allow_empty: bool = False,
    top_grade: int | None = None,
    unlisted: str = UNKNOWN,
) -> Evaluation[Any]:
    """Measures of a run; `depth` looks at that many results a query only (trec_eval's `-M`).

    `top_grade` is the highest grade of the scale, by default of the qrels. With `ties="expected"`,
    values are means over the orders of equal scores (`measures.expected`).

    A document that the qrels do not list is not judged; with `unlisted="not-relevant"` it is known
    not to be relevant, as where a collection was judged whole or lists its relevant documents
    alone. That moves measures that tell the two apart (`Judged`, bpref, infAP, RBP's residual,
    condensed lists), and no other.

    Paths are of TREC files, which are scanned without being kept: the quickest way. What else
    qrels and runs can be, `benchwright.reading.memory` says: mappings, frames, arrays, rows.
    The results' query ids are text where those of qrels or run are, and bytes otherwise.

    Raises
    ------
    ColumnsError, FileProblemsError
        If qrels or run cannot be read.
    EmptyQrelsError, EmptyRunError, NoCommonQueryError
        If there is nothing to compare. With `allow_empty`, a run without results for any of the
        queries is scored all the same.
    UnknownMeasureError, MeasureParameterError, CutoffError, RelevanceThresholdError
        If a measure is none.
    UnknownTieRuleError, UnknownMissingRuleError, UnknownUnlistedRuleError
        If a rule is none.
    TooManyOrdersError
        If ties can be ordered in more ways than a measure can go through.
    """
    parsed = parse_measures(measures)
    if depth is None and unlisted == UNKNOWN and missing in MISSING_RULES:
        evaluation = _of_mappings(qrels, run, parsed, ties, missing, allow_empty, top_grade)
        if evaluation is not None:
            return evaluation
    table, has_text_grades = _table(qrels)
    hits, has_text_results = _hits(run, table, ties, depth)
    evaluation = evaluate_hits(
        judged_by(table.judged, unlisted),
        hits,
        parsed,
        missing=missing,
        allow_empty=allow_empty,
        top_grade=top_grade,
        ties=ties,
        depth=depth,
    )
    return evaluation.with_text_ids() if has_text_grades or has_text_results else evaluation


def _of_mappings(
    qrels: Any,
    run: Any,
    measures: tuple[Measure, ...],
    ties: str,
    missing: str,
    allow_empty: bool,
    top_grade: int | None,
) -> Evaluation[Any] | None:
    """What is in memory as usual, scored by the extension; None where the long way has to be taken.

    Also where there is nothing to compare: what is wrong then, the long way says.
    """
    if isinstance(qrels, str | Path | GradeTable) or isinstance(run, str | Path):
        return None
    from benchwright.evaluation.in_memory import scored

    values = scored(qrels, run, measures, ties=ties, missing=missing)
    if values is None or not values.n_judged or not (values.n_common or allow_empty):
        return None
    of_measures = list(zip(measures, values.columns, strict=False))
    of_shares = zip(values.shares, values.columns[len(measures) :], strict=True)
    share_of = {share.cutoff: share.over_all(column) for share, (column, _) in of_shares}
    return Evaluation(
        measures=measures,
        per_query=values.per_query,
        means={str(measure): measure.over_all(column) for measure, (column, _) in of_measures},
        judged_shares={str(measure): share_of[measure.cutoff] for measure in measures},
        n_undefined={str(measure): n for measure, (_, n) in of_measures},
        n_queries=len(values.per_query),
        n_missing=values.n_judged - values.n_common,
        n_extra=values.n_answered - values.n_common,
        top_grade=values.top_grade if top_grade is None else top_grade,
        rules={"ties": ties, "missing": missing, "depth": None, "unlisted": UNKNOWN},
    )


def _table(qrels: Any) -> tuple[GradeTable, bool]:
    """The grades, and whether their query ids came as text."""
    if isinstance(qrels, GradeTable):
        return qrels, False
    if isinstance(qrels, str | Path):
        return scan_qrels(Path(qrels)), False
    from benchwright.reading.memory import take_qrels

    grades = take_qrels(qrels)
    return GradeTable(grades.content), grades.is_text


def _hits(
    run: Any, table: GradeTable, ties: str, depth: int | None
) -> tuple[Mapping[bytes, QueryHits[bytes]], bool]:
    """The hits of every query that was answered, and whether query ids came as text."""
    if isinstance(run, str | Path):
        return scan_run(Path(run), table, ties=ties, depth=depth), False
    from benchwright.reading.memory import hits_of

    results = hits_of(run, table.grades, ties=ties, depth=depth)
    return results.content, results.is_text


def evaluate_hits(
    judged: Mapping[Qid, Judged],
    hits: Mapping[Qid, QueryHits[Qid]],
    measures: Iterable[str | Measure],
    *,
    missing: str = "zero",
    allow_empty: bool = False,
    top_grade: int | None = None,
    ties: str | None = None,
    depth: int | None = None,
) -> Evaluation[Qid]:
    """Measures of hits found earlier, as `evaluate` gives them for the run they are from.

    Hits of a query that `judged` lacks are ignored and counted, so a slice needs only its `judged`
    and, for ERR and RBP, the `top_grade` of the whole. Where hits have ties, values are means over
    their orders. `ties` and `depth` say how the hits were found, and are only written down.

    Raises
    ------
    EmptyQrelsError, EmptyRunError, NoCommonQueryError
        If there is nothing to compare. With `allow_empty`, a run without results for any of the
        queries is scored all the same.
    UnknownMeasureError, MeasureParameterError, CutoffError, RelevanceThresholdError
        If a measure is none.
    UnknownMissingRuleError
        If `missing` is none.
    TooManyOrdersError
        If ties can be ordered in more ways than a measure can go through.
    """
    parsed = parse_measures(measures)
    _check(judged, hits, missing, allow_empty)
    common = {qid: query_hits for qid, query_hits in hits.items() if qid in judged}
    scored = {
        qid: common.get(qid) or QueryHits(qid, (), 0)
        for qid in judged
        if missing == "zero" or qid in common
    }
    top = highest_grade(judged.values()) if top_grade is None else top_grade
    values, shares = _values(scored, judged, parsed, top)
    return Evaluation(
        measures=parsed,
        per_query=_by_query(scored, values),
        means={str(measure): measure.over_all(values[str(measure)]) for measure in parsed},
        judged_shares=shares,
        n_undefined={name: sum(map(isnan, column)) for name, column in values.items()},
        n_queries=len(scored),
        n_missing=len(judged) - len(common),
        n_extra=len(hits) - len(common),
        top_grade=top,
        rules={"ties": ties, "missing": missing, "depth": depth, "unlisted": _unlisted(judged)},
    )


def _unlisted(judged: Mapping[Any, Judged]) -> str:
    return NOT_RELEVANT if any(of.is_complete for of in judged.values()) else UNKNOWN


def highest_grade(judged: Iterable[Judged]) -> int:
    """The highest grade there is, and at least 1: there is room for it on every scale."""
    return max(1, max((max(of.grades, default=0) for of in judged), default=1))


def _check(
    judged: Mapping[Qid, object],
    hits: Mapping[Qid, QueryHits[Qid]],
    missing: str,
    allow_empty: bool,
) -> None:
    if missing not in MISSING_RULES:
        raise UnknownMissingRuleError(missing=missing)
    if not judged:
        raise EmptyQrelsError
    if allow_empty:
        return
    if not any(query.n_retrieved for query in hits.values()):
        raise EmptyRunError
    if judged.keys().isdisjoint(hits):
        raise NoCommonQueryError(run_ids=_some_ids(hits), qrel_ids=_some_ids(judged))


def _some_ids(queries: Iterable[bytes | str]) -> str:
    """Three of the ids, for a message."""
    names = (as_shown(qid) for qid in islice(queries, 3))
    return ", ".join(f"'{name}'" for name in names)


def _values(
    hits: Mapping[Qid, QueryHits[Qid]],
    judged: Mapping[Qid, Judged],
    measures: Sequence[Measure],
    top_grade: int,
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """The values of each measure, in the order of the queries, and its judged share."""
    columns, places = _measured_once(hits, judged)
    tied = [row for row, query in enumerate(columns.query_hits) if query.ties]

    def values_of(measure: Measure) -> list[float]:
        values = measure.values(columns, top_grade=top_grade)
        if tied:
            from benchwright.measures.expected import expected_values

            means = expected_values(measure, columns, tied, top_grade=top_grade)
            for row, mean in zip(tied, means, strict=True):
                values[row] = mean
        return [values[place] for place in places]

    share_of = {
        cutoff: share.over_all(values_of(share))
        for cutoff in {_depth(measure): None for measure in measures}
        for share in [Measure("Judged", cutoff)]
    }
    return (
        {str(measure): values_of(measure) for measure in measures},
        {str(measure): share_of[_depth(measure)] for measure in measures},
    )


def _measured_once(
    hits: Mapping[Qid, QueryHits[Qid]], judged: Mapping[Qid, Judged]
) -> tuple[Columns, list[int]]:
    """Columns without a row for a query that is as an earlier one, and the row of each query.

    A value follows from hits and grades alone, and where few documents of a query are judged, many
    queries have the same ones.
    """
    rows: dict[Any, int] = {}
    places = [
        rows.setdefault(_what_counts(query, judged[qid]), len(rows)) for qid, query in hits.items()
    ]
    first = dict(zip(reversed(places), reversed(list(hits)), strict=True))
    qids = [first[row] for row in range(len(rows))]
    return Columns([hits[qid] for qid in qids], [judged[qid] for qid in qids]), places


def _what_counts(query: QueryHits[Qid], judged: Judged) -> Any:
    """Equal for queries of equal values; queries of many grades are hardly ever equal."""
    if len(judged.grades) > FEW:
        return query.qid
    return query.hits, query.n_retrieved, query.ties, judged.grades, judged.is_complete


def _depth(measure: Measure) -> int | None:
    """The rank down to which the measure looks; None where that is all of them."""
    return measure.cutoff if isinstance(measure.cutoff, int) else None


def _by_query(
    qids: Iterable[Qid], values: Mapping[str, Sequence[float]]
) -> dict[Qid, dict[str, float]]:
    if not values:
        return {qid: {} for qid in qids}
    rows = zip(*values.values(), strict=True)
    return {qid: dict(zip(values, row, strict=True)) for qid, row in zip(qids, rows, strict=True)}


class SliceMeans(NamedTuple):
    """What `slice_means` gives for one slice."""

    means: dict[str, float]
    n_queries: int
    n_undefined: dict[str, int]


def slice_means(
    evaluation: Evaluation[Qid],
    slices: Mapping[str, Collection[Qid]],
    *,
    weights: Mapping[Qid, float] | None = None,
) -> dict[str, SliceMeans]:
    """The means over the queries of each slice, from the values that there are.

    Ids may be text where those of the evaluation are bytes, as they are of files. Queries that were
    not scored are passed over. `weights` says how much a query counts, such as
    its traffic; those that have none are passed over, and without it each counts the same. Totals
    are not weighted.
    """
    alike = evaluation.with_ids_like(chain.from_iterable(slices.values()))
    return {name: _slice_means(alike, qids, weights) for name, qids in slices.items()}


def _slice_means(
    evaluation: Evaluation[Qid], qids: Collection[Qid], weights: Mapping[Qid, float] | None
) -> SliceMeans:
    counting = evaluation.per_query if weights is None else weights
    scored = [qid for qid in dict.fromkeys(qids) if qid in evaluation.per_query and qid in counting]
    weight = None if weights is None else [weights[qid] for qid in scored]
    columns = {
        str(measure): [evaluation.per_query[qid][str(measure)] for qid in scored]
        for measure in evaluation.measures
    }
    means = {
        str(measure): measure.over_all(columns[str(measure)], weight)
        for measure in evaluation.measures
    }
    n_undefined = {name: sum(map(isnan, column)) for name, column in columns.items()}
    return SliceMeans(means, len(scored), n_undefined)

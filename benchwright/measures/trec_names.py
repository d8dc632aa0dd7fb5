"""trec_eval's measures: their names, their order, and how it prints them.

For the command that stands in for trec_eval::

    rows = trec_rows(["official"])                # what `-m official` (the default) prints
    rows = trec_rows(["all_trec", "P.5,10"], level=2, n_documents=1000)      # -l 2 -N 1000
    result = evaluate_hits(judged, hits, [row.measure for row in rows if row.measure], …)
    for row in rows:
        if row.kind == "value" or row.kind == "count":
            name = str(row.measure)
            row.line(qid, result.per_query[qid][name])    # where row.is_per_query
            row.line("all", result.means[name])           # where row.is_in_summary

Rows come in the order in which trec_eval prints them, whatever the order of the `-m` flags; when a
measure is given twice, its first parameters count. `kind` is "value" (printed as %6.4f), "count"
(as an integer), "run" (`runid`: the tag of the run, in the summary only) or "string" (`relstring`:
per query only, of `relevance_string`). `-J` is `condensed` on every `QueryHits` before evaluating,
`-M` the depth of reading. Where a query is missing and `-c` is given, all values are those of a
`QueryHits` without hits. How values are combined is `row.measure.aggregation`: counts are added up,
gm_map and gm_bpref are geometric means, all others are averaged.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from benchwright.errors import MeasureParameterError, UnknownMeasureError
from benchwright.measures.families import FAMILIES, Measure, OptionValue
from benchwright.measures.options import measure_of, parse_cutoff, parse_option
from benchwright.measures.trec_table import (
    NICKNAMES,
    TREC_MEASURES,
    Kind,
    TrecMeasure,
    written_cutoff,
)
from benchwright.reading.hits import Hit

DEFAULT_STRING_LENGTH = 10


class TrecRow(NamedTuple):
    """A line of trec_eval's output, for each query and for all of them."""

    name: str
    kind: Kind
    measure: Measure | None = None
    is_per_query: bool = True
    length: int = DEFAULT_STRING_LENGTH

    @property
    def is_in_summary(self) -> bool:
        return self.kind != "string"

    def line(self, qid: str, value: float | str) -> str:
        """The line as trec_eval prints it.

        Examples
        --------
        >>> TrecRow("map", "value").line("all", 1 / 3)
        'map                   \\tall\\t0.3333'
        """
        return f"{self.name:<22}\t{qid}\t{self.printed(value)}"

    def printed(self, value: float | str) -> str:
        if isinstance(value, str):
            return f"'{value}'" if self.kind == "string" else value
        return str(int(value)) if self.kind == "count" else f"{value:6.4f}"


def trec_rows(
    asked: Iterable[str], *, level: int = 1, n_documents: int = 0, judged_only: bool = False
) -> list[TrecRow]:
    """The rows of these `-m` arguments, in trec_eval's order; `official` where there are none.

    `level` is `-l`, `n_documents` is `-N`. With `judged_only` the measures that can are so by
    themselves; `-J` as a whole is `condensed` on the hits.

    Raises
    ------
    UnknownMeasureError
        If trec_eval has no such measure, or only on preferences or judgment groups.
    MeasureParameterError, CutoffError
        If a parameter is none.

    Examples
    --------
    >>> [row.name for row in trec_rows(["P.5,10", "map", "ndcg.1=1,2=3"])]
    ['map', 'P_5', 'P_10', 'ndcg_1=1,2=3']
    """
    parameters_of: dict[str, str] = {}
    for argument in list(asked) or ["official"]:
        name, _, parameters = argument.partition(".")
        for member in NICKNAMES.get(name, (name,)):
            if member not in TREC_MEASURES:
                raise UnknownMeasureError(name=argument, known=", ".join(TREC_MEASURES))
            # A name without parameters comes before one with them only in the list, not in force.
            parameters_of[member] = parameters_of.get(member) or (
                parameters if name not in NICKNAMES else ""
            )
    flags: dict[str, OptionValue] = {"rel": level, "n_documents": n_documents}
    flags["judged_only"] = judged_only
    return [
        row._replace(measure=row.measure and row.measure.with_options(flags))
        for name in TREC_MEASURES
        if name in parameters_of
        for row in _rows(name, parameters_of[name])
    ]


def default_measures(name: str) -> Iterator[Measure]:
    """The measures of a trec_eval name without parameters."""
    return (row.measure for row in _rows(name, "") if row.measure)


def _rows(name: str, parameters: str) -> Iterator[TrecRow]:
    trec_measure = TREC_MEASURES[name]
    if trec_measure.kind in ("run", "string"):
        length = _length(name, parameters) if parameters else DEFAULT_STRING_LENGTH
        suffix = f"_{parameters}" if parameters else ""
        yield TrecRow(f"{name}{suffix}", trec_measure.kind, None, trec_measure.is_per_query, length)
        return
    for measure in _measures(name, trec_measure, parameters):
        suffix = (
            f"_{written_cutoff(measure.cutoff)}"
            if trec_measure.takes == "cutoffs"
            else f"_{parameters}"
        )
        suffix = suffix if parameters or trec_measure.takes == "cutoffs" else ""
        yield TrecRow(f"{name}{suffix}", trec_measure.kind, measure, trec_measure.is_per_query)


def _measures(name: str, trec_measure: TrecMeasure, parameters: str) -> Sequence[Measure]:
    if parameters and not trec_measure.takes:
        reason = f"has the parameter '{parameters}'; expected none. Leave it out."
        raise MeasureParameterError(name=name, reason=reason)
    if not parameters:
        return [
            Measure(trec_measure.family, cutoff, trec_measure.preset)
            for cutoff in trec_measure.defaults or (None,)
        ]
    measures = trec_measures(f"{name}.{parameters}", trec_measure, parameters)
    return sorted(measures, key=lambda measure: measure.cutoff or 0)


def trec_measures(name: str, trec_measure: TrecMeasure, parameters: str) -> Iterator[Measure]:
    """The measures of trec_eval's `parameters`, such as `5,10` or `1=3,2=9`; `name` is told."""
    family, preset = FAMILIES[trec_measure.family], dict(trec_measure.preset)
    parts = parameters.split(",")
    if trec_measure.takes == "cutoffs":
        for part in parts:
            # trec_eval reads 23.4 as rank 23, as its own tests want it.
            text = part.partition(".")[0] if family.cutoff_as == "cutoff" else part
            yield measure_of(trec_measure.family, parse_cutoff(name, text, family), preset)
        return
    if trec_measure.takes == "pairs":
        pairs = (part.partition("=") for part in parts)
        values = {key.strip(): raw for key, _, raw in pairs}
        if "p" in values and "p" in family.options:
            preset["p"] = parse_option(name, "p", values.pop("p"))
        if values:
            text = ",".join(f"{key}:{raw}" for key, raw in values.items())
            preset["gains"] = parse_option(name, "gains", text)
    else:
        raw = parameters if trec_measure.takes == "beta" else f"[{parameters}]"
        preset[trec_measure.takes] = parse_option(name, trec_measure.takes, raw)
    yield measure_of(trec_measure.family, None, preset)


def _length(name: str, parameters: str) -> int:
    if not parameters.isdecimal():
        reason = f"length is '{parameters}'; expected a whole number, such as relstring.20."
        raise MeasureParameterError(name=name, reason=f"{reason} Correct it.")
    return int(parameters)


def relevance_string(hits: Sequence[Hit], n_retrieved: int, length: int) -> str:
    """The grades of the first documents, a character each: trec_eval `relstring`.

    `-` is not in the qrels, `.` is in the pool and not judged, `>` is a grade above 9.

    Examples
    --------
    >>> relevance_string([Hit(1, 2), Hit(3, -1), Hit(4, 12)], n_retrieved=5, length=10)
    '2-.>-'
    """
    grade_at = {hit.rank: hit.grade for hit in hits}
    return "".join(
        _character(grade_at[rank]) if rank in grade_at else "-"
        for rank in range(1, min(length, n_retrieved) + 1)
    )


def _character(grade: int) -> str:
    if grade < 0:
        return "."
    return str(grade) if grade <= 9 else ">"

"""What `score` prints: tables for people, lines for programs."""

from collections.abc import Iterator, Sequence
from math import nan
from pathlib import Path

from scoring.cli.tables import (
    Table,
    between,
    exact,
    number,
    print_lines,
    print_tab_separated,
    share,
    show,
)
from scoring.core.evaluation import Evaluation
from scoring.core.measures.registry import Measure
from scoring.core.scorecards import ALL, Scorecard, Scorer

NAME_WIDTH = 22
COUNTS = ("queries", "missing", "extra", "undefined")
TSV_COLUMNS = ("run", "slice", "query", "measure", "value", "low", "high", "judged_share", *COUNTS)


def write_result(scorer: Scorer, cards: Sequence[Scorecard], path: Path) -> None:
    """Write the result file of the runs."""
    from scoring.core.results import as_json as text_of
    from scoring.core.results import result_of

    path.write_text(text_of(result_of(scorer, cards, folder=path.parent)), "utf-8")


def as_json(scorer: Scorer, cards: Sequence[Scorecard], *, has_queries: bool) -> str:
    """The result as `write_result` writes it; without `has_queries` it lacks their values."""
    from scoring.core.results import as_json as text_of
    from scoring.core.results import result_of

    result = result_of(scorer, cards, folder=Path())
    if not has_queries:
        for run in result["runs"]:
            del run["per_query"]
    return text_of(result)


def print_tsv(cards: Sequence[Scorecard], *, has_queries: bool) -> None:
    """Print a line for each run, slice and measure, and for each query where they are wanted."""
    print_tab_separated(TSV_COLUMNS, _tsv_rows(cards, has_queries))


def print_trec_eval(cards: Sequence[Scorecard], *, has_queries: bool) -> None:
    """Print trec_eval's lines for these measures, one run after the other."""
    print_lines(line for card in cards for line in _trec_lines(card, has_queries))


def show_tables(scorer: Scorer, cards: Sequence[Scorecard], *, has_queries: bool) -> None:
    """Print one table of means, after one of queries for each run where they are wanted."""
    if has_queries:
        for card in cards:
            show(_query_table(card))
    if len(cards) == 1 and not cards[0].slices:
        show(_list(cards[0]))
    else:
        show(_grid(scorer, cards))


def _tsv_rows(cards: Sequence[Scorecard], has_queries: bool) -> Iterator[list[str]]:
    for card in cards:
        if has_queries:
            yield from _query_lines(card)
        for name, found in card.evaluations():
            for measure in found.means:
                yield _cells(card, name, found, measure)


def _cells(card: Scorecard, name: str, found: Evaluation[bytes], measure: str) -> list[str]:
    low, high = _interval(card, name, measure)
    numbers = (found.means[measure], low, high, found.judged_shares[measure])
    counts = (found.n_queries, found.n_missing, found.n_extra, found.n_undefined[measure])
    return [card.name, name, ALL, measure, *map(exact, numbers), *map(str, counts)]


def _interval(card: Scorecard, name: str, measure: str) -> tuple[float, float]:
    return card.intervals.get(name, {}).get(measure, (nan, nan))


def _query_lines(card: Scorecard) -> Iterator[list[str]]:
    for qid, values in card.overall.per_query.items():
        for measure, value in values.items():
            yield [card.name, ALL, text(qid), measure, exact(value), *[""] * 7]


def _trec_lines(card: Scorecard, has_queries: bool) -> Iterator[str]:
    measures = {str(measure): measure for measure in card.overall.measures}
    yield _trec_line("runid", ALL, card.name)
    rows = sorted(card.overall.per_query.items()) if has_queries else []
    for qid, values in [*((text(qid), values) for qid, values in rows), (ALL, card.overall.means)]:
        for name, value in values.items():
            shown = f"{value:.0f}" if measures[name].is_total else f"{value:6.4f}"
            yield _trec_line(measures[name].trec_name or name, qid, shown)


def _trec_line(name: str, qid: str, value: str) -> str:
    return f"{name:<{NAME_WIDTH}}\t{qid}\t{value}"


def _query_table(card: Scorecard) -> Table:
    names = list(card.overall.means)
    rows = [
        [text(qid), *(number(values[name]) for name in names)]
        for qid, values in card.overall.per_query.items()
    ]
    return Table(["query", *names], rows, title=card.name)


def _list(card: Scorecard) -> Table:
    """One run: a measure a line."""
    found = card.overall
    has_intervals = bool(card.intervals)
    rows = [
        [
            str(measure),
            _mean(found, str(measure)),
            *[between(*_interval(card, ALL, str(measure)))] * has_intervals,
            share(found.judged_shares[str(measure)]) if _has_share(measure) else "",
            str(found.n_queries - found.n_undefined[str(measure)]),
        ]
        for measure in found.measures
    ]
    title = f"{card.name}: {counts(found)}"
    columns = ["measure", "mean", *["95 % interval"] * has_intervals, "judged", "queries"]
    return Table(columns, rows, title=title)


def _grid(scorer: Scorer, cards: Sequence[Scorecard]) -> Table:
    """Several runs or slices: a line for each, and beside each mean its judged share."""
    has_slices = any(card.slices for card in cards)
    columns = ["run", *["slice"] * has_slices, "queries", "missing", "extra"]
    for measure in scorer.measures:
        columns += [str(measure), *["95 % interval"] * bool(cards[0].intervals)]
        columns += ["judged"] * _has_share(measure)
    return Table(columns, list(_grid_rows(cards, has_slices)), left=range(1 + has_slices))


def _grid_rows(cards: Sequence[Scorecard], has_slices: bool) -> Iterator[list[str]]:
    names = dict.fromkeys(name for card in cards for name, _ in card.evaluations())
    for name in names:
        for card in cards:
            found = dict(card.evaluations())[name]
            counted = (found.n_queries, found.n_missing, found.n_extra)
            cells = [card.name, *[name] * has_slices, *map(str, counted)]
            for measure in found.measures:
                judged = share(found.judged_shares[str(measure)])
                cells.append(_mean(found, str(measure)))
                if card.intervals:
                    cells.append(between(*_interval(card, name, str(measure))))
                cells += [judged] * _has_share(measure)
            yield cells


def _has_share(measure: Measure) -> bool:
    """Whether the judged share says anything of the measure that it does not say itself."""
    return measure.family != "Judged" and not measure.is_total


def _mean(found: Evaluation[bytes], name: str) -> str:
    totals = {str(measure) for measure in found.measures if measure.is_total}
    return number(found.means[name], 0 if name in totals else 4)


def counts(found: Evaluation[bytes]) -> str:
    """How many queries there are, in words."""
    return f"{found.n_queries} queries, {found.n_missing} missing, {found.n_extra} extra"


def text(qid: bytes) -> str:
    """A query id for a terminal or a file; bytes that are no UTF-8 are shown as escapes."""
    return qid.decode("utf-8", "backslashreplace")

"""What `score` prints: tables for people, lines for programs."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchwright.cli.progress import told
from benchwright.cli.tables import (
    Table,
    between,
    exact,
    number,
    print_lines,
    print_tab_separated,
    share,
    show_table,
)
from benchwright.evaluation.evaluating import Evaluation
from benchwright.evaluation.scorecards import ALL, Scorecard, Scorer
from benchwright.evaluation.weighting import SUFFIX
from benchwright.files.encodings import as_shown
from benchwright.measures.families import Measure
from benchwright.texts.counting import counted

if TYPE_CHECKING:
    from benchwright.cli.scoring.unjudged_output import Outlook

NAME_WIDTH = 22
LESS_IS_MORE = ("Hole", "unj", "RBP_res", "rbp_resid", "NumUnjudgedRet", "NumNonrelRet")
COUNTS = ("queries", "missing", "extra", "undefined")
TSV_COLUMNS = ("run", "slice", "query", "measure", "value", "low", "high", "judged_share", *COUNTS)


def show(scorer: Scorer, cards: Sequence[Scorecard], chosen: Mapping[str, Any]) -> None:
    """Print the scores in the form that was chosen, and write the result file if there is one."""
    if chosen["result"]:
        write_result(scorer, cards, chosen["result"])
    outlooks = _outlooks(scorer, cards) if chosen["unjudged"] else {}
    form, has_queries = chosen["form"], chosen["per_query"]
    if form == "json":
        sys.stdout.write(as_json(scorer, cards, has_queries=has_queries, outlooks=outlooks))
    elif form == "tsv":
        print_tsv(cards, has_queries=has_queries, outlooks=outlooks)
    elif form == "trec_eval":
        print_trec_eval(cards, has_queries=has_queries)
    else:
        show_tables(scorer, cards, has_queries=has_queries, outlooks=outlooks)


def _outlooks(scorer: Scorer, cards: Sequence[Scorecard]) -> "dict[str, list[Outlook]]":
    from benchwright.cli.scoring.unjudged_output import outlooks

    outlooks_of = {}
    for card in cards:
        with told(f"Filling in the unjudged documents of {card.name}"):
            outlooks_of[card.name] = outlooks(scorer, card)
    return outlooks_of


def write_result(scorer: Scorer, cards: Sequence[Scorecard], path: Path) -> None:
    """Write the result file of the runs."""
    from benchwright.evaluation.results import as_json as text_of
    from benchwright.evaluation.results import result_of

    path.write_text(text_of(result_of(scorer, cards, folder=path.parent)), "utf-8")


def as_json(
    scorer: Scorer,
    cards: Sequence[Scorecard],
    *,
    has_queries: bool,
    outlooks: "Mapping[str, Sequence[Outlook]]",
) -> str:
    """The result as `write_result` writes it, with what there is to say of unjudged documents.

    Without `has_queries` it lacks the values of queries.
    """
    from benchwright.evaluation.results import as_json as text_of
    from benchwright.evaluation.results import result_of

    result = result_of(scorer, cards, folder=Path())
    for run in result["runs"]:
        if not has_queries:
            del run["per_query"]
        if run["name"] in outlooks:
            from benchwright.cli.scoring import unjudged_output

            run["unjudged"] = unjudged_output.as_dict(outlooks[run["name"]])
    return text_of(result)


def print_tsv(
    cards: Sequence[Scorecard], *, has_queries: bool, outlooks: "Mapping[str, Sequence[Outlook]]"
) -> None:
    """Print a line for each run, slice and measure, and for each query where they are wanted.

    With `outlooks`, columns follow that say what unjudged documents could change.
    """
    rows = _tsv_rows(cards, has_queries)
    if not outlooks:
        print_tab_separated(TSV_COLUMNS, rows)
        return
    from benchwright.cli.scoring import unjudged_output

    of = {
        (outlook.run, ALL, ALL, outlook.measure): outlook
        for of_run in outlooks.values()
        for outlook in of_run
    }
    wider = (
        [*row, *unjudged_output.tsv_cells(of.get((row[0], row[1], row[2], row[3])))] for row in rows
    )
    print_tab_separated((*TSV_COLUMNS, *unjudged_output.TSV_COLUMNS), wider)


def print_trec_eval(cards: Sequence[Scorecard], *, has_queries: bool) -> None:
    """Print trec_eval's lines for these measures, one run after the other."""
    print_lines(line for card in cards for line in _trec_lines(card, has_queries))


def show_tables(
    scorer: Scorer,
    cards: Sequence[Scorecard],
    *,
    has_queries: bool,
    outlooks: "Mapping[str, Sequence[Outlook]]",
) -> None:
    """Print one table of means, after one of queries for each run where they are wanted."""
    if has_queries:
        for card in cards:
            show_table(_query_table(card))
    if len(cards) == 1 and not cards[0].slices:
        show_table(_list(cards[0]))
    else:
        show_table(_grid(scorer, cards))
    if outlooks:
        from benchwright.cli.scoring.unjudged_output import show_outlooks

        show_outlooks([outlook for of_run in outlooks.values() for outlook in of_run])


def _tsv_rows(cards: Sequence[Scorecard], has_queries: bool) -> Iterator[list[str]]:
    for card in cards:
        if has_queries:
            yield from _query_lines(card)
        for name, evaluation in card.evaluations():
            for measure in evaluation.means:
                yield _cells(card, name, evaluation, measure)
                yield from _weighted_cells(card, name, evaluation, measure)


def _cells(card: Scorecard, name: str, evaluation: Evaluation[bytes], measure: str) -> list[str]:
    low, high = _interval(card, name, measure)
    numbers = (evaluation.means[measure], low, high, evaluation.judged_shares[measure])
    counts = (
        evaluation.n_queries,
        evaluation.n_missing,
        evaluation.n_extra,
        evaluation.n_undefined[measure],
    )
    return [card.name, name, ALL, measure, *map(exact, numbers), *map(str, counts)]


def _weighted_cells(
    card: Scorecard, name: str, evaluation: Evaluation[bytes], measure: str
) -> Iterator[list[str]]:
    """The line of the weighted mean, if there is one; it has no judged share."""
    weighted, named = card.weighted.get(name), f"{measure}{SUFFIX}"
    if weighted is None or named not in weighted.means:
        return
    low, high = weighted.intervals.get(named, (nan, nan))
    numbers = (weighted.means[named], low, high, nan)
    counts = (
        weighted.n_queries,
        evaluation.n_missing,
        evaluation.n_extra,
        weighted.n_undefined[named],
    )
    yield [card.name, name, ALL, named, *map(exact, numbers), *map(str, counts)]


def _interval(card: Scorecard, name: str, measure: str) -> tuple[float, float]:
    return card.intervals.get(name, {}).get(measure, (nan, nan))


def _query_lines(card: Scorecard) -> Iterator[list[str]]:
    for qid, values in card.overall.per_query.items():
        for measure, value in values.items():
            yield [card.name, ALL, as_shown(qid), measure, exact(value), *[""] * 7]


def _trec_lines(card: Scorecard, has_queries: bool) -> Iterator[str]:
    measures = {str(measure): measure for measure in card.overall.measures}
    yield _trec_line("runid", ALL, card.name)
    rows = sorted(card.overall.per_query.items()) if has_queries else []
    for qid, values in [
        *((as_shown(qid), values) for qid, values in rows),
        (ALL, card.overall.means),
    ]:
        for name, value in values.items():
            number = f"{value:.0f}" if measures[name].is_total else f"{value:6.4f}"
            yield _trec_line(measures[name].trec_name or name, qid, number)


def _trec_line(name: str, qid: str, value: str) -> str:
    return f"{name:<{NAME_WIDTH}}\t{qid}\t{value}"


def _query_table(card: Scorecard) -> Table:
    names = list(card.overall.means)
    rows = [
        [as_shown(qid), *(number(values[name]) for name in names)]
        for qid, values in card.overall.per_query.items()
    ]
    return Table(["query", *names], rows, title=card.name)


def _list(card: Scorecard) -> Table:
    """One run: a measure a line."""
    evaluation = card.overall
    has_intervals = bool(card.intervals)
    rows = []
    for measure in evaluation.measures:
        rows.append(
            [
                str(measure),
                _mean(evaluation, str(measure)),
                *[between(*_interval(card, ALL, str(measure)))] * has_intervals,
                share(evaluation.judged_shares[str(measure)]) if _has_share(measure) else "",
                str(evaluation.n_queries - evaluation.n_undefined[str(measure)]),
            ]
        )
        rows += _weighted_rows(card, f"{measure}{SUFFIX}", has_intervals)
    title = f"{card.name}: {counts(evaluation)}"
    columns = ["measure", "mean", *["95 % interval"] * has_intervals, "judged", "queries"]
    return Table(columns, rows, title=title)


def _weighted_rows(card: Scorecard, named: str, has_intervals: bool) -> list[list[str]]:
    weighted = card.weighted.get(ALL)
    if weighted is None or named not in weighted.means:
        return []
    ends = weighted.intervals.get(named, (nan, nan))
    n = weighted.n_queries - weighted.n_undefined[named]
    return [[named, number(weighted.means[named]), *[between(*ends)] * has_intervals, "", str(n)]]


def _grid(scorer: Scorer, cards: Sequence[Scorecard]) -> Table:
    """Several runs or slices: a line for each, and beside each mean its judged share."""
    has_slices = any(card.slices for card in cards)
    columns = ["run", *["slice"] * has_slices, "queries", "missing", "extra"]
    for measure in scorer.measures:
        columns += [str(measure), *["95 % interval"] * bool(cards[0].intervals)]
        columns += ["judged"] * _has_share(measure)
        if _is_weighted(scorer, measure):
            columns += [f"{measure}{SUFFIX}", *["95 % interval"] * bool(cards[0].intervals)]
    rows: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    for name, evaluations in _by_slice(cards).items():
        highest = _highest(evaluations) | _highest_weighted(scorer, name, cards)
        for card in cards:
            row = list(_grid_row(scorer, card, name, evaluations[card.name], has_slices))
            best |= {(len(rows), column) for column, of in enumerate(row) if of in highest}
            rows.append([of.text for of in row])
    return Table(columns, rows, left=range(1 + has_slices), best=best)


class Cell(NamedTuple):
    """What stands in the grid; a mean knows whose it is."""

    text: str
    measure: str = ""
    value: float = nan


def _by_slice(cards: Sequence[Scorecard]) -> dict[str, dict[str, Evaluation[bytes]]]:
    """Each run's evaluation over each slice."""
    return {
        name: {card.name: dict(card.evaluations())[name] for card in cards}
        for name, _ in cards[0].evaluations()
    }


def _highest(evaluation_of: Mapping[str, Evaluation[bytes]]) -> set[Cell]:
    """The cells of the best means, where there are several runs."""
    evaluations = list(evaluation_of.values())
    if len(evaluations) < 2:
        return set()
    best = set()
    for measure in evaluations[0].measures:
        means = [of.means[str(measure)] for of in evaluations]
        if not measure.is_total and measure.family not in LESS_IS_MORE:
            highest = max((mean for mean in means if mean == mean), default=nan)
            best.add(Cell(number(highest), str(measure), highest))
    return best


def _highest_weighted(scorer: Scorer, name: str, cards: Sequence[Scorecard]) -> set[Cell]:
    """As `_highest`, of the weighted means."""
    best: set[Cell] = set()
    if len(cards) < 2:
        return best
    for measure in scorer.measures:
        if _is_weighted(scorer, measure) and measure.family not in LESS_IS_MORE:
            means = [_weighted_cell(card, name, measure).value for card in cards]
            highest = max((mean for mean in means if mean == mean), default=nan)
            best.add(Cell(number(highest), f"{measure}{SUFFIX}", highest))
    return best


def _is_weighted(scorer: Scorer, measure: Measure) -> bool:
    return scorer.weights is not None and not measure.is_total


def _weighted_cell(card: Scorecard, name: str, measure: Measure) -> Cell:
    weighted, named = card.weighted.get(name), f"{measure}{SUFFIX}"
    mean = weighted.means[named] if weighted else nan
    return Cell(number(mean), named, mean)


def _grid_row(
    scorer: Scorer, card: Scorecard, name: str, evaluation: Evaluation[bytes], has_slices: bool
) -> Iterator[Cell]:
    counts = (evaluation.n_queries, evaluation.n_missing, evaluation.n_extra)
    yield from map(Cell, [card.name, *[name] * has_slices, *map(str, counts)])
    for measure in evaluation.measures:
        yield Cell(_mean(evaluation, str(measure)), str(measure), evaluation.means[str(measure)])
        if card.intervals:
            yield Cell(between(*_interval(card, name, str(measure))))
        if _has_share(measure):
            yield Cell(share(evaluation.judged_shares[str(measure)]))
        if _is_weighted(scorer, measure):
            yield _weighted_cell(card, name, measure)
            if card.intervals:
                weighted = card.weighted.get(name)
                ends = weighted.intervals if weighted else {}
                yield Cell(between(*ends.get(f"{measure}{SUFFIX}", (nan, nan))))


def _has_share(measure: Measure) -> bool:
    """Whether the judged share says anything of the measure that it does not say itself."""
    return measure.family != "Judged" and not measure.is_total


def _mean(evaluation: Evaluation[bytes], name: str) -> str:
    totals = {str(measure) for measure in evaluation.measures if measure.is_total}
    return number(evaluation.means[name], 0 if name in totals else 4)


def counts(evaluation: Evaluation[bytes]) -> str:
    """How many queries there are, in words."""
    n_missing, n_extra = evaluation.n_missing, evaluation.n_extra
    return f"{counted(evaluation.n_queries, 'query')}, {n_missing} missing, {n_extra} extra"

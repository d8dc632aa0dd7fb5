"""What `score --unjudged` shows: how far judging the rest of the results could move each mean."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from benchwright.cli.tables import Table, exact, number, show_table
from benchwright.errors import NoBracketError
from benchwright.evaluation.scorecards import Scorecard, Scorer
from benchwright.measures.families import Measure

if TYPE_CHECKING:
    from benchwright.evaluation.unjudged import Bracket, Scenarios

ABOUT_JUDGING = ("Judged", "Hole", "unj")
"""Families that count unjudged documents: judging them is what they are about."""

TSV_COLUMNS = (
    *("bracket_low", "bracket_high", "condensed", "all_relevant", "drawn_low", "drawn_high"),
)
BRACKETS = "Brackets: whatever the grades of unjudged documents are, the mean is between these."
SCENARIOS = (
    "Scenarios, which bound nothing: unjudged documents are not relevant (raw), left out\n"
    "(condensed), all of the top grade, or graded like judged ones at such ranks (draws)."
)


class Outlook(NamedTuple):
    """One mean of a run: a bracket where there is a true one, otherwise scenarios."""

    run: str
    measure: str
    value: float
    bracket: "Bracket | None"
    scenarios: "Scenarios | None"


def outlooks(scorer: Scorer, card: Scorecard) -> list[Outlook]:
    """Of every measure over all queries, but for counts and those about judging itself."""
    return [
        _outlook(scorer, card, measure)
        for measure in card.overall.measures
        if not measure.is_total and measure.family not in ABOUT_JUDGING
    ]


def _outlook(scorer: Scorer, card: Scorecard, measure: Measure) -> Outlook:
    from benchwright.evaluation.unjudged import bracket, scenarios

    name, value = str(measure), card.overall.means[str(measure)]
    top, missing, seed = scorer.top_grade, scorer.rules.missing, scorer.rules.seed
    hits = {qid: bounds for qid, bounds in card.hits.items() if qid in scorer.judged}
    try:
        bounds = bracket(measure, scorer.judged, hits, top_grade=top, missing=missing)
    except NoBracketError:
        drawn = scenarios(measure, scorer.judged, hits, top_grade=top, missing=missing, seed=seed)
        return Outlook(card.name, name, value, None, drawn)
    return Outlook(card.name, name, value, bounds, None)


def show_outlooks(outlooks: Sequence[Outlook]) -> None:
    """Print a table of brackets and one of scenarios, where there are any."""
    bounded = [
        [outlook.run, outlook.measure, number(outlook.bracket.low), number(outlook.bracket.high)]
        for outlook in outlooks
        if outlook.bracket
    ]
    open_ended = [
        [
            outlook.run,
            outlook.measure,
            number(outlook.scenarios.raw),
            number(outlook.scenarios.condensed),
            number(outlook.scenarios.all_relevant),
            f"{number(outlook.scenarios.drawn_low)} to {number(outlook.scenarios.drawn_high)}",
        ]
        for outlook in outlooks
        if outlook.scenarios
    ]
    if bounded:
        click.echo()
        show_table(Table(("run", "measure", "lowest", "highest"), bounded, BRACKETS, left=(0, 1)))
    if open_ended:
        click.echo()
        columns = ("run", "measure", "raw", "condensed", "all relevant", "90 % of draws")
        show_table(Table(columns, open_ended, SCENARIOS, left=(0, 1)))


def tsv_cells(outlook: Outlook | None) -> list[str]:
    """The cells of `TSV_COLUMNS`; empty where there is nothing to say."""
    ends = outlook.bracket if outlook and outlook.bracket else (None, None)
    drawn = outlook.scenarios[1:] if outlook and outlook.scenarios else (None,) * 4
    return ["" if value is None else exact(value) for value in (*ends, *drawn)]


def as_dict(outlooks: Sequence[Outlook]) -> Mapping[str, Any]:
    """By measure, `bracket` or `scenarios` with their fields."""
    return {
        outlook.measure: {"bracket": outlook.bracket._asdict()}
        if outlook.bracket
        else {"scenarios": outlook.scenarios._asdict() if outlook.scenarios else None}
        for outlook in outlooks
    }

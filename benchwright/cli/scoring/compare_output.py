"""What `compare` prints: two tables for each measure and slice, or lines for programs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import isnan
from typing import Any

import click

from benchwright.cli.tables import (
    Table,
    between,
    exact,
    markdown,
    number,
    print_tab_separated,
    share,
    show_table,
)
from benchwright.comparison.aligning import OVERALL
from benchwright.comparison.comparability import (
    COMPARABLE,
    PROVISIONAL,
    Verdict,
    comparability,
)
from benchwright.comparison.outcome import Comparison, Pair, RunSummary, SliceSize
from benchwright.comparison.patterns import (
    ALONE,
    IN_FAMILIES,
    Fact,
    Pattern,
    pattern_dict,
    patterns_markdown,
    read_patterns,
    roles_of,
)
from benchwright.evaluation.uncertainty import TIE_GROUPS
from benchwright.statistics.intervals import FEWEST_DIFFERING
from benchwright.texts.counting import counted, number_beside, signed_beside

# --- What `compare` prints: two tables for each measure and slice, or lines for programs.

# The level that decisions go by.
LEVEL = 0.05

TSV_COLUMNS = (
    *("kind", "measure", "slice", "run", "reference", "queries", "value", "low", "high"),
    *("judged", "rank", "best_rank", "worst_rank", "tie_group", "p", "p_adjusted", "p_t"),
    *("relative", "d_z", "wins", "ties", "losses", "share_worse", "superiority"),
    *("sigma", "detectable", "queries_for_observed", "queries_for_delta", "decision", "reason"),
)


def trust(judged: str, shares: Mapping[str, float]) -> Iterator[str]:
    """Plain sentences on how far judged shares let the runs be compared; none where they do."""
    spread = comparability({run: of for run, of in shares.items() if not isnan(of)})
    if not spread.lowest:
        return
    measure = judged.replace("Judged", "judged")
    sentence = (
        f"{measure} is {share(spread.low, PROVISIONAL, COMPARABLE)} for {spread.lowest} "
        f"and {share(spread.high)} for {spread.highest}"
    )
    if spread.verdict is Verdict.NOT_COMPARABLE:
        yield (
            f"{sentence}: not comparable. Unjudged documents count as not relevant, so the run "
            "with fewer judged ones may lose for that alone. Judge what is missing first."
        )
    elif spread.verdict is Verdict.PROVISIONAL:
        yield f"{sentence}: provisional. Unjudged documents may change which run is better."


def as_json(
    comparison: Comparison,
    judged: str,
    shares: Mapping[str, float],
    provenance: Mapping[str, Any],
    patterns: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Everything, with every digit and what it is from; an undefined number is null."""
    body = comparison.as_dict()
    if patterns is not None:
        body["patterns"] = list(patterns)
    body["provenance"] = provenance
    body["judged"] = {
        "measure": judged,
        "shares": dict(shares),
        "warnings": list(trust(judged, shares)),
    }
    return body


def print_tsv(comparison: Comparison, shares: Mapping[str, float]) -> None:
    """Print a line for each run (kind `mean`) and for each pair (kind `difference`)."""
    rows = chain(
        (_of_summary(summary, shares) for summary in comparison.summaries),
        map(_of_pair, comparison.pairs),
    )
    print_tab_separated(TSV_COLUMNS, ([row.get(name, "") for name in TSV_COLUMNS] for row in rows))


def print_tables(
    comparison: Comparison, judged: str, shares: Mapping[str, float], *, is_markdown: bool
) -> None:
    """Print the runs and the pairs of every measure and slice."""
    for measure in comparison.measures:
        for of_slice in comparison.slices:
            summaries = comparison.summaries_of(measure, of_slice.name)
            pairs = comparison.pairs_of(measure, of_slice.name)
            tables = (
                _runs(summaries, f"{measure}, {_sized(of_slice)}", judged, shares),
                _pairs(comparison, pairs),
            )
            for table in tables:
                if is_markdown:
                    click.echo(f"{markdown(table)}\n")
                else:
                    show_table(table)
                    click.echo()
            for pair in pairs:
                if parting := _parting(pair):
                    click.echo(f"{parting}\n")
    click.echo(_how(comparison))


def _parting(pair: Pair) -> str:
    """What is to be said of a pair in words: where test and interval part, where few differ."""
    thin = ""
    if 0 <= pair.n_differing < FEWEST_DIFFERING:
        thin = f"{pair.n_differing} queries or families differ; no interval is right here."
    reason = f"{pair.reason} {thin}".strip()
    return f"{pair.run} - {pair.reference}: {reason}" if reason else ""


def _sized(of_slice: SliceSize) -> str:
    name, n_queries, n_families = of_slice.name, of_slice.n_queries, of_slice.n_families
    families = f" in {counted(n_families, 'family')}" if n_families != n_queries else ""
    return f"{'all' if name == 'all' else f'slice {name}'}: {counted(n_queries, 'query')}{families}"


def _runs(
    summaries: Sequence[RunSummary], title: str, judged: str, shares: Mapping[str, float]
) -> Table:
    rows = [
        [
            summary.run,
            number(summary.mean),
            between(*summary.interval),
            _rank(summary),
            "" if summary.tie_group is None else str(summary.tie_group),
            share(shares[summary.run]),
        ]
        for summary in summaries
    ]
    columns = ["run", "mean", "95 % interval", "rank", "tie group", judged.replace("J", "j", 1)]
    best = {(row, 1) for row, summary in enumerate(summaries) if summary.rank == 1}
    return Table(columns, rows, title=title, best=best)


def _rank(summary: RunSummary) -> str:
    if summary.rank is None:
        return "-"
    if summary.rank_interval is None or summary.rank_interval.best == summary.rank_interval.worst:
        return str(summary.rank)
    return f"{summary.rank} ({summary.rank_interval.best} to {summary.rank_interval.worst})"


def _pairs(comparison: Comparison, pairs: Sequence[Pair]) -> Table:
    rows = [
        [
            f"{pair.run} - {pair.reference}",
            _signed(pair.difference),
            pair.decision or "not told apart",
            _signed_between(pair),
            _p(pair.p),
            _p(pair.p_adjusted),
            _p(pair.p_t),
            "-" if isnan(pair.effect.relative) else f"{100 * pair.effect.relative:+.1f} %",
            number(pair.effect.d_z, 2),
            f"{pair.effect.wins}/{pair.effect.ties}/{pair.effect.losses}",
            share(pair.effect.share_worse),
            number(pair.power.detectable),
            _count(pair.power.queries_for_observed),
        ]
        for pair in pairs
    ]
    test = comparison.methods.test
    columns = ["pair", "difference", "verdict", "95 % interval", f"p ({test})"]
    columns += [f"p ({comparison.methods.correction})", "p (t)"]
    columns += ["relative", "d_z", "win/tie/loss", "worse", "detectable", "queries needed"]
    best = {(row, 1) for row, pair in enumerate(pairs) if pair.decision}
    return Table(columns, rows, best=best)


def _how(comparison: Comparison) -> str:
    methods = comparison.methods
    is_drawn = methods.interval != "t"
    drawn = f"{methods.interval} bootstrap, {methods.n_draws} draws"
    return (
        f"Intervals: {drawn if is_drawn else 'Student t over families'}. "
        f"p: {methods.test}, corrected by {methods.correction}. Seed {methods.seed}. "
        "worse: share of queries that lose more than 0.1. detectable: the smallest difference "
        "that these queries show with a power of 80 %. queries needed: to show the one observed. "
        f"{TIE_GROUPS}"
    )


def _signed(value: float) -> str:
    return "-" if isnan(value) else signed_beside(value)


def _signed_between(pair: Pair) -> str:
    low, high = pair.interval
    return "" if isnan(low) or isnan(high) else f"{signed_beside(low)} to {signed_beside(high)}"


def _p(value: float) -> str:
    """A p-value, rounded neither to 0 nor to the level that decisions go by."""
    if isnan(value):
        return "-"
    return "<.0001" if 0 <= value < 0.0001 else number_beside(value, LEVEL)


def _count(value: int | None) -> str:
    return "-" if value is None else str(value)


def _of_summary(summary: RunSummary, shares: Mapping[str, float]) -> dict[str, str]:
    ranks = summary.rank_interval
    return {
        "kind": "mean",
        "measure": summary.measure,
        "slice": summary.slice,
        "run": summary.run,
        "queries": str(summary.n_queries),
        "value": exact(summary.mean),
        "low": exact(summary.interval.low),
        "high": exact(summary.interval.high),
        "judged": exact(shares[summary.run]),
        "rank": _plain(summary.rank),
        "best_rank": _plain(ranks and ranks.best),
        "worst_rank": _plain(ranks and ranks.worst),
        "tie_group": _plain(summary.tie_group),
    }


def _of_pair(pair: Pair) -> dict[str, str]:
    effect, power = pair.effect, pair.power
    return {
        "kind": "difference",
        "measure": pair.measure,
        "slice": pair.slice,
        "run": pair.run,
        "reference": pair.reference,
        "queries": str(pair.n_queries),
        "value": exact(pair.difference),
        "low": exact(pair.interval.low),
        "high": exact(pair.interval.high),
        "p": exact(pair.p),
        "p_adjusted": exact(pair.p_adjusted),
        "p_t": exact(pair.p_t),
        "relative": exact(effect.relative),
        "d_z": exact(effect.d_z),
        "wins": str(effect.wins),
        "ties": str(effect.ties),
        "losses": str(effect.losses),
        "share_worse": exact(effect.share_worse),
        "superiority": exact(effect.superiority),
        "sigma": exact(power.sigma),
        "detectable": exact(power.detectable),
        "queries_for_observed": _plain(power.queries_for_observed),
        "queries_for_delta": _plain(power.queries_for_delta),
        "decision": pair.decision,
        "reason": pair.reason,
    }


def _plain(value: int | None) -> str:
    return "" if value is None else str(value)


# --- What `compare --patterns` adds: the rules of the pattern reader, for every pair of runs.

Found = Sequence[tuple[Pair, Sequence[Pattern]]]
"""A pair by the first measure over all queries, and what holds for it."""

OWN_SLICES = (IN_FAMILIES, ALONE)


def found_patterns(comparison: Comparison, measures: Sequence[str]) -> Found:
    """The rules that hold for each pair; `measures` are those that were asked for."""
    roles = roles_of(measures)
    patterns = []
    for pair in comparison.pairs_of(comparison.measures[0], OVERALL):
        facts = [
            _fact(other)
            for other in comparison.pairs
            if (other.run, other.reference) == (pair.run, pair.reference)
        ]
        patterns.append((pair, read_patterns(facts, roles)))
    return patterns


def _fact(pair: Pair) -> Fact:
    needed = pair.power.queries_for_observed
    return Fact(pair.measure, pair.slice, pair.difference, *pair.interval, pair.n_queries, needed)


def shown(comparison: Comparison, measures: Sequence[str]) -> Comparison:
    """The comparison as it was asked for, without what only patterns look at."""
    names = set(measures)
    return replace(
        comparison,
        measures=tuple(name for name in comparison.measures if name in names),
        slices=tuple(
            each_slice for each_slice in comparison.slices if each_slice.name not in OWN_SLICES
        ),
        summaries=tuple(
            summary
            for summary in comparison.summaries
            if summary.measure in names and summary.slice not in OWN_SLICES
        ),
        pairs=tuple(
            pair
            for pair in comparison.pairs
            if pair.measure in names and pair.slice not in OWN_SLICES
        ),
    )


def as_dicts(pair_patterns: Found) -> list[dict[str, Any]]:
    """For JSON: a row for each pattern of each pair."""
    return [
        {"run": pair.run, "reference": pair.reference, **pattern_dict(pattern)}
        for pair, patterns in pair_patterns
        for pattern in patterns
    ]


def as_text(pair_patterns: Found) -> str:
    """A paragraph for each pair, each pattern with its evidence."""
    parts = []
    for pair, patterns in pair_patterns:
        listed = patterns_markdown(patterns) or "- No pattern: the measures say different things."
        parts.append(f"What {pair.run} - {pair.reference} looks like:\n{listed}")
    return "\n\n".join(parts)

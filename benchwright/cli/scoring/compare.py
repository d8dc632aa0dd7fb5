"""`benchwright compare`: is one run better than another, and by how much?"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli import options
from benchwright.cli.answers import say_json
from benchwright.cli.doors import Door
from benchwright.cli.files import run_names
from benchwright.cli.main import Command, option
from benchwright.cli.parameters import FILE, parameter_option
from benchwright.cli.progress import told
from benchwright.cli.scored import measures_named, scored, scorer_of
from benchwright.cli.site_doors import comparing
from benchwright.evaluation.scorecards import Scorecard, Scorer
from benchwright.recipes import comparisons

if TYPE_CHECKING:
    from benchwright.cli.scoring.compare_output import Found
    from benchwright.comparison.outcome import Comparison

TESTS = ("signflip", "t", "wilcoxon", "sign")
CORRECTIONS = ("holm", "bh", "tukey", "maxt", "none")
INTERVALS = ("t", "bca", "studentised", "percentile")
DEFAULT_MEASURES = ("nDCG@10", "RR@10", "R@100")
EXAMPLES = (
    "benchwright compare qrels.txt bm25.run dense.run",
    "benchwright compare qrels.txt bm25.run dense.run hybrid.run --baseline bm25.run -m nDCG@10",
    "benchwright compare qrels.txt a.run b.run --slices slices.tsv --families families.tsv",
    "benchwright compare qrels.txt a.run b.run --patterns --slices slices.tsv",
    "benchwright --benchmark help-pages compare bm25 dense --release 1.0.0",
    "benchwright compare qrels.txt a.run b.run --format markdown > comparison.md",
)


@click.command(
    cls=Command,
    name="compare",
    examples=EXAMPLES,
    door=Door(comparing.__name__, keeps=comparing.KEPT, also=comparing.THERE),
    short_help="Differences between runs: intervals, tests, tie groups.",
)
@click.argument("qrels", type=FILE)
@click.argument("runs", type=FILE, nargs=-1, required=True)
@options.SCORING
@options.SLICES
@options.FAMILIES
@option(
    "--baseline",
    metavar="RUN",
    group="Statistics",
    help="Compare every run with this one; its file or its name in the tables.  [default: all "
    "pairs]",
)
@option(
    "--test",
    type=click.Choice(TESTS),
    default="signflip",
    show_default=True,
    group="Statistics",
    help="The test of the p-values; that of the paired t-test always stands beside it.",
)
@option(
    "--correction",
    type=click.Choice(CORRECTIONS),
    group="Statistics",
    help="For several comparisons at once.  [default: holm with --baseline, tukey for all pairs]",
)
@option(
    "--interval",
    type=click.Choice(INTERVALS),
    default="t",
    show_default=True,
    group="Statistics",
    help="Of the 95 % intervals: Student's t over families or queries, or a bootstrap.",
)
@parameter_option(comparisons.DELTA, group="Statistics")
@parameter_option(comparisons.N_DRAWS, group="Statistics", metavar="N")
@options.SEED
@option(
    "--patterns",
    is_flag=True,
    group="Output",
    help="Say what the changes together look like, each with the numbers it rests on: with table, "
    "markdown or json. Slices called head, tail, exact and semantic take part, and families.",
)
@options.FORMAT
def command(qrels: Path, runs: tuple[Path, ...], **chosen: Any) -> None:
    """Compare two or more RUNS on the same QRELS.

    For every measure and slice: the means with 95 % intervals, the ranks that resampled queries
    give, and tie groups (the first holds every truly best run); for every pair the difference with
    its interval, p-values raw and corrected, effect sizes, wins, ties and losses, the smallest
    difference that so many queries can show, and how many queries would show this one. Where the
    runs' judged shares are low or unequal, a plain sentence says how far to trust it.
    """
    if len(runs) < 2:
        message = "One run is named; expected two or more. To score one, use benchwright score."
        raise click.UsageError(message)
    baseline = _baseline(chosen["baseline"], runs)
    measures = chosen["measures"] or DEFAULT_MEASURES
    judged = _judged_measure(measures)
    condensed = _condensed(measures, chosen)
    scorer = scorer_of(qrels, runs, [*measures, *condensed, judged], chosen)
    cards = scored(scorer, runs)
    with told("Comparing"):
        comparison = _compared(scorer, cards, baseline, chosen)
    comparison, patterns = _read(comparison, condensed, chosen)
    shares = {card.name: card.overall.means[judged] for card in cards}
    if chosen["form"] == "json":
        say_json(_as_json(scorer, cards, comparison, judged, shares, patterns))
    else:
        _show(comparison, judged, shares, chosen["form"])
        if patterns is not None:
            click.echo(f"\n{_patterns_text(patterns)}")


def _condensed(measures: Sequence[str], chosen: Mapping[str, Any]) -> list[str]:
    """What patterns look at besides, unless it was asked for."""
    if not chosen["patterns"]:
        return []
    if chosen["form"] == "tsv":
        message = "--patterns is no table of its own. Print it with table, markdown or json."
        raise click.UsageError(message)
    from benchwright.comparison.patterns import condensed_of

    names = condensed_of(measures_named(measures))
    return [names] if names and names not in measures_named(measures) else []


def _read(
    comparison: "Comparison", condensed: Sequence[str], chosen: Mapping[str, Any]
) -> "tuple[Comparison, Found | None]":
    """The comparison as it was asked for, and the patterns where they were."""
    if not chosen["patterns"]:
        return comparison, None
    from benchwright.cli.scoring.compare_output import found_patterns, shown

    measures_asked = [name for name in comparison.measures if name not in condensed]
    return shown(comparison, measures_asked), found_patterns(comparison, measures_asked)


def _patterns_text(patterns: "Found") -> str:
    """The patterns as text."""
    from benchwright.cli.scoring.compare_output import as_text

    return as_text(patterns)


def _baseline(baseline: str | None, runs: Sequence[Path]) -> str | None:
    """The name of the run that is meant, by its name or its path."""
    names = run_names(runs)
    if baseline is None or baseline in names:
        return baseline
    by_path = dict(zip(map(str, runs), names, strict=True))
    of_file = [name for path, name in zip(runs, names, strict=True) if baseline == path.name]
    if baseline in by_path or len(of_file) == 1:
        return by_path.get(baseline) or of_file[0]
    message = f"--baseline is '{baseline}'; expected one of the runs: {', '.join(names)}."
    raise click.UsageError(message)


def _judged_measure(measures: Sequence[str]) -> str:
    """`Judged` at the first cutoff there is, or at 10: how deep the comparison looks."""
    from benchwright.measures.registry import parse_measures

    cutoffs = [measure.cutoff for measure in parse_measures(measures)]
    return f"Judged@{next((k for k in cutoffs if isinstance(k, int)), 10)}"


def _compared(
    scorer: Scorer, cards: Sequence[Scorecard], baseline: str | None, chosen: Mapping[str, Any]
) -> "Comparison":
    from benchwright.comparison.comparing import compare

    *compared, judged = map(str, scorer.measures)
    asked_for = judged in chosen["measures"]
    return compare(
        {card.name: card.overall for card in cards},
        baseline=baseline,
        measures=[*compared, *[judged] * asked_for],
        slices=_slices(scorer, chosen) or None,
        families=scorer.families,
        test=chosen["test"],
        correction=chosen["correction"],
        interval=chosen["interval"],
        delta=chosen["delta"],
        n_flips=chosen["n_draws"],
        n_draws=chosen["n_draws"],
        seed=chosen["seed"],
    )


def _slices(scorer: Scorer, chosen: Mapping[str, Any]) -> dict[str, list[bytes]]:
    """Those of the file, and for patterns the queries that have other wordings."""
    slices = {name: list(grades) for name, grades in scorer.sliced.items()}
    if chosen["patterns"] and scorer.families:
        from benchwright.comparison.patterns import family_slices

        slices |= family_slices(list(scorer.judged), scorer.families)
    return slices


def _as_json(
    scorer: Scorer,
    cards: Sequence[Scorecard],
    comparison: "Comparison",
    judged: str,
    shares: Mapping[str, float],
    patterns: "Found | None",
) -> dict[str, Any]:
    from benchwright.cli.scoring.compare_output import as_json
    from benchwright.evaluation.results import provenance

    facts = provenance(scorer, cards, folder=Path())
    if patterns is None:
        return as_json(comparison, judged, shares, facts)
    from benchwright.cli.scoring.compare_output import as_dicts

    return as_json(comparison, judged, shares, facts, patterns=as_dicts(patterns))


def _show(comparison: "Comparison", judged: str, shares: Mapping[str, float], form: str) -> None:
    from benchwright.cli.scoring import compare_output

    for warning in compare_output.trust(judged, shares):
        click.echo(f"Warning: {warning}", err=True)
    for note in comparison.notes:
        click.echo(f"Note: {note}", err=True)
    if form == "tsv":
        compare_output.print_tsv(comparison, shares)
    else:
        compare_output.print_tables(comparison, judged, shares, is_markdown=form == "markdown")

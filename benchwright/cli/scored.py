"""From the options of `options.SCORING` to scored runs: what `score` and `compare` begin with.

click is imported where it has to be told something: a plain line does without it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.cli.files import (
    check_named_once,
    check_standard_input,
    naming,
    run_names,
    tell_warnings,
)
from benchwright.cli.progress import told
from benchwright.evaluation.scorecards import Files, Rules, Scorecard, Scorer
from benchwright.measures.registry import options_said, parse_measures

BETWEEN_NAMES = re.compile(r"\s+(?![^()]*\))")
LEFT_TO_RULES = {"rel", "judged_only"}
BESIDE = ("slices", "families", "weights", "parents", "answered")


def measures_named(texts: Sequence[str]) -> tuple[str, ...]:
    """The measures of `-m`, by their canonical names; one `-m` may hold several.

    A name that says `rel` or `judged_only` stays as it is written: in its canonical form it might
    not say them any more, and leave them to `--rel` and `--judged-only`.

    Raises
    ------
    ScoringError
        If one of them is none.
    """
    names = [name for text in texts for name in BETWEEN_NAMES.split(text.strip())]
    measures = ((name, str(measure)) for name in names for measure in parse_measures([name]))
    return tuple(
        dict.fromkeys(
            name if options_said(name) & LEFT_TO_RULES else canonical
            for name, canonical in measures
        )
    )


def scorer_of(
    qrels: Path,
    runs: Sequence[Path],
    measures: Sequence[str],
    chosen: Mapping[str, Any],
    scorer_class: Callable[[Files, Rules], Scorer] = Scorer,
) -> Scorer:
    """What scores these runs under the chosen rules; `scorer_class` makes it.

    Raises
    ------
    click.UsageError
        If a run is named twice, or standard input is.
    """
    beside = {name: chosen[name] for name in BESIDE if chosen.get(name)}
    check_standard_input([qrels, *runs, *beside.values()])
    check_named_once(runs)
    rules = Rules(
        measures=tuple(measures),
        ties=chosen["ties"],
        missing=chosen["missing"],
        depth=chosen["depth"],
        rel=chosen["rel"],
        judged_only=chosen["judged_only"],
        top_grade=chosen["top_grade"],
        aggregate=chosen["aggregate"] or ("maxp" if chosen["parents"] else None),
        allow_empty=chosen["allow_empty"],
        has_intervals=chosen.get("has_intervals", False),
        seed=chosen["seed"],
        unlisted=chosen["unlisted"],
    )
    return scorer_class(Files(qrels, **beside), rules)


def scored(scorer: Scorer, runs: Sequence[Path]) -> list[Scorecard]:
    """The scores of the runs; says what is going on, and what was worth a warning."""
    cards = []
    for number, (path, name) in enumerate(zip(runs, run_names(runs), strict=True), start=1):
        with told(f"Scoring run {number} of {len(runs)}: {name}"), naming(name):
            cards.append(scorer.score(path, name))
    tell_warnings(scorer.warnings)
    return cards

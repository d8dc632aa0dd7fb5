"""A policy's own error rates on somebody's own runs, before any candidate is seen.

Each run is held against the baseline as if it were the candidate, in comparisons made of the pair's
own queries, whose truth is known: nothing changes (arms swapped by a coin), it is better by so
much, a tenth of the queries is ruined, a slice is lost. What decides is what decides of candidates.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite, sqrt
from typing import Any

import numpy as np

from benchwright.errors import TooFewQueriesError
from benchwright.gates.deciding import Verdict, verdicts
from benchwright.gates.errors import RehearsalError
from benchwright.gates.evidence import Evidence
from benchwright.gates.policy import Policy
from benchwright.gates.rehearsal.making import Pair, Truth, made
from benchwright.statistics.descriptive import wilson
from benchwright.statistics.power import queries_needed

N_MADE = 400
MOST_RUNS = 10
GAINS = (0.03, 0.05)
CAUGHT = 0.5
"""Harm should be blocked, and the least improvement pass, at least so often."""

CLASSES = ("near", "related", "unrelated")
NEAR, RELATED = 0.10, 0.20

PASSING = (Verdict.PASS, Verdict.PASS_STRICT)
SHOWN = (Verdict.PASS, Verdict.BLOCK, Verdict.HOLD, Verdict.INCONCLUSIVE)

Progress = Callable[[int, int, str], None]


def class_of(sigma: float) -> str:
    """How far apart two runs are, by the scatter of their differences.

    Examples
    --------
    >>> class_of(0.05), class_of(0.1), class_of(0.3)
    ('near', 'related', 'unrelated')
    """
    return CLASSES[(sigma >= NEAR) + (sigma >= RELATED)]


def rehearsed(
    policy: Policy,
    pairs: Sequence[Evidence],
    *,
    seed: int = 0,
    n_made: int = N_MADE,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Verdict shares by how far the runs are apart, as JSON; the same for the same input.

    Parameters
    ----------
    pairs
        The baseline with each of 1 to 10 other runs in the candidate's place.
    progress
        Told how many comparisons of how many are done, and of which run.

    Raises
    ------
    RehearsalError
        If there are no runs, or too many.
    TooFewQueriesError
        If there are fewer than two queries.
    """
    if not 1 <= len(pairs) <= MOST_RUNS:
        raise RehearsalError(count=len(pairs), most=MOST_RUNS)
    if len(pairs[0].queries) < 2:
        raise TooFewQueriesError(count=len(pairs[0].queries))
    made_true = dict(_truths(policy))
    counted = Counts()
    runs = []
    spreads: dict[str, list[float]] = {}
    for number, evidence in enumerate(pairs):
        pair = pair_of(policy, evidence)
        name, kind = evidence.candidate.name, class_of(pair.sigma)
        runs.append({"run": name, "class": kind, "sigma": pair.sigma})
        spreads.setdefault(kind, []).append(pair.spread)
        for place, (truth, what) in enumerate(made_true.items()):
            if progress is not None:
                done = number * len(made_true) + place
                progress(done * n_made, len(pairs) * len(made_true) * n_made, name)
            rng = np.random.default_rng([seed, number, place])
            for outcomes in made(policy, pair, what, n_made=n_made, rng=rng):
                counted.add(kind, truth, verdicts(policy, outcomes), outcomes.rail_blocks)
    rows = list(counted.rows())
    first = pairs[0]
    return {
        "format": "benchwright-rehearsal",
        "format_version": 1,
        "policy_sha256": policy.digest,
        "baseline": first.baseline.name,
        "runs": runs,
        "n_queries": len(first.queries),
        "n_families": first.n_families,
        "n_made": n_made,
        "seed": seed,
        "rows": rows,
        "warnings": list(_warnings(policy, rows, spreads, n_made)),
    }


NEEDED = "; about {} queries are needed to show it half the time"
NO_CHANGE, HARM = "no change", "harm to a tenth of the queries"


def _truths(policy: Policy) -> Iterator[tuple[str, Truth]]:
    yield NO_CHANGE, Truth("swapped")
    for by in sorted({policy.delta_min, *GAINS}):
        yield _better(by), Truth("moved", by)
    yield HARM, Truth("harmed")
    for place, name in enumerate(policy.slices):
        yield f"loss of {2 * policy.margin:g} in slice {name}", Truth("slice lost", place=place)


def _better(by: float) -> str:
    return f"better by {by:g}"


def pair_of(policy: Policy, evidence: Evidence) -> Pair:
    """Two runs as comparisons are made of them."""
    gain = evidence.differences(policy.measure)
    guards = [evidence.differences(name) for name in policy.guard_rails.measures]
    masks = [evidence.mask_of(name) for name in policy.slices]
    exact, lexical = evidence.slices.get(policy.guard_rails.exact_slice), evidence.lexical
    against = baseline_against = None
    if exact is None or lexical is None or exact.sum() < policy.smallest_slice:
        exact = None
    else:
        against = evidence.candidate.of(policy.measure) - lexical.of(policy.measure)
        baseline_against = evidence.baseline.of(policy.measure) - lexical.of(policy.measure)
    return Pair(
        gain=gain,
        guards=np.stack(guards, axis=1) if guards else np.zeros((len(gain), 0)),
        standing=evidence.baseline.of(policy.measure),
        slices=np.stack(masks, axis=1) if masks else np.zeros((len(gain), 0), dtype=np.bool_),
        families=evidence.families,
        exact=exact,
        against=against,
        baseline_against=baseline_against,
    )


COLUMNS = ("runs", "what is true", "pass", "block", "hold", "inconclusive")


def table_of(rehearsal: Mapping[str, Any]) -> list[list[str]]:
    """Its rows as reports and pages show them: shares in percent, Wilson's intervals of the first
    two in brackets."""
    return [
        [
            row["class"],
            row["truth"],
            *(
                f"{_percent(row[name][0])} ({100 * row[name][1]:.0f}-{_percent(row[name][2])})"
                for name in ("pass", "block")
            ),
            *(_percent(row[name][0]) for name in ("hold", "inconclusive")),
        ]
        for row in rehearsal["rows"]
    ]


def summary_of(rehearsal: Mapping[str, Any]) -> str:
    """On what it was rehearsed."""
    names = ", ".join(f"{run['run']} ({run['class']})" for run in rehearsal["runs"])
    return (
        f"Before the policy was frozen, {rehearsal['baseline']} was held against {names}: "
        f"{rehearsal['n_made']:,} comparisons a case, made of {rehearsal['n_queries']:,} queries "
        f"in {rehearsal['n_families']:,} families, seed {rehearsal['seed']}."
    )


class Counts:
    """How often each verdict came out, by class of pair and what was true."""

    def __init__(self) -> None:
        self.verdicts: dict[tuple[str, str], dict[str, int]] = {}
        self.by_rail: dict[tuple[str, str], int] = {}

    def add(self, kind: str, truth: str, verdicts: Any, by_rail: Any) -> None:
        of = self.verdicts.setdefault((kind, truth), {})
        for verdict, n in zip(*np.unique(verdicts, return_counts=True), strict=True):
            of[str(verdict)] = of.get(str(verdict), 0) + int(n)
        self.by_rail[kind, truth] = self.by_rail.get((kind, truth), 0) + int(by_rail.sum())

    def rows(self) -> Iterator[dict[str, Any]]:
        """Shares with Wilson's 95 % intervals, the nearest runs first."""
        for kind in CLASSES:
            for (of_kind, truth), counts in self.verdicts.items():
                if of_kind == kind:
                    n = sum(counts.values())
                    passed = sum(counts.get(verdict, 0) for verdict in PASSING)
                    shares = {str(verdict): counts.get(verdict, 0) for verdict in SHOWN} | {
                        "pass": passed
                    }
                    shares["rail"] = self.by_rail[of_kind, truth]
                    yield {
                        "class": kind,
                        "truth": truth,
                        "n": n,
                        **{name: [k / n, *wilson(k, n)] for name, k in shares.items()},
                    }


def _warnings(
    policy: Policy,
    rows: Sequence[Mapping[str, Any]],
    spreads: Mapping[str, Sequence[float]],
    n_made: int,
) -> Iterator[str]:
    """What of these rates is not as it should be; `spreads` are those of each class's pairs."""
    alpha = policy.alpha
    most = alpha + 2 * sqrt(alpha * (1 - alpha) / n_made)
    for row in rows:
        words, block = f"Between {row['class']} runs", row["block"][0]
        passed, _, at_most = row["pass"]
        if row["truth"] == NO_CHANGE and block > most:
            yield f"{words} {_percent(block)} are blocked though nothing changed."
        if row["truth"] == HARM and block < CAUGHT:
            yield (
                f"{words} {HARM} is blocked in {_percent(block)} of cases: this gate does not "
                "guard against it. Look at the queries that lose most."
            )
        # An improvement of exactly the least that counts passes half the time at best.
        is_least = row["truth"] == _better(policy.delta_min)
        if policy.goal == "improve" and is_least and at_most < CAUGHT:
            needed = queries_needed(
                max(spreads[row["class"]]),
                policy.delta_min,
                alpha=alpha,
                power=CAUGHT,
                two_sided=False,
            )
            advice = NEEDED.format(f"{int(needed):,}") if isfinite(float(needed)) else ""
            yield (
                f"{words} an improvement of {policy.delta_min:g} passes in {_percent(passed)} of "
                f"cases{advice}."
            )


def power_of(policy: Policy, evidence: Evidence, *, seed: int = 0) -> dict[str, Any]:
    """How often harm planted in a tenth of the queries is blocked, at this size and for this pair.

    `rail` are those that the rail on queries which lose much blocks by itself.
    """
    counted = Counts()
    rng = np.random.default_rng(seed)
    pair = pair_of(policy, evidence)
    for outcomes in made(policy, pair, Truth("harmed"), n_made=N_MADE, rng=rng):
        counted.add(CLASSES[0], HARM, verdicts(policy, outcomes), outcomes.rail_blocks)
    (row,) = counted.rows()
    share, low, high = row["rail"]
    return {
        "n_made": N_MADE,
        "class": class_of(pair.sigma),
        "rail": row["rail"],
        "block": row["block"],
        "sentence": (
            f"Where a tenth of these queries lost 0.4, this rail would block in {_percent(share)} "
            f"of cases ({_percent(low)} to {_percent(high)}) for {class_of(pair.sigma)} runs like "
            "these two."
        ),
    }


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"

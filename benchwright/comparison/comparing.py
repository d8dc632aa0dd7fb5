"""Runs against each other on the same queries: how large is the difference, and is it one?

`compare` takes what `evaluate` returned for each run, and answers for every measure and slice with
means, intervals, ranks and tie groups of the runs, and with difference, interval, p-values, effect
and power of their pairs. The methods are explained in docs/statistics.md.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from math import inf, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchwright.comparison.aligning import OVERALL, Aligned, PerQuery, align
from benchwright.comparison.outcome import (
    Comparison,
    Effect,
    Interval,
    Methods,
    Pair,
    Power,
    RankInterval,
    RunSummary,
    SliceSize,
)
from benchwright.errors import (
    MethodMisfitError,
    MethodNumberError,
    ScoringError,
    UnknownMethodError,
    UnknownRunError,
)
from benchwright.evaluation.uncertainty import span_of, span_of_differences
from benchwright.measures import parse_measure
from benchwright.measures.families import FAMILIES, Measure
from benchwright.statistics import effects, intervals, paired, power, signflip
from benchwright.statistics.confidence_sets import TieGroups, tie_groups
from benchwright.statistics.corrections import benjamini_hochberg, holm
from benchwright.statistics.decisions import decision
from benchwright.statistics.families import Floats, ratio_means
from benchwright.statistics.ranks import beside_groups, rank_intervals, ranks
from benchwright.statistics.tukey import randomised_tukey
from benchwright.texts.counting import first_of

__all__ = [
    "OVERALL",
    "Comparison",
    "Effect",
    "Interval",
    "Methods",
    "Pair",
    "PerQuery",
    "Power",
    "RankInterval",
    "RunSummary",
    "SliceSize",
    "compare",
]

TESTS = ("signflip", "t", "wilcoxon", "sign")
CORRECTIONS = ("holm", "bh", "tukey", "maxt", "none")

N_DRAWS = 10_000
N_DRAWS_OF_BOARD = 2_000
LARGEST_TABLE = 10
"""All pairs of more runs than this are a board, which needs no fourth digit of an interval."""

# Differences held at once: bounds the memory of comparing many runs.
HELD = 2**22


def compare(
    runs: Mapping[str, PerQuery],
    *,
    baseline: str | None = None,
    measures: Sequence[str] | None = None,
    slices: Mapping[str, Collection[Hashable]] | None = None,
    families: Mapping[Any, Hashable] | None = None,
    test: str = "signflip",
    alternative: str = "two-sided",
    correction: str | None = None,
    interval: str = intervals.DEFAULT,
    level: float = 0.95,
    delta: float = 0.01,
    n_flips: int = 10_000,
    n_draws: int | None = None,
    seed: int = 0,
) -> Comparison:
    """Every run against the baseline, or all against all, on every measure and slice.

    Parameters
    ----------
    runs
        By name, at least two; the names stand in this order everywhere.
    baseline
        One of the names. Without it all pairs are compared.
    measures
        Which ones; all that the runs have in common unless given.
    slices
        Queries of each slice by its name; ids that no run has are left out. All queries
        (`OVERALL`) always come first.
    families
        Family of each query. Families are flipped and resampled whole; a query without one is a
        family of its own.
    test
        "signflip", "t", "wilcoxon" or "sign".
    alternative
        "two-sided", "greater" (the run is better than its reference) or "less".
    correction
        "holm", "bh", "tukey", "maxt" or "none"; unless given "tukey" for all pairs two-sided, and
        "holm" else.
    interval
        "t" (Student's, over families), or a bootstrap: "bca", "studentised", "percentile".
    level
        Of the intervals, and of the claim that the first tie group holds every truly best run.
    delta
        Difference that `queries_for_delta` is about.
    n_flips, n_draws, seed
        Random flips of the tests, draws of the bootstrap, and where both start: the same seed
        gives the same numbers. Unless given there are 10,000 draws, and 2,000 for all pairs of
        more than ten runs.

    Raises
    ------
    TooFewRunsError, TooFewQueriesError, RunsDifferError
        If there is nothing to compare, or not on the same queries.
    NoCommonMeasureError, UnknownMeasureError, MissingValueError
        If the runs were not scored by the same measures.
    UnknownRunError, ReservedSliceError, UnknownMethodError, MethodMisfitError, MethodNumberError
        If a name is none of those above, two do not go together, or a number is out of range.
    """
    methods = Methods(
        test=test,
        alternative=alternative,
        correction=correction or _correction(baseline, alternative),
        interval=interval,
        level=level,
        n_flips=n_flips,
        n_draws=_draws(len(runs), baseline) if n_draws is None else n_draws,
        seed=seed,
    )
    _check(methods, baseline, runs, delta)
    aligned = align(runs, measures=measures, slices=slices, families=families)
    pairs = _pairs(aligned.runs, baseline)
    columns = _columns(aligned, pairs, methods)
    columns["p_adjusted"] = _adjusted(aligned, pairs, methods, columns["p"])
    groups = _groups(aligned, methods)
    sizes = tuple(_slice_sizes(aligned))
    return Comparison(
        runs=aligned.runs,
        baseline=baseline,
        measures=aligned.measures,
        slices=sizes,
        methods=methods,
        summaries=tuple(_summaries(aligned, methods, groups)),
        pairs=tuple(_pair_results(aligned, pairs, columns, delta, level)),
        notes=(
            *aligned.notes,
            *_measure_notes(aligned.measures),
            *_too_few(sizes),
            *_group_notes(aligned, groups),
        ),
    )


def _correction(baseline: str | None, alternative: str) -> str:
    return "tukey" if baseline is None and alternative == "two-sided" else "holm"


def _draws(n_runs: int, baseline: str | None) -> int:
    return N_DRAWS_OF_BOARD if baseline is None and n_runs > LARGEST_TABLE else N_DRAWS


def _check(
    methods: Methods, baseline: str | None, runs: Mapping[str, PerQuery], delta: float
) -> None:
    if baseline is not None and baseline not in runs:
        raise UnknownRunError(name=baseline, known=", ".join(runs))
    _check_names(methods)
    _check_numbers(methods, delta)
    if methods.correction == "tukey" and methods.alternative != "two-sided":
        reason = "Tukey's correction is two-sided."
        raise MethodMisfitError(reason=reason, kind="correction or alternative")
    if methods.correction == "maxt" and (baseline is None or methods.test != "signflip"):
        reason = "The maxt correction flips signs of differences to one baseline."
        raise MethodMisfitError(reason=reason, kind="correction, or name a baseline")


def _check_names(methods: Methods) -> None:
    for kind, name, choices in (
        ("test", methods.test, TESTS),
        ("alternative", methods.alternative, signflip.ALTERNATIVES),
        ("correction", methods.correction, CORRECTIONS),
        ("interval", methods.interval, intervals.METHODS),
    ):
        if name not in choices:
            raise UnknownMethodError(kind=kind, name=name, known=", ".join(choices))


def _check_numbers(methods: Methods, delta: float) -> None:
    share, count = "a share between 0 and 1, such as 0.95", "a whole number of at least 1"
    for name, value, is_fine, expected in (
        ("level", methods.level, 0 < methods.level < 1, share),
        ("n_flips", methods.n_flips, methods.n_flips >= 1, count),
        ("n_draws", methods.n_draws, methods.n_draws >= 1, count),
        ("seed", methods.seed, methods.seed >= 0, "a whole number of at least 0"),
        ("delta", delta, 0 < delta < inf, "a difference above 0, such as 0.01"),
    ):
        if not is_fine:
            raise MethodNumberError(name=name, value=value, expected=expected)


# --- pairs ---------------------------------------------------------------------------------------

RunPair = tuple[int, int]
"""Places of a run and of its reference."""


def _pairs(runs: Sequence[str], baseline: str | None) -> list[RunPair]:
    if baseline is None:
        return [(run, reference) for reference, run in combinations(range(len(runs)), 2)]
    reference = runs.index(baseline)
    return [(run, reference) for run in range(len(runs)) if run != reference]


def _columns(aligned: Aligned, pairs: list[RunPair], methods: Methods) -> dict[str, Floats]:
    """Whatever is known of each pair, as arrays (measures x slices x pairs)."""
    shape = (len(aligned.measures), len(aligned.slices), len(pairs))
    parts = [
        _statistics(differences, reference, measures, aligned, methods)
        for differences, reference, measures in _differences(aligned, pairs)
    ]
    return {
        name: np.concatenate([part[name] for part in parts]).reshape(shape) for name in parts[0]
    }


def _differences(
    aligned: Aligned, pairs: list[RunPair]
) -> Iterator[tuple[Floats, Floats, NDArray[np.intp]]]:
    """Blocks of columns: differences, NaN outside the slice, the reference's values, measures."""
    masks = np.stack(list(aligned.slices.values()), axis=1)
    places = np.array(
        [
            (measure, slice_, *pair)
            for measure, slice_, pair in product(
                range(len(aligned.measures)), range(masks.shape[1]), pairs
            )
        ]
    )
    width = max(1, HELD // len(masks))
    for at in range(0, len(places), width):
        measure, slice_, run, reference = places[at : at + width].T
        values = aligned.values[:, reference, measure]
        differences = effects.differences_of(aligned.values[:, run, measure], values)
        yield np.where(masks[:, slice_], differences, np.nan), values, measure


def _statistics(
    differences: Floats,
    reference: Floats,
    measures: NDArray[np.intp],
    aligned: Aligned,
    methods: Methods,
) -> dict[str, Floats]:
    lowest, highest = (ends[measures] for ends in span_of_differences(aligned.measures))
    low, high = _intervals(differences, aligned, methods, (lowest, highest))
    wins, ties, losses = effects.wins_ties_losses(differences).astype(np.float64)
    alternative = methods.alternative
    return {
        "n": wins + ties + losses,
        "difference": ratio_means(differences),
        "low": low,
        "high": high,
        "p": _test(methods)(differences, families=aligned.families, alternative=alternative),
        "p_t": paired.t_test(differences, families=aligned.families, alternative=alternative),
        "relative": effects.relative_changes(differences, reference),
        "d_z": effects.standardised(differences),
        "wins": wins,
        "ties": ties,
        "losses": losses,
        "share_worse": effects.shares_worse(differences),
        "superiority": effects.superiority(differences),
        "sigma": effects.spreads(differences),
        "error": paired.standard_errors(differences, aligned.families),
        "largest": highest,
        "n_differing": intervals.n_differing(differences, aligned.families).astype(np.float64),
    }


def _intervals(
    values: Floats, aligned: Aligned, methods: Methods, span: tuple[Floats, Floats]
) -> Floats:
    return intervals.mean_interval(
        values,
        families=aligned.families,
        method=methods.interval,
        level=methods.level,
        span=span,
        n_draws=methods.n_draws,
        seed=methods.seed,
    )


def _test(methods: Methods) -> Callable[..., Floats]:
    by_name: dict[str, Callable[..., Floats]] = {
        "signflip": partial(signflip.sign_flip, n_flips=methods.n_flips, seed=methods.seed),
        "t": paired.t_test,
        "wilcoxon": paired.wilcoxon,
        "sign": paired.sign_test,
    }
    return by_name[methods.test]


def _pair_results(
    aligned: Aligned,
    pairs: list[RunPair],
    columns: dict[str, Floats],
    delta: float,
    level: float,
) -> Iterator[Pair]:
    for place in product(*map(range, columns["p"].shape)):
        measure, slice_, pair = place
        run, reference = pairs[pair]
        of = {name: float(column[place]) for name, column in columns.items()}
        ends, alpha = (of["low"], of["high"]), 1 - level
        kind, reason = decision(of["difference"], ends, of["p"], of["p_adjusted"], alpha=alpha)
        yield Pair(
            run=aligned.runs[run],
            reference=aligned.runs[reference],
            measure=aligned.measures[measure],
            slice=list(aligned.slices)[slice_],
            n_queries=int(of["n"]),
            difference=of["difference"],
            interval=Interval(of["low"], of["high"]),
            p=of["p"],
            p_adjusted=of["p_adjusted"],
            p_t=of["p_t"],
            effect=_effect(of),
            power=_power(of, delta),
            decision=kind,
            reason=reason,
            n_differing=int(of["n_differing"]),
        )


def _effect(of: Mapping[str, float]) -> Effect:
    return Effect(
        relative=of["relative"],
        d_z=of["d_z"],
        wins=int(of["wins"]),
        ties=int(of["ties"]),
        losses=int(of["losses"]),
        share_worse=of["share_worse"],
        superiority=of["superiority"],
    )


def _power(of: Mapping[str, float], delta: float) -> Power:
    # With families the queries tell less than as many independent ones: the error knows.
    effective = of["error"] * of["n"] ** 0.5
    detectable = power.reach() * of["error"]
    return Power(
        sigma=of["sigma"],
        detectable=detectable if detectable <= of["largest"] else np.nan,
        queries_for_observed=_whole(power.queries_needed(effective, of["difference"])),
        queries_for_delta=_whole(power.queries_needed(effective, delta)),
        delta=delta,
    )


def _whole(number: Floats) -> int | None:
    return int(number) if np.isfinite(number) else None


# --- corrections ---------------------------------------------------------------------------------


def _adjusted(aligned: Aligned, pairs: list[RunPair], methods: Methods, p: Floats) -> Floats:
    """p-values (measures x slices x pairs) after the correction.

    Holm and Benjamini-Hochberg take all queries by themselves, and all slices of a measure
    together; Tukey and maxt work within each slice.
    """
    if methods.correction == "tukey":
        run, reference = np.array(pairs).T
        return np.moveaxis(_tukey(aligned, methods)[run, reference], 0, 2)
    if methods.correction == "maxt":
        return _maxt(aligned, pairs, methods)
    if methods.correction == "none":
        return p
    correct = {"holm": holm, "bh": benjamini_hochberg}[methods.correction]
    in_slices = correct(p[:, 1:].reshape(len(p), -1)).reshape(p[:, 1:].shape)
    return np.concatenate([correct(p[:, :1]), in_slices], axis=1)


def _tukey(aligned: Aligned, methods: Methods) -> Floats:
    """Runs x runs x measures x slices."""
    parts = [
        randomised_tukey(
            aligned.values[mask],
            families=None if aligned.families is None else aligned.families[mask],
            n_draws=methods.n_flips,
            seed=methods.seed,
        )
        for mask in aligned.slices.values()
    ]
    return np.stack(parts, axis=3)


def _maxt(aligned: Aligned, pairs: list[RunPair], methods: Methods) -> Floats:
    run, reference = np.array(pairs).T
    differences = effects.differences_of(aligned.values[:, run], aligned.values[:, reference])
    adjust = partial(
        signflip.sign_flip_max,
        families=aligned.families,
        alternative=methods.alternative,
        n_flips=methods.n_flips,
        seed=methods.seed,
    )
    columns = np.moveaxis(differences, 2, 0)
    masks = [mask[:, np.newaxis] for mask in aligned.slices.values()]
    return np.array(
        [[adjust(np.where(mask, column, np.nan)) for mask in masks] for column in columns]
    )


# --- runs ----------------------------------------------------------------------------------------


def _slice_sizes(aligned: Aligned) -> Iterator[SliceSize]:
    for name, mask in aligned.slices.items():
        n = int(mask.sum())
        families = aligned.families
        n_families = n if families is None else len(np.unique(families[mask]))
        yield SliceSize(name=name, n_queries=n, n_families=n_families)


def _measure_notes(measures: Sequence[str]) -> Iterator[str]:
    words = {"geometric": "a geometric one", "sum": "a sum"}
    for name in measures:
        with suppress(ScoringError):  # somebody's own
            measure: Measure = parse_measure(name)
            if word := words.get(measure.aggregation):
                yield (
                    f"{name} is compared by the plain mean of its values; over all queries it is "
                    f"{word}."
                )
            if FAMILIES[measure.family].is_cost:
                yield f"Of {name} less is better; what is called better here has more of it."


def _too_few(sizes: Sequence[SliceSize]) -> Iterator[str]:
    fewest = intervals.FEWEST_FAMILIES
    few = [f"{size.name} {size.n_families}" for size in sizes if size.n_families < fewest]
    if few:
        yield (
            f"Intervals of fewer than {fewest} families or queries are too short, and "
            f"tests of them may be too bold: {', '.join(few)}."
        )


def _summaries(
    aligned: Aligned, methods: Methods, groups: Mapping[tuple[int, int], TieGroups]
) -> Iterator[RunSummary]:
    tables = [_slice_table(aligned, mask, methods) for mask in aligned.slices.values()]
    standing = {}
    for (measure, slice_), tie_group in groups.items():
        of = tables[slice_]
        ends, at = np.stack([of["best"], of["worst"]])[:, :, measure], of["rank"][:, measure]
        standing[measure, slice_] = beside_groups(
            ends.astype(np.intp), at.astype(np.intp), tie_group.of
        )
    for measure, slice_, run in product(
        range(len(aligned.measures)), range(len(tables)), range(len(aligned.runs))
    ):
        cell = {name: column[run, measure] for name, column in tables[slice_].items()}
        is_ranked = not isnan(cell["mean"])
        best, worst = standing[measure, slice_][:, run].tolist()
        yield RunSummary(
            run=aligned.runs[run],
            measure=aligned.measures[measure],
            slice=list(aligned.slices)[slice_],
            n_queries=int(cell["n"]),
            n_undefined=int(cell["n_undefined"]),
            mean=float(cell["mean"]),
            interval=Interval(float(cell["low"]), float(cell["high"])),
            rank=int(cell["rank"]) if is_ranked else None,
            rank_interval=RankInterval(best, worst) if is_ranked else None,
            tie_group=int(groups[measure, slice_].of[run]) if is_ranked else None,
        )


def _slice_table(aligned: Aligned, mask: NDArray[np.bool_], methods: Methods) -> dict[str, Floats]:
    """Whatever is known of each run on the queries of one slice (runs x measures)."""
    inside = replace(
        aligned,
        values=aligned.values[mask],
        families=None if aligned.families is None else aligned.families[mask],
    )
    n, n_runs, n_measures = inside.values.shape
    flat = inside.values.reshape(n, n_runs * n_measures)
    # The lowest and the highest value of each measure, run by run.
    spans = np.array([span_of(name) for name in inside.measures]).T
    lowest, highest = np.tile(spans, n_runs)
    ends = _intervals(flat, inside, methods, (lowest, highest))
    low, high = ends.reshape(2, n_runs, n_measures)
    mean = ratio_means(flat).reshape(n_runs, n_measures)
    best, worst = _rank_intervals(inside, methods)
    return {
        "n": np.full(mean.shape, float(n)),
        "n_undefined": np.isnan(inside.values).sum(axis=0).astype(np.float64),
        "mean": mean,
        "low": low,
        "high": high,
        "rank": ranks(mean).astype(np.float64),
        "best": best,
        "worst": worst,
    }


def _rank_intervals(inside: Aligned, methods: Methods) -> Floats:
    n, n_runs, n_measures = inside.values.shape
    if not n:
        return np.zeros((2, n_runs, n_measures))
    ends = rank_intervals(
        inside.values,
        families=inside.families,
        level=methods.level,
        n_draws=methods.n_draws,
        seed=methods.seed,
    )
    return ends.astype(np.float64)


def _groups(aligned: Aligned, methods: Methods) -> dict[tuple[int, int], TieGroups]:
    """Tie groups of the runs, by the places of measure and slice."""
    groups = {}
    for slice_, mask in enumerate(aligned.slices.values()):
        families = None if aligned.families is None else aligned.families[mask]
        for measure in range(len(aligned.measures)):
            groups[measure, slice_] = tie_groups(
                aligned.values[mask][:, :, measure],
                families=families,
                alpha=1 - methods.level,
                n_flips=methods.n_flips,
                seed=methods.seed,
            )
    return groups


def _group_notes(aligned: Aligned, groups: Mapping[tuple[int, int], TieGroups]) -> Iterator[str]:
    """What is to be said of the tie groups, each sentence once with where it holds."""
    places: dict[str, list[str]] = {}
    for (measure, slice_), tie_group in groups.items():
        for note in tie_group.notes():
            where = f"{aligned.measures[measure]} over {list(aligned.slices)[slice_]}"
            places.setdefault(note, []).append(where)
    for note, listed in places.items():
        yield f"{note} ({first_of(listed, 3)})"

"""Runs as they come, scored on the same qrels and compared in one call."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.comparison.comparing import compare
from benchwright.comparison.outcome import Comparison
from benchwright.evaluation.evaluating import evaluate
from benchwright.measures import Measure, parse_measures
from benchwright.reading.scanning import scan_qrels


def compare_runs(
    qrels: Any,
    runs: Mapping[str, Any] | Sequence[Any],
    measures: Iterable[str | Measure],
    *,
    baseline: str | Path | None = None,
    slices: Mapping[str, Collection[Hashable]] | None = None,
    families: Mapping[Any, Hashable] | None = None,
    ties: str = "trec",
    missing: str = "zero",
    depth: int | None = None,
    unlisted: str = "unknown",
    **methods: Any,
) -> Comparison:
    """Every run scored on the qrels, and compared: `evaluate` of each, then `compare`.

    Parameters
    ----------
    qrels
        As `evaluate` takes them; read once.
    runs
        By name, or a list: a path's name is that of its file (the whole path, where two files have
        one name), and what has none is called "run 1", by its place.
    baseline
        A name, or one of the paths.
    ties, missing, depth, unlisted
        As `evaluate` takes them.
    slices, families, methods
        As `compare` takes them; query ids are text.

    Raises
    ------
    BenchmarkError
        Whatever `evaluate` and `compare` raise.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 1}}
    >>> best = {query: {document: 2.0 for document in of} for query, of in qrels.items()}
    >>> worse = {**best, "q1": {"d9": 2.0, "d1": 1.0}}
    >>> compare_runs(qrels, [worse, best], ["MRR"], baseline="run 1").pairs_of("MRR")[0].difference
    0.16666666666666666
    """
    named = dict(runs) if isinstance(runs, Mapping) else _named(runs)
    names_of_paths = {str(run): name for name, run in named.items() if isinstance(run, str | Path)}
    reference = None if baseline is None else str(baseline)
    table = scan_qrels(Path(qrels)) if isinstance(qrels, str | Path) else qrels
    parsed = parse_measures(measures)
    rules: dict[str, Any] = {"ties": ties, "missing": missing, "depth": depth, "unlisted": unlisted}
    # Runs of files and of memory stand side by side: their query ids are text in both.
    evaluations = {
        name: evaluate(table, run, parsed, **rules).with_text_ids() for name, run in named.items()
    }
    return compare(
        evaluations,
        baseline=reference if reference in named else names_of_paths.get(str(reference), reference),
        slices=slices,
        families=families,
        **methods,
    )


def _named(runs: Sequence[Any]) -> dict[str, Any]:
    paths = [str(run) if isinstance(run, str | Path) else None for run in runs]
    short = [Path(path).name if path else f"run {n}" for n, path in enumerate(paths, start=1)]
    return {
        name if path is None or short.count(name) == 1 else path: run
        for name, path, run in zip(short, paths, runs, strict=True)
    }

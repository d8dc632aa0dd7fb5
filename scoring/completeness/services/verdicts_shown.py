"""Verdicts on pairs of runs as pages and the API show them."""

from collections.abc import Sequence
from typing import Any

from benchmarks_app.models import Run
from scoring.completeness.services.answers import Completeness


def pair_rows(completeness: Completeness, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The verdicts on each pair, with the runs."""
    by_key = {run.pk: run for run in runs}
    return [
        {
            "one": by_key[pair.one],
            "other": by_key[pair.other],
            "raw": pair.found.raw,
            "raw_verdict": pair.found.raw_verdict,
            "all_relevant": pair.found.all_relevant,
            "all_relevant_verdict": pair.found.all_relevant_verdict,
            "drawn_low": pair.found.drawn_low,
            "drawn_high": pair.found.drawn_high,
            "drawn_alike": pair.found.drawn_alike,
            "is_settled": pair.found.is_settled,
            "n_unjudged": pair.found.n_unjudged,
        }
        for pair in completeness.pairs
    ]

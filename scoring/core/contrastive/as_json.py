"""A report as JSON, for the command, the site and its API."""

from math import inf
from typing import Any

from scoring.core.contrastive.report import ContrastiveReport, Estimate, Part, Way


def report_as_json(report: ContrastiveReport) -> dict[str, Any]:
    """The report without the places of every pair; what is undefined is None."""
    return {
        "n": report.n,
        "n_features": report.n_features,
        "normalize": report.normalize,
        "ties": report.ties,
        "parts": [_part_as_json(part) for part in (report.overall, *report.slices)],
        "curve": [
            {"k": k, "forward": forward, "backward": backward}
            for k, (forward, backward) in report.curve.items()
        ],
        "worst": [
            {
                "id": report.id_of(one.row),
                "row": one.row,
                "forward_rank": one.forward_rank,
                "backward_rank": one.backward_rank,
                "forward_nearest": report.id_of(one.forward_nearest),
                "backward_nearest": report.id_of(one.backward_nearest),
            }
            for one in report.worst
        ],
        "n_unknown": len(report.unknown),
    }


def _part_as_json(part: Part) -> dict[str, Any]:
    return {
        "name": part.name,
        "n": part.n,
        "accuracy": [{"k": k, **_estimate_as_json(of)} for k, of in part.accuracy.items()],
        "mrr": _estimate_as_json(part.mrr),
        "forward": _way_as_json(part.forward),
        "backward": _way_as_json(part.backward),
    }


def _estimate_as_json(of: Estimate) -> dict[str, float | None]:
    return {"mean": _known(of.mean), "low": _known(of.low), "high": _known(of.high)}


def _way_as_json(way: Way) -> dict[str, Any]:
    return {
        "accuracy": [{"k": k, "mean": _known(mean)} for k, mean in way.accuracy.items()],
        "mrr": _known(way.mrr),
        "median_rank": _known(way.median_rank),
    }


def _known(value: float) -> float | None:
    return value if -inf < value < inf else None

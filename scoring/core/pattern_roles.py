"""Which of several measures plays which part when patterns are read."""

from collections.abc import Sequence

from scoring.core.measures.registry import Measure, parse_measure
from scoring.core.patterns import Roles


def condensed_of(measures: Sequence[str]) -> str | None:
    """The graded gain without unjudged documents; None where no measure is one of gain.

    Examples
    --------
    >>> condensed_of(["P@5", "nDCG@20"]), condensed_of(["RR@10"])
    ('nDCG(judged_only=True)@20', None)
    """
    gain = _of_family(measures, "nDCG")
    return gain and str(parse_measure(gain).with_options({"judged_only": True}))


def roles_of(measures: Sequence[str]) -> Roles:
    """The first measure of each family plays its part."""
    return Roles(
        gain=_of_family(measures, "nDCG") or "",
        first=_of_family(measures, "RR") or "",
        coverage=_of_family(measures, "R") or "",
        condensed=condensed_of(measures) or "",
    )


def _of_family(measures: Sequence[str], family: str) -> str | None:
    for measure in map(parse_measure, measures):
        if measure.family == family and not _is_condensed(measure):
            return str(measure)
    return None


def _is_condensed(measure: Measure) -> bool:
    return bool(dict(measure.options).get("judged_only"))

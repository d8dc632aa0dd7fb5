"""A measure that was asked for by a name of its own, among those that were scored."""

from collections.abc import Iterable
from contextlib import suppress

from benchwright.errors import ScoringError
from benchwright.measures.registry import parse_measure


def scored_name(name: str, scored: Iterable[str]) -> str:
    """The canonical name, of those in `scored`, that people mean by `name`.

    Any name of the measure is taken; with `@K`, or without a cutoff, whatever the cutoff is: of
    several cutoffs the first. Options that a name does not give may be any, too.

    Raises
    ------
    KeyError
        If none of them is meant; it names those there are.

    Examples
    --------
    >>> scored_name("ndcg_cut_10", ["AP", "nDCG@10"]), scored_name("MRR", ["RR@10"])
    ('nDCG@10', 'RR@10')
    """
    names = list(scored)
    if name in names:
        return name
    head, _, cutoff = name.partition("@")
    with suppress(ScoringError):
        exact = str(parse_measure(name))
        if exact in names:
            return exact
    for full_name in names:
        # Of results that others report, a name may be nobody's here.
        with suppress(ScoringError):
            measure = parse_measure(full_name)
            cutoff_wanted = cutoff if cutoff.isdecimal() else measure.cutoff
            name_with_cutoff = name if "@" not in name and _has_cutoff(name) else head
            if cutoff_wanted is not None and name_with_cutoff == head:
                name_with_cutoff = f"{head}@{cutoff_wanted}"
            of_name = parse_measure(name_with_cutoff)
            if (measure.family, measure.cutoff) == (of_name.family, of_name.cutoff):
                return full_name
    text = f"{name}: not scored; there are {', '.join(names)}"
    raise KeyError(text)


def _has_cutoff(name: str) -> bool:
    """Whether the name says its cutoff itself, as `ndcg_cut_10` does."""
    with suppress(ScoringError):
        return parse_measure(name).cutoff is not None
    return False

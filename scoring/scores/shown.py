"""Measures as pages show them: the standard ones, and any other by its name."""

import re
from dataclasses import dataclass, replace
from typing import cast

from django.utils.translation import gettext_noop as _

from benchwright.errors import MeasureParameterError
from benchwright.measures import parse_measure
from benchwright.measures.families import FAMILIES, Measure
from benchwright.measures.registry import options_said


@dataclass(frozen=True)
class Shown:
    """A measure as pages show it: `name` is what is computed, `label` what the field says."""

    name: str
    label: str
    hint: str
    is_binary: bool = False
    is_standard: bool = True

    @property
    def spelled(self) -> str:
        """How an address names it."""
        return self.name if self.is_standard else self.label

    def counting_from(self, threshold: int) -> str:
        """The measure's whole name where grades from `threshold` are relevant: `R(rel=2)@100`."""
        return with_threshold(self.name, threshold) if self.is_binary else self.name

    def on(self, threshold: int) -> "Shown":
        """The same under the name by which scores of such a release are stored."""
        return replace(self, name=self.counting_from(threshold), is_binary=False)


BOARD = (
    Shown(
        "nDCG@10",
        "nDCG@10",
        _("Graded gain of the first 10 documents over the best possible"),
    ),
    Shown(
        "RR@10",
        "MRR@10",
        _("One over the rank of the first relevant document, 0 below rank 10"),
        is_binary=True,
    ),
    Shown(
        "R@100",
        "Recall@100",
        _("Share of the relevant documents among the first 100"),
        is_binary=True,
    ),
    Shown("Judged@10", "Judged@10", _("Share of the first 10 documents that anybody has judged")),
)
FURTHER = (
    Shown("AP", "MAP", _("Mean of the precision at each relevant document"), is_binary=True),
    Shown("P@10", "P@10", _("Share of relevant documents among the first 10"), is_binary=True),
    Shown(
        "bpref",
        "bpref",
        _("Relevant documents ranked above judged irrelevant ones"),
        is_binary=True,
    ),
)
MEASURES = BOARD + FURTHER
FIRST_MEASURE = BOARD[0]
ADDED_HINT = _("Computed from the stored hits")


def measures_on(threshold: int) -> tuple[Shown, ...]:
    """The standard measures, by the names they have where grades from `threshold` are relevant."""
    return tuple(measure.on(threshold) for measure in MEASURES)


def measure_named(text: str) -> Shown | None:
    """The standard measure of a name, ours or the one that is shown, in any case of letters."""
    wanted = text.strip().casefold()
    names = ((measure, (measure.name.casefold(), measure.label.casefold())) for measure in MEASURES)
    return next((measure for measure, known in names if wanted in known), None)


def any_measure(text: str, threshold: int) -> Shown:
    """The measure of any name that parses, standard or not.

    Where grades from `threshold` are relevant, that is what a name means that does not say `rel=`.

    Raises
    ------
    UnknownMeasureError, MeasureParameterError, CutoffError, RelevanceThresholdError
        If there is no such measure.

    Examples
    --------
    >>> any_measure("recall_50", 2).name, any_measure("R(rel=1)@50", 2).name
    ('R(rel=2)@50', 'R@50')
    >>> any_measure("R(rel=1)@50", 2).label  # as it is read back
    'R(rel=1)@50'
    """
    standard = measure_named(text)
    if standard:
        return standard.on(threshold)
    measure = parse_measure(text)
    name = str(measure)
    if _counts_relevant(measure) and "rel=" not in text.replace(" ", ""):
        name = with_threshold(name, threshold)
    same = next((each for each in measures_on(threshold) if each.name == name), None)
    return same or added(name, threshold)


def declarable(text: str) -> str:
    """The canonical name of a measure that may be told of hidden grades: a mean without gains.

    One that says `rel=1` goes on saying it: on a scale that begins to be relevant further up it
    would mean another.

    Gains of one's own would make a single grade outgrow the rounding of the mean.

    Raises
    ------
    MeasureParameterError
        If it is a sum or a count, or has gains.
    UnknownMeasureError, CutoffError, RelevanceThresholdError
        If there is no such measure.
    """
    standard = measure_named(text)
    measure = parse_measure(standard.name if standard else text)
    if measure.aggregation != "mean":
        raise MeasureParameterError(name=text, reason="is no mean. Choose one that is.")
    if measure.option("gains"):
        raise MeasureParameterError(name=text, reason="has gains of its own. Leave them out.")
    is_said = "rel" in options_said(text) and measure.rel == 1 and _counts_relevant(measure)
    return _with_rel(str(measure), 1) if is_said else str(measure)


def added(name: str, threshold: int) -> Shown:
    """A measure that is not standard, by its whole name."""
    return Shown(name, spelled(name, threshold), ADDED_HINT, is_standard=False)


def spelled(name: str, threshold: int) -> str:
    """How an address names a measure: where grades from `threshold` are relevant an open name
    would mean these.

    Examples
    --------
    >>> spelled("R@50", 2), spelled("R(rel=2)@50", 2), spelled("R@50", 1)
    ('R(rel=1)@50', 'R(rel=2)@50', 'R@50')
    """
    is_open = threshold > 1 and "rel=" not in name and _counts_relevant(parse_measure(name))
    return _with_rel(name, 1) if is_open else name


def _counts_relevant(measure: Measure) -> bool:
    return FAMILIES[measure.family].options.get("rel") == 1


def with_threshold(name: str, threshold: int) -> str:
    """A canonical name, with grades from `threshold` relevant.

    Examples
    --------
    >>> with_threshold("P(judged_only=True)@5", 2), with_threshold("AP", 1)
    ('P(rel=2,judged_only=True)@5', 'AP')
    """
    if threshold == 1:
        return name
    return str(parse_measure(_with_rel(name, threshold)))


def _with_rel(name: str, grade: int) -> str:
    # Every name that was read as a measure has these parts.
    parts = cast(re.Match[str], re.fullmatch(r"([^(@]+)(?:\((.*)\))?(@.*)?", name))
    family, options, cutoff = parts.groups("")
    inside = ",".join(filter(None, [f"rel={grade}", options]))
    return f"{family}({inside}){cutoff}"

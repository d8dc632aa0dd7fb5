"""Every measure by name: ours, those of trec_eval, and what people call them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from scoring.core.errors import (
    CutoffError,
    MeasureParameterError,
    RelevanceThresholdError,
    UnknownMeasureError,
)
from scoring.core.measures import (
    average_precision,
    bpref,
    gain,
    judged,
    reciprocal_rank,
    set_at_cutoff,
)
from scoring.core.reading.hits import Judged, QueryHits

AnyHits = QueryHits[Any]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure with its parameters; `str()` is its canonical name, which parses to itself."""

    family: str
    cutoff: int | None = None
    rel: int = 1
    dcg: gain.Gain = "log2"

    def __str__(self) -> str:
        options = [f"dcg='{self.dcg}'"] if self.dcg != "log2" else []
        options += [f"rel={self.rel}"] if self.rel != 1 else []
        inside = f"({', '.join(options)})" if options else ""
        return f"{self.family}{inside}" + (f"@{self.cutoff}" if self.cutoff else "")

    @property
    def is_total(self) -> bool:
        """Whether queries are added up, as counts are, instead of averaged."""
        return FAMILIES[self.family].is_total

    @property
    def trec_name(self) -> str | None:
        """What trec_eval calls it, or None where it has no such measure or takes it from flags."""
        family = FAMILIES[self.family]
        if self.rel != 1 or self.dcg != "log2":
            return None
        if self.cutoff is None:
            return family.trec_name
        return f"{family.trec_cut}_{self.cutoff}" if family.trec_cut else None

    def value(self, found: AnyHits, grades: Judged) -> float:
        """The measure of one query; NaN where it is undefined, as only `Judged` can be."""
        return FAMILIES[self.family].compute(self, found, grades)


Compute = Callable[[Measure, AnyHits, Judged], float]


@dataclass(frozen=True, slots=True)
class Family:
    """How measures of one name are computed, and what their names may hold."""

    compute: Compute
    cutoff: Literal["needed", "allowed", "none"] = "none"
    options: tuple[str, ...] = ()
    trec_name: str | None = None
    trec_cut: str | None = None
    aliases: tuple[str, ...] = ()
    is_total: bool = False


def _ndcg(measure: Measure, found: AnyHits, grades: Judged) -> float:
    return gain.ndcg(found.hits, grades.ideal, cutoff=measure.cutoff, dcg=measure.dcg)


def _dcg(measure: Measure, found: AnyHits, grades: Judged) -> float:
    return gain.discounted_gain(found.hits, cutoff=measure.cutoff, dcg=measure.dcg)


def _ap(measure: Measure, found: AnyHits, grades: Judged) -> float:
    n_relevant = grades.n_relevant(measure.rel)
    return average_precision.average_precision(
        found.hits, n_relevant, cutoff=measure.cutoff, rel=measure.rel
    )


def _rr(measure: Measure, found: AnyHits, grades: Judged) -> float:
    return reciprocal_rank.reciprocal_rank(found.hits, cutoff=measure.cutoff, rel=measure.rel)


def _p(measure: Measure, found: AnyHits, grades: Judged) -> float:
    return set_at_cutoff.precision(found.hits, cutoff=_needed(measure), rel=measure.rel)


def _r(measure: Measure, found: AnyHits, grades: Judged) -> float:
    n_relevant = grades.n_relevant(measure.rel)
    return set_at_cutoff.recall(found.hits, n_relevant, cutoff=_needed(measure), rel=measure.rel)


def _success(measure: Measure, found: AnyHits, grades: Judged) -> float:
    return set_at_cutoff.success(found.hits, cutoff=_needed(measure), rel=measure.rel)


def _rprec(measure: Measure, found: AnyHits, grades: Judged) -> float:
    return set_at_cutoff.r_precision(found.hits, grades.n_relevant(measure.rel), rel=measure.rel)


def _bpref(measure: Measure, found: AnyHits, grades: Judged) -> float:
    n_relevant = grades.n_relevant(measure.rel)
    n_nonrelevant = grades.n_nonrelevant(measure.rel)
    return bpref.bpref(found.hits, n_relevant, n_nonrelevant, rel=measure.rel)


def _judged(measure: Measure, found: AnyHits, grades: Judged) -> float:
    return judged.judged(found.hits, found.n_retrieved, cutoff=measure.cutoff)


def _num_ret(measure: Measure, found: AnyHits, grades: Judged) -> float:
    return float(found.n_retrieved)


def _num_rel(measure: Measure, found: AnyHits, grades: Judged) -> float:
    return float(grades.n_relevant(measure.rel))


def _num_rel_ret(measure: Measure, found: AnyHits, grades: Judged) -> float:
    return float(sum(hit.grade >= measure.rel for hit in found.hits))


def _num_q(measure: Measure, found: AnyHits, grades: Judged) -> float:
    return 1.0


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "nDCG": Family(_ndcg, "allowed", ("dcg",), "ndcg", "ndcg_cut"),
        "DCG": Family(_dcg, "allowed", ("dcg",), "dcg"),
        "AP": Family(_ap, "allowed", ("rel",), "map", "map_cut"),
        "RR": Family(_rr, "allowed", ("rel",), "recip_rank", aliases=("MRR",)),
        "P": Family(_p, "needed", ("rel",), None, "P", ("Precision",)),
        "R": Family(_r, "needed", ("rel",), None, "recall"),
        "Success": Family(_success, "needed", ("rel",), None, "success"),
        "Rprec": Family(_rprec, "none", ("rel",), "Rprec"),
        "bpref": Family(_bpref, "none", ("rel",), "bpref"),
        "Judged": Family(_judged, "allowed"),
        "NumRet": Family(_num_ret, "none", (), "num_ret", is_total=True),
        "NumRel": Family(_num_rel, "none", ("rel",), "num_rel", is_total=True),
        "NumRelRet": Family(_num_rel_ret, "none", ("rel",), "num_rel_ret", is_total=True),
        "NumQ": Family(_num_q, "none", (), "num_q", is_total=True),
    }
)

_NAMES = {
    name.lower(): family_name
    for family_name, family in FAMILIES.items()
    for name in (family_name, family.trec_name, family.trec_cut, *family.aliases)
    if name
}
_PLAIN = re.compile(
    r"\s*(?P<name>[A-Za-z][A-Za-z_]*)\s*(?:\((?P<options>[^()]*)\)\s*)?(?:@(?P<k>.*))?"
)
_TREC_CUT = re.compile(r"\s*(?P<name>[A-Za-z][A-Za-z_]*)[_.](?P<k>[0-9]+)\s*")


def parse_measure(name: str) -> Measure:
    """The measure of a name: `nDCG@10`, `R(rel=2)@100`, `nDCG(dcg='exp-log2')@10`, `ndcg_cut_10`.

    Upper and lower case are one. Names of trec_eval take their cutoff after `_` or `.`.

    Raises
    ------
    UnknownMeasureError
        If there is no such measure.
    MeasureParameterError
        If a cutoff is missing, or there is a cutoff or an option the measure does not take.
    CutoffError, RelevanceThresholdError
        If the cutoff or `rel` is below 1.

    Examples
    --------
    >>> [str(parse_measure(name)) for name in ("recall_100", "mrr@10", "AP( rel = 2 )")]
    ['R@100', 'RR@10', 'AP(rel=2)']
    """
    match = _TREC_CUT.fullmatch(name) or _PLAIN.fullmatch(name)
    family_name = _NAMES.get(match["name"].lower()) if match else None
    if match is None or family_name is None:
        raise UnknownMeasureError(name=name, known=", ".join(FAMILIES))
    family = FAMILIES[family_name]
    options = match.groupdict().get("options") or ""
    measure = Measure(
        family_name, _cutoff(name, match["k"], family), **_options(name, options, family)
    )
    if measure.rel < 1:
        raise RelevanceThresholdError(rel=measure.rel)
    return measure


def _cutoff(name: str, text: str | None, family: Family) -> int | None:
    if text is None:
        if family.cutoff == "needed":
            reason = "has no cutoff; expected one. Write it after an @, such as @10."
            raise MeasureParameterError(name=name, reason=reason)
        return None
    if family.cutoff == "none":
        raise MeasureParameterError(name=name, reason="takes no cutoff. Leave it out.")
    if not re.fullmatch("[0-9]{1,9}", text.strip()):
        reason = f"cutoff is '{text}'; expected a whole number, such as @10. Correct it."
        raise MeasureParameterError(name=name, reason=reason)
    if int(text) < 1:
        raise CutoffError(cutoff=int(text))
    return int(text)


def _options(name: str, text: str, family: Family) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for part in filter(str.strip, text.split(",")):
        key, _, raw = (piece.strip() for piece in part.partition("="))
        if key not in family.options:
            known = " and ".join(family.options) or "no option"
            reason = f"option is '{key}'; expected {known}. Correct it or leave it out."
            raise MeasureParameterError(name=name, reason=reason)
        options[key] = _option_value(name, key, raw.strip("'\""))
    return options


def _option_value(name: str, key: str, raw: str) -> int | str:
    if key == "rel" and re.fullmatch("-?[0-9]{1,9}", raw):
        return int(raw)
    if key == "dcg" and raw in ("log2", "exp-log2"):
        return raw
    expected = "a whole number" if key == "rel" else "log2 or exp-log2"
    reason = f"{key} is '{raw}'; expected {expected}. Correct it."
    raise MeasureParameterError(name=name, reason=reason)


def _needed(measure: Measure) -> int:
    if measure.cutoff is None:
        reason = "has no cutoff; expected one. Write it after an @, such as @10."
        raise MeasureParameterError(name=str(measure), reason=reason)
    return measure.cutoff

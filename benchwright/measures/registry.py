"""Measures by name: ours, those of ir_measures and of trec_eval, and what people call them."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from benchwright.errors import MeasureParameterError, ScoringError, UnknownMeasureError
from benchwright.measures.families import FAMILIES, Family, Measure, OptionValue
from benchwright.measures.options import measure_of, parse_cutoff, parse_option
from benchwright.measures.trec_names import default_measures, trec_measures
from benchwright.measures.trec_table import NICKNAMES, TREC_MEASURES

__all__ = ["FAMILIES", "Measure", "options_said", "parse_measure", "parse_measures"]

# Commas or blanks before a name; those of parameters, and what stands in brackets, are the name's.
_BETWEEN = re.compile(r"[\s,]+(?=\w*[A-Za-z])(?![^()]*\))")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def parse_measure(name: str) -> Measure:
    """The measure of a name: `nDCG@10`, `R(rel=2)@100`, `RBP(p=0.9)`, `ndcg_cut_10`, `set_F_2`.

    Upper and lower case are one, but where two measures differ in it (`RBP` and trec_eval's `rbp`,
    whose p and scale are others). Names of trec_eval take their parameters after `_` or `.`, those
    of MTEB after `_at_`.

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
    >>> [str(parse_measure(name)) for name in ("recall_100", "mrr_at_10", "AP( rel = 2 )", "rbp")]
    ['R@100', 'RR@10', 'AP(rel=2)', 'rbp']
    """
    n = len(measure_names(name))
    measures = _measures(name) if n <= 1 else []
    if len(measures) != 1:
        reason = f"stands for {max(n, len(measures))} measures; expected one. Name a single one."
        raise MeasureParameterError(name=name, reason=reason)
    return measures[0]


def parse_measures(names: Iterable[str | Measure]) -> tuple[Measure, ...]:
    """The measures of these names, each once, in their order; one name alone is as good as a list.

    Beside single ones, trec_eval's lists of parameters (`P.5,10`) and of measures (`official`,
    `all_trec`, `set`) are understood, and several names in one text, with commas or blanks between.

    Raises
    ------
    UnknownMeasureError, MeasureParameterError, CutoffError, RelevanceThresholdError
        As `parse_measure`.

    Examples
    --------
    >>> [str(measure) for measure in parse_measures(["P.5,10", "map"])]
    ['P@5', 'P@10', 'AP']
    >>> [str(measure) for measure in parse_measures("ndcg_cut_10, RBP(p=0.9,rel=2) map")]
    ['nDCG@10', 'RBP(rel=2,p=0.9)', 'AP']
    """
    names = [names] if isinstance(names, str) else names
    measures = (measure for name in names for measure in _each(name))
    return tuple(dict.fromkeys(measures))


def _each(name: str | Measure) -> Iterator[Measure]:
    if isinstance(name, Measure):
        yield name
        return
    for piece in measure_names(name) or [name]:
        if piece in NICKNAMES:
            for member in NICKNAMES[piece]:
                yield from default_measures(member)
        else:
            yield from _measures(piece)


def measure_names(text: str) -> list[str]:
    """The names that stand in a text with commas or blanks between.

    Examples
    --------
    >>> measure_names("P.5,10, RBP(p=0.9, rel=2) map")
    ['P.5,10', 'RBP(p=0.9, rel=2)', 'map']
    """
    return list(filter(None, _BETWEEN.split(text.strip(" ,"))))


def _measures(name: str) -> list[Measure]:
    word, at, cutoff = name.rpartition("_at_")
    name = f"{word}@{cutoff}" if at and cutoff.isdecimal() else name
    return list(_of_trec(name)) or [_of_ours(name)]


# Of `benchwright.diversity.measures`, which reads other qrels.
BY_SUBTOPIC = frozenset(
    (
        *("alpha_dcg", "alpha_ndcg", "err_ia", "nerr_ia", "nrbp", "nnrbp"),
        *("ap_ia", "map_ia", "p_ia", "strecall", "strec"),
    )
)


class _Named(NamedTuple):
    """What a word stands for: a family, and what it sets in it."""

    family: str
    preset: tuple[tuple[str, OptionValue], ...] = ()


def _names() -> dict[str, _Named]:
    """Every name; in lower case the family comes first, then aliases, then trec_eval's."""
    ours = {name: _Named(name) for name in FAMILIES}
    aliases = {a: _Named(name) for name, family in FAMILIES.items() for a in family.aliases}
    aliases["SetRelP"] = _Named("SetP", (("relative", True),))
    trec = {
        name: _Named(measure.family, measure.preset)
        for name, measure in TREC_MEASURES.items()
        if measure.family
    }
    exact = {**trec, **aliases, **ours}
    lower = {name.lower(): of for group in (trec, aliases, ours) for name, of in group.items()}
    return {**lower, **exact}


_NAMES = _names()


def _named(name: str, word: str) -> _Named:
    named = _NAMES.get(word) or _NAMES.get(word.lower())
    if named is None and word.lower() in BY_SUBTOPIC:
        reason = "needs qrels by subtopic; expected a measure of grades. Score it by `benchwright "
        reason += "score --subtopic-measure`, or `evaluate_subtopics` in Python."
        raise MeasureParameterError(name=name, reason=reason)
    if named is None:
        raise UnknownMeasureError(name=name, known=", ".join(FAMILIES))
    return named


def _of_trec(name: str) -> Iterator[Measure]:
    """The measures of a trec_eval name with parameters; none where it is no such name."""
    text = name.strip()
    if "(" in text or "@" in text or text in _NAMES:
        return
    for length in range(len(text), 0, -1):
        trec_measure = TREC_MEASURES.get(text[:length]) or TREC_MEASURES.get(text[:length].lower())
        if trec_measure and trec_measure.takes and text[length : length + 1] in ("_", "."):
            yield from trec_measures(name, trec_measure, text[length + 1 :])
            return


def _of_ours(name: str) -> Measure:
    head, at, cutoff = name.replace("\u03b1", "alpha").partition("@")
    word, bracket, rest = (part.strip() for part in head.partition("("))
    if not word or not _LETTERS.issuperset(word) or (bracket and not rest.endswith(")")):
        raise UnknownMeasureError(name=name, known=", ".join(FAMILIES))
    family_name, preset = _named(name, word)
    if family_name == "NumRet" and rest.startswith("rel"):
        # ir_measures counts the relevant ones retrieved under this name.
        family_name = "NumRelRet"
    family = FAMILIES[family_name]
    options = _options(name, rest.removesuffix(")"), family)
    return measure_of(
        family_name, parse_cutoff(name, cutoff if at else None, family), {**dict(preset), **options}
    )


def _options(name: str, text: str, family: Family) -> dict[str, OptionValue]:
    options: dict[str, OptionValue] = {}
    for part in filter(str.strip, _outside_brackets(text)):
        key, _, raw = (piece.strip() for piece in part.partition("="))
        if key not in family.options:
            names = ", ".join(family.options) or "no option"
            reason = f"option is '{key}'; expected {names}. Correct it or leave it out."
            raise MeasureParameterError(name=name, reason=reason)
        options[key] = parse_option(name, key, raw)
    return options


def options_said(name: str | Measure) -> frozenset[str]:
    """The options that a name sets, also those that it sets to what they are anyway.

    Examples
    --------
    >>> sorted(options_said("nDCG(gains={1:1,2:3}, judged_only=False)@10")), options_said("AP")
    (['gains', 'judged_only'], frozenset())
    """
    inside = str(name).partition("(")[2].rpartition(")")[0]
    pieces = _outside_brackets(inside) if inside else []
    return frozenset(piece.partition("=")[0].strip() for piece in pieces)


def _outside_brackets(text: str) -> list[str]:
    """What stands between commas, but for commas in brackets: `{1:1,2:3}` is one piece."""
    pieces: list[str] = []
    for piece in text.split(","):
        last = pieces[-1] if pieces else ""
        if last.count("{") + last.count("[") > last.count("}") + last.count("]"):
            pieces[-1] += f",{piece}"
        else:
            pieces.append(piece)
    return pieces


# --- a measure among those that were scored ------------------------------------------------------


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

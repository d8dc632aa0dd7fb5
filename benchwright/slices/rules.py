"""Rules of slices: which queries a rule takes, each with its reason.

A rule is a plain dict that JSON holds: `kind`, and what that kind asks for.

    frequency      band (head, torso, tail); head_share, tail_share; or the cuts of a whole log:
                   head_above, tail_below
    length         from, to (words; either may be missing)
    language       lang ("en" takes "en-GB" as well)
    tag            key, value (of the metadata; a list of values holds each)
    expression     expression (`expressions`)
    navigational   brands (words and phrases)
    exact_match, semantic, informational
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchwright.ids import is_storable
from benchwright.slices import intents
from benchwright.slices.asked import AskedQuery, Reason
from benchwright.slices.errors import SliceRuleError
from benchwright.slices.expressions import Slices, parse_expression
from benchwright.slices.frequency import HEAD_SHARE, TAIL_SHARE, Band, frequency_cuts
from benchwright.slices.intents import Knowledge
from benchwright.slices.words import words_of
from benchwright.texts.counting import counted

Rule = Mapping[str, Any]

INTENTS: dict[str, Callable[[AskedQuery, Knowledge], Reason | None]] = {
    "navigational": intents.navigational,
    "exact_match": intents.exact_match,
    "semantic": intents.semantic,
    "informational": intents.informational,
}
NEEDS_RELEVANT = frozenset({"exact_match", "semantic"})
"""Kinds that look at relevant documents; an expression does where it says `relevant`."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The queries that a rule takes, with the reason of each, and what should be said of it."""

    reasons: Mapping[str, Reason]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a rule may look at beside the queries: other slices, and what is known of words."""

    slices: Slices = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)


def is_suggesting(rule: Rule) -> bool:
    """Whether what the rule takes is a guess, to be confirmed by a person, and not a fact."""
    return rule.get("kind") in INTENTS


def checked_rule(rule: Rule, known_slices: Sequence[str] | None = None) -> dict[str, Any]:
    """The rule with what it leaves out filled in.

    Raises
    ------
    SliceRuleError, ExpressionError
        If it asks for something that cannot be.
    """
    if not is_storable(rule):
        why = "A text of the rule holds U+0000 or half a character (a lone surrogate). Remove it."
        raise SliceRuleError(why=why)
    kind = rule.get("kind")
    check = CHECKS.get(str(kind))
    if check is None:
        kinds = ", ".join(CHECKS)
        raise SliceRuleError(why=f"'{kind}' is no kind of rule; expected one of {kinds}.")
    unknown = set(rule) - {"kind"} - OPTIONS[str(kind)]
    if unknown:
        option_names = ", ".join(sorted(OPTIONS[str(kind)])) or "nothing else"
        named = ", ".join(sorted(unknown))
        raise SliceRuleError(
            why=f"A rule of kind {kind} knows no {named}; it takes {option_names}."
        )
    if kind == "expression":
        parse_expression(str(rule.get("expression", "")), known_slices)
    return {"kind": kind, **check(rule)}


def taken_by(rule: Rule, queries: Sequence[AskedQuery], around: Surroundings) -> Taken:
    """The queries that a rule takes, in the order they were given.

    Raises
    ------
    SliceRuleError, ExpressionError, FrequencyError
        If the rule cannot be applied to these queries.
    """
    whole = checked_rule(rule)
    if whole["kind"] in INTENTS:
        return _by_intent(whole, queries, around)
    return TAKERS[whole["kind"]](whole, queries, around)


# --- what each kind asks for ---------------------------------------------------------------


def _check_frequency(rule: Rule) -> dict[str, Any]:
    band = str(rule.get("band", ""))
    if band not in set(Band):
        raise SliceRuleError(why=f"'{band}' is no band of frequency; expected head, torso or tail.")
    facts: dict[str, Any] = {"band": band}
    if ("head_above" in rule) != ("tail_below" in rule):
        raise SliceRuleError(why="Give both cuts, head_above and tail_below, or neither.")
    if "head_above" in rule:
        above, below = (_whole(rule[name], name) for name in ("head_above", "tail_below"))
        if below > above + 1:
            raise SliceRuleError(
                why=f"A query asked {above + 1} times would be head and tail at once. "
                "Give a tail_below of at most head_above + 1."
            )
        return {**facts, "head_above": above, "tail_below": below}
    shares = {"head_share": HEAD_SHARE, "tail_share": TAIL_SHARE}
    return facts | {name: _share(rule.get(name, share), name) for name, share in shares.items()}


def _check_length(rule: Rule) -> dict[str, Any]:
    ends = {name: _whole(rule[name], name) for name in ("from", "to") if rule.get(name) is not None}
    if not ends:
        raise SliceRuleError(why="A band of lengths needs 'from' or 'to', in words.")
    if ends.get("from", 0) > ends.get("to", ends.get("from", 0)):
        why = f"No length is from {ends['from']} to {ends['to']} words. Swap the two."
        raise SliceRuleError(why=why)
    return ends


def _check_language(rule: Rule) -> dict[str, Any]:
    lang = str(rule.get("lang", "")).strip()
    if not lang:
        raise SliceRuleError(why="Name the language as the queries do, such as 'en'.")
    return {"lang": lang}


def _check_tag(rule: Rule) -> dict[str, Any]:
    key, value = (str(rule.get(name, "")).strip() for name in ("key", "value"))
    if not key or not value:
        why = "A tag needs the name of a column of the queries' metadata, and its value."
        raise SliceRuleError(why=why)
    return {"key": key, "value": value}


def _check_expression(rule: Rule) -> dict[str, Any]:
    return {"expression": str(rule.get("expression", "")).strip()}


def _check_navigational(rule: Rule) -> dict[str, Any]:
    brands = rule.get("brands", [])
    if not isinstance(brands, list | tuple) or not all(isinstance(brand, str) for brand in brands):
        raise SliceRuleError(why="Brands are a list of words and phrases.")
    return {"brands": sorted({brand.strip() for brand in brands if words_of(brand)})}


def _check_nothing(rule: Rule) -> dict[str, Any]:
    return {}


CHECKS: dict[str, Callable[[Rule], dict[str, Any]]] = {
    "frequency": _check_frequency,
    "exact_match": _check_nothing,
    "semantic": _check_nothing,
    "navigational": _check_navigational,
    "informational": _check_nothing,
    "length": _check_length,
    "language": _check_language,
    "tag": _check_tag,
    "expression": _check_expression,
}
OPTIONS: dict[str, frozenset[str]] = {
    "frequency": frozenset({"band", "head_share", "tail_share", "head_above", "tail_below"}),
    "exact_match": frozenset(),
    "semantic": frozenset(),
    "navigational": frozenset({"brands"}),
    "informational": frozenset(),
    "length": frozenset({"from", "to"}),
    "language": frozenset({"lang"}),
    "tag": frozenset({"key", "value"}),
    "expression": frozenset({"expression"}),
}


def _whole(value: Any, name: str) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        number = -1
    if number < 0 or isinstance(value, bool) or (isinstance(value, float) and value != number):
        raise SliceRuleError(why=f"{name} is '{value}'; expected a whole number from 0.")
    return number


def _share(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 < number < 1:
        raise SliceRuleError(why=f"{name} is '{value}'; expected a share between 0 and 1.")
    return number


# --- what each kind takes ------------------------------------------------------------------


def _by_frequency(rule: Rule, queries: Sequence[AskedQuery], around: Surroundings) -> Taken:
    frequencies = [(query.qid, query.frequency) for query in queries if query.frequency]
    notes = []
    if "head_above" in rule:
        above, below = rule["head_above"], rule["tail_below"]
        notes.append(f"Cut as in the log: head above {above:,}, tail below {below:,}.")
    else:
        cuts = frequency_cuts(
            [count for _, count in frequencies],
            head_share=rule["head_share"],
            tail_share=rule["tail_share"],
        )
        above, below = cuts.head_above, cuts.tail_below
        notes += cuts.notes
        if cuts.n_traffic:
            traffic = 100 * cuts.parts[Band(rule["band"])].n_traffic / cuts.n_traffic
            notes.append(f"{traffic:.0f} % of the traffic of {counted(len(frequencies), 'query')}.")
    if len(frequencies) < len(queries):
        n_without = len(queries) - len(frequencies)
        have = "has" if n_without == 1 else "have"
        notes.append(f"{n_without:,} of {len(queries):,} queries {have} no frequency: in no band.")
    reasons = {
        qid: Reason(rule["band"], f"asked {counted(count, 'time')}")
        for qid, count in frequencies
        if band_between(count, above, below) == rule["band"]
    }
    return Taken(reasons, tuple(notes))


def band_between(count: int, head_above: int, tail_below: int) -> Band:
    """The band of a count between two cuts."""
    if count > head_above:
        return Band.HEAD
    return Band.TAIL if count < tail_below else Band.TORSO


def _by_length(rule: Rule, queries: Sequence[AskedQuery], around: Surroundings) -> Taken:
    shortest, longest = rule.get("from", 0), rule.get("to", float("inf"))
    lengths = ((query.qid, len(words_of(query.text))) for query in queries)
    return Taken(
        {
            qid: Reason("length", f"{length} word{'' if length == 1 else 's'}")
            for qid, length in lengths
            if shortest <= length <= longest
        }
    )


def _by_language(rule: Rule, queries: Sequence[AskedQuery], around: Surroundings) -> Taken:
    language = rule["lang"].casefold()
    return Taken(
        {
            query.qid: Reason("language", query.lang)
            for query in queries
            if query.lang.casefold() == language or query.lang.casefold().startswith(f"{language}-")
        }
    )


def _by_tag(rule: Rule, queries: Sequence[AskedQuery], around: Surroundings) -> Taken:
    key, tag = rule["key"], rule["value"].casefold()
    reason = Reason("tag", f"{key} is {rule['value']}")
    reasons = {query.qid: reason for query in queries if tag in _said_of(query.metadata.get(key))}
    n_having = sum(key in query.metadata for query in queries)
    notes = () if n_having else (f"No query's metadata has '{key}'.",)
    return Taken(reasons, notes)


def _said_of(value: Any) -> list[str]:
    if value is None:
        return []
    many = value if isinstance(value, list | tuple) else [value]
    return [str(part).strip().casefold() for part in many]


def _by_expression(rule: Rule, queries: Sequence[AskedQuery], around: Surroundings) -> Taken:
    expression = parse_expression(rule["expression"], tuple(around.slices))
    reason = Reason("expression", "as the expression says")
    return Taken({query.qid: reason for query in queries if expression.holds(query, around.slices)})


def _by_intent(rule: Rule, queries: Sequence[AskedQuery], around: Surroundings) -> Taken:
    knowledge = Knowledge(brands=frozenset(rule.get("brands", ())), weights=around.weights)
    guess = INTENTS[rule["kind"]]
    guesses = ((query.qid, guess(query, knowledge)) for query in queries)
    notes = []
    if rule["kind"] in NEEDS_RELEVANT and not any(query.relevant for query in queries):
        notes.append(
            "No text of a relevant document is known, so titles and texts were not looked at."
        )
    if rule["kind"] == "navigational" and not any(query.clicks for query in queries):
        notes.append(
            "No query has clicks, so whether one document takes them was not looked at; "
            "clicks come with a query log or with imported queries."
        )
    return Taken({qid: reason for qid, reason in guesses if reason}, tuple(notes))


TAKERS: dict[str, Callable[[Rule, Sequence[AskedQuery], Surroundings], Taken]] = {
    "frequency": _by_frequency,
    "length": _by_length,
    "language": _by_language,
    "tag": _by_tag,
    "expression": _by_expression,
}

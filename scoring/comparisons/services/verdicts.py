"""The verdict on two runs, in sentences: which is better, by how much, how sure, whom it hurts.

One decision of each pair (`benchwright.statistics.decisions`) feeds sentence, colour and word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from benchwright.comparison import comparability
from benchwright.comparison.aligning import OVERALL
from benchwright.statistics.decisions import BETTER, OPEN, WORSE
from scoring.comparisons.services.reading import Told

Pair = Mapping[str, Any]
MINUS = "\N{MINUS SIGN}"
MOST_NAMED = 3
TURNED = {BETTER: WORSE, WORSE: BETTER, OPEN: OPEN}


class Kind(StrEnum):
    """What is said of a pair over some queries."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    TOO_FEW = "too-few"
    NOT_SHOWN = "not-shown"
    NOT_COMPARABLE = "not-comparable"


WORDS = {
    Kind.BETTER: "better",
    Kind.WORSE: "worse",
    Kind.SAME: "the same",
    Kind.TOO_FEW: "too few",
    Kind.NOT_SHOWN: "not shown",
    Kind.NOT_COMPARABLE: "not comparable yet",
}


@dataclass(frozen=True)
class SliceVerdict:
    """What is said of a pair over one slice."""

    name: str
    n_queries: int
    n_families: int
    pair: Pair
    kind: Kind

    @property
    def is_all(self) -> bool:
        return self.name == OVERALL

    @property
    def word(self) -> str:
        return WORDS[self.kind]


@dataclass(frozen=True)
class Verdict:
    """The verdict on a pair over the queries that are asked for.

    `kind` is for the colour; `sentence` decides, `facts` are what it rests on. `slices` has all
    queries first, then the slices from the greatest loss to the greatest gain.
    """

    kind: Kind
    sentence: str
    facts: tuple[str, ...]
    slices: tuple[SliceVerdict, ...]
    margin: float

    @property
    def word(self) -> str:
        return WORDS[self.kind]


def kind_of(pair: Pair) -> Kind:
    """The one word for a pair: its decision, and for what is not told apart whether it is level.

    Runs are the same within the margin that power is worked out for where the whole interval lies
    inside it, and enough queries differ for the interval to be right, or none at all.
    """
    if pair["decision"] in (BETTER, WORSE):
        return Kind(pair["decision"])
    margin, interval = pair["power"]["delta"], pair["interval"]
    if pair["n_differing"] == 0 and pair["difference"] is not None:
        return Kind.SAME
    if pair["is_thin"] or interval["low"] is None or interval["high"] is None:
        return Kind.TOO_FEW
    is_level = -margin < interval["low"] and interval["high"] < margin
    return Kind.SAME if is_level else Kind.NOT_SHOWN


def verdict_of(comparison: Told, run: str, reference: str, part: str, label: str) -> Verdict | None:
    """The verdict on `run` against `reference` (their keys), or None where they are no pair."""
    measure = comparison.question.measure
    pair = pair_of(comparison, run, reference, measure, part)
    if pair is None or pair["difference"] is None:
        return None
    names = (comparison.runs[run].name, comparison.runs[reference].name)
    slices = _slices(comparison, run, reference)
    kind = kind_of(pair)
    is_blocked = comparison.comparability.verdict == comparability.Verdict.NOT_COMPARABLE
    sentence = _sentence(kind, pair, names, label, is_blocked=is_blocked)
    inside = [row for row in slices if not row.is_all] if part == OVERALL else []
    return Verdict(
        kind=Kind.NOT_COMPARABLE if is_blocked else kind,
        sentence=" ".join(filter(None, [sentence, _hurts(kind, inside)])),
        facts=tuple(_facts(comparison, pair, (run, reference), part)),
        slices=tuple(slices),
        margin=pair["power"]["delta"],
    )


def pair_of(
    comparison: Told, run: str, reference: str, measure: str, part: str = OVERALL
) -> Pair | None:
    """`run` minus `reference`, turned round where the comparison has it the other way."""
    for pair in comparison.pairs(measure, part):
        if (pair["run"], pair["reference"]) == (run, reference):
            return pair
        if (pair["run"], pair["reference"]) == (reference, run):
            return turned(pair)
    return None


def turned(pair: Pair) -> Pair:
    """The same two runs with run and reference exchanged; what is of the reference is not known."""
    low, high, effect = pair["interval"]["low"], pair["interval"]["high"], pair["effect"]
    return {
        **pair,
        "run": pair["reference"],
        "reference": pair["run"],
        "difference": _negative(pair["difference"]),
        "interval": {"low": _negative(high), "high": _negative(low)},
        "decision": TURNED[pair["decision"]],
        "effect": {
            **effect,
            "wins": effect["losses"],
            "losses": effect["wins"],
            "relative": None,
            "d_z": _negative(effect["d_z"]),
            "superiority": None if effect["superiority"] is None else 1 - effect["superiority"],
            "share_worse": None,
        },
    }


def best_of(comparison: Told, part: str) -> str:
    """The sentence on three runs or more: which of them may be the best; "" without means."""
    summaries = comparison.summaries(comparison.question.measure, part)
    ranked = sorted(
        (summary for summary in summaries if summary["rank"] is not None),
        key=lambda summary: summary["rank"],
    )
    first = [summary for summary in ranked if summary["tie_group"] == 1]
    if not first:
        return ""
    names = [comparison.runs[summary["run"]].name for summary in first]
    n, n_behind = len(ranked), len(ranked) - len(first)
    if len(first) == 1:
        return f"{names[0]} is the best of the {n} runs, with 95 % confidence."
    if not n_behind:
        return f"Any of the {n} runs may be the best: none is shown to be behind."
    verb = "is" if n_behind == 1 else "are"
    return (
        f"The best of the {n} runs is one of {_named(names)}, with 95 % confidence; "
        f"{n_behind} {verb} shown to be behind."
    )


# --- sentences -----------------------------------------------------------------------------------


def _slices(comparison: Told, run: str, reference: str) -> list[SliceVerdict]:
    rows = []
    for part in comparison.slices:
        measure = comparison.question.measure
        pair = pair_of(comparison, run, reference, measure, part["name"])
        if pair is not None and pair["difference"] is not None:
            size = (part["name"], part["n_queries"], part["n_families"])
            rows.append(SliceVerdict(*size, pair, kind_of(pair)))
    return sorted(rows, key=lambda row: (not row.is_all, row.pair["difference"], row.name))


def _sentence(
    kind: Kind, pair: Pair, names: tuple[str, str], label: str, *, is_blocked: bool
) -> str:
    run, reference = names
    margin = pair["power"]["delta"]
    n = pair["n_queries"]
    numbers = f"{difference_words(pair)} {label} on {n:,} {'query' if n == 1 else 'queries'}."
    verbs = {
        Kind.BETTER: f"{run} is better than {reference}",
        Kind.WORSE: f"{run} is worse than {reference}",
        Kind.SAME: f"{run} and {reference} are the same within ±{margin:g}",
    }
    unclear = f"{run} is not shown to be better or worse than {reference}"
    if is_blocked:
        as_measured = {
            Kind.BETTER: f"As measured {run} is better",
            Kind.WORSE: f"As measured {run} is worse",
            Kind.SAME: f"As measured they are the same within ±{margin:g}",
        }.get(kind, "Nor does what is measured tell them apart")
        return f"{run} and {reference} cannot be compared yet. {as_measured}: {numbers}"
    sentence = f"{verbs.get(kind, unclear)}: {numbers}"
    needed = pair["power"]["queries_for_observed"]
    if kind == Kind.NOT_SHOWN and needed is not None and needed > n:
        sentence += f" About {needed:,} queries would show a difference of this size."
    return sentence


def difference_words(pair: Pair) -> str:
    """Difference and interval: "+0.050 [+0.032, +0.067]"."""
    low, high = pair["interval"]["low"], pair["interval"]["high"]
    interval = "" if low is None or high is None else f" [{_signed(low)}, {_signed(high)}]"
    return f"{_signed(pair['difference'])}{interval}"


def _hurts(kind: Kind, slices: Sequence[SliceVerdict]) -> str:
    """Which slices lose, and where what holds over all is not shown."""
    if not slices:
        return ""
    lost = [f"{row.name} ({_signed(row.pair['difference'])})" for row in _of(slices, Kind.WORSE)]
    won = [f"{row.name} ({_signed(row.pair['difference'])})" for row in _of(slices, Kind.BETTER)]
    if kind == Kind.WORSE:
        rest = f"gains on {_named(won)}" if won else "no slice is shown to gain"
        return (
            f"It is shown to lose on {_named(lost)}; {rest}." if lost else f"{rest.capitalize()}."
        )
    if lost:
        return f"It is shown to lose on {_named(lost)}."
    if kind != Kind.BETTER:
        return "No slice is shown to lose" + (f"; it gains on {_named(won)}." if won else ".")
    open_slices = [row.name for row in slices if row.kind != Kind.BETTER]
    if not open_slices:
        return "No slice is shown to lose, and each gains."
    return f"No slice is shown to lose; on {_named(open_slices)} alone the gain is not shown."


def _facts(comparison: Told, pair: Pair, keys: tuple[str, str], part: str) -> list[str]:
    effect, facts = pair["effect"], []
    if effect["wins"] is not None:
        facts.append(
            f"Better on {effect['wins']:,} queries, the same on {effect['ties']:,}, "
            f"worse on {effect['losses']:,}."
        )
    if pair["reason"]:
        facts.append(pair["reason"])
    if pair["is_thin"] and pair["n_differing"]:
        facts.append("Too few queries differ at all: no interval is right here.")
    outcome = comparison.comparability
    if outcome.verdict != comparability.Verdict.FREE:
        facts += _doubts(comparison, pair, keys, part)
    return facts


def _doubts(comparison: Told, pair: Pair, keys: tuple[str, str], part: str) -> list[str]:
    """Why the runs are not compared freely, and what is left of the difference without that."""
    judged, shares = comparison.result["judged"]["measure"], comparison.result["judged"]["shares"]
    told = [
        f"{comparison.runs[key].name} {100 * shares[key]:.0f} %"
        for key in keys
        if shares[key] is not None
    ]
    facts = list(comparison.comparability.reasons)
    if told:
        facts.insert(0, f"{judged}: {', '.join(told)}.")
    condensed = pair_of(comparison, *keys, comparison.question.roles.condensed, part)
    if condensed is None or condensed["difference"] is None:
        return facts
    before, after = kind_of(pair), kind_of(condensed)
    outcome = f"still {WORDS[after]}" if after == before else WORDS[after]
    gain = comparison.question.roles.gain
    facts.append(f"On judged documents alone by {gain}: {difference_words(condensed)}, {outcome}.")
    return facts


def _of(slices: Sequence[SliceVerdict], kind: Kind) -> list[SliceVerdict]:
    return [row for row in slices if row.kind == kind]


def _named(names: Sequence[str]) -> str:
    """Up to three names, and how many more."""
    n_more = len(names) - MOST_NAMED
    if n_more > 0:
        return f"{', '.join(names[:MOST_NAMED])} and {n_more} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", MINUS)


def _negative(value: float | None) -> float | None:
    return None if value is None else -value

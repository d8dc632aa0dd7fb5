"""The verdict on two runs, in sentences: which is better, by how much, how sure, whom it hurts.

One decision of each pair (`benchwright.statistics.decisions`) feeds sentence, colour and word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from benchwright.comparison import comparability
from benchwright.comparison.aligning import OVERALL
from benchwright.statistics.decisions import BETTER, OPEN, WORSE
from benchwright.texts.counting import percent_beside, signed_beside
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
    Kind.BETTER: gettext_lazy("better"),
    Kind.WORSE: gettext_lazy("worse"),
    Kind.SAME: gettext_lazy("the same"),
    Kind.TOO_FEW: gettext_lazy("too few"),
    Kind.NOT_SHOWN: gettext_lazy("not shown"),
    Kind.NOT_COMPARABLE: gettext_lazy("not comparable yet"),
}


class English(str):
    """A sentence of the library, which has one language; its page says so."""

    is_english = True


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
        return str(WORDS[self.kind])


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
        return str(WORDS[self.kind])


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
        return _("%(run)s is the best of the %(n)s runs, with 95 %% confidence.") % {
            "run": names[0],
            "n": n,
        }
    if not n_behind:
        return _("Any of the %(n)s runs may be the best: none is shown to be behind.") % {"n": n}
    sentence = ngettext(
        "The best of the %(n)s runs is one of %(names)s, with 95 %% confidence; %(behind)s is "
        "shown to be behind.",
        "The best of the %(n)s runs is one of %(names)s, with 95 %% confidence; %(behind)s are "
        "shown to be behind.",
        n_behind,
    )
    return sentence % {"n": n, "names": _named(names), "behind": n_behind}


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
    margin, n = pair["power"]["delta"], pair["n_queries"]
    words = {"run": names[0], "reference": names[1], "margin": f"{margin:g}"}
    numbers = ngettext(
        "%(difference)s %(measure)s on %(n)s query.",
        "%(difference)s %(measure)s on %(n)s queries.",
        n,
    ) % {"difference": difference_words(pair), "measure": label, "n": f"{n:,}"}
    if is_blocked:
        as_measured = {
            Kind.BETTER: _("As measured %(run)s is better"),
            Kind.WORSE: _("As measured %(run)s is worse"),
            Kind.SAME: _("As measured they are the same within ±%(margin)s"),
        }.get(kind, _("Nor does what is measured tell them apart"))
        blocked = _("%(run)s and %(reference)s cannot be compared yet.") % words
        return f"{blocked} {as_measured % words}: {numbers}"
    decided = {
        Kind.BETTER: _("%(run)s is better than %(reference)s"),
        Kind.WORSE: _("%(run)s is worse than %(reference)s"),
        Kind.SAME: _("%(run)s and %(reference)s are the same within ±%(margin)s"),
    }.get(kind, _("%(run)s is not shown to be better or worse than %(reference)s"))
    sentence = f"{decided % words}: {numbers}"
    needed = pair["power"]["queries_for_observed"]
    if kind == Kind.NOT_SHOWN and needed is not None and needed > n:
        about = _("About %(n)s queries would show a difference of this size.")
        sentence += " " + about % {"n": f"{needed:,}"}
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
    lost, won = (
        _with_differences([row for row in slices if row.kind == outcome])
        for outcome in (Kind.WORSE, Kind.BETTER)
    )
    words = {"lost": lost, "won": won}
    if kind == Kind.WORSE and lost and won:
        return _("It is shown to lose on %(lost)s; gains on %(won)s.") % words
    if kind == Kind.WORSE and lost:
        return _("It is shown to lose on %(lost)s; no slice is shown to gain.") % words
    if kind == Kind.WORSE:
        return (_("Gains on %(won)s.") if won else _("No slice is shown to gain.")) % words
    if lost:
        return _("It is shown to lose on %(lost)s.") % words
    if kind != Kind.BETTER and won:
        return _("No slice is shown to lose; it gains on %(won)s.") % words
    if kind != Kind.BETTER:
        return _("No slice is shown to lose.")
    open_slices = [row.name for row in slices if row.kind != Kind.BETTER]
    if not open_slices:
        return _("No slice is shown to lose, and each gains.")
    sentence = _("No slice is shown to lose; on %(slices)s alone the gain is not shown.")
    return sentence % {"slices": _named(open_slices)}


def _with_differences(slices: Sequence[SliceVerdict]) -> str:
    return _named([f"{row.name} ({_signed(row.pair['difference'])})" for row in slices])


def _facts(comparison: Told, pair: Pair, keys: tuple[str, str], part: str) -> list[str]:
    effect, facts = pair["effect"], []
    if effect["wins"] is not None:
        counts = {name: f"{effect[name]:,}" for name in ("wins", "ties", "losses")}
        sentence = _("Better on %(wins)s queries, the same on %(ties)s, worse on %(losses)s.")
        facts.append(sentence % counts)
    if pair["reason"]:
        facts.append(English(pair["reason"]))
    if pair["is_thin"] and pair["n_differing"]:
        facts.append(_("Too few queries differ at all: no interval is right here."))
    outcome = comparison.comparability
    if outcome.verdict != comparability.Verdict.FREE:
        facts += _doubts(comparison, pair, keys, part)
    return facts


def _doubts(comparison: Told, pair: Pair, keys: tuple[str, str], part: str) -> list[str]:
    """Why the runs are not compared freely, and what is left of the difference without that."""
    judged, shares = comparison.result["judged"]["measure"], comparison.result["judged"]["shares"]
    limits = comparability.PROVISIONAL, comparability.COMPARABLE
    judged_shares = [
        f"{comparison.runs[key].name} {percent_beside(shares[key], *limits, decimals=0)} %"
        for key in keys
        if shares[key] is not None
    ]
    facts: list[str] = [English(reason) for reason in comparison.comparability.reasons]
    if judged_shares:
        facts.insert(0, f"{judged}: {', '.join(judged_shares)}.")
    condensed = pair_of(comparison, *keys, comparison.question.roles.condensed, part)
    if condensed is None or condensed["difference"] is None:
        return facts
    before, after = kind_of(pair), kind_of(condensed)
    sentence = (
        _("On judged documents alone by %(measure)s: %(difference)s, still %(verdict)s.")
        if after == before
        else _("On judged documents alone by %(measure)s: %(difference)s, %(verdict)s.")
    )
    words = {"difference": difference_words(condensed), "verdict": WORDS[after]}
    facts.append(sentence % {"measure": comparison.question.roles.gain, **words})
    return facts


def _named(names: Sequence[str]) -> str:
    """Up to three names, and how many more."""
    n_more = len(names) - MOST_NAMED
    if n_more > 0:
        words = {"names": ", ".join(names[:MOST_NAMED]), "n": n_more}
        return _("%(names)s and %(n)s more") % words
    if len(names) < 2:
        return "".join(names)
    words = {"first": ", ".join(names[:-1]), "last": names[-1]}
    return pgettext("the last of several names", "%(first)s and %(last)s") % words


def _signed(value: float) -> str:
    return signed_beside(value, decimals=3).replace("-", MINUS)


def _negative(value: float | None) -> float | None:
    return None if value is None else -value

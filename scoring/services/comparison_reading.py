"""A stored comparison as one person may see it: rounded and shortened where grades are hidden."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

from benchmarks_app.models import Benchmark, Run
from benchmarks_app.permissions import Action, may
from scoring.core.comparability import Comparability, comparability
from scoring.core.comparing import OVERALL
from scoring.core.pattern_texts import pattern_dict
from scoring.core.patterns import ONLINE, Fact, Pattern, read_patterns
from scoring.core.statistics.intervals import FEWEST_DIFFERING
from scoring.models import Comparison, OnlineResult
from scoring.services.comparing_numbers import OWN_SLICES
from scoring.services.comparison_questions import Question, question_of
from scoring.services.comparison_rows import has_numbers, result_of
from scoring.services.firewall import Sight, sight_of
from scoring.services.slice_scores import slice_parts

# What p-values are said to be at most where grades are hidden: more would tell of one of them.
P_STEPS = (0.001, 0.01, 0.05, 1.0)
# Means as they are shown, by run, measure and slice.
Means = Mapping[tuple[str, str, str], float | None]
WITHHELD_EFFECTS = ("d_z", "wins", "ties", "losses", "share_worse", "superiority")
WITHHELD_POWERS = ("sigma", "queries_for_observed", "queries_for_delta")
P_VALUES = ("p", "p_adjusted", "p_t", "p_slices")


@dataclass(frozen=True)
class Told:
    """A comparison as somebody sees it; `result` is what was stored, less what is withheld."""

    question: Question
    row: Comparison
    result: Mapping[str, Any]
    sight: Sight
    user: Any

    @cached_property
    def runs(self) -> dict[str, Run]:
        """The runs by the names they have in the result."""
        return {str(run.pk): run for run in self.question.runs}

    @property
    def numbers(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.result["comparison"]
        return found

    @property
    def measures(self) -> list[str]:
        """Those that are shown: the condensed one is for patterns alone."""
        condensed = self.question.roles.condensed
        asked = self.question.measure
        return [name for name in self.numbers["measures"] if name != condensed or name == asked]

    @property
    def slices(self) -> list[Mapping[str, Any]]:
        """All queries first, then the slices that are shown."""
        return [one for one in self.numbers["slices"] if one["name"] not in OWN_SLICES]

    def summaries(self, measure: str, slice_name: str = OVERALL) -> list[Mapping[str, Any]]:
        """A row for each run, in the order they were named."""
        place = (measure, slice_name)
        found = self.numbers["summaries"]
        return [one for one in found if (one["measure"], one["slice"]) == place]

    def pairs(self, measure: str, slice_name: str = OVERALL) -> list[Mapping[str, Any]]:
        """A row for each pair, in the order of the comparison."""
        place = (measure, slice_name)
        found = [one for one in self.numbers["pairs"] if (one["measure"], one["slice"]) == place]
        return [{**one, "is_thin": _is_thin(one["n_differing"])} for one in found]

    @cached_property
    def comparability(self) -> Comparability:
        """Whether the judged shares allow it at all, runs by their names."""
        names = {key: run.name for key, run in self.runs.items()}
        shares = self.result["judged"]["shares"]
        return comparability(
            {names[key]: nan if share is None else share for key, share in shares.items()},
            {names[key]: share for key, share in self.result["answered"].items()},
        )

    def facts(self, run: str, reference: str) -> list[Fact]:
        """The differences of one pair, by every measure over all queries and every slice."""
        found = [
            _fact(one)
            for one in self.numbers["pairs"]
            if (one["run"], one["reference"]) == (run, reference)
        ]
        return [*found, *self._online(run, reference)]

    def patterns(self, run: str, reference: str) -> list[Pattern]:
        """The rules of the pattern reader that hold for one pair."""
        return read_patterns(
            self.facts(run, reference), self.question.roles, slice_parts(self.question.release)
        )

    def _online(self, run: str, reference: str) -> list[Fact]:
        """What an A/B test of the two said, to who keeps the benchmark; the newest there is."""
        if not may(self.user, Action.EDIT, self.question.release.benchmark):
            return []
        rows = OnlineResult.objects.filter(
            gate__candidate=run, gate__policy__baseline=reference, difference__isnull=False
        ).exclude(low=None, high=None)
        one = rows.order_by("-pk").first()
        if one is None or one.low is None or one.high is None:
            return []
        return [Fact(one.metric, ONLINE, one.difference, one.low, one.high, 0)]

    def as_dict(self) -> dict[str, Any]:
        """Everything for a program: numbers, verdict, and the patterns of every pair."""
        keys = {key: {"id": run.pk, "name": run.name} for key, run in self.runs.items()}
        found = self.comparability
        is_table = self.question.is_table
        return {
            "key": self.row.key,
            "benchmark": self.question.release.benchmark.slug,
            "release": self.question.release.version,
            "measure": self.question.measure,
            "runs": list(keys.values()),
            "baseline": self.question.baseline.pk if self.question.baseline else None,
            "comparability": {"verdict": found.verdict.value, "reasons": list(found.reasons)},
            "judged": self.result["judged"],
            "answered": self.result["answered"],
            "n_unjudged": self.result["n_unjudged"],
            "is_rounded": not self.sight.is_clear,
            "comparison": {**self.numbers, "slices": self.slices},
            "patterns": [
                {"run": one["run"], "reference": one["reference"], **pattern_dict(pattern)}
                for one in (self.pairs(self.question.measure) if is_table else [])
                for pattern in self.patterns(one["run"], one["reference"])
            ],
        }


def _is_thin(n_differing: int | None) -> bool:
    return n_differing is not None and n_differing < FEWEST_DIFFERING


def told(question: Question, row: Comparison, user: Any) -> Told:
    """The comparison as this person may see it."""
    sight = sight_of(user, question.release)
    result = result_of(row)
    seen = result if sight.is_clear else _blurred(result, sight)
    return Told(question, row, seen, sight, user)


def told_by_key(benchmark: Benchmark, key: str, user: Any) -> Told | None:
    """A stored comparison, if all its runs are for this person to see; else None."""
    rows = Comparison.objects.filter(benchmark=benchmark, parameters__has_key="measures")
    row = rows.exclude(result="").select_related("release").filter(key=key).first()
    if row is None or not has_numbers(row):
        return None
    keys = row.parameters["runs"]
    if Run.objects.filter(pk__in=keys).visible_to(user).count() < len(keys):
        return None
    row.release.benchmark = benchmark
    question = question_of(row)
    if not sight_of(user, question.release).tells(question.measure):
        return None
    return told(question, row, user)


def _fact(pair: Mapping[str, Any]) -> Fact:
    ends = (pair["interval"]["low"], pair["interval"]["high"])
    low, high = (nan if end is None else end for end in ends)
    difference = nan if pair["difference"] is None else pair["difference"]
    needed = pair["power"]["queries_for_observed"]
    return Fact(pair["measure"], pair["slice"], difference, low, high, pair["n_queries"], needed)


# --- hidden grades -------------------------------------------------------------------------


def _blurred(result: Mapping[str, Any], sight: Sight) -> dict[str, Any]:
    """Means rounded as on a board, and nothing that a change of one grade would show in.

    With two runs that differ on one query, wins and losses, a standard deviation or an exact p
    would tell the grade; how many documents are unjudged would tell which are judged.
    """
    found = result["comparison"]
    means = {
        (one["run"], one["measure"], one["slice"]): sight.rounded(one["mean"])
        for one in found["summaries"]
    }
    together: dict[tuple[str, str], list[float | None]] = {}
    for (_, measure, part), mean in means.items():
        together.setdefault((measure, part), []).append(mean)
    comparison = {
        **found,
        "measures": [name for name in found["measures"] if sight.tells(name)],
        "slices": [one for one in found["slices"] if one["name"] not in OWN_SLICES],
        "summaries": [
            _blurred_summary(one, together[one["measure"], one["slice"]], sight)
            for one in found["summaries"]
            if _is_told(one, sight)
        ],
        "pairs": [
            _blurred_pair(one, sight, means) for one in found["pairs"] if _is_told(one, sight)
        ],
    }
    shares = {run: sight.rounded(share) for run, share in result["judged"]["shares"].items()}
    judged = {**result["judged"], "shares": shares}
    return {**result, "comparison": comparison, "judged": judged, "n_unjudged": None}


def _is_told(one: Mapping[str, Any], sight: Sight) -> bool:
    return sight.tells(one["measure"]) and one["slice"] not in OWN_SLICES


def at_most(p: float | None) -> float | None:
    """The step that a p-value does not exceed.

    Examples
    --------
    >>> at_most(0.002), at_most(0.3), at_most(None)
    (0.01, 1.0, None)
    """
    return None if p is None else next(step for step in P_STEPS if p <= step)


def _blurred_summary(one: Mapping[str, Any], means: Collection[float | None], sight: Sight) -> Any:
    """A run's row; ranks are those of the rounded means, among `means` of all runs."""
    mean = sight.rounded(one["mean"])
    rank = None if mean is None else 1 + sum(m is not None and m > mean for m in means)
    ends = _blurred_ends(one, sight)
    return {**one, "mean": mean, "interval": ends, "rank": rank, "rank_interval": None}


def _blurred_ends(one: Mapping[str, Any], sight: Sight) -> dict[str, float | None]:
    return {end: sight.rounded(value) for end, value in one["interval"].items()}


def _blurred_pair(one: Mapping[str, Any], sight: Sight, means: Means) -> dict[str, Any]:
    ours, mean = (means[one[side], one["measure"], one["slice"]] for side in ("run", "reference"))
    difference = sight.difference(ours, mean)
    relative = sight.rounded(difference / mean) if difference is not None and mean else None
    p_values = {name: one[name] for name in P_VALUES}
    return {
        **one,
        "difference": difference,
        "interval": _blurred_ends(one, sight),
        **{name: at_most(p) for name, p in p_values.items()},
        "n_differing": None,
        "effect": {"relative": relative, **dict.fromkeys(WITHHELD_EFFECTS)},
        "power": {
            **one["power"],
            "detectable": sight.rounded(one["power"]["detectable"]),
            **dict.fromkeys(WITHHELD_POWERS),
        },
    }

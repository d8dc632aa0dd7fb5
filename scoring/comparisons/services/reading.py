"""A stored comparison as one person may see it: over public queries where others are hidden."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

from django.utils.translation import gettext_lazy

from benchmarks_app.models import Benchmark, Run
from benchmarks_app.permissions import Action, may
from benchwright.comparison.aligning import OVERALL
from benchwright.comparison.comparability import Comparability, comparability
from benchwright.comparison.patterns import ONLINE, Fact, Pattern, pattern_dict, read_patterns
from benchwright.statistics.intervals import FEWEST_DIFFERING
from scoring.boards.services.boards import board_of
from scoring.comparisons.services.comparison_rows import has_numbers, result_of
from scoring.comparisons.services.numbers import OWN_SLICES
from scoring.comparisons.services.questions import VERSION, Question, question_of
from scoring.models import Comparison, OnlineResult
from scoring.scores.selectors.releases import relevance_threshold
from scoring.scores.services.firewall import Sight, sight_of
from scoring.scores.services.slice_scores import board_split, slice_parts
from scoring.scores.shown import any_measure

LEFT_OUT = gettext_lazy(
    "Tests, intervals and patterns are worked out from the {n} queries of public splits. The "
    "{n_hidden} of hidden splits are left out; what the leaderboard shows of them stands below."
)


@dataclass(frozen=True)
class BoardMean:
    """A run's mean as its board shows it, and what it differs by from that of the reference.

    `over` says over which queries. The difference is one of means as shown.
    """

    run: Run
    over: str
    mean: float | None
    difference: float | None

    def as_dict(self) -> dict[str, Any]:
        """For a program; the run by its number as text, as everywhere in a comparison."""
        return {
            "run": str(self.run.pk),
            "over": self.over,
            "mean": self.mean,
            "difference": self.difference,
        }


def board_means(question: Question, user: Any) -> list[BoardMean]:
    """The runs in the order they were named; the reference is the baseline, or the first one."""
    release = question.release
    measure = any_measure(question.measure, relevance_threshold(release))
    board = board_of(
        release=release, user=user, measure=measure, split=board_split(release), is_alone=True
    )
    means = {row.run.pk: row.scores.get(measure.name) for row in board.whole}
    reference = question.baseline or question.runs[0]
    sight = sight_of(user, release)
    return [
        BoardMean(
            run=run,
            over=board.over,
            mean=means.get(run.pk),
            difference=sight.difference(means.get(run.pk), means.get(reference.pk)),
        )
        for run in question.runs
    ]


@dataclass(frozen=True)
class Told:
    """A comparison as somebody sees it; `result` is what was stored."""

    question: Question
    row: Comparison
    result: Mapping[str, Any]
    sight: Sight
    user: Any

    @property
    def is_public(self) -> bool:
        """Whether the queries of hidden splits are left out."""
        return self.question.is_public

    @cached_property
    def runs(self) -> dict[str, Run]:
        """The runs by the names they have in the result."""
        return {str(run.pk): run for run in self.question.runs}

    @property
    def numbers(self) -> Mapping[str, Any]:
        numbers: Mapping[str, Any] = self.result["comparison"]
        return numbers

    @property
    def measures(self) -> list[str]:
        """Those that are shown: the condensed one is for patterns alone."""
        condensed = self.question.roles.condensed
        measure = self.question.measure
        return [name for name in self.numbers["measures"] if name != condensed or name == measure]

    @property
    def said_of_hidden(self) -> str:
        """What is to be known where queries are left out."""
        n, n_hidden = self.question.n_queries, len(self.question.hidden)
        return str(LEFT_OUT).format(n=f"{n:,}", n_hidden=f"{n_hidden:,}")

    @property
    def reference(self) -> Run:
        """What the means of the leaderboard are held against."""
        return self.question.baseline or self.question.runs[0]

    @cached_property
    def board(self) -> list[BoardMean]:
        """Means as the leaderboard shows them; empty where the comparison is over all queries."""
        return board_means(self.question, self.user) if self.is_public else []

    @property
    def slices(self) -> list[Mapping[str, Any]]:
        """All queries first, then the slices that are shown."""
        return [part for part in self.numbers["slices"] if part["name"] not in OWN_SLICES]

    def summaries(self, measure: str, slice_name: str = OVERALL) -> list[Mapping[str, Any]]:
        """A row for each run, in the order they were named."""
        place = (measure, slice_name)
        summaries = self.numbers["summaries"]
        return [summary for summary in summaries if (summary["measure"], summary["slice"]) == place]

    def pairs(self, measure: str, slice_name: str = OVERALL) -> list[Mapping[str, Any]]:
        """A row for each pair, in the order of the comparison."""
        place = (measure, slice_name)
        pairs = [
            pair for pair in self.numbers["pairs"] if (pair["measure"], pair["slice"]) == place
        ]
        return [{**pair, "is_thin": _is_thin(pair["n_differing"])} for pair in pairs]

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
        facts = [
            _fact(pair)
            for pair in self.numbers["pairs"]
            if (pair["run"], pair["reference"]) == (run, reference)
        ]
        return [*facts, *self._online(run, reference)]

    def patterns(self, run: str, reference: str) -> list[Pattern]:
        """The rules of the pattern reader that hold for one pair."""
        parts = slice_parts(self.question.release, hidden=self.question.hidden)
        return read_patterns(self.facts(run, reference), self.question.roles, parts)

    def _online(self, run: str, reference: str) -> list[Fact]:
        """What an A/B test of the two said, to who keeps the benchmark; the newest there is."""
        if not may(self.user, Action.EDIT, self.question.release.benchmark):
            return []
        rows = OnlineResult.objects.filter(
            gate__candidate=int(run), gate__policy__baseline=int(reference)
        ).exclude(difference=None)
        online = rows.exclude(low=None, high=None).order_by("-pk").first()
        if online is None or online.difference is None or online.low is None or online.high is None:
            return []
        return [Fact(online.metric, ONLINE, online.difference, online.low, online.high, 0)]

    def as_dict(self) -> dict[str, Any]:
        """Everything for a program: numbers, verdict, and the patterns of every pair."""
        keys = {key: {"id": run.pk, "name": run.name} for key, run in self.runs.items()}
        outcome = self.comparability
        is_table = self.question.is_table
        return {
            "key": self.row.key,
            "benchmark": self.question.release.benchmark.slug,
            "release": self.question.release.version,
            "measure": self.question.measure,
            "runs": list(keys.values()),
            "baseline": self.question.baseline.pk if self.question.baseline else None,
            "comparability": {"verdict": outcome.verdict.value, "reasons": list(outcome.reasons)},
            "judged": self.result["judged"],
            "answered": self.result["answered"],
            "n_unjudged": self.result["n_unjudged"],
            "is_public": self.is_public,
            "board": [row.as_dict() for row in self.board],
            "comparison": {**self.numbers, "slices": self.slices},
            "patterns": [
                {"run": pair["run"], "reference": pair["reference"], **pattern_dict(pattern)}
                for pair in (self.pairs(self.question.measure) if is_table else [])
                for pattern in self.patterns(pair["run"], pair["reference"])
            ],
        }


def _is_thin(n_differing: int | None) -> bool:
    return n_differing is not None and n_differing < FEWEST_DIFFERING


def told(question: Question, row: Comparison, user: Any) -> Told:
    """The comparison as this person sees it; the question is one that they may ask."""
    return Told(question, row, result_of(row), sight_of(user, question.release), user)


def told_by_key(benchmark: Benchmark, key: str, user: Any) -> Told | None:
    """A stored comparison, if its runs and queries are all for this person to see; else None."""
    rows = Comparison.objects.filter(benchmark=benchmark, parameters__has_key="measures")
    row = rows.exclude(result="").select_related("release").filter(key=key).first()
    if row is None or not has_numbers(row):
        return None
    keys = row.parameters["runs"]
    if Run.objects.filter(pk__in=keys).visible_to(user).count() < len(keys):
        return None
    row.release.benchmark = benchmark
    question, sight = question_of(row), sight_of(user, row.release)
    # What was stored by an earlier version may rest on hidden queries.
    is_public = question.is_public and row.parameters["version"] == VERSION
    if not sight.is_clear and not (is_public and sight.tells(question.measure)):
        return None
    return told(question, row, user)


def _fact(pair: Mapping[str, Any]) -> Fact:
    ends = (pair["interval"]["low"], pair["interval"]["high"])
    low, high = (nan if end is None else end for end in ends)
    difference = nan if pair["difference"] is None else pair["difference"]
    needed = pair["power"]["queries_for_observed"]
    return Fact(pair["measure"], pair["slice"], difference, low, high, pair["n_queries"], needed)

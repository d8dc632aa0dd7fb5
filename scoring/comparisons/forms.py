"""What the address of a comparison asks for: runs, release, measure, slice, baseline, pair."""

from dataclasses import dataclass
from typing import Any

from django.http import Http404, QueryDict

from benchmarks_app.common.selectors.naming import names_in
from benchmarks_app.models import Benchmark, Release, Run
from benchwright.ids import LONGEST_NAME
from scoring.comparisons.services.errors import ComparedRunError
from scoring.comparisons.services.query_differences import ORDERS, Wanted
from scoring.comparisons.services.questions import Question, chosen_score_sets
from scoring.comparisons.services.robustness import RobustnessQuestion
from scoring.comparisons.services.side_by_side import DEPTHS
from scoring.models import ScoreSet
from scoring.scores.selectors.releases import newest_release, release_of_version
from scoring.scores.services.firewall import measure_seen, sight_of
from scoring.scores.services.slice_scores import slices_compared
from scoring.scores.shown import Shown

LONGEST_SEARCH = 200


@dataclass(frozen=True)
class AskedComparison:
    """A comparison as an address asks for it; `named` are the runs as they are written there.

    It `is_public` where the release hides queries from who asks: these are left out.
    """

    release: Release
    named: list[str]
    score_sets: list[ScoreSet]
    measure: Shown
    baseline: ScoreSet | None
    params: QueryDict
    is_public: bool = False

    @property
    def question(self) -> Question:
        baseline = self.baseline.run if self.baseline else None
        return Question(
            self.release, tuple(self.score_sets), self.measure.name, baseline, self.is_public
        )

    @property
    def slice_name(self) -> str:
        """The slice whose queries are listed; nothing where it is not shown."""
        name = self.params.get("slice", "").strip()
        return name if name in self.slice_names else ""

    @property
    def slice_names(self) -> list[str]:
        slices = slices_compared(self.release, is_public=self.is_public)
        return [part.name for part in slices]

    @property
    def wanted(self) -> Wanted:
        order = self.params.get("order", "")
        return Wanted(
            slice_name=self.slice_name,
            letters=self.params.get("q", "").strip()[:LONGEST_SEARCH],
            order=order if order in ORDERS else ORDERS[0],
        )

    @property
    def depth(self) -> int:
        """How many results a list shows."""
        text = self.params.get("depth", "")
        return int(text) if text in {str(depth) for depth in DEPTHS} else 10

    def pair(self) -> tuple[ScoreSet, ScoreSet]:
        """Run and reference: the two that are named, or the second and the first.

        With a baseline that is the reference, and the first of the others is the run.

        Raises
        ------
        ComparedRunError
            If one that is named is none of the runs.
        """
        reference = self._one("against") or self.baseline
        run = self._one("run")
        sets = self.score_sets
        if reference is None:
            reference = next(score_set for score_set in sets if score_set != run)
        return run or next(score_set for score_set in sets if score_set != reference), reference

    def _one(self, name: str) -> ScoreSet | None:
        text = self.params.get(name, "").strip()
        if not text:
            return None
        matches = [
            score_set
            for score_set in self.score_sets
            if text in (str(score_set.run_id), score_set.run.name)
        ]
        if not matches:
            raise ComparedRunError(name=text[:LONGEST_NAME])
        return matches[0]

    def robustness_question(self) -> RobustnessQuestion:
        run, reference = self.pair()
        return RobustnessQuestion(run, reference, self.measure.name, self.is_public)


def asked_release(params: QueryDict, benchmark: Benchmark) -> Release | None:
    """The release an address names, or the newest; None where there is none yet."""
    version = params.get("release", "").strip()
    if not version:
        return newest_release(benchmark)
    release = release_of_version(benchmark, version)
    if release is None:
        raise Http404
    return release


def named_runs(params: QueryDict, user: Any, benchmark: Benchmark) -> list[str]:
    """Every run that is named: `runs` once for each, or several with commas between."""
    visible = Run.objects.filter(benchmark=benchmark).visible_to(user)
    names = [name for text in params.getlist("runs") for name in names_in(text, visible)]
    return list(dict.fromkeys(names))


def asked_comparison(params: QueryDict, user: Any, release: Release) -> AskedComparison:
    """What is asked for on a release.

    Raises
    ------
    ScoringError
        If a run or measure is none, or cannot be compared.
    """
    text = params.get("measure", "").strip() or params.get("m", "").strip()
    measure = measure_seen(user, release, text)
    named = named_runs(params, user, release.benchmark)
    baseline_name = params.get("baseline", "").strip()
    everyone = [*named, baseline_name] if baseline_name and named else named
    sets = chosen_score_sets(release=release, user=user, named=everyone)
    baseline = None
    if baseline_name and named:
        by_name = {str(score_set.run_id): score_set for score_set in sets} | {
            score_set.run.name: score_set for score_set in sets
        }
        baseline = by_name[baseline_name]
    is_public = not sight_of(user, release).is_clear
    return AskedComparison(release, named, sets, measure, baseline, params, is_public)

"""Whose values stand beside people's: a set of a machine's grades, or what was learned of people's.

Both tell why they can have no values of a measure, and what the values of a run are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any, Protocol

from django.utils.translation import gettext, gettext_noop

from benchmarks_app.common.selectors.learning import (
    estimate_from_judged,
    ranking_functions,
    runs_all_see,
)
from benchmarks_app.common.selectors.reading import release_qrels, run_path
from benchmarks_app.models import QrelSet, Release, Run
from benchwright import evaluate_hits
from benchwright.datasets import released
from benchwright.estimation import corrected, learned
from benchwright.estimation.learning import LearnedEstimate
from benchwright.evaluation.stored_hits import scan_stored_run
from benchwright.measures import Measure, parse_measure
from benchwright.reading.hits import Judged
from scoring.corrected.selectors import machine_grades, queries_graded
from scoring.scores.selectors.rankings import ranking_of

LEARNED = "learned"
"""How an address asks for the estimate from the judged documents."""
# Ranks of each run, and runs, that the documents come from whose grades are estimated.
POOLED_RANKS, POOLED_RUNS = 10, 100
ESTIMATED = ("nDCG", "P", "RR")
NAMED_AT_MOST = 3
Values = dict[str, float]

LEARNED_NAME = gettext_noop("Estimate from the judged documents")
UNGRADED = gettext_noop(
    "The machine graded no document of {n} of {n_all} queries, such as {named}. It must have "
    "graded all, labelled or not."
)
NOT_ESTIMATED = gettext_noop(
    "{measure} is none of the measures that the estimate from the judged documents gives: nDCG, P "
    "and RR with a cutoff."
)
NOTHING_RANKED = gettext_noop(
    "There is nothing to estimate from the judged documents yet: no run that everybody sees."
)


class Machine(Protocol):
    """`key` is how an address asks for it, `pk` that of its set, `digest` names its values."""

    @property
    def key(self) -> str: ...
    @property
    def pk(self) -> int | None: ...
    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...
    @property
    def least_families(self) -> int: ...
    @property
    def function_names(self) -> tuple[str, ...]: ...
    @property
    def digest(self) -> str: ...
    def refusal(self, measure: str) -> str: ...
    def values(self, run: Run, measure: str) -> Values: ...


@dataclass(frozen=True)
class Grader:
    """A machine by the set of grades that it gave to documents of every query of a release."""

    qrel_set: QrelSet
    release: Release
    # {query: family} of every query.
    families: Mapping[str, str]
    least_families = corrected.LEAST_FAMILIES
    function_names: tuple[str, ...] = ()

    @property
    def pk(self) -> int:
        return self.qrel_set.pk

    @property
    def key(self) -> str:
        return str(self.pk)

    @property
    def name(self) -> str:
        return self.qrel_set.name

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self.qrel_set.parameters

    @property
    def digest(self) -> str:
        """Neither set nor release ever changes."""
        return f"{self.pk}-{self.qrel_set.created_at.timestamp()}"

    def refusal(self, measure: str) -> str:
        """Why it has no values; "" where it has."""
        lacking = sorted(self.families.keys() - queries_graded(self.qrel_set))
        if not lacking:
            return ""
        named = ", ".join(lacking[:NAMED_AT_MOST])
        return gettext(UNGRADED).format(n=len(lacking), n_all=len(self.families), named=named)

    @cached_property
    def _grades(self) -> Mapping[str, Mapping[str, int]]:
        return machine_grades(self.qrel_set, self.families)

    def values(self, run: Run, measure: str) -> Values:
        """The measure of a run by the machine's grades, by query."""
        judged = {qid: Judged(tuple(of.values())) for qid, of in self._grades.items()}
        hits = scan_stored_run(run_path(run), self._grades)
        top_grade = released.top_grade(self.release.manifest)
        evaluation = evaluate_hits(judged, hits, [measure], top_grade=top_grade)
        return {qid: of[measure] for qid, of in evaluation.per_query.items()}


@dataclass(frozen=True)
class Learner:
    """What is learned from people's labels of drawn queries; never a label itself.

    `fitted` are those queries, `pooled` the runs whose first documents are estimated, and
    `functions` those of them whose scores are learned from. Equal digests, equal estimates.
    """

    digest: str
    release: Release = field(compare=False)
    families: Mapping[str, str] = field(compare=False)
    fitted: frozenset[str] = field(compare=False)
    pooled: tuple[Run, ...] = field(compare=False)
    functions: tuple[Run, ...] = field(compare=False)
    least_families = learned.LEAST_FAMILIES
    key = LEARNED
    pk = None
    parameters: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        return gettext(LEARNED_NAME)

    @property
    def function_names(self) -> tuple[str, ...]:
        return tuple(run.name for run in self.functions)

    def refusal(self, measure: str) -> str:
        """Why it has no values; "" where it has."""
        if not is_estimated(parse_measure(measure)):
            return gettext(NOT_ESTIMATED).format(measure=measure)
        return "" if self.pooled else gettext(NOTHING_RANKED)

    def values(self, run: Run, measure: str) -> Values:
        """The measure of a run by expected grades, by query; 0 where nothing is pooled."""
        parsed: Any = parse_measure(measure)
        estimate = replace(_estimate(self), relevant_from=parsed.rel)
        ranking = ranking_of(run, parsed.cutoff)
        values = estimate.values(ranking, measure=parsed.family, cutoff=parsed.cutoff)
        return dict.fromkeys(self.families, 0.0) | values


def is_estimated(measure: Measure) -> bool:
    """Whether the estimate gives this measure: its gain and its list are the plain ones."""
    is_plain = {name for name, _ in measure.options} <= {"rel"}
    return measure.family in ESTIMATED and isinstance(measure.cutoff, int) and is_plain


def learner(release: Release, families: Mapping[str, str], fitted: frozenset[str]) -> Learner:
    """The estimate of a release from people's labels of these queries."""
    pooled = tuple(runs_all_see(release.benchmark)[:POOLED_RUNS])
    functions = tuple(ranking_functions(pooled))
    facts = [
        release.content_sha256,
        *sorted(fitted),
        *(f"{run.pk} {run.sha256} {run in functions}" for run in pooled),
    ]
    digest = sha256("\n".join(facts).encode()).hexdigest()[:32]
    return Learner(f"{LEARNED}-{digest}", release, families, fitted, pooled, functions)


# Fitting takes seconds, and the values of every run and measure follow from it.
@lru_cache(maxsize=2)
def _estimate(of: Learner) -> LearnedEstimate:
    pool: dict[str, dict[str, None]] = {}
    for run in of.pooled:
        for qid, docids in ranking_of(run, POOLED_RANKS).items():
            if qid in of.families:
                pool.setdefault(qid, {}).update(dict.fromkeys(docids))
    return estimate_from_judged(
        {qid: sorted(pool[qid]) for qid in sorted(pool)},
        {qid: grades for qid, grades in release_qrels(of.release).items() if qid in of.fitted},
        families=of.families,
        functions=of.functions,
        benchmark=of.release.benchmark,
        version=of.release.corpus_version,
    )

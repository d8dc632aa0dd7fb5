"""What verdicts come to: means with their intervals, by slice; two evaluations side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import isclose
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db.models import Count, Sum

from benchmarks_app.models import Run, User
from benchwright.contextual.arithmetic import contextual_precision
from benchwright.evaluation.uncertainty import interval_of
from scoring.contextual.selectors import Freshness, case_sets_of, counts_of, freshness_of
from scoring.contextual.services.errors import CompareOtherSetError
from scoring.models import CaseOutcome, CaseSet, ContextualEvaluation

SLICE_ALL = ""
FAMILY = "case__query__family"


@dataclass(frozen=True)
class Row:
    """All cases (`name` empty) or a slice; the ends are None where there are too few cases."""

    name: str
    n: int
    mean: float | None
    low: float | None
    high: float | None
    success_share: float | None


@dataclass(frozen=True)
class Results:
    """Scores in order of their cases; those of cases that failed are not among them."""

    overall: Row
    slices: tuple[Row, ...]
    scores: tuple[float, ...]


def results_of(evaluation: ContextualEvaluation) -> Results:
    """Means over the cases that have a score; kept as long as nothing changes."""
    counts = counts_of(evaluation)
    families = evaluation.outcomes.aggregate(n=Count(FAMILY, distinct=True), of_keys=Sum(FAMILY))
    figures = (counts.n_scored, counts.n_failed, counts.mean, counts.cost, *families.values())
    facts = repr((evaluation.pk, *figures))
    key = f"contextual-{sha256(facts.encode()).hexdigest()}"
    results = cache.get(key)
    if results is None:
        results = _results(evaluation)
        cache.set(key, results, timeout=None)
    return results


def _results(evaluation: ContextualEvaluation) -> Results:
    outcomes = (
        evaluation.outcomes.scored()
        .order_by("case__number")
        .values_list("score", "is_success", FAMILY, "case__slices")
    )
    rows = [(score, *facts) for score, *facts in outcomes if score is not None]
    by_slice: dict[str, list[Scored]] = {}
    for *scored, slices in rows:
        for name in slices:
            by_slice.setdefault(name, []).append(Scored(*scored))
    return Results(
        overall=row_of(SLICE_ALL, [Scored(*scored) for *scored, _ in rows]),
        slices=tuple(row_of(name, by_slice[name]) for name in sorted(by_slice)),
        scores=tuple(score for score, *_ in rows),
    )


class Scored(NamedTuple):
    """A score, whether it is good, and the family of the query that its case was made of."""

    score: float
    is_success: bool | None
    family: int | None


def row_of(name: str, outcomes: Sequence[Scored]) -> Row:
    scores = [outcome.score for outcome in outcomes]
    decided = [outcome.is_success for outcome in outcomes if outcome.is_success is not None]
    # Wordings of one need are drawn together; a case of a file is a family of its own.
    families = {n: of.family for n, of in enumerate(outcomes) if of.family is not None}
    low, high = interval_of(dict(enumerate(scores)), families, span=(0, 1)) or (None, None)
    return Row(
        name=name,
        n=len(scores),
        mean=sum(scores) / len(scores) if scores else None,
        low=low,
        high=high,
        success_share=sum(decided) / len(decided) if decided else None,
    )


# --- of a run --------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunValue:
    """What a judge's verdicts on cases of a run come to, for who may see them."""

    evaluation: ContextualEvaluation
    case_set: CaseSet
    freshness: Freshness | None
    overall: Row


@dataclass(frozen=True)
class RunValues:
    """Those of a run, newest first, as many as are shown; and its sets that nobody has judged."""

    values: tuple[RunValue, ...]
    n_values: int
    unjudged: tuple[CaseSet, ...]


def values_of_run(run: Run, user: User | AnonymousUser, *, most: int) -> RunValues:
    """Contextual precision of the case sets that were made of a run."""
    sets = {of.pk: of for of in case_sets_of(run.benchmark, user).filter(source__run=run)}
    rows = ContextualEvaluation.objects.listed().filter(case_set__in=sets)
    judged = [row for row in rows if row.n_scored]
    return RunValues(
        values=tuple(_run_value(row, sets[row.case_set_id]) for row in judged[:most]),
        n_values=len(judged),
        unjudged=tuple(of for of in sets.values() if not vars(of)["n_evaluations"]),
    )


def _run_value(evaluation: ContextualEvaluation, case_set: CaseSet) -> RunValue:
    overall = results_of(evaluation).overall
    return RunValue(evaluation, case_set, freshness_of(case_set), overall)


# --- one case --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """What a relevant node adds: how many of the first `rank` nodes help, over `rank`."""

    n_relevant: int
    rank: int
    value: float


@dataclass(frozen=True)
class Arithmetic:
    """How a score came about: the terms, their mean, and what strict mode made of it."""

    terms: tuple[Term, ...]
    raw: float
    is_zeroed: bool

    @property
    def n_relevant(self) -> int:
        return len(self.terms)


def arithmetic_of(outcome: CaseOutcome, *, is_strict: bool) -> Arithmetic:
    """The score of an outcome, from its verdicts."""
    relevant = [bool(verdict["is_relevant"]) for verdict in outcome.verdicts]
    terms, n = [], 0
    for rank, helps in enumerate(relevant, start=1):
        if helps:
            n += 1
            terms.append(Term(n, rank, n / rank))
    raw = contextual_precision(relevant)
    return Arithmetic(tuple(terms), raw, is_zeroed=is_strict and 0 < raw < 1)


# --- two evaluations -------------------------------------------------------------------------


@dataclass(frozen=True)
class CasePair:
    """One case under two evaluations; `n_apart` nodes were judged differently."""

    number: int
    case_id: str
    before: float
    after: float
    n_nodes: int
    n_apart: int

    @property
    def difference(self) -> float:
        return self.after - self.before


@dataclass(frozen=True)
class Compared:
    """Cases that both evaluations have scored, the largest difference first."""

    pairs: tuple[CasePair, ...]
    mean_before: float | None
    mean_after: float | None
    difference: float | None
    low: float | None
    high: float | None
    n_only_before: int
    n_only_after: int

    @property
    def n_better(self) -> int:
        return sum(pair.difference > 0 for pair in self.pairs)

    @property
    def n_worse(self) -> int:
        return sum(pair.difference < 0 for pair in self.pairs)

    @property
    def n_equal(self) -> int:
        return len(self.pairs) - self.n_better - self.n_worse

    @property
    def n_nodes(self) -> int:
        return sum(pair.n_nodes for pair in self.pairs)

    @property
    def n_apart(self) -> int:
        return sum(pair.n_apart for pair in self.pairs)

    @property
    def agreement(self) -> float | None:
        """The share of nodes on which both say the same."""
        return 1 - self.n_apart / self.n_nodes if self.n_nodes else None


def compare(before: ContextualEvaluation, after: ContextualEvaluation) -> Compared:
    """After less before, case by case.

    Raises
    ------
    CompareOtherSetError
        If they are not of one case set.
    """
    if before.case_set_id != after.case_set_id:
        raise CompareOtherSetError
    old, new = _scored(before), _scored(after)
    pairs = [_pair(old[number], new[number]) for number in sorted(old.keys() & new.keys())]
    differences = {pair.number: pair.difference for pair in pairs}
    families = _families(before)
    low, high = interval_of(differences, families, span=(-1, 1)) or (None, None)
    n = len(pairs)
    means = [
        sum(values) / n if n else None
        for values in ([p.before for p in pairs], [p.after for p in pairs])
    ]
    return Compared(
        pairs=tuple(sorted(pairs, key=lambda pair: (-abs(pair.difference), pair.number))),
        mean_before=means[0],
        mean_after=means[1],
        difference=sum(pair.difference for pair in pairs) / n if n else None,
        low=low,
        high=high,
        n_only_before=len(old.keys() - new.keys()),
        n_only_after=len(new.keys() - old.keys()),
    )


def _families(evaluation: ContextualEvaluation) -> dict[int, int]:
    """{number: family of its query} of cases that were made of queries."""
    cases = evaluation.case_set.cases.exclude(query=None)
    return dict(cases.values_list("number", "query__family"))


def _scored(evaluation: ContextualEvaluation) -> Mapping[int, CaseOutcome]:
    rows = evaluation.outcomes.scored().select_related("case")
    fields = ("score", "verdicts", "case__number", "case__case_id", "case__n_nodes")
    return {row.case.number: row for row in rows.only(*fields)}


def _pair(old: CaseOutcome, new: CaseOutcome) -> CasePair:
    before, after = old.score or 0.0, new.score or 0.0
    # The same verdicts added up are the same score, whatever the last digit says.
    same = isclose(before, after, abs_tol=1e-12)
    return CasePair(
        number=old.case.number,
        case_id=old.case.case_id,
        before=before,
        after=before if same else after,
        n_nodes=old.case.n_nodes,
        n_apart=sum(a != b for a, b in zip(_words(old), _words(new), strict=True)),
    )


def _words(outcome: CaseOutcome) -> Iterable[bool]:
    return [bool(verdict["is_relevant"]) for verdict in outcome.verdicts]

"""Verdicts of people on the nodes of cases, and how a judge's stand to them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction

from benchmarks_app.common.services import audit
from benchmarks_app.models import User
from benchmarks_app.permissions import Action, may
from benchwright.agreement.measured import Measured
from benchwright.contextual.arithmetic import contextual_precision, final_score
from scoring.contextual.selectors import next_case
from scoring.contextual.services.errors import VerdictsError
from scoring.contextual.services.results import SLICE_ALL, Row, Scored, row_of
from scoring.models import (
    CaseOutcome,
    CaseSet,
    ContextualCase,
    ContextualEvaluation,
    PersonVerdict,
)


class Said(NamedTuple):
    """Whether a node helps, and why."""

    is_relevant: bool
    reason: str = ""


@transaction.atomic
def ask_people(*, case_set: CaseSet, user: User, is_asked: bool) -> None:
    """Ask people for verdicts on the cases of a set, or no longer; what they said stays."""
    CaseSet.objects.filter(pk=case_set.pk).update(takes_verdicts=is_asked)
    audit.record(
        actor=user,
        action="open-cases" if is_asked else "close-cases",
        benchmark=case_set.benchmark,
        target=case_set.name,
    )


@transaction.atomic
def record_verdicts(*, case: ContextualCase, person: User, verdicts: Mapping[int, Said]) -> None:
    """Write down what a person says of every node of the case that they were asked about.

    Raises
    ------
    VerdictsError
        If people are not asked, it is not their next case, or a node has no verdict.
    """
    of = case.case_set
    if not of.takes_verdicts:
        raise VerdictsError(reason="People are no longer asked about these cases.")
    if next_case(of, person) != case:
        raise VerdictsError(reason="You have judged this case already. Go on with the next.")
    if verdicts.keys() != set(range(1, case.n_nodes + 1)):
        raise VerdictsError(reason=f"Expected a verdict on each of {case.n_nodes} nodes.")
    sees_results = may(person, Action.SEE_RESULTS, of.benchmark)
    is_blind = not (sees_results and case.outcomes.scored().exists())
    rows = (
        PersonVerdict(
            case=case,
            person=person,
            node=node,
            is_relevant=verdict.is_relevant,
            reason=verdict.reason.strip(),
            is_blind=is_blind,
        )
        for node, verdict in sorted(verdicts.items())
    )
    try:
        with transaction.atomic():
            PersonVerdict.objects.bulk_create(rows)
    except IntegrityError as error:  # sent twice at once
        reason = "You have judged this case already. Go on with the next."
        raise VerdictsError(reason=reason) from error


# --- beside a judge's ------------------------------------------------------------------------


@dataclass(frozen=True)
class PeoplesCase:
    """A case with what the first person and the judge say of it."""

    number: int
    case_id: str
    people: float
    judge: float
    n_nodes: int
    n_apart: int


@dataclass(frozen=True)
class Agreement:
    """The verdicts of an evaluation beside people's: on each case, of the first who judged it.

    `kappa` has an interval by cases (by families where they are of queries); the means are of the
    same cases. `only_people` are nodes that people say help and the judge does not, `only_judge`
    the others on which they differ.
    """

    cases: tuple[PeoplesCase, ...]
    n_people: int
    n_blind: int
    n_both: int
    n_neither: int
    n_only_people: int
    n_only_judge: int
    kappa: Measured
    people: Row
    judge: Row

    @property
    def n_cases(self) -> int:
        return len(self.cases)

    @property
    def n_nodes(self) -> int:
        return self.n_both + self.n_neither + self.n_only_people + self.n_only_judge

    @property
    def share(self) -> float:
        return (self.n_both + self.n_neither) / self.n_nodes

    @property
    def apart(self) -> list[PeoplesCase]:
        """Cases on which they differ, those with most nodes first."""
        cases = [case for case in self.cases if case.n_apart]
        return sorted(cases, key=lambda case: (-case.n_apart, case.number))


def agreement_with_people(evaluation: ContextualEvaluation) -> Agreement | None:
    """How far the judge of an evaluation and people say the same; None where no case has both."""
    # What serves other pages loads none of this.
    import numpy as np

    from benchwright.agreement.bootstrap import kappa_with_interval
    from benchwright.agreement.coefficients import Weights

    first_verdicts = _first_said(evaluation)
    outcomes = evaluation.outcomes.scored().filter(case__in=first_verdicts)
    rows = list(outcomes.select_related("case__query").defer("answers").order_by("case__number"))
    if not rows:
        return None
    judged_rows = [(row, first_verdicts[row.case_id]) for row in rows]
    cases = [_beside(row, verdicts, evaluation.is_strict) for row, verdicts in judged_rows]
    families = [_family(row) for row in rows]
    stacked = np.stack(_tables(judged_rows))
    (n_neither, n_only_judge), (n_only_people, n_both) = stacked.sum(axis=0).tolist()
    peoples, judges = (
        [Scored(value, None, family) for value, family in zip(values, families, strict=True)]
        for values in ([case.people for case in cases], [case.judge for case in cases])
    )
    return Agreement(
        cases=tuple(cases),
        n_people=len({verdict.person_id for _, verdicts in judged_rows for verdict in verdicts}),
        n_blind=sum(verdicts[0].is_blind for _, verdicts in judged_rows),
        n_both=n_both,
        n_neither=n_neither,
        n_only_people=n_only_people,
        n_only_judge=n_only_judge,
        kappa=kappa_with_interval(stacked, Weights.NONE, np.random.default_rng(0)),
        people=row_of(SLICE_ALL, peoples),
        judge=row_of(SLICE_ALL, judges),
    )


def _beside(
    outcome: CaseOutcome, verdicts: Sequence[PersonVerdict], is_strict: bool
) -> PeoplesCase:
    words = [verdict.is_relevant for verdict in verdicts]
    judged = [bool(verdict["is_relevant"]) for verdict in outcome.verdicts]
    return PeoplesCase(
        outcome.case.number,
        outcome.case.case_id,
        people=final_score(contextual_precision(words), strict_mode=is_strict),
        judge=outcome.score or 0.0,
        n_nodes=len(words),
        n_apart=sum(a != b for a, b in zip(words, judged, strict=True)),
    )


def _family(outcome: CaseOutcome) -> int | None:
    return outcome.case.query.family_id if outcome.case.query else None


def _tables(said: Iterable[tuple[CaseOutcome, Sequence[PersonVerdict]]]) -> list[Any]:
    """How often people and judge said what, of each family, and of each case without one.

    Rows are what people say, columns what the judge says, "no" first.
    """
    import numpy as np

    tables: dict[tuple[str, int], Any] = {}
    for outcome, verdicts in said:
        family = _family(outcome)
        cluster = ("case", outcome.case.pk) if family is None else ("family", family)
        table = tables.setdefault(cluster, np.zeros((2, 2), dtype=np.int64))
        words = np.array([verdict.is_relevant for verdict in verdicts], dtype=int)
        judged = np.array([bool(verdict["is_relevant"]) for verdict in outcome.verdicts], dtype=int)
        np.add.at(table, (words, judged), 1)
    return list(tables.values())


def _first_said(evaluation: ContextualEvaluation) -> dict[int, list[PersonVerdict]]:
    """{case: verdicts in rank order} of the person who judged it first."""
    rows = PersonVerdict.objects.filter(case__case_set=evaluation.case_set_id).order_by("pk")
    verdicts: dict[int, list[PersonVerdict]] = {}
    for row in rows:
        first = verdicts.setdefault(row.case_id, [])
        if not first or first[0].person_id == row.person_id:
            first.append(row)
    return {case: sorted(of, key=lambda verdict: verdict.node) for case, of in verdicts.items()}

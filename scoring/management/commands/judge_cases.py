"""`manage.py judge_cases SLUG SET --endpoint NAME`: have a judge look at the cases of a set."""

from typing import Any, cast

from django.core.management.base import CommandError

from benchmarks_app.judges.selectors import judges_of
from benchmarks_app.management.declared import BenchmarkCommand, refuse_failed
from benchmarks_app.management.naming import named
from benchmarks_app.models import Job
from benchmarks_app.permissions import Action, may
from benchwright.recipes import contextual
from benchwright.recipes.arguments import option, switch, unless_told, word
from scoring.contextual.selectors import case_sets_of
from scoring.contextual.services.evaluating import judge_here
from scoring.contextual.services.results import Row, results_of
from scoring.models import ContextualEvaluation


class Command(BenchmarkCommand):
    help = "Have the cases of a set judged here and now, and print what it comes to."
    takes = (
        word("set", "name of a case set"),
        unless_told("--endpoint", is_required=True, help="name of a judge"),
        *contextual.EVALUATION,
        switch("--strict", help="only 1 is good"),
        switch("--no-reasons", help="ask for verdicts alone"),
        option("--slice", help="cases of this slice alone"),
    )

    def run(self, *, endpoint: str, **options: Any) -> None:
        slug, set_name = self.benchmark.slug, options["set"]
        if not may(self.actor, Action.EDIT, self.benchmark):
            raise CommandError(f"'{self.actor.username}' may not start a judge of {slug}.")
        case_sets, judges = case_sets_of(self.benchmark, self.actor), judges_of(self.benchmark)
        evaluation = judge_here(
            case_set=named(case_sets, set_name, f"{slug} has no case set '{set_name}'; it has"),
            judge=named(judges, endpoint, f"{slug} has no judge '{endpoint}'; it has"),
            user=self.actor,
            threshold=options["threshold"],
            is_strict=options["strict"],
            has_reasons=not options["no_reasons"],
            only_slice=options["slice"],
            only_first=options["first"],
            cost_cap=options["cost_cap"],
            on_progress=self.progress,
        )
        refuse_failed(cast(Job, evaluation.job))  # `judge_here` has given it one
        self._tell(evaluation)

    def _tell(self, evaluation: ContextualEvaluation) -> None:
        results = results_of(evaluation)
        for row in (results.overall, *results.slices):
            self.say(_line(row))
        self.say(f"failed\t{evaluation.n_failed}\tleft\t{evaluation.n_left}")
        if evaluation.has_prices:
            self.say(f"cost\t{evaluation.cost:.6f}")
        for outcome in evaluation.outcomes.failed().select_related("case").order_by("pk")[:20]:
            self.note(f"{outcome.case.case_id}: {outcome.error}")
        if evaluation.error:
            raise CommandError(evaluation.error)


def _line(row: Row) -> str:
    name = row.name or "all"
    if row.mean is None:
        return f"{name}\t-\t0"
    ends = "" if row.low is None else f"\t{row.low:.4f}\t{row.high:.4f}"
    return f"{name}\t{row.mean:.4f}\t{row.n}{ends}"

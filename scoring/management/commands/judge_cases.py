"""`manage.py judge_cases SLUG SET --endpoint NAME`: have a judge look at the cases of a set."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    progress_printer,
)
from benchmarks_app.management.parameters import add_parameters
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, may
from benchwright.errors import BenchmarkError
from benchwright.recipes import contextual
from scoring.contextual.selectors import case_sets_of, judges_of
from scoring.contextual.services.evaluating import judge_here
from scoring.contextual.services.results import Row, results_of
from scoring.management.reporting import refuse_failed
from scoring.models import CaseSet, ContextualEvaluation, JudgeEndpoint


class Command(BaseCommand):
    help = "Have the cases of a set judged here and now, and print what it comes to."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("set", help="name of a case set")
        parser.add_argument("--endpoint", required=True, help="name of a judge")
        add_parameters(parser, *contextual.EVALUATION)
        parser.add_argument("--strict", action="store_true", help="only 1 is good")
        parser.add_argument("--no-reasons", action="store_true", help="ask for verdicts alone")
        parser.add_argument("--slice", default="", help="cases of this slice alone")

    def handle(self, *args: Any, slug: str, user: str | None, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        if not may(actor, Action.EDIT, benchmark):
            reason = f"'{actor.username}' may not start a judge of {slug}."
            raise CommandError(reason)
        try:
            evaluation = judge_here(
                case_set=_set_named(benchmark, options["set"]),
                judge=_judge_named(benchmark, options["endpoint"]),
                user=actor,
                threshold=options["threshold"],
                is_strict=options["strict"],
                has_reasons=not options["no_reasons"],
                only_slice=options["slice"],
                only_first=options["first"],
                cost_cap=options["cost_cap"],
                on_progress=progress_printer(self),
            )
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        refuse_failed(evaluation.job)
        self._tell(evaluation)

    def _tell(self, evaluation: ContextualEvaluation) -> None:
        results = results_of(evaluation)
        for row in (results.overall, *results.slices):
            self.stdout.write(_line(row))
        self.stdout.write(f"failed\t{evaluation.n_failed}\tleft\t{evaluation.n_left}")
        if evaluation.has_prices:
            self.stdout.write(f"cost\t{evaluation.cost:.6f}")
        for outcome in evaluation.outcomes.failed().select_related("case").order_by("pk")[:20]:
            self.stderr.write(f"{outcome.case.case_id}: {outcome.error}")
        if evaluation.error:
            raise CommandError(evaluation.error)


def _line(row: Row) -> str:
    name = row.name or "all"
    if row.mean is None:
        return f"{name}\t-\t0"
    ends = "" if row.low is None else f"\t{row.low:.4f}\t{row.high:.4f}"
    return f"{name}\t{row.mean:.4f}\t{row.n}{ends}"


def _set_named(benchmark: Benchmark, name: str) -> CaseSet:
    found = case_sets_of(benchmark).filter(name=name).first()
    if found is None:
        known = ", ".join(case_sets_of(benchmark).values_list("name", flat=True)) or "none yet"
        reason = f"{benchmark.slug} has no case set '{name}'; it has {known}."
        raise CommandError(reason)
    return found


def _judge_named(benchmark: Benchmark, name: str) -> JudgeEndpoint:
    found = judges_of(benchmark).filter(name=name).first()
    if found is None:
        known = ", ".join(judges_of(benchmark).values_list("name", flat=True)) or "none yet"
        reason = f"{benchmark.slug} has no judge '{name}'; it has {known}."
        raise CommandError(reason)
    return found

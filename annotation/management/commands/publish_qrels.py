from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.rules import DEFAULT_RULE, RULES
from annotation.services.publishing import publishing_arguments
from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    finished,
)
from benchmarks_app.services import jobs


class Command(BaseCommand):
    help = "Make a set of qrels from everything judged so far in a benchmark."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("--name", required=True, help="name of the set")
        rules = [rule.name for rule in RULES]
        parser.add_argument("--rule", choices=rules, default=DEFAULT_RULE.name)

    def handle(
        self, *args: Any, slug: str, user: str | None, name: str, rule: str, **options: Any
    ) -> None:
        benchmark = benchmark_of(slug)
        try:
            arguments = publishing_arguments(benchmark=benchmark, name=name, rule=rule)
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        actor = actor_of(benchmark, user)
        job = jobs.run_here(benchmark=benchmark, user=actor, **arguments)
        finished(self, job)
        result = job.result
        self.stdout.write(f"{result['n_qrels']} grades as of event {result['as_of_event']}")
        self.stdout.write(f"digest {result['digest']}")

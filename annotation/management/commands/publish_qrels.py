from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.common.forms import as_time
from annotation.common.selectors.policies import policy_of
from annotation.labels.services.publishing import publishing_arguments
from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    finished,
)
from benchmarks_app.models import Benchmark
from benchwright.errors import BenchmarkError
from benchwright.qrels.rules import RULES, Settings, Unresolved


class Command(BaseCommand):
    help = "Make a set of qrels from what was judged in a benchmark, now or as of an earlier event."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("--name", default="", help="name of the set")
        rules = [rule.name for rule in RULES]
        parser.add_argument("--rule", choices=rules, help="by default the benchmark's own choice")
        parser.add_argument(
            "--unresolved", choices=list(Unresolved), help="what becomes of labels that stay open"
        )
        parser.add_argument(
            "--adjudicate-from", type=int, help="distance from which two grades stay open"
        )
        parser.add_argument("--smoothing", type=float, help="Dirichlet parameter of Dawid-Skene")
        parser.add_argument(
            "--as-of", help="number of the last event that counts, or a time (2026-11-21 14:30)"
        )
        parser.add_argument("--annotator", help="username: only what this person said")

    def handle(self, *args: Any, slug: str, user: str | None, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        if not options["name"] and not options["annotator"]:
            raise CommandError("Give the set a --name.")
        try:
            arguments = publishing_arguments(
                benchmark=benchmark,
                name=options["name"],
                rule=options["rule"] or "",
                settings=_settings(benchmark, options),
                as_of=_as_of(options["as_of"]),
                annotator=actor_of(benchmark, options["annotator"])
                if options["annotator"]
                else None,
            )
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        actor = actor_of(benchmark, user)
        job = jobs.run_here(benchmark=benchmark, user=actor, **arguments)
        finished(self, job)
        result = job.result
        self.stdout.write(f"{result['n_qrels']} grades as of event {result['as_of_event']}")
        if result["n_unresolved"]:
            self.stdout.write(f"{result['n_unresolved']} documents have labels that stay open")
        self.stdout.write(f"digest {result['digest']}")


def _settings(benchmark: Benchmark, options: dict[str, Any]) -> Settings:
    """The benchmark's settings, but for what the command says."""
    usual = policy_of(benchmark).settings.as_json()
    told = {name: options[name] for name in usual if options[name] is not None}
    return Settings(**{**usual, **told})


def _as_of(said: str | None) -> Any:
    if said is None:
        return None
    if said.isdecimal():
        return int(said)
    found = as_time(said)
    if found is None:
        raise CommandError(f"--as-of is '{said}'; expected an event's number or a time.")
    return found

from typing import Any

from django.core.management.base import CommandError

from annotation.common.forms import as_time
from annotation.common.selectors.policies import policy_of
from annotation.labels.services.publishing import publishing_arguments
from benchmarks_app.management.declared import BenchmarkCommand
from benchmarks_app.management.naming import person_named
from benchmarks_app.models import Benchmark
from benchwright.qrels.rules import RULES, Settings, Unresolved
from benchwright.recipes.arguments import option, unless_told
from benchwright.texts.counting import counted


class Command(BenchmarkCommand):
    help = "Make a set of qrels from what was judged in a benchmark, now or as of an earlier event."
    takes = (
        option("--name", help="name of the set"),
        unless_told(
            "--rule",
            choices=[rule.name for rule in RULES],
            help="by default the benchmark's own choice",
        ),
        unless_told(
            "--unresolved", choices=list(Unresolved), help="what becomes of labels that stay open"
        ),
        unless_told("--adjudicate-from", kind=int, help="distance from which two grades stay open"),
        unless_told("--smoothing", kind=float, help="Dirichlet parameter of Dawid-Skene"),
        unless_told(
            "--as-of", help="number of the last event that counts, or a time (2026-11-21 14:30)"
        ),
        unless_told("--annotator", help="username: only what this person said"),
    )

    def run(self, *, name: str, annotator: str | None, **options: Any) -> None:
        if not name and not annotator:
            raise CommandError("Give the set a --name.")
        arguments = publishing_arguments(
            benchmark=self.benchmark,
            name=name,
            rule=options["rule"] or "",
            settings=_settings(self.benchmark, options),
            as_of=_as_of(options["as_of"]),
            annotator=person_named(annotator) if annotator else None,
        )
        result = self.finished(arguments).result
        n_grades = counted(result["n_qrels"], "grade")
        self.say(f"{n_grades} as of event {result['as_of_event']}")
        if result["n_unresolved"]:
            self.say(f"left open: {counted(result['n_unresolved'], 'document')}")
        if result["n_for_estimates"]:
            drawn = f"{result['n_for_estimates']} of them were drawn to estimate runs"
            self.warn(f"{drawn}: their queries are not judged whole")
        self.say(f"digest {result['digest']}")


def _settings(benchmark: Benchmark, options: dict[str, Any]) -> Settings:
    """The benchmark's settings, but for what the command says."""
    usual = policy_of(benchmark).settings.as_json()
    values = {name: options[name] for name in usual if options[name] is not None}
    return Settings(**{**usual, **values})


def _as_of(text: str | None) -> Any:
    if text is None:
        return None
    if text.isdecimal():
        return int(text)
    moment = as_time(text)
    if moment is None:
        raise CommandError(f"--as-of is '{text}'; expected an event's number or a time.")
    return moment

"""`manage.py make_baselines SLUG`: systems of this site as runs of a benchmark."""

from typing import Any

from benchmarks_app.management.declared import BenchmarkCommand, refuse_failed
from benchwright.recipes import systems
from benchwright.recipes.arguments import OneOf, option, switch
from benchwright.retrieval.catalog import CATALOG, LEXICAL
from scoring.systems.selectors import is_made
from scoring.systems.services.baseline_runs import Asked
from scoring.systems.services.baselines import baseline_arguments, wanted_baselines
from scoring.systems.services.shards import help_through


class Command(BenchmarkCommand):
    help = "Make the baselines that a benchmark lacks, as runs: the four lexical ones by default."
    takes = (
        OneOf(
            (
                option(
                    "--system",
                    is_repeated=True,
                    default=[],
                    help=f"{', '.join(CATALOG)}; may be repeated",
                ),
                switch("--all", help="every system that can run here"),
            )
        ),
        option("--language", help="code or name; that of the corpus"),
        *systems.RETRIEVAL,
    )

    def run(self, *, language: str, depth: int, shards: int | None, **options: Any) -> None:
        baselines = wanted_baselines(self.benchmark, _systems(options), language, depth, shards)
        are_new = [self._make(baseline) for baseline in baselines]
        if not any(are_new):
            self.say("All baselines are there already.")

    def _make(self, baseline: Asked) -> bool:
        if is_made(self.benchmark, baseline.parameters()):
            return False
        job = self.job(baseline_arguments(baseline))
        help_through(job, self.progress)
        refuse_failed(job)
        self.say_made(job)
        return True


def _systems(options: dict[str, Any]) -> list[str]:
    if options["all"]:
        return [entry.name for entry in CATALOG.values() if entry.is_available]
    return options["system"] or list(LEXICAL)

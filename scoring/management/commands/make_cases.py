"""`manage.py make_cases SLUG RUN --depth 10`: make a case set of a run."""

from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.declared import BenchmarkCommand, refuse_failed
from benchmarks_app.management.naming import named
from benchmarks_app.models import Run
from benchmarks_app.permissions import Action, may
from benchwright.recipes import contextual
from benchwright.recipes.arguments import option, word
from scoring.contextual.services.from_runs import cases_arguments


class Command(BenchmarkCommand):
    help = "Make a case set for contextual precision of a run: its first documents as the nodes."
    takes = (
        word("run", "name of a run"),
        *contextual.CASES_OF_RUN,
        option("--slice", help="queries of this slice alone"),
        option("--expected", help="where queries say what should come out: answer, narrative, …"),
        option("--name", help="of the set; after the run where left out"),
    )

    def run(self, *, name: str, slice: str, expected: str, **options: Any) -> None:
        slug, run_name = self.benchmark.slug, options["run"]
        if not may(self.actor, Action.EDIT, self.benchmark):
            raise CommandError(f"'{self.actor.username}' may not make a case set of {slug}.")
        runs = Run.objects.visible_to(self.actor).filter(benchmark=self.benchmark)
        recipe = {parameter.name: options[parameter.name] for parameter in contextual.CASES_OF_RUN}
        job = self.job(
            cases_arguments(
                run=named(runs, run_name, f"{slug} has no run '{run_name}'; it has"),
                name=name,
                slice_name=slice,
                expected=expected,
                **recipe,
            )
        )
        refuse_failed(job)
        for note in job.result["notes"]:
            self.note(note)
        self.say_made(job)

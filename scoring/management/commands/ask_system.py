"""`manage.py ask_system SLUG NAME`: every query asked of a live system, as a run."""

from typing import Any

from benchmarks_app.management.declared import BenchmarkCommand, refuse_failed
from benchmarks_app.management.naming import named
from benchwright.recipes import systems
from benchwright.recipes.arguments import OneOf, option, word
from scoring.live.selectors import SPLITS, live_systems_of
from scoring.live.services.asking import ask_arguments, free_run_name
from scoring.management.reporting import release_of


class Command(BenchmarkCommand):
    help = "Ask a live system every query of a benchmark and make a run of its answers."
    takes = (
        word("name", "of the live system"),
        option("--run", dest="run_name", help="name of the run; the system's with the day"),
        OneOf(
            (
                option("--split", choices=SPLITS, help="queries of one split"),
                option("--release", help="queries of a published release"),
            )
        ),
        systems.MAY_FAIL,
    )

    def run(self, *, name: str, run_name: str, release: str, **options: Any) -> None:
        slug = self.benchmark.slug
        if release:
            release_of(self.benchmark, release)
        refusal = f"'{slug}' has no live system '{name}'. There are:"
        system = named(live_systems_of(self.benchmark), name, refusal, most=10)
        arguments = ask_arguments(
            system=system,
            run=run_name or free_run_name(system),
            split=options["split"],
            release=release,
            may_fail=options["may_fail"],
        )
        job = self.job(arguments)
        refuse_failed(job)
        for note in job.result.get("notes", []):
            self.note(f"note: {note}")
        self.say_made(job)

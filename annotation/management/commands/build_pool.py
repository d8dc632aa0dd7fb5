from typing import Any

from django.core.management.base import CommandError

from annotation.pools.services.planning import Sharing
from annotation.pools.services.pooling import pool_arguments
from benchmarks_app.common.selectors.naming import names_in
from benchmarks_app.management.declared import BenchmarkCommand
from benchmarks_app.management.naming import named
from benchmarks_app.models import Benchmark, CandidateList, Run
from benchwright.pools import Recipe
from benchwright.recipes import pools as recipes
from benchwright.recipes.arguments import option, switch, unless_told
from benchwright.texts.counting import counted


class Command(BenchmarkCommand):
    help = "Build a pool from the top documents of several runs, and open it for judging."
    takes = (
        option("--runs", help="names, with commas between; 'all'"),
        *(*recipes.POOLING, *recipes.SHARING, recipes.SECONDS, recipes.DUE, recipes.SEED),
        option("--control-run", help="the run they are drawn from"),
        switch("--carry", help="reuse what was judged before"),
        switch("--drawn", help="of the queries alone that were drawn last for people"),
        unless_told("--candidates", help="name of the list that a top-up is made of"),
        option("--name", help="by default 'depth 10', after the depth"),
    )

    def run(self, **options: Any) -> None:
        arguments = pool_arguments(
            benchmark=self.benchmark,
            name=options["name"] or _usual_name(options),
            runs=_runs_of(self.benchmark, options["runs"]) if options["runs"] else [],
            recipe=_recipe(options),
            sharing=Sharing(
                **{parameter.name: options[parameter.name] for parameter in recipes.SHARING}
            ),
            candidates=_list_named(self.benchmark, options["candidates"]),
            seed=options["seed"],
            seconds=options["seconds"],
            due_on=options["due_on"],
            is_drawn=options["drawn"],
        )
        job = self.finished(arguments)
        self.say(
            f"{counted(job.result['n_entries'], 'document')} to judge, "
            f"seed {job.parameters['seed']}"
        )
        self.say(f"digest {job.result['digest']}")


def _usual_name(options: dict[str, Any]) -> str:
    strategy, depth = options["strategy"], options["depth"]
    if strategy == "estimate":
        return f"{options['measure'].upper()}@{depth} estimated"
    return f"depth {depth}" if strategy == "depth-k" else strategy


def _recipe(options: dict[str, Any]) -> Recipe:
    usual = "listed" if options["strategy"] == "top-up" else "layered"
    chosen = {parameter.name: options[parameter.name] for parameter in recipes.POOLING}
    return Recipe(
        **{**chosen, "order": chosen["order"] or usual},
        control_run=options["control_run"],
        carry=options["carry"],
    )


def _list_named(benchmark: Benchmark, name: str | None) -> CandidateList | None:
    if name is None:
        return None
    refusal = f"No list '{name}' in {benchmark.slug}. There are:"
    candidates: CandidateList = named(benchmark.candidate_lists, name, refusal)
    return candidates


def _runs_of(benchmark: Benchmark, names: str) -> list[Run]:
    runs = Run.objects.filter(benchmark=benchmark)
    if names == "all":
        return list(runs)
    wanted_names = names_in(names, runs)
    by_name = {run.name: run for run in runs.filter(name__in=wanted_names)}
    missing = sorted(set(wanted_names) - by_name.keys())
    if missing:
        known_names = ", ".join(runs.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"No run '{missing[0]}' in {benchmark.slug}. There are: {known_names}.")
    return list(by_name.values())

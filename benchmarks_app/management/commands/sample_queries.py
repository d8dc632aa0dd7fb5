from typing import Any

from benchmarks_app.logs.services import sampling
from benchmarks_app.management.declared import BenchmarkCommand
from benchmarks_app.management.naming import named
from benchwright.logs.sampling import Design, parse_given
from benchwright.recipes import sampling as recipe
from benchwright.recipes.arguments import option, switch, word


class Command(BenchmarkCommand):
    help = "Draw families of a query log; they become queries with probability and weight."
    takes = (
        word("log", "name of the log in the benchmark"),
        *recipe.SAMPLING,
        option("--given", help="such as head=50,torso=100,tail=50"),
        switch("--dry-run", old=("--preview",), help="show it, and draw nothing"),
    )

    def run(self, *, log: str, **options: Any) -> None:
        refusal = f"No log '{log}' in {self.benchmark.slug}. There are:"
        query_log = named(self.benchmark.query_logs, log, refusal, most=10)
        chosen = {parameter.name: options[parameter.name] for parameter in recipe.DESIGN}
        design = Design(given=parse_given(options["given"]), **chosen)
        for stratum in sampling.plan_of(query_log, design).strata:
            self.say(
                f"{stratum.name}: {stratum.n_drawn:,} of {stratum.n_families:,} families, "
                f"probability {stratum.inclusion_probability:.4f}"
            )
        if not options["dry_run"]:
            arguments = sampling.sample_arguments(
                log=query_log, design=design, seed=options["seed"]
            )
            self.finished(arguments)

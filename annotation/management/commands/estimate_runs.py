"""`manage.py estimate_runs SLUG POOL`: what the labels of an estimation pool say of its runs."""

from typing import Any

from django.core.management.base import CommandError

from annotation.common.selectors.pools import pools_of
from annotation.estimates.services import Estimated, Estimates, estimates_of
from benchmarks_app.common.services import audit
from benchmarks_app.management.declared import FORM, BenchmarkCommand, is_json
from benchmarks_app.management.naming import named
from benchmarks_app.permissions import Action, may
from benchwright.recipes.arguments import option, word


class Command(BenchmarkCommand):
    help = "P@k or DCG@k of a pool's runs from its drawn documents, with intervals and differences."
    takes = (
        word("pool", "name of a pool of the strategy estimate"),
        option("--against", help="a run that differences are to; by default the best one"),
        *FORM,
    )

    def run(self, *, pool: str, against: str | None, **options: Any) -> None:
        slug, benchmark = self.benchmark.slug, self.benchmark
        if not may(self.actor, Action.EDIT, benchmark):
            raise CommandError(f"'{self.actor.username}' may not see estimates of {slug}.")
        chosen_pool = named(pools_of(benchmark), pool, f"{slug} has no pool '{pool}'; it has")
        estimates = estimates_of(chosen_pool, self.actor, against=against or "")
        target = f"estimates of {chosen_pool}"
        audit.record(actor=self.actor, action="read-judgments", benchmark=benchmark, target=target)
        if estimates.error:
            raise CommandError(estimates.refusal)
        if is_json(options):
            self.say_json(_as_json(estimates))
            return
        self.say(estimates.sentence)
        self.say("run\tmean\tlow\thigh\tlabels\tdifference\tlow\thigh")
        for row in estimates.rows:
            difference = _cells(row.difference) if row.difference else ["-", "-", "-"]
            self.say("\t".join([row.run, *_cells(row.mean), str(row.mean.n_labels), *difference]))
        for warning in estimates.warnings:
            self.note(warning)


def _cells(of: Estimated) -> list[str]:
    return [f"{value:.4f}" for value in (of.value, of.low, of.high)]


def _as_json(estimates: Estimates) -> dict[str, Any]:
    from annotation.estimates.api import PoolEstimatesSerializer

    facts: dict[str, Any] = dict(PoolEstimatesSerializer(estimates).data)
    return facts

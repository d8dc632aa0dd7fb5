"""`manage.py spare_work SLUG POOL`: whether people are spared what a machine gave 0."""

from typing import Any

from django.core.management.base import CommandError

from annotation.common.selectors.pools import pools_of
from annotation.models import Pool
from annotation.sparing.selectors import rules_of, sparing_of
from annotation.sparing.services import ask_to_spare, follow, stop_sparing
from benchmarks_app.common.services import audit
from benchmarks_app.management.declared import FORM, BenchmarkCommand, is_json
from benchmarks_app.management.naming import named
from benchmarks_app.permissions import Action, may
from benchwright.recipes import campaigns
from benchwright.recipes.arguments import option, switch, word


class Command(BenchmarkCommand):
    help = "Spare people what a machine gave 0, after an audit; say where a rule stands."
    takes = (
        word("pool", "name of a pool"),
        option("--campaign", help="draw an audit of what this campaign gave 0"),
        *campaigns.SPARING,
        switch("--stop", help="ask people about every document again"),
        *FORM,
    )

    def run(self, *, pool: str, campaign: str | None, **options: Any) -> None:
        slug, benchmark = self.benchmark.slug, self.benchmark
        if not may(self.actor, Action.EDIT, benchmark):
            raise CommandError(f"'{self.actor.username}' may not spare people work in {slug}.")
        chosen_pool = named(pools_of(benchmark), pool, f"{slug} has no pool '{pool}'; it has")
        if options["stop"]:
            stop_sparing(pool=chosen_pool, user=self.actor)
        if campaign:
            self._ask(chosen_pool, campaign, options)
        self._tell(chosen_pool, options)

    def _ask(self, pool: Pool, campaign: str, options: dict[str, Any]) -> None:
        chosen_campaign = named(
            pool.campaigns.all(), campaign, f"{pool} has no '{campaign}'; it has"
        )
        numbers = {parameter.name: options[parameter.name] for parameter in campaigns.SPARING}
        ask_to_spare(campaign=chosen_campaign, user=self.actor, **numbers)

    def _tell(self, pool: Pool, options: dict[str, Any]) -> None:
        from annotation.sparing.api import told_of

        rule = rules_of(pool).first()
        if rule and rule.is_live:
            follow(rule=rule)
            rule.refresh_from_db()
        target = f"sparing in {pool}"
        audit.record(
            actor=self.actor, action="read-judgments", benchmark=self.benchmark, target=target
        )
        facts = told_of(sparing_of(rule) if rule else None)
        if is_json(options):
            self.say_json(facts)
            return
        self.say(facts["sentence"])
        if rule:
            from benchwright.estimation.auditing import bound_in_words

            self.say(f"audited\t{facts['n_audited']}\trelevant\t{facts['n_relevant']}")
            self.say(f"checked\t{facts['n_checked']}\trelevant\t{facts['n_checked_relevant']}")
            self.say(f"bound\t{bound_in_words(facts['bound'])}\tlimit\t{rule.most_missed:g}")
            self.say(f"spared\t{facts['n_spared']}")

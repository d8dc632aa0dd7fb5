"""`manage.py judge_pool SLUG POOL --judge NAME`: have a judge grade documents of a pool."""

from pathlib import Path
from typing import Any, cast

from django.core.management.base import CommandError

from annotation.campaigns.selectors import campaigns_of, failed_pairs
from annotation.campaigns.services.drafting import draft_campaign, estimate_of
from annotation.campaigns.services.running import judge_here
from annotation.common.selectors.pools import pools_of
from annotation.models import Campaign
from benchmarks_app.judges.selectors import judges_of
from benchmarks_app.management.declared import BenchmarkCommand, refuse_failed
from benchmarks_app.management.naming import named
from benchmarks_app.models import Job
from benchmarks_app.permissions import Action, may
from benchwright.recipes import campaigns
from benchwright.recipes.arguments import option, switch, unless_told, word

FAILED_TOLD = 20


class Command(BenchmarkCommand):
    help = "Have a machine grade documents of a pool here and now; its labels lie beside people's."
    takes = (
        word("pool", "name of a pool"),
        unless_told("--judge", help="name of a judge; not where --go-on names a campaign"),
        option("--name", help="what the campaign is called"),
        *campaigns.CAMPAIGN,
        option(
            "--run",
            is_repeated=True,
            default=[],
            help="a run whose unjudged documents are asked about. May be repeated",
        ),
        option("--template", help="a file with a prompt of one's own, with its slots"),
        option("--reason", help="why the judge may grade for runs of its own family"),
        switch("--dry-run", help="say what it would take, and ask nobody"),
        unless_told("--go-on", help="name of a campaign that is to be gone on with"),
        switch("--failed", help="with --go-on: ask again about those that failed"),
    )

    def run(self, *, pool: str, **options: Any) -> None:
        slug = self.benchmark.slug
        if not may(self.actor, Action.EDIT, self.benchmark):
            raise CommandError(f"'{self.actor.username}' may not start a judge of {slug}.")
        if bool(options["judge"]) == bool(options["go_on"]):
            raise CommandError("Give --judge for a new campaign, or --go-on for one that is there.")
        campaign = self._campaign(pool, options)
        if options["dry_run"]:
            self._estimate(campaign)
            if options["judge"]:
                campaign.delete()
            return
        cap = options["cost_cap"] if options["go_on"] else None
        campaign = judge_here(
            campaign=campaign,
            user=self.actor,
            cost_cap=cap,
            with_failed=options["failed"],
            on_progress=self.progress,
        )
        refuse_failed(cast(Job, campaign.job))  # `judge_here` has given it one
        self._tell(campaign)

    def _campaign(self, pool: str, options: dict[str, Any]) -> Campaign:
        slug, judge = self.benchmark.slug, options["judge"]
        pools, judges = pools_of(self.benchmark), judges_of(self.benchmark)
        chosen_pool = named(pools, pool, f"{slug} has no pool '{pool}'; it has")
        if name := options["go_on"]:
            rows = campaigns_of(self.benchmark).filter(pool=chosen_pool)
            return named(rows, name, f"{pool} has no campaign '{name}'; it has")
        return draft_campaign(
            pool=chosen_pool,
            judge=named(judges, judge, f"{slug} has no judge '{judge}'; it has"),
            user=self.actor,
            name=options["name"] or "",
            runs=options["run"],
            template=_read(options["template"]),
            conflict_reason=options["reason"] or "",
            **{parameter.name: options[parameter.name] for parameter in campaigns.CAMPAIGN},
        )

    def _estimate(self, campaign: Campaign) -> None:
        estimate = estimate_of(campaign)
        self.say(f"documents\t{estimate.n_pairs}\tqueries\t{estimate.n_queries}")
        self.say(f"tokens in\t{estimate.tokens_in}\ttokens out\t{estimate.tokens_out}")
        self.say(f"cost\t{estimate.cost:.6f}" if estimate.cost is not None else "cost\t-")

    def _tell(self, campaign: Campaign) -> None:
        self.say(f"campaign\t{campaign.name}\t{campaign.get_state_display()}")
        n_left = campaign.n_pairs - campaign.n_graded - campaign.n_failed
        self.say(f"graded\t{campaign.n_graded}\tfailed\t{campaign.n_failed}\tleft\t{n_left}")
        if campaign.has_prices:
            self.say(f"cost\t{campaign.cost:.6f}")
        for row in failed_pairs(campaign)[:FAILED_TOLD]:
            self.note(f"{row.query.qid} {row.docid}: {row.error}")
        if campaign.error:
            raise CommandError(campaign.error)


def _read(path: str | None) -> str:
    if not path:
        return ""
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: {error}") from error

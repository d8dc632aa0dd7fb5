"""Campaigns before they start: which documents, which prompt, what it will take."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max

from annotation.campaigns.selectors import (
    Conflict,
    asked_pairs,
    conflicts_of,
    contents_by_docid,
    entries_of,
    grading_prompt,
    prompt_for,
    scale_of,
    slices_of_queries,
)
from annotation.campaigns.services.errors import (
    CampaignActiveError,
    CampaignBegunError,
    CampaignNameError,
    CampaignPricesError,
    ConflictError,
    NoPairsError,
    RunsNeededError,
)
from annotation.common.selectors.screen import current_guideline
from annotation.models import Campaign, CampaignPair, JudgePrompt, Pool, PoolEntry
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, JudgeEndpoint, User
from benchwright.grading.estimating import TOKENS_ANSWERED, tokens_of
from benchwright.grading.prompts import UMBRELA
from benchwright.pools.drawing import drawn

CHOICES = Campaign.Choice
WORDS = {
    CHOICES.ALL: "to ask about",
    CHOICES.SAMPLE: "to draw from",
    CHOICES.UNJUDGED: "of these runs that nobody has judged",
}
MAX_SEED = 2**31 - 1
# As many pairs are looked at to reckon what all of them take.
ESTIMATED_FROM = 300
TOKENS_IN_MILLION = 1_000_000


@dataclass(frozen=True)
class Wanted:
    """What is to be asked; `seed` None draws a new one, `template` "" is the built-in prompt."""

    name: str = ""
    choice: str = CHOICES.SAMPLE
    n_sample: int | None = 400
    seed: int | None = None
    runs: Sequence[str] = ()
    template: str = ""
    max_characters: int | None = None
    concurrency: int = 8
    cost_cap: float | None = None
    conflict_reason: str = ""


def draft_campaign(*, pool: Pool, judge: JudgeEndpoint, user: User, **choices: Any) -> Campaign:
    """A campaign with a row for every document it asks about; nobody is asked yet.

    `choices` are what `Wanted` holds.

    Raises
    ------
    ConflictError
        If the judge is of the family of a run in the pool, and nothing says that it may.
    CampaignPricesError
        If a limit is wanted and the judge has no prices.
    NoPairsError, RunsNeededError
        If the choice leaves nothing.
    CampaignNameError, TemplateError, GradingScaleError
    """
    options = Wanted(**choices)
    refuse_conflict(conflicts_of(judge, pool), judge, options.conflict_reason)
    if options.cost_cap is not None and not judge.has_prices:
        raise CampaignPricesError(judge=judge.name)
    seed = options.seed if options.seed is not None else Random(uuid4().int).randint(0, MAX_SEED)
    chosen = chosen_entries(pool, options, seed)
    with transaction.atomic():
        campaign = _campaign(pool, judge, user, options, seed)
        CampaignPair.objects.bulk_create(
            (
                CampaignPair(
                    campaign=campaign,
                    query=entry.query,
                    docid=entry.document.docid,
                    number=number,
                    probability=probability,
                )
                for number, (entry, probability) in enumerate(chosen, start=1)
            ),
            batch_size=1000,
        )
        Campaign.objects.filter(pk=campaign.pk).update(n_pairs=len(chosen))
        campaign.n_pairs = len(chosen)
        audit.record(
            actor=user,
            action="draft-campaign",
            benchmark=pool.benchmark,
            target=campaign.name,
            judge=judge.name,
            model=judge.model,
            conflict_reason=campaign.conflict_reason,
        )
    return campaign


def _campaign(pool: Pool, judge: JudgeEndpoint, user: User, options: Wanted, seed: int) -> Campaign:
    benchmark = pool.benchmark
    name = options.name or free_name(benchmark, f"{judge.name} on {pool.name}")
    if benchmark.campaigns.filter(name=name).exists():
        raise CampaignNameError(name=name)
    is_sample = options.choice == CHOICES.SAMPLE
    try:
        with transaction.atomic():
            return Campaign.objects.create(
                benchmark=benchmark,
                pool=pool,
                name=name,
                judge=judge,
                judge_name=judge.name,
                model=judge.model,
                prompt=prompt_version(
                    benchmark=benchmark,
                    user=user,
                    template=options.template or UMBRELA,
                    max_characters=options.max_characters,
                ),
                choice=options.choice,
                n_sample=options.n_sample if is_sample else None,
                seed=seed if is_sample else None,
                runs=sorted(options.runs) if options.choice == CHOICES.UNJUDGED else [],
                concurrency=options.concurrency,
                price_in=judge.price_in,
                price_out=judge.price_out,
                cost_cap=options.cost_cap,
                conflict_reason=options.conflict_reason,
                created_by=user,
            )
    except IntegrityError as error:  # somebody else was quicker
        raise CampaignNameError(name=name) from error


def free_name(benchmark: Benchmark, name: str) -> str:
    """The name, or the first "name 2", "name 3", … that no campaign has."""
    taken_names = set(benchmark.campaigns.values_list("name", flat=True))
    name = name[:110]
    candidates = (name, *(f"{name} {number}" for number in range(2, len(taken_names) + 3)))
    return next(candidate for candidate in candidates if candidate not in taken_names)


def refuse_conflict(conflicts: Sequence[Conflict], judge: JudgeEndpoint, reason: str) -> None:
    """Raise `ConflictError` where the site's rule does not let the judge grade for these runs."""
    rule = settings.JUDGE_CONFLICTS
    if not conflicts or rule == "tell" or (rule == "explain" and reason.strip()):
        return
    otherwise = ", or write why this one may" if rule == "explain" else ""
    runs = ", ".join(map(str, conflicts))
    raise ConflictError(judge=judge.name, runs=runs, otherwise=otherwise)


def chosen_entries(pool: Pool, options: Wanted, seed: int) -> list[tuple[PoolEntry, float | None]]:
    """The documents that are asked about, each with the probability by which it was drawn."""
    if options.choice == CHOICES.UNJUDGED:
        run_names = set(pool.runs.values_list("name", flat=True))
        if not options.runs or set(options.runs) - run_names:
            names = ", ".join(sorted(run_names))
            raise RunsNeededError(unknown=f"the pool's are {names}" if names else "it has none")
    elif options.runs:
        raise RunsNeededError(unknown=f"this one is {CHOICES(options.choice).label}")
    entries = list(entries_of(pool, options.choice, runs=options.runs))
    if not entries:
        raise NoPairsError(pool=pool.name, choice=WORDS[CHOICES(options.choice)])
    if options.choice != CHOICES.SAMPLE:
        return [(entry, None) for entry in entries]
    slices = slices_of_queries(pool.benchmark)
    groups = [slices.get(entry.query_id, ()) for entry in entries]
    picked = drawn(groups, options.n_sample or len(entries), seed=seed)
    return [(entries[place], probability) for place, probability in picked.items()]


@transaction.atomic
def prompt_version(
    *, benchmark: Benchmark, user: User, template: str, max_characters: int | None = None
) -> JudgePrompt:
    """The version of exactly these words, made where they were never asked before.

    Raises
    ------
    TemplateError, GradingScaleError
    """
    judge_prompt = prompt_for(benchmark, template=template, max_characters=max_characters)
    earlier = benchmark.judge_prompts.filter(digest=judge_prompt.hash).first()
    if earlier is not None:
        earlier.examples.add(*benchmark.grade_examples.standing())
        return earlier
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)  # one number at a time
    newest = benchmark.judge_prompts.aggregate(last=Max("version"))["last"] or 0
    prompt, _ = JudgePrompt.objects.get_or_create(
        benchmark=benchmark,
        digest=judge_prompt.hash,
        defaults={
            "version": newest + 1,
            "template": template,
            "guideline": current_guideline(benchmark),
            "guideline_text": judge_prompt.guideline,
            "scale": scale_of(benchmark),
            "max_characters": max_characters,
            "text": judge_prompt.text,
            "created_by": user,
        },
    )
    prompt.examples.add(*benchmark.grade_examples.standing())
    return prompt


@transaction.atomic
def delete_campaign(*, campaign: Campaign, user: User) -> None:
    """Delete a campaign that has put nothing into the ledger.

    Raises
    ------
    CampaignActiveError, CampaignBegunError
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if campaign.is_under_way:
        raise CampaignActiveError(campaign=campaign.name)
    if campaign.labels.exists():
        raise CampaignBegunError(campaign=campaign.name)
    of, name = campaign.benchmark, campaign.name
    audit.record(actor=user, action="delete-campaign", benchmark=of, target=name)
    campaign.delete()


# --- what it will take -----------------------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """Documents, queries, and about how many tokens; `cost` is None without prices."""

    n_pairs: int
    n_queries: int
    tokens_in: int
    tokens_out: int
    cost: float | None


def estimate_of(campaign: Campaign) -> Estimate:
    """What the pairs that wait will take, reckoned from the texts of some of them."""
    waiting = campaign.pairs.waiting()
    n = waiting.count()
    rows = list(waiting.select_related("query").order_by("number"))
    some = rows if n <= ESTIMATED_FROM else Random(campaign.pk).sample(rows, ESTIMATED_FROM)
    documents = [(row.query, row.docid) for row in some]
    tokens_in = _tokens(campaign.benchmark, grading_prompt(campaign.prompt), documents)
    tokens_in = tokens_in * n // len(documents) if documents else 0
    return _estimate(
        n, len({row.query_id for row in rows}), tokens_in, campaign.price_in, campaign.price_out
    )


def estimate_wanted(pool: Pool, judge: JudgeEndpoint, options: Wanted) -> Estimate:
    """What a campaign would take that is not drafted yet.

    Raises
    ------
    NoPairsError, RunsNeededError, TemplateError, GradingScaleError
    """
    entries = [entry for entry, _ in chosen_entries(pool, options, options.seed or 0)]
    prompt = prompt_for(
        pool.benchmark,
        template=options.template or UMBRELA,
        max_characters=options.max_characters,
    )
    n = len(entries)
    some = entries if n <= ESTIMATED_FROM else Random(0).sample(entries, ESTIMATED_FROM)
    documents = [(entry.query, entry.document.docid) for entry in some]
    tokens_in = _tokens(pool.benchmark, prompt, documents) * n // len(documents)
    n_queries = len({entry.query_id for entry in entries})
    return _estimate(n, n_queries, tokens_in, judge.price_in, judge.price_out)


def _estimate(
    n: int, n_queries: int, tokens_in: int, price_in: float | None, price_out: float | None
) -> Estimate:
    tokens_out = n * TOKENS_ANSWERED
    cost = None
    if price_in is not None and price_out is not None:
        cost = (tokens_in * price_in + tokens_out * price_out) / TOKENS_IN_MILLION
    return Estimate(n, n_queries, tokens_in, tokens_out, cost)


def _tokens(benchmark: Benchmark, prompt: Any, documents: Sequence[tuple[Any, str]]) -> int:
    contents = contents_by_docid(benchmark, (docid for _, docid in documents))
    return sum(tokens_of(pair, prompt) for pair in asked_pairs(benchmark, documents, contents))

"""Campaigns, their pairs and what people say of the same documents, as pages and jobs read them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from annotation.common.selectors.ledger import judged_pairs, last_event
from annotation.common.selectors.screen import current_guideline
from annotation.models import Campaign, CampaignPair, JudgePrompt, Judgment, Pool, PoolEntry
from benchmarks_app.common.selectors.images import images_asked_about, query_images_asked_about
from benchmarks_app.judges.selectors import USES, Use
from benchmarks_app.models import (
    Benchmark,
    DocumentContent,
    JudgeEndpoint,
    Query,
    Run,
)
from benchwright.files.external_sort import batched
from benchwright.grading.prompts import GradingPrompt
from benchwright.grading.types import Grade, Pair
from benchwright.judges.families import FAMILIES, families_in, texts_in
from benchwright.judges.messages import Image

STATES = CampaignPair.State
DOCUMENTS_PER_QUERY = 500
FAILED_SHOWN = 50


def campaigns_of(benchmark: Benchmark) -> QuerySet[Campaign]:
    return Campaign.objects.filter(benchmark=benchmark).listed()


@dataclass(frozen=True)
class Counts:
    """What has become of a campaign's pairs, and what was paid so far, the trial among it."""

    n: int
    n_graded: int
    n_failed: int
    n_waiting: int
    n_cached: int
    cost: float
    tokens_in: int
    tokens_out: int

    @property
    def n_done(self) -> int:
        return self.n_graded + self.n_failed

    @property
    def cost_of_thousand(self) -> float | None:
        return 1000 * self.cost / self.n_graded if self.n_graded else None


def counts_of(campaign: Campaign) -> Counts:
    """Counted in one query."""
    counts = campaign.pairs.aggregate(
        n=Count("pk"),
        n_graded=Count("pk", filter=Q(state=STATES.GRADED)),
        n_failed=Count("pk", filter=Q(state=STATES.FAILED)),
        n_waiting=Count("pk", filter=Q(state=STATES.WAITING)),
        n_cached=Count("pk", filter=Q(state=STATES.GRADED, n_requests=0)),
        cost=Coalesce(Sum("cost"), 0.0),
        tokens_in=Coalesce(Sum("tokens_in"), 0),
        tokens_out=Coalesce(Sum("tokens_out"), 0),
    )
    trial = campaign.trial
    counts["cost"] += trial.get("cost") or 0.0
    counts["tokens_in"] += trial.get("tokens_in") or 0
    counts["tokens_out"] += trial.get("tokens_out") or 0
    return Counts(**counts)


def failed_pairs(campaign: Campaign) -> QuerySet[CampaignPair]:
    return campaign.pairs.failed().select_related("query").order_by("number")


def newest_labels(campaign: Campaign, n: int) -> list[CampaignPair]:
    """The pairs that were graded last, with their labels."""
    graded = campaign.pairs.filter(state=STATES.GRADED).order_by("-judgment")
    return list(graded.select_related("query__family", "judgment__machine")[:n])


# --- which documents -------------------------------------------------------------------------


def entries_of(
    pool: Pool, choice: str, *, runs: Sequence[str] = ()
) -> QuerySet[PoolEntry] | list[PoolEntry]:
    """The documents of a pool that are asked about, before any draw, in a fixed order."""
    entries = pool.entries.select_related("query", "document").order_by("query__qid", "priority")
    if choice != Campaign.Choice.UNJUDGED:
        return entries
    judged = judged_pairs(pool.benchmark, last_event(pool.benchmark))
    run_names = set(runs)
    return [
        entry
        for entry in entries
        if run_names & entry.contributors.keys()
        and (entry.query.qid, entry.document.docid) not in judged
    ]


def slices_of_queries(benchmark: Benchmark) -> dict[int, tuple[int, ...]]:
    """{query: the registered slices it is in}, for a draw that gives each slice its share."""
    # Its plans load arrays, which nobody needs before they draw.
    from benchmarks_app.slices.selectors import confirmed_members

    rows = confirmed_members(benchmark.slices.filter(is_registered=True))
    slices: dict[int, list[int]] = {}
    for query, slice_pk in rows.order_by("query_id", "slice_id").values_list(
        "query_id", "slice_id"
    ):
        slices.setdefault(query, []).append(slice_pk)
    return {query: tuple(of) for query, of in slices.items()}


def contents_by_docid(benchmark: Benchmark, docids: Iterable[str]) -> dict[str, DocumentContent]:
    """What each of these documents says now, as people are shown it."""
    contents: dict[str, DocumentContent] = {}
    for batch in batched(sorted(set(docids)), DOCUMENTS_PER_QUERY):
        rows = DocumentContent.objects.filter(
            document__corpus=benchmark.corpus_id, document__docid__in=batch
        )
        rows = rows.select_related("document").order_by("first_seen", "pk")
        contents |= {row.document.docid: row for row in rows}
    return contents


def asked_pairs(
    benchmark: Benchmark,
    documents: Sequence[tuple[Query, str]],
    contents: Mapping[str, DocumentContent],
) -> list[Pair]:
    """Queries and documents as a judge is asked about them: the images of each, then its words.

    Without both a pair can only fail, and says so.
    """
    images = images_asked_about(benchmark, {docid for _, docid in documents})
    pictured = query_images_asked_about(benchmark, {query for query, _ in documents})
    return [
        _asked_pair(query, docid, contents.get(docid), images.get(docid, ()), pictured[query.qid])
        for query, docid in documents
    ]


def _asked_pair(
    query: Query,
    docid: str,
    content: DocumentContent | None,
    images: Sequence[Image],
    pictured: Sequence[Image],
) -> Pair:
    text = "\n".join(part for part in (content.title, content.text) if part) if content else ""
    about = "\n\n".join(part for part in (query.description, query.narrative) if part.strip())
    words = (text,) if text or not images else ()
    question = (query.text,) if query.text or not pictured else ()
    return Pair(query.qid, docid, (*pictured, *question), (*images, *words), description=about)


# --- what is asked ---------------------------------------------------------------------------


def grading_prompt(prompt: JudgePrompt) -> GradingPrompt:
    """A version of a prompt, as the library asks by it."""
    return GradingPrompt(
        scale=scale_from(prompt.scale),
        guideline=prompt.guideline_text,
        template=prompt.template,
        max_characters=prompt.max_characters,
    )


def prompt_for(
    benchmark: Benchmark, *, template: str, max_characters: int | None = None
) -> GradingPrompt:
    """The prompt of a benchmark's guideline and scale as they are now.

    Raises
    ------
    TemplateError, GradingScaleError
    """
    guideline = current_guideline(benchmark)
    return GradingPrompt(
        scale=scale_from(scale_of(benchmark)),
        guideline=guideline.text if guideline else "",
        template=template,
        max_characters=max_characters,
    )


def scale_of(benchmark: Benchmark) -> list[dict[str, Any]]:
    """The scale as a prompt keeps it, with the examples that stand."""
    examples: dict[int, list[str]] = {}
    standing = benchmark.grade_examples.standing()
    for value, text in standing.values_list("judgment__grade", "text"):
        if value is not None:  # each has one: the service makes none of what has no grade
            examples.setdefault(value, []).append(text)
    return [
        {
            "value": grade.value,
            "name": grade.name,
            "meaning": grade.anchor,
            "examples": examples.get(grade.value, []),
        }
        for grade in benchmark.grades.order_by("value")
    ]


def scale_from(scale: Iterable[dict[str, Any]]) -> tuple[Grade, ...]:
    return tuple(
        Grade(grade["value"], grade["name"], grade["meaning"], tuple(grade["examples"]))
        for grade in scale
    )


# --- what people say of the same documents ---------------------------------------------------


def peoples_grades(
    benchmark: Benchmark, pairs: Iterable[tuple[int, str]]
) -> dict[tuple[int, str], list[int]]:
    """{(query, docid): the grades that people stand by, ascending} of those that have any."""
    wanted_pairs = set(pairs)
    labels = Judgment.objects.current().wanted().filter(benchmark=benchmark, grade__isnull=False)
    grades: dict[tuple[int, str], list[int]] = {}
    for batch in batched(sorted({query for query, _ in wanted_pairs}), DOCUMENTS_PER_QUERY):
        rows = labels.filter(query__in=batch).order_by("grade")
        for query, docid, grade in rows.values_list("query_id", "docid", "grade"):
            if (query, docid) in wanted_pairs and grade is not None:
                grades.setdefault((query, docid), []).append(grade)
    return grades


def judged_entries(pool: Pool) -> QuerySet[PoolEntry]:
    """Documents of the pool that somebody has graded for their own sake."""
    graded = pool.entries.filter(
        slots__judgments__grade__isnull=False,
        slots__judgments__superseded_by=None,
        slots__judgments__purpose__in=["label", "rejudge"],
    )
    entries = pool.entries.filter(pk__in=graded.values("pk"))
    return entries.select_related("query__family", "document").order_by("query__qid", "priority")


# --- who may not judge whom ------------------------------------------------------------------


@dataclass(frozen=True)
class Conflict:
    """A run whose description names a model of the judge's family."""

    run: Run
    families: tuple[str, ...]

    def __str__(self) -> str:
        run = self.run if self.run.is_public else "a run of a team"
        return f"{run} ({', '.join(self.families)})"


def conflicts_of(judge: JudgeEndpoint, pool: Pool) -> list[Conflict]:
    """The runs of a pool that the judge's family had a part in, by what they say of themselves."""
    families = settings.JUDGE_FAMILIES or FAMILIES
    own = families_in(judge.model, families)
    if not own:
        return []
    return list(_conflicts(own, pool.runs.order_by("name")))


def _conflicts(own: set[str], runs: Iterable[Run]) -> Iterator[Conflict]:
    families = settings.JUDGE_FAMILIES or FAMILIES
    for run in runs:
        text = " | ".join(texts_in([run.description, run.metadata]))
        if shared := own & families_in(text, families):
            yield Conflict(run, tuple(sorted(shared)))


def _campaigns_by(judge: JudgeEndpoint) -> Use:
    counts = judge.campaigns.aggregate(
        n=Count("pk"), n_active=Count("pk", filter=Q(state__in=Campaign.UNDER_WAY))
    )
    return Use(counts["n"], "campaign", "campaigns", counts["n_active"] > 0)


USES.append(_campaigns_by)

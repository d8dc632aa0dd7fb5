"""The jobs that ask: each answer is written as it comes, with its label in the ledger.

A job asks about the pairs that wait, so an attempt that follows a lost one goes on where that was:
what is written is neither asked nor paid again. A question that was answered in an earlier campaign
of the benchmark, or in the trial, is taken from there.
"""

import time
import uuid
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from datetime import datetime
from random import Random
from typing import Any, cast

from django.db.models import F
from django.utils import timezone

from annotation.campaigns.selectors import (
    asked_pairs,
    contents_by_docid,
    counts_of,
    grading_prompt,
    judged_entries,
    peoples_grades,
)
from annotation.campaigns.services.errors import CampaignActiveError
from annotation.campaigns.services.running import require_judge
from annotation.models import Campaign, CampaignPair, Judgment, MachineLabel
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.judges.services.asking import client_of, remember_format
from benchmarks_app.models import DocumentContent, Job
from benchwright.files.external_sort import batched
from benchwright.grading.caching import grading_as_json, grading_from_json
from benchwright.grading.looping import NO_ACCESS, Budget, MemoryCache, gradings_of, key_of
from benchwright.grading.types import Graded, Pair
from benchwright.ids import storable
from benchwright.judges.client import OpenAIJudge
from benchwright.judges.course import Answer

STATES = Campaign.State
# So many pairs are held in memory, with their texts.
PAIRS_AT_ONCE = 500
KEYS_PER_QUERY = 500
LOOKS_EVERY_SECONDS = 0.5
NAMESPACE = uuid.UUID("0b0f4a53-8f2d-5d3c-9a52-6f3f6f6c1d07")
TRIAL_PAIRS = 10


def judge_pool(job: RunningJob) -> None:
    """The handler of a campaign."""
    related = ("benchmark", "pool", "judge", "prompt__guideline", "created_by")
    campaign = Campaign.objects.select_related(*related).get(pk=job.parameters["campaign"])
    if campaign.job_id not in (None, job.row.pk):
        raise CampaignActiveError(campaign=campaign.name)
    with job.fenced():
        Campaign.objects.filter(pk=campaign.pk).update(
            job=job.row, state=STATES.RUNNING, error="", finished_at=None
        )
    course, client = _Course(job, campaign), _client(campaign)
    for row, content, grading in _gradings(course, client):
        course.keep(row, content, grading)
    remember_format(campaign.judge, client)
    with job.commit() as result:
        course.end()
        result["url"] = campaign.get_absolute_url()


def _client(campaign: Campaign) -> OpenAIJudge:
    """What asks the judge; costs are reckoned by the prices that the campaign was drafted with."""
    judge = require_judge(campaign)
    judge.price_in, judge.price_out = campaign.price_in, campaign.price_out
    return client_of(judge, has_probabilities=True)


class _Course:
    """How far a campaign is, and whether it shall go on."""

    def __init__(self, job: RunningJob, campaign: Campaign) -> None:
        counts = counts_of(campaign)
        self.job, self.campaign = job, campaign
        self.total, self.n_done = counts.n, counts.n_done
        self.n_graded, self.n_failed = counts.n_graded, counts.n_failed
        self.budget = Budget(limit=campaign.cost_cap, spent=counts.cost)
        self.hopeless = ""
        self.is_pause_wanted = False
        self._looked_at = 0.0
        self._look()

    def must_stop(self) -> bool:
        """Asked inside the loop, where the database is out of reach."""
        return self.is_pause_wanted or self.budget.is_spent or bool(self.hopeless)

    def keep(self, row: CampaignPair, content: DocumentContent | None, grading: Graded) -> None:
        """Write one answer in a transaction of its own: it was paid for."""
        with self.job.fenced():
            label = _label(self.campaign, row, content, grading) if not grading.error else None
            self.campaign.pairs.waiting().filter(pk=row.pk).update(
                judgment=label, **_fields(grading)
            )
        self.n_done += 1
        self.n_graded += grading.error is None
        self.n_failed += grading.error is not None
        if grading.error and grading.error.code == NO_ACCESS:
            self.hopeless = storable(grading.error.message)
        self._look()
        failed = f", {self.n_failed:,} failed" if self.n_failed else ""
        self.job.progress(self.n_done, self.total, f"{self.n_graded:,} graded{failed}")

    def _look(self) -> None:
        if time.monotonic() - self._looked_at < LOOKS_EVERY_SECONDS:
            return
        self._looked_at = time.monotonic()
        self.is_pause_wanted = Campaign.objects.filter(
            pk=self.campaign.pk, is_pause_wanted=True
        ).exists()

    def end(self) -> None:
        state = STATES.DONE
        if self.campaign.pairs.waiting().exists():
            if self.hopeless:
                state = STATES.FAILED
            elif self.budget.is_spent:
                state = STATES.CAPPED
            elif self.is_pause_wanted:
                state = STATES.PAUSED
        _end(self.campaign, state, self.hopeless if state == STATES.FAILED else "")


def _end(campaign: Campaign, state: str, error: str) -> None:
    """Sum up what there is, and say how it ended."""
    counts = counts_of(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(
        state=state,
        error=error,
        is_pause_wanted=False,
        finished_at=timezone.now(),
        n_pairs=counts.n,
        n_graded=counts.n_graded,
        n_failed=counts.n_failed,
        tokens_in=counts.tokens_in,
        tokens_out=counts.tokens_out,
        cost=counts.cost,
    )


Kept = tuple[CampaignPair, DocumentContent | None, Graded]


def _gradings(course: _Course, client: OpenAIJudge) -> Iterator[Kept]:
    """Gradings of the pairs that wait, as they come."""
    campaign = course.campaign
    feed = _Feed(campaign, client)
    gradings = gradings_of(
        feed,
        client,
        feed.prompt,
        concurrency=campaign.concurrency,
        cache=feed.cache,
        cancel=course.must_stop,
        budget=course.budget,
        ahead=campaign.concurrency,
    )
    # A generator, which its signature does not say: closed, it drops what is under way.
    with closing(cast(Generator[Graded], gradings)):
        for grading in gradings:
            yield *feed.pending_pairs.pop((grading.query_id, grading.document_id)), grading
            feed.fill()


class _Feed:
    """The pairs that wait, a few hundred texts at a time, taken by the thread that asks.

    `fill` fetches more in the thread that writes, long before the other one has none left: that
    is never further ahead of what is written than by what is under way and what is handed over.
    """

    def __init__(self, campaign: Campaign, client: OpenAIJudge) -> None:
        self.campaign, self.client = campaign, client
        self.prompt = grading_prompt(campaign.prompt)
        self.cache = MemoryCache(most=4 * PAIRS_AT_ONCE)
        self.pending_pairs: dict[tuple[str, str], tuple[CampaignPair, DocumentContent | None]] = {}
        self.least = max(PAIRS_AT_ONCE // 2, 4 * campaign.concurrency)
        self.waiting: deque[Pair] = deque()
        self.last = 0
        self.is_whole = False
        self.fill()

    def __iter__(self) -> Iterator[Pair]:
        while self.waiting or not self.is_whole:
            yield self.waiting.popleft()

    def fill(self) -> None:
        """Fetch more where fewer than enough are left."""
        if self.is_whole or len(self.pending_pairs) >= self.least:
            return
        campaign = self.campaign
        waiting = campaign.pairs.waiting().filter(number__gt=self.last).order_by("number")
        rows = list(waiting.select_related("query")[:PAIRS_AT_ONCE])
        if not rows:
            self.is_whole = True
            return
        self.last = rows[-1].number
        contents = contents_by_docid(campaign.benchmark, (row.docid for row in rows))
        pairs = asked_pairs(campaign.benchmark, [(row.query, row.docid) for row in rows], contents)
        for row in rows:
            self.pending_pairs[row.query.qid, row.docid] = row, contents.get(row.docid)
        keys = {key_of(pair, self.client, self.prompt) for pair in pairs}
        for grading in _paid(campaign, keys):
            self.cache.put(grading.key, grading)
        self.waiting.extend(pairs)
        self.is_whole = len(rows) < PAIRS_AT_ONCE


def _paid(campaign: Campaign, keys: Iterable[str]) -> Iterator[Graded]:
    """What was answered already: in the trial, or for a label of this benchmark's ledger."""
    yield from map(grading_from_json, campaign.trial.get("gradings", ()))
    labels = MachineLabel.objects.filter(judgment__benchmark=campaign.benchmark_id)
    labels = labels.select_related("judgment", "prompt").order_by("-pk")
    for batch in batched(sorted(keys), KEYS_PER_QUERY):
        for label in labels.filter(key__in=batch):
            yield _grading_of(label)


def _grading_of(label: MachineLabel) -> Graded:
    """A label's answer, as the loop takes it from a cache."""
    answer = Answer(
        kind="grade",
        text=label.raw,
        prompt_hash=label.prompt.digest,
        model=label.model,
        tokens_in=label.tokens_in,
        tokens_out=label.tokens_out,
        cost=label.cost,
    )
    return Graded(
        query_id="",
        document_id=label.judgment.docid,
        grade=label.judgment.grade,
        reason=label.judgment.note,
        probabilities={int(grade): p for grade, p in label.probabilities.items()},
        answers=(answer,),
        key=label.key,
        prompt_hash=label.prompt.digest,
        at=label.answered_at.isoformat(),
    )


# --- what is written -------------------------------------------------------------------------


def _label(
    campaign: Campaign, row: CampaignPair, content: DocumentContent | None, grading: Graded
) -> Judgment:
    """The label in the ledger, and beside it whom was asked and what came back."""
    label = Judgment.events.create(
        benchmark=campaign.benchmark,
        query=row.query,
        docid=row.docid,
        kind=Judgment.Kind.MACHINE,
        grade=grading.grade,
        note=storable(grading.reason),
        actor=campaign.created_by,
        rater=campaign.judge_name,
        source=f"campaign {campaign.name}",
        pool=campaign.pool,
        client_id=uuid.uuid5(NAMESPACE, f"{campaign.pk}\n{row.pk}"),
        guideline=campaign.prompt.guideline,
        content_hash=content.content_hash if content else "",
    )
    MachineLabel.objects.create(
        judgment=label,
        campaign=campaign,
        prompt=campaign.prompt,
        judge_name=campaign.judge_name,
        model=storable(grading.model)[:200],
        key=grading.key,
        parameters={"temperature": 0.0},
        probabilities={str(grade): p for grade, p in grading.probabilities.items()},
        raw=storable(grading.raw),
        cost=grading.cost,
        tokens_in=grading.tokens_in,
        tokens_out=grading.tokens_out,
        seconds=grading.seconds,
        is_cached=grading.is_cached,
        answered_at=datetime.fromisoformat(grading.at),
    )
    return label


def _fields(grading: Graded) -> dict[str, Any]:
    """The columns of a pair; what it took is added to what it took before."""
    error, states = grading.error, CampaignPair.State
    is_paid = not grading.is_cached
    return {
        "state": states.FAILED if error else states.GRADED,
        "error_code": error.code if error else "",
        "error": storable(error.message) if error else "",
        "raw": storable(grading.raw) if error else "",
        "tokens_in": F("tokens_in") + (grading.tokens_in or 0) * is_paid,
        "tokens_out": F("tokens_out") + (grading.tokens_out or 0) * is_paid,
        "cost": F("cost") + grading.paid,
        "n_requests": F("n_requests") + grading.n_requests * is_paid,
        "finished_at": timezone.now(),
    }


# --- the trial -------------------------------------------------------------------------------


def try_campaign(job: RunningJob) -> None:
    """The handler of a trial: what comes back is kept with the campaign, beside people's grades."""
    related = ("benchmark", "pool", "judge", "prompt")
    campaign = Campaign.objects.select_related(*related).get(pk=job.parameters["campaign"])
    client, prompt = _client(campaign), grading_prompt(campaign.prompt)
    pairs, pair_facts = _trial_pairs(campaign)
    answers = MemoryCache()
    for earlier_facts in campaign.trial.get("gradings", ()):
        earlier = grading_from_json(earlier_facts)
        answers.put(earlier.key, earlier)
    budget = Budget(limit=campaign.cost_cap, spent=counts_of(campaign).cost)
    course = gradings_of(
        pairs, client, prompt, concurrency=campaign.concurrency, cache=answers, budget=budget
    )
    gradings = sorted(course, key=lambda grading: (grading.query_id, grading.document_id))
    remember_format(campaign.judge, client)
    trial = _trial(campaign.trial, gradings, pair_facts)
    with job.commit() as result:
        Campaign.objects.filter(pk=campaign.pk).update(trial=storable(trial))
        result["url"] = campaign.get_absolute_url()


def _trial(
    before: dict[str, Any],
    gradings: list[Graded],
    pair_facts: dict[tuple[str, str], dict[str, Any]],
) -> dict[str, Any]:
    """What a campaign keeps of its trials: the rows of this one, and what all of them took."""
    good = {grading["key"]: grading for grading in before.get("gradings", ())}
    good |= {grading.key: grading_as_json(grading) for grading in gradings if not grading.error}
    paid = [grading for grading in gradings if not grading.is_cached]
    return {
        "at": timezone.now().isoformat(),
        "rows": [
            {
                **pair_facts[grading.query_id, grading.document_id],
                "grade": grading.grade,
                "reason": grading.reason,
                "error": grading.error.message if grading.error else "",
                "model": grading.model,
            }
            for grading in gradings
        ],
        "gradings": list(good.values()),
        "cost": (before.get("cost") or 0.0) + sum(grading.paid for grading in gradings),
        "tokens_in": (before.get("tokens_in") or 0)
        + sum(grading.tokens_in or 0 for grading in paid),
        "tokens_out": (before.get("tokens_out") or 0)
        + sum(grading.tokens_out or 0 for grading in paid),
    }


def _trial_pairs(campaign: Campaign) -> tuple[list[Pair], dict[tuple[str, str], dict[str, Any]]]:
    """Ten documents that people judged, spread over their grades; with what people said."""
    entries = list(judged_entries(campaign.pool))
    keys = [(entry.query_id, entry.document.docid) for entry in entries]
    grades = peoples_grades(campaign.benchmark, keys)
    by_grade: dict[int, list[Any]] = {}
    rng = Random(campaign.pk)
    for place in rng.sample(range(len(entries)), len(entries)):
        if keys[place] in grades:
            by_grade.setdefault(grades[keys[place]][0], []).append(entries[place])
    chosen: list[Any] = []
    while len(chosen) < TRIAL_PAIRS and any(by_grade.values()):
        for grade in sorted(by_grade):
            if by_grade[grade] and len(chosen) < TRIAL_PAIRS:
                chosen.append(by_grade[grade].pop())
    contents = contents_by_docid(campaign.benchmark, (entry.document.docid for entry in chosen))
    pair_facts = {}
    for entry in chosen:
        docid = entry.document.docid
        content = contents.get(docid)
        pair_facts[entry.query.qid, docid] = {
            "query": entry.query_id,
            "qid": entry.query.qid,
            "text": entry.query.shown_text[:200],
            "docid": docid,
            "title": (content.title or content.text[:80]) if content else docid,
            "people": grades[entry.query_id, docid],
        }
    documents = [(entry.query, entry.document.docid) for entry in chosen]
    return asked_pairs(campaign.benchmark, documents, contents), pair_facts


# --- when a job ends in another way ----------------------------------------------------------


def set_back_campaign(job_id: int) -> None:
    """Bring a campaign in line with a job that failed or was cancelled."""
    job = Job.objects.filter(pk=job_id).only("state", "error").first()
    ended: dict[str, Campaign.State] = {
        Job.State.FAILED: STATES.FAILED,
        Job.State.CANCELLED: STATES.CANCELLED,
    }
    if job is None or job.state not in ended:
        return
    for campaign in Campaign.objects.filter(job=job_id, state__in=Campaign.UNDER_WAY):
        _end(campaign, ended[job.state], job.error)

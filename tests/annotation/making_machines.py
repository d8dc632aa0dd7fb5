"""Judges, prompts, campaigns and labels of machines, written straight into the tables."""

import uuid
from typing import Any

from django.utils import timezone

from annotation.models import Campaign, CampaignPair, JudgePrompt, Judgment, MachineLabel, Pool
from benchmarks_app.models import Benchmark, JudgeEndpoint, Query
from benchwright.ids import text_hash
from tests import factories

SCALE = [
    {"value": value, "name": f"grade {value}", "meaning": "", "examples": []} for value in range(4)
]


def judge(of: Benchmark, name: str = "umbrela2", **values: Any) -> JudgeEndpoint:
    address = values.pop("base_url", "https://judge.example.org/v1")
    facts = {"model": "m-1", "base_url": address, "created_by": factories.user("keeper"), **values}
    endpoint, _ = JudgeEndpoint.objects.get_or_create(benchmark=of, name=name, defaults=facts)
    return endpoint


def prompt(of: Benchmark, template: str = "{query} {document}") -> JudgePrompt:
    known = {"benchmark": of, "digest": text_hash("", template)}
    rest = {"template": template, "scale": SCALE, "text": template}
    more = {"version": of.judge_prompts.count() + 1, "created_by": factories.user("keeper")}
    made, _ = JudgePrompt.objects.get_or_create(**known, defaults={**rest, **more})
    return made


def campaign(of: Pool, **values: Any) -> Campaign:
    by = values.pop("judge", None) or judge(of.benchmark)
    facts = {
        "name": f"campaign {Campaign.objects.count() + 1}",
        "judge_name": by.name,
        "model": by.model,
        "choice": Campaign.Choice.ALL,
        "concurrency": 4,
        "created_by": factories.user("keeper"),
        "prompt": values.pop("prompt", None) or prompt(of.benchmark),
        **values,
    }
    return Campaign.objects.create(benchmark=of.benchmark, pool=of, judge=by, **facts)


def label(of: Campaign, query: Query, docid: str, grade: int, **values: Any) -> Judgment:
    """A label as a campaign writes it, with all that is told of it."""
    event = Judgment.events.create(
        benchmark=of.benchmark,
        query=query,
        docid=docid,
        kind=Judgment.Kind.MACHINE,
        grade=grade,
        note=values.pop("note", "so it says"),
        actor=of.created_by,
        rater=of.judge_name,
        pool=of.pool,
        client_id=uuid.uuid4(),
    )
    facts = {
        "model": of.model,
        "key": f"{event.pk:064}",
        "raw": "{}",
        "answered_at": timezone.now(),
    }
    MachineLabel.objects.create(
        judgment=event,
        campaign=of,
        prompt=of.prompt,
        judge_name=of.judge_name,
        **{**facts, **values},
    )
    return event


def pair(of: Campaign, query: Query, docid: str, number: int = 1, **values: Any) -> CampaignPair:
    return CampaignPair.objects.create(
        campaign=of, query=query, docid=docid, number=number, **values
    )

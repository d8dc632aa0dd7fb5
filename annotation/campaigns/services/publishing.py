"""A machine's labels as a set of qrels of its own kind, never mixed with people's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from django.db import transaction

from annotation.campaigns.services.errors import (
    CampaignActiveError,
    MixedModelsError,
    NothingGradedError,
)
from annotation.models import Campaign, CampaignPair
from benchmarks_app.common.services import audit
from benchmarks_app.models import Qrel, QrelSet, User
from benchwright.formats.errors import QrelSetNameTakenError
from benchwright.qrels.rules import Decision, qrels_digest

RULE = "machine"
ROWS_PER_BATCH = 1000


@dataclass(frozen=True)
class _Graded:
    """A pair that a machine has graded."""

    query: int
    qid: str
    docid: str
    grade: int


def models_of(campaign: Campaign) -> list[str]:
    """Which models answered, as the endpoint named them."""
    return list(campaign.labels.order_by("model").values_list("model", flat=True).distinct())


@transaction.atomic
def publish_labels(*, campaign: Campaign, user: User, name: str = "", model: str = "") -> QrelSet:
    """A set of kind `machine` of what a campaign was told; it says which judge, model and prompt.

    `model` is as the endpoint named it in its answers, and has to be told where it named several.

    Raises
    ------
    CampaignActiveError, NothingGradedError, QrelSetNameTakenError
    MixedModelsError
        If several models answered and none of them is chosen.
    """
    if campaign.is_under_way:
        raise CampaignActiveError(campaign=campaign.name)
    benchmark, name = campaign.benchmark, name.strip() or campaign.name
    if QrelSet.objects.ready().filter(benchmark=benchmark, name=name).exists():
        raise QrelSetNameTakenError(name=name)
    models = models_of(campaign)
    if len(models) > 1 and model not in models:
        raise MixedModelsError(campaign=campaign.name, models=", ".join(models))
    chosen = [model] if len(models) > 1 else models
    pairs = _graded_pairs(campaign, model if len(models) > 1 else None)
    if not pairs:
        raise NothingGradedError(campaign=campaign.name)
    qrel_set = _set_of(campaign, name, chosen, pairs)
    audit.record(
        actor=user,
        action="publish-qrels",
        benchmark=benchmark,
        target=name,
        digest=qrel_set.digest,
        kind=qrel_set.kind,
        judge=campaign.judge_name,
    )
    return qrel_set


def _graded_pairs(campaign: Campaign, model: str | None) -> list[_Graded]:
    """What a campaign was told; with a model, what that one answered alone."""
    graded = campaign.pairs.filter(state=CampaignPair.State.GRADED)
    if model is not None:
        graded = graded.filter(judgment__machine__model=model)
    values = graded.order_by("query__qid", "docid").values_list(
        "query_id", "query__qid", "docid", "judgment__grade"
    )
    return [_Graded(query, qid, docid, cast(int, grade)) for query, qid, docid, grade in values]


def _set_of(
    campaign: Campaign, name: str, models: Sequence[str], pairs: Sequence[_Graded]
) -> QrelSet:
    grades = campaign.benchmark.grades.filter(is_relevant=True)
    relevant = set(grades.values_list("value", flat=True))
    qrel_set = QrelSet.objects.create(
        benchmark=campaign.benchmark,
        name=name,
        kind=QrelSet.Kind.MACHINE,
        state=QrelSet.State.READY,
        rule=RULE,
        parameters={
            "judge": campaign.judge_name,
            "models": list(models),
            "prompt_version": campaign.prompt.version,
            "prompt_hash": campaign.prompt.digest,
            "campaign": campaign.name,
            "choice": campaign.choice,
            "n_failed": campaign.pairs.failed().count(),
        },
        digest=qrels_digest([Decision(pair.qid, pair.docid, pair.grade) for pair in pairs]),
        n_qrels=len(pairs),
        n_queries=len({pair.query for pair in pairs}),
        n_relevant=sum(pair.grade in relevant for pair in pairs),
    )
    Qrel.objects.bulk_create(
        (
            Qrel(qrel_set=qrel_set, query_id=pair.query, docid=pair.docid, grade=pair.grade)
            for pair in pairs
        ),
        batch_size=ROWS_PER_BATCH,
    )
    return qrel_set

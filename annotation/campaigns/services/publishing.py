"""A machine's labels as a set of qrels of its own kind, never mixed with people's."""

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
    graded = campaign.pairs.filter(state=CampaignPair.State.GRADED)
    if len(models) > 1:
        graded = graded.filter(judgment__machine__model=model)
    values = graded.order_by("query__qid", "docid").values_list(
        "query_id", "query__qid", "docid", "judgment__grade"
    )
    rows = [(query, qid, docid, cast(int, grade)) for query, qid, docid, grade in values]
    if not rows:
        raise NothingGradedError(campaign=campaign.name)
    relevant = set(benchmark.grades.filter(is_relevant=True).values_list("value", flat=True))
    qrel_set = QrelSet.objects.create(
        benchmark=benchmark,
        name=name,
        kind=QrelSet.Kind.MACHINE,
        state=QrelSet.State.READY,
        rule=RULE,
        parameters={
            "judge": campaign.judge_name,
            "models": [model] if len(models) > 1 else models,
            "prompt_version": campaign.prompt.version,
            "prompt_hash": campaign.prompt.digest,
            "campaign": campaign.name,
            "choice": campaign.choice,
            "n_failed": campaign.pairs.failed().count(),
        },
        digest=qrels_digest([Decision(qid, docid, grade) for _, qid, docid, grade in rows]),
        n_qrels=len(rows),
        n_queries=len({query for query, *_ in rows}),
        n_relevant=sum(grade in relevant for *_, grade in rows),
    )
    Qrel.objects.bulk_create(
        (
            Qrel(qrel_set=qrel_set, query_id=query, docid=docid, grade=grade)
            for query, _, docid, grade in rows
        ),
        batch_size=ROWS_PER_BATCH,
    )
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

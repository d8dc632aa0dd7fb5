"""A machine's labels as a set of qrels of its own kind, never mixed with people's."""

from typing import cast

from django.db import transaction

from annotation.campaigns.services.errors import CampaignActiveError, NothingGradedError
from annotation.models import Campaign, CampaignPair
from benchmarks_app.common.services import audit
from benchmarks_app.models import Qrel, QrelSet, User
from benchwright.formats.errors import QrelSetNameTakenError
from benchwright.qrels.rules import Decision, qrels_digest

RULE = "machine"
ROWS_PER_BATCH = 1000


@transaction.atomic
def publish_labels(*, campaign: Campaign, user: User, name: str = "") -> QrelSet:
    """A set of kind `machine` of what a campaign was told; it says which judge, model and prompt.

    Raises
    ------
    CampaignActiveError, NothingGradedError, QrelSetNameTakenError
    """
    if campaign.is_under_way:
        raise CampaignActiveError(campaign=campaign.name)
    benchmark, name = campaign.benchmark, name.strip() or campaign.name
    if QrelSet.objects.ready().filter(benchmark=benchmark, name=name).exists():
        raise QrelSetNameTakenError(name=name)
    graded = campaign.pairs.filter(state=CampaignPair.State.GRADED)
    values = graded.order_by("query__qid", "docid").values_list(
        "query_id", "query__qid", "docid", "judgment__grade"
    )
    rows = [(query, qid, docid, cast(int, grade)) for query, qid, docid, grade in values]
    if not rows:
        raise NothingGradedError(campaign=campaign.name)
    relevant = set(benchmark.grades.filter(is_relevant=True).values_list("value", flat=True))
    models = campaign.labels.order_by("model").values_list("model", flat=True).distinct()
    made = QrelSet.objects.create(
        benchmark=benchmark,
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
        digest=qrels_digest([Decision(qid, docid, grade) for _, qid, docid, grade in rows]),
        n_qrels=len(rows),
        n_queries=len({query for query, *_ in rows}),
        n_relevant=sum(grade in relevant for *_, grade in rows),
    )
    Qrel.objects.bulk_create(
        (
            Qrel(qrel_set=made, query_id=query, docid=docid, grade=grade)
            for query, _, docid, grade in rows
        ),
        batch_size=ROWS_PER_BATCH,
    )
    audit.record(
        actor=user,
        action="publish-qrels",
        benchmark=benchmark,
        target=name,
        digest=made.digest,
        kind=made.kind,
        judge=campaign.judge_name,
    )
    return made

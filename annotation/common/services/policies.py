"""Choosing the rule that a benchmark's inbox and next qrels follow."""

from django.db import transaction

from annotation.models import AggregationPolicy
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, User
from benchwright.qrels.rules import NamedRule, Settings


@transaction.atomic
def set_policy(
    *, benchmark: Benchmark, rule: NamedRule, settings: Settings, actor: User
) -> AggregationPolicy:
    """From now on the inbox and new qrels follow this rule; published sets keep their own."""
    policy, _ = AggregationPolicy.objects.update_or_create(
        benchmark=benchmark,
        defaults={
            "rule": rule.name,
            "rule_version": rule.version,
            "parameters": {"smoothing": settings.smoothing},
            "adjudicate_from": settings.adjudicate_from,
            "unresolved": settings.unresolved,
        },
    )
    audit.record(
        actor=actor,
        action="set-aggregation-policy",
        benchmark=benchmark,
        target=f"{rule.name} v{rule.version}",
        **settings.as_json(),
    )
    return policy

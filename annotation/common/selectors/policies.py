"""By which rule a benchmark makes one grade of several."""

from dataclasses import dataclass

from annotation.models import AggregationPolicy
from benchmarks_app.models import Benchmark
from benchwright.qrels.rules import DEFAULT_RULE, NamedRule, Settings, rule_named


@dataclass(frozen=True)
class Policy:
    """A rule and what it is told: the benchmark's own choice, or the usual one."""

    rule: NamedRule
    settings: Settings


def policy_of(benchmark: Benchmark) -> Policy:
    row = AggregationPolicy.objects.filter(benchmark=benchmark).first()
    if row is None:
        return Policy(DEFAULT_RULE, Settings())
    parameters = {**row.parameters, "adjudicate_from": row.adjudicate_from}
    return Policy(
        rule_named(row.rule, row.rule_version), Settings(**parameters, unresolved=row.unresolved)
    )

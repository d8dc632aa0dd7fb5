"""What a rule says of a benchmark's queries, before anything is made of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks_app.models import Benchmark
from benchmarks_app.queries.selectors import (
    asked_queries,
    counted_queries,
    queries_with_texts,
    sampled_log_counts,
    sliceable_queries,
    word_weights,
)
from benchmarks_app.slices.selectors import slices_of
from benchwright.slices.asked import AskedQuery, Reason
from benchwright.slices.expressions import parse_expression
from benchwright.slices.frequency import frequency_cuts
from benchwright.slices.rules import (
    NEEDS_RELEVANT,
    Rule,
    Surroundings,
    Taken,
    checked_rule,
    is_suggesting,
    taken_by,
)

PREVIEW_QUERIES, PREVIEW_ROWS = 200, 12


def needs_texts(rule: Rule) -> bool:
    return rule.get("kind") in NEEDS_RELEVANT


def applied_rule(
    benchmark: Benchmark,
    rule: Rule,
    *,
    at_most: int | None = None,
    on_progress: Any = lambda done, total: None,
) -> Taken:
    """The queries of the benchmark that a rule takes; of the first `at_most` where told.

    Raises
    ------
    SliceRuleError, ExpressionError, FrequencyError
        If the rule is none, or says nothing of these queries.
    """
    whole = _cut_as_in_the_log(benchmark, checked_rule(rule))
    slices, fields = _named(benchmark, whole)
    around = Surroundings(slices=slices)
    queries = (counted_queries if "relevant" in fields else asked_queries)(benchmark)
    if not needs_texts(whole):
        return taken_by(whole, queries, around)
    looked_at = queries[:at_most]
    around = Surroundings(around.slices, word_weights(benchmark, looked_at))
    reasons: dict[str, Reason] = {}
    notes: dict[str, None] = {}
    has_texts, done = False, 0
    for batch in queries_with_texts(benchmark, looked_at):
        selection = taken_by(whole, batch, around)
        reasons |= selection.reasons
        notes |= dict.fromkeys(selection.notes)
        has_texts = has_texts or any(query.relevant for query in batch)
        done += len(batch)
        on_progress(done, len(looked_at))
    return Taken(reasons, () if has_texts else tuple(notes))


def _cut_as_in_the_log(benchmark: Benchmark, rule: dict[str, Any]) -> dict[str, Any]:
    """A rule of frequency with the cuts of the whole log that queries were drawn from.

    A sample has more of the head than the log: its own five percent are another head.
    """
    if rule["kind"] != "frequency" or "head_above" in rule:
        return rule
    counts = sampled_log_counts(benchmark)
    if counts is None:
        return rule
    cuts = frequency_cuts(counts, head_share=rule["head_share"], tail_share=rule["tail_share"])
    cut_at = {"head_above": cuts.head_above, "tail_below": cuts.tail_below}
    return {"kind": "frequency", "band": rule["band"], **cut_at}


def _named(benchmark: Benchmark, rule: Rule) -> tuple[Mapping[str, set[str]], frozenset[str]]:
    """The slices and the fields that an expression names."""
    if rule["kind"] != "expression":
        return {}, frozenset()
    known_slices = slices_of(benchmark)
    named = parse_expression(rule["expression"], tuple(known_slices))
    # The others are there by name, so that a message can list them.
    slices = {
        name: set(qids) if name in named.slices else set() for name, qids in known_slices.items()
    }
    return slices, named.fields


@dataclass(frozen=True)
class Preview:
    """What a rule would take: how many, some of them with reasons, and what is to be said."""

    n_taken: int
    n_looked_at: int
    n_queries: int
    is_suggestion: bool
    rows: list[tuple[AskedQuery, Reason]]
    notes: tuple[str, ...]

    @property
    def share(self) -> float:
        return self.n_taken / self.n_looked_at if self.n_looked_at else 0.0


def preview_rule(benchmark: Benchmark, rule: Rule) -> Preview:
    """What a rule would take, quickly: rules that read texts look at the first queries only.

    Raises
    ------
    SliceRuleError, ExpressionError, FrequencyError
        As `applied_rule` does.
    """
    rule = checked_rule(rule)
    n_queries = sliceable_queries(benchmark).count()
    at_most = PREVIEW_QUERIES if needs_texts(rule) else None
    selection = applied_rule(benchmark, rule, at_most=at_most)
    reasons = list(selection.reasons)[:PREVIEW_ROWS]
    texts = dict(benchmark.queries.filter(qid__in=reasons).values_list("qid", "text"))
    return Preview(
        n_taken=len(selection.reasons),
        n_looked_at=min(n_queries, at_most) if at_most else n_queries,
        n_queries=n_queries,
        is_suggestion=is_suggesting(rule),
        rows=[(AskedQuery(qid, texts.get(qid, "")), selection.reasons[qid]) for qid in reasons],
        notes=selection.notes,
    )

"""Pairs of embeddings, as those see them who may: state, places of every pair, queries by id."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from django.db.models import QuerySet

from benchmarks_app import files
from benchmarks_app.models import Benchmark, Job, Query
from scoring.models import EmbeddingPair


class PairState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    MEASURED = "measured"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_waiting(self) -> bool:
        return self in (PairState.QUEUED, PairState.RUNNING)


def pairs_seen_by(user: Any, benchmark: Benchmark) -> QuerySet[EmbeddingPair]:
    """The pairs of a benchmark that somebody may see, the newest first."""
    pairs = EmbeddingPair.objects.visible_to(user).filter(benchmark=benchmark).distinct()
    return pairs.select_related("owner", "team", "job", "benchmark").order_by("-created_at", "-pk")


def state_of_pair(pair: EmbeddingPair) -> PairState:
    """Where its measuring stands; a pair whose job is gone unmeasured has failed."""
    if pair.is_measured:
        return PairState.MEASURED
    job = pair.job
    if job is None or job.state == Job.State.DONE:
        return PairState.FAILED
    return PairState(job.state)


def means_of_pair(pair: EmbeddingPair) -> dict[str, float | None]:
    """Accuracy at each k and MRR of all pairs, both ways taken together, by name; {} before."""
    if not pair.is_measured:
        return {}
    whole = pair.report["parts"][0]
    means = {f"accuracy@{of['k']}": of["mean"] for of in whole["accuracy"]}
    return {**means, "MRR": whole["mrr"]["mean"]}


class PlaceRow(NamedTuple):
    """Ranks of the partners of one pair, under the rule for ties that the pair was sent with."""

    id: str
    forward_rank: float
    backward_rank: float


def ranks_of_pair(pair: EmbeddingPair) -> Iterator[PlaceRow]:
    """Every pair's ranks, in the order of the rows."""
    import polars as pl

    from benchwright.contrastive.counting import Places
    from benchwright.contrastive.ranks import ranks

    table = pl.read_parquet(files.local_path(pair.places))
    both = (
        ranks(Places(table[f"{way}_above"].to_numpy(), table[f"{way}_tied"].to_numpy()), pair.ties)
        for way in ("forward", "backward")
    )
    columns = (table["id"].to_list(), *(ranks.tolist() for ranks in both))
    return (PlaceRow(*row) for row in zip(*columns, strict=True))


def queries_by_id(benchmark: Benchmark, ids: Iterable[str]) -> dict[str, Query]:
    """Those of the ids that are queries here."""
    rows = Query.objects.filter(benchmark=benchmark, staged_by=None, qid__in=list(ids))
    return {query.qid: query for query in rows.only("pk", "qid", "text", "metadata")}

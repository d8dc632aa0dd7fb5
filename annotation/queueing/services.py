"""Putting the queue of a pool in order: what matters most comes first in each query.

Queries stay where they are, and so does whether a document is asked for the first or a second time.
Of what the order rests on nothing is stored but its name: no estimate, no grade of a machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from django.db.models import Max, Min
from django.utils import timezone

from annotation.common.selectors.ledger import last_event
from annotation.judging.selectors.work import LEARNING
from annotation.models import Campaign, Judgment, Pool, Slot
from annotation.pools.services.doubting import doubt_in, families_to_doubt_by
from annotation.queueing.errors import QueuePoolError, QueueSourceError
from benchmarks_app.common.selectors.qrel_sets import relevant_values
from benchmarks_app.common.selectors.reading import run_path
from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Run
from benchwright.files.external_sort import batched
from benchwright.pools.entries import Pair
from benchwright.recipes import pools

JOB_KIND = "order-queue"
QUERIES_AT_ONCE = 200
DECIMALS = 9
DOUBT, DISAGREEMENT, VERDICT = pools.BY.choices
# Two machines, two runs.
OF_TWO = 2
# Between two machines a grade and none count more than two grades that both are relevant.
ACROSS = 0.5


def queue_arguments(
    *,
    pool: Pool,
    by: str = pools.BY.default,
    campaigns: Sequence[Campaign] = (),
    runs: Sequence[Run] = (),
    measure: str = pools.MEASURE.default,
    cutoff: int = pools.CUTOFF.default,
) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to put a queue in order.

    `campaigns` are the machines' of which the disagreement is looked at, two or more; `runs` are
    the two whose difference in `measure` at `cutoff` is to be decided.

    Raises
    ------
    QueuePoolError
        If nobody judges the pool any more, or its order goes by what people say.
    QueueSourceError
        If there is too little to order by.
    PoolRecipeError
        If people have judged too few families to doubt by.
    """
    _refuse_pool(pool)
    if by == DOUBT:
        families_to_doubt_by(pool.benchmark, last_event(pool.benchmark))
    if by == DISAGREEMENT and len({(row.judge_name, row.model) for row in campaigns}) < OF_TWO:
        what = "Fewer than two machines have graded documents of this pool"
        raise QueueSourceError(what=what, expected="campaigns of two or more models")
    if by == VERDICT and len(set(runs)) != OF_TWO:
        raise QueueSourceError(what="A difference is of two runs", expected="two different ones")
    return {
        "kind": JOB_KIND,
        "title": f"Put the queue of {pool.name} in order",
        "parameters": {
            "pool": pool.pk,
            "by": by,
            "campaigns": sorted(campaign.pk for campaign in campaigns)
            if by == DISAGREEMENT
            else [],
            "runs": [run.pk for run in runs] if by == VERDICT else [],
            "measure": measure,
            "cutoff": cutoff,
        },
    }


def _refuse_pool(pool: Pool) -> None:
    if pool.state not in (Pool.State.OPEN, Pool.State.PAUSED):
        raise QueuePoolError(pool=pool.name, why=f"it is {pool.get_state_display().lower()}")
    if pool.order in LEARNING:
        why = "it goes by what people find relevant (move to front, or the bandit)"
        raise QueuePoolError(pool=pool.name, why=why)


def order_queue(job: jobs.RunningJob) -> None:
    """The handler: weigh what is still wanted, then change places, some queries at a time."""
    pool = Pool.objects.select_related("benchmark__corpus").get(pk=job.parameters["pool"])
    _refuse_pool(pool)
    job.progress(0, 1, "looking at what is still wanted")
    pairs = _wanted(pool)
    weights = WEIGHTS[job.parameters["by"]](pool, pairs, job.parameters)
    queries = sorted({query for query, _ in pairs.values()})
    n_moved = n_done = 0
    for batch in batched(iter(queries), QUERIES_AT_ONCE):
        with job.fenced():
            n_moved += _reorder(pool, batch, weights)
        n_done += len(batch)
        job.progress(n_done, len(queries), "changing places")
    with job.commit() as result:
        locked = Pool.objects.select_for_update(of=("self",)).get(pk=pool.pk)
        queue = {"by": job.parameters["by"], "at": timezone.now().isoformat()}
        locked.parameters = {**locked.parameters, "queue": queue}
        locked.save(update_fields=["parameters"])
        audit.record(
            actor=job.user,
            action="order-queue",
            benchmark=pool.benchmark,
            target=pool.name,
            by=job.parameters["by"],
            n_moved=n_moved,
        )
        result.update(n_documents=len(pairs), n_moved=n_moved, url=pool.get_absolute_url())


def _free(pool: Pool) -> Any:
    return pool.slots.filter(kind=Slot.Kind.LABEL, state=Slot.State.FREE)


def _wanted(pool: Pool) -> dict[Pair, tuple[int, int]]:
    """{query and document id: keys of the query and of the entry} of what nobody has begun."""
    rows = _free(pool).values_list("entry__query__qid", "entry__document__docid", "query", "entry")
    return {(qid, docid): (query, entry) for qid, docid, query, entry in rows.iterator()}


# --- what matters --------------------------------------------------------------------------------


def _by_doubt(
    pool: Pool, pairs: Mapping[Pair, tuple[int, int]], parameters: dict[str, Any]
) -> dict[int, float]:
    doubt = doubt_in(
        pool.benchmark, list(pairs), as_of=last_event(pool.benchmark), runs=list(pool.runs.all())
    )
    return {entry: doubt(*pair) for pair, (_, entry) in pairs.items()}


def _by_disagreement(
    pool: Pool, pairs: Mapping[Pair, tuple[int, int]], parameters: dict[str, Any]
) -> dict[int, float]:
    """The distance of the highest and lowest grade, half a grade more across relevance."""
    relevant = relevant_values(pool.benchmark)
    events = Judgment.machines.filter(machine__campaign__in=parameters["campaigns"]).current()
    rows = events.filter(pool=pool).values("query", "docid")
    rows = rows.annotate(low=Min("grade"), high=Max("grade"))
    spread = {
        (query, docid): high - low + ACROSS * ((low in relevant) != (high in relevant))
        for query, docid, low, high in rows.values_list("query", "docid", "low", "high")
    }
    return {entry: spread.get((query, docid), 0.0) for (_, docid), (query, entry) in pairs.items()}


def _by_verdict(
    pool: Pool, pairs: Mapping[Pair, tuple[int, int]], parameters: dict[str, Any]
) -> dict[int, float]:
    """What a grade more moves the difference of two runs by: that of their discounts."""
    import numpy as np

    from benchwright.estimation.documents import discounts

    measure, cutoff = parameters["measure"].upper(), parameters["cutoff"]
    parts = []
    for key in parameters["runs"]:
        ranks = _ranks(run_path(Run.objects.get(pk=key)), cutoff)
        at = np.array([ranks.get(pair, 0) for pair in pairs])
        parts.append(discounts(at, measure=measure, cutoff=cutoff))
    amounts = np.abs(parts[0] - parts[1])
    return {entry: float(a) for (_, entry), a in zip(pairs.values(), amounts, strict=True)}


def _ranks(parquet: Any, cutoff: int) -> dict[Pair, int]:
    from benchwright.runs.store import top_k

    return {(row.qid, row.docid): row.rank for row in top_k(parquet, cutoff)}


WEIGHTS = {DOUBT: _by_doubt, DISAGREEMENT: _by_disagreement, VERDICT: _by_verdict}


# --- places --------------------------------------------------------------------------------------


def _reorder(pool: Pool, queries: Sequence[int], weights: Mapping[int, float]) -> int:
    """Change places of what is free among themselves; how many have another place than before."""
    free = _free(pool).filter(query__in=queries).order_by("query", "number", "queue_position", "pk")
    # What somebody takes meanwhile keeps its place.
    locked = free.select_for_update(of=("self",), skip_locked=True)
    moved = list(_moved(list(locked.only("query", "number", "queue_position", "entry")), weights))
    Slot.objects.bulk_update(moved, ["queue_position"], batch_size=500)
    return len(moved)


def _moved(slots: list[Slot], weights: Mapping[int, float]) -> Iterator[Slot]:
    def weight(slot: Slot) -> float:
        return -round(weights.get(slot.entry_id, 0.0), DECIMALS)

    for _, of_query in groupby(slots, key=lambda slot: (slot.query_id, slot.number)):
        before = list(of_query)
        places = [slot.queue_position for slot in before]
        for place, slot in zip(places, sorted(before, key=weight), strict=True):
            if slot.queue_position != place:
                slot.queue_position = place
                yield slot

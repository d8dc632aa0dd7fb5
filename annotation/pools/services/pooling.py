"""Building pools: what is to be judged, in which order, and the text to judge it by."""

import random
import secrets
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import islice
from math import isnan
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from annotation.common.selectors.ledger import last_event, query_keys
from annotation.common.selectors.pools import DEFAULT_SECONDS
from annotation.common.services.documents import document_rows
from annotation.judging.protocol.errors import (
    MachineShownError,
    PoolNameTakenError,
    PoolRunsError,
    PoolStateError,
    UnknownDocumentsError,
)
from annotation.models import Pool, PoolAnnotator, PoolEntry, PoolRun, Slot
from annotation.pools.services.doubting import by_doubt, families_to_doubt_by
from annotation.pools.services.finishing import finish
from annotation.pools.services.planning import PlannedPool, Sharing, plan_of, planned_pool
from annotation.pools.services.run_names import rename_runs_of
from annotation.signals import pool_state_set
from benchmarks_app.common.selectors.reading import benchmark_documents, unknown_documents
from benchmarks_app.common.services import audit
from benchmarks_app.common.services.analysing import analyse
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, CandidateList, Run, User
from benchmarks_app.queries.selectors import newest_draw
from benchwright import pools as pooling
from benchwright.files.external_sort import batched
from benchwright.pools.errors import PoolRecipeError

if TYPE_CHECKING:
    from benchwright.estimation.populations import Population

JOB_KIND = "build-pool"
ROWS_PER_BATCH = 1000
EXAMPLES_SHOWN = 5
NEXT_STATES = {
    Pool.State.OPEN: {Pool.State.PAUSED, Pool.State.CLOSED},
    Pool.State.PAUSED: {Pool.State.OPEN, Pool.State.CLOSED},
    Pool.State.CLOSED: {Pool.State.OPEN},
}


def new_seed() -> int:
    return secrets.randbelow(2**31)


def pool_arguments(
    *,
    benchmark: Benchmark,
    name: str,
    runs: Sequence[Run] = (),
    depth: int = 10,
    seed: int | None = None,
    overlap: int = 1,
    seconds: float = DEFAULT_SECONDS,
    recipe: pooling.Recipe | None = None,
    sharing: Sharing | None = None,
    candidates: CandidateList | None = None,
    manual: Sequence[pooling.Pair] = (),
    due_on: date | None = None,
    is_drawn: bool = False,
) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to build a pool.

    `seed` is drawn where none is given; `overlap` is how many people grade each document;
    `seconds` is the median time of a label, for the expected hours. A `recipe` has its own depth,
    and a `sharing` its own overlap; the seed is this one all the same. With `is_drawn` it is of the
    queries alone that were drawn last for people.

    Raises
    ------
    PoolNameTakenError
        If the benchmark has a pool of this name.
    PoolRunsError
        If no run is chosen where runs are needed, or one of another benchmark.
    PoolRecipeError
        If the recipe's parts do not fit together, its list or draw is missing, or there are too few
        labels to doubt by.
    """
    refuse_taken(benchmark, name)
    draw = newest_draw(benchmark) if is_drawn else None
    if is_drawn and draw is None:
        raise PoolRecipeError(what="No queries were drawn", expected="a draw of them first")
    recipe = recipe or pooling.Recipe(depth=depth)
    recipe.check()
    _refuse_sources(benchmark, runs, recipe, candidates)
    as_of = last_event(benchmark)
    if recipe.order == Pool.Order.DOUBT:
        families_to_doubt_by(benchmark, as_of)
    if recipe.strategy == Pool.Strategy.ESTIMATE and manual:
        what = "Documents added by hand do not go with an estimate"
        raise PoolRecipeError(what=what, expected="those alone that are drawn for it")
    sharing = sharing or Sharing(overlap=overlap)
    return {
        "kind": JOB_KIND,
        "title": f"Build pool {name}",
        "parameters": {
            "name": name,
            "runs": sorted(run.pk for run in runs),
            "depth": recipe.depth,
            "seed": new_seed() if seed is None else seed,
            "overlap": sharing.overlap,
            "seconds": seconds,
            "strategy": recipe.strategy,
            "order": recipe.order,
            "recipe": recipe.as_parameters(),
            "sharing": sharing.as_json(),
            "candidates": candidates.pk if candidates else None,
            "manual": [list(pair) for pair in manual],
            "as_of": as_of,
            "due_on": due_on and due_on.isoformat()[: len("2026-11-27")],
            **({"draw": draw.pk} if draw else {}),
        },
    }


def _refuse_sources(
    benchmark: Benchmark,
    runs: Sequence[Run],
    recipe: pooling.Recipe,
    candidates: CandidateList | None,
) -> None:
    if recipe.reach and not runs:
        raise PoolRunsError(reason="No run is chosen.")
    if any(run.benchmark_id != benchmark.pk for run in runs):
        raise PoolRunsError(reason="One of the runs belongs to another benchmark.")
    is_listed = candidates is not None and candidates.benchmark_id == benchmark.pk
    if recipe.strategy == Pool.Strategy.TOP_UP and not is_listed:
        raise PoolRecipeError(what="No list is chosen", expected="a list of this benchmark")


def build_pool(job: jobs.RunningJob) -> None:
    """The handler: read the runs, refuse what the corpus lacks, write the pool, open it."""
    refuse_taken(job.benchmark, job.parameters["name"])
    planned = planned_pool(job.benchmark, plan_of(job.parameters), job.progress)
    if planned.plan.recipe.order == Pool.Order.DOUBT:
        planned = by_doubt(job.benchmark, planned, job.progress)
    _refuse_unknown_documents(job, planned)
    pool = _stage_pool(job, planned)
    documents = _stage_documents(job, planned)
    entries = _stage_entries(job, pool, planned, documents)
    n_slots = _stage_slots(job, pool, planned, entries)
    _open_pool(job, pool, planned, n_slots)


def _refuse_unknown_documents(job: jobs.RunningJob, planned: PlannedPool) -> None:
    docids = planned.table.frame["docid"].unique().sort()
    unknown: set[str] = set()
    for batch in batched(docids, ROWS_PER_BATCH):
        unknown |= unknown_documents(job.benchmark, batch)
    if unknown:
        entries = (entry for entry in planned.table.entries() if entry.docid in unknown)
        examples = [_example(entry) for entry in islice(entries, EXAMPLES_SHOWN)]
        raise UnknownDocumentsError(n_documents=len(unknown), examples="; ".join(examples))


def _example(entry: pooling.PoolEntry) -> str:
    if not entry.contributors:
        return f"'{entry.docid}' (query {entry.qid})"
    run, rank = min(entry.contributors.items(), key=lambda item: item[1])
    return f"'{entry.docid}' (run {run}, query {entry.qid}, rank {rank})"


# --- staging: rows that nobody sees until the pool opens -----------------------------------------


def _stage_pool(job: jobs.RunningJob, planned: PlannedPool) -> Pool:
    recipe, sharing = planned.plan.recipe, planned.plan.sharing
    parameters = _parameters(job, planned)
    with job.fenced():
        pool = Pool.objects.create(
            benchmark=job.benchmark,
            name=job.parameters["name"],
            strategy=recipe.strategy,
            order=recipe.order,
            parameters=parameters,
            seed=recipe.seed,
            overlap=sharing.overlap,
            double_share=sharing.double_share,
            repeat_share=sharing.repeat_share,
            gold_share=sharing.gold_share,
            assignment=sharing.assignment,
            due_on=job.parameters.get("due_on"),
            candidate_list_id=planned.plan.candidates,
            digest=planned.table.digest,
            created_by=job.user,
            staged_by=job.row,
        )
        depth = max(recipe.reach, 1)
        PoolRun.objects.bulk_create(
            PoolRun(pool=pool, run=run, depth=depth) for run in planned.runs
        )
        PoolAnnotator.objects.bulk_create(
            PoolAnnotator(pool=pool, annotator_id=key) for key in sharing.annotators
        )
    return pool


def _parameters(job: jobs.RunningJob, planned: PlannedPool) -> dict[str, Any]:
    plan = planned.plan
    parameters = {
        **plan.recipe.as_parameters(),
        "runs": list(planned.table.run_keys),
        "seconds": job.parameters["seconds"],
        "as_of": plan.as_of,
    }
    if plan.manual:
        parameters["manual"] = [list(pair) for pair in plan.manual]
    if plan.draw:
        parameters["draw"] = plan.draw
    if planned.population:
        parameters["population"] = _told_of(job.benchmark, planned.population)
    if plan.sharing.doubles_at_least:
        parameters["doubles_at_least"] = plan.sharing.doubles_at_least
    return parameters


def _told_of(benchmark: Benchmark, population: "Population") -> dict[str, Any]:
    """What documents were drawn from, so that it can be known again; `last_query` is a key."""
    from benchwright.estimation.drawing import frame_of

    return {
        "n_documents": len(population.pairs),
        "n_queries": len(population.queries),
        "frame": frame_of(population.queries),
        "last_query": max(query_keys(benchmark)[qid] for qid in population.queries),
    }


def _stage_documents(job: jobs.RunningJob, planned: PlannedPool) -> dict[str, int]:
    """{docid: primary key} of the pool's documents, each with the text it has today."""
    corpus = job.benchmark.corpus
    docids = planned.table.frame["docid"].unique().sort()
    keys: dict[str, int] = {}
    for batch in batched(docids, ROWS_PER_BATCH):
        texts = benchmark_documents(job.benchmark, batch)
        with job.fenced():
            keys |= document_rows(corpus, batch, texts)
        job.progress(len(keys), len(docids), "storing the documents' texts")
    return keys


def _stage_entries(
    job: jobs.RunningJob, pool: Pool, planned: PlannedPool, documents: dict[str, int]
) -> list[tuple[int, int]]:
    """(entry, query) primary keys in the order of the queue."""
    queries = query_keys(job.benchmark)
    n_entries = len(planned.table.frame)
    entries: list[tuple[int, int]] = []
    for batch in batched(enumerate(planned.table.entries()), ROWS_PER_BATCH):
        with job.fenced():
            rows = PoolEntry.objects.bulk_create(
                PoolEntry(
                    pool=pool,
                    query_id=queries[entry.qid],
                    document_id=documents[entry.docid],
                    origin=entry.origin,
                    contributors=dict(entry.contributors),
                    best_rank=entry.best_rank,
                    priority=place,
                    inclusion_probability=entry.inclusion_probability,
                )
                for place, entry in batch
            )
        entries += [(row.pk, row.query_id) for row in rows]
        job.progress(len(entries), n_entries, "writing the pool")
    return entries


def _stage_slots(
    job: jobs.RunningJob, pool: Pool, planned: PlannedPool, entries: list[tuple[int, int]]
) -> int:
    """One slot for each label wanted; neither its number nor its place tells a rank.

    Where doubt orders a pool, its places are the queue's.
    """
    pairs = planned.table.frame.select("qid", "docid").iter_rows()
    order = pooling.shown_places(pairs, seed=pool.seed)
    if pool.order == Pool.Order.DOUBT:
        order = list(range(len(entries)))
    labels = [planned.labels[place] for place in order]
    places = list(_places([entries[place] for place in order], labels))
    random.SystemRandom().shuffle(places)
    n_made = 0
    for batch in batched(places, ROWS_PER_BATCH):
        slots = [
            Slot(pool=pool, query_id=query, entry_id=entry, number=number, queue_position=place)
            for place, entry, query, number in batch
        ]
        with job.fenced():
            n_made += len(Slot.objects.bulk_create(slots))
        job.progress(n_made, len(places), "queueing the documents")
    return n_made


def _places(
    entries: list[tuple[int, int]], labels: list[int]
) -> Iterator[tuple[int, int, int, int]]:
    """Queue position, entry, query, number: every document once before any a second time."""
    for number in range(1, max(labels, default=0) + 1):
        for place, ((entry, query), n_wanted) in enumerate(zip(entries, labels, strict=True)):
            if n_wanted >= number:
                yield (number - 1) * len(entries) + place, entry, query, number


def _open_pool(job: jobs.RunningJob, pool: Pool, planned: PlannedPool, n_slots: int) -> None:
    statistics = statistics_of(planned, seconds=job.parameters["seconds"])
    names = {run.pk: run.name for run in planned.runs}
    with job.commit() as result:
        analyse(PoolEntry, Slot)
        # Who is just deleted renames their runs: before this, or after the pool is there.
        list(Run.objects.select_for_update().filter(pk__in=names).order_by("pk"))
        pool.refresh_from_db(fields=["name"])
        refuse_taken(job.benchmark, pool.name)
        pool.state = Pool.State.OPEN
        pool.n_entries = len(planned.labels)
        pool.n_wanted = n_slots
        pool.statistics = statistics
        pool.staged_by = None
        pool.save(update_fields=["state", "n_entries", "n_wanted", "statistics", "staged_by"])
        # The entries are of the names that the runs had when they were read.
        rename_runs_of(pool, names)
        if not pool.is_for_estimates:  # of which most documents stay unjudged
            Run.objects.filter(pool_runs__pool=pool).update(
                pooled_depth=Greatest(F("pooled_depth"), planned.plan.recipe.reach)
            )
        audit.record(
            actor=job.user,
            action="build-pool",
            benchmark=job.benchmark,
            target=pool.name,
            digest=pool.digest,
        )
        result.update(
            pool=pool.pk,
            digest=pool.digest,
            n_entries=pool.n_entries,
            url=pool.get_absolute_url(),
        )


def statistics_of(planned: PlannedPool, *, seconds: float) -> dict[str, Any]:
    """What a pool's page shows of it, as JSON: counts, contributions, overlaps, hours."""
    from benchwright.pools.preview import preview

    facts = preview(planned.table, planned.watcher)
    n_labels = sum(planned.labels)
    statistics: dict[str, Any] = {
        "n_queries": facts.n_queries,
        "per_query": {
            "min": facts.smallest_query,
            "median": facts.median_query,
            "max": facts.largest_query,
        },
        "runs": [{"run": run.run, "n": run.n, "n_unique": run.n_unique} for run in facts.runs],
        "overlaps": [
            {
                "a": pair.run_a,
                "b": pair.run_b,
                "n_shared": pair.n_shared,
                "jaccard": pair.jaccard,
                "rbo": known(pair.rbo),
            }
            for pair in facts.alike
        ],
        "hours": pooling.expected_hours(n_labels, median_seconds=seconds),
        "seconds": seconds,
        "n_labels": n_labels,
        "n_entries": facts.n_entries,
        "n_doubles": planned.n_doubles,
        "n_without": planned.labels.count(0),
        "origins": facts.n_by_origin,
        "mean_rbo": known(facts.mean_rbo),
        "judged_left_out": {run.run: known(run.judged_left_out) for run in facts.runs},
        "judged_new": known(facts.judged_new),
        "judged_new_least": known(facts.judged_new_least),
        "warnings": facts.warnings,
    }
    if planned.population is None:
        return statistics
    # Most of what runs have stays unjudged: there is nothing in it for a new system.
    nothing = dict.fromkeys(statistics["judged_left_out"])
    return {
        **statistics,
        "judged_left_out": nothing,
        "judged_new": None,
        "judged_new_least": None,
        "warnings": [],
    }


def known(value: float) -> float | None:
    """A number as JSON has it: NaN, which JSON lacks, as null."""
    return None if isnan(value) else value


# --- what is done with a pool ------------------------------------------------------------------


@transaction.atomic
def set_pool_state(*, pool: Pool, state: str, actor: User) -> Pool:
    """Pause, open or close a pool; documents that people hold stay theirs.

    Raises
    ------
    PoolStateError
        If the pool cannot go there from where it is.
    MachineShownError
        If its people have seen what a machine said.
    """
    locked = Pool.objects.select_for_update().get(pk=pool.pk)
    if locked.state == state:
        return locked
    if state not in NEXT_STATES.get(Pool.State(locked.state), set()):
        raise PoolStateError(pool=pool.name, state=locked.get_state_display(), wanted=state)
    if locked.has_shown_machine:
        raise MachineShownError(pool=pool.name)
    locked.state = state
    locked.save(update_fields=["state"])
    pool_state_set.send(Pool, pool=locked, actor=actor)
    audit.record(
        actor=actor, action=f"pool-{state}", benchmark=locked.benchmark, target=locked.name
    )
    if state == Pool.State.CLOSED:
        finish(locked)
    return locked


def refuse_taken(benchmark: Benchmark, name: str) -> None:
    if Pool.objects.built().filter(benchmark=benchmark, name=name).exists():
        raise PoolNameTakenError(name=name)


def discard_unfinished(job_id: int) -> None:
    """Remove the pool that an unfinished attempt of a job has staged."""
    Pool.objects.filter(staged_by=job_id, state=Pool.State.BUILDING).delete()

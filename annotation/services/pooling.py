"""Building pools: what is to be judged, in which order, and the text to judge it by."""

import hashlib
import json
import random
import secrets
from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from annotation.core import pooling
from annotation.core.judging_errors import (
    PoolNameTakenError,
    PoolRunsError,
    PoolStateError,
    UnknownDocumentsError,
)
from annotation.models import Pool, PoolEntry, PoolRun, Slot
from annotation.selectors import DEFAULT_SECONDS, query_keys
from benchmarks_app import selectors as collection
from benchmarks_app.core.batches import batched
from benchmarks_app.models import Benchmark, Document, DocumentContent, Run, User
from benchmarks_app.services import audit, jobs

JOB_KIND = "build-pool"
ROWS_PER_BATCH = 500
EXAMPLES_SHOWN = 5
MAX_SEED = 2**31 - 1
NEXT_STATES = {
    Pool.State.OPEN: {Pool.State.PAUSED, Pool.State.CLOSED},
    Pool.State.PAUSED: {Pool.State.OPEN, Pool.State.CLOSED},
    Pool.State.CLOSED: {Pool.State.OPEN},
}


def new_seed() -> int:
    return secrets.randbelow(MAX_SEED)


def pool_arguments(
    *,
    benchmark: Benchmark,
    name: str,
    runs: list[Run],
    depth: int,
    seed: int | None = None,
    overlap: int = 1,
    seconds: float = DEFAULT_SECONDS,
) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to build a pool.

    `seed` is drawn where none is given; `overlap` is how many people grade each document;
    `seconds` is the median time of a label, for the expected hours.

    Raises
    ------
    PoolNameTakenError
        If the benchmark has a pool of this name.
    PoolRunsError
        If no run is chosen, or one of another benchmark.
    """
    _refuse_taken(benchmark, name)
    if not runs:
        raise PoolRunsError(reason="No run is chosen.")
    if any(run.benchmark_id != benchmark.pk for run in runs):
        raise PoolRunsError(reason="One of the runs belongs to another benchmark.")
    return {
        "kind": JOB_KIND,
        "title": f"Build pool {name}",
        "parameters": {
            "name": name,
            "runs": sorted(run.pk for run in runs),
            "depth": depth,
            "seed": new_seed() if seed is None else seed,
            "overlap": overlap,
            "seconds": seconds,
        },
    }


def build_pool(job: jobs.RunningJob) -> None:
    """The handler: read the runs, refuse what the corpus lacks, write the pool, open it."""
    runs = _chosen_runs(job)
    _refuse_taken(job.benchmark, job.parameters["name"])
    built = _depth_pool(job, runs)
    _refuse_unknown_documents(job, built)
    pool = _stage_pool(job, runs, built)
    documents = _stage_documents(job, built)
    entries = _stage_entries(job, pool, built, documents)
    _stage_slots(job, pool, entries)
    _open_pool(job, pool, built)


def _chosen_runs(job: jobs.RunningJob) -> list[Run]:
    wanted = job.parameters["runs"]
    runs = list(Run.objects.filter(benchmark=job.benchmark, pk__in=wanted).order_by("name"))
    if len(runs) < len(wanted):
        raise PoolRunsError(reason="One of the chosen runs is no longer there.")
    return runs


def _depth_pool(job: jobs.RunningJob, runs: list[Run]) -> pooling.DepthPool:
    depth = job.parameters["depth"]
    rankings = {}
    for n, run in enumerate(runs):
        job.progress(n, len(runs), f"reading {run.name}")
        rankings[run.name] = _top_of(run, depth)
    return pooling.build_depth_pool(
        rankings,
        depth=depth,
        seed=job.parameters["seed"],
        queries=query_keys(job.benchmark).keys(),
    )


def _top_of(run: Run, depth: int) -> list[tuple[str, str, int]]:
    """(qid, docid, rank) of a run's first `depth` documents of each query."""
    import polars as pl

    rows = pl.scan_parquet(collection.run_path(run)).filter(pl.col("rank") <= depth)
    return rows.select("qid", "docid", "rank").collect().rows()


def _refuse_unknown_documents(job: jobs.RunningJob, built: pooling.DepthPool) -> None:
    docids = sorted({entry.docid for entry in built.entries})
    unknown: set[str] = set()
    for batch in batched(docids, ROWS_PER_BATCH):
        unknown |= collection.unknown_documents(job.benchmark, batch)
    if unknown:
        examples = [_example(entry) for entry in built.entries if entry.docid in unknown]
        raise UnknownDocumentsError(
            n_documents=len(unknown), examples="; ".join(examples[:EXAMPLES_SHOWN])
        )


def _example(entry: pooling.PoolEntry) -> str:
    run, rank = min(entry.contributors.items(), key=lambda item: item[1])
    return f"'{entry.docid}' (run {run}, query {entry.qid}, rank {rank})"


# --- staging: rows that nobody sees until the pool opens -----------------------------------------


def _stage_pool(job: jobs.RunningJob, runs: list[Run], built: pooling.DepthPool) -> Pool:
    parameters = job.parameters
    with job.fenced():
        pool = Pool.objects.create(
            benchmark=job.benchmark,
            name=parameters["name"],
            parameters={
                "depth": built.depth,
                "runs": list(built.run_keys),
                "seconds": parameters["seconds"],
            },
            seed=built.seed,
            overlap=parameters["overlap"],
            digest=built.digest,
            created_by=job.row.created_by,
            staged_by=job.row,
        )
        PoolRun.objects.bulk_create(PoolRun(pool=pool, run=run, depth=built.depth) for run in runs)
    return pool


def _stage_documents(job: jobs.RunningJob, built: pooling.DepthPool) -> dict[str, int]:
    """{docid: primary key} of the pool's documents, each with the text it has today."""
    corpus = job.benchmark.corpus
    docids = sorted({entry.docid for entry in built.entries})
    keys: dict[str, int] = {}
    for batch in batched(docids, ROWS_PER_BATCH):
        texts = collection.benchmark_documents(job.benchmark, batch)
        with job.fenced():
            Document.objects.bulk_create(
                [Document(corpus=corpus, docid=docid) for docid in batch], ignore_conflicts=True
            )
            known = Document.objects.filter(corpus=corpus, docid__in=batch)
            found = dict(known.values_list("docid", "pk"))
            DocumentContent.objects.bulk_create(
                [_content(found[docid], text, corpus.lang) for docid, text in texts.items()],
                ignore_conflicts=True,
            )
        keys |= found
        job.progress(len(keys), len(docids), "storing the documents' texts")
    return keys


def _content(document_id: int, stored: Any, lang: str) -> DocumentContent:
    return DocumentContent(
        document_id=document_id,
        content_hash=content_hash(stored.title, stored.text),
        title=stored.title,
        text=stored.text,
        lang=lang,
    )


def content_hash(title: str, text: str) -> str:
    """The SHA-256 of what a person reads, so that a label can be pinned to it."""
    said = json.dumps([title, text], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(said.encode()).hexdigest()


def _stage_entries(
    job: jobs.RunningJob, pool: Pool, built: pooling.DepthPool, documents: dict[str, int]
) -> list[tuple[int, int]]:
    """(entry, query) primary keys in the order of the queue."""
    queries = query_keys(job.benchmark)
    made: list[tuple[int, int]] = []
    for batch in batched(enumerate(built.entries), ROWS_PER_BATCH):
        with job.fenced():
            rows = PoolEntry.objects.bulk_create(
                PoolEntry(
                    pool=pool,
                    query_id=queries[entry.qid],
                    document_id=documents[entry.docid],
                    contributors=dict(entry.contributors),
                    best_rank=entry.best_rank,
                    priority=place,
                )
                for place, entry in batch
            )
        made += [(row.pk, row.query_id) for row in rows]
        job.progress(len(made), len(built.entries), "writing the pool")
    return made


def _stage_slots(job: jobs.RunningJob, pool: Pool, entries: list[tuple[int, int]]) -> None:
    """One slot for each label wanted, numbered at random: a slot's number tells no rank."""
    slots = [
        Slot(pool=pool, query_id=query, entry_id=entry, number=number, queue_position=place)
        for place, entry, query, number in _places(entries, pool.overlap)
    ]
    random.SystemRandom().shuffle(slots)
    n_made = 0
    for batch in batched(slots, ROWS_PER_BATCH):
        with job.fenced():
            n_made += len(Slot.objects.bulk_create(batch))
        job.progress(n_made, len(slots), "queueing the documents")


def _places(entries: list[tuple[int, int]], overlap: int) -> Iterator[tuple[int, int, int, int]]:
    """Queue position, entry, query, number: every document once before any a second time."""
    for number in range(1, overlap + 1):
        for place, (entry, query) in enumerate(entries):
            yield (number - 1) * len(entries) + place, entry, query, number


def _open_pool(job: jobs.RunningJob, pool: Pool, built: pooling.DepthPool) -> None:
    statistics = statistics_of(
        built, labels_per_entry=pool.overlap, seconds=job.parameters["seconds"]
    )
    with job.commit() as result:
        _refuse_taken(job.benchmark, pool.name)
        pool.state = Pool.State.OPEN
        pool.n_entries = len(built.entries)
        pool.statistics = statistics
        pool.staged_by = None
        pool.save(update_fields=["state", "n_entries", "statistics", "staged_by"])
        Run.objects.filter(pool_runs__pool=pool).update(
            pooled_depth=Greatest(F("pooled_depth"), built.depth)
        )
        audit.record(
            actor=job.row.created_by,
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


def statistics_of(
    built: pooling.DepthPool, *, labels_per_entry: int, seconds: float
) -> dict[str, Any]:
    """What a pool's page shows of it, as JSON: counts, contributions, overlaps, hours."""
    found = pooling.pool_statistics(
        built.entries,
        run_keys=built.run_keys,
        labels_per_entry=labels_per_entry,
        median_seconds=seconds,
    )
    return {
        "n_queries": found.n_queries,
        "per_query": {
            "min": found.smallest_query,
            "median": found.median_query,
            "max": found.largest_query,
        },
        "runs": [
            {"run": run, "n": found.n_contributed[run], "n_unique": found.n_unique[run]}
            for run in built.run_keys
        ],
        "overlaps": [
            {
                "a": pair.run_a,
                "b": pair.run_b,
                "n_shared": pair.n_shared,
                "jaccard": pair.jaccard,
            }
            for pair in found.overlaps
        ],
        "hours": found.hours_left,
        "seconds": seconds,
    }


# --- what is done with a pool ------------------------------------------------------------------


@transaction.atomic
def set_pool_state(*, pool: Pool, state: str, actor: User) -> Pool:
    """Pause, open or close a pool; documents that people hold stay theirs.

    Raises
    ------
    PoolStateError
        If the pool cannot go there from where it is.
    """
    locked = Pool.objects.select_for_update().get(pk=pool.pk)
    if locked.state == state:
        return locked
    if state not in NEXT_STATES.get(locked.state, set()):
        raise PoolStateError(pool=pool.name, state=locked.get_state_display(), wanted=state)
    locked.state = state
    locked.save(update_fields=["state"])
    audit.record(
        actor=actor, action=f"pool-{state}", benchmark=locked.benchmark, target=locked.name
    )
    return locked


def _refuse_taken(benchmark: Benchmark, name: str) -> None:
    if Pool.objects.built().filter(benchmark=benchmark, name=name).exists():
        raise PoolNameTakenError(name=name)


def discard_unfinished(job_id: int) -> None:
    """Remove the pool that an unfinished attempt of a job has staged."""
    Pool.objects.filter(staged_by=job_id, state=Pool.State.BUILDING).delete()

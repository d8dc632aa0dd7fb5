"""Samples of a log become queries, each with how likely it was drawn and what it stands for."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any

from django.db import IntegrityError, transaction
from django.urls import reverse

from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.logs.selectors import links_path, log_families, log_path
from benchmarks_app.models import (
    FamilyLink,
    Job,
    Query,
    QueryFamily,
    QueryLog,
    QuerySample,
    User,
)
from benchwright.families.normalising import normalised
from benchwright.files.external_sort import batched
from benchwright.formats.errors import ConcurrentImportError
from benchwright.logs.drawing import SampledQuery, sampled
from benchwright.logs.sampling import Design, Plan, planned
from benchwright.recipes import sampling as recipe
from benchwright.texts.counting import counted

JOB_KIND = "sample-queries"
ROWS_PER_BATCH = 500


def plan_of(log: QueryLog, design: Design) -> Plan:
    """What the sample would be; nothing is drawn.

    Raises
    ------
    FrequencyError, SamplingError
        If it cannot be drawn so.
    """
    return planned(log_families(log), design)[0]


def sample_arguments(*, log: QueryLog, design: Design, seed: int | None = None) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to draw; raises as `plan_of` does."""
    plan = plan_of(log, design)
    return {
        "kind": JOB_KIND,
        "title": f"Draw {counted(plan.n_families, 'family')} of {log.name}",
        "parameters": {
            "log": log.pk,
            "design": design.as_json(),
            "seed": secrets.randbelow(recipe.SEED.most) if seed is None else seed,
        },
    }


@transaction.atomic
def start_sample(*, log: QueryLog, user: User, design: Design, seed: int | None = None) -> Job:
    """Start the job that draws a sample; raises as `plan_of` does."""
    arguments = sample_arguments(log=log, design=design, seed=seed)
    job = jobs.start(benchmark=log.benchmark, user=user, **arguments)
    audit.record(
        actor=user,
        action="sample-queries",
        benchmark=log.benchmark,
        target=log.name,
        job=job.pk,
        seed=arguments["parameters"]["seed"],
    )
    return job


# --- the job -------------------------------------------------------------------------------


@dataclass
class _Taken:
    """What becomes of the drawn queries: new rows, rows that are here already, links."""

    by_key: Mapping[str, Query]
    new: list[tuple[SampledQuery, int]] = field(default_factory=list)
    adopted: list[Query] = field(default_factory=list)
    n_here: int = 0
    # The family row of each drawn family.
    families: dict[str, QueryFamily] = field(default_factory=dict)


def sample_queries(job: jobs.RunningJob) -> None:
    """The handler: draw, write the queries unseen, then make them visible in one go."""
    log = QueryLog.objects.select_related("benchmark").get(pk=job.parameters["log"])
    design = Design.of(job.parameters["design"])
    job.progress(0, 0, "drawing families")
    plan, queries = sampled(log_path(log), design, seed=job.parameters["seed"])
    taken = _taken(log, queries)
    _write(job, log, taken)
    _commit(job, log, plan, queries, taken)


def _taken(log: QueryLog, queries: Sequence[SampledQuery]) -> _Taken:
    """Which of the drawn queries are in the benchmark already, by their normalised text."""
    here: dict[str, Query] = {}
    rows = log.benchmark.queries.committed().in_words_alone()
    for row in rows.select_related("family").order_by("pk"):
        here.setdefault(normalised(row.text), row)
    taken = _Taken(here)
    for query in queries:
        known_query = here.get(query.key)
        if known_query is not None:
            taken.families.setdefault(query.family, known_query.family)
    for place, query in enumerate(queries):
        known_query = here.get(query.key)
        if known_query is None:
            taken.new.append((query, place))
        elif known_query.sample_id is None:
            taken.adopted.append(_told(known_query, query))
        else:
            taken.n_here += 1
    return taken


def _told(row: Query, query: SampledQuery) -> Query:
    """A row with what the log and the sample say of it; its text and id stay."""
    row.frequency = query.count
    first, last = _moment(query.first_seen), _moment(query.last_seen)
    row.first_seen_at = min(filter(None, [row.first_seen_at, first]), default=None)
    row.last_seen_at = max(filter(None, [row.last_seen_at, last]), default=None)
    row.lang = row.lang or query.lang
    row.clicks = query.clicks or row.clicks
    row.inclusion_probability = query.inclusion_probability
    row.weight = query.weight
    return row


def _moment(day: date | None) -> datetime | None:
    return datetime.combine(day, time(), UTC) if day else None


def _write(job: jobs.RunningJob, log: QueryLog, taken: _Taken) -> None:
    n = 0
    for batch in batched(taken.new, ROWS_PER_BATCH):
        with job.fenced():
            _make_families(log, taken, (query.family for query, _ in batch))
            rows = [
                _told(
                    Query(
                        benchmark=log.benchmark,
                        qid=query.qid,
                        text=query.text,
                        metadata={"stratum": query.stratum},
                        family=taken.families[query.family],
                        staged_by=job.row,
                    ),
                    query,
                )
                for query, _ in batch
            ]
            try:
                Query.objects.bulk_create(rows)
            except IntegrityError as error:
                raise ConcurrentImportError from error
        n += len(batch)
        job.progress(n, len(taken.new), f"{n:,} queries written")


def _make_families(log: QueryLog, taken: _Taken, names: Iterable[str]) -> None:
    wanted_names = [name for name in dict.fromkeys(names) if name not in taken.families]
    families = QueryFamily.objects.bulk_create(
        QueryFamily(benchmark=log.benchmark) for _ in wanted_names
    )
    taken.families.update(zip(wanted_names, families, strict=True))


def _commit(
    job: jobs.RunningJob,
    log: QueryLog,
    plan: Plan,
    queries: Sequence[SampledQuery],
    taken: _Taken,
) -> None:
    links = _links(log, queries)
    with job.commit() as result:
        sample = QuerySample.objects.create(
            log=log,
            seed=job.parameters["seed"],
            parameters=plan.as_json(),
            n_families=plan.n_families,
            n_queries=len(queries),
            created_by=job.row.created_by or log.created_by,
        )
        staged = Query.objects.filter(staged_by=job.row)
        rows = dict(staged.values_list("qid", "pk"))
        staged.update(sample=sample, staged_by=None)
        _adopt(taken, sample)
        _link(log, rows, _relatives_here(taken, queries), links)
        result["made"] = [
            f"{counted(len(taken.new), 'query')} of {counted(plan.n_families, 'family')} drawn "
            f"from '{log.name}'"
        ]
        result["notes"] = [*plan.notes, *_notes(taken)]
        result["url"] = reverse("log-detail", args=[log.benchmark.slug, log.pk])


def _adopt(taken: _Taken, sample: QuerySample) -> None:
    for row in taken.adopted:
        row.sample = sample
    changed = [
        "frequency", "first_seen_at", "last_seen_at", "lang", "clicks", "inclusion_probability",
        "weight", "sample",
    ]  # fmt: skip
    Query.objects.bulk_update(taken.adopted, changed, batch_size=ROWS_PER_BATCH)


def _links(log: QueryLog, queries: Sequence[SampledQuery]) -> list[tuple[str, str, str, float]]:
    """Why the drawn wordings of one family are one, by their ids."""
    import polars as pl

    drawn = [query.qid for query in queries]
    links = pl.scan_parquet(links_path(log)).filter(
        pl.col("a").is_in(drawn) & pl.col("b").is_in(drawn)
    )
    return links.select("a", "b", "reason", "similarity").collect().rows()


def _relatives_here(taken: _Taken, queries: Sequence[SampledQuery]) -> dict[str, int]:
    """{id in the log: key} of drawn queries that were here, in whose families new ones came."""
    return {
        query.qid: row.pk
        for query in queries
        if (row := taken.by_key.get(query.key)) is not None
        and row.family_id == taken.families[query.family].pk
    }


def _link(
    log: QueryLog,
    rows: Mapping[str, int],
    relatives: Mapping[str, int],
    links: Iterable[tuple[str, str, str, float]],
) -> None:
    new_links, keys = [], {**relatives, **rows}
    for a, b, reason, similarity in links:
        if (a in rows or b in rows) and a in keys and b in keys:
            low, high = sorted((keys[a], keys[b]))
            new_links.append(
                FamilyLink(
                    benchmark=log.benchmark,
                    query_a_id=low,
                    query_b_id=high,
                    reason=reason,
                    similarity=min(1.0, similarity),
                )
            )
    FamilyLink.objects.bulk_create(new_links, batch_size=ROWS_PER_BATCH)


def _notes(taken: _Taken) -> list[str]:
    notes = []
    if n := len(taken.adopted):
        were, have, their = ("was", "has", "its") if n == 1 else ("were", "have", "their")
        notes.append(
            f"{n:,} of the drawn queries {were} here already and now {have} {their} frequency, "
            "probability and weight."
        )
    if n := taken.n_here:
        of_one = "is of an earlier sample and stays as it is: its weight is"
        of_some = "are of an earlier sample and stay as they are: their weights are"
        notes.append(f"{n:,} of the drawn queries {of_one if n == 1 else of_some} of that sample.")
    return notes

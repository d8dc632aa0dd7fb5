"""Lists of documents worth judging: kept once as a file, for a pool to be made of."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.db import IntegrityError, transaction

from benchmarks_app import files
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, CandidateList, User
from benchwright.errors import BenchmarkError


class EmptyCandidateListError(BenchmarkError):
    code = "candidates-empty"
    message = (
        "The list '{name}' names no document of this benchmark's queries; "
        "a line of it is a query, a document and a priority."
    )


class CandidateNameTakenError(BenchmarkError):
    code = "candidates-name-taken"
    status = 409
    message = "A list named '{name}' is in this benchmark already; choose another name."


def make_candidate_list(
    *,
    benchmark: Benchmark,
    rows: Iterable[tuple[str, str, int]],
    name: str,
    origin: str,
    user: User,
) -> CandidateList:
    """Keep a list of documents worth judging, the most worth it first.

    `rows` are query, document and priority (the smallest comes first; equal ones as they stand). A
    pair counts once, by its best priority, and queries that the benchmark lacks are left out.
    `origin` says which runs and which rule the list came from.

    Raises
    ------
    EmptyCandidateListError
        If nothing is left of it.
    CandidateNameTakenError
        If the benchmark has a list of this name.
    """
    ordered = _ordered(benchmark, rows)
    if not ordered:
        raise EmptyCandidateListError(name=name)
    parquet, sha256 = _published(benchmark, ordered)
    try:
        with transaction.atomic():
            candidates = CandidateList.objects.create(
                benchmark=benchmark,
                name=name,
                origin=origin[:200],
                parquet=parquet,
                sha256=sha256,
                n_documents=len(ordered),
                n_queries=len({qid for qid, _ in ordered}),
                created_by=user,
            )
            audit.record(actor=user, action="make-candidates", benchmark=benchmark, target=name)
    except IntegrityError as error:
        if CandidateList.objects.filter(benchmark=benchmark, name=name).exists():
            raise CandidateNameTakenError(name=name) from error
        raise
    return candidates


def _ordered(benchmark: Benchmark, rows: Iterable[tuple[str, str, int]]) -> list[tuple[str, str]]:
    queries = set(benchmark.queries.committed().values_list("qid", flat=True))
    best: dict[tuple[str, str], tuple[int, int]] = {}
    for place, (qid, docid, priority) in enumerate(rows):
        if qid in queries:
            best[qid, docid] = min((priority, place), best.get((qid, docid), (priority, place)))
    return sorted(best, key=lambda pair: best[pair])


def _published(benchmark: Benchmark, ordered: list[tuple[str, str]]) -> tuple[str, str]:
    import polars as pl

    listed = [(qid, docid, place) for place, (qid, docid) in enumerate(ordered, start=1)]
    schema = {"qid": pl.String(), "docid": pl.String(), "priority": pl.Int64()}
    settings.STAGING_DIR.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=settings.STAGING_DIR) as folder:
        path = Path(folder) / "candidates.parquet"
        pl.DataFrame(listed, schema=schema, orient="row").write_parquet(path)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        return files.publish(path, f"candidates/{benchmark.pk}/{sha256}.parquet"), sha256

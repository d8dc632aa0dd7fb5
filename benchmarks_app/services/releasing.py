"""Publishing a release: its files are written once, then a row that never changes."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from benchmarks_app import files, selectors
from benchmarks_app.core.formats.beir_writing import (
    id_hazard,
    metadata_shape,
    qrels_tsv,
    queries_jsonl,
)
from benchmarks_app.core.release_errors import NothingToReleaseError, VersionTakenError
from benchmarks_app.core.versions import next_version, parse_version
from benchmarks_app.models import Benchmark, Job, QrelSet, Query, Release, User
from benchmarks_app.services import audit, jobs
from benchmarks_app.signals import release_published

JOB_KIND = "publish-release"
MANIFEST_FORMAT = 1
DEFAULT_SPLIT = "test"
WARNINGS_KEPT = 20


@dataclass(frozen=True)
class ReleasedQuery:
    """A query as BEIR's writer wants it."""

    qid: str
    text: str
    split: str
    metadata: dict[str, Any] = field(default_factory=dict)


def proposed_version(benchmark: Benchmark) -> str:
    newest = benchmark.releases.newest_first().values_list("major", "minor", "patch").first()
    return ".".join(str(number) for number in next_version(newest))


def release_arguments(*, qrel_set: QrelSet, version: str, notes: str = "") -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to publish a release.

    Raises
    ------
    VersionError, VersionTakenError, NothingToReleaseError
        If this release cannot be made.
    """
    _refuse_taken(qrel_set.benchmark, version)
    if not qrel_set.n_relevant:
        raise NothingToReleaseError(name=qrel_set.name)
    return {
        "kind": JOB_KIND,
        "title": f"Publish release {version}",
        "parameters": {"qrel_set": qrel_set.pk, "version": version, "notes": notes},
    }


@transaction.atomic
def start_release(*, user: User, qrel_set: QrelSet, version: str, notes: str = "") -> Job:
    """Start a job that publishes a release; raises as `release_arguments` does."""
    arguments = release_arguments(qrel_set=qrel_set, version=version, notes=notes)
    benchmark = qrel_set.benchmark
    job = jobs.start(benchmark=benchmark, user=user, **arguments)
    audit.record(actor=user, action="publish-release", benchmark=benchmark, target=version)
    return job


def _refuse_taken(benchmark: Benchmark, version: str) -> None:
    major, minor, patch = parse_version(version)
    if benchmark.releases.filter(major=major, minor=minor, patch=patch).exists():
        raise VersionTakenError(version=version)


def publish_release(job: jobs.RunningJob) -> None:
    """The handler: write the files, then the row, with the manifest that names their hashes."""
    benchmark = job.benchmark
    qrel_set = QrelSet.objects.ready().get(pk=job.parameters["qrel_set"], benchmark=benchmark)
    version = job.parameters["version"]
    _refuse_taken(benchmark, version)
    job.progress(0, 3, "writing queries")
    queries = list(_queries(benchmark))
    written = _write_all(job, qrel_set, queries)
    job.progress(2, 3, "writing the manifest")
    manifest = _manifest(benchmark, qrel_set, version, queries, written)
    folder = f"releases/{benchmark.pk}/{version}-job{job.row.pk}"
    with job.commit() as result:
        for name in written:
            files.publish(job.folder / name, f"{folder}/{name}")
        release = _create(job, qrel_set, version, folder, manifest)
        result.update(version=version, url=release.get_absolute_url())
        transaction.on_commit(lambda: release_published.send(Release, release=release))


def _create(
    job: jobs.RunningJob, qrel_set: QrelSet, version: str, folder: str, manifest: dict[str, Any]
) -> Release:
    major, minor, patch = parse_version(version)
    benchmark = job.benchmark
    return Release.objects.create(
        benchmark=benchmark,
        major=major,
        minor=minor,
        patch=patch,
        state=Release.State.PUBLISHED,
        qrel_set=qrel_set,
        corpus_version=benchmark.current_corpus_version,
        tie_rule=benchmark.tie_rule,
        notes=job.parameters["notes"],
        folder=folder,
        manifest=manifest,
        parent=benchmark.releases.newest_first().first(),
        created_by=job.row.created_by,
        published_at=timezone.now(),
    )


# --- the files -----------------------------------------------------------------------------


def _queries(benchmark: Benchmark) -> Iterator[ReleasedQuery]:
    """Every query that is not excluded, by the bytes of its id."""
    rows = Query.objects.committed().filter(benchmark=benchmark, excluded_reason="")
    for row in sorted(rows.select_related("family"), key=lambda row: row.qid.encode()):
        yield ReleasedQuery(row.qid, row.text, row.family.split or DEFAULT_SPLIT, _metadata(row))


def _metadata(row: Query) -> dict[str, Any]:
    return {
        "family": str(row.family_id),
        "description": row.description,
        "narrative": row.narrative,
        "frequency": row.frequency,
        "first_seen": row.first_seen_at.isoformat() if row.first_seen_at else None,
    }


def _write_all(
    job: jobs.RunningJob, qrel_set: QrelSet, queries: list[ReleasedQuery]
) -> dict[str, dict[str, Any]]:
    """Write every file into the job's folder; returns {name: {sha256, n_bytes}}."""
    shape = metadata_shape(query.metadata for query in queries)
    written = {
        "queries.jsonl": _write(job.folder, "queries.jsonl", queries_jsonl(queries, shape=shape))
    }
    split_of = {query.qid: query.split for query in queries}
    job.progress(1, 3, "writing qrels")
    rows = [row for row in selectors.qrels_of(qrel_set) if row[0] in split_of]
    for split in sorted(set(split_of.values())):
        name = f"qrels/{split}.tsv"
        judged = (row for row in rows if split_of[row[0]] == split and row[2] >= 0)
        written[name] = _write(job.folder, name, qrels_tsv(judged, file=name))
    written["qrels.trec"] = _write(job.folder, "qrels.trec", trec_lines(rows))
    return written


def trec_lines(rows: Iterable[tuple[str, str, int]]) -> Iterator[bytes]:
    """TREC qrels: `qid 0 docid grade`, one space, no header."""
    for qid, docid, grade in rows:
        yield f"{qid} 0 {docid} {grade}\n".encode()


def _write(folder: Path, name: str, pieces: Iterable[bytes]) -> dict[str, Any]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    digest, n_bytes = hashlib.sha256(), 0
    with path.open("wb") as out:
        for piece in pieces:
            digest.update(piece)
            n_bytes += len(piece)
            out.write(piece)
    return {"sha256": digest.hexdigest(), "n_bytes": n_bytes}


def _manifest(
    benchmark: Benchmark,
    qrel_set: QrelSet,
    version: str,
    queries: list[ReleasedQuery],
    written: dict[str, Any],
) -> dict[str, Any]:
    corpus = benchmark.current_corpus_version
    return {
        "format": MANIFEST_FORMAT,
        "benchmark": benchmark.slug,
        "version": version,
        "unit": benchmark.unit,
        "tie_rule": benchmark.tie_rule,
        "grades": list(benchmark.grades.values("value", "name", "is_relevant")),
        "qrels": {
            "name": qrel_set.name,
            "kind": qrel_set.kind,
            "digest": qrel_set.digest,
            "as_of_event": qrel_set.as_of_event,
            "rule": f"{qrel_set.rule} v{qrel_set.rule_version}" if qrel_set.rule else None,
            "derivation": qrel_set.parameters,
            "n": qrel_set.n_qrels,
            "n_relevant": qrel_set.n_relevant,
            "n_queries": qrel_set.n_queries,
        },
        "n_queries": len(queries),
        "corpus": corpus
        and {
            "version": corpus.number,
            "sha256": corpus.sha256,
            "n_documents": corpus.n_documents,
            "metadata_kinds": _metadata_kinds(benchmark),
        },
        "files": written,
        "warnings": _warnings(qrel_set, queries),
    }


def _metadata_kinds(benchmark: Benchmark) -> dict[str, list[str]]:
    """Types of the documents' metadata, learned once for all exports."""
    version = benchmark.current_corpus_version
    if version is None or not benchmark.corpus.has_texts:
        return {}
    documents = selectors.corpus_reader(version).iterate()
    shape = metadata_shape(document.metadata for document in documents)
    return {key: sorted(kinds) for key, kinds in shape.kinds.items()}


def _warnings(qrel_set: QrelSet, queries: list[ReleasedQuery]) -> list[str]:
    """What a reader of the field would stumble over."""
    said = [
        f"query id '{query.qid}': {hazard}" for query in queries if (hazard := id_hazard(query.qid))
    ]
    n_negative = qrel_set.qrels.filter(grade__lt=0).count()
    if n_negative:
        said.insert(0, f"{n_negative} pairs pooled but not judged are in qrels.trec only")
    return said[:WARNINGS_KEPT]

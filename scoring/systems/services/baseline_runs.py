"""What a baseline is asked to be, and the run that comes of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from math import ceil
from pathlib import Path
from typing import Any

from django.conf import settings

from benchmarks_app.collections.services import runs, uploading
from benchmarks_app.common.selectors.reading import corpus_reader
from benchmarks_app.models import Benchmark, CorpusVersion, Run, User
from benchwright.evaluation.latency import latency_summary
from benchwright.files.sources import open_lines
from benchwright.formats.trec import RunRow, write_run
from benchwright.retrieval.catalog import Entry, entry_named
from benchwright.retrieval.searching import Result
from scoring.models import Retrieval, RunLatencies
from scoring.scores.services.latencies import keep_latencies
from scoring.systems.services.baseline_timing import Taken, hardware

SYSTEM_KEY = "system"
DEPTH = 100
PACKAGE = "benchwright"


@dataclass(frozen=True)
class Asked:
    """A system to run, on which texts, in which language, how deep, and by how many workers."""

    system: str
    language: str
    depth: int
    corpus_version: int
    n_shards: int = 1

    @classmethod
    def of(cls, parameters: dict[str, Any]) -> "Asked":
        return cls(**{name: parameters[name] for name in cls.__dataclass_fields__})

    def parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def entry(self) -> Entry:
        return entry_named(self.system)

    @property
    def version(self) -> CorpusVersion:
        return CorpusVersion.objects.get(pk=self.corpus_version)


def shards_for(entry: Entry, n_documents: int) -> int:
    """How many parts a corpus is taken in: one, unless it has more than SHARD_DOCUMENTS."""
    return max(1, ceil(n_documents / settings.SHARD_DOCUMENTS)) if entry.in_shards else 1


def texts_between(version: CorpusVersion, start: int, stop: int) -> Iterator[tuple[str, str]]:
    """(docid, title and text) of the documents at these places of a corpus version."""
    for document in corpus_reader(version).between(start, stop):
        yield document.docid, f"{document.title}\n{document.text}".strip()


def corpus_texts(version: CorpusVersion) -> Iterator[tuple[str, str]]:
    """(docid, title and text) of every document of a corpus version."""
    return texts_between(version, 0, version.n_documents)


def query_texts(benchmark: Benchmark) -> list[tuple[str, str]]:
    """(qid, text) of every query, by the bytes of the ids."""
    pairs = benchmark.queries.committed().values_list("qid", "text")
    return sorted(pairs, key=lambda pair: pair[0].encode())


def write_results(results: Iterable[Result], system: str, path: Path) -> int:
    """Write results as a TREC run; returns its rows."""
    n = 0
    with path.open("wb") as out:
        for n, line in enumerate(write_run(_rows(results, system)), start=1):  # noqa: B007  # the count
            out.write(line)
    return n


def _rows(results: Iterable[Result], system: str) -> Iterator[RunRow]:
    for qid, hits in results:
        for rank, (docid, score) in enumerate(hits, start=1):
            yield RunRow(0, qid.encode(), docid.encode(), score, rank, system.encode())


def staged_run(benchmark: Benchmark, path: Path, folder: Path) -> runs.StagedRun:
    """The written run, checked and as it is stored."""
    lines = open_lines(path)
    return runs.stage_run(lines=lines, file=path.name, folder=folder, benchmark=benchmark)


def create_baseline(
    *,
    benchmark: Benchmark,
    user: User,
    asked: Asked,
    taken: Taken,
    n_queries: int,
    path: Path,
    staged: runs.StagedRun,
) -> Run:
    """Make the run of a written file, with what is known of its making; inside a transaction."""
    upload = uploading.receive_path(benchmark=benchmark, owner=user, path=path)
    version = asked.version
    name = _free_name(benchmark, asked, version)
    uploading.mark_imported(upload, f"baseline '{name}'")
    run = runs.create_run(
        staged=staged,
        benchmark=benchmark,
        name=name,
        owner=user,
        sha256=upload.sha256,
        upload=upload,
        kind=Run.Kind.BASELINE,
        description=asked.entry.description,
        metadata=_facts(asked, version, taken),
    )
    Retrieval.objects.create(
        run=run,
        corpus_version=version,
        system=asked.system,
        language=asked.language,
        depth=asked.depth,
        n_queries=n_queries,
        n_shards=asked.n_shards,
        indexing_seconds=taken.indexing_seconds,
        memory_bytes=taken.memory_bytes,
    )
    here = RunLatencies.Source.HERE
    keep_latencies(run=run, milliseconds=taken.milliseconds, source=here, folder=path.parent)
    return run


def _facts(baseline: Asked, version: CorpusVersion, times: Taken) -> dict[str, Any]:
    facts: dict[str, Any] = {
        SYSTEM_KEY: f"{baseline.system}, Benchwright {metadata.version(PACKAGE)}",
        **baseline.entry.facts(baseline.language),
        "hardware": hardware(),
        "corpus version": str(version.number),
        "depth": str(baseline.depth),
    }
    if baseline.n_shards > 1:
        facts["shards"] = str(baseline.n_shards)
    summary = latency_summary(times.milliseconds.values())
    if summary:
        facts["latency_ms"] = round(summary.p50, 3)
    return facts


def _free_name(benchmark: Benchmark, baseline: Asked, version: CorpusVersion) -> str:
    """The system's name, unless a run has it: then one that says what is different."""
    base = baseline.system
    used = set(benchmark.runs.filter(name__startswith=base).values_list("name", flat=True))
    retrievals = Retrieval.objects.filter(run__benchmark=benchmark, system=baseline.system)
    names = [base]
    if retrievals.exclude(language=baseline.language).exists():
        names.append(f"{base} {baseline.language}")
    if retrievals.exclude(depth=baseline.depth).exists():
        names.append(f"{base} to {baseline.depth}")
    if retrievals.exclude(corpus_version=version).exists():
        names.append(f"{base} on v{version.number}")
    names += [f"{base} baseline", *(f"{base} baseline {n}" for n in range(2, 10_000))]
    return next(name for name in names if name not in used)

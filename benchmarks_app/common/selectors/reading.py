"""Reads of the shared nouns that other modules and apps ask for."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from benchmarks_app import files
from benchmarks_app.models import (
    Benchmark,
    CandidateList,
    CorpusVersion,
    Qrel,
    QrelSet,
    Release,
    Run,
    Unit,
)
from benchwright.corpora.store import CorpusReader, StoredDocument
from benchwright.reading import scan_qrels


# Opened anew where the index was written anew: it stays mapped into memory.
@lru_cache(maxsize=8)
def _reader(parquet: Path, index: Path, changed: int) -> CorpusReader:
    return CorpusReader(parquet, index)


def corpus_reader(version: CorpusVersion) -> CorpusReader:
    """The documents of a corpus version, by id or in order; opened once per process."""
    parquet, index = files.local_path(version.parquet), files.local_path(version.index)
    return _reader(parquet, index, index.stat().st_mtime_ns)


def measures_documents_of_passages(benchmark: Benchmark) -> bool:
    """Whether the benchmark's documents are those that the passages of its corpus are of."""
    return benchmark.unit == Unit.DOCUMENT and benchmark.corpus.unit == Unit.PASSAGE


def corpus_documents(version: CorpusVersion, docids: Iterable[str]) -> dict[str, StoredDocument]:
    """Documents of a version, by id: its rows, and those that its passages are of."""
    wanted_ids, reader = set(docids), corpus_reader(version)
    documents = reader.get(wanted_ids)
    return documents | reader.documents(wanted_ids - documents.keys())


def documents_in_unit(version: CorpusVersion, unit: str) -> Iterator[StoredDocument]:
    """All documents of a version in the unit of a benchmark, by the bytes of their ids."""
    reader = corpus_reader(version)
    is_summed_up = unit == Unit.DOCUMENT and version.n_parents
    return reader.iterate_documents() if is_summed_up else reader.iterate()


def n_documents_in_unit(version: CorpusVersion, unit: str) -> int:
    """How many documents a benchmark of this unit has in a version."""
    is_summed_up = unit == Unit.DOCUMENT and version.n_parents
    return version.n_parents if is_summed_up else version.n_documents


def passages_of(benchmark: Benchmark, docid: str) -> list[StoredDocument]:
    """The passages of a document, in order, where the corpus is one of passages."""
    version = benchmark.current_corpus_version
    if version is None or not version.n_parents:
        return []
    return corpus_reader(version).passages([docid]).get(docid, [])


def benchmark_documents(benchmark: Benchmark, docids: Iterable[str]) -> dict[str, StoredDocument]:
    """Texts of documents of the newest corpus version; what it lacks is absent."""
    version = benchmark.current_corpus_version
    if version is None or not benchmark.corpus.has_texts:
        return {}
    return corpus_documents(version, docids)


def unknown_documents(benchmark: Benchmark, docids: Iterable[str]) -> set[str]:
    """Ids that the newest corpus version lacks, in the benchmark's unit; none without a version."""
    version = benchmark.current_corpus_version
    return missing_documents(version, benchmark, docids) if version else set()


def unknown_names(benchmark: Benchmark, docids: Iterable[str]) -> set[str]:
    """As `unknown_documents`, of a file that may be of passages where documents are measured.

    Its run is summed up, and grades of documents can be made from its grades.
    """
    unknown = unknown_documents(benchmark, docids)
    version = benchmark.current_corpus_version
    if version and measures_documents_of_passages(benchmark):
        return corpus_reader(version).missing(unknown)
    return unknown


def missing_documents(
    version: CorpusVersion, benchmark: Benchmark, docids: Iterable[str]
) -> set[str]:
    """Ids that a version lacks, in the benchmark's unit."""
    reader = corpus_reader(version)
    if measures_documents_of_passages(benchmark):
        return reader.missing_parents(docids)
    return reader.missing(docids)


def run_path(run: Run) -> Path:
    """The run as Parquet: qid, docid, score, rank, in rank order inside each query."""
    return files.local_path(run.parquet)


def candidates_path(listed: CandidateList) -> Path:
    """A list of documents worth judging as Parquet: qid, docid, priority."""
    return files.local_path(listed.parquet)


def qrels_of(qrel_set: QrelSet) -> Iterator[tuple[str, str, int]]:
    """(qid, docid, grade) of a set, ordered by the bytes of both ids, streamed."""
    rows = Qrel.objects.filter(qrel_set=qrel_set)
    pairs = sorted(
        qrel_set.benchmark.queries.committed().values_list("qid", "pk"),
        key=lambda pair: pair[0].encode(),
    )
    for start in range(0, len(pairs), 500):
        block = pairs[start : start + 500]
        grades: dict[int, list[tuple[str, int]]] = {}
        of_block = rows.filter(query__in=[pk for _, pk in block])
        for query_id, docid, grade in of_block.values_list("query_id", "docid", "grade"):
            grades.setdefault(query_id, []).append((docid, grade))
        for qid, pk in block:
            for docid, grade in sorted(grades.get(pk, ()), key=lambda row: row[0].encode()):
                yield qid, docid, grade


def release_file_path(release: Release, name: str) -> Path:
    """One of a release's files, as its manifest says that it is."""
    facts = release.manifest.get("files", {}).get(name, {})
    return files.local_path(f"{release.folder}/{name}", facts.get("sha256", ""))


def release_qrels(release: Release) -> dict[str, dict[str, int]]:
    """{qid: {docid: grade}} from the release's own files, whatever the database says today.

    Those of hidden splits are among them: this is for scoring, and is shown to nobody.
    """
    path, *hidden = release_qrels_paths(release)
    judged = {
        qid.decode(): {docid.decode(): grade for docid, grade in grades.items()}
        for qid, grades in scan_qrels(path).grades.items()
    }
    for of_split in hidden:
        for qid, docid, grade in hidden_rows(of_split):
            judged.setdefault(qid, {})[docid] = grade
    return judged


def release_qrels_paths(release: Release) -> list[Path]:
    """The files that its grades are in; each is what it was when it was published."""
    names = ["qrels.trec", *(f"hidden/{split}.tsv" for split in release.hidden_splits)]
    return [release_file_path(release, name) for name in names]


def hidden_rows(path: Path) -> Iterator[tuple[str, str, int]]:
    """Query, document and grade of a hidden split; -1 is a pair that was pooled and not judged."""
    with path.open("rb") as stream:
        next(stream)
        for line in stream:
            qid, docid, grade = line.rstrip(b"\n").decode().split("\t")
            yield qid, docid, int(grade)

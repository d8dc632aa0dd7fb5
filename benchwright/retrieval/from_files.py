"""Searchers of files: a corpus indexed whole, from a cache, or in parts that fit into memory."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchwright.detection import FileKind, guess, part_of
from benchwright.detection.files import guess_as
from benchwright.detection.rows import document_rows
from benchwright.errors import CutoffError, DuplicateDocumentError, Problems
from benchwright.files.encodings import as_bytes
from benchwright.files.inputs import FileInput
from benchwright.findings import Finding
from benchwright.retrieval import pitfalls
from benchwright.retrieval.cache import cache_folder, cached
from benchwright.retrieval.searching import Progress, Result
from benchwright.retrieval.sparse import sharding
from benchwright.retrieval.sparse.analysis import ANALYSIS
from benchwright.retrieval.sparse.index import Counted, Index, count_documents
from benchwright.retrieval.sparse.systems import Parameters, described, system_named
from benchwright.retrieval.sparse.vector_files import VectorSet, read_vectors
from benchwright.retrieval.sparse.vectors import VectorIndex, vector_idf


def corpus_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Id, and title and text, of each document of BEIR's JSON lines, a table, or TREC's documents.

    Read as a stream; also compressed. A table without a header is id and text.

    Raises
    ------
    FileProblemsError
        With the wrong lines, at the end of the file or when there are too many.
    ArchiveError, UnreadableKindError
        If it is damaged or of a kind that is never read.
    """
    file, problems = FileInput(path, str(path)), Problems()
    with TemporaryDirectory(prefix="benchwright-") as unpacked:
        folder = Path(unpacked)
        guessed = guess(file, folder)
        if guessed.kind not in (FileKind.CORPUS, FileKind.DOCUMENTS):
            guessed = guess_as(FileKind.DOCUMENTS, file, folder)
        part = part_of(path.name, guessed)
        for row in document_rows(part, file, folder=folder, problems=problems):
            yield row.docid, f"{row.title}\n{row.text}".strip()
    problems.raise_found()


def file_sha256(path: Path) -> str:
    """SHA-256 of the bytes of a file."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


KIND = "counts"
Texts = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Made:
    """A searcher, what to say about it, and the ids of its documents where they are known."""

    search: Callable[..., Iterator[Result]]
    facts: dict[str, Any]
    findings: tuple[Finding, ...] = ()
    docids: frozenset[str] | None = None


def indexed(corpus: Path, system_name: str, parameters: Parameters, cache: Path | None) -> Made:
    """The index of a file of documents, from the cache where it is of this very file.

    Raises
    ------
    UnknownSystemError, DuplicateDocumentError, FileProblemsError, StoreError
    """
    system = system_named(system_name)

    def count() -> Counted:
        return count_documents(system, parameters, corpus_texts(corpus))

    findings: tuple[Finding, ...] = ()
    if cache is None:
        counted = count()
    else:
        made_by = {"system": system_name, **parameters.facts()}
        key = {**made_by, "analysis": ANALYSIS, "corpus": file_sha256(corpus)}
        cached_counts = cached(
            cache_folder(cache, f"{system_name}-{parameters.language}", corpus.name),
            KIND,
            key,
            make=count,
            to_parts=Counted.stored,
            from_parts=lambda parts: Counted.from_stored(parts, made_by=made_by),
        )
        counted, findings = cached_counts.content, cached_counts.findings
    index = Index.of(system, parameters, counted)
    return Made(index.search, index.facts(), findings, frozenset(counted.docids))


def in_shards(
    corpus: Path, system_name: str, parameters: Parameters, n_shards: int, folder: Path
) -> Made:
    """A searcher of a corpus in parts, of which one is in memory at a time.

    `folder` is where the parts are kept; the file is read twice, as a stream.

    Raises
    ------
    CutoffError
        If `n_shards` is below 1.
    UnknownSystemError, DuplicateDocumentError, FileProblemsError
    """
    if n_shards < 1:
        raise CutoffError(cutoff=n_shards)
    size = -(-_n_documents(corpus) // n_shards)
    stream, folders = corpus_texts(corpus), []
    for number in range(n_shards):
        folders.append(folder / f"shard-{number}")
        part = islice(stream, max(size, 1))
        sharding.count_shard(system_name, part, folders[-1], parameters=parameters)
    statistics = sharding.merged_statistics(list(map(sharding.read_statistics, folders)))

    def search(queries: Texts, *, k: int, progress: Progress | None = None) -> Iterator[Result]:
        best: Iterator[Result] = sharding.merged_results([], k=k)
        for number, folder in enumerate(folders):
            part_progress = _part(progress, number, n_shards)
            results = sharding.search_shard(
                folder, statistics, queries, k=k, progress=part_progress
            )
            # One list of results at a time, not one of each shard.
            best = iter(
                list(sharding.merged_results([best, results] if number else [results], k=k))
            )
        return best

    facts = {
        "system": system_name,
        "description": described(system_named(system_name), parameters),
        **parameters.facts(),
        "n_documents": statistics.n_documents,
        "n_features": len(statistics.vocabulary),
        "shards": n_shards,
    }
    return Made(search, facts)


def _n_documents(corpus: Path) -> int:
    """How many documents a file has, none of them twice.

    Eight bytes of each id are kept, so that ids need not fit into memory with their texts.
    """
    digests = array("Q", (_digest(docid) for docid, _ in corpus_texts(corpus)))
    _, counts = np.unique(np.frombuffer(digests, dtype=np.uint64), return_counts=True)
    if counts.max(initial=0) > 1:
        counted = Counter(_digest(docid) for docid, _ in corpus_texts(corpus))
        repeated = next(docid for docid, _ in corpus_texts(corpus) if counted[_digest(docid)] > 1)
        raise DuplicateDocumentError(docid=repeated, count=counted[_digest(repeated)])
    return len(digests)


def _digest(docid: str) -> int:
    return int.from_bytes(blake2b(as_bytes(docid), digest_size=8).digest(), "big")


def of_vectors(documents: Path, queries: Path, *, idf: bool) -> tuple[Made, list[str]]:
    """A searcher of vectors from files, and the ids of the queries, which it knows already.

    Raises
    ------
    VectorFileError, VectorError
    """
    document_vectors = read_vectors(documents)
    query_vectors = read_vectors(queries, known=document_vectors)
    index = VectorIndex.of(document_vectors.ids, document_vectors.matrix, idf=idf)
    weights = _widened(query_vectors, document_vectors)

    def search(texts: Texts, *, k: int, progress: Progress | None = None) -> Iterator[Result]:
        return index.search_vectors(query_vectors.ids, weights, k=k)

    findings = pitfalls.idf_fits(
        document_vectors.matrix, weights, vector_idf(document_vectors.matrix), is_used=idf
    )
    facts = {"system": "vectors", "description": "precomputed sparse vectors", **index.facts()}
    return Made(search, facts, tuple(findings), frozenset(document_vectors.ids)), list(
        query_vectors.ids
    )


def _widened(queries: VectorSet, documents: VectorSet) -> Any:
    from scipy.sparse import csr_array

    matrix, width = queries.matrix, documents.matrix.shape[1]
    return csr_array((matrix.data, matrix.indices, matrix.indptr), (matrix.shape[0], width))


def _part(progress: Progress | None, at: int, n: int) -> Progress | None:
    if progress is None:
        return None
    return lambda done, of: progress(at * of + done, n * of)

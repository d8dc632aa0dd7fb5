"""A corpus counted and searched in parts, with results equal to the last bit to those of one.

A shard is a folder. First each shard is counted, then their statistics are merged, then each is
searched with the merged statistics, and last the results are merged. A weight depends on its own
document and the merged statistics only, and what is summed is summed in the order of the features,
so a score has the same bits wherever its document lies.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from benchwright.errors import CutoffError
from benchwright.files.encodings import as_bytes
from benchwright.retrieval import storing
from benchwright.retrieval.errors import ShardsDifferError
from benchwright.retrieval.searching import Progress, Result
from benchwright.retrieval.sparse.counting import Statistics, merge_statistics
from benchwright.retrieval.sparse.index import Counted, Index, count_documents
from benchwright.retrieval.sparse.systems import Parameters, system_named

KIND = "shard"


def count_shard(
    system_name: str,
    documents: Iterable[tuple[str, str]],
    folder: Path,
    *,
    parameters: Parameters | None = None,
) -> None:
    """Count one part of a corpus into `folder`, which appears whole or not at all.

    A folder that is there already is replaced, so that a shard counted twice does no harm.

    Raises
    ------
    UnknownSystemError, UnknownLanguageError, ParameterError
    DuplicateDocumentError
        If two documents of this part have one id; across parts, `merged_results` finds them.
    """
    chosen = parameters or Parameters()
    counted = count_documents(system_named(system_name), chosen, documents)
    storing.write_folder(folder, KIND, counted.statistics.made_by, counted.stored())


def read_statistics(folder: Path) -> Statistics:
    """The statistics of one shard.

    Raises
    ------
    StoreError
        If the folder is missing or damaged.
    """
    stored = storing.read_folder(folder, KIND, only=["statistics"])
    return Statistics.from_stored(stored.parts["statistics"], made_by=stored.made_by)


def merged_statistics(shards: Sequence[Statistics]) -> Statistics:
    """The statistics of the whole corpus; `Statistics.write` and `read` keep them in a file.

    Raises
    ------
    ShardsDifferError
        If the shards were not counted by one system with one set of parameters.
    """
    ways = {str(sorted(shard.made_by.items())): shard.made_by for shard in shards}
    if len(ways) > 1:
        raise ShardsDifferError(ways="; ".join(_way(way) for way in ways.values()))
    return merge_statistics(shards)


def open_shard(folder: Path, statistics: Statistics) -> Index:
    """What searches one shard, scored as in the whole corpus; for whoever asks more than once.

    Raises
    ------
    StoreError
        If the folder is missing or damaged.
    ShardsDifferError
        If `statistics` are of another system or other parameters.
    """
    stored = storing.read_folder(folder, KIND)
    if stored.made_by != statistics.made_by:
        raise ShardsDifferError(ways=f"{_way(stored.made_by)}; {_way(statistics.made_by)}")
    system = system_named(str(stored.made_by["system"]))
    counted = Counted.from_stored(stored.parts, made_by=stored.made_by)
    parameters = Parameters(**{name: stored.made_by[name] for name in ("language", "k1", "b")})
    return Index.of(system, parameters, counted, statistics)


def search_shard(
    folder: Path,
    statistics: Statistics,
    queries: Sequence[tuple[str, str]],
    *,
    k: int,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """The k best documents of each query in one shard, scored as in the whole corpus.

    Raises
    ------
    CutoffError
        If `k` is below 1.
    StoreError, ShardsDifferError
        As `open_shard`.
    """
    return open_shard(folder, statistics).search(queries, k=k, progress=progress)


def merged_results(shards: Sequence[Iterable[Result]], *, k: int) -> Iterator[Result]:
    """The k best documents of each query over all shards, in the order of the queries.

    Every shard must have been asked the same queries in the same order, with at least this `k`.
    One query of each shard is in memory at a time.

    Raises
    ------
    CutoffError
        If `k` is below 1; raised by the call.
    ShardsDifferError
        If the shards answer different queries, or two hold one document.
    """
    if k < 1:
        raise CutoffError(cutoff=k)
    return _merged(shards, k)


def _merged(shards: Sequence[Iterable[Result]], k: int) -> Iterator[Result]:
    streams = [iter(shard) for shard in shards]
    for answers in _in_step(streams):
        qids = {qid for qid, _ in answers}
        if len(qids) > 1:
            raise ShardsDifferError(ways=f"queries {', '.join(sorted(qids))} in one place")
        qid = answers[0][0]
        best = heapq.merge(*(ranking for _, ranking in answers), key=_rank, reverse=True)
        ranking = list(islice(best, k))
        _refuse_doubles(qid, ranking)
        yield qid, ranking


def _in_step(streams: Sequence[Iterator[Result]]) -> Iterator[list[Result]]:
    """The next result of each stream, until all end together."""
    while streams:
        answers = [answer for stream in streams for answer in islice(stream, 1)]
        if not answers:
            return
        if len(answers) < len(streams):
            n_short = len(streams) - len(answers)
            raise ShardsDifferError(ways=f"{n_short} of them answered fewer queries")
        yield answers


def _rank(hit: tuple[str, float]) -> tuple[float, bytes]:
    return hit[1], as_bytes(hit[0])


def _refuse_doubles(qid: str, ranking: list[tuple[str, float]]) -> None:
    if len({docid for docid, _ in ranking}) < len(ranking):
        raise ShardsDifferError(ways=f"query {qid}: one document is in two of them")


def _way(made_by: Mapping[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(made_by.items()))

"""An index of texts in memory, and exact search in it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchwright.errors import CutoffError, DuplicateDocumentError
from benchwright.files.encodings import as_bytes
from benchwright.retrieval.errors import ParameterError
from benchwright.retrieval.searching import Progress, Result, Texts, text_pairs
from benchwright.retrieval.sparse.counting import (
    Integers,
    Statistics,
    count_features,
    count_known_features,
)
from benchwright.retrieval.sparse.kernels import kernel_for
from benchwright.retrieval.sparse.postings import Postings
from benchwright.retrieval.sparse.systems import Parameters, System, described, system_named
from benchwright.retrieval.sparse.weighting import Scale

# Queries made vectors at a time.
QUERIES = 512


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts of documents x features; ids descending by their bytes, features in their order."""

    docids: tuple[str, ...]
    counts: csr_array
    statistics: Statistics

    def stored(self) -> dict[str, Any]:
        """Itself as parts of a folder."""
        return {
            "docids": list(self.docids),
            "statistics": self.statistics.stored(),
            "ends": self.counts.indptr,
            "features": self.counts.indices,
            "counts": self.counts.data,
        }

    @classmethod
    def from_stored(cls, parts: Mapping[str, Any], *, made_by: Mapping[str, Any]) -> "Counted":
        """What `stored` gave."""
        statistics = Statistics.from_stored(parts["statistics"], made_by=made_by)
        shape = (len(parts["docids"]), len(statistics.vocabulary))
        counts = csr_array((parts["counts"], parts["features"], parts["ends"]), shape=shape)
        return cls(docids=tuple(parts["docids"]), counts=counts, statistics=statistics)


def count_documents(
    system: System, parameters: Parameters, documents: Iterable[tuple[str, str]]
) -> Counted:
    """The features of each document (id, text), counted; a document may be empty.

    The order of the documents changes nothing: they are sorted by id, so the texts are in memory
    together meanwhile.

    Raises
    ------
    DuplicateDocumentError
        If two documents have one id.
    """
    ordered = sorted(documents, key=lambda document: as_bytes(document[0]), reverse=True)
    docids = tuple(docid for docid, _ in ordered)
    refuse_duplicates(docids)
    expand = system.features(parameters.language)
    counts, features = count_features((text for _, text in ordered), expand)
    statistics = Statistics(
        n_documents=len(docids),
        summed_length=int(counts.data.sum(dtype=np.int64)),
        vocabulary={feature: column for column, feature in enumerate(features)},
        frequencies=np.bincount(counts.indices, minlength=len(features)),
        made_by={"system": system.name, **parameters.facts()},
    )
    return Counted(docids=docids, counts=counts, statistics=statistics)


@dataclass(frozen=True, slots=True)
class Index:
    """What search needs.

    `docids` names the columns of the postings, in descending order of the encoded ids, so that of
    two documents with equal scores the one with the smaller column goes first. `rows` leads from a
    column of the vocabulary of `statistics` to a row of the postings, -1 where they lack it: the
    index of a shard knows the features of the whole corpus.
    """

    system: System
    parameters: Parameters
    docids: tuple[str, ...]
    postings: Postings
    statistics: Statistics
    rows: Integers
    scale: Scale
    kernel: str

    @classmethod
    def of(
        cls,
        system: System,
        parameters: Parameters,
        counted: Counted,
        statistics: Statistics | None = None,
    ) -> "Index":
        """The index of counted documents, weighed by the statistics of the corpus they are of."""
        corpus = statistics or counted.statistics
        scale = Scale(
            idf=corpus.idf(),
            mean_length=corpus.mean_length,
            k1=parameters.k1,
            b=parameters.b,
        )
        columns = _columns_in(corpus, counted.statistics)
        weights = system.weigh_documents(counted.counts, scale.of_columns(columns))
        rows = np.full(len(corpus.vocabulary), -1, dtype=np.int64)
        rows[columns] = np.arange(len(columns))
        return cls(
            system=system,
            parameters=parameters,
            docids=counted.docids,
            postings=Postings.of(weights),
            statistics=corpus,
            rows=rows,
            scale=scale,
            kernel=kernel_for(counted.counts.nnz),
        )

    def facts(self) -> dict[str, Any]:
        """How it finds what it finds, as JSON can hold it."""
        chosen = self.parameters.facts()
        if not self.system.is_bm25:
            chosen = {"language": chosen["language"]}
        return {
            "system": self.system.name,
            "description": described(self.system, self.parameters),
            **chosen,
            "idf": "ln(1 + (N - df + 0.5) / (df + 0.5))",
            "ties": "document id descending",
            "kernel": self.kernel,
            "n_documents": self.statistics.n_documents,
            "n_features": len(self.statistics.vocabulary),
        }

    def search(
        self,
        queries: Texts,
        *,
        k: int,
        progress: Progress | None = None,
        kernel: str | None = None,
    ) -> Iterator[Result]:
        """The k best documents of each query, in the order of the queries; exact.

        Only scores above 0 are results, so there may be fewer than `k`, or none. Order: score
        descending, then document id as bytes descending. The kernel changes the speed and nothing
        else.

        Raises
        ------
        CutoffError
            If `k` is below 1; raised by the call, not by the first result.
        """
        if k < 1:
            raise CutoffError(cutoff=k)
        return self._results(list(text_pairs(queries)), k, progress, kernel or self.kernel)

    def retrieve(self, text: str, k: int = 10) -> list[tuple[str, float]]:
        """The `k` best documents of one query, as `search` finds them."""
        return self.retrieve_many([text], k)[0]

    def retrieve_many(self, texts: Sequence[str], k: int = 10) -> list[list[tuple[str, float]]]:
        """The `k` best documents of each query: quicker than one after the other."""
        if isinstance(texts, str):  # whose letters would be queries
            expected = "a list of texts; `retrieve` takes one"
            raise ParameterError(name="texts", value="one text", expected=expected)
        return [ranking for _, ranking in self.search([("", text) for text in texts], k=k)]

    def _results(
        self,
        queries: Sequence[tuple[str, str]],
        k: int,
        progress: Progress | None,
        kernel: str,
    ) -> Iterator[Result]:
        for start in range(0, len(queries), QUERIES):
            block = queries[start : start + QUERIES]
            weights = self._query_weights([text for _, text in block])
            places = self.postings.search(weights, k, kernel=kernel)
            for (qid, _), (columns, scores) in zip(block, places, strict=True):
                names = map(self.docids.__getitem__, columns.tolist())
                yield qid, list(zip(names, scores.tolist(), strict=True))
            if progress:
                progress(start + len(block), len(queries))

    def _query_weights(self, texts: Sequence[str]) -> csr_array:
        """Queries x rows of the postings, the columns of a row in the order of the features."""
        expand = self.system.features(self.parameters.language)
        counts = count_known_features(texts, expand, self.statistics.vocabulary)
        return _selected(self.system.weigh_queries(counts, self.scale), self.rows)


def build_index(
    system_name: str,
    documents: Texts,
    *,
    parameters: Parameters | None = None,
) -> Index:
    """An index of `documents` for one of `SYSTEMS`; a document may be empty.

    The order of the documents changes nothing. The texts are in memory together while the index is
    built; it keeps none of them.

    Raises
    ------
    UnknownSystemError
        If `system_name` is not in `SYSTEMS`.
    DuplicateDocumentError
        If two documents have one id.
    """
    system, chosen = system_named(system_name), parameters or Parameters()
    return Index.of(system, chosen, count_documents(system, chosen, text_pairs(documents)))


def refuse_duplicates(docids: Sequence[str]) -> None:
    """Raise where an id is there twice."""
    if len(set(docids)) == len(docids):
        return
    docid, count = Counter(docids).most_common(1)[0]
    raise DuplicateDocumentError(docid=docid, count=count)


def _columns_in(corpus: Statistics, part: Statistics) -> Integers:
    """Where the features of a part are among those of the corpus."""
    if corpus is part:
        return np.arange(len(part.vocabulary))
    return np.array([corpus.vocabulary[name] for name in part.vocabulary], dtype=np.int64)


def _selected(weights: csr_array, rows: Integers) -> csr_array:
    """With the columns renumbered by `rows`, those of -1 left out, in the order they were."""
    places = rows[weights.indices]
    is_kept = places >= 0
    ends = np.concatenate([[0], np.cumsum(is_kept)])[weights.indptr]
    # The rows of postings are in the order of the features, so the columns stay ascending.
    shape = (weights.shape[0], len(rows))
    return csr_array((weights.data[is_kept], places[is_kept], ends), shape=shape)

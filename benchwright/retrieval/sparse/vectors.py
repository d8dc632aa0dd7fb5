"""Sparse vectors of any encoder as matrices, checked, and an index of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from operator import index as whole_number
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from benchwright.errors import CutoffError
from benchwright.files.encodings import as_bytes
from benchwright.retrieval.errors import EncoderError, NoEncoderError, ParameterError, VectorError
from benchwright.retrieval.searching import Progress, Result
from benchwright.retrieval.sparse.counting import Floats, inverse_document_frequency
from benchwright.retrieval.sparse.index import refuse_duplicates
from benchwright.retrieval.sparse.kernels import kernel_for
from benchwright.retrieval.sparse.postings import Postings

BATCH = 512

Vectors = Any
"""A sequence of {dimension: weight}, a sparse matrix of scipy's, or an array of two dimensions."""

Encode = Callable[[list[str]], Vectors]


class Encoder(Protocol):
    """What an external sparse encoder is to us."""

    def encode_documents(self, texts: list[str]) -> Vectors:
        """A vector for each document."""
        ...

    def encode_queries(self, texts: list[str]) -> Vectors:
        """A vector for each query."""
        ...


def as_matrix(vectors: Vectors, sparse_dim: int, *, places: Sequence[str]) -> csr_array:
    """Vectors as texts x dimensions, float64, columns ascending and without zeros.

    `places` says how a message calls each row, such as `document 'd7'`.

    Raises
    ------
    EncoderError
        If there are not as many vectors as places, or they are nothing that vectors can be.
    VectorError
        If a dimension is not a whole number from 0 to `sparse_dim` - 1, or a weight not finite.
    """
    if not isinstance(vectors, Iterable):
        reason = (
            f"returned {type(vectors).__name__}; expected a mapping for each text, or a matrix."
        )
        raise EncoderError(method="the encoder", reason=f"{reason} Mend the encoder.")
    if issparse(vectors) or isinstance(vectors, np.ndarray):
        matrix = _of_matrix(vectors, sparse_dim, places)
    else:
        matrix = _of_mappings(list(vectors), sparse_dim, places)
    _refuse_weights(matrix, places)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def encode_in_batches(
    texts: Iterable[tuple[str, str]],
    encode: Encode,
    sparse_dim: int,
    *,
    what: str = "document",
    batch_size: int = BATCH,
) -> csr_array:
    """The vectors of texts (id, text) as one matrix, encoded `batch_size` at a time.

    What an encoder returns for a batch is put into numbers at once: only those are kept.

    Raises
    ------
    EncoderError, VectorError
        As `as_matrix`.
    ParameterError
        If `sparse_dim` or `batch_size` is below 1.
    """
    for name, number in (("sparse_dim", sparse_dim), ("batch_size", batch_size)):
        if number < 1:
            raise ParameterError(name=name, value=number, expected="a whole number of at least 1")
    stream, parts = iter(texts), [csr_array((0, sparse_dim))]
    while batch := list(islice(stream, batch_size)):
        places = [f"{what} '{name}'" for name, _ in batch]
        vectors = encode([text for _, text in batch])
        parts.append(as_matrix(vectors, sparse_dim, places=places))
    return vstack(parts, format="csr")


def vector_idf(matrix: csr_array) -> Floats:
    """ln(1 + (N - df + 0.5) / (df + 0.5)), df being the documents with a weight other than 0."""
    frequencies = np.bincount(matrix.indices, minlength=matrix.shape[1])
    return inverse_document_frequency(frequencies, matrix.shape[0])


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """Documents as vectors; `docids` descend by their bytes and name the columns of the postings.

    `idf` is what the weights of a query are multiplied by, None where they carry it already.
    """

    docids: tuple[str, ...]
    postings: Postings
    sparse_dim: int
    idf: Floats | None
    encode_queries: Encode | None
    kernel: str

    @classmethod
    def of(
        cls,
        docids: Sequence[str],
        matrix: csr_array,
        *,
        idf: bool,
        encode_queries: Encode | None = None,
    ) -> "VectorIndex":
        """The index of a matrix (documents x dimensions) whose rows have these ids.

        Raises
        ------
        DuplicateDocumentError
            If two rows have one id.
        EncoderError
            If there is not one id for each row.
        """
        if len(docids) != matrix.shape[0]:
            reason = f"{len(docids)} ids for {matrix.shape[0]} rows; expected one each."
            raise EncoderError(method="the documents", reason=f"{reason} Name each row.")
        refuse_duplicates(docids)
        order = sorted(range(len(docids)), key=lambda row: as_bytes(docids[row]), reverse=True)
        is_ordered = order == list(range(len(order)))
        return cls(
            docids=tuple(docids[row] for row in order),
            postings=Postings.of(matrix if is_ordered else matrix[order]),
            sparse_dim=matrix.shape[1],
            idf=vector_idf(matrix) if idf else None,
            encode_queries=encode_queries,
            kernel=kernel_for(matrix.nnz),
        )

    def search(
        self,
        queries: Sequence[tuple[str, str]],
        *,
        k: int,
        progress: Progress | None = None,
        batch_size: int = BATCH,
    ) -> Iterator[Result]:
        """The k best documents of each query (id, text), encoded `batch_size` at a time; exact.

        Only scores above 0 are results. Order: score descending, then document id as bytes
        descending.

        Raises
        ------
        CutoffError
            If `k` is below 1; raised by the call.
        NoEncoderError
            If the index has no encoder; raised by the call.
        EncoderError, VectorError
            If the encoder returns what no vector can be.
        """
        if k < 1:
            raise CutoffError(cutoff=k)
        if self.encode_queries is None:
            raise NoEncoderError
        return self._encoded(queries, self.encode_queries, k, progress, batch_size)

    def search_vectors(
        self, qids: Sequence[str], vectors: Vectors, *, k: int, kernel: str | None = None
    ) -> Iterator[Result]:
        """The k best documents of each query, given as vectors; otherwise as `search`.

        Raises
        ------
        CutoffError
            If `k` is below 1; raised by the call.
        EncoderError, VectorError
            If they are no vectors of these queries; raised by the call.
        """
        if k < 1:
            raise CutoffError(cutoff=k)
        places = [f"query '{qid}'" for qid in qids]
        weights = self.weighed(as_matrix(vectors, self.sparse_dim, places=places))
        return self._named(qids, weights, k, kernel or self.kernel)

    def weighed(self, queries: csr_array) -> csr_array:
        """Query vectors times the idf, where this index has one."""
        if self.idf is None:
            return queries
        data = queries.data * self.idf[queries.indices]
        return csr_array((data, queries.indices, queries.indptr), shape=queries.shape)

    def facts(self) -> dict[str, Any]:
        """How it finds what it finds, as JSON can hold it."""
        formula = "ln(1 + (N - df + 0.5) / (df + 0.5)), on the query's side"
        return {
            "idf": "none of ours" if self.idf is None else formula,
            "ties": "document id descending",
            "kernel": self.kernel,
            "n_documents": len(self.docids),
            "sparse_dim": self.sparse_dim,
        }

    def _encoded(
        self,
        queries: Sequence[tuple[str, str]],
        encode: Encode,
        k: int,
        progress: Progress | None,
        batch_size: int,
    ) -> Iterator[Result]:
        for start in range(0, len(queries), batch_size):
            block = queries[start : start + batch_size]
            vectors = encode([text for _, text in block])
            yield from self.search_vectors([qid for qid, _ in block], vectors, k=k)
            if progress:
                progress(start + len(block), len(queries))

    def _named(
        self, qids: Sequence[str], weights: csr_array, k: int, kernel: str
    ) -> Iterator[Result]:
        places = self.postings.search(weights, k, kernel=kernel)
        for qid, (columns, scores) in zip(qids, places, strict=True):
            names = map(self.docids.__getitem__, columns.tolist())
            yield qid, list(zip(names, scores.tolist(), strict=True))


# --- from what an encoder returns ----------------------------------------------------------------


def _of_matrix(vectors: Any, sparse_dim: int, places: Sequence[str]) -> csr_array:
    if vectors.ndim != 2:
        reason = f"{vectors.ndim} dimensions; expected 2: texts x dimensions. Give a matrix."
        raise EncoderError(method="the encoder", reason=reason)
    matrix = csr_array(vectors, dtype=np.float64, copy=True)
    _refuse_count(matrix.shape[0], places)
    _refuse_structure(matrix)
    if matrix.shape[1] > sparse_dim:
        reason = f"{matrix.shape[1]} dimensions; expected at most {sparse_dim}. Raise sparse_dim."
        raise EncoderError(method="the encoder", reason=reason)
    matrix.sum_duplicates()
    return csr_array((matrix.data, matrix.indices, matrix.indptr), (len(places), sparse_dim))


def _refuse_structure(matrix: csr_array) -> None:
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        reason = f"its index is not one of a sparse matrix ({error}). Make the matrix anew."
        raise EncoderError(method="the encoder", reason=reason) from error


def _of_mappings(
    vectors: Sequence[Mapping[Any, Any]], sparse_dim: int, places: Sequence[str]
) -> csr_array:
    _refuse_count(len(vectors), places)
    columns, weights, ends = [], [], [0]
    for place, vector in zip(places, vectors, strict=True):
        for dimension, weight in _items(vector, place):
            columns.append(_dimension(dimension, sparse_dim, place))
            weights.append(_weight(weight, dimension, place))
        ends.append(len(columns))
    data = np.array(weights, dtype=np.float64)
    shape = (len(vectors), sparse_dim)
    return csr_array((data, np.array(columns, dtype=np.int64), np.array(ends)), shape=shape)


def _items(vector: Any, place: str) -> Iterable[tuple[Any, Any]]:
    try:
        items: Iterable[tuple[Any, Any]] = vector.items()
    except AttributeError:
        reason = f"is {type(vector).__name__}; expected a mapping of dimensions to weights."
        raise VectorError(place=place, reason=f"{reason} Return one for each text.") from None
    return items


def _dimension(value: Any, sparse_dim: int, place: str) -> int:
    try:
        number = whole_number(value)
    except TypeError:
        number = -1
    if not 0 <= number < sparse_dim:
        expected = f"expected a whole number from 0 to {sparse_dim - 1}"
        reason = f"dimension is {value!r}; {expected}. Check the encoder and sparse_dim."
        raise VectorError(place=place, reason=reason)
    return number


def _weight(value: Any, dimension: Any, place: str) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = float("nan")
    if not isfinite(weight):
        raise VectorError(place=place, reason=_not_finite(dimension, value))
    return weight


def _refuse_count(n: int, places: Sequence[str]) -> None:
    if n != len(places):
        reason = f"returned {n} vectors for {len(places)} texts; expected one for each."
        raise EncoderError(method="the encoder", reason=f"{reason} Mend the encoder.")


def _refuse_weights(matrix: csr_array, places: Sequence[str]) -> None:
    wrong = np.flatnonzero(~np.isfinite(matrix.data))
    if len(wrong):
        row = int(np.searchsorted(matrix.indptr, wrong[0], side="right")) - 1
        reason = _not_finite(int(matrix.indices[wrong[0]]), float(matrix.data[wrong[0]]))
        raise VectorError(place=places[row], reason=reason)


def _not_finite(dimension: Any, weight: Any) -> str:
    return (
        f"the weight of dimension {dimension} is {weight!r}; expected a finite number. "
        "Check the encoder."
    )

"""Counts of features in texts, as sparse matrices, and what a whole corpus says about them."""

import json
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from benchwright.retrieval.errors import StoreError
from benchwright.retrieval.sparse.analysis import Expansion, words_of

Vocabulary = Mapping[str, int]
"""Feature to column; columns are in the order of the features."""

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Texts counted at a time: their words are Python objects only until the batch is done.
BATCH = 4096


@dataclass(frozen=True, slots=True)
class Statistics:
    """What weights need to know of a corpus; `frequencies[column]` is documents with the feature.

    `summed_length` is the number of features in all documents, repeated ones counted again.
    """

    n_documents: int
    summed_length: int
    vocabulary: Vocabulary
    frequencies: Integers
    made_by: Mapping[str, Any] = field(default_factory=dict)

    @property
    def mean_length(self) -> float:
        """Features a document; 1.0 in a corpus without any."""
        return self.summed_length / self.n_documents if self.summed_length else 1.0

    def idf(self) -> Floats:
        """ln(1 + (N - df + 0.5) / (df + 0.5)) of each feature; above 0 even where all have it."""
        return inverse_document_frequency(self.frequencies, self.n_documents)

    def stored(self) -> dict[str, Any]:
        """Itself as JSON can hold it."""
        return {
            "n_documents": self.n_documents,
            "summed_length": self.summed_length,
            "features": list(self.vocabulary),
            "frequencies": self.frequencies.tolist(),
        }

    @classmethod
    def from_stored(
        cls, stored: Mapping[str, Any], *, made_by: Mapping[str, Any] | None = None
    ) -> "Statistics":
        """What `stored` gave."""
        return cls(
            n_documents=stored["n_documents"],
            summed_length=stored["summed_length"],
            vocabulary=_columns_of(stored["features"]),
            frequencies=np.array(stored["frequencies"], dtype=np.int64),
            made_by=made_by or {},
        )

    def write(self, path: Path) -> None:
        """Keep it in a file, which appears whole or not at all."""
        staged = path.with_name(f".{path.name}.part")
        staged.write_text(json.dumps({"made_by": dict(self.made_by), **self.stored()}))
        staged.replace(path)

    @classmethod
    def read(cls, path: Path) -> "Statistics":
        """What `write` kept.

        Raises
        ------
        StoreError
            If the file is missing or damaged.
        """
        try:
            stored = json.loads(path.read_bytes())
            return cls.from_stored(stored, made_by=stored["made_by"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            reason = f"cannot be read as statistics ({error!r}). Count the shards again."
            raise StoreError(folder=path, reason=reason) from error


def merge_statistics(shards: Sequence[Statistics]) -> Statistics:
    """The statistics of the corpus that the shards make up together."""
    frequencies: Counter[str] = Counter()
    for shard in shards:
        frequencies.update(dict(zip(shard.vocabulary, shard.frequencies.tolist(), strict=True)))
    features = sorted(frequencies)
    return Statistics(
        n_documents=sum(shard.n_documents for shard in shards),
        summed_length=sum(shard.summed_length for shard in shards),
        vocabulary=_columns_of(features),
        frequencies=np.array([frequencies[feature] for feature in features], dtype=np.int64),
        made_by=shards[0].made_by if shards else {},
    )


def inverse_document_frequency(frequencies: Integers, n_documents: int) -> Floats:
    """ln(1 + (N - df + 0.5) / (df + 0.5)) for each df, one logarithm for each distinct df.

    Not `numpy.log1p`, whose last bit may depend on where in the array a number stands.
    """
    distinct, places = np.unique(frequencies, return_inverse=True)
    table = [math.log1p((n_documents - df + 0.5) / (df + 0.5)) for df in distinct.tolist()]
    idf: Floats = np.array(table, dtype=np.float64)[places]
    return idf


# --- counting documents --------------------------------------------------------------------------


def count_features(texts: Iterable[str], expand: Expansion) -> tuple[csr_array, list[str]]:
    """How often each feature is in each text (texts x features), and the features, sorted.

    The columns are in the order of the features and ascending in each row, so that what is summed
    over a row never depends on the other rows.
    """
    numbers = _Numbering()
    batches = [_counts_of(batch, expand, numbers) for batch in _batches(texts)]
    features = sorted(numbers)
    columns = np.empty(len(features), dtype=np.int64)
    columns[[numbers[feature] for feature in features]] = np.arange(len(features))
    return _joined(batches, columns), features


def _counts_of(texts: Sequence[str], expand: Expansion, numbers: "_Numbering") -> csr_array:
    """Counts of one batch; its columns are the numbers given so far.

    A word is expanded once a batch, however often the texts hold it: the counts are the product of
    texts x words and words x features.
    """
    word_numbers = _Numbering()
    words = _counts(map(words_of, texts), word_numbers)
    features = _counts(expand(list(word_numbers)), numbers)
    return (words @ features).tocsr()


def _joined(batches: Sequence[csr_array], columns: Integers) -> csr_array:
    """The batches below each other, their columns renumbered."""
    if not batches:
        return csr_array((0, len(columns)), dtype=np.int32)
    return vstack([_renumbered(batch, columns) for batch in batches], format="csr")


def _renumbered(counts: csr_array, columns: Integers) -> csr_array:
    """In 8 bytes an entry, for most of a corpus's memory is counts."""
    places = (columns[counts.indices].astype(np.int32), counts.indptr)
    shape = (counts.shape[0], len(columns))
    renumbered = csr_array((counts.data.astype(np.int32), *places), shape=shape)
    renumbered.sort_indices()
    return renumbered


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    stream = iter(texts)
    while batch := list(islice(stream, BATCH)):
        yield batch


# --- counting queries ----------------------------------------------------------------------------


def count_known_features(
    texts: Sequence[str], expand: Expansion, vocabulary: Vocabulary
) -> csr_array:
    """How often each feature of `vocabulary` is in each text; features outside it are left out.

    The columns of a row are ascending, so that what is summed over them never depends on the
    other rows.
    """
    word_numbers = _Numbering()
    words = _counts(map(words_of, texts), word_numbers)
    known_features = [
        [feature for feature in features if feature in vocabulary]
        for features in expand(list(word_numbers))
    ]
    expanded = _counts(known_features, vocabulary, n_columns=len(vocabulary))
    counts = (words @ expanded).tocsr()
    counts.sort_indices()
    return counts


class _Numbering(defaultdict[str, int]):
    """Gives each new item the next free number."""

    def __init__(self) -> None:
        super().__init__()
        self.default_factory = self.__len__


def _counts(
    rows: Iterable[Iterable[str]], numbers: Mapping[str, int], *, n_columns: int | None = None
) -> csr_array:
    columns, row_ends = array("q"), array("q", [0])
    for row in rows:
        columns.extend(map(numbers.__getitem__, row))
        row_ends.append(len(columns))
    places = (np.array(columns, dtype=np.int64), np.array(row_ends, dtype=np.int64))
    width = len(numbers) if n_columns is None else n_columns
    counts = csr_array((np.ones(len(columns)), *places), shape=(len(row_ends) - 1, width))
    counts.sum_duplicates()
    return counts


def _columns_of(features: Iterable[str]) -> dict[str, int]:
    return {feature: column for column, feature in enumerate(features)}

"""Counts of features in texts, as sparse matrices."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import csr_array

from scoring.core.retrieval.analysis import Expansion, words_of

Vocabulary = dict[str, int]
"""Feature to column."""


def count_features(texts: Iterable[str], expand: Expansion) -> tuple[csr_array, Vocabulary]:
    """How often each feature is in each text (texts x features), and the column of each feature.

    A word is expanded once, however often the texts hold it: the counts are the product of
    texts x words and words x features.
    """
    words, word_columns = _count_words(texts)
    features, feature_columns = _count_in_words(expand(list(word_columns)))
    return (words @ features).tocsr(), feature_columns


def count_known_features(
    texts: Sequence[str], expand: Expansion, vocabulary: Vocabulary
) -> csr_array:
    """How often each feature of `vocabulary` is in each text; features outside it are left out.

    The columns of a row are ascending, so that what is summed over them never depends on the
    other rows.
    """
    words, word_columns = _count_words(texts)
    columns, row_ends = array("q"), array("q", [0])
    for features in expand(list(word_columns)):
        columns.extend(vocabulary[feature] for feature in features if feature in vocabulary)
        row_ends.append(len(columns))
    expanded = _counts(columns, row_ends, n_columns=len(vocabulary))
    known = (words @ expanded).tocsr()
    known.sort_indices()
    return known


def _count_words(texts: Iterable[str]) -> tuple[csr_array, Vocabulary]:
    return _count_in_words(map(words_of, texts))


def _count_in_words(rows: Iterable[Iterable[str]]) -> tuple[csr_array, Vocabulary]:
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__  # a new item gets the next free column
    columns, row_ends = array("q"), array("q", [0])
    for row in rows:
        columns.extend(map(vocabulary.__getitem__, row))
        row_ends.append(len(columns))
    return _counts(columns, row_ends, n_columns=len(vocabulary)), dict(vocabulary)


def _counts(columns: "array[int]", row_ends: "array[int]", *, n_columns: int) -> csr_array:
    ones = np.ones(len(columns))
    places = (np.array(columns, dtype=np.int64), np.array(row_ends, dtype=np.int64))
    counts = csr_array((ones, *places), shape=(len(row_ends) - 1, n_columns))
    counts.sum_duplicates()
    return counts

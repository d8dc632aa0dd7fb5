"""Texts as vectors of unit length over hashed 4-grams of characters, rare ones counting more."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from benchwright.families.normalising import normalised

GRAM = 4
N_FEATURES = 1 << 20
_MIXERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)
_CHUNK = 20_000  # texts at a time: their grams are numbered in 8 bytes each

Matrix = Any
"""A `scipy.sparse.csr_array` of float32: one row a text."""


def weighted_grams(texts: Sequence[str]) -> Matrix:
    """TF-IDF of the texts' 4-grams, shape (texts, features), each row of length 1 or empty.

    A gram may reach over a space; one blank is put before and after the text. Columns are in the
    order of how many texts have them, the rarest first, so that a row begins with what tells it
    from others. Only a text of no character has an empty row.
    """
    counted = [_counted(texts[start : start + _CHUNK]) for start in range(0, len(texts), _CHUNK)]
    n_texts_with = np.zeros(N_FEATURES, dtype=np.int64)
    for counts in counted:
        n_texts_with += np.bincount(counts.indices, minlength=N_FEATURES)
    used = np.flatnonzero(n_texts_with)
    rarest_first = used[np.argsort(n_texts_with[used], kind="stable")]
    place = np.zeros(N_FEATURES, dtype=np.int32)
    place[rarest_first] = np.arange(rarest_first.size, dtype=np.int32)
    rarity = np.log((1 + len(texts)) / (1 + n_texts_with)) + 1
    lengths = [np.diff(counts.indptr) for counts in counted]
    ends = np.cumsum(np.concatenate([[0], *lengths]))
    weights, columns = np.empty(ends[-1], np.float32), np.empty(ends[-1], np.int32)
    # From the end: each is let go once it is weighted, so that little more than the rows is held.
    for start in reversed(range(0, len(texts), _CHUNK)):
        counts = counted.pop()
        weighted = (1 + np.log(counts.data)) * rarity[counts.indices]
        rows = scipy.sparse.csr_array(
            (weighted, place[counts.indices], counts.indptr),
            shape=(counts.shape[0], rarest_first.size),
        )
        rows.sort_indices()
        own = slice(ends[start], ends[start] + counts.nnz)
        weights[own], columns[own] = _of_length_1(rows), rows.indices
    return scipy.sparse.csr_array((weights, columns, ends), shape=(len(texts), rarest_first.size))


def codes_of(texts: Sequence[str], width: int) -> tuple[Any, Any]:
    """Code points of all texts in a row, and how many each has: blanks around, `width` or more."""
    padded = [f" {normalised(text)} ".ljust(width) for text in texts]
    lengths = np.array([len(text) for text in padded], dtype=np.int64)
    codes = np.frombuffer("".join(padded).encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    return codes, lengths


def _counted(texts: Sequence[str]) -> Matrix:
    """How often each text has each hashed gram."""
    codes, lengths = codes_of(texts, GRAM)
    hashed = _hashed(codes)
    # A gram belongs to the text it begins in, and must end there.
    ends = np.cumsum(lengths)
    text_of = np.repeat(np.arange(len(texts)), lengths)[: hashed.size]
    inside = np.arange(hashed.size) + GRAM <= ends[text_of]
    pairs = (text_of[inside].astype(np.int64) << 20) | hashed[inside].astype(np.int64)
    pairs, times = np.unique(pairs, return_counts=True)
    rows, columns = pairs >> 20, (pairs & (N_FEATURES - 1)).astype(np.int32)
    starts = np.searchsorted(rows, np.arange(len(texts) + 1))
    return scipy.sparse.csr_array(
        (times.astype(np.float32), columns, starts), shape=(len(texts), N_FEATURES)
    )


def _hashed(codes: Any) -> Any:
    """The column of the gram that begins at each character, by multiplying and shifting."""
    n = codes.size - GRAM + 1
    mixed = np.zeros(max(n, 0), dtype=np.uint64)
    for offset in range(GRAM):
        mixed = (mixed ^ codes[offset : offset + n]) * _MIXERS[0]
        mixed ^= mixed >> np.uint64(29)
    return (mixed * _MIXERS[1]) >> np.uint64(64 - 20)


def _of_length_1(rows: Matrix) -> Any:
    """The values of the rows, each divided by the length of its row."""
    lengths = np.sqrt(np.add.reduceat(np.append(rows.data**2, 0.0), rows.indptr[:-1]))
    lengths[np.diff(rows.indptr) == 0] = 1.0
    return rows.data / np.repeat(lengths, np.diff(rows.indptr))

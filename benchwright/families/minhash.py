"""Pairs of very many texts that are worded alike: signatures agree in one of 32 bands."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchwright.families.similarity import Progress, similarities
from benchwright.families.vectors import Matrix, codes_of

N_PERMUTATIONS = 128
N_BANDS = 32
SHINGLE = 3
_ROWS_A_BAND = N_PERMUTATIONS // N_BANDS
_SEED = 20_241_107
_CHUNK = 20_000
# In a crowded bucket each text is paired with so many of those that follow it.
_NEIGHBOURS = 50


def alike_pairs(
    texts: Sequence[str], rows: Matrix, least: float, on_progress: Progress | None = None
) -> tuple[Any, Any, Any]:
    """Places a < b of texts whose cosine is `least` or more, and it, of those that were looked at.

    Looked at are texts that are likely to share many of their shingles of 3 characters, by 128
    permutations in 32 bands of 4: a pair with a Jaccard of .42 is found in two of three cases, one
    of .7 nearly always. `rows` are the texts' weighted grams.
    """
    tell = on_progress or (lambda done, total: None)
    keys = np.empty((N_BANDS, len(texts)), dtype=np.uint64)
    for start in range(0, len(texts), _CHUNK):
        tell(0, N_BANDS)
        signatures = _signatures(texts[start : start + _CHUNK])
        for band in range(N_BANDS):
            keys[band, start : start + _CHUNK] = _band_keys(signatures, band)
    near, cosines = np.empty(0, np.int64), np.empty(0)
    for band in range(N_BANDS):
        # What is alike is met in many bands, and compared in the first.
        pairs = _in_one_bucket(keys[band])
        pairs = pairs[~np.isin(pairs, near)]
        similarity = similarities(rows, pairs >> 32, pairs & 0xFFFFFFFF)
        is_near = similarity >= least
        near = np.append(near, pairs[is_near])
        cosines = np.append(cosines, similarity[is_near])
        tell(band + 1, N_BANDS)
    order = np.argsort(near)
    return near[order] >> 32, near[order] & 0xFFFFFFFF, cosines[order]


def _signatures(texts: Sequence[str]) -> Any:
    """The least value of each permutation over a text's shingles, shape (texts, 128)."""
    codes, lengths = codes_of(texts, SHINGLE)
    hashed = np.zeros(codes.size - SHINGLE + 1, dtype=np.uint64)
    for offset in range(SHINGLE):
        hashed = (hashed ^ codes[offset : offset + hashed.size]) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(29)
    ends = np.cumsum(lengths)
    inside = np.arange(hashed.size) + SHINGLE <= np.repeat(ends, lengths)[: hashed.size]
    starts = np.append(0, np.cumsum(lengths - SHINGLE + 1))[:-1]
    hashed = hashed[inside]
    rng = np.random.default_rng(_SEED)
    factors = rng.integers(0, 2**63, N_PERMUTATIONS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    addends = rng.integers(0, 2**63, N_PERMUTATIONS, dtype=np.uint64)
    signatures = np.empty((len(texts), N_PERMUTATIONS), dtype=np.uint32)
    for number, (factor, addend) in enumerate(zip(factors, addends, strict=True)):
        permuted = (hashed * factor + addend) >> np.uint64(32)
        signatures[:, number] = np.minimum.reduceat(permuted, starts).astype(np.uint32)
    return signatures


def _band_keys(signatures: Any, band: int) -> Any:
    """One number a text for its rows of a band."""
    keys = np.zeros(signatures.shape[0], dtype=np.uint64)
    for row in range(band * _ROWS_A_BAND, (band + 1) * _ROWS_A_BAND):
        keys = (keys ^ signatures[:, row].astype(np.uint64)) * np.uint64(0xC2B2AE3D27D4EB4F)
        keys ^= keys >> np.uint64(31)
    return keys


def _in_one_bucket(keys: Any) -> Any:
    """Pairs of equal keys, each as one number: the earlier place shifted by 32, and the later."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    pairs = []
    for step in range(1, min(_NEIGHBOURS + 1, keys.size)):
        same = np.flatnonzero(ordered[:-step] == ordered[step:])
        if not same.size:
            break
        a, b = order[same].astype(np.int64), order[same + step].astype(np.int64)
        pairs.append((a << 32) | b)
    return np.concatenate(pairs) if pairs else np.empty(0, dtype=np.int64)

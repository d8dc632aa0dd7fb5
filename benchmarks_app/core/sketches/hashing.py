"""Keyed hashes of a query: of its text, its words, and the bands of its MinHash signature."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from benchmarks_app.core.families.keys import DEFAULT_LANGUAGE, bag_keys
from benchmarks_app.core.families.normalising import normalised
from benchmarks_app.core.sketches_errors import SaltError

BANDS = 32
ROWS = 4
SHINGLE = 3
KEY_BYTES = 8
BAND_BYTES = 4
ROW_BYTES = 2 * KEY_BYTES + BANDS * BAND_BYTES

LEAST_SALT = 16
MOST_SHINGLES_KEPT = 1_000_000
AT_ONCE = 2_000


def new_salt() -> str:
    """A salt that nobody guesses: 128 random bits, in hexadecimal."""
    return secrets.token_hex(16)


def check_salt(salt: str) -> str:
    """The salt without blanks around it.

    Raises
    ------
    SaltError
        If it is too short to keep anybody from trying all of them.
    """
    salt = salt.strip()
    if len(salt) < LEAST_SALT:
        reason = (
            f"The salt has {len(salt)} characters; expected at least {LEAST_SALT}, as the page of "
            "the check shows them."
        )
        raise SaltError(reason=reason)
    return salt


@dataclass(frozen=True)
class HashedQueries:
    """Hashes of queries, a row each: `keys` are exact and bag, `bands` those of the signature."""

    exact: Any
    bag: Any
    bands: Any

    def __len__(self) -> int:
        return len(self.exact)

    def rows(self) -> list[bytes]:
        """Each query's hashes as they stand in a sketch."""
        keys = np.stack([self.exact, self.bag], axis=1).astype("<u8")
        bands = self.bands.astype("<u4")
        return [key.tobytes() + band.tobytes() for key, band in zip(keys, bands, strict=True)]


class Hasher:
    """Hashes queries under one salt.

    Every hash is BLAKE2b with a key made of the salt, so without the salt none can be tried. Of a
    signature only hashes of four of its values together are kept: a single value would tell a
    shingle of three characters, and there are so few of these that all could be tried.
    """

    def __init__(self, salt: str, language: str = DEFAULT_LANGUAGE) -> None:
        self.key = blake2b(check_salt(salt).encode(), digest_size=32).digest()
        self.language = language
        numbers = range(2 * BANDS * ROWS)
        drawn = np.array([self._number(b"%d" % n, b"permutation") for n in numbers], np.uint64)
        half = BANDS * ROWS
        self._factors = drawn[:half] | np.uint64(1)
        self._addends = drawn[half:]
        self._shingles: dict[str, int] = {}

    @property
    def salt_check(self) -> str:
        """A hash of the salt alone, by which a sketch says which salt it was made with."""
        return blake2b(b"", key=self.key, digest_size=8, person=b"salt-check").hexdigest()

    def documents(self, docids: Sequence[str]) -> Any:
        """The hash of each document's id."""
        return np.array([self._number(one.encode(), b"document") for one in docids], np.uint64)

    def queries(self, texts: Sequence[str]) -> HashedQueries:
        """The hashes of each query."""
        plain = [normalised(text) for text in texts]
        bags = bag_keys(texts, self.language)
        parts = [
            self._bands(plain[start : start + AT_ONCE]) for start in range(0, len(plain), AT_ONCE)
        ]
        return HashedQueries(
            exact=np.array([self._number(one.encode(), b"exact") for one in plain], np.uint64),
            bag=np.array([self._number(one.encode(), b"bag") for one in bags], np.uint64),
            bands=np.vstack(parts) if parts else np.empty((0, BANDS), np.uint32),
        )

    def _number(self, content: bytes, purpose: bytes) -> int:
        digest = blake2b(content, key=self.key, digest_size=KEY_BYTES, person=purpose).digest()
        return int.from_bytes(digest, "little")

    def _bands(self, plain: Sequence[str]) -> Any:
        signatures = self._signatures(plain)
        found = np.empty((len(plain), BANDS), np.uint32)
        for band in range(BANDS):
            values = np.ascontiguousarray(signatures[:, band * ROWS : (band + 1) * ROWS])
            person = b"band-%d" % band
            digests = b"".join(
                blake2b(row, key=self.key, digest_size=BAND_BYTES, person=person).digest()
                for row in values
            )
            found[:, band] = np.frombuffer(digests, "<u4")
        return found

    def _signatures(self, plain: Sequence[str]) -> Any:
        """The least value of each permutation over a text's shingles."""
        shingles = [_shingles(text) for text in plain]
        hashed = np.array([self._shingle(one) for row in shingles for one in row], np.uint64)
        starts = np.cumsum([0, *(len(row) for row in shingles[:-1])])
        found = np.empty((len(plain), BANDS * ROWS), np.uint32)
        for n, (factor, addend) in enumerate(zip(self._factors, self._addends, strict=True)):
            permuted = (hashed * factor + addend) >> np.uint64(32)
            found[:, n] = np.minimum.reduceat(permuted, starts)
        return found

    def _shingle(self, shingle: str) -> int:
        known = self._shingles.get(shingle)
        if known is None:
            if len(self._shingles) >= MOST_SHINGLES_KEPT:
                self._shingles.clear()
            known = self._shingles[shingle] = self._number(shingle.encode(), b"shingle")
        return known


def _shingles(plain: str) -> list[str]:
    """Every three characters in a row of each word, with a blank before and after it.

    Inside words only, so that the same words in another order have the same ones.
    """
    found: dict[str, None] = {}
    for word in plain.split() or [""]:
        padded = f" {word} ".ljust(SHINGLE)
        found.update(
            dict.fromkeys(padded[n : n + SHINGLE] for n in range(len(padded) - SHINGLE + 1))
        )
    return list(found)

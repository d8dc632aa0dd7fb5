"""Draws that are the same on every machine and Python version, and do not hang on each other."""

import json
from hashlib import blake2b

QUERY = "query"
DOCUMENT = "document"
STRATUM = "stratum"
CONTROL = "control"
SPREAD = "spread"
SHOWN = "shown"
DIGEST_BYTES = 16
WHOLE = 1 << 64


def canonical(value: object) -> bytes:
    """Return JSON bytes that are equal for equal values, and differ for others."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def seeded(seed: int, *words: str) -> bytes:
    """Return 16 bytes that sort things as a shuffle would: BLAKE2b of the JSON array of both."""
    return blake2b(canonical([seed, *words]), digest_size=DIGEST_BYTES).digest()


def fraction(drawn: bytes) -> float:
    """Return the draw as a number in [0, 1)."""
    return int.from_bytes(drawn[:8]) / WHOLE


def is_drawn(drawn: bytes, share: float) -> bool:
    """Return whether a draw falls into a share of all draws; always into 1, never into 0."""
    return int.from_bytes(drawn[:8]) < int(share * WHOLE)


def part_of(n: int, share: float) -> int:
    """Return the share of `n`, rounded up; a share counts to four decimals.

    >>> part_of(140, 0.05), part_of(141, 0.05), part_of(0, 0.05)
    (7, 8, 0)
    """
    return -(-n * round(share * 10_000) // 10_000)

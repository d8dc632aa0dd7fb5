"""A corpus cut to fewer documents: every one that matters stays, the others by a seeded draw."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from benchwright.errors import BenchmarkError

LARGEST_SEED = 2**32 - 1


class CutError(BenchmarkError, code="corpus-cut"):
    message = "max_docs is {given}; expected a whole number from 1, or nothing to keep them all."


@dataclass(frozen=True, slots=True)
class Cut:
    """At most `max_docs` documents; those in `keep` stay, whatever their number.

    The draw is a hash of the seed and the id: the same seed keeps the same documents, in whatever
    order they come, and a smaller cut is a part of a larger one. A passage whose document is in
    `keep` is kept as well.
    """

    max_docs: int
    seed: int = 0
    keep: Set[str] = field(default_factory=frozenset)

    def draw(self, docid: str) -> int:
        """Return 64 bits by which documents are drawn, smallest first."""
        key = self.seed.to_bytes(8, "big")
        return int.from_bytes(blake2b(docid.encode(), digest_size=8, key=key).digest(), "little")


def read_max_docs(text: str | int | None) -> int | None:
    """Return the number a person gave, or None for "keep all".

    Raises
    ------
    CutError
        If it is no whole number from 1.

    Examples
    --------
    >>> read_max_docs(" 1,000 ")
    1000
    >>> read_max_docs("")
    """
    digits = str("" if text is None else text).replace(",", "").replace("_", "").strip()
    if not digits:
        return None
    if not (digits.isascii() and digits.isdigit()) or int(digits) < 1:
        raise CutError(given=text)
    return int(digits)


def cut_sentence(cut: Mapping[str, Any]) -> str:
    """Return what a reader must know of a corpus that was cut; "" of one that was not.

    Examples
    --------
    >>> cut_sentence({"max_docs": 1000, "kept": 40, "n": 1000, "of": 25000, "seed": 0})
    'Cut to 1,000 of 25,000 documents: all 40 judged or pooled ones, the others drawn with seed 0.'
    >>> cut_sentence({})
    ''
    """
    if not cut:
        return ""
    drawn = cut["n"] - cut["kept"]
    others = f"the others drawn with seed {cut['seed']}" if drawn else "and no other"
    size = f"Cut to {cut['n']:,} of {cut['of']:,} documents: "
    return f"{size}all {cut['kept']:,} judged or pooled ones, {others}."

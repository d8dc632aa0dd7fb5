"""How queries are to be split: mode, shares, seed, cut."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from benchwright.recipes import splits
from benchwright.recipes.parameters import check
from benchwright.recipes.splits import Mode, Straddling
from benchwright.splits.errors import SharesError

SPLITS = ("train", "dev", "test")
"""In the order of time, where time decides."""

DEFAULT_SHARES: Mapping[str, float] = {"train": 0.7, "dev": 0.1, "test": 0.2}
ROUNDING = 1e-6


MODES = tuple(mode.value for mode in Mode)
VERSIONS = {
    Mode.STRATIFIED: "stratified-family 1",
    Mode.RANDOM: "random-family 1",
    Mode.CHRONOLOGICAL: "chronological-family 1",
    Mode.LEAVE_SLICE_OUT: "leave-slice-out 1",
    Mode.GIVEN: "given 1",
}


@dataclass(frozen=True)
class SplitRecipe:
    """Everything that decides a split beside the queries.

    `shares` are of queries and add up to 1; a split without one is not made. Where time decides,
    `test_from` and `dev_from` are the first moments of those splits; without `test_from` the cuts
    are found from the shares. Queries of the `gap_days` after a cut are in no split.
    """

    mode: Mode = splits.MODE.default
    shares: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULT_SHARES))
    seed: int = splits.SEED.default
    test_from: datetime | None = None
    dev_from: datetime | None = None
    gap_days: int = splits.GAP_DAYS.default
    straddling: Straddling = splits.STRADDLING.default
    slice_name: str = ""

    @property
    def algorithm(self) -> str:
        """The version of what does it; another number may give another split."""
        return VERSIONS[self.mode]

    def check(self) -> None:
        """Raise where the recipe cannot be followed, whatever the queries.

        Raises
        ------
        ParameterError
            If a parameter does not take its value.
        SharesError
            If the shares do not add up to 1, or one is negative or of no split we know.
        """
        check(splits.SPLITTING, self)
        if self.mode != Mode.GIVEN and not (self.mode == Mode.CHRONOLOGICAL and self.test_from):
            check_shares(self.shares)

    def as_json(self) -> dict[str, Any]:
        """The recipe as it is kept with what it made; only what its mode looks at."""
        facts: dict[str, Any] = {"mode": self.mode.value, "seed": self.seed}
        if self.mode == Mode.GIVEN:
            return facts
        if self.mode == Mode.CHRONOLOGICAL:
            facts |= {
                "test_from": _iso(self.test_from),
                "dev_from": _iso(self.dev_from),
                "gap_days": self.gap_days,
                "straddling": self.straddling.value,
            }
            if self.test_from:
                return facts
        if self.mode == Mode.LEAVE_SLICE_OUT:
            facts["slice"] = self.slice_name
        return facts | {"shares": dict(self.shares)}


def check_shares(shares: Mapping[str, float], *, whole: float = 1) -> None:
    """Raise `SharesError` unless shares are of known splits, from 0 on, and add up to `whole`."""
    listed = ", ".join(f"{split} {share:g}" for split, share in shares.items()) or "empty"
    unknown = sorted(set(shares) - set(SPLITS))
    total = sum(shares.values())
    reason = None
    if unknown:
        reason = f"{unknown[0]} is no split (train, dev and test are)"
    elif any(share < 0 for share in shares.values()):
        reason = "one is below 0"
    elif not abs(total - whole) <= ROUNDING * whole:
        reason = f"they add up to {total:g}"
    if reason:
        raise SharesError(shown=listed, reason=reason, whole=f"{whole:g}")


def parse_shares(text: str) -> dict[str, float]:
    """Shares as a command takes them; parts of 1 or of 100.

    >>> parse_shares("train=80,test=20")
    {'train': 0.8, 'test': 0.2}

    Raises
    ------
    SharesError
        If it cannot be read, a split stands there twice, or they do not add up.
    """
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        split = name.strip()
        if split in shares:
            raise SharesError(shown=f"'{text}'", reason=f"{split} stands there twice", whole="1")
        try:
            shares[split] = float(number)
        except ValueError as error:
            reason = f"'{part.strip()}' is no share, which looks like test=0.2"
            raise SharesError(shown=f"'{text}'", reason=reason, whole="1") from error
    whole = 100.0 if sum(shares.values()) > 1 + ROUNDING else 1.0
    check_shares(shares, whole=whole)
    return {split: share / whole for split, share in shares.items() if share}


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None

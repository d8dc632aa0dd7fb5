"""Families of queries drawn at random for people to label, so that anybody can prove it.

The order of a family is the BLAKE2b-128 digest of the JSON array of the seed, "estimate" and the
family's name (ADR 13); drawn are the first of all. So every beginning of the order is a random
sample too: labels may be used as soon as the first families of it are done.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

from benchwright.estimation.errors import NotDrawnError, StratumError

PURPOSE = "estimate"
FEWEST_IN_STRATUM = 3
ONE_STRATUM = ""


@dataclass(frozen=True, slots=True)
class Draw:
    """Drawn families in their order, of how many, and by which seed; to be stored with the pool.

    `frame` is the digest of all families they were drawn from. `n_by_stratum` says how many of
    each stratum, where there are strata.
    """

    seed: int
    frame: str
    families: tuple[str, ...]
    n_population: int
    n_by_stratum: tuple[tuple[str, int], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The draw as an object that JSON can hold."""
        return {
            "seed": self.seed,
            "frame": self.frame,
            "families": list(self.families),
            "n_population": self.n_population,
            "n_by_stratum": [list(pair) for pair in self.n_by_stratum],
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Self:
        """The draw that `as_json` has told of."""
        return cls(
            facts["seed"],
            facts["frame"],
            tuple(facts["families"]),
            facts["n_population"],
            tuple((name, n) for name, n in facts["n_by_stratum"]),
        )

    def proved(
        self,
        labelled: Collection[str],
        population: Collection[str],
        strata: Mapping[str, str] | None = None,
    ) -> tuple[str, ...]:
        """The labelled families that chance chose, in its order: what an estimate may rest on.

        That is the beginning of the order up to the first family without labels; with strata it is
        all of them. Families that were labelled without being drawn are left out.

        Raises
        ------
        NotDrawnError
            If the families were drawn from others, by another seed, or not in this order.
        """
        if frame_of(population) != self.frame:
            why = "they were drawn from other families than these"
            raise NotDrawnError(why=why)
        if drawn(population, len(self.families), seed=self.seed, strata=strata) != self:
            why = f"seed {self.seed} draws others"
            raise NotDrawnError(why=why)
        done = frozenset(labelled)
        n = next((at for at, name in enumerate(self.families) if name not in done), None)
        if n is None:
            return self.families
        if self.n_by_stratum:
            why = f"{self.families[n]} was drawn and has no labels yet, and strata must be whole"
            raise NotDrawnError(why=why)
        return self.families[:n]


def drawn(
    families: Collection[str], n: int, *, seed: int, strata: Mapping[str, str] | None = None
) -> Draw:
    """Draw `n` of the families (all, where there are fewer); the order given does not matter.

    With `strata` ({family: stratum}) each has its share of the draw, rounded by largest remainder:
    that guarantees slices, and gains no precision to speak of.

    Raises
    ------
    StratumError
        If a stratum's share is below three families.
    """
    names = frozenset(families)
    ordered = sorted(names, key=lambda name: _digest(seed, name))
    n = min(n, len(names))
    if not strata:
        return Draw(seed, frame_of(names), tuple(ordered[:n]), len(names))
    shares = _shares(ordered, n, strata)
    n_left = dict(shares)
    chosen = []
    for name in ordered:
        stratum = strata.get(name, ONE_STRATUM)
        if n_left[stratum]:
            n_left[stratum] -= 1
            chosen.append(name)
    return Draw(seed, frame_of(names), tuple(chosen), len(names), tuple(sorted(shares.items())))


def frame_of(families: Collection[str]) -> str:
    """Hex digest of families, whatever their order."""
    listed = json.dumps(sorted(families), ensure_ascii=False)
    return blake2b(listed.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _shares(ordered: Sequence[str], n: int, strata: Mapping[str, str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for name in ordered:
        stratum = strata.get(name, ONE_STRATUM)
        sizes[stratum] = sizes.get(stratum, 0) + 1
    exact = {stratum: n * size / len(ordered) for stratum, size in sizes.items()}
    shares = {stratum: int(share) for stratum, share in exact.items()}
    by_rest = sorted(exact, key=lambda stratum: (shares[stratum] - exact[stratum], stratum))
    for stratum in by_rest[: n - sum(shares.values())]:
        shares[stratum] += 1
    for stratum, share in sorted(shares.items()):
        if share < min(FEWEST_IN_STRATUM, sizes[stratum]):
            needed = -(-FEWEST_IN_STRATUM * len(ordered) // sizes[stratum])
            raise StratumError(
                stratum=f"'{stratum}'", n=share, total=n, least=FEWEST_IN_STRATUM, needed=needed
            )
    return shares


def _digest(seed: int, name: str) -> bytes:
    listed = json.dumps([seed, PURPOSE, name], ensure_ascii=False)
    return blake2b(listed.encode("utf-8", "surrogatepass"), digest_size=16).digest()

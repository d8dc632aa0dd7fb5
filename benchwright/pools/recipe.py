"""How a pool is made: all that decides it besides the runs, so that it can be made again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchwright.pools.errors import PoolRecipeError
from benchwright.recipes import pools
from benchwright.recipes.parameters import check

# Strategies: which documents are in the pool.
DEPTH_K = "depth-k"
LAYERED = "layered"
STRATIFIED = "stratified"
TOP_UP = "top-up"
MANUAL = "manual"
ESTIMATE = "estimate"
# Orders: in which order a query's documents are judged. Layered is a name of both kinds.
RRF = "rrf"
RBP = "rbp"
LISTED = "listed"

# A preview looks at so many ranks of each run, however shallow the pool is.
CUTOFF = 10
# Deeper pools are told of down to here at least, for whoever looks for the depth to choose.
DEEPEST = 20
CONTROL_DEPTH: int = pools.CONTROL_DEPTH.default
DEEPEST_STRATUM = 100_000


@dataclass(frozen=True, slots=True)
class Stratum:
    """The ranks after the stratum before, up to `last_rank`; `share` of them are drawn."""

    last_rank: int
    share: float


STRATA = (Stratum(10, 1.0), Stratum(50, 0.2), Stratum(100, 0.05))


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is pooled, and in which order it is judged.

    Parameters
    ----------
    depth
        Ranks of each run that the pool looks at; a stratified pool has them from its strata.
    budget
        Documents a query, for the layered strategy.
    measure, labels
        For an estimate: of `p` or `dcg` at `depth`, from about so many drawn documents in all.
    control_share
        Random documents beyond the runs' reach, as a share of each query's documents.
    control_depth, control_run
        Where they are drawn from: ranks down to this, of this run alone where it is named.
    carry
        Whether documents that were judged before are members of the pool, too.
    """

    strategy: str = DEPTH_K
    order: str = LAYERED
    depth: int = pools.DEPTH.default
    budget: int | None = None
    measure: str = pools.MEASURE.default
    labels: int | None = None
    strata: tuple[Stratum, ...] = STRATA
    control_share: float = pools.CONTROL_SHARE.default
    control_depth: int = CONTROL_DEPTH
    control_run: str = ""
    carry: bool = False
    seed: int = 0

    @property
    def reach(self) -> int:
        """The last rank that makes a document a member; 0 where runs make none."""
        if self.strategy in (TOP_UP, MANUAL):
            return 0
        return self.strata[-1].last_rank if self.strategy == STRATIFIED else self.depth

    @property
    def read_depth(self) -> int:
        """The last rank of a run that has to be read."""
        return max(self.reach, self.control_depth if self.control_share and self.reach else 0)

    @property
    def watched_depth(self) -> int:
        """The last rank of a run that a preview has to read."""
        return max(self.read_depth, DEEPEST if self.reach else 0)

    def check(self) -> None:
        """Raise `ParameterError` for a value, `PoolRecipeError` where parts do not go together."""
        is_deep = self.strategy in (DEPTH_K, LAYERED, ESTIMATE)
        check(
            [parameter for parameter in pools.POOLING if is_deep or parameter is not pools.DEPTH],
            self,
        )
        for what, expected in self._problems():
            raise PoolRecipeError(what=what[0].upper() + what[1:], expected=expected)

    def _problems(self) -> Iterator[tuple[str, str]]:
        """What is wrong, and what was expected instead."""
        if self.strategy == LAYERED and self.budget is None:
            yield "a layered pool has no budget", "1 or more documents for each query"
        if self.strategy != LAYERED and self.budget is not None:
            yield f"a budget does not go with {self.strategy}", "the layered strategy"
        if self.strategy == ESTIMATE and self.labels is None:
            yield "an estimate has no budget", "some labels in all"
        if self.strategy != ESTIMATE and self.labels is not None:
            yield f"labels in all do not go with {self.strategy}", "an estimate"
        if self.strategy == ESTIMATE and self.control_share:
            yield "random documents do not go with an estimate", "those alone that are drawn for it"
        if self.order == LISTED and self.strategy != TOP_UP:
            yield "there is no list whose order could be kept", "a top-up pool"
        if self.strategy == STRATIFIED:
            yield from self._stratum_problems()

    def _stratum_problems(self) -> Iterator[tuple[str, str]]:
        ends = [0, *(stratum.last_rank for stratum in self.strata)]
        if len(ends) == 1 or any(after <= before for before, after in pairwise(ends)):
            yield "the strata do not go deeper one by one", "ranks that rise, such as 10 and 50"
        elif ends[-1] > DEEPEST_STRATUM:
            yield f"a stratum goes down to rank {ends[-1]}", f"at most {DEEPEST_STRATUM}"
        for stratum in self.strata:
            if not 0 < stratum.share <= 1:
                yield f"a stratum has the share {stratum.share}", "above 0, at most 1"

    def as_parameters(self) -> dict[str, Any]:
        """Return what differs from a depth pool without extras, as JSON; seed, order not in it."""
        parameters: dict[str, Any] = {}
        if self.strategy in (DEPTH_K, LAYERED, ESTIMATE):
            parameters["depth"] = self.depth
        if self.strategy == ESTIMATE:
            parameters |= {"measure": self.measure, "labels": self.labels}
        if self.budget is not None:
            parameters["budget"] = self.budget
        if self.strategy == STRATIFIED:
            parameters["strata"] = [[stratum.last_rank, stratum.share] for stratum in self.strata]
        if self.control_share and self.reach:
            parameters["control"] = [self.control_share, self.control_depth, self.control_run]
        if self.carry:
            parameters["carry"] = True
        return parameters


def recipe_of(strategy: str, order: str, seed: int, parameters: Mapping[str, Any]) -> Recipe:
    """Return the recipe that `Recipe.as_parameters` was made from; other keys are passed over."""
    share, depth, run = parameters.get("control", (0.0, CONTROL_DEPTH, ""))
    strata = parameters.get("strata")
    return Recipe(
        strategy=strategy,
        order=order,
        depth=parameters.get("depth", 10),
        budget=parameters.get("budget"),
        measure=parameters.get("measure", pools.MEASURE.default),
        labels=parameters.get("labels"),
        strata=tuple(Stratum(*stratum) for stratum in strata) if strata else STRATA,
        control_share=share,
        control_depth=depth,
        control_run=run,
        carry=parameters.get("carry", False),
        seed=seed,
    )

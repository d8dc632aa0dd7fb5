"""What one person may see of the numbers on a release with a hidden split.

The grades of a hidden split are for the benchmark's keepers. To everybody else its queries exist
without values: means are rounded, so that a change of one grade does not show in them, and what is
told query by query leaves those queries out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks_app.models import Release
from benchmarks_app.permissions import Action, may
from benchmarks_app.selectors import hidden_queries
from benchmarks_app.services.exposure import record_read

DECIMALS = 3


@dataclass(frozen=True)
class Sight:
    """What is withheld from one person; empty and None where nothing is."""

    hidden: frozenset[str] = frozenset()
    decimals: int | None = None

    @property
    def is_clear(self) -> bool:
        return self.decimals is None

    def rounded(self, value: float | None) -> float | None:
        """A mean as this person sees it."""
        return value if value is None or self.decimals is None else round(value, self.decimals)

    def seen(self, qids: Iterable[str]) -> list[str]:
        """The queries whose values and documents this person may see, in their order."""
        return [qid for qid in qids if qid not in self.hidden]


def sight_of(user: Any, release: Release) -> Sight:
    """What this person sees of a release; nothing is written down."""
    hidden = hidden_queries(release)
    if not hidden or may(user, Action.EDIT, release.benchmark):
        return Sight()
    return Sight(hidden, DECIMALS)


def sight_written_down(user: Any, release: Release, what: str) -> Sight:
    """As `sight_of`, for what is told query by query: that a keeper saw it, is written down."""
    sight = sight_of(user, release)
    if sight.is_clear and hidden_queries(release):
        record_read(actor=user, benchmark=release.benchmark, what=what)
    return sight

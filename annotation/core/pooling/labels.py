"""How many labels each document of a pool is to get."""

from collections.abc import Mapping, Sequence

from annotation.core.pooling.entries import Pair
from annotation.core.pooling.seeding import part_of, seeded

DOUBLE = "double"
# Agreement over fewer documents says little: Krippendorff's alpha is known to about 0.08 at 500.
ENOUGH_DOUBLES = 500


def labels_wanted(
    pairs: Sequence[Pair],
    *,
    overlap: int,
    double_share: float,
    seed: int,
    at_least: int = 0,
    had: Mapping[Pair, int] | None = None,
) -> list[int]:
    """Return how many labels each pair wants, in the given order.

    Parameters
    ----------
    overlap
        Labels of each pair.
    double_share
        Of the pairs, rounded up, one more label each: those that come first in seeded order, so
        that the same pairs are doubled whatever order they stand in. At least `at_least` of them.
    had
        How many labels a pair has from before; they count, and none is asked for again.
    """
    n_doubled = max(part_of(len(pairs), double_share), min(at_least, len(pairs)))
    drawn = sorted(range(len(pairs)), key=lambda place: seeded(seed, DOUBLE, *pairs[place]))
    doubled = set(drawn[:n_doubled])
    known = had or {}
    return [
        max(0, overlap + (place in doubled) - known.get(pair, 0))
        for place, pair in enumerate(pairs)
    ]

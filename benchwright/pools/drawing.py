"""A random draw of documents that gives each group its share."""

from collections.abc import Hashable, Sequence
from random import Random

_REST = object()


def drawn(groups: Sequence[Hashable], n: int, *, seed: int) -> dict[int, float]:
    """Places that were drawn, with the probability that each had; those of a group are alike.

    Parameters
    ----------
    groups
        The group of each place.
    n
        How many to draw; all where there are no more.
    seed
        The same seed draws the same places.

    Notes
    -----
    Groups get what is proportional, by the largest remainders; in a group each place is as likely
    as any other. Groups too small for a place of their own are drawn from together, so that no
    place has the probability 0.

    Examples
    --------
    >>> picked = drawn("aaaaaabbb", 3, seed=7)
    >>> sorted("aaaaaabbb"[place] for place in picked), sorted(set(picked.values()))
    (['a', 'a', 'b'], [0.3333333333333333])
    """
    n_wanted = min(n, len(groups))
    members = _merged(groups, n_wanted)
    shares = _shares([len(places) for places in members.values()], n_wanted)
    rng = Random(seed)
    picked: dict[int, float] = {}
    for places, share in zip(members.values(), shares, strict=True):
        for place in rng.sample(places, share):
            picked[place] = share / len(places)
    return dict(sorted(picked.items()))


def _merged(groups: Sequence[Hashable], n_wanted: int) -> dict[Hashable, list[int]]:
    """{group: its places}; those with less than one place in the draw are one group."""
    members: dict[Hashable, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    rest: list[int] = []
    for group, places in list(members.items()):
        if n_wanted * len(places) < len(groups):
            rest += members.pop(group)
    if rest and members and n_wanted * len(rest) < len(groups):
        rest += members.pop(max(members, key=lambda group: len(members[group])))
    if rest:
        members[_REST] = sorted(rest)
    return members


def _shares(sizes: Sequence[int], n_wanted: int) -> list[int]:
    """How many of each size, proportionally: largest remainders first, then the first group."""
    total = sum(sizes)
    if not total:
        return [0] * len(sizes)
    shares = [n_wanted * size // total for size in sizes]
    by_remainder = sorted(
        range(len(sizes)), key=lambda group: (-(n_wanted * sizes[group] % total), group)
    )
    for group in by_remainder[: n_wanted - sum(shares)]:
        shares[group] += 1
    return shares

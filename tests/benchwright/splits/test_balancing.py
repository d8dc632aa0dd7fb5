"""The exchanges that even out splits, one at a time."""

import numpy as np
import pytest

from benchwright.splits import balancing
from benchwright.splits.balancing import Balance, _exchange_best, _greedy, _repair, balanced


@pytest.mark.parametrize(
    ("sizes", "assigned", "is_done"),
    [
        # Alone in its split, a family stays, though both splits would come nearer to their sizes.
        ([5, 10, 5], [0, 1, 1], False),
        ([5, 10, 4, 1], [0, 1, 1, 0], True),
    ],
)
def test_no_move_empties_a_split(sizes, assigned, is_done):
    balance = Balance(np.array(sizes, dtype=float)[:, None], np.array([0.1, 0.9]))
    for family, split in enumerate(assigned):
        balance.add(family, split)
    splits, first = np.array(assigned), np.array([0])

    done = _exchange_best(balance, splits, first, first, np.array([1]), np.array([True]))

    assert done is is_done
    assert splits[0] == is_done


def searched(monkeypatch, most: int) -> list[bool]:
    """Of each draw whether it bettered anything, with at most so many improvements."""
    results = []
    monkeypatch.setattr(balancing, "MOST_IMPROVEMENTS", most)
    monkeypatch.setattr(
        balancing,
        "_exchange_best",
        lambda *asked: results.append(_exchange_best(*asked)) or results[-1],
    )
    rng = np.random.default_rng(4)
    contents = np.hstack([np.ones((300, 1)), rng.integers(0, 2, (300, 6))])
    balanced(contents, [0.7, 0.1, 0.2], range(300), seed=1)
    return results


def test_search_ends_after_so_many_improvements_or_draws_in_vain(monkeypatch):
    until_none_helps = searched(monkeypatch, 2000)

    n_better = sum(until_none_helps)
    assert until_none_helps[-40:] == [False] * 40
    assert until_none_helps[-41]
    runs_in_vain = "".join("+" if helps else "-" for helps in until_none_helps[:-40]).split("+")
    assert max(map(len, runs_in_vain)) < 40
    for most in (1, n_better - 1):
        monkeypatch.undo()
        cut_short = searched(monkeypatch, most)
        assert sum(cut_short) == most
        assert cut_short == until_none_helps[: len(cut_short)]


@pytest.mark.parametrize(("helps", "n"), [(True, 2000), (False, 40)])
def test_search_takes_two_thousand_improvements_or_forty_draws_of_192_in_vain(
    monkeypatch, helps, n
):
    drawn = []
    monkeypatch.setattr(
        balancing, "_exchange_best", lambda *asked: drawn.append(list(map(len, asked[1:]))) or helps
    )

    balanced(np.ones((4, 1)), [0.5, 0.5], range(4), seed=1)

    assert len(drawn) == n
    assert set(map(tuple, drawn)) == {(4, 192, 192, 192, 192)}


def unevenness(contents, shares, splits):
    """The sum that is to become small, as its definition says."""
    off = 0.0
    for split, share in enumerate(shares):
        for stratum in range(contents.shape[1]):
            wanted = share * contents[:, stratum].sum()
            held = sum(contents[np.array(splits) == split, stratum])
            off += (held - wanted) ** 2 / max(wanted, 1)
    return off


def made_balance(rng, shares):
    n = int(rng.integers(3, 8))
    contents = np.hstack([rng.integers(1, 4, (n, 1)), rng.integers(0, 3, (n, 2))]).astype(float)
    balance, splits = Balance(contents, np.array(shares)), rng.integers(0, len(shares), n)
    for family, split in enumerate(splits):
        balance.add(family, split)
    return balance, contents, splits


@pytest.mark.parametrize("seed", range(20))
def test_cost_of_a_family_is_what_the_sum_grows_by(seed):
    shares = [0.5, 0.2, 0.3]
    balance, contents, splits = made_balance(np.random.default_rng(seed), shares)
    balance.off[splits[0]] -= contents[0]

    without = unevenness(contents, shares, [-1, *splits[1:]])

    grown = [unevenness(contents, shares, [new, *splits[1:]]) - without for new in range(3)]
    assert balance.cost_of_adding(0) == pytest.approx(grown)


@pytest.mark.parametrize("seed", range(40))
def test_exchange_is_the_best_of_those_drawn(seed):
    rng, shares = np.random.default_rng(seed), [0.5, 0.2, 0.3]
    balance, contents, splits = made_balance(rng, shares)
    gives, takes = rng.integers(0, len(splits), (2, 30))
    is_move = np.arange(30) % 2 == 0
    other = np.where(is_move, rng.integers(0, 3, 30), splits[takes])
    before, after = unevenness(contents, shares, splits), {}
    for give, take, there, moves in zip(gives, takes, other, is_move, strict=True):
        tried = splits.copy()
        tried[give] = there
        if not moves:
            tried[take] = splits[give]
        sizes = [contents[tried == split, 0].sum() for split in (splits[give], there)]
        wanted = [shares[split] * contents[:, 0].sum() for split in (splits[give], there)]
        is_near = np.abs(np.subtract(sizes, wanted)).max() <= contents[:, 0].max() + 1e-9
        if there != splits[give] and is_near and (splits[give] in tried or not moves):
            after[tuple(tried)] = unevenness(contents, shares, tried)

    done = _exchange_best(balance, splits, gives, takes, other, is_move)

    best = min(after.values(), default=before)
    assert done == (best < before - 1e-9)
    if done:
        assert unevenness(contents, shares, splits) == pytest.approx(best)
        held = [contents[splits == split].sum(axis=0) for split in range(3)]
        assert balance.off == pytest.approx(np.array(held) - balance.targets)


def test_split_that_is_full_is_given_nothing_though_it_lacks_a_stratum():
    contents = np.array([[2, 0], [1, 10], [1, 5]], dtype=float)

    assert list(_greedy(Balance(contents, np.array([0.5, 0.5])), range(3))) == [0, 1, 1]


def test_smallest_families_in_size_move_to_a_split_that_lacks_more_than_the_largest():
    contents = np.array([[3, 0], [1, 9], [2, 5], [2, 1], [2, 1]], dtype=float)
    balance, splits = Balance(contents, np.array([0.5, 0.5])), np.zeros(5, dtype=np.int64)
    for family in range(5):
        balance.add(family, 0)

    _repair(balance, splits, range(5))

    # One split has 10 where 5 are wanted: families leave it until it has 3 too many at most.
    assert list(splits) == [0, 1, 1, 0, 0]
    assert balance.off[:, 0].tolist() == [2.0, -2.0]

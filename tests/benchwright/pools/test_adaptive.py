import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.pools.adaptive import AdaptiveEntry, arms_of, choose
from benchwright.pools.errors import PoolOrderError

# Three systems of five documents: their rankings, best first.
RANKINGS = {"a": [1, 2, 3, 4, 5], "b": [6, 2, 7, 8, 9], "c": [6, 10, 1, 11, 12]}


def entries_of(rankings):
    ranks = {}
    for system, keys in rankings.items():
        for rank, key in enumerate(keys, start=1):
            ranks.setdefault(key, {})[system] = rank
    return [AdaptiveEntry(key, ranks[key], min(ranks[key].values())) for key in sorted(ranks)]


ENTRIES = entries_of(RANKINGS)


def sequence(order, relevant, n, entries=ENTRIES):
    """What is judged one after the other, each answer known before the next is chosen."""
    grades, pulled = {}, []
    while len(pulled) < n and (result := choose(entries, grades, order=order, n=1, burn_in=0)):
        pulled += result
        grades[result[0][0]] = result[0][0] in relevant
    return pulled


def test_move_to_front_stays_while_documents_are_relevant_and_turns_at_one_that_is_not():
    # a gives 1, 2 (relevant) and 3 (not: 99); b, c are at 100 and have 6 on top, b comes first:
    # 6 is not (99); c is alone at 100: 10 relevant, 1 was judged, 11 not (99). All are at 99, the
    # next ranks are a 4, b 3 (2 was judged), c 5: b gives 7 (98), then a 4 (98), c 12 (98).
    assert sequence("mtf", {1, 2, 10}, 20) == [
        (1, "a"),
        (2, "a"),
        (3, "a"),
        (6, "b"),
        (10, "c"),
        (11, "c"),
        (7, "b"),
        (4, "a"),
        (12, "c"),
        (8, "b"),
        (5, "a"),
        (9, "b"),
    ]


def test_maxmean_pulls_the_system_that_was_right_most_often_and_credits_all_that_retrieved():
    # 1 is of a and c and relevant: both 2/3, b 1/2. c has 6 at rank 1, a has 2 at rank 2: c gives 6
    # (not; b 1/3, c 2/4). a at 2/3 gives 2 (relevant, of a and b: a 3/4, b 2/4), 3 (not: 3/5),
    # 4 (not: 3/6). a, b, c are at 1/2 with next ranks 5, 3, 2: c gives 10 (relevant: c 3/5), ...
    assert sequence("maxmean", {1, 2, 10}, 8) == [
        (1, "a"),
        (6, "c"),
        (2, "a"),
        (3, "a"),
        (4, "a"),
        (10, "c"),
        (11, "c"),
        (7, "b"),
    ]


@pytest.mark.parametrize(
    ("order", "batch"),
    [
        # a stays in hand until it has no more; then b, at 100 as c is, and first by name.
        ("mtf", [(2, "a"), (3, "a"), (4, "a"), (5, "a"), (6, "b")]),
        # a and c stay at 2/3 all along, so the better next rank decides, and then the name.
        ("maxmean", [(6, "c"), (2, "a"), (10, "c"), (3, "a"), (4, "a")]),
    ],
)
def test_a_batch_is_chosen_by_what_was_known_before_it(order, batch):
    assert choose(ENTRIES, {1: True}, order=order, n=5, burn_in=0) == batch


def test_documents_of_others_are_passed_over_without_an_answer():
    assert choose(ENTRIES, {1: True}, order="mtf", n=2, burn_in=0, held={2, 3}) == [
        (4, "a"),
        (5, "a"),
    ]


@pytest.mark.parametrize("order", ["mtf", "maxmean"])
def test_the_first_ranks_and_what_no_system_has_come_before_anything_is_learnt(order):
    entries = [*ENTRIES, AdaptiveEntry(99, {}, 0)]
    first = [key for key, arm in choose(entries, {}, order=order, n=7, burn_in=2) if not arm]

    assert first == [1, 2, 6, 10, 99]
    judged = dict.fromkeys(first, False)
    assert all(arm for _, arm in choose(entries, judged, order=order, n=9, burn_in=2))


def test_an_order_that_does_not_learn_is_refused():
    with pytest.raises(PoolOrderError, match="No order 'rrf'; there are: mtf, maxmean"):
        choose(ENTRIES, {}, order="rrf", n=1, burn_in=0)


made_rankings = st.dictionaries(
    st.sampled_from("abcdef"),
    st.lists(st.integers(0, 30), unique=True, min_size=1, max_size=12),
    min_size=1,
)


@given(made_rankings, st.sets(st.integers(0, 30)), st.sampled_from(["mtf", "maxmean"]))
def test_asking_anew_each_time_is_the_order_without_a_break(rankings, relevant, order):
    entries = entries_of(rankings)
    arms, pulled = arms_of(order, entries), []
    while result := arms.pull():
        pulled.append(result)
        arms.tell(result[0], result[0] in relevant)

    assert sequence(order, relevant, 99, entries) == pulled


@given(
    made_rankings,
    st.sets(st.integers(0, 30)),
    st.dictionaries(st.integers(0, 30), st.booleans()),
    st.sampled_from(["mtf", "maxmean"]),
    st.integers(0, 4),
    st.randoms(use_true_random=False),
)
def test_every_document_is_chosen_once_and_none_that_is_judged_or_held(
    rankings, held, grades, order, burn_in, rng
):
    entries = entries_of(rankings)
    chosen = choose(entries, grades, order=order, n=99, burn_in=burn_in, held=held)

    expected = {entry.key for entry in entries} - held - grades.keys()
    assert sorted(key for key, _ in chosen) == sorted(expected)
    turned = [AdaptiveEntry(e.key, dict(reversed(e.contributors.items())), 9) for e in entries]
    rng.shuffle(turned)
    assert choose(turned, grades, order=order, n=99, burn_in=0, held=held) == choose(
        entries, grades, order=order, n=99, burn_in=0, held=held
    )

"""What is told of hidden queries over releases and slices: what came first stays."""

import pytest

from benchwright.slices.telling import HiddenMeans, MeansTold, Telling

HUNDRED = [f"q{number:03}" for number in range(100)]
WEIGHTS = {qid: 1.0 if number < 50 else 3.0 for number, qid in enumerate(HUNDRED)}


def means(hidden=HUNDRED, *, changed=(), weights=None, public=(), **slices) -> HiddenMeans:
    """A release that hides these queries in one split; `changed` ones have another grade."""
    return HiddenMeans(
        parts=[frozenset(hidden)],
        grades={qid: {"d": 1 + (qid in changed)} for qid in hidden},
        public=frozenset(public),
        families={},
        weights=weights or {},
        slices={name: frozenset(qids) for name, qids in slices.items()},
    )


def told(*events: HiddenMeans | str) -> list[MeansTold]:
    """What each release tells that comes in this order, between slices that are registered."""
    telling, n_releases = Telling(), 0
    for event in events:
        if isinstance(event, str):
            telling.add_slice(event)
        else:
            telling.add_release(n_releases, event)
            n_releases += 1
    return [telling.of(key) for key in range(n_releases)]


def which(*events: HiddenMeans | str) -> list[bool]:
    return [mean.is_told for mean in told(*events)]


@pytest.mark.parametrize(("n", "is_told"), [(0, True), (1, False), (29, False), (30, True)])
def test_a_release_whose_grades_differ_in_few_families_is_not_told(n, is_told):
    assert which(means(), means(changed=HUNDRED[:n])) == [True, is_told]


def test_wordings_of_one_need_count_once():
    pairs = {qid: f"f{number // 2}" for number, qid in enumerate(HUNDRED)}
    first, second = means(), means(changed=HUNDRED[:58])
    first.families.update(pairs)

    assert which(first, second) == [True, False]


def test_a_release_is_held_against_all_that_are_told_together():
    """Every two differ in 40 or more, and all less the other two are 20 families."""
    releases = [means(), means(HUNDRED[:40]), means(HUNDRED[40:80])]

    assert which(*releases) == [True, True, False]


def test_queries_that_are_public_by_now_are_known():
    later = means(HUNDRED[:80], public=HUNDRED[80:], weights=WEIGHTS)

    _, second = told(means(weights=WEIGHTS), later)

    assert (second.is_told, second.has_weighted) == (True, True)
    assert which(means(), means(HUNDRED[:80])) == [True, False]


def test_a_release_without_new_queries_is_told_however_few_it_hides():
    assert which(means(HUNDRED[:5]), means(HUNDRED[:5])) == [True, True]


def test_new_grades_of_many_do_not_hide_that_few_queries_are_new():
    later = means([*HUNDRED, "more"], changed=HUNDRED[:40])

    assert which(means(), later) == [True, False]


@pytest.mark.parametrize(("heavier", "has_weighted"), [(0, True), (1, False)])
def test_weighted_means_of_two_releases_are_held_against_each_other(heavier, has_weighted):
    """Each is safe by itself; their difference is about the query that weighs more."""
    others = WEIGHTS | dict.fromkeys(HUNDRED[:heavier], 3.0)

    first, second = told(means(weights=WEIGHTS), means(weights=others))

    assert (first.has_weighted, second.has_weighted) == (True, has_weighted)
    assert told(means(weights=others))[0].has_weighted


def test_weighted_means_are_held_against_each_other_where_grades_differ():
    """Of 40 families that have other grades a single one weighs anything to speak of."""
    light = dict.fromkeys(HUNDRED, 1.0) | dict.fromkeys(HUNDRED[1:40], 0.001)

    first, second = told(means(weights=light), means(changed=HUNDRED[:40], weights=light))

    assert first.has_weighted
    assert (second.is_told, second.has_weighted) == (True, False)


def test_a_slice_that_is_registered_later_goes_after_those_shown():
    release = means(first=HUNDRED[:40], larger=HUNDRED[:45])

    assert told("first", release, "larger")[0].slices == {"first"}
    assert told("first", "larger", release)[0].slices == {"larger"}


def test_a_slice_that_an_earlier_release_shows_later_takes_none_from_a_later_one():
    earlier, later = means(larger=HUNDRED[:45]), means(first=HUNDRED[:40])

    slices = [mean.slices for mean in told(earlier, "first", later, "larger")]

    assert slices == [frozenset(), {"first"}]


def test_a_slice_is_shown_by_one_of_two_releases_whose_grades_differ_in_few_of_its_families():
    changed = [*HUNDRED[:5], *HUNDRED[60:90]]
    releases = [means(part=HUNDRED[:40]), means(part=HUNDRED[:40], changed=changed)]

    assert [mean.slices for mean in told("part", *releases)] == [{"part"}, frozenset()]


def test_slices_of_a_release_that_is_not_told_are_as_if_it_were_alone():
    close = means(changed=HUNDRED[:1], early=HUNDRED[:40], late=HUNDRED[40:])

    _, second = told("early", means(), close, "late")

    assert (second.is_told, second.slices) == (False, {"early", "late"})

"""My work: what each pool has for a person, and how long it takes them."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.judging.selectors.queue import queue_rows
from annotation.judging.selectors.work import Work, work_state
from annotation.models import Pool, PoolAnnotator, Slot
from tests import factories
from tests.annotation import making
from tests.annotation.pools.test_dashboard import given

SOON = timezone.now() + timedelta(days=1)


@pytest.fixture
def small_pool(benchmark):
    return making.pool(benchmark, {"q1": ["d1", "d2"], "q2": ["d3"]})


def everything(of: Pool, **values) -> None:
    Slot.objects.filter(pool=of).update(**values)


CASES = {
    Work.READY: lambda pool, me, other: None,
    Work.FINISHED: lambda pool, me, other: everything(pool, state="done", annotator=other),
    Work.HELD: lambda pool, me, other: everything(
        pool, state="claimed", annotator=other, lease_expires_at=SOON
    ),
    Work.WAITING_ANSWER: lambda pool, me, other: everything(
        pool, state="aside", annotator=me, lease_expires_at=SOON
    ),
    Work.PAUSED: lambda pool, me, other: Pool.objects.filter(pk=pool.pk).update(state="paused"),
    Work.NOT_ASSIGNED: lambda pool, me, other: PoolAnnotator.objects.create(
        pool=pool, annotator=other
    ),
}


def second_person(pool: Pool, me, other) -> None:
    for slot in Slot.objects.filter(pool=pool):
        Slot.objects.create(
            pool=pool, query=slot.query, entry=slot.entry, number=2, queue_position=99
        )
        Slot.objects.filter(pk=slot.pk).update(state="done", annotator=me)


CASES[Work.SECOND_PERSON] = second_person


@pytest.mark.parametrize("work", CASES)
def test_state_is_the_labeling_pages(small_pool, ada, bo, work):
    CASES[work](small_pool, ada, bo)
    pool = Pool.objects.select_related("benchmark__corpus").get(pk=small_pool.pk)

    (row,) = queue_rows([pool], ada)

    assert row.state.work == work
    assert row.state == work_state(pool, ada)


def anew(pool: Pool, me, other) -> None:
    slot = pool.slots.first()
    Slot.objects.create(
        pool=pool, query=slot.query, entry=slot.entry, kind="rejudge", round=2, queue_position=99
    )


def checked(pool: Pool, me, other) -> None:
    slot = pool.slots.first()
    Slot.objects.create(
        pool=pool, query=slot.query, entry=slot.entry, kind="gold", queue_position=99,
        annotator=me, state="claimed", lease_expires_at=SOON,
    )  # fmt: skip


def extra(pool: Pool, me, other) -> None:
    slot = pool.slots.first()
    making.judge(slot, me, 1)
    Slot.objects.create(pool=pool, query=slot.query, entry=slot.entry, number=2, queue_position=99)


@pytest.mark.parametrize(
    ("giver", "more", "work"),
    [("ada", anew, Work.READY), ("bo", checked, Work.READY), ("bo", extra, Work.SECOND_PERSON)],
)
def test_state_is_the_labeling_pages_where_all_labels_are_given(
    small_pool, ada, bo, giver, more, work
):
    everything(small_pool, state="done", annotator={"ada": ada, "bo": bo}[giver])
    more(small_pool, ada, bo)

    (row,) = queue_rows([small_pool], ada)

    assert row.state.work == work
    assert row.state == work_state(small_pool, ada)


def test_expired_documents_are_free_again(small_pool, ada, bo):
    everything(small_pool, state="claimed", annotator=bo, lease_expires_at=timezone.now())

    assert queue_rows([small_pool], ada)[0].state.work == Work.READY


def test_time_left_is_own_pace_times_what_one_can_still_give(small_pool, ada):
    for _ in range(2):
        slower = making.pool(
            small_pool.benchmark, {f"q{n}": [f"e{n}"] for n in range(9)}, overlap=2
        )
    given(slower, ada, 6, dwell_ms=30_000)

    (row,) = queue_rows([slower], ada)

    # Six of nine documents are judged by this person, and nobody gives two labels of one.
    assert (row.n_own, row.n_left, row.seconds) == (6, 3, 30)
    assert row.minutes_left == pytest.approx(1.5)


def test_pools_with_work_come_first(small_pool, ada, bo):
    other = making.pool(small_pool.benchmark, {"q1": ["x"]})
    CASES[Work.FINISHED](small_pool, ada, bo)

    assert [row.pool for row in queue_rows([small_pool, other], ada)] == [other, small_pool]


def test_page_offers_each_pools_one_action(small_pool, ada, signed_in):
    page = signed_in(ada).get(reverse("annotation:queue")).content.decode()

    assert f'href="{reverse("annotation:judge", args=[small_pool.pk])}"' in page
    assert ">Begin<" in page
    assert "The guideline and a few practice documents come first." in page


def test_page_asks_no_more_for_many_pools(small_pool, ada, django_assert_max_num_queries):
    for _ in range(6):
        making.pool(small_pool.benchmark, {"q1": [f"d{factories.user().pk}"]})
    pools = list(Pool.objects.select_related("benchmark__corpus"))

    with django_assert_max_num_queries(5):
        assert len(queue_rows(pools, ada)) == 7

"""A pool's people: who judges it, who has what, what is given back or waived."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.common.selectors.holding import holders_of, second_labels
from annotation.models import Pool, Slot
from annotation.overview import due_need
from annotation.pools.services.settings import set_pool_people
from benchmarks_app.homes import needs_of
from benchmarks_app.models import AuditEvent
from tests import factories
from tests.annotation import making
from tests.annotation.pools.test_dashboard import given
from tests.open_pages import opened

SOON = timezone.now() + timedelta(days=1)


@pytest.fixture
def small_pool(benchmark, owner):
    return making.pool(benchmark, {"q1": ["d1", "d2", "d3"]}, overlap=2)


def hold(of: Pool, person, n: int, **values) -> None:
    keys = Slot.objects.filter(pool=of, number=1).order_by("pk").values_list("pk", flat=True)[:n]
    held = {"state": "claimed", "lease_expires_at": SOON, **values}
    Slot.objects.filter(pk__in=list(keys)).update(annotator=person, **held)


def url(view: str, of: Pool) -> str:
    return reverse(f"annotation:{view}", args=[of.benchmark.slug, of.pk])


def test_holders_are_who_may_judge_with_what_they_have(small_pool, ada, bo, sam):
    hold(small_pool, ada, 2)

    rows = {str(holder.person): holder for holder in holders_of(small_pool)}

    assert sorted(rows) == ["ada", "bo", "olga"]
    assert (rows["ada"].n_held, rows["ada"].until, rows["ada"].has_some) == (2, SOON, True)
    assert (rows["bo"].n_held, rows["bo"].has_some) == (0, False)


def test_who_left_and_has_judged_is_still_there(small_pool, ada):
    hold(small_pool, ada, 1, state="done")
    ada.memberships.all().delete()

    (row,) = [holder for holder in holders_of(small_pool) if holder.person == ada]
    assert (row.role, row.n_done) == ("no longer a member", 1)


def test_expired_documents_are_on_no_screen(small_pool, ada):
    hold(small_pool, ada, 1, lease_expires_at=timezone.now())

    assert not any(holder.has_some for holder in holders_of(small_pool))


def test_documents_are_given_back_by_the_button(small_pool, ada, owner, signed_in):
    hold(small_pool, ada, 2)
    client = signed_in(owner)
    assert f'value="{ada.pk}"' in client.get(url("pool-people", small_pool)).content.decode()

    answer = client.post(url("pool-release", small_pool), {"annotator": ada.pk}, follow=True)

    assert "2 documents of ada went back" in answer.content.decode()
    assert not Slot.objects.filter(annotator=ada).exists()
    assert AuditEvent.objects.filter(actor=owner, target=small_pool.name).count() == 1


def test_second_labels_wait_and_are_waived(small_pool, ada, owner, signed_in):
    given(small_pool, ada, 2)
    assert second_labels(small_pool).count() == 2
    client = signed_in(owner)
    assert (
        "2 documents wait for a second person"
        in client.get(url("pool-people", small_pool)).content.decode()
    )

    client.post(url("pool-waive", small_pool))

    small_pool.refresh_from_db()
    assert (small_pool.n_wanted, small_pool.n_waived, second_labels(small_pool).count()) == (
        4,
        2,
        0,
    )


def test_people_and_sharing_are_saved_and_audited_once(small_pool, ada, bo, owner, signed_in):
    values = {"annotators": [ada.pk], "assignment": "family-to-one"}
    client = signed_in(owner)

    for _ in range(2):
        client.post(url("pool-settings", small_pool), values)

    small_pool.refresh_from_db()
    assert (list(small_pool.annotators.all()), small_pool.assignment) == ([ada], "family-to-one")
    (event,) = AuditEvent.objects.filter(action="pool-people")
    assert event.detail == {"annotators": [ada.pk], "assignment": "family-to-one"}


def test_page_that_was_open_for_a_while_changes_what_was_changed_on_it(
    small_pool, ada, bo, owner, signed_in
):
    """What a machine said is not shown again, and whom another has chosen stays chosen."""
    small_pool.shows_machine = True
    small_pool.save()
    client = signed_in(owner)
    initials = opened(client.get(url("pool-people", small_pool)).content.decode())
    small_pool.shows_machine = False
    small_pool.save()
    small_pool.annotators.set([bo])

    fields = {"assignment": "anybody", "shows_machine": "on", "due_on": "2099-01-01"}
    assert client.post(url("pool-settings", small_pool), {**initials, **fields}).status_code == 302

    small_pool.refresh_from_db()
    assert (small_pool.shows_machine, str(small_pool.due_on)) == (False, "2099-01-01")
    assert list(small_pool.annotators.all()) == [bo]


def test_due_date_is_set_on_the_page_audited_and_told_on_the_overview(small_pool, owner, signed_in):
    today, client = timezone.now().date(), signed_in(owner)
    for due_on in (today, today, today + timedelta(days=9)):
        client.post(url("pool-settings", small_pool), {"assignment": "anybody", "due_on": due_on})
        small_pool.refresh_from_db()
        titles = [need.title for need in needs_of(small_pool.benchmark, owner)]
        assert (small_pool.due_on, f"{small_pool} is due" in str(titles)) == (
            due_on,
            due_on == today,
        )

    Pool.objects.filter(pk=small_pool.pk).update(due_on=today - timedelta(days=3))
    assert "was due" in needs_of(small_pool.benchmark, owner)[0].title
    assert AuditEvent.objects.filter(action="pool-due").count() == 2
    assert "3 days ago" in client.get(url("pool-progress", small_pool)).content.decode()


def test_pools_that_are_done_hide_no_pool_that_is_past_its_day(
    small_pool, owner, django_assert_num_queries
):
    today, benchmark = timezone.now().date(), small_pool.benchmark
    for n in range(4):
        done = making.pool(benchmark, {f"q{n}": ["d1"]}, due_on=today - timedelta(days=9))
        hold(done, owner, 1, state="done", lease_expires_at=None)
    Pool.objects.filter(pk=small_pool.pk).update(due_on=today - timedelta(days=3))

    (need,) = [need for need in needs_of(benchmark, owner) if "was due" in need.title]
    assert need.title.startswith(f"{small_pool} was due")
    assert need.detail.startswith("6 of 6 labels are left")
    with django_assert_num_queries(3):  # the pools, and two of the one that is left
        assert [need.title for need in due_need(benchmark, owner)] == [need.title]


def test_naming_nobody_lets_everybody_judge_again(small_pool, ada, bo, owner):
    for people in ([ada, bo], [bo], []):
        set_pool_people(pool=small_pool, annotators=people, assignment="anybody", actor=owner)
        assert set(small_pool.annotators.all()) == set(people)


def test_who_may_not_judge_cannot_be_named(small_pool, sam, owner, signed_in):
    answer = signed_in(owner).post(
        url("pool-settings", small_pool), {"annotators": [sam.pk], "assignment": "anybody"}
    )

    assert answer.status_code == 422
    assert not small_pool.annotators.exists()


def test_page_asks_no_more_for_many_people(small_pool, django_assert_max_num_queries):
    for _ in range(8):
        factories.member(small_pool.benchmark, factories.user().username, "annotator")

    with django_assert_max_num_queries(4):
        assert len(holders_of(small_pool)) == 9

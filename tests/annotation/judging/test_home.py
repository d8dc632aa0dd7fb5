"""My work in one benchmark: where one stopped, pace, practice, answers, and why nothing waits."""

import uuid
from datetime import date, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.guidelines.services import answer_question
from annotation.judging.selectors.own_work import hours_of
from annotation.judging.services.home import answers_for, home_context, next_up, pace_of, rows_of
from annotation.judging.services.judging import ask_question
from annotation.models import KnownGrade, Pool, Slot
from tests import factories
from tests.annotation import making
from tests.annotation.judging.test_queue import CASES
from tests.annotation.pools.test_dashboard import given
from tests.test_query_counts import FEW, MANY, asked

pytestmark = pytest.mark.django_db


@pytest.fixture
def first_pool(benchmark, ada):
    pool = making.pool(benchmark, {"q1": ["d1", "d2", "d3"], "q2": ["d4", "d5"]}, name="First")
    making.begun(pool, ada)
    return pool


def page_of(client, benchmark) -> str:
    return client.get(reverse("benchmark-detail", args=[benchmark.slug])).content.decode()


# --- where one goes on ---------------------------------------------------------------------------


def test_query_in_hand_is_named_with_what_is_left_of_it(first_pool, ada, benchmark):
    making.judge(making.claimed(first_pool, ada)[0], ada, 1)

    up = next_up(rows_of(benchmark, ada), ada)

    left = [slot for slot in making.claimed(first_pool, ada) if slot.query == up.query]
    assert up.row.pool == first_pool
    assert (up.n_left, len(left)) == (len(left), up.n_left)
    assert up.n_left in (1, 2)
    assert up.step is None


def test_documents_of_others_are_not_counted_as_left(first_pool, ada, bo, benchmark):
    making.begun(first_pool, bo)
    (mine, *_) = making.claimed(first_pool, ada, 1)
    Slot.objects.filter(pool=first_pool).exclude(pk=mine.pk).update(
        state="claimed", annotator=bo, lease_expires_at=timezone.now() + timedelta(hours=1)
    )

    up = next_up(rows_of(benchmark, ada), ada)

    assert (up.query, up.n_left) == (mine.query, 1)


def test_queue_judged_last_comes_first(first_pool, ada, benchmark):
    other = making.pool(benchmark, {"q3": ["d6", "d7"]}, name="Second")
    given(other, ada, 1)
    assert rows_of(benchmark, ada)[0].pool == other

    given(first_pool, ada, 1)

    assert rows_of(benchmark, ada)[0].pool == first_pool


def test_what_is_due_first_comes_before_what_was_judged_last(first_pool, ada, signed_in, benchmark):
    day = timezone.now().date()
    for name, days in {"Later": 9, "Soon": 1, "Late": -2}.items():
        making.pool(benchmark, {name: [name]}, name=name, due_on=day + timedelta(days=days))
    given(first_pool, ada, 1)

    queue = signed_in(ada).get(reverse("annotation:queue"))
    orders = [
        [row.pool.name for row in rows] for rows in (rows_of(benchmark, ada), queue.context["rows"])
    ]

    assert orders == [["Late", "Soon", "Later", "First"]] * 2
    assert "Due tomorrow" in queue.content.decode()


def test_day_is_told_with_ones_own_pace_and_softly_once_it_is_past(ada, signed_in, benchmark):
    many = making.pool(benchmark, {"q": [f"d{n}" for n in range(9)]})
    making.begun(many, ada)
    given(many, ada, 6, dwell_ms=44 * 60_000)

    def told(due_on) -> str:
        Pool.objects.filter(pk=many.pk).update(due_on=due_on)
        return " ".join(page_of(signed_in(ada), benchmark).split())

    # Three labels can still be given, of 44 minutes each.
    left = "about 2 h 10 min of work left at your pace."
    assert f"Due Friday 5 Jan 2125, {left}" in told(date(2125, 1, 5))
    assert f"It was due Friday 5 Jan; labels are still welcome, {left}" in told(date(2024, 1, 5))


def test_one_button_leads_to_the_labeling_page(first_pool, ada, signed_in, benchmark):
    given(first_pool, ada, 1)
    client = signed_in(ada)

    page = page_of(client, benchmark)

    target = reverse("annotation:judge", args=[first_pool.pk])
    assert f'<a class="button is-primary is-large" href="{target}">Continue judging</a>' in page
    assert page.count("is-primary") == 1
    assert client.get(target).status_code == 200


def test_queues_of_other_benchmarks_are_not_here(first_pool, ada, benchmark):
    other = factories.benchmark("more")
    factories.member(other, "ada", "annotator")
    making.pool(other, {"q1": ["d1"]})

    assert [row.pool for row in rows_of(benchmark, ada)] == [first_pool]


SAID = {
    "finished": "has the labels it needs",
    "second_person": "waits for a second person",
    "held": "is open on other screens",
    "waiting_answer": "They come back with the answer",
    "paused": "The owner has paused",
    "not_assigned": "you are not among them",
}


@pytest.mark.parametrize("work", SAID)
def test_empty_queue_says_why_with_one_act(first_pool, ada, bo, signed_in, benchmark, work):
    CASES[work](first_pool, ada, bo)

    page = page_of(signed_in(ada), benchmark)

    part = page[page.index('aria-labelledby="nothing-title"') :]
    part = part[: part.index("</section>")]
    assert SAID[work] in part
    assert part.count("<a ") == 1
    assert "Nothing waits for you now." in page


def test_without_a_pool_the_guideline_is_what_there_is(ada, signed_in, benchmark):
    page = page_of(signed_in(ada), benchmark)

    assert "No queue yet" in page
    assert reverse("annotation:guideline-detail", args=[benchmark.slug]) in page


# --- pace ----------------------------------------------------------------------------------------


def test_pace_is_that_of_the_page_of_hours(first_pool, ada, benchmark):
    yesterday = timezone.now() - timedelta(days=1)
    given(first_pool, ada, 2, created_at=yesterday, dwell_ms=30_000)
    for slot in Slot.objects.filter(pool=first_pool, state="free")[:3]:
        making.judge(slot, ada, 2)

    pace, hours = pace_of(benchmark, ada), hours_of(ada)

    assert (pace.today.n_labels, pace.days[-2].n_labels) == (3, 2)
    assert sum(day.n_labels for day in pace.days) == hours.n_labels
    assert sum(day.minutes for day in pace.days) == pytest.approx(hours.minutes)
    # Two labels at one moment: the first took its half minute, the second none.
    assert pace.seconds_before == pytest.approx(15)


def test_older_days_are_left_out(first_pool, ada, benchmark):
    given(first_pool, ada, 2, created_at=timezone.now() - timedelta(days=8))

    assert pace_of(benchmark, ada).most == 0


# --- practice ------------------------------------------------------------------------------------


def test_practice_comes_first_and_says_what_was_missed(
    first_pool, ada, signed_in, benchmark, owner
):
    entry = first_pool.entries.order_by("pk").first()
    known = KnownGrade.objects.create(entry=entry, purpose="practice", grade=2, set_by=owner)
    ada.pool_starts.all().delete()
    client = signed_in(ada)
    before = page_of(client, benchmark)
    client.post(
        reverse("annotation:practice", args=[first_pool.pk]),
        {"known": known.pk, "grade": 1, "client_id": uuid.uuid4()},
    )

    after = page_of(client, benchmark)

    assert "0 of 1 done" in before
    assert "0 of 1 right" in after
    assert "You gave 1, expected was 2" in after


# --- answers -------------------------------------------------------------------------------------


def test_new_answer_comes_first_and_leads_to_its_document(
    first_pool, ada, owner, signed_in, benchmark
):
    first, second = making.claimed(first_pool, ada)[:2]
    asked_first = ask_question(slot=first, actor=ada, client_id=uuid.uuid4(), text="Is it one?")
    ask_question(slot=second, actor=ada, client_id=uuid.uuid4(), text="Or two?")
    answer_question(question=asked_first, answer="It is.", actor=owner)

    answers = answers_for(benchmark, ada)
    client = signed_in(ada)
    page = page_of(client, benchmark)

    assert [(answer.question.text, answer.is_new) for answer in answers] == [
        ("Is it one?", True),
        ("Or two?", False),
    ]
    assert "1 new" in page
    url = f"{reverse('annotation:judge', args=[first_pool.pk])}?doc={answers[0].key}"
    assert f'href="{url}"' in page
    assert first.query.text in client.get(url).content.decode()


def test_answered_question_that_was_judged_since_is_not_new(first_pool, ada, owner, benchmark):
    (slot, *_) = making.claimed(first_pool, ada)
    question = ask_question(slot=slot, actor=ada, client_id=uuid.uuid4(), text="Is it one?")
    answer_question(question=question, answer="It is.", actor=owner)
    slot.refresh_from_db()
    making.judge(slot, ada, 2)

    (answer,) = answers_for(benchmark, ada)

    assert not answer.is_new
    assert answer.judgment.grade == 2


# --- cost and blindness --------------------------------------------------------------------------


def test_page_asks_as_often_for_20_pools_as_for_2(first_pool, ada, signed_in, benchmark):
    client, url = signed_in(ada), reverse("benchmark-detail", args=[benchmark.slug])

    def pools(first: int, last: int) -> None:
        for number in range(first, last):
            making.pool(benchmark, {"q1": [f"x{number}"]}, name=f"more {number}")

    pools(0, FEW)
    few, _ = asked(client, url)
    pools(FEW, MANY)
    many, _ = asked(client, url)

    assert len(many) <= len(few), "\n".join(sql for sql in many if sql not in few)


def test_page_asks_as_often_for_20_answers_as_for_2(first_pool, ada, owner, signed_in, benchmark):
    client, url = signed_in(ada), reverse("benchmark-detail", args=[benchmark.slug])

    def answers(name: str, n: int) -> None:
        pool = making.pool(benchmark, {"q9": [f"{name}{place}" for place in range(n)]}, name=name)
        Pool.objects.exclude(pk=pool.pk).update(state="closed")
        for slot in pool.slots.select_related("entry"):
            slot.entry.questions.create(
                slot=slot, asked_by=ada, client_id=uuid.uuid4(), text="Why?",
                answer="So.", answered_by=owner, answered_at=timezone.now(),
            )  # fmt: skip

    answers("few", FEW)
    few, _ = asked(client, url)
    answers("many", MANY)
    many, _ = asked(client, url)

    assert len(many) <= len(few) + 1, "\n".join(sql for sql in many if sql not in few)


def test_page_names_no_run_and_nobody_elses_grade(first_pool, ada, bo, benchmark):
    making.judge(first_pool.slots.first(), bo, 3)

    context = home_context(benchmark, ada)

    assert context["pace"].today.n_labels == 0
    assert {row.n_own for row in context["rows"]} == {0}

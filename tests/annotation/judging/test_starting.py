"""Before the first document: notice, guideline, practice."""

import uuid

import pytest
from django.test import Client
from django.urls import reverse

from annotation.judging.selectors.starting import Step, mark_of, practice_by, step_before_judging
from annotation.judging.services.starting import mark_read, practise_again, record_practice
from annotation.labels.services.known_grades import remove_known_grade, set_practice_mark
from annotation.models import Judgment, KnownGrade, Pool, PoolEntry, PoolStart, Slot
from benchmarks_app.models import User
from tests import factories
from tests.annotation.making import guideline, judge, pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def small_pool(benchmark) -> Pool:
    return pool(benchmark, {"q1": ["d1", "d2", "d3"]})


def known(of: Pool, docid: str, grade: int, **values) -> KnownGrade:
    entry = PoolEntry.objects.get(pool=of, document__docid=docid)
    values.setdefault("purpose", KnownGrade.Purpose.PRACTICE)
    return KnownGrade.objects.create(
        entry=entry, grade=grade, set_by=factories.user("keeper"), **values
    )


def url(view: str, of: Pool) -> str:
    return reverse(f"annotation:{view}", args=[of.pk])


def read(client: Client, of: Pool, version: int | str = ""):
    return client.post(url("start", of), {"has_read": "on", "version": version})


def practise(client: Client, of: Pool, known_grade: KnownGrade, grade: int):
    values = {"known": known_grade.pk, "grade": grade, "client_id": uuid.uuid4()}
    return client.post(url("practice", of), values)


# --- which step comes next -----------------------------------------------------------------------


def test_notice_comes_first_and_once(small_pool, ada):
    assert step_before_judging(small_pool, ada) == Step.NOTICE

    mark_read(pool=small_pool, annotator=ada, version=None)

    assert step_before_judging(small_pool, ada) is None


def test_a_new_version_of_the_guideline_is_read_once(small_pool, ada, benchmark):
    guideline(benchmark, 1)
    mark_read(pool=small_pool, annotator=ada, version=1)
    assert step_before_judging(small_pool, ada) is None

    guideline(benchmark, 2)
    assert step_before_judging(small_pool, ada) == Step.GUIDELINE

    mark_read(pool=small_pool, annotator=ada, version=2)
    assert step_before_judging(small_pool, ada) is None


def test_a_version_that_was_new_when_the_page_was_opened_is_not_the_newest(
    small_pool, ada, benchmark
):
    guideline(benchmark, 1)
    guideline(benchmark, 2)

    mark_read(pool=small_pool, annotator=ada, version=1)

    assert step_before_judging(small_pool, ada) == Step.GUIDELINE


def test_practice_comes_before_the_first_document_and_not_after_it(small_pool, ada, bo):
    for person in (ada, bo):
        mark_read(pool=small_pool, annotator=person, version=None)
    slot = small_pool.slots.get(entry__document__docid="d2")
    judge(slot, bo, 1)

    known(small_pool, "d1", 2)

    assert step_before_judging(small_pool, ada) == Step.PRACTICE
    assert step_before_judging(small_pool, bo) is None


def test_hidden_checks_are_no_practice(small_pool, ada):
    mark_read(pool=small_pool, annotator=ada, version=None)
    known(small_pool, "d1", 2, purpose=KnownGrade.Purpose.GOLD)

    assert step_before_judging(small_pool, ada) is None


# --- the start page ------------------------------------------------------------------------------


def test_start_page_shows_notice_guideline_and_scale(small_pool, ada, benchmark, signed_in):
    guideline(benchmark, 1)
    benchmark.guidelines.update(text="# Be *kind*\n\n<script>alert(1)</script>")

    page = signed_in(ada).get(url("start", small_pool)).content.decode()

    assert "What is recorded" in page
    assert "<h3>Be <em>kind</em></h3>" in page
    assert "<script>alert" not in page
    assert "answers" in page


def test_reading_leads_to_judging_and_is_remembered(small_pool, ada, benchmark, signed_in):
    guideline(benchmark, 1)

    answer = read(signed_in(ada), small_pool, version=1)

    assert answer.url == url("judge", small_pool)
    start = PoolStart.objects.get()
    assert (start.pool, start.annotator, start.guideline.version) == (small_pool, ada, 1)
    assert start.notice_at is not None


def test_a_form_that_does_not_say_it_was_read_leads_nowhere(small_pool, ada, signed_in):
    answer = signed_in(ada).post(url("start", small_pool), {"version": ""})

    assert answer.status_code == 422
    assert "Continue once you have read both" in answer.content.decode()
    assert not PoolStart.objects.exists()


def test_a_change_of_the_guideline_is_shown_line_by_line(small_pool, ada, benchmark, signed_in):
    guideline(benchmark, 1)
    mark_read(pool=small_pool, annotator=ada, version=1)
    guideline(benchmark, 2)
    benchmark.guidelines.filter(version=2).update(text="Read, then grade.\nBe strict.")

    page = signed_in(ada).get(url("start", small_pool)).content.decode()

    assert "The guideline changed" in page
    assert '<ins><span class="sr-only">Added: </span>Be strict.</ins>' in page
    assert "What is recorded" not in page


# --- practice ------------------------------------------------------------------------------------


def test_practice_shows_no_answer_before_the_grade(small_pool, ada, signed_in):
    known(small_pool, "d1", 3, explanation="Because it says so.")

    page = signed_in(ada).get(url("practice", small_pool)).content.decode()

    assert "Document 1 of 1" in page
    assert "Because it says so" not in page
    assert "Expected" not in page


def test_after_a_grade_its_answer_is_shown(small_pool, ada, signed_in):
    known_grade = known(small_pool, "d1", 3, explanation="Because it says so.")
    client = signed_in(ada)

    answer = practise(client, small_pool, known_grade, 1)
    page = client.get(answer.url).content.decode()

    assert "2 grades apart" in page
    assert "Because it says so." in page


def test_answer_to_a_document_that_was_not_graded_is_not_found(small_pool, ada, signed_in):
    known_grade = known(small_pool, "d1", 3)

    client = signed_in(ada)

    assert client.get(url("practice", small_pool), {"answer": known_grade.pk}).status_code == 404
    assert client.get(url("practice", small_pool), {"answer": "x"}).status_code == 404


def test_practice_ends_with_a_summary_and_leads_to_judging(small_pool, ada, signed_in):
    first, second = known(small_pool, "d1", 3), known(small_pool, "d2", 0)
    Pool.objects.update(practice_mark=1)
    mark_read(pool=small_pool, annotator=ada, version=None)
    client = signed_in(ada)
    practise(client, small_pool, first, 3)
    assert step_before_judging(small_pool, ada) == Step.PRACTICE

    practise(client, small_pool, second, 1)

    page = client.get(url("practice", small_pool)).content.decode()
    assert "1 of 2 grades were the expected ones. 1 more was one grade apart." in page
    assert "Start judging" in page
    assert step_before_judging(small_pool, ada) is None


# --- the pass mark -------------------------------------------------------------------------------


def test_who_has_too_few_right_practises_again_before_judging(small_pool, ada, signed_in):
    first, second = known(small_pool, "d1", 3), known(small_pool, "d2", 0)
    mark_read(pool=small_pool, annotator=ada, version=None)
    client = signed_in(ada)
    for known_grade in (first, second):
        practise(client, small_pool, known_grade, 1)

    page = client.get(url("practice", small_pool)).content.decode()
    assert "Not enough yet" in page
    assert "2 are needed before you judge" in page
    assert client.get(url("judge", small_pool)).url == url("practice", small_pool)

    client.post(url("practice", small_pool), {"again": "1"})
    assert practice_by(small_pool, ada).round == 2
    for known_grade, grade in ((first, 3), (second, 0)):
        practise(client, small_pool, known_grade, grade)

    assert "Practice done" in client.get(url("practice", small_pool)).content.decode()
    assert step_before_judging(small_pool, ada) is None
    assert Judgment.objects.filter(purpose="practice").count() == 4


@pytest.mark.parametrize("is_lowered", [True, False], ids=["mark lowered", "document removed"])
def test_who_has_enough_right_by_now_judges(small_pool, ada, owner, is_lowered, signed_in):
    right, wrong = known(small_pool, "d1", 3), known(small_pool, "d2", 0)
    mark_read(pool=small_pool, annotator=ada, version=None)
    for known_grade in (right, wrong):
        record_practice(known_grade=known_grade, annotator=ada, grade=3, client_id=uuid.uuid4())
    assert step_before_judging(small_pool, ada) == Step.PRACTICE

    if is_lowered:
        set_practice_mark(pool=small_pool, mark=1, actor=owner)
    else:
        remove_known_grade(known_grade=wrong, actor=owner)

    assert "Start judging" in signed_in(ada).get(url("practice", small_pool)).content.decode()
    assert signed_in(ada).get(url("judge", small_pool)).status_code == 200


def test_nobody_begins_another_round_in_the_middle_of_one_or_once_passed(small_pool, ada):
    known_grade, other = known(small_pool, "d1", 3), known(small_pool, "d2", 0)
    record_practice(known_grade=known_grade, annotator=ada, grade=0, client_id=uuid.uuid4())
    assert practise_again(pool=small_pool, annotator=ada).practice_round == 1

    Pool.objects.update(practice_mark=0)
    small_pool.refresh_from_db()
    record_practice(known_grade=other, annotator=ada, grade=3, client_id=uuid.uuid4())

    assert practise_again(pool=small_pool, annotator=ada).practice_round == 1


def test_a_mark_of_nothing_lets_everybody_in_who_practised(small_pool, ada):
    Pool.objects.update(practice_mark=0)
    mark_read(pool=small_pool, annotator=ada, version=None)

    record_practice(
        known_grade=known(small_pool, "d1", 3), annotator=ada, grade=0, client_id=uuid.uuid4()
    )

    assert step_before_judging(small_pool, ada) is None


def test_the_usual_mark_is_one_that_guessing_does_not_reach(benchmark):
    small_pool = pool(benchmark, {"q1": [f"d{n}" for n in range(10)]})
    for number in range(10):
        known(small_pool, f"d{number}", number % 4)

    mark = mark_of(small_pool)

    assert (mark.needed, mark.n_documents) == (7, 10)
    assert mark.chance < 0.01
    Pool.objects.update(practice_mark=3)
    small_pool.refresh_from_db()
    assert mark_of(small_pool).is_guessable


def test_practice_is_on_the_labeling_page_s_own_parts(small_pool, ada, signed_in):
    known(small_pool, "d1", 3)

    page = signed_in(ada).get(url("practice", small_pool)).content.decode()

    for part in ('id="grade-form"', 'data-part="guideline"', 'data-part="query"', "practice.js"):
        assert part in page
    assert page.count('name="grade"') == small_pool.benchmark.grades.count()


def test_practice_is_of_each_person_alone(small_pool, ada, bo):
    known_grade = known(small_pool, "d1", 3)

    for number, person in enumerate([ada, bo], start=1):
        result = record_practice(
            known_grade=known_grade, annotator=person, grade=2, client_id=uuid.uuid4()
        )
        assert (result.purpose, result.slot.kind, result.slot.number) == (
            "practice",
            "practice",
            number,
        )

    assert practice_by(small_pool, ada).n_done == 1


def test_a_document_is_practised_once_and_a_repeated_post_changes_nothing(small_pool, ada):
    known_grade, client_id = known(small_pool, "d1", 3), uuid.uuid4()

    first = record_practice(known_grade=known_grade, annotator=ada, grade=2, client_id=client_id)
    again = record_practice(known_grade=known_grade, annotator=ada, grade=2, client_id=client_id)

    assert first == again
    assert Judgment.objects.count() == 1


def test_second_grade_of_a_practice_document_is_refused(small_pool, ada, signed_in):
    known_grade = known(small_pool, "d1", 3)
    client = signed_in(ada)
    practise(client, small_pool, known_grade, 2)

    answer = practise(client, small_pool, known_grade, 3)

    assert answer.status_code == 409
    assert "graded this practice document already" in answer.content.decode()


def test_grade_beyond_the_scale_is_refused_and_leaves_nothing(small_pool, ada, signed_in):
    known_grade = known(small_pool, "d1", 3)

    answer = practise(signed_in(ada), small_pool, known_grade, 9)

    assert answer.status_code == 422
    assert not Slot.objects.filter(kind="practice").exists()


def test_practice_of_another_pool_is_not_found(small_pool, benchmark, ada, signed_in):
    other = pool(benchmark, {"q1": ["d1"]})
    known_grade = known(other, "d1", 3)

    assert practise(signed_in(ada), small_pool, known_grade, 2).status_code == 404


def test_practice_is_not_counted_as_a_label(small_pool, ada):
    record_practice(
        known_grade=known(small_pool, "d1", 3), annotator=ada, grade=2, client_id=uuid.uuid4()
    )

    assert not Judgment.objects.wanted().exists()
    assert Slot.objects.filter(kind="label", state="done").count() == 0


def test_a_pool_without_practice_says_so(small_pool, ada, signed_in):
    page = signed_in(ada).get(url("practice", small_pool)).content.decode()

    assert "No practice in this pool" in page


@pytest.mark.parametrize("view", ["start", "practice"])
@pytest.mark.parametrize(("who", "status"), [("vi", 403), ("sam", 403), ("cy", 404)])
def test_who_does_not_judge_has_nothing_to_start(
    small_pool, benchmark, signed_in, view, who, status
):
    roles = {"vi": "viewer", "sam": "submitter"}
    of = benchmark if who in roles else factories.benchmark()
    person: User = factories.member(of, who, roles.get(who, "owner"))

    assert signed_in(person).get(url(view, small_pool)).status_code == status

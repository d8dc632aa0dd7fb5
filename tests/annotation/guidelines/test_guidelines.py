"""The guideline and its versions; questions and answers."""

import uuid

import pytest
from django.urls import reverse

from annotation.guidelines.services import add_guideline_line, save_guideline
from annotation.models import Pool, Question
from benchmarks_app.models import AuditEvent, Guideline
from tests import factories
from tests.annotation.making import guideline, pool
from tests.open_pages import opened

pytestmark = pytest.mark.django_db


def page_of(client, view: str, slug: str, *args, **query) -> str:
    return client.get(reverse(f"annotation:{view}", args=[slug, *args]), query).content.decode()


# --- versions ------------------------------------------------------------------------------------


def test_a_changed_text_is_a_new_version(benchmark, owner):
    first = save_guideline(benchmark=benchmark, text="One.\r\nTwo.\n", actor=owner)
    second = save_guideline(benchmark=benchmark, text="One.\nThree.", actor=owner, written_upon=1)

    assert (first.version, first.text) == (1, "One.\nTwo.")
    assert (second.version, second.text) == (2, "One.\nThree.")
    assert AuditEvent.objects.filter(action="guideline-version").count() == 2


def test_the_same_text_is_no_version(benchmark, owner):
    save_guideline(benchmark=benchmark, text="One.", actor=owner)
    again = save_guideline(benchmark=benchmark, text=" One.\r\n", actor=owner)

    assert again.version == 1
    assert Guideline.objects.count() == 1


def edit(client, benchmark, **values):
    url = reverse("annotation:guideline-edit", args=[benchmark.slug])
    return client.post(url, {"text": "New.", "written_upon": 1} | values)


def test_two_who_write_at_once_do_not_overwrite_each_other(benchmark, owner, signed_in):
    guideline(benchmark, 1)
    guideline(benchmark, 2)

    answer = edit(signed_in(owner), benchmark, text="What I wrote.", written_upon=1)

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Version 2 of the guideline was saved while you wrote" in page
    assert "What I wrote." in page
    assert Guideline.objects.count() == 2


def test_a_grades_line_that_another_has_changed_meanwhile_stays(benchmark, owner, signed_in):
    """It makes no version, so that the text alone does not tell of it."""
    guideline(benchmark, 1)
    client, address = signed_in(owner), reverse("annotation:guideline-edit", args=["stdlib"])
    initials = opened(client.get(address).content.decode())
    values = {f"anchor_{grade.value}": grade.anchor for grade in benchmark.grades.all()}
    save_guideline(benchmark=benchmark, text="", actor=owner, anchors={2: "It helps."})

    edit(client, benchmark, **{**initials, **values, "anchor_1": "It is near."})

    anchors = dict(benchmark.grades.values_list("value", "anchor"))
    assert (anchors[1], anchors[2]) == ("It is near.", "It helps.")
    assert Guideline.objects.latest("version").text == "New."


def test_a_line_goes_to_the_end_as_an_item(benchmark, owner):
    guideline(benchmark, 1)

    add_guideline_line(benchmark=benchmark, line="Private  functions\ncount.", actor=owner)
    last = add_guideline_line(benchmark=benchmark, line="So do macros.", actor=owner)

    assert last.version == 3
    assert last.text == "Read, then grade.\n\n- Private functions count.\n- So do macros."


def test_what_a_grade_means_can_be_changed_without_a_new_version(benchmark, owner, signed_in):
    guideline(benchmark, 1)

    edit(signed_in(owner), benchmark, text="Read, then grade.", anchor_3="Says it outright.")

    assert benchmark.grades.get(value=3).anchor == "Says it outright."
    assert Guideline.objects.count() == 1
    event = AuditEvent.objects.get(action="guideline-anchors")
    assert event.detail == {"changed": {"3": ["", "Says it outright."]}}


def test_a_preview_saves_nothing_and_shows_what_changes(benchmark, owner, signed_in):
    guideline(benchmark, 1)

    page = edit(signed_in(owner), benchmark, text="# Title\n<b>x</b>", preview="1").content.decode()

    assert "<h3>Title</h3>" in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert '<del><span class="sr-only">Removed: </span>Read, then grade.</del>' in page
    assert Guideline.objects.count() == 1


@pytest.mark.parametrize(
    ("page", "field"), [("annotation:guideline-edit", "text"), ("benchmark-settings", "guideline")]
)
def test_a_guideline_that_nobody_could_read_is_refused(benchmark, owner, signed_in, page, field):
    guideline(benchmark, 1)
    client, address = signed_in(owner), reverse(page, args=["stdlib"])
    longest = "x" * Guideline.MOST_CHARACTERS
    values = {"name": benchmark.name, "visibility": benchmark.visibility, "written_upon": 1}

    refused = client.post(address, {**values, field: f"{longest}x"})
    taken = client.post(address, {**values, field: longest})

    assert (refused.status_code, taken.status_code) == (422, 302)
    assert "at most 100000 characters" in refused.content.decode()
    assert Guideline.objects.latest("version").text == longest


def test_versions_are_listed_and_compared(benchmark, owner, signed_in):
    guideline(benchmark, 1)
    save_guideline(benchmark=benchmark, text="Read, then grade.\nTwice.", actor=owner)
    client = signed_in(owner)

    newest = page_of(client, "guideline-detail", benchmark.slug)
    first = page_of(client, "guideline-detail", benchmark.slug, version=1)
    compared = page_of(client, "guideline-detail", benchmark.slug, since=1, version=2)

    assert "Twice." in newest
    assert "Twice." not in first
    assert "Twice.</ins>" in compared
    assert "From version 1 to 2" in compared


@pytest.mark.parametrize("query", [{"version": "99"}, {"version": "x"}, {"since": "-1"}])
def test_a_version_that_is_not_there_shows_the_newest(benchmark, owner, signed_in, query):
    guideline(benchmark, 1)

    assert "Version 1" in page_of(signed_in(owner), "guideline-detail", benchmark.slug, **query)


def test_a_benchmark_without_guideline_says_so(benchmark, owner, signed_in):
    assert "No guideline yet" in page_of(signed_in(owner), "guideline-detail", benchmark.slug)


# --- questions -----------------------------------------------------------------------------------


@pytest.fixture
def small_pool(benchmark) -> Pool:
    return pool(benchmark, {"q1": ["d1", "d2"]})


def question(of: Pool, asked_by, text: str = "Does it count?") -> Question:
    slot = of.slots.order_by("pk").first()
    return Question.objects.create(
        entry=slot.entry, slot=slot, asked_by=asked_by, client_id=uuid.uuid4(), text=text
    )


def answer(client, asked: Question, **values):
    slug = asked.entry.pool.benchmark.slug
    url = reverse("annotation:question-answer", args=[slug, asked.pk])
    return client.post(url, {"answer": "It does."} | values)


def test_an_answer_is_stored_and_seen_by_who_asked(small_pool, ada, owner, signed_in):
    asked = question(small_pool, ada)

    assert answer(signed_in(owner), asked).status_code == 302

    asked.refresh_from_db()
    assert (asked.answer, asked.answered_by) == ("It does.", owner)
    own = signed_in(ada).get(reverse("annotation:my-question-list")).content.decode()
    assert "Does it count?" in own
    assert "It does." in own


def test_an_answer_can_become_a_line_of_the_guideline(small_pool, ada, owner, benchmark, signed_in):
    guideline(benchmark, 1)
    asked = question(small_pool, ada)

    answer(signed_in(owner), asked, guideline_line="Private functions count.")

    asked.refresh_from_db()
    assert asked.guideline.version == 2
    assert asked.guideline.text.endswith("- Private functions count.")


def test_a_second_answer_is_refused(small_pool, ada, owner, maintainer, signed_in):
    asked = question(small_pool, ada)
    answer(signed_in(owner), asked)

    second = answer(signed_in(maintainer), asked, answer="No.", guideline_line="No.")

    assert second.status_code == 409
    asked.refresh_from_db()
    assert asked.answer == "It does."
    assert not Guideline.objects.exists()


def test_an_empty_answer_is_none(small_pool, ada, owner, signed_in):
    asked = question(small_pool, ada)

    assert answer(signed_in(owner), asked, answer="  ").status_code == 422
    asked.refresh_from_db()
    assert asked.answered_at is None


def test_open_questions_come_first_and_the_oldest_of_them(small_pool, ada, owner, signed_in):
    done = question(small_pool, ada, "Done?")
    answer(signed_in(owner), done)
    question(small_pool, ada, "Older?")
    question(small_pool, ada, "Newer?")

    page = page_of(signed_in(owner), "question-list", small_pool.benchmark.slug)

    assert page.index("Older?") < page.index("Newer?") < page.index("Done?")


def test_nobody_sees_what_others_asked(small_pool, ada, bo, signed_in):
    question(small_pool, ada, "Mine alone?")

    assert (
        "Mine alone?"
        not in signed_in(bo).get(reverse("annotation:my-question-list")).content.decode()
    )


def test_question_of_another_benchmark_is_not_found(small_pool, ada, signed_in):
    other = factories.benchmark()
    keeper = factories.member(other, "cy", "owner")
    asked = question(small_pool, ada)
    url = reverse("annotation:question-answer", args=[other.slug, asked.pk])

    assert signed_in(keeper).post(url, {"answer": "Yes."}).status_code == 404

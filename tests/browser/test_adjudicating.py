"""Settling cases in the browser: by key, by mouse, and without the page's script."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser.furnishing import SLUG

DISPUTE = f"""
import json
from benchmarks_app.models import Benchmark
from tests.browser.furnishing import disputed_document
print(json.dumps(disputed_document(Benchmark.objects.get(slug={SLUG!r}))))
"""
WORD = """
import json
from annotation.models import Judgment
words = Judgment.objects.filter(kind="adjudicate", query={query}, docid={docid!r})
print(json.dumps([[word.outcome, word.grade, word.reason] for word in words]))
"""


@pytest.fixture
def case(demo, person):
    """A function that opens a case of its own as Bo; `words()` of the page is what was said."""

    def open_case(**options) -> Page:
        query, docid = json.loads(demo.site.snippet(DISPUTE))
        page = person("bo", **options)
        page.goto(f"/b/{SLUG}/adjudicate/{query}/{docid}/")
        page.words = lambda: json.loads(demo.site.snippet(WORD.format(query=query, docid=docid)))
        return page

    return open_case


def left(page: Page) -> None:
    """Wait until the page of another case, or the inbox, is there."""
    expect(page.locator("#messages .alert")).to_be_visible()


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("Digit3", ["pick", 3, ""]),
        ("Numpad0", ["pick", 0, ""]),
        ("KeyQ", ["query_ambiguous", None, ""]),
        ("KeyU", ["guideline_unclear", None, ""]),
    ],
)
def test_a_key_settles_a_case_and_shows_the_next(case, key, words):
    page = case()

    page.keyboard.press(key)

    left(page)
    assert page.words() == [words]


def test_another_grade_asks_for_its_reason_first(case):
    page = case()
    reason = page.get_by_label("Reason")

    page.keyboard.press("1")
    expect(reason).to_be_focused()
    assert page.words() == []
    page.keyboard.type("0 and 3 go too far")  # digits are text in here
    page.get_by_role("button", name="1 Related").click()

    left(page)
    assert page.words() == [["override", 1, "0 and 3 go too far"]]


def test_skipping_says_nothing(case):
    case()  # one more, to come to
    page = case()
    before = page.url

    page.keyboard.press("s")

    expect(page).not_to_have_url(before)
    assert page.words() == []


def test_without_the_script_it_is_a_form(case):
    page = case(java_script_enabled=False, viewport={"width": 360, "height": 740})

    page.get_by_role("button", name="1 Related").click()
    expect(page.get_by_text("Nobody gave this grade: say why it is right.")).to_be_visible()
    page.get_by_label("Reason").fill("In between")
    page.get_by_role("button", name="1 Related").click()

    left(page)
    assert page.words() == [["override", 1, "In between"]]

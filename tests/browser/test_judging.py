"""The labeling page under a person's hands: keys, touch, no script, interruptions."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsing import at_width
from tests.browser.conftest import DemoSite, Person

POOL = "/judge/1/"
SAID = "#judge-said"


@pytest.fixture
def page(person: Person) -> Page:
    """Ada at the labeling page of the demo's pool."""
    return at_work(person("ada"))


def at_work(page: Page) -> Page:
    page.goto(POOL)
    expect(page.locator("article.document")).to_be_visible()
    return page


def text(page: Page) -> str:
    return page.locator(".judge-query .query-text").inner_text() + document(page)


def document(page: Page) -> str:
    return page.locator("article.document").inner_text()


def label(page: Page) -> int:
    """The number of the label that would be given now."""
    shown = page.get_by_text(re.compile(r"Label [\d,]+ of [\d,]+ in the pool")).inner_text()
    return int(shown.split()[1].replace(",", ""))


def press(page: Page, key: str) -> None:
    """A key that brings another document."""
    token = page.locator(".grade-bar [name=token]").input_value()
    page.keyboard.press(key)
    expect(page.locator(".grade-bar [name=token]")).not_to_have_value(token)


def settle(page: Page) -> None:
    """Time for a judgment that must not come, to come."""
    page.wait_for_timeout(300)


# --- keys --------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["0", "1", "2", "3"])
def test_a_digit_grades_and_advances(page: Page, key: str):
    before, number = text(page), label(page)

    press(page, key)

    expect(page.locator(SAID)).to_contain_text(f"Grade {key} saved.")
    assert text(page) != before
    assert label(page) == number + 1


@pytest.mark.parametrize("digit", ["0", "3"])
def test_the_number_pad_grades_too(page: Page, digit: str):
    number = label(page)

    press_on_number_pad(page, digit)

    expect(page.locator(SAID)).to_contain_text(f"Grade {digit} saved.")
    assert label(page) == number + 1


def press_on_number_pad(page: Page, digit: str) -> None:
    """With Num Lock on, which Playwright's keyboard has not."""
    keyboard = page.context.new_cdp_session(page)
    key = {"key": digit, "code": f"Numpad{digit}", "location": 3}
    code = {"windowsVirtualKeyCode": 96 + int(digit)}
    for kind in ("keyDown", "keyUp"):
        keyboard.send("Input.dispatchKeyEvent", {"type": kind, **key, **code})


# Numpad1 without Num Lock is the End key.
@pytest.mark.parametrize("key", ["4", "9", "Numpad1", "a", "Enter", "Control+1", "Alt+2"])
def test_other_keys_give_no_grade(page: Page, key: str):
    before, number = text(page), label(page)

    page.keyboard.press(key)
    settle(page)

    assert (text(page), label(page)) == (before, number)
    expect(page.locator(SAID)).to_be_empty()


def test_z_takes_the_last_judgments_back_one_by_one(page: Page):
    first = text(page)
    press(page, "1")
    second = text(page)
    press(page, "2")

    press(page, "z")
    expect(page.locator(SAID)).to_contain_text("Undone. Judge this document again.")
    assert text(page) == second

    press(page, "z")
    assert text(page) == first


def test_x_asks_for_a_reason_that_a_digit_chooses(page: Page):
    before = text(page)

    page.keyboard.press("x")
    expect(page.get_by_role("dialog", name="Why can this document not be judged?")).to_be_visible()
    press(page, "2")

    expect(page.locator(SAID)).to_contain_text("“Can't judge” saved.")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert text(page) != before


def test_escape_closes_the_question_and_nothing_is_saved(page: Page):
    before, number = text(page), label(page)
    page.keyboard.press("x")
    expect(page.get_by_role("dialog")).to_be_visible()

    page.keyboard.press("Escape")

    expect(page.get_by_role("dialog")).to_have_count(0)
    assert (text(page), label(page)) == (before, number)
    press(page, "0")
    expect(page.locator(SAID)).to_contain_text("Grade 0 saved.")


def test_keys_are_quiet_while_a_reason_is_written(page: Page, demo: DemoSite):
    page.keyboard.press("x")
    field = page.get_by_label("Another reason")
    field.click()
    field.press_sequentially("2 of 3 pages, z and x")
    settle(page)
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(field).to_have_value("2 of 3 pages, z and x")

    press(page, "Enter")

    expect(page.locator(SAID)).to_contain_text("“Can't judge” saved.")
    (newest,) = demo.site.rows("SELECT reason FROM annotation_judgment ORDER BY id DESC LIMIT 1")
    assert newest == ("2 of 3 pages, z and x",)


def test_question_mark_shows_and_hides_the_keys_and_digits_wait(page: Page):
    before = text(page)
    keys = page.get_by_role("dialog", name="Keys")

    page.keyboard.press("?")
    expect(keys).to_be_visible()
    page.keyboard.press("1")
    settle(page)
    assert text(page) == before

    page.keyboard.press("?")
    expect(keys).to_be_hidden()
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()


def test_every_key_of_the_list_is_one_these_tests_press(page: Page):
    page.keyboard.press("?")

    shown = page.get_by_role("dialog", name="Keys").locator("kbd").all_inner_texts()

    assert shown == ["0", "9", "z", "x", "?", "Esc"]


# --- what a person sees and hears --------------------------------------------------------------


def test_focus_goes_to_the_next_document_and_its_place_is_said(page: Page):
    press(page, "1")

    assert page.evaluate("document.activeElement.id") == "document"
    said = page.locator(SAID)
    expect(said).to_have_attribute("aria-live", "polite")
    expect(said).to_have_text(re.compile(r"Grade 1 saved\. Document \d+ of \d+\."))
    expect(page.locator("[data-saved]")).to_have_text("Grade 1 saved")


def test_reloading_in_the_middle_loses_nothing(page: Page):
    press(page, "1")
    press(page, "0")
    before, number = text(page), label(page)

    page.reload()

    assert (text(page), label(page)) == (before, number)
    press(page, "z")
    assert label(page) == number - 1


def test_a_lost_connection_is_said_and_the_judgment_sent_again(page: Page):
    before, number = text(page), label(page)
    page.context.set_offline(True)
    page.keyboard.press("2")
    expect(page.locator("[data-saved]")).to_have_text("Not saved yet. Trying again")
    assert text(page) == before

    page.context.set_offline(False)

    expect(page.locator(SAID)).to_contain_text("Grade 2 saved.")
    assert label(page) == number + 1


# --- once is once ------------------------------------------------------------------------------


def test_a_double_click_gives_one_judgment(page: Page):
    number = label(page)

    page.get_by_role("button", name=re.compile("^1")).dblclick()
    expect(page.locator(SAID)).to_contain_text("Grade 1 saved.")
    settle(page)

    assert label(page) == number + 1


def test_two_keys_at_once_give_one_judgment(page: Page):
    number = label(page)

    page.evaluate(
        """() => { for (const code of ["Digit1", "Digit1", "Digit2"])
            document.body.dispatchEvent(new KeyboardEvent("keydown",
                {code, key: code.slice(-1), bubbles: true, cancelable: true})) }"""
    )
    expect(page.locator(SAID)).to_contain_text("Grade 1 saved.")
    settle(page)

    assert label(page) == number + 1


# --- on a telephone, and without a script ------------------------------------------------------


def test_a_tap_grades_at_360_pixels(person: Person):
    page = at_work(person("bo", **at_width()))
    number = label(page)
    button = page.get_by_role("button", name=re.compile("^2"))
    box = button.bounding_box()
    assert box["height"] >= 44
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360

    button.tap()

    expect(page.locator(SAID)).to_contain_text("Grade 2 saved.")
    assert label(page) == number + 1


@pytest.fixture
def plain(person: Person) -> Page:
    """Mia at the labeling page, in a browser without JavaScript."""
    return at_work(person("mia", java_script_enabled=False))


def test_without_a_script_a_button_grades_and_undo_takes_it_back(plain: Page):
    before, number = text(plain), label(plain)

    plain.get_by_role("button", name=re.compile("^3")).click()
    expect(plain.locator(".messages")).to_contain_text("Grade 3 saved.")
    assert label(plain) == number + 1

    plain.get_by_role("button", name="Undo").click()
    expect(plain.locator(".messages")).to_contain_text("Undone. Judge this document again.")
    assert (text(plain), label(plain)) == (before, number)


def test_without_a_script_a_reason_can_be_given(plain: Page):
    before = text(plain)

    plain.get_by_role("link", name="Can't judge").click()
    plain.get_by_role("group", name="Why can this").get_by_role("button").first.click()

    expect(plain.locator(".messages")).to_contain_text("“Can't judge” saved.")
    assert text(plain) != before


def test_without_a_script_the_same_form_twice_gives_one_judgment(plain: Page):
    number = label(plain)
    form = plain.locator(".grade-bar form").first
    fields = {
        field.get_attribute("name"): field.input_value() or ""
        for field in form.locator("input").all()
    }

    for _ in range(2):
        answer = plain.request.post(
            form.get_attribute("action"),
            form={**fields, "grade": "0"},
            headers={"Referer": plain.url},
        )
        assert answer.ok

    plain.goto(POOL)
    assert label(plain) == number + 1

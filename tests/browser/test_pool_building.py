"""Building a pool: the preview follows the form, with a script, by keyboard and without either."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import Person
from tests.browser.furnishing import SLUG

LEXICAL = ("bm25", "bm25-stem", "tfidf-word", "tfidf-char")
POOLS = f"/b/{SLUG}/pools/"


def test_the_preview_and_the_name_follow_the_form(person: Person):
    from tests.browser.test_pages import faults_of

    page = person("olga", color_scheme="light")
    page.goto(POOLS)
    page.get_by_role("link", name="Build a pool").first.click()
    name = page.get_by_label("Name", exact=True)
    expect(name).to_have_value(re.compile(r"^Depth 10 of \d+ runs"))
    before = page.locator("#pool-totals").inner_text()
    # Other tests add runs that no depth would make comparable.
    page.get_by_role("button", name="None", exact=True).click()
    for system in LEXICAL:
        page.locator(".pick-list").get_by_label(system, exact=False).first.check()

    depth = page.get_by_role("spinbutton", name="Depth", exact=True)
    depth.fill("1")
    depth.press("Tab")
    expect(name).to_have_value(re.compile(r"^Depth 1 of \d+ runs"))
    expect(page.locator(".bargain")).to_contain_text("At depth 1 a new system")
    expect(page.locator("#pool-totals")).not_to_have_text(before)

    page.get_by_role("button", name=re.compile("^Set depth to")).press("Enter")
    expect(depth).not_to_have_value("1")
    name.fill("my own")
    page.locator(".pick-list input:checked").first.uncheck()
    expect(page.locator(".contributions tbody tr")).to_have_count(len(LEXICAL) - 1)
    expect(name).to_have_value("my own")
    assert faults_of(page, "light") == []


def test_without_a_script_a_button_updates_the_preview(person: Person):
    page = person("olga", java_script_enabled=False)
    page.goto(f"{POOLS}new/")
    page.get_by_role("spinbutton", name="Depth", exact=True).fill("3")

    page.get_by_role("button", name="Update the preview").click()
    expect(page.locator(".bargain")).to_contain_text("At depth 3 a new system")
    expect(page.get_by_label("Name", exact=True)).to_have_value(re.compile("^Depth 3 of"))
    expect(page.get_by_role("button", name="Build the pool")).to_be_visible()

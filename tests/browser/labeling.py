"""The labeling page as its tests use it."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import DemoSite

POOL = "/judge/1/"
SAID = "#judge-said"
SAVED = "[data-part=saved]"
READY = "#judge-screen[data-ready=yes]"
# Longer than two keys that go down together, which mean one.
SAME_MOMENT_MS = 20
BEGIN = "from tests.annotation.making import begun; from annotation.models import Pool; "
BEGIN += "begun(Pool.objects.get(pk=1))"


def begin(demo: DemoSite) -> None:
    """Everybody has read what comes before judging."""
    if not demo.states.get("has begun"):
        demo.site.snippet(BEGIN)
        demo.states["has begun"] = True


def at_work(page: Page) -> Page:
    page.goto(POOL)
    expect(page.locator(READY)).to_be_attached()
    expect(page.locator("article.document")).to_be_visible()
    return page


def shown(page: Page) -> str:
    """What tells one document from the next: its token."""
    return page.locator("#grade-form [name=token]").input_value()


def document(page: Page) -> str:
    return page.locator("article.document").inner_text()


def label(page: Page) -> int:
    """The number of the label that would be given now."""
    words = page.locator("[data-part=pool]").inner_text()
    return int(re.match(r"Label ([\d,]+) of", words)[1].replace(",", ""))


def press(page: Page, key: str) -> None:
    """A key that brings another document, and time enough that the next is not one with it."""
    token = shown(page)
    page.keyboard.press(key)
    expect(page.locator("#grade-form [name=token]")).not_to_have_value(token)
    page.wait_for_timeout(SAME_MOMENT_MS)


def all_saved(page: Page) -> None:
    expect(page.locator(SAVED)).to_have_text("All saved")


def settle(page: Page) -> None:
    """Time for a judgment that must not come, to come."""
    page.wait_for_timeout(200)


def newest(demo: DemoSite, columns: str = "kind, grade", n: int = 1) -> list[tuple[Any, ...]]:
    """The last events that came from the page, newest first."""
    sql = f"SELECT {columns} FROM annotation_judgment WHERE pool_id = 1 ORDER BY id DESC LIMIT {n}"
    return demo.site.rows(sql)


def n_events(demo: DemoSite) -> int:
    ((n,),) = demo.site.rows("SELECT count(*) FROM annotation_judgment WHERE pool_id = 1")
    return int(n)

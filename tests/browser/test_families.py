"""Reviewing families in the browser: by key, and without the page's script."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.furnishing import SLUG

DOUBTFUL = f"""
import json
from benchmarks_app.models import Benchmark, QueryFamily
from tests.factories import linked
benchmark = Benchmark.objects.get(slug={SLUG!r})
family = QueryFamily.objects.create(benchmark=benchmark, is_flagged=True, doubt=0.35)
number = QueryFamily.objects.count()
texts = ("open a file", "open some file")
made = [
    benchmark.queries.create(qid=f"f{{number}}-{{n}}", text=text, family=family)
    for n, text in enumerate(texts)
]
linked(*made, 0.65)
print(json.dumps(family.pk))
"""
STATE = """
import json
from benchmarks_app.models import Query
print(json.dumps([len({{query.family_id for query in Query.objects.filter(qid__startswith=prefix)}})
                  for prefix in [Query.objects.filter(family={family}).first().qid[:-1]]]))
"""


@pytest.fixture
def review(demo, person):
    """A function that opens the review of a family of its own; `families()` counts its parts."""

    def open_review(**options) -> Page:
        family = json.loads(demo.site.snippet(DOUBTFUL))
        page = person("olga", **options)
        page.goto(f"/b/{SLUG}/families/review/?family={family}")
        page.families = lambda: json.loads(demo.site.snippet(STATE.format(family=family)))[0]
        return page

    return open_review


def said(page: Page, words: str) -> None:
    expect(page.locator("#messages .alert", has_text=words)).to_be_visible()


def test_keys_take_a_family_apart_and_undo_it(review):
    page = review()

    page.keyboard.press("d")
    said(page, "different needs, taken apart")
    assert page.families() == 2
    page.keyboard.press("u")
    said(page, "Undone")

    assert page.families() == 1


def test_keys_in_the_palette_decide_nothing(review):
    page = review()
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-hits li").first).to_be_visible()
    page.keyboard.press("ArrowDown")

    page.keyboard.press("s")

    expect(page.get_by_role("dialog", name="Go to")).to_be_visible()
    assert page.families() == 1


def test_going_to_a_place_by_key_decides_nothing(review):
    page = review()
    page.keyboard.press("g")

    page.keyboard.press("d")

    # Where Data leads hangs on what waits there.
    expect(page).not_to_have_url(re.compile("/families/review/"))
    assert page.families() == 1


def test_a_family_is_taken_apart_without_the_script(review):
    page = review(java_script_enabled=False)

    page.get_by_role("button", name="Different").click()

    said(page, "different needs, taken apart")
    assert page.families() == 2

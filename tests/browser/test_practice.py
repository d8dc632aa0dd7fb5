"""Practice by keys alone: the labeling page's own, with the answer after each document."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DemoSite, Person

PRACTICE = "/judge/practice/1/"
FORGET = """from annotation.models import Pool, PoolStart
from benchmarks_app.models import User
from django.utils import timezone
mia = User.objects.get(username='mia')
PoolStart.objects.filter(pool=1, annotator=mia).delete()
PoolStart.objects.create(pool_id=1, annotator=mia, notice_at=timezone.now(),
    guideline=Pool.objects.get(pk=1).benchmark.guidelines.order_by('-version').first())
Pool.objects.filter(pk=1).update(practice_mark={mark})"""


@pytest.fixture
def page(person: Person, demo: DemoSite) -> Iterator[Page]:
    """Mia before her first practice document."""
    demo.site.python(FORGET.format(mark=None))
    yield person("mia")
    demo.site.python(FORGET.format(mark=None))


def test_who_guesses_practises_again_and_who_is_let_in_judges(page: Page, demo: DemoSite):
    page.goto("/judge/1/")
    assert PRACTICE in page.url
    for number in range(1, 11):
        expect(page.locator("[data-part=place]")).to_have_text(f"Document {number} of 10")
        page.keyboard.press("1")
        expect(page.get_by_role("heading", name="grade")).to_be_visible()
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Not enough yet")).to_be_visible()
    expect(page.get_by_text("7 are needed before you judge")).to_be_visible()

    page.goto("/judge/1/")
    assert PRACTICE in page.url
    page.get_by_role("button", name="Practise again").click()

    expect(page.locator("[data-part=place]")).to_have_text("Document 1 of 10")

"""Practice by keys alone: the labeling page's own, with the answer after each document."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DemoSite, Person

PRACTICE = "/judge/practice/1/"
# Practice is not asked of who has judged, as everybody of the demo may have by now.
NOVICE = "novice"
FORGET = """from annotation.models import Pool, PoolStart
from benchmarks_app.models import Membership, User
from django.utils import timezone
novice = User.objects.get(username='novice')
Membership.objects.get_or_create(benchmark_id=Pool.objects.get(pk=1).benchmark_id, user=novice,
    defaults={{'role': 'annotator'}})
PoolStart.objects.filter(pool=1, annotator=novice).delete()
PoolStart.objects.create(pool_id=1, annotator=novice, notice_at=timezone.now(),
    guideline=Pool.objects.get(pk=1).benchmark.guidelines.order_by('-version').first())
Pool.objects.filter(pk=1).update(practice_mark={mark})"""


@pytest.fixture
def page(person: Person, demo: DemoSite) -> Iterator[Page]:
    """A newcomer before the first practice document."""
    if not demo.states.get(NOVICE):
        demo.create_user(NOVICE)
    demo.site.snippet(FORGET.format(mark=None))
    yield person(NOVICE)
    demo.site.snippet(FORGET.format(mark=None))


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

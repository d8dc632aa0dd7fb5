"""Charts in a browser: one picture a theme, alive on demand, and never against the policy."""

from playwright.sync_api import Page, expect

from tests.browser.browsing import at_width
from tests.browser.conftest import DemoSite, Person
from tests.browser.furnishing import SLUG

WIDE = {"viewport": {"width": 1440, "height": 900}}
DRAWN = "image => image.complete && image.naturalWidth > 0"


def open_pool(page: Page, demo: DemoSite) -> Page:
    page.goto(f"{demo.url}/b/{SLUG}/pools/")
    page.locator("tbody th a").last.click()
    page.locator(".chart").first.scroll_into_view_if_needed()
    return page


def shown(page: Page):
    """The picture that the theme shows, once it is drawn."""
    image = page.locator(".chart img:visible").first
    image.scroll_into_view_if_needed()
    page.wait_for_function(f"image => ({DRAWN})(image)", arg=image.element_handle(), timeout=60_000)
    return image


def test_picture_follows_the_theme_and_nothing_moves(person: Person, demo: DemoSite):
    page = open_pool(person("olga", **WIDE), demo)
    room = page.locator(".chart").first.bounding_box()

    assert "theme=dark" not in shown(page).get_attribute("src")
    page.locator("html").evaluate("root => root.dataset.theme = 'dark'")
    assert "theme=dark" in shown(page).get_attribute("src")

    assert page.locator(".chart").first.bounding_box()["height"] == room["height"]
    assert page.locator(".chart img:visible").count() == page.locator(".chart").count()


def test_telephone_gets_a_picture_of_its_own_width(person: Person, demo: DemoSite):
    page = open_pool(person("olga", **at_width()), demo)

    assert "size=narrow" in shown(page).evaluate("image => image.currentSrc")


def test_a_chart_speaks_its_readers_language(person: Person):
    page = person("sam", **WIDE, locale="de")
    page.goto(f"/b/{SLUG}/slices/head/")
    chart = page.locator("figure.chart").first

    chart.get_by_role("button", name="Interaktiv").click()

    expect(chart.locator(".chart-live svg")).to_be_visible(timeout=60_000)
    chart.get_by_role("button", name="Bild").click()
    expect(chart.get_by_role("button", name="Interaktiv")).to_be_visible()


def test_chart_comes_alive_without_breaking_the_policy(person: Person, demo: DemoSite):
    page = open_pool(person("olga", **WIDE), demo)
    chart = page.locator(".chart").first

    chart.get_by_role("button", name="Interactive").click()
    drawing = chart.locator(".chart-live svg")
    expect(drawing).to_be_visible(timeout=60_000)
    light = drawing.inner_html()
    page.locator("html").evaluate("root => root.dataset.theme = 'dark'")
    page.wait_for_function(
        "before => document.querySelector('.chart-live svg')?.innerHTML !== before", arg=light
    )
    chart.get_by_role("button", name="Picture").click()

    expect(drawing).to_have_count(0)
    expect(chart.locator("img:visible")).to_have_count(1)
    assert page.watch.complaints() == []

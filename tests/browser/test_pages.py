"""Every page at two widths in two colour schemes: accessible, in bounds, silent."""

import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser import browsing
from tests.browser.browsing import at_width
from tests.browser.conftest import DemoSite, Person, opened
from tests.browser.places import NO_PAGES, PAGES, Place, furnish, names_of_views
from tests.conftest import THIRD

AXE = Axe().axe_script
WIDE = {"viewport": {"width": 1440, "height": 900}}
NARROW = at_width()
# Django's answer to a page that may not be seen is a message of the browser's own.
REFUSED = "Failed to load resource"


@pytest.fixture(scope="session")
def facts(demo: DemoSite) -> dict[str, Any]:
    return furnish(demo)


def test_every_view_is_listed_as_a_page_or_as_none():
    listed = {place.view for place in PAGES} | set(NO_PAGES)

    assert sorted(set(names_of_views()) - listed) == []
    assert sorted(listed - set(names_of_views())) == []


@pytest.fixture(scope="module")
def visitor(chromium: Browser, demo: DemoSite) -> Iterator[Person]:
    """A function that gives somebody's page at a width; the same one each time, its cache warm."""
    kept: dict[tuple[str | None, int], Page] = {}

    def page_of(username: str | None, **options: Any) -> Page:
        key = username, options["viewport"]["width"]
        if key not in kept:
            kept[key] = opened(chromium, demo, username, **options)
        page = kept[key]
        page.watch.forget()
        page.emulate_media(color_scheme="light")
        return page

    yield page_of
    for page in kept.values():
        page.context.close()


# Where time is short (CI says so), a third of the views is looked at, each once, and not as every
# person: loaded once, wide and light, and then made narrow and dark.
IS_BRIEF = bool(THIRD)
FIRST_OF_VIEW = {place.view: place for place in reversed(PAGES)}
PLACES = list(FIRST_OF_VIEW.values())[int(THIRD) :: 3] if IS_BRIEF else PAGES
CONTRAST = ["color-contrast"]
# What a page and its files weigh on the line, charts aside, and how far what stood there moved.
FIGURES = """() => new Promise((done) => {
  const moves = [];
  const named = ({ node, previousRect: from, currentRect: to }) =>
    `${node?.localName}.${node?.className} by ${to.x - from.x}, ${to.y - from.y}`;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries())
      if (!one.hadRecentInput) moves.push([one.value, one.sources.map(named).join("; ")]);
  }).observe({ type: "layout-shift", buffered: true });
  const files = performance.getEntriesByType("resource").filter((one) => !/chart/.test(one.name));
  const all = [...performance.getEntriesByType("navigation"), ...files];
  const kilobytes = all.reduce((sum, one) => sum + one.encodedBodySize, 0) / 1000;
  setTimeout(() => done({ kilobytes, moves }), 0);
})"""
MOST_KB, MOST_SHIFT = 250, 0.05
# What is folded away, menus aside, which lie over the page; it may be loaded once it is seen.
UNFOLD = """() => {
  for (const box of document.querySelectorAll("main details:not(.menu)")) box.open = true;
  return new Promise((done) => setTimeout(done, 50));
}"""
LOADED = "() => !document.querySelector('.htmx-request')"
# What may differ between the widths of one page.
OF_WIDTH = [*CONTRAST, "scrollable-region-focusable", "target-size"]
# A rule of WCAG 2.2 AA that axe leaves out unless it is asked for it.
LEFT_OUT = {"target-size": {"enabled": True}}


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_page_is_accessible_and_in_bounds(visitor: Person, facts: dict[str, Any], place: Place):
    faults = []
    for options in (WIDE,) if IS_BRIEF else (WIDE, NARROW):
        page = visitor(place.who, **options)
        answer = page.goto(place.url(facts))
        assert answer.status == place.status
        page.locator(place.part).first.wait_for()
        faults += weight_faults(page)
        unfold(page)
        faults += faults_at_both_widths(page) if IS_BRIEF else faults_in_both_schemes(page, options)
        faults += [
            message
            for message in page.watch.messages
            if place.status == 200 or REFUSED not in message
        ]
        faults += page.watch.complaints()
    assert faults == []


def test_lists_beside_each_other_are_as_wide_before_the_last_has_come(
    visitor: Person, facts: dict[str, Any]
):
    (place,) = (place for place in PAGES if place.view == "scoring:side-by-side")
    page = visitor(place.who, **WIDE)
    page.goto(place.url(facts))
    lists = page.locator(".cols > section")
    before = lists.first.bounding_box()

    lists.last.evaluate("list => list.remove()")

    assert lists.count() == 1
    assert lists.first.bounding_box() == before


# Pages on which much would move; where there is time, every view is looked at.
MOVING = ("scoring:contrastive-detail", "scoring:planner", "scoring:run-latency")
LATE_SECONDS = 0.4


@pytest.mark.parametrize("view", MOVING if IS_BRIEF else FIRST_OF_VIEW)
def test_scripts_that_come_late_move_nothing_that_was_read(
    person: Person, facts: dict[str, Any], view: str
):
    place = FIRST_OF_VIEW[view]
    page = person(place.who, **NARROW)

    def come_late(route: Route) -> None:
        time.sleep(LATE_SECONDS)
        route.continue_()

    page.route("**/*.js", come_late)
    page.goto(place.url(facts))
    page.locator(place.part).first.wait_for()

    assert weight_faults(page) == []


# A page of somebody else, as a board's *Put this board on a page* says it.
ELSEWHERE = """<!doctype html><html lang="en"><title>Elsewhere</title><main><h1>Ours</h1>
<iframe src="{board}embed/" title="Board" width="300" height="400"></iframe>
<img src="{board}badge.svg" alt="Our badge"></main>"""


@pytest.fixture
def elsewhere(demo: DemoSite, facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The addresses of a board, and of a page of another host that shows it."""
    board = demo.url + FIRST_OF_VIEW["scoring:board-embed"].url(facts).removesuffix("embed/")

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(ELSEWHERE.format(board=board).encode())

        def log_message(self, *about: Any) -> None:
            """Say nothing: the test's output is its own."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield board, f"http://localhost:{server.server_port}/"
        server.shutdown()


def test_a_board_and_its_badge_stand_on_a_page_of_another_host(
    person: Person, elsewhere: tuple[str, str]
):
    page = person(None, **NARROW)
    board, other = elsewhere

    page.goto(other)
    row = page.frame_locator("iframe").locator("tbody tr").first
    expect(row).to_contain_text("finds new")
    width = page.evaluate("() => document.images[0].decode().then(() => document.images[0].width)")
    badge = page.evaluate(f"() => fetch('{board}badge.json').then((answer) => answer.json())")

    # Read again it is as it was: its policy comes with a 304, too.
    page.goto(f"{board}embed/")
    page.reload()

    assert page.evaluate("() => document.styleSheets.length") == 2
    assert width > 100
    assert (badge["label"], badge["schemaVersion"]) == ("Grown", 1)
    assert faults_of(page, "light") == faults_of(page, "dark") == []


# Translated pages that a fresh demo has nothing for.
IN_LANGUAGES = {
    "scoring:ann",
    "scoring:baseline-list",
    "scoring:gate-detail",
    "scoring:gate-list",
    "scoring:live-detail",
    "scoring:live-list",
    "scoring:policy-detail",
    "scoring:policy-new",
    "scoring:rehearsal-detail",
}


@pytest.mark.in_thirds
@pytest.mark.parametrize("language", ["de", "zh-CN"])
@pytest.mark.parametrize("view", sorted(IN_LANGUAGES))
def test_page_has_room_in_every_language(
    chromium: Browser, demo: DemoSite, facts: dict[str, Any], view: str, language: str
):
    faults = []
    for place in PAGES:
        if place.view != view:
            continue
        page = opened(chromium, demo, place.who, viewport=browsing.WIDE, locale=language)
        page.goto(place.url(facts))
        expect(page.locator("main")).not_to_have_attribute("lang", "en")
        page.locator(place.part).first.wait_for()
        unfold(page)
        faults += [f"{place}: {fault}" for fault in axe_faults(page)]
        faults += browsing.room_faults(page, str(place))
        faults += page.watch.complaints()
        page.context.close()
    assert faults == []


def unfold(page: Page) -> None:
    page.evaluate(UNFOLD)
    page.wait_for_function(LOADED)


def weight_faults(page: Page) -> list[str]:
    figures = page.evaluate(FIGURES)
    faults = []
    if figures["kilobytes"] > MOST_KB:
        faults.append(f"it weighs {figures['kilobytes']:.0f} kB")
    shift = sum(value for value, _ in figures["moves"])
    if shift > MOST_SHIFT:
        faults.append(f"what stood there moved, {shift:.3f} in all: {figures['moves']}")
    return faults


def faults_at_both_widths(page: Page) -> list[str]:
    """All of axe's rules wide and in light, those of width and colour narrow and in dark."""
    faults = faults_of(page, "light")
    page.set_viewport_size(NARROW["viewport"])
    faults += faults_of(page, "dark", OF_WIDTH)
    page.set_viewport_size(WIDE["viewport"])
    return faults


def faults_in_both_schemes(page: Page, options: dict[str, Any]) -> list[str]:
    """All of axe's rules, in light where it is wide and in dark where it is narrow.

    Between the two schemes only colours differ: the other one is looked at for those.
    """
    is_wide = options is WIDE
    light = faults_of(page, "light", None if is_wide else CONTRAST)
    return light + faults_of(page, "dark", CONTRAST if is_wide else None)


def faults_of(page: Page, scheme: str, rules: list[str] | None = None) -> list[str]:
    page.emulate_media(color_scheme=scheme)
    options = {"runOnly": rules} if rules else {"rules": LEFT_OUT}
    result = axe_faults(page, **options)
    width, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    result = result if width <= room else [*result, f"the page is {width} wide"]
    return [f"{room}, {scheme}: {fault}" for fault in result]


def axe_faults(page: Page, **options: Any) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    options = {"resultTypes": ["violations", "incomplete"], **options}
    answer = page.evaluate("options => axe.run(options)", options)
    return [
        f"{fault['id']}: {node['html'][:160]} {node['failureSummary']}"
        for kind in ("violations", "incomplete")
        for fault in answer[kind]
        for node in fault["nodes"]
        if kind == "violations" or _is_unseen(node)
    ]


def _is_unseen(node: dict[str, Any]) -> bool:
    """Whether a text has the colour of what is behind it, which axe leaves open."""
    return any((check["data"] or {}).get("messageKey") == "equalRatio" for check in node["any"])

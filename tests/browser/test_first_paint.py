"""How soon the main pages are painted on a slow line with nothing kept, and what they weigh.

The line is a slow 3G one: 400 ms to each answer, 400 kbit/s. One answer stands before a first
paint, the page's, which brings its styles along (ADR 43): 400 ms, and 20 ms for each kB of it. Held
is what the line takes for all that stands before the paint; the paint itself is told, and held as
loosely as a busy machine needs.
"""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Person
from tests.browser.test_screen_figures import BUSY, Wire

LATENCY_MS, BYTES_PER_MS = 400, 50
SLOW_3G = {
    "offline": False,
    "latency": LATENCY_MS,
    "downloadThroughput": 1000 * BYTES_PER_MS,
    "uploadThroughput": 1000 * BYTES_PER_MS,
}
FAST = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
COMPARISON = "/b/stdlib/compare/?runs=1,2"
PAGES = {
    "olga": ("/b/stdlib/", COMPARISON, "/b/stdlib/pools/new/"),
    "ada": ("/b/stdlib/",),
    "sam": ("/b/stdlib/", "/b/stdlib/leaderboard/"),
}
MOST_LINE_MS, MOST_KB, MOST_SHIFT = 1_000, 250, 0.05
FIGURES = """() => new Promise((done) => {
  let shift = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) shift += one.value;
  }).observe({ type: "layout-shift", buffered: true });
  const [page] = performance.getEntriesByType("navigation");
  const all = performance.getEntriesByType("resource");
  const blocking = all.filter((one) => one.renderBlockingStatus === "blocking");
  const bytes = [page, ...blocking].reduce((sum, one) => sum + one.encodedBodySize, 0);
  const painted = performance.getEntriesByName("first-contentful-paint")[0].startTime;
  const answers = 1 + (blocking.length > 0);
  requestAnimationFrame(() => setTimeout(() => done({ shift, bytes, painted, answers }), 0));
})"""


@pytest.mark.parametrize("who", PAGES)
def test_main_pages_are_painted_soon_on_a_slow_line(
    person: Person, capsys: pytest.CaptureFixture[str], who: str
):
    wire = Wire(person(who))
    for address in PAGES[who]:
        figures = painted_slowly(wire, address)
        line = figures["answers"] * LATENCY_MS + figures["bytes"] / BYTES_PER_MS
        text = (
            f"{who} {address}: painted after {figures['painted']:.0f} ms, of which the line takes "
            f"{line:.0f} for {figures['bytes'] / 1000:.1f} kB; {wire.kilobytes:.0f} kB in "
            f"{wire.n_requests} answers, {figures['shift']:.3f} shifted"
        )
        with capsys.disabled():
            print(f"\n{text}")  # noqa: T201
        assert line <= MOST_LINE_MS
        assert figures["painted"] <= BUSY * MOST_LINE_MS
        assert 0 < wire.kilobytes <= MOST_KB
        assert figures["shift"] <= MOST_SHIFT


def painted_slowly(wire: Wire, address: str) -> dict[str, Any]:
    """What the browser tells of a page that the server has made before, and it has not seen."""
    wire.page.goto(address, wait_until="load")
    wire.session.send("Network.clearBrowserCache")
    wire.page.context.clear_cookies(name="styles")
    wire.session.send("Network.emulateNetworkConditions", SLOW_3G)
    wire.reset()
    wire.page.goto(address, wait_until="networkidle", timeout=60_000)
    expect(wire.page.get_by_role("heading", level=1)).to_be_visible()
    figures = wire.page.evaluate(FIGURES)
    wire.session.send("Network.emulateNetworkConditions", FAST)
    return figures

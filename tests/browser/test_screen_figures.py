"""What the labeling page costs: bytes, requests, time to the first grade and to the next document.

Figures are printed. Bounds on bytes hold anywhere; those on time are asserted with room for a busy
machine, and printed as they are.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page

from tests.browser.conftest import DemoSite, Person
from tests.browser.labeling import POOL, READY, at_work, begin

Say = Callable[[str], None]
KB = 1000
COLD_KB, WARM_KB, COLD_REQUESTS = 150, 15, 8
USABLE_MS, PAINTED_MS = 500, 50
BUSY = 10  # times slower than it should be, on a machine that does other things
DELAY_MS = 200
N_KEYS = 40
NEXT_PAINTED = """key => new Promise(resolve => {
  const field = document.querySelector("#grade-form [name=token]");
  const before = field.value, from = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown",
    {code: `Digit${key}`, key: String(key), bubbles: true, cancelable: true}));
  const look = () => field.value === before ? requestAnimationFrame(look)
    // The frame that shows it ends before the task that follows it.
    : requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - from)));
  look();
})"""


@dataclass
class Wire:
    """What went over the wire since `reset`, as Chromium counts it."""

    page: Page
    session: CDPSession = field(init=False)
    sizes: dict[str, float] = field(default_factory=dict)
    urls: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.session = self.page.context.new_cdp_session(self.page)
        self.session.send("Network.enable")
        self.session.on("Network.requestWillBeSent", self._sent)
        self.session.on("Network.loadingFinished", self._finished)

    def _sent(self, event: dict[str, Any]) -> None:
        self.urls[event["requestId"]] = event["request"]["url"]

    def _finished(self, event: dict[str, Any]) -> None:
        self.sizes[event["requestId"]] = event["encodedDataLength"]

    def reset(self) -> None:
        self.sizes.clear()
        self.urls.clear()

    @property
    def kilobytes(self) -> float:
        return sum(self.sizes.values()) / KB

    @property
    def n_requests(self) -> int:
        return sum(size > 0 for size in self.sizes.values())


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    def said(figures: str) -> None:
        with capsys.disabled():
            print(f"\n{figures}")  # noqa: T201

    return said


@pytest.fixture
def wire(person: Person, demo: DemoSite) -> Iterator[Wire]:
    begin(demo)
    yield Wire(person("ada"))


def opened(wire: Wire) -> None:
    wire.reset()
    wire.page.goto(POOL, wait_until="networkidle")


def test_bytes_and_requests_cold_and_warm(wire: Wire, say: Say):
    opened(wire)
    cold, n_cold = wire.kilobytes, wire.n_requests
    say(f"cold: {cold:.1f} kB in {n_cold} requests (at most {COLD_KB} in {COLD_REQUESTS})")

    opened(wire)
    warm, n_warm = wire.kilobytes, wire.n_requests
    say(f"warm: {warm:.1f} kB in {n_warm} requests (at most {WARM_KB})")

    assert 0 < cold <= COLD_KB
    assert 1 <= n_cold <= COLD_REQUESTS
    assert 0 < warm <= WARM_KB


def test_grades_are_usable_soon_after_navigation(wire: Wire, say: Say):
    times = []
    for _ in range(5):
        wire.page.goto(POOL, wait_until="commit")
        wire.page.locator(READY).wait_for(state="attached")
        times.append(
            wire.page.evaluate("performance.getEntriesByName('grades-usable')[0].startTime")
        )
    middle = statistics.median(times)
    say(f"grades usable {middle:.0f} ms after navigation (median of 5; goal {USABLE_MS})")

    assert middle <= BUSY * USABLE_MS


def test_the_next_document_is_painted_while_the_network_is_slow(wire: Wire, say: Say):
    page = at_work(wire.page)
    wire.session.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": DELAY_MS, "downloadThroughput": -1, "uploadThroughput": -1},
    )
    times = []
    for number in range(N_KEYS):
        times.append(page.evaluate(NEXT_PAINTED, number % 4))
        # A fast reader: three documents in a second.
        time.sleep(0.3)
    p50, p95 = (statistics.quantiles(times, n=20)[at] for at in (9, 18))
    say(
        f"key to next document painted, {DELAY_MS} ms network delay, {N_KEYS} keys:"
        f" median {p50:.0f} ms, p95 {p95:.0f} ms, most {max(times):.0f} ms (goal {PAINTED_MS})"
    )

    # An answer that is waited for takes more than the delay: half of the keys would show it.
    assert p50 < DELAY_MS / 2

"""Chromium for tests and pictures, and an ear for what no page of the site may do."""

import os
import shutil
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright, expect

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LOOPBACK = {"127.0.0.1", "localhost", "::1", "[::1]"}
# Of the browser itself, or without any connection.
LOCAL_SCHEMES = {"about", "blob", "data", "chrome", "devtools"}
JOB_SECONDS = 60


# The shell without a window first: it draws the same pages with half the work.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")


def chromium_path() -> str | None:
    folders = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/bin"])
    return next(filter(None, (shutil.which(name, path=folders) for name in NAMES)), None)


def open_chromium(playwright: Playwright, executable: str) -> Browser:
    return playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))


class Watch:
    """Keeps what a browser context says, and what it asks other machines for."""

    def __init__(self, context: BrowserContext) -> None:
        self.messages: list[str] = []
        self.errors: list[str] = []
        self.strangers: list[str] = []
        context.on("console", lambda said: self.messages.append(f"{said.type}: {said.text}"))
        context.on("weberror", lambda failed: self.errors.append(str(failed.error)))
        context.on("request", lambda request: self._look_at(request.url))

    def _look_at(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in LOCAL_SCHEMES and parts.hostname not in LOOPBACK:
            self.strangers.append(url)

    def forget(self) -> None:
        """Begin anew: what was said on another page is not this page's."""
        for kept in (self.messages, self.errors, self.strangers):
            kept.clear()

    def complaints(self) -> list[str]:
        """What fails any test: policy violations, script errors, requests to elsewhere."""
        policy = [
            message for message in self.messages if "content security policy" in message.lower()
        ]
        errors = [f"page error: {error}" for error in self.errors]
        return [*policy, *errors, *(f"request to {url}" for url in self.strangers)]


def sign_in(page: Page, url: str, username: str, password: str) -> None:
    """Through the sign-in page; ends on the home page."""
    page.goto(f"{url}/sign-in/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Benchmarks")


def wait_for_job(page: Page, state: str = "Done.") -> None:
    """On a job's page: until it says that it is done, or what `state` says."""
    result = page.locator("#job-progress .alert").first
    result.wait_for(timeout=JOB_SECONDS * 1000)
    expect(result).to_contain_text(state)


def tab_to(page: Page, name: str, at_most: int = 80) -> None:
    """Press Tab until the focus is on what is called `name`."""
    for _ in range(at_most):
        page.keyboard.press("Tab")
        if focused(page) == name:
            return
    raise AssertionError(f"{at_most} times Tab did not reach “{name}”")


def focused(page: Page) -> str:
    """The text (or label) of the element that has the focus, blanks squeezed."""
    code = "e => (e.getAttribute('aria-label') || e.textContent).trim().replace(/\\s+/g, ' ')"
    return str(page.evaluate(f"({code})(document.activeElement)"))


def at_width(**options: Any) -> dict[str, Any]:
    """Options of a context for a screen of a telephone."""
    return {"viewport": {"width": 360, "height": 740}, "has_touch": True, **options}


# --- room --------------------------------------------------------------------------------------

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 360, "height": 740}
# Words that are cut off: those of buttons, labels, headings and menus, not names with dots.
CUT = """
() => [...document.querySelectorAll(
    "button, .button, .pill, .tag, label, legend, h1, h2, summary, nav a, nav span, th"
  )]
  .filter((element) => element.checkVisibility() && !element.closest(".sr-only, .table-scroll"))
  .filter((element) => {
    const style = getComputedStyle(element);
    const hides = ["hidden", "clip"].includes(style.overflowX) && style.textOverflow !== "ellipsis";
    const box = element.getBoundingClientRect();
    const isOut = box.right > innerWidth + 1 && !element.closest(".tabs, .sidebar, .breadcrumb");
    const isCut = hides && element.scrollWidth > element.clientWidth + 1;
    return element.clientWidth && (isCut || isOut);
  })
  .map((element) => element.textContent.trim().slice(0, 60))
"""


def room_faults(page: Page, address: str) -> list[str]:
    """What is too wide, or cut off, on a wide screen and on a telephone."""
    faults = []
    for size in (WIDE, NARROW):
        page.set_viewport_size(size)
        width, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        if width > room:
            faults.append(f"{address} is {width} wide in {room}")
        faults += [f"{address} at {room}: “{text}” is cut" for text in page.evaluate(CUT)]
    return faults


def load_until_there(page: Page, shown: Locator) -> None:
    """Load a page again and again that says only when it is asked what a job has come to."""
    for _ in range(120):
        if shown.count():
            return
        page.wait_for_timeout(500)
        page.reload()
    raise AssertionError(f"{shown} did not come")

"""Pictures of the main pages: `python -m tests.browser.screenshots docs/images`."""

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.browsing import chromium_path, open_chromium, sign_in
from tests.browser.labeling import BEGIN, READY, SAVED
from tests.system.site import Site

SIZE = {"width": 1440, "height": 900}
PAGES = {
    "overview": ("olga", "/b/stdlib/"),
    "pool": ("olga", "/b/stdlib/pools/1/"),
    "judge": ("ada", "/b/stdlib/judge/"),
    "leaderboard": ("sam", "/b/stdlib/leaderboard/"),
    "release": ("vi", "/b/stdlib/releases/0.1.0/"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    executable = chromium_path()
    if executable is None:
        sys.stderr.write("Pictures need Chromium; put `chromium` into PATH.\n")
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, Site(Path(place), on_sqlite=True) as site:
        site.manage("demo")
        site.python(BEGIN)
        site.start("up")
        take_all(site, executable, folder)
    return 0


def take_all(site: Site, executable: str, folder: Path) -> None:
    password = (site.folder / "demo_password").read_text()
    with sync_playwright() as playwright:
        browser = open_chromium(playwright, executable)
        for name, (person, address) in PAGES.items():
            context = browser.new_context(
                viewport=SIZE, color_scheme="light", reduced_motion="reduce", base_url=site.url
            )
            page = context.new_page()
            sign_in(page, site.url, person, password)
            take(page, address, folder / f"{name}.png")
            context.close()
        browser.close()


def take(page: Page, address: str, target: Path) -> None:
    page.goto(address)
    page.locator("main h1").wait_for(state="attached")
    page.wait_for_load_state("networkidle")
    if page.locator("main.is-judge").count():
        go_to_a_good_document(page)
    page.mouse.move(0, 0)
    page.screenshot(path=target)
    sys.stdout.write(f"{target}: {target.stat().st_size / 1000:.0f} kB\n")


def go_to_a_good_document(page: Page) -> None:
    """Grade until one is neither short nor long; the grades live for this picture only."""
    text = page.locator(".document-text")
    token = page.locator("#grade-form [name=token]")
    page.locator(READY).wait_for(state="attached")
    for number in range(40):
        if number and 250 <= len(text.inner_text()) <= 600:
            break
        before = token.input_value()
        page.wait_for_timeout(700)  # nobody judges ten documents a second
        page.keyboard.press("1")
        expect(token).not_to_have_value(before)
    expect(page.locator(SAVED)).to_have_text("All saved")


if __name__ == "__main__":
    raise SystemExit(main())

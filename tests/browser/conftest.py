"""A running demo site and Chromium for each worker; every page is listened to."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.browsing import Watch, chromium_path, open_chromium, sign_in
from tests.made_once import made_once
from tests.system.site import ROOT, Site

HERE = Path(__file__).parent
# A newcomer's way from files to a board, and every view, of which it takes a third by itself.
EACH_TIME = ("test_journey.py", "test_pages.py")
# How long is waited for a click to be possible, and for what it leads to: longer than any takes on
# a machine with other work, shorter than a page's own patience. How quick something is, is measured
# elsewhere.
ACTION_MS = 20_000
expect.set_options(timeout=ACTION_MS)
Person = Callable[..., Page]


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow)
            if item.path.name not in EACH_TIME:
                item.add_marker(pytest.mark.in_thirds)
            # Two demo sites serve them all: building a third costs more than it saves.
            group = "pages" if item.path.name == "test_pages.py" else "browser"
            item.add_marker(pytest.mark.xdist_group(group))


def _is_required() -> bool:
    asked = os.environ.get("BENCHWRIGHT_REQUIRE_SERVICES"), os.environ.get("CI")
    return any(value in {"1", "true"} for value in asked)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for the folder; ended with it, for its event loop is in other tests' way."""
    executable = chromium_path()
    if executable is None:
        why = "no Chromium: install `chromium`, or put one into PATH"
        (pytest.fail if _is_required() else pytest.skip)(why)
    with sync_playwright() as playwright:
        browser = open_chromium(playwright, executable)
        yield browser
        browser.close()


@dataclass
class DemoSite:
    """The demo at work, and how to sign in there."""

    site: Site
    password: str
    states: dict[str, Any] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.site.url

    def create_user(self, username: str) -> None:
        """An account with the demo's password, made by the command an operator would use."""
        email = f"{username}@example.org"
        command = ["manage.py", "create_user", username, "--password-stdin", "--email", email]
        subprocess.run(
            [sys.executable, *command],
            cwd=ROOT,
            env=self.site.env,
            input=self.password,
            text=True,
            capture_output=True,
            check=True,
        )


def _build_demo(folder: Path) -> None:
    with Site(folder) as site:
        site.manage("demo")


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoSite]:
    """The demo site with its four runs and 12 queries to judge."""
    with Site(tmp_path_factory.mktemp("site")) as site:
        # Nothing here is killed: on a busy machine a late heartbeat shall not restart a job.
        site.env["JOB_LOST_AFTER_SECONDS"] = "60"
        # The next test counts on what the last one did.
        site.env["JUDGE_COUNTS_SECONDS"] = "0"
        # The model that judges is one of the test's own.
        site.env["JUDGE_PRIVATE_ADDRESSES"] = "1"
        if site.database.startswith("sqlite"):
            shutil.copytree(made_once("demo", _build_demo), site.folder, dirs_exist_ok=True)
        else:
            site.manage("demo")
        started = DemoSite(site, (site.folder / "demo_password").read_text())
        site.start("demo")  # as a newcomer does
        yield started


@pytest.fixture
def person(chromium: Browser, demo: DemoSite) -> Iterator[Person]:
    """A function that opens a page as somebody (or nobody); the end looks at all complaints."""
    pages: list[Page] = []

    def open_as(username: str | None = None, **options: Any) -> Page:
        pages.append(opened(chromium, demo, username, **options))
        return pages[-1]

    yield open_as
    for page in pages:
        page.context.close()
    complaints = [complaint for page in pages for complaint in page.watch.complaints()]
    assert complaints == []


def opened(chromium: Browser, demo: DemoSite, username: str | None, **options: Any) -> Page:
    """A page in a context of its own, signed in as somebody or nobody, and listened to."""
    state = _state_of(chromium, demo, username) if username else None
    options.setdefault("viewport", {"width": 1440, "height": 900})
    options.setdefault("reduced_motion", "reduce")
    context = chromium.new_context(base_url=demo.url, storage_state=state, **options)
    context.set_default_timeout(ACTION_MS)
    watch = Watch(context)
    page = context.new_page()
    page.watch = watch
    return page


def _state_of(chromium: Browser, demo: DemoSite, username: str) -> Any:
    """The cookies of somebody who has signed in through the page, kept for the session."""
    if username not in demo.states:
        context = chromium.new_context()
        sign_in(context.new_page(), demo.url, username, demo.password)
        demo.states[username] = context.storage_state()
        context.close()
    return demo.states[username]

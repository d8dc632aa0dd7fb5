"""A site below a path of a host, behind nginx: a person and a program find all of it there."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from benchwright.client import Client
from tests.browser.browsing import Watch
from tests.browser.conftest import ACTION_MS
from tests.browser.labeling import READY, SAID, SAVED
from tests.system.proxies import PATH, nginx_below, proxying, tool
from tests.system.site import Site, free_port


class Below:
    """A site of `up`, its address at the proxy, and what `tests/world.py` made there."""

    def __init__(self, site: Site, port: int) -> None:
        self.site = site
        self.url = f"http://127.0.0.1:{port}{PATH}"
        self.world = site.call("make_world")
        site.snippet("from benchmarks_app.jobs.services.jobs import run_queued; run_queued()")


@pytest.fixture(scope="module")
def below(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Below]:
    tool("nginx")
    folder, port = tmp_path_factory.mktemp("below"), free_port()
    with Site(folder / "site") as site:
        site.env |= {"SITE_URL": f"http://127.0.0.1:{port}{PATH}", "TRUSTED_PROXIES": "1"}
        made = Below(site, port)
        site.start("up")
        with proxying(nginx_below(folder, port, site.port, strips=False), folder, port):
            yield made


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """Fails where anything is not there, or is asked for above the path."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(ACTION_MS)
    watch, faults = Watch(context), []

    def look_at(answer: object) -> None:
        path = urlsplit(answer.url).path
        if answer.status >= 400 or not (path == PATH or path.startswith(f"{PATH}/")):
            faults.append(f"{answer.status} {answer.url}")

    context.on("response", look_at)
    yield context.new_page()
    assert faults + watch.complaints() == []
    context.close()


def sign_in(page: Page, below: Below, who: str, then: str) -> None:
    """Sent to sign in by a page that wants somebody, and led back there."""
    page.goto(below.url + then)
    page.get_by_label("Username").fill(who)
    page.get_by_label("Password", exact=True).fill("a long password")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(below.url + then)


def test_up_says_where_it_is(below: Below):
    line = f"Benchwright is at {below.site.url}{PATH}/"

    below.site.wait_for(lambda: line in below.site.log("up"), line, 20)


def test_person_signs_in_submits_a_run_and_sees_the_board(below: Below, page: Page, tmp_path: Path):
    (tmp_path / "new.run").write_text("1 Q0 d-tab 1 3.0 n\nq-cjk Q0 d-cjk 1 2.0 n\n")

    sign_in(page, below, "sam", reverse("scoring:submission-new", args=["stdlib"]))
    page.locator("input[name=file]").set_input_files(tmp_path / "new.run")
    page.get_by_label("Name", exact=True).fill("newest")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#submission-state")).to_contain_text("Scored on release 1.0.0")
    page.get_by_role("link", name="Leaderboard").first.click()

    expect(page.locator(".board2")).to_contain_text("newest")
    page.locator("[data-theme-toggle]").first.click()
    paths = {cookie["name"]: cookie["path"] for cookie in page.context.cookies()}
    assert {f"{name}.benchwright" for name in ("sessionid", "csrftoken", "theme")} <= set(paths)
    assert set(paths.values()) == {PATH}
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def test_annotator_judges(below: Below, page: Page):
    pool = below.world["arguments"]["annotation:judge"]

    sign_in(page, below, "ada", reverse("annotation:judge", args=[pool]))
    expect(page.locator(READY)).to_be_attached()
    page.keyboard.press("2")

    expect(page.locator(SAID)).to_contain_text("saved")
    expect(page.locator(SAVED)).to_have_text("All saved")


def test_program_pulls_a_release(below: Below, tmp_path: Path):
    with Client(below.url, below.world["tokens"]["sam"]) as client:
        pulled = client.pull("stdlib@1.0.0", tmp_path / "stdlib")
        runs = list(client.rows("benchmarks/stdlib/runs/"))

    assert (pulled.folder / "manifest.json").is_file()
    assert len(runs) >= 2

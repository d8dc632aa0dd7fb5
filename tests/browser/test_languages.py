"""Pages of annotators and submitters in German and Chinese: axe and the eye find nothing amiss."""

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.browsing import WIDE, room_faults
from tests.browser.conftest import DemoSite, opened
from tests.browser.furnishing import SLUG
from tests.browser.labeling import POOL, SAID, SAVED, at_work, begin, press
from tests.browser.test_pages import IS_BRIEF, THIRD, axe_faults

VERSION = "0.1.0"
# One of each kind: a home, lists, a form with many fields, the labeling page, an account.
ADDRESSES = {
    "ada": (f"/b/{SLUG}/", "/judge/", "/judge/mine/", "/judge/keys/", POOL),
    "sam": (f"/b/{SLUG}/", f"/b/{SLUG}/runs/submit/", "/account/", "/account/factors/"),
    None: ("/sign-in/",),
}
# Pages of results, whose runs are reached from their lists.
RESULTS = (
    f"/b/{SLUG}/leaderboard/",
    f"/b/{SLUG}/v/{VERSION}/leaderboard/slices/",
    f"/b/{SLUG}/v/{VERSION}/leaderboard/history/",
    f"/b/{SLUG}/v/{VERSION}/leaderboard/corrected/",
    f"/b/{SLUG}/compare/corrected/?runs=1,2",
    f"/b/{SLUG}/leaderboard/reported/",
    f"/b/{SLUG}/leaderboard/reported/new/",
    f"/b/{SLUG}/runs/",
    f"/b/{SLUG}/compare/?runs=1,2",
    f"/b/{SLUG}/compare/?runs=1,2,3",
    f"/b/{SLUG}/compare/results/?runs=1,2",
    f"/b/{SLUG}/compare/robustness/?runs=1,2",
    f"/b/{SLUG}/queries/",
    f"/b/{SLUG}/releases/",
    f"/b/{SLUG}/releases/{VERSION}/",
    f"/b/{SLUG}/corpus/",
    "/corpora/",
    f"/b/{SLUG}/families/",
    f"/b/{SLUG}/releases/{VERSION}/export/",
    f"/b/{SLUG}/releases/{VERSION}/card/",
    f"/b/{SLUG}/releases/{VERSION}/files/",
    f"/b/{SLUG}/slices/",
    f"/b/{SLUG}/splits/",
    f"/b/{SLUG}/contextual/",
    f"/b/{SLUG}/contrastive/",
    f"/b/{SLUG}/contrastive/new/",
)
# Of a run, from its own address.
OF_A_RUN = ("", "scores/", "slices/", "reading/", "holes/", "queries/")


@pytest.mark.parametrize("language", ["de", "zh-CN"])
def test_pages_have_room_for_every_language(chromium: Browser, demo: DemoSite, language: str):
    begin(demo)
    faults: list[str] = []
    for who, addresses in ADDRESSES.items():
        options: dict[str, Any] = {"viewport": WIDE, "locale": language}
        page = opened(chromium, demo, who, **options)
        for address in addresses:
            page.set_viewport_size(WIDE)
            page.goto(address)
            expect(page.locator("html")).to_have_attribute(
                "lang", {"de": "de", "zh-CN": "zh-hans"}[language]
            )
            faults += room_faults(page, address)
        faults += page.watch.complaints()
        page.context.close()
    assert faults == []


@pytest.mark.parametrize("language", ["de", "zh-CN"])
def test_pages_of_results_are_accessible_and_have_room_in_every_language(
    chromium: Browser, demo: DemoSite, language: str
):
    page = opened(chromium, demo, "sam", viewport=WIDE, locale=language)
    page.goto(f"/b/{SLUG}/runs/")
    run = page.locator("tbody th a").first.get_attribute("href")
    page.goto(f"/b/{SLUG}/queries/")
    query = page.locator("tbody th a").first.get_attribute("href")
    faults: list[str] = []
    addresses = (*RESULTS, *(f"{run}{part}" for part in OF_A_RUN), query)
    for address in addresses[int(THIRD) :: 3] if IS_BRIEF else addresses:
        page.set_viewport_size(WIDE)
        page.goto(address)
        expect(page.locator("main")).not_to_have_attribute("lang", "en")
        page.wait_for_load_state("networkidle")
        faults += [f"{address}: {fault}" for fault in axe_faults(page)]
        faults += room_faults(page, address)
    faults += page.watch.complaints()
    page.context.close()
    assert faults == []


def held(route: Route, until: str) -> dict[str, Any]:
    asked = json.loads(route.request.post_data or "")
    return {
        "said": [{"client_id": event["client_id"], "state": "saved"} for event in asked["say"]],
        "items": [],
        "gone": asked["have"],
        "work": {"state": "held", "n_left": 1, "until": until},
        "progress": {"pool": {"done": 1, "total": 2}, "mine": {"n": 1, "seconds_left": None}},
    }


def test_labeling_page_speaks_its_readers_language(chromium: Browser, demo: DemoSite):
    begin(demo)
    page = at_work(opened(chromium, demo, "ada", viewport=WIDE, locale="de", timezone_id="UTC"))

    press(page, "1")

    expect(page.locator(SAVED)).to_have_text("Alles gespeichert")
    expect(page.locator(SAID)).to_contain_text("Stufe 1 gespeichert")
    expect(page.locator("[data-part=pool]")).to_contain_text("Bewertung")
    until = "2026-11-30T15:45:00Z"
    page.route("**/exchange/**", lambda route: route.fulfill(json=held(route, until)))
    page.keyboard.press("1")
    expect(page.locator("[data-until]:visible").first).to_have_text("15:45")
    assert page.watch.complaints() == []
    page.context.close()

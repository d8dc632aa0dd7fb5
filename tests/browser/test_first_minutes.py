"""From an invitation to the first label, and from signing in to a score: counted in clicks.

The same by keyboard alone, with a script and without; who submits compares on the board then.
"""

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.browsing import load_until_there
from tests.browser.conftest import DemoSite, Person

ANNOTATOR, SUBMITTER = "newjudge", "newsubmitter"
MOST_TO_A_LABEL, MOST_TO_A_SCORE, MOST_TABS = 3, 4, 80
MAKE = f"""
import json
from benchmarks_app.common.selectors.reading import corpus_reader
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Role, User
from benchmarks_app.people.services.people import invite
from tests import factories

benchmark = factories.tiny_benchmark("minutes", name="First minutes")
owner = factories.member(benchmark, "olga", "owner")
qids = list(benchmark.queries.order_by("pk").values_list("qid", flat=True))
docids = [row.docid for row in corpus_reader(benchmark.current_corpus_version).at(range(3))]
for name in ("one", "two"):
    ordered = docids if name == "one" else docids[::-1]
    lines = [
        f"{{qid}} Q0 {{docid}} {{rank}} {{9 - rank}} {{name}}"
        for qid in qids for rank, docid in enumerate(ordered[:3], start=1)
    ]
    factories.run(benchmark, "\\n".join(lines), name=name, owner=owner)
factories.depth_pool(benchmark, list(benchmark.runs.all()), overlap=3)
factories.release(benchmark.qrel_sets.get(), by=owner)
jobs.run_queued()
secrets = {{}}
for way in ("mouse", "keys", "keys-no-script"):
    factories.member(benchmark, f"{SUBMITTER}-{{way}}", "submitter")
    link = invite(benchmark=benchmark, actor=owner, role=Role.ANNOTATOR, note=way, days=7)
    secrets[way] = link.secret
print(json.dumps({{"secrets": secrets, "run": "\\n".join(lines)}}))
"""


class Mouse:
    """Clicks, and counts them."""

    options: dict[str, Any] = {}
    has_script = True

    def __init__(self, page: Page) -> None:
        self.page, self.n = page, 0

    def press(self, place: Locator) -> None:
        place.click()
        self.n += 1

    def write(self, place: Locator, text: str) -> None:
        place.fill(text)


class Keys(Mouse):
    """No mouse: Tab until the place has the focus, then a key."""

    def go(self, place: Locator) -> None:
        expect(place).to_be_visible()
        for _ in range(MOST_TABS):
            self.page.keyboard.press("Tab")
            if place.evaluate("place => place === document.activeElement"):
                return
        message = f"{MOST_TABS} times Tab did not reach {place}"
        raise AssertionError(message)

    def press(self, place: Locator) -> None:
        self.go(place)
        self.page.keyboard.press("Enter")

    def write(self, place: Locator, text: str) -> None:
        self.go(place)
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)


class PlainKeys(Keys):
    """Neither a mouse nor a script."""

    options = {"java_script_enabled": False}
    has_script = False


HANDS = {"mouse": Mouse, "keys": Keys, "keys-no-script": PlainKeys}


@pytest.fixture(scope="module")
def facts(demo: DemoSite) -> dict[str, Any]:
    for name in HANDS:
        demo.create_user(f"{ANNOTATOR}-{name}")
        demo.create_user(f"{SUBMITTER}-{name}")
    return json.loads(demo.site.snippet(MAKE).splitlines()[-1])


def enter(hands: Mouse, username: str, password: str) -> None:
    page = hands.page
    page.goto("/sign-in/")
    hands.write(page.get_by_label("Username"), username)
    hands.write(page.get_by_label("Password", exact=True), password)
    hands.press(page.get_by_role("button", name="Sign in"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Benchmarks")
    hands.n = 0


@pytest.mark.parametrize("way", HANDS)
def test_an_annotators_first_label_is_three_clicks_from_the_invitation(
    person: Person, demo: DemoSite, facts: dict[str, Any], way: str
):
    page = person(**HANDS[way].options)
    hands = HANDS[way](page)
    enter(hands, f"{ANNOTATOR}-{way}", demo.password)
    page.goto(f"/join/{facts['secrets'][way]}/")

    hands.press(page.get_by_role("button", name="Join as"))
    hands.press(page.get_by_role("main").get_by_role("link", name="Start judging").first)
    hands.press(page.get_by_role("button", name="I have read this"))
    grade_one(hands)

    assert hands.n <= MOST_TO_A_LABEL


def grade_one(hands: Mouse) -> None:
    """By its digit, or as a form has it where no script is there; and it is saved."""
    page = hands.page
    if hands.has_script:
        expect(page.locator("#judge-screen[data-ready=yes]")).to_be_attached()
        page.keyboard.press("1")
        expect(page.locator("[data-part=saved]")).to_have_text("All saved")
        return
    assert isinstance(hands, Keys)
    hands.go(page.get_by_role("radio").first)
    page.keyboard.press("ArrowDown")
    hands.press(page.get_by_role("button", name="Save this grade and go on"))
    expect(page.locator(".messages")).to_contain_text("Grade 1 saved.")


@pytest.mark.parametrize("way", HANDS)
def test_a_submitters_score_is_four_clicks_from_the_sign_in(
    person: Person, demo: DemoSite, facts: dict[str, Any], way: str
):
    page = person(**HANDS[way].options)
    hands = HANDS[way](page)
    enter(hands, f"{SUBMITTER}-{way}", demo.password)
    name = f"mine by {way}"

    hands.press(page.get_by_role("main").get_by_role("link", name="First minutes").first)
    page.wait_for_url("**/b/minutes/")
    if not page.locator("input[type=file]").count():
        hands.press(page.get_by_role("main").get_by_role("link", name="Submit a run").first)
    run = {"name": f"{way}.run", "mimeType": "text/plain", "buffer": facts["run"].encode()}
    files = page.locator("input[type=file]").first
    if isinstance(hands, Keys):
        hands.go(files)  # whose dialog is the browser's own
    files.set_input_files([run])
    hands.write(page.get_by_label("Name on the leaderboard"), name)
    submit = page.get_by_role("button", name="Submit", exact=True)
    if hands.has_script:
        hands.press(submit)
    else:
        with page.expect_navigation():  # what is on its way cannot be loaded again
            hands.press(submit)
        load_until_there(page, page.get_by_role("main").get_by_text("nDCG@10"))
    expect(page.get_by_role("main")).to_contain_text("nDCG@10", timeout=60_000)
    assert hands.n <= MOST_TO_A_SCORE
    if isinstance(hands, Keys):
        compare_with_the_first(hands, name)


def compare_with_the_first(hands: Keys, name: str) -> None:
    """From the board: two ticks and a button."""
    page = hands.page
    hands.press(page.get_by_role("navigation").get_by_role("link", name="Leaderboard").first)
    for run in (name, "one"):
        hands.go(page.get_by_role("checkbox", name=f"Compare {run}", exact=True))
        page.keyboard.press("Space")
    if hands.has_script:
        hands.press(page.locator("[data-tray-go]"))
    else:
        hands.press(page.get_by_role("button", name="Compare the runs that are ticked"))
    page.wait_for_url("**/compare/**")
    expect(page.locator(".verdict-sentence").first).to_be_visible()

"""From an invitation to the first label, and from signing in to a score: counted in clicks."""

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.browsing import sign_in
from tests.browser.conftest import DemoSite, Person

ANNOTATOR, SUBMITTER = "newjudge", "newsubmitter"
MOST_TO_A_LABEL, MOST_TO_A_SCORE = 3, 4
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
factories.depth_pool(benchmark, list(benchmark.runs.all()))
factories.release(benchmark.qrel_sets.get(), by=owner)
factories.member(benchmark, "{SUBMITTER}", "submitter")
jobs.run_queued()
link = invite(benchmark=benchmark, actor=owner, role=Role.ANNOTATOR, note="new", days=7)
print(json.dumps({{"secret": link.secret, "run": "\\n".join(lines)}}))
"""


class Clicks:
    """How often a person had to click."""

    def __init__(self) -> None:
        self.n = 0

    def on(self, place: Locator) -> None:
        place.click()
        self.n += 1


@pytest.fixture(scope="module")
def facts(demo: DemoSite) -> dict[str, str]:
    for name in (ANNOTATOR, SUBMITTER):
        demo.create_user(name)
    return json.loads(demo.site.python(MAKE).splitlines()[-1])


def test_an_annotators_first_label_is_three_clicks_from_the_invitation(
    person: Person, demo: DemoSite, facts: dict[str, str]
):
    page, clicks = person(), Clicks()
    sign_in(page, demo.url, ANNOTATOR, demo.password)
    page.goto(f"/join/{facts['secret']}/")

    clicks.on(page.get_by_role("button", name="Join as"))
    clicks.on(page.get_by_role("main").get_by_role("link", name="Start judging").first)
    clicks.on(page.get_by_role("button", name="I have read this"))
    grade_one(page)

    assert clicks.n <= MOST_TO_A_LABEL


def grade_one(page: Page) -> None:
    """By its key, and it is saved."""
    expect(page.locator("#judge-screen[data-ready=yes]")).to_be_attached()
    page.keyboard.press("1")
    expect(page.locator("[data-part=saved]")).to_have_text("All saved")


def test_a_submitters_score_is_four_clicks_from_the_sign_in(
    person: Person, demo: DemoSite, facts: dict[str, str]
):
    page, clicks = person(), Clicks()
    sign_in(page, demo.url, SUBMITTER, demo.password)

    clicks.on(page.get_by_role("main").get_by_role("link", name="First minutes").first)
    if not page.locator("input[type=file]").count():
        clicks.on(page.get_by_role("main").get_by_role("link", name="Submit a run").first)
    run = {"name": "mine.run", "mimeType": "text/plain", "buffer": facts["run"].encode()}
    page.locator("input[type=file]").first.set_input_files([run])
    page.get_by_label("Name on the leaderboard").fill("mine")
    clicks.on(page.get_by_role("button", name="Submit", exact=True))
    expect(page.get_by_role("main")).to_contain_text("nDCG@10", timeout=60_000)

    assert clicks.n <= MOST_TO_A_SCORE

"""Cases with images through the browser: sent, shown, judged by a model on the loopback."""

import base64
import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.browsing import at_width, wait_for_job
from tests.browser.furnishing import SLUG
from tests.browser.test_pages import faults_of
from tests.judge_stub import JudgeStub

HOME = f"/b/{SLUG}/contextual/"
KEY = "sk-only-for-workers"
# Four formats; a TIFF becomes a PNG, for neither browsers nor judges take it.
PHOTOS = ("chelsea.png", "rocket.jpg", "no_time_for_that_tiny.gif", "multipage.tif")
KINDS = ["image/png", "image/jpeg", "image/gif", "image/png"]


@pytest.fixture
def photos(data: Path) -> list[Path]:
    folder = data / "images_photos"
    if not folder.is_dir():
        pytest.skip(f"no photographs at {folder} (BENCHWRIGHT_TEST_DATA)")
    return [folder / name for name in PHOTOS]


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """A case of all photographs, and one of texts."""
    nodes = ["Of no help.", *({"image": name} for name in PHOTOS)]
    rows = [
        {"id": "photos", "retrieval_context": nodes, "slices": ["photos"]},
        {"id": "texts", "retrieval_context": ["A useful text.", "<b>Another</b>"]},
    ]
    both = {"input": "What is to be seen?", "expected_output": "A cat and a rocket."}
    file = tmp_path / "photographs.jsonl"
    file.write_text("\n".join(json.dumps(row | both) for row in rows))
    return file


def send(page: Page, cases: Path, images: list[Path]) -> None:
    page.get_by_label("Cases").set_input_files(cases)
    page.get_by_label("Images").set_input_files(images)
    page.get_by_role("button", name="Import").click()


def make_judge(page: Page, stub: JudgeStub) -> None:
    page.goto(f"{HOME}judges/new/")
    page.get_by_label("Name").fill("stub")
    page.get_by_label("Address").fill(stub.url)
    page.get_by_label("Model").fill("tiny")
    page.get_by_label("Or a key to store").fill(KEY)
    page.get_by_role("button", name="Make the judge").click()
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#judge-trial .alert")).to_contain_text("It answers", timeout=60_000)


def test_photographs_are_sent_shown_and_judged(person, photos, cases, tmp_path):
    page = person("olga")
    broken = tmp_path / "rocket.jpg"
    broken.write_bytes(photos[1].read_bytes()[:20_000])
    with JudgeStub(key=KEY) as stub:
        make_judge(page, stub)
        page.goto(f"{HOME}import/")
        send(page, cases, [photos[0], broken, *photos[2:]])
        wait_for_job(page, "nothing was imported")
        expect(page.locator(".problems li")).to_have_count(1)
        expect(page.locator(".problems")).to_contain_text("rocket.jpg")

        page.get_by_role("link", name="Import the mended file").click()
        send(page, cases, photos)
        wait_for_job(page)
        page.get_by_role("link", name="See the result").click()
        page.get_by_role("link", name="Judge these cases").click()
        page.get_by_role("button", name="Start judging").click()
        expect(page.locator(".stat-value").first).to_have_text("0.8396", timeout=60_000)
        asked = next(question for question in stub.asked_about("NODE 5>>") if question.images)

    # (1/2 + 2/3 + 3/4 + 4/5) / 4 = 0.6792, and 1
    page.get_by_role("link", name="photos", exact=True).click()
    expect(page.get_by_text("(1/2 + 2/3 + 3/4 + 4/5) / 4 = 0.6792")).to_be_visible()
    results = [sent_of(page, image) for image in page.locator(".case-node img").all()]
    assert [kind for kind, _ in results] == KINDS
    assert asked.images == [f"data:{kind};base64,{content}" for kind, content in results]
    assert base64.b64decode(results[2][1]) == photos[2].read_bytes()
    assert faults_of(page, "light") == []


def sent_of(page: Page, image) -> tuple[str, str]:
    """Kind and base64 of an image that the browser has drawn."""
    image.scroll_into_view_if_needed()
    image.evaluate("image => image.decode()")
    assert image.evaluate("image => image.naturalWidth") > 0
    answer = page.request.get(image.get_attribute("src"))
    return answer.headers["content-type"], base64.b64encode(answer.body()).decode()


def look_again_until(page: Page, shown: Locator) -> None:
    """Without a script nothing comes by itself: ask until it stands there.

    A look is over when its page is there; one that counts sooner finds the empty
    page between the two.
    """
    again = page.get_by_role("link", name="Look again")
    expect(again.or_(shown).first).to_be_visible()
    while not shown.count():
        with page.expect_navigation():
            again.click()


def test_a_telephone_and_a_page_without_script_start_an_evaluation(person, cases, photos):
    page = person("olga", java_script_enabled=False, **at_width())
    page.goto(f"{HOME}judges/new/")
    for label, text in (("Name", "nobody"), ("Model", "tiny")):
        page.get_by_label(label).fill(text)
    page.get_by_label("Address").fill("http://127.0.0.1:9/v1")
    page.get_by_label("Attempts").fill("1")
    page.get_by_role("button", name="Make the judge").click()
    page.goto(HOME)
    page.get_by_role("link", name="Import cases").click()
    page.get_by_label("Name").fill("by telephone")
    send(page, cases, photos)
    look_again_until(page, page.get_by_role("link", name="See the result"))
    page.get_by_role("link", name="See the result").click()
    page.get_by_role("link", name="Judge these cases").click()
    page.locator("#id_judge").select_option(label="nobody (tiny)")
    page.get_by_role("button", name="Estimate again").click()
    expect(page.locator("#estimate")).to_contain_text("for nobody")
    page.get_by_role("button", name="Start judging").click()
    look_again_until(page, page.get_by_text("2 cases failed"))

    expect(page.get_by_role("button", name="Retry the 2 failed")).to_be_visible()

"""Images through the browser: a benchmark is made, filled, pooled and judged."""

import io
import re
import zipfile
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import Page, expect

from tests.browser.browsing import at_width, wait_for_job
from tests.browser.test_journey import import_file, open_page

# A page whose own keys have a use for it, as where a person has bound it to a grade.
TAKE_PLUS = """() => document.addEventListener(
  "keydown", (event) => { if (event.key === "+") event.preventDefault(); }
)"""
COLOURS = ("red", "green", "blue", "black", "white")


def drawn(colour: str) -> bytes:
    """A disc on nothing."""
    picture = Image.new("RGBA", (300, 200))
    ImageDraw.Draw(picture).ellipse((60, 20, 240, 180), fill=colour)
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Five images drawn here, with their table."""
    table = "doc_id\tfile\ttitle\n"
    table += "".join(f"{colour}-1\tpng/{colour}.png\t{colour} disc\n" for colour in COLOURS)
    path = tmp_path / "discs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("images.tsv", table)
        for colour in COLOURS:
            archive.writestr(f"png/{colour}.png", drawn(colour))
    return path


def make_benchmark(page: Page, name: str) -> None:
    page.goto("/new/")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("What is retrieved").select_option("image")
    page.get_by_role("button", name="Create").click()
    expect(page.locator(".messages")).to_contain_text(f"{name} is ready.")


def pool_of(page: Page, tmp_path: Path, docids: list[str], query: str) -> None:
    queries, run = tmp_path / "queries.jsonl", tmp_path / "first.run"
    queries.write_text(f'{{"_id": "q1", "text": "{query}"}}\n')
    lines = [f"q1 Q0 {docid} {n} {1 / n} first\n" for n, docid in enumerate(docids, start=1)]
    run.write_text("".join(lines))
    import_file(page, queries, "1 quer")
    import_file(page, run, "run")
    open_page(page, "Judging")
    page.get_by_role("link", name="Build a pool").click()
    page.get_by_label("Name", exact=True).fill("All")
    for box in page.get_by_role("group", name="Runs").get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="Build the pool").click()
    wait_for_job(page)
    page.get_by_role("link", name="See the result").click()
    page.wait_for_url("**/pools/*/")
    (number,) = re.findall(r"/pools/(\d+)/", page.url)
    page.goto(f"/judge/{number}/start/")
    page.get_by_role("button", name="I have read this, continue").click()
    page.wait_for_url("**/judge/*/")


def width_of(page: Page) -> float:
    image = page.locator(".document-image img").first
    expect(image).to_be_visible()
    image.evaluate("image => image.decode()")
    return image.evaluate("image => image.naturalWidth && image.clientWidth")


def test_images_are_imported_pooled_and_judged(person, own, tmp_path):
    page = person("olga")
    make_benchmark(page, "Discs")
    import_file(page, own, "5 images")
    pool_of(page, tmp_path, [f"{colour}-1" for colour in COLOURS], "a disc")

    fit = width_of(page)
    page.keyboard.press("+")
    assert width_of(page) > fit
    page.keyboard.press("-")
    assert width_of(page) == fit
    page.evaluate(TAKE_PLUS)
    page.keyboard.press("+")
    assert width_of(page) == fit
    first = page.locator(".document-image img").get_attribute("src")
    page.keyboard.press("1")
    expect(page.locator("#judge-said")).to_contain_text("Grade 1 saved")
    assert page.locator(".document-image img").get_attribute("src") != first
    assert width_of(page) > 0

    plain = person("olga", java_script_enabled=False, **at_width())
    plain.goto(page.url)
    expect(plain.locator(".document-image img")).to_be_visible()
    expect(plain.get_by_role("link", name="Open alone")).to_be_visible()

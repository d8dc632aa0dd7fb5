"""The leaderboard at work: searching, ticking, choosing columns, with and without a script."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import Person
from tests.browser.furnishing import SLUG

BOARD = f"/b/{SLUG}/leaderboard/"


def rows(page: Page) -> list[str]:
    names = page.locator(".board2 tbody tr:visible th a")
    return [name.inner_text() for name in names.all()]


def test_search_leaves_rows_out_while_one_types(person: Person):
    page = person("vi")
    page.goto(BOARD)
    everybody = rows(page)
    page.evaluate("window.isTheSamePage = true")

    page.get_by_label("Search", exact=True).press_sequentially("tfidf CHAR")

    assert rows(page) == ["tfidf-char"]
    expect(page.locator("[data-found]")).to_have_text(f"1 of {len(everybody)} runs")
    page.get_by_label("Search", exact=True).fill("")
    assert rows(page) == everybody
    assert page.evaluate("window.isTheSamePage")


def test_a_tray_names_what_is_ticked_and_compares_it(person: Person):
    page = person("vi")
    page.goto(BOARD)
    first, second = rows(page)[:2]
    tray = page.get_by_role("form", name="Compare runs")
    expect(tray.get_by_role("button", name="Compare")).to_be_disabled()

    for name in (first, second):
        page.get_by_role("checkbox", name=f"Compare {name}", exact=True).check()

    expect(tray.get_by_role("status")).to_have_text(f"B{first}againstA{second}")
    tray.get_by_role("button", name="Swap").click()
    expect(tray.get_by_role("status")).to_have_text(f"B{second}againstA{first}")
    reference = page.locator(".board2 tbody tr").first.locator("input").get_attribute("value")
    tray.get_by_role("button", name="Compare 2 runs").click()
    page.wait_for_url(f"**/compare/**baseline={reference}**")
    page.go_back()
    page.get_by_role("checkbox", name=f"Compare {first}", exact=True).check()
    tray.get_by_role("button", name="Clear").click()
    expect(tray.get_by_role("status")).to_have_text("Tick two runs or more to compare them.")


def test_a_measure_and_columns_are_chosen_without_another_page(person: Person):
    page = person("vi")
    page.goto(BOARD)
    page.evaluate("window.isTheSamePage = true")

    page.get_by_label("Rank by").select_option("MAP")

    head = page.locator(".board2 thead")
    expect(head.get_by_role("columnheader", name="MAP")).to_have_attribute(
        "aria-sort", "descending"
    )
    page.locator(".board-columns > summary").click()
    page.get_by_role("checkbox", name="bpref").check()
    page.get_by_role("button", name="Show these").click()
    expect(head.get_by_role("columnheader", name="bpref")).to_be_visible()
    expect(head.get_by_role("columnheader", name="MAP")).to_be_visible()
    assert page.evaluate("window.isTheSamePage")


def test_everything_works_without_a_script(person: Person):
    page = person("vi", java_script_enabled=False)
    page.goto(BOARD)
    first, second = rows(page)[:2]

    page.get_by_label("Search", exact=True).fill("tfidf")
    page.get_by_role("button", name="Show").first.click()
    assert all("tfidf" in name for name in rows(page))
    page.goto(BOARD)
    page.locator(".board-columns > summary").click()
    page.get_by_role("checkbox", name="bpref").check()
    page.get_by_role("button", name="Show these").click()
    expect(page.get_by_role("columnheader", name="bpref")).to_be_visible()
    for name in (first, second):
        page.get_by_role("checkbox", name=f"Compare {name}", exact=True).check()
    page.get_by_role("button", name="Compare the runs that are ticked").click()
    page.wait_for_url("**/compare/**")


def test_nothing_is_cut_at_1280_and_a_run_is_a_card_on_a_telephone(person: Person):
    page = person("vi")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(BOARD)
    box = page.locator(".board-scroll").element_handle()
    page.wait_for_function("box => box.scrollWidth <= box.clientWidth", arg=box)
    heights = page.locator(".board2 tbody tr").evaluate_all(
        "rows => rows.map(row => row.getBoundingClientRect().height)"
    )
    assert all(38 <= height <= 42 for height in heights)

    page.set_viewport_size({"width": 360, "height": 800})

    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    card = page.locator(".board2 tbody tr").first
    for part in ("th a", "td.rank", "td.tie", "td.mean", "td.plotted svg", "td[data-l='MRR@10']"):
        inside = card.locator(part).bounding_box()
        assert inside["x"] >= 0
        assert inside["x"] + inside["width"] <= 360

"""What people do beside judging: upload, sort, choose a theme, sign in, invite, mend a file."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.browsing import at_width, focused, sign_in, tab_to, wait_for_job
from tests.browser.conftest import DemoSite, Person
from tests.browser.furnishing import BROKEN_RUN, SLUG

HOME = f"/b/{SLUG}/"
SLOW = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 2_000_000}


# --- what every test here listens to ------------------------------------------------------------


def test_a_style_that_the_policy_forbids_would_fail_a_test(person: Person):
    page = person("olga")
    page.goto(HOME)
    watch = page.watch
    assert watch.complaints() == []

    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p style=\"color:red\">red</p>')")
    page.evaluate("setTimeout(() => { throw new Error('broken') })")
    page.wait_for_timeout(200)

    text = " ".join(watch.complaints())
    assert "Content Security Policy" in text
    assert "broken" in text
    watch.messages.clear()
    watch.errors.clear()


# --- files -------------------------------------------------------------------------------------


def test_an_upload_shows_how_far_it_is(person: Person, tmp_path: Path):
    page = person("olga")
    run = tmp_path / "long.run"
    run.write_text("".join(f"1 Q0 d{n} {n} {1 / n} long\n" for n in range(1, 100_001)))
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send("Network.emulateNetworkConditions", SLOW)
    page.goto(f"{HOME}import/")
    page.locator("input[name=files]").set_input_files(run)
    expect(page.locator("[data-file-names]")).to_contain_text("long.run (")

    page.get_by_role("button", name="Look at them").click()

    words = page.locator("[data-upload-note] [role=status]")
    expect(words).to_contain_text(re.compile(r"\d+%: [\d.]+ of [\d.]+ MB sent"))
    expect(page.get_by_role("button", name="Look at them")).to_be_disabled()
    page.wait_for_url("**/import/*/")
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_url("**/jobs/*/")
    # None of its documents is in the corpus, and its query is unknown: said, and nothing kept.
    wait_for_job(page, "This did not work.")


def test_a_small_file_that_was_chosen_has_a_size(person: Person):
    page = person("olga")
    page.goto(f"{HOME}import/")
    small = {"name": "small.run", "mimeType": "text/plain", "buffer": b"q1 Q0 d1 1 1.5 a"}

    page.locator("input[name=files]").set_input_files([small])

    expect(page.locator("[data-file-names]")).to_have_text("small.run (1 KB)")


def test_a_broken_file_is_refused_with_its_lines(person: Person, tmp_path: Path):
    page = person("olga")
    run = tmp_path / "mine.run"
    run.write_text(BROKEN_RUN)
    page.goto(f"{HOME}import/")
    page.locator("input[name=files]").set_input_files(run)
    page.get_by_role("button", name="Look at them").click()
    page.get_by_label("This is").select_option(label="Run: TREC")

    page.get_by_role("button", name="Import", exact=True).click()

    expect(page.locator(".alert").first).to_contain_text("Nothing was imported")
    problems = page.locator(".problems")
    expect(problems).to_contain_text("mine.run:2")
    expect(problems).to_contain_text("mine.run:3")
    page.get_by_role("link", name="Import", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Import")


# --- the frame ---------------------------------------------------------------------------------


def test_the_theme_goes_round_and_stays(person: Person):
    page = person("olga")
    page.goto(HOME)
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    toggle = page.get_by_role("button", name="Theme:")

    toggle.click()
    assert theme(page) == "light"
    toggle.click()
    assert theme(page) == "dark"
    assert page.evaluate(background) != light

    page.goto("/account/")
    assert theme(page) == "dark"
    page.get_by_role("button", name="System").click()
    assert theme(page) == "auto"
    assert page.evaluate(background) == light


def theme(page: Page) -> str:
    return page.evaluate("document.documentElement.dataset.theme")


def test_the_menu_of_a_narrow_page_opens_and_escape_closes_it(person: Person):
    page = person("olga", viewport={"width": 360, "height": 740})
    page.goto(HOME)
    sidebar = page.get_by_role("navigation", name="Benchmark")
    link = sidebar.get_by_role("link", name="Leaderboard")
    expect(link).to_be_hidden()

    page.get_by_role("button", name="Menu").click()
    expect(link).to_be_visible()
    page.keyboard.press("Escape")

    expect(link).to_be_hidden()
    assert focused(page) == "Menu"


def test_a_table_is_sorted_by_keyboard(person: Person):
    page = person("olga")
    page.goto(f"{HOME}runs/")
    before = first_column(page)
    tab_to(page, "Run")

    page.keyboard.press("Enter")
    assert first_column(page) == sorted(before)
    page.keyboard.press("Enter")

    assert first_column(page) == sorted(before, reverse=True)
    header = page.get_by_role("columnheader", name="Run", exact=True)
    expect(header).to_have_attribute("aria-sort", "descending")


LISTS = """
() => { const made = (name, time) => `<tr><th>${name}</th><td>${time}</td></tr>`;
  const at = (day) => `<time datetime="${day}T10:00:00+00:00" data-format="date"></time>`;
  document.querySelector("main").innerHTML = `<table data-sortable>
    <thead><tr><th>List</th><th>Made</th></tr></thead><tbody>${made("spring", at("2026-04-02"))}
    ${made("none", "-")}${made("autumn", at("2026-11-01"))}</tbody></table>`;
  document.querySelector("main").dispatchEvent(new CustomEvent("htmx:load", { bubbles: true })); }
"""


def test_times_are_sorted_as_times(person: Person):
    page = person("olga")
    page.goto(HOME)
    page.evaluate(LISTS)

    page.get_by_role("button", name="Made").click()

    assert first_column(page) == ["autumn", "spring", "none"]


def test_a_text_is_copied_where_the_browser_has_no_clipboard_for_the_page(person: Person):
    page = person("olga")
    page.goto(f"{HOME}leaderboard/")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    button = page.get_by_role("button", name="Copy link")

    button.click()

    expect(page.locator(".toast")).to_have_text("Copied")
    expect(button).to_be_focused()
    search = page.get_by_label("Search", exact=True)
    search.focus()
    page.keyboard.press("Control+v")
    assert search.input_value() in button.get_attribute("data-copy")
    assert search.input_value()


def test_a_part_that_asks_for_itself_in_vain_says_so_once(person: Person):
    page = person("olga")
    page.goto(HOME)
    page.context.set_offline(True)

    for _ in range(2):
        page.evaluate("htmx.ajax('GET', location.href, 'footer').catch(() => {})")

    expect(page.locator(".toast")).to_have_text(
        "The server could not be reached: what this page shows may be old."
    )
    page.context.set_offline(False)


def first_column(page: Page) -> list[str]:
    return page.locator("tbody th").all_inner_texts()


# --- people ------------------------------------------------------------------------------------


def test_a_long_name_leaves_the_other_columns_where_they_are_seen(person: Person):
    page = person("olga")
    page.goto(f"{HOME}runs/")

    page.evaluate("document.querySelector('.table tbody a').textContent = 'n'.repeat(120)")

    region = page.locator(".table-scroll")
    assert region.evaluate("region => region.scrollWidth - region.clientWidth") == 0


def test_a_long_name_in_the_way_back_makes_no_page_wide(person: Person):
    page = person("olga", **at_width())
    page.goto(f"{HOME}pools/1/")

    page.evaluate(
        "document.querySelector('.breadcrumb li:last-child').textContent = 'n'.repeat(120)"
    )

    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_word_without_end_makes_no_page_wide_where_it_is_refused(person: Person):
    page = person("olga", **at_width())
    word = "x" * 90

    page.goto("/new/")
    page.get_by_label("Name", exact=True).fill("Long")
    page.get_by_label("Grades").fill(word)
    page.get_by_role("button", name="Create").click()
    expect(page.locator(".errorlist").last).to_contain_text(word)
    widths = [page.evaluate("document.documentElement.scrollWidth")]
    page.goto(f"{HOME}compare/?runs=bm25,{word}")
    expect(page.locator(".alert")).to_contain_text(word)
    widths.append(page.evaluate("document.documentElement.scrollWidth"))

    assert widths == [360, 360]


def test_signing_out_and_in_again(person: Person, demo: DemoSite):
    page = person()
    sign_in(page, demo.url, "vi", demo.password)

    page.locator("summary[aria-label^='Your account']").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.goto(f"{HOME}runs/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")

    page.get_by_label("Username").fill("vi")
    page.get_by_label("Password", exact=True).fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Password", exact=True).fill(demo.password)
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Runs")


def test_an_invitation_makes_a_member_whose_role_changes_and_who_leaves(
    person: Person, demo: DemoSite
):
    olga, guest = person("olga"), person()
    olga.goto(f"{HOME}people/")
    olga.get_by_label("Role", exact=True).select_option("viewer")
    olga.get_by_label("Note").fill("Gus from the library")
    olga.get_by_role("button", name="Make a link").click()
    link = olga.locator("#invitation-link").inner_text()

    guest.goto(link)
    guest.get_by_label("Username").fill("gus")
    guest.get_by_label("Email").fill("gus@example.org")
    guest.get_by_label("Password", exact=True).fill("a quite long password")
    guest.get_by_label("Password again").fill("a quite long password")
    guest.get_by_role("button", name="Make the account and join").click()
    expect(guest.locator(".messages")).to_contain_text("You are a member of")
    assert guest.goto(f"{HOME}import/").status == 403

    olga.get_by_role("link", name="Back to people").click()
    olga.get_by_role("combobox", name="Role of gus").select_option("maintainer")
    olga.get_by_role("button", name="Change the role of gus").click()
    expect(olga.locator(".messages")).to_contain_text("gus is now Maintainer.")
    assert guest.goto(f"{HOME}import/").status == 200

    olga.get_by_role("button", name="Remove gus").click()
    olga.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(olga.locator(".messages")).to_contain_text("gus is no longer a member")
    assert guest.goto(HOME).status == 404
    assert guest.goto(link).status in {404, 409, 410}


def test_a_question_before_something_is_taken_away_can_be_read(person: Person):
    from tests.browser.test_pages import CONTRAST, faults_of

    page = person("olga")
    page.goto(f"{HOME}people/")

    page.get_by_role("button", name="Remove Mia").click()
    remove = page.get_by_role("dialog").get_by_role("button", name="Remove")
    for scheme in ("light", "dark"):
        assert faults_of(page, scheme, CONTRAST) == []
        remove.hover()
        assert faults_of(page, scheme, CONTRAST) == []
        page.mouse.move(0, 0)


def test_the_page_of_a_new_invitation_is_accessible(person: Person):
    from tests.browser.test_pages import faults_of

    page = person("olga", color_scheme="light")
    page.goto(f"{HOME}people/")

    page.get_by_role("button", name="Make a link").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("The invitation is ready")
    assert faults_of(page, "light") == []

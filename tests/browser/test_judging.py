"""The labeling page under a person's hands: every key, touch, no script, what is heard."""

import json
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from annotation.judging.protocol.keys import ACTIONS, caption, grade_action
from benchwright.progress.careless import WINDOW
from tests.browser.browsing import at_width
from tests.browser.conftest import DemoSite, Person
from tests.browser.labeling import (
    SAID,
    SAVED,
    all_saved,
    at_work,
    begin,
    document,
    label,
    newest,
    press,
    settle,
    shown,
)


@pytest.fixture
def page(person: Person, demo: DemoSite) -> Iterator[Page]:
    """Ada at the labeling page of the demo's pool; what she says is saved before the next test."""
    begin(demo)
    page = at_work(person("ada"))
    yield page
    if page.locator(SAVED).count():
        all_saved(page)


# --- every key of the panel --------------------------------------------------------------------
# The panel, the map and these tests are made of one table; a key without an effect here fails.

SCALE = range(4)
TABLE = [*(grade_action(value) for value in SCALE), *ACTIONS]
PRESSES = [
    pytest.param(action.name, key, id=f"{action.name}-{caption(key)}")
    for action in TABLE
    for key in action.usual
]


def gives_its_grade(page: Page, demo: DemoSite, key: str, name: str) -> None:
    number = label(page)
    press(page, key)
    grade = name.removeprefix("grade-")
    expect(page.locator(SAID)).to_contain_text(f"Grade {grade} saved")
    assert label(page) == number + 1
    assert newest(demo) == [("grade", int(grade))]


def shows_the_full_text(page: Page, demo: DemoSite, key: str, name: str) -> None:
    go_to_a_long_document(page, demo)
    excerpt = document(page)
    page.keyboard.press(key)
    expect(page.locator("[data-part=full]")).to_have_attribute("aria-expanded", "true")
    assert len(document(page)) > len(excerpt)
    page.keyboard.press(key)
    assert document(page) == excerpt


def go_to_a_long_document(page: Page, demo: DemoSite) -> None:
    if not demo.states.get("has long documents"):
        # The demo's own are short: nearly all are shown whole.
        words = " ".join(["It goes on for a while, and a while longer."] * 70)
        demo.site.rows(
            f"UPDATE benchmarks_app_documentcontent SET text = text || ' {words}' WHERE id % 5 = 0"
        )
        demo.states["has long documents"] = True
        all_saved(page)
        at_work(page)
    for _ in range(40):
        if page.locator("[data-part=full-box]").is_visible():
            return
        press(page, "1")
    raise AssertionError("40 documents, and none of them is long")


def finds(page: Page, demo: DemoSite, key: str, name: str) -> None:
    page.keyboard.press(key)
    field = page.get_by_placeholder("Find in the text")
    expect(field).to_be_focused()
    page.keyboard.type("e")
    expect(page.locator("[data-part=find-count]")).to_have_text(re.compile(r"^1 of [1-9]"))
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()


def marks_evidence(page: Page, demo: DemoSite, key: str, name: str) -> None:
    words = select_words(page)
    page.keyboard.press(key)
    expect(page.locator("[data-part=evidence] q")).to_have_text(words)
    press(page, "1")
    all_saved(page)
    ((evidence,),) = newest(demo, "evidence")
    assert words in str(evidence)


def select_words(page: Page) -> str:
    """The first words of the text, selected; what they are."""
    return page.evaluate(
        """() => { const text = document.querySelector("[data-part=text]");
          const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
          while (walker.nextNode() && walker.currentNode.data.trim().length < 3);
          const { currentNode: node } = walker;
          getSelection().setBaseAndExtent(node, 0, node, node.length);
          return getSelection().toString().trim(); }"""
    )


def set_text(page: Page, text: str) -> None:
    page.locator("[data-part=text]").evaluate("(box, text) => { box.textContent = text; }", text)


def takes_a_note(page: Page, demo: DemoSite, key: str, name: str) -> None:
    page.keyboard.press(key)
    expect(page.locator("#note")).to_be_focused()
    page.keyboard.type("2 of 3, and x")
    page.keyboard.press("Enter")
    press(page, "1")
    all_saved(page)
    assert newest(demo, "grade, note") == [(1, "2 of 3, and x")]


def puts_aside(page: Page, demo: DemoSite, key: str, name: str) -> None:
    number = label(page)
    press(page, key)
    expect(page.locator(SAID)).to_contain_text("Put aside for later")
    assert label(page) == number


def asks_for_a_reason(page: Page, demo: DemoSite, key: str, name: str) -> None:
    page.keyboard.press(key)
    expect(page.get_by_role("dialog", name="Why can this document not be judged?")).to_be_visible()
    press(page, "2")
    expect(page.get_by_role("dialog")).to_have_count(0)
    all_saved(page)
    assert newest(demo, "kind, reason") == [("cant_judge", "Unclear query")]


def takes_back(page: Page, demo: DemoSite, key: str, name: str) -> None:
    first = document(page)
    press(page, "1")
    second = document(page)
    press(page, "2")
    press(page, key)
    expect(page.locator(SAID)).to_contain_text("Undone. Judge this document again")
    assert document(page) == second
    press(page, key)
    assert document(page) == first
    all_saved(page)
    assert newest(demo, "kind", 2) == [("retract",), ("retract",)]


def opens_the_guideline(page: Page, demo: DemoSite, key: str, name: str) -> None:
    panel = page.get_by_role("region", name="Guideline")
    page.set_viewport_size({"width": 1000, "height": 800})
    at_work(page)
    page.keyboard.press(key)
    expect(panel).to_be_visible()
    expect(panel).to_contain_text("Not relevant")
    page.keyboard.press(key)
    expect(panel).to_be_hidden()


def shows_the_keys(page: Page, demo: DemoSite, key: str, name: str) -> None:
    keys = page.get_by_role("dialog", name="Keys")
    before = shown(page)
    page.keyboard.press(key)
    expect(keys).to_be_visible()
    page.keyboard.press("1")
    settle(page)
    assert shown(page) == before
    page.keyboard.press(key)
    expect(keys).to_be_hidden()


Effect = Callable[[Page, DemoSite, str, str], None]
EFFECTS: dict[str, Effect] = {
    **{grade_action(value).name: gives_its_grade for value in SCALE},
    "full": shows_the_full_text,
    "find": finds,
    "evidence": marks_evidence,
    "note": takes_a_note,
    "later": puts_aside,
    "cant-judge": asks_for_a_reason,
    "undo": takes_back,
    "guideline": opens_the_guideline,
    "keys": shows_the_keys,
}


@pytest.mark.parametrize(("name", "key"), PRESSES)
def test_key(page: Page, demo: DemoSite, name: str, key: str):
    EFFECTS[name](page, demo, key, name)


def test_the_panel_lists_exactly_the_keys_that_are_tested(page: Page):
    page.keyboard.press("?")

    rows = page.get_by_role("dialog", name="Keys").locator("[data-action]")
    listed = {
        row.get_attribute("data-action"): row.locator("kbd").all_inner_texts() for row in rows.all()
    }

    assert listed.pop("low") == ["Shift"]
    assert listed.pop("close") == ["Esc"]
    assert listed == {action.name: [caption(key) for key in action.usual] for action in TABLE}
    assert set(EFFECTS) == set(listed)


def test_shift_says_that_one_is_not_sure(page: Page, demo: DemoSite):
    press(page, "Shift+Digit2")

    expect(page.locator(SAID)).to_contain_text("Grade 2 (not sure) saved")
    assert newest(demo, "grade, confidence") == [(2, "low")]


def test_escape_closes_what_is_open_and_nothing_is_saved(page: Page):
    page.set_viewport_size({"width": 1000, "height": 800})
    at_work(page)
    before, number = shown(page), label(page)
    for opener, closed in (("x", "#cant-judge"), ("?", "#judge-keys"), ("/", "[data-part=find]")):
        page.keyboard.press(opener)
        expect(page.locator(closed)).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(closed)).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("Escape")
    expect(page.get_by_role("region", name="Guideline")).to_be_hidden()

    assert (shown(page), label(page)) == (before, number)


def test_words_are_found_behind_a_letter_that_is_two_in_small(page: Page):
    page.keyboard.press("/")
    set_text(page, "İİİ, the End")

    page.keyboard.type("end")

    expect(page.locator("[data-part=find-count]")).to_have_text("1 of 1")
    assert page.evaluate("String([...CSS.highlights.get('found')][0])") == "End"


def test_evidence_is_counted_in_characters(page: Page, demo: DemoSite):
    set_text(page, "\N{GRINNING FACE}\N{GRINNING FACE} words")
    page.evaluate(
        """() => { const [node] = document.querySelector("[data-part=text]").childNodes;
          getSelection().setBaseAndExtent(node, 5, node, 10); }"""
    )

    page.keyboard.press("e")

    assert page.evaluate("String([...CSS.highlights.get('evidence')][0])") == "words"
    press(page, "1")
    all_saved(page)
    ((evidence,),) = newest(demo, "evidence")
    assert json.loads(evidence) == [{"start": 3, "end": 8, "text": "words"}]


def test_what_stands_twice_is_marked_in_the_full_text(page: Page, demo: DemoSite):
    go_to_a_long_document(page, demo)
    set_text(page, "a while longer")
    select_words(page)

    page.keyboard.press("e")

    expect(page.locator(".toast")).to_have_text("Mark it again in the full text.")
    expect(page.locator("[data-part=evidence] q")).to_have_count(0)


@pytest.mark.parametrize("digit", ["0", "3"])
def test_the_number_pad_grades_too(page: Page, digit: str):
    press_on_number_pad(page, digit)

    expect(page.locator(SAID)).to_contain_text(f"Grade {digit} saved")


def press_on_number_pad(page: Page, digit: str) -> None:
    """With Num Lock on, which Playwright's keyboard has not."""
    keyboard = page.context.new_cdp_session(page)
    key = {"key": digit, "code": f"Numpad{digit}", "location": 3}
    code = {"windowsVirtualKeyCode": 96 + int(digit)}
    for kind in ("keyDown", "keyUp"):
        keyboard.send("Input.dispatchKeyEvent", {"type": kind, **key, **code})


# Numpad1 without Num Lock is the End key.
@pytest.mark.parametrize("key", ["4", "9", "Numpad1", "q", "Enter", "Control+1", "Alt+2"])
def test_other_keys_give_no_grade(page: Page, key: str):
    before = shown(page)

    page.keyboard.press(key)
    settle(page)

    assert shown(page) == before


@pytest.mark.parametrize(
    "event",
    ['{code: "KeyZ", key: "ž", isComposing: true}', '{code: "Digit1", key: "1", repeat: true}'],
    ids=["while composing", "a held key"],
)
def test_keys_are_quiet(page: Page, event: str):
    press(page, "1")
    before = shown(page)

    page.evaluate(
        f"""() => document.body.dispatchEvent(new KeyboardEvent("keydown",
            {{...{event}, bubbles: true, cancelable: true}}))"""
    )
    settle(page)

    assert shown(page) == before


def test_a_key_counts_by_its_place_whatever_is_written_on_it(page: Page):
    first = shown(page)
    press(page, "1")

    page.evaluate(
        """() => document.body.dispatchEvent(new KeyboardEvent("keydown",
            {code: "KeyZ", key: "я", bubbles: true, cancelable: true}))"""
    )

    expect(page.locator("#grade-form [name=token]")).to_have_value(first)


def test_keys_are_quiet_while_a_reason_is_written(page: Page, demo: DemoSite):
    page.keyboard.press("x")
    field = page.get_by_label("Another reason")
    field.click()
    field.press_sequentially("2 of 3 pages, z and x")
    settle(page)
    expect(field).to_have_value("2 of 3 pages, z and x")

    press(page, "Enter")

    all_saved(page)
    assert newest(demo, "reason") == [("2 of 3 pages, z and x",)]


def test_a_note_that_begins_with_a_question_mark_asks_the_owner(page: Page, demo: DemoSite):
    number = label(page)
    page.keyboard.press("n")
    page.keyboard.type("? Does a part count")

    press(page, "Enter")

    expect(page.locator(SAID)).to_contain_text("Question to the owner saved")
    assert label(page) == number
    rows = demo.site.rows("SELECT text FROM annotation_question ORDER BY id DESC LIMIT 1")
    assert rows == [("Does a part count",)]


# --- my own keys -------------------------------------------------------------------------------


def test_a_key_of_ones_own_and_none_at_all(person: Person, demo: DemoSite):
    begin(demo)
    page = person("bo")
    page.goto("/judge/keys/?pool=1")
    page.get_by_label("Key for “Undo", exact=False).first.focus()
    page.keyboard.press("u")
    page.get_by_role("button", name="Save").click()
    at_work(page)
    first = shown(page)
    press(page, "1")
    press(page, "u")
    assert shown(page) == first

    page.goto("/judge/keys/?pool=1")
    page.get_by_label("Use keys on the labeling page").uncheck()
    page.get_by_role("button", name="Save").click()
    at_work(page)
    before = shown(page)
    page.keyboard.press("1")
    settle(page)

    assert shown(page) == before
    demo.site.rows("DELETE FROM annotation_keymap")


# --- what a person sees and hears --------------------------------------------------------------


def test_focus_goes_to_the_next_document_and_its_place_is_said(page: Page):
    press(page, "1")

    assert page.evaluate("document.activeElement.id") == "document"
    words = page.locator(SAID)
    expect(words).to_have_attribute("aria-live", "polite")
    expect(words).to_have_text(re.compile(r"Grade 1 saved, document \d+ of \d+\."))


def test_the_grades_are_a_radio_group_for_arrows_and_enter(page: Page, demo: DemoSite):
    before = shown(page)
    group = page.get_by_role("radiogroup", name="Grade")
    radios = group.get_by_role("radio")
    assert radios.count() == len(SCALE)
    radios.first.focus()

    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    settle(page)
    assert shown(page) == before
    expect(radios.nth(2)).to_be_checked()
    press(page, "Enter")

    all_saved(page)
    assert newest(demo) == [("grade", 2)]
    expect(page.locator("input[name=grade]:checked")).to_have_count(0)


def test_reloading_in_the_middle_loses_nothing_and_can_still_be_undone(page: Page):
    press(page, "1")
    press(page, "0")
    all_saved(page)
    before, number = document(page), label(page)

    at_work(page)

    assert (document(page), label(page)) == (before, number)
    press(page, "z")
    all_saved(page)
    assert label(page) == number - 1


def test_a_note_that_was_typed_survives_a_reload(page: Page):
    page.keyboard.press("n")
    page.keyboard.type("half a thought")

    at_work(page)

    expect(page.locator("#note")).to_have_value("half a thought")


def test_after_fifty_minutes_a_rest_is_suggested_once(page: Page):
    page.evaluate(
        """() => { const { user } = JSON.parse(document.getElementById("judge-data").textContent);
          const rest = {since: Date.now() - 51 * 60000, last: Date.now() - 60000};
          localStorage.setItem(`benchwright-rest-${user}`, JSON.stringify(rest)); }"""
    )
    at_work(page)
    expect(page.get_by_text("You have judged for 50 minutes")).to_be_hidden()

    press(page, "1")

    expect(page.get_by_text("You have judged for 50 minutes")).to_be_visible()
    page.get_by_role("button", name="I had a rest").click()
    press(page, "1")
    expect(page.get_by_text("You have judged for 50 minutes")).to_be_hidden()


# --- the guideline, long queries, haste --------------------------------------------------------


@pytest.mark.parametrize("width", [360, 700, 961, 1100, 1279, 1280, 1440, 2200])
def test_the_guideline_never_covers_the_grades(page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 800})
    at_work(page)
    panel = page.get_by_role("region", name="Guideline")
    if width < 1280:
        page.keyboard.press("g")
    expect(panel).to_be_visible()

    for button in page.locator("label.grade-button").all():
        assert button.evaluate(
            """button => {
              const { x, y, width, height } = button.getBoundingClientRect();
              return [0.1, 0.5, 0.9].every((share) =>
                button.contains(document.elementFromPoint(x + share * width, y + height / 2)));
            }"""
        )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_guideline_that_was_hidden_stays_so_beside_the_document(page: Page):
    page.set_viewport_size({"width": 1440, "height": 900})
    panel = page.get_by_role("region", name="Guideline")
    expect(panel).to_be_visible()

    page.keyboard.press("g")
    expect(panel).to_be_hidden()
    at_work(page)
    expect(panel).to_be_hidden()
    page.keyboard.press("g")

    expect(panel).to_be_visible()


@pytest.mark.parametrize(("direction", "edge"), [("ltr", "left"), ("rtl", "right")])
def test_title_facts_and_text_share_an_edge(page: Page, direction: str, edge: str):
    page.set_viewport_size({"width": 1440, "height": 900})
    edges = page.evaluate(
        """([direction, edge]) => {
          document.querySelector("[data-part=body]").dir = direction;
          document.getElementById("document-title").classList.remove("sr-only");
          return ["#document-title", "[data-part=text]"].map((part) =>
            document.querySelector(part).getBoundingClientRect()[edge]);
        }""",
        [direction, edge],
    )

    assert edges[0] == edges[1]


def test_a_long_query_is_cut_and_opened_by_key(page: Page):
    page.evaluate(
        "document.getElementById('query-text').textContent = 'a long question '.repeat(60)"
    )
    button = page.get_by_role("button", name="Show all")
    expect(button).to_be_visible()
    query = page.locator("#query-text")
    cut = query.bounding_box()["height"]

    button.focus()
    page.keyboard.press("Enter")

    assert query.bounding_box()["height"] > cut
    less = page.get_by_role("button", name="Show less")
    expect(less).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Enter")
    expect(button).to_be_visible()
    press(page, "1")


def test_who_is_too_fast_to_read_is_told_and_judges_on(page: Page, demo: DemoSite):
    notice = page.get_by_text("You are reading very fast")
    expect(notice).to_be_hidden()
    for number in range(WINDOW):
        press(page, str(number % 2))
    expect(notice).to_be_visible()

    press(page, "1")
    page.get_by_role("button", name="I will look closer").click()

    expect(notice).to_be_hidden()
    press(page, "1")
    expect(notice).to_be_hidden()


# --- once is once ------------------------------------------------------------------------------


def test_a_double_click_gives_one_judgment(page: Page):
    number = label(page)

    page.locator("label.grade-button").nth(1).dblclick()
    expect(page.locator(SAID)).to_contain_text("Grade 1 saved")
    settle(page)

    assert label(page) == number + 1


def test_two_keys_at_once_give_one_judgment(page: Page):
    """However long the page is busy between the two."""
    number = label(page)

    page.evaluate(
        """() => {
            const pressed = ["Digit1", "Digit1", "Digit2"].map((code) => new KeyboardEvent(
                "keydown", {code, key: code.slice(-1), bubbles: true, cancelable: true}));
            for (const event of pressed) {
                document.body.dispatchEvent(event);
                for (const until = performance.now() + 40; performance.now() < until;);
            }
        }"""
    )
    expect(page.locator(SAID)).to_contain_text("Grade 1 saved")
    settle(page)

    assert label(page) == number + 1


# --- on a telephone, and without a script ------------------------------------------------------


def grounds(page: Page) -> list[str]:
    """How each grade's button looks."""
    return page.locator("label.grade-button").evaluate_all(
        """buttons => buttons.map((button) => {
          const { backgroundColor, borderColor } = getComputedStyle(button);
          return `${backgroundColor} ${borderColor}`;
        })"""
    )


def test_a_journey_by_thumb_at_360_pixels(person: Person, demo: DemoSite):
    begin(demo)
    page = at_work(person("bo", **at_width()))
    number = label(page)
    for button in page.locator("label.grade-button").all():
        box = button.bounding_box()
        assert box["height"] >= 44
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 360
        assert box["y"] > 740 / 2

    colours = grounds(page)
    page.locator("label.grade-button").nth(2).tap()
    expect(page.locator(SAID)).to_contain_text("Grade 2 saved")
    # The hover that a finger leaves behind is of the document before.
    page.locator("label.grade-button").nth(2).hover()
    assert page.evaluate("matchMedia('(hover: none)').matches")
    assert page.locator("label.grade-button").nth(2).evaluate("button => button.matches(':hover')")
    assert grounds(page) == colours
    page.get_by_role("button", name="Undo").tap()
    expect(page.locator(SAID)).to_contain_text("Undone")
    page.get_by_label("Not sure").tap()
    page.locator("label.grade-button").first.tap()
    all_saved(page)

    assert label(page) == number + 1
    assert newest(demo, "grade, confidence") == [(0, "low")]


# How far the middle of a word is from that of its pill.
OFF_MIDDLE = """() => {
  const term = document.createElement("span");
  term.className = "term";
  term.textContent = "word";
  document.querySelector(".judge-query").append(term);
  const range = document.createRange();
  range.selectNodeContents(term);
  const [word, pill] = [range, term].map((part) => part.getBoundingClientRect());
  return Math.abs(word.top + word.bottom - pill.top - pill.bottom) / 2;
}"""


def test_words_of_the_query_stand_in_the_middle_of_pills_for_a_thumb(
    person: Person, demo: DemoSite
):
    begin(demo)
    page = at_work(person("bo", **at_width()))

    assert page.evaluate(OFF_MIDDLE) < 2


@pytest.fixture
def plain(person: Person, demo: DemoSite) -> Page:
    """Mia at the labeling page, in a browser without JavaScript."""
    begin(demo)
    page = person("mia", java_script_enabled=False)
    page.goto("/judge/1/")
    return page


def said(page: Page, words: str) -> None:
    expect(page.locator(".messages")).to_contain_text(words)


def test_a_journey_without_a_script(plain: Page, demo: DemoSite):
    number = label(plain)

    plain.locator("label.grade-button").nth(3).click()
    plain.get_by_role("button", name="Save this grade and go on").click()
    said(plain, "Grade 3 saved.")
    assert label(plain) == number + 1
    plain.get_by_role("button", name="Undo").click()
    said(plain, "Undone. Judge this document again.")
    assert label(plain) == number

    plain.get_by_role("button", name="Later").click()
    said(plain, "Put aside")
    plain.locator("[data-part=note] summary").click()
    plain.get_by_label("A note for this document").fill("seen in print")
    plain.get_by_label("Not sure").check()
    plain.locator("label.grade-button").first.click()
    plain.get_by_role("button", name="Save this grade and go on").click()
    said(plain, "Grade 0 saved.")
    row = newest(demo, "grade, note, confidence")
    assert row == [(0, "seen in print", "low")]

    plain.get_by_role("link", name="Can't judge").click()
    plain.get_by_role("group", name="Why can this").get_by_role("button").first.click()
    said(plain, "“Can't judge” saved.")
    plain.get_by_role("button", name="Stop for today").click()
    said(plain, "went back to the queue")


def test_without_a_script_the_same_form_twice_gives_one_judgment(plain: Page):
    number = label(plain)
    form = plain.locator("#grade-form")
    fields = {
        field.get_attribute("name"): field.input_value() or ""
        for field in form.locator("input[type=hidden]").all()
    }

    for _ in range(2):
        answer = plain.request.post(
            form.get_attribute("action"),
            form={**fields, "grade": "0"},
            headers={"Referer": plain.url},
        )
        assert answer.ok

    plain.goto("/judge/1/")
    assert label(plain) == number + 1

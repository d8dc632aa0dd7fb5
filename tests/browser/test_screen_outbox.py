"""What is judged is kept and stored once: without a connection, a server or a session."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.browsing import sign_in
from tests.browser.conftest import DemoSite, Person
from tests.browser.labeling import (
    SAVED,
    all_saved,
    at_work,
    begin,
    label,
    n_events,
    press,
    shown,
)
from tests.system.site import Site

PASSWORD = "a password of the test"
SITE = f"""
from tests import factories
from tests.annotation.making import begun, pool
of = factories.benchmark(slug="made")
for name in ("ada", "bo"):
    person = factories.member(of, name, "annotator")
    person.set_password({PASSWORD!r})
    person.save()
begun(pool(of, {{"q1": [f"d{{n}}" for n in range(40)]}}))
"""


@pytest.fixture(scope="module")
def killable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site that a test may kill: one query with forty documents, for Ada and Bo."""
    with Site(tmp_path_factory.mktemp("killable")) as site:
        site.snippet(SITE)
        site.start("web")
        yield site


@pytest.fixture
def context(chromium: Browser, killable: Site) -> Iterator[BrowserContext]:
    made = chromium.new_context(base_url=killable.url, reduced_motion="reduce")
    made.set_default_timeout(20_000)
    yield made
    made.close()


def signed_in(context: BrowserContext, site: Site, who: str) -> Page:
    page = context.new_page()
    page.on("dialog", lambda asked: asked.accept())
    sign_in(page, site.url, who, PASSWORD)
    return page


def stored(site: Site, who: str) -> list[int]:
    rows = site.rows(
        "SELECT grade FROM annotation_judgment JOIN benchmarks_app_user u ON u.id = actor_id"
        " WHERE u.username = ? ORDER BY annotation_judgment.id",
        who,
    )
    return [grade for (grade,) in rows]


def judge_many(page: Page, keys: str) -> None:
    for key in keys:
        press(page, key)


def unsaved(page: Page, n: int) -> None:
    expect(page.locator(SAVED)).to_have_text(f"{n} not saved yet")


def test_ten_judged_without_a_connection_outlast_a_killed_server(
    context: BrowserContext, killable: Site
):
    page = at_work(signed_in(context, killable, "ada"))
    judge_many(page, "12")
    all_saved(page)

    context.set_offline(True)
    judge_many(page, "0123012301")
    unsaved(page, 10)
    killable.kill("web")
    context.set_offline(False)
    page.wait_for_timeout(300)
    unsaved(page, 10)
    killable.start("web")
    all_saved(page)

    assert stored(killable, "ada") == [1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1]
    at_work(page)
    assert label(page) == 13


def test_what_was_not_sent_before_the_page_was_closed_is_sent_by_the_next(
    context: BrowserContext, killable: Site
):
    page = at_work(signed_in(context, killable, "ada"))
    before = stored(killable, "ada")
    killable.kill("web")
    judge_many(page, "32")
    unsaved(page, 2)
    current = page.locator("article.document").inner_text()
    page.close(run_before_unload=False)
    killable.start("web")

    page = context.new_page()
    at_work(page)
    all_saved(page)

    assert stored(killable, "ada") == [*before, 3, 2]
    assert page.locator("article.document").inner_text() == current


def test_nothing_is_sent_under_another_persons_name(context: BrowserContext, killable: Site):
    """Ada signs out with labels in her outbox, and Bo signs in; then Ada comes back."""
    page = at_work(signed_in(context, killable, "ada"))
    before = stored(killable, "ada")
    block_exchange(page, is_blocked=True)
    judge_many(page, "3210")
    unsaved(page, 4)
    sign_out(page, killable)
    block_exchange(page, is_blocked=False)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or ""))

    sign_in(page, killable.url, "bo", PASSWORD)
    at_work(page)
    judge_many(page, "11")
    all_saved(page)

    assert stored(killable, "ada") == before
    assert stored(killable, "bo")[-2:] == [1, 1]
    assert not any('"grade":3' in body for body in sent)
    sign_out(page, killable)
    sign_in(page, killable.url, "ada", PASSWORD)
    at_work(page)
    all_saved(page)
    assert stored(killable, "ada") == [*before, 3, 2, 1, 0]


def block_exchange(page: Page, *, is_blocked: bool) -> None:
    if is_blocked:
        page.route(re.compile("/exchange/"), lambda route: route.abort())
    else:
        page.unroute(re.compile("/exchange/"))


def sign_out(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/")
    page.locator("details.menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in/**")


def test_a_page_left_open_waits_for_its_own_person(context: BrowserContext, killable: Site):
    """While Bo is signed in from another tab, Ada's page keeps what she said to itself."""
    page = at_work(signed_in(context, killable, "ada"))
    before, of_bo = stored(killable, "ada"), stored(killable, "bo")
    other = context.new_page()
    sign_out(other, killable)
    sign_in(other, killable.url, "bo", PASSWORD)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))

    judge_many(page, "30")
    expect(page.get_by_text("Somebody else is signed in on this browser")).to_be_visible()
    unsaved(page, 2)
    assert not any("/exchange/" in url for url in sent)
    sign_out(other, killable)
    expect(page.get_by_text("You are signed out. Sign in again.")).to_be_visible()
    sign_in(other, killable.url, "ada", PASSWORD)

    all_saved(page)
    assert stored(killable, "ada") == [*before, 3, 0]
    assert stored(killable, "bo") == of_bo


def test_two_tabs_of_one_person_store_each_label_once(context: BrowserContext, killable: Site):
    first = at_work(signed_in(context, killable, "bo"))
    before = len(stored(killable, "bo"))
    second = at_work(context.new_page())
    context.set_offline(True)
    judge_many(first, "12")
    unsaved(first, 2)
    expect(second.locator(SAVED)).to_have_text("2 not saved yet")

    context.set_offline(False)
    all_saved(first)
    all_saved(second)

    assert len(stored(killable, "bo")) == before + 2


# --- on the demo -------------------------------------------------------------------------------

LEFT_OF_A_POOL_THAT_IS_GONE = """
() => new Promise((done) => {
  const { user } = JSON.parse(document.getElementById("judge-data").textContent);
  const event = { client_id: crypto.randomUUID(), do: "later", token: "of another pool" };
  indexedDB.open("benchwright-outbox", 1).onsuccess = ({ target: { result: base } }) => {
    const writing = base.transaction("entries", "readwrite");
    writing.objectStore("entries").add({ user, url: "/judge/99/exchange/", key: "gone", event });
    writing.oncomplete = () => done(base.close());
  };
})
"""
EMPTIED = "() => indexedDB.deleteDatabase('benchwright-outbox')"
CLOSED = (
    "() => { IDBIndex.prototype.getAll = () => { throw new Error('the connection is closing'); }; }"
)
BROKEN = "() => { IDBIndex.prototype.getAll = () => { const request = {};"
BROKEN += " setTimeout(() => request.onerror()); return request; }; }"


def test_what_one_pool_refuses_holds_up_no_other_and_nobody(person: Person, demo: DemoSite):
    begin(demo)
    page = at_work(person("ada"))
    page.evaluate(LEFT_OF_A_POOL_THAT_IS_GONE)
    page.reload()
    expect(page.locator("[data-part=rate]")).to_contain_text("no such pool")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    before = n_events(demo)

    page.keyboard.press("1")
    unsaved(page, 1)
    assert n_events(demo) == before + 1

    page.get_by_role("button", name="Stop").click()

    expect(page.locator("[data-part=rate]")).to_have_count(0)
    assert asked == []
    page.evaluate(EMPTIED)


@pytest.mark.parametrize("failure", [CLOSED, BROKEN], ids=["closed", "broken"])
def test_a_label_is_sent_where_the_device_cannot_be_read_any_more(
    person: Person, demo: DemoSite, failure: str
):
    begin(demo)
    page = at_work(person("ada"))
    before = n_events(demo)
    page.evaluate(failure)

    press(page, "2")

    all_saved(page)
    assert n_events(demo) == before + 1


def test_leaving_with_something_unsaved_is_warned_of(person: Person, demo: DemoSite):
    begin(demo)
    page = at_work(person("ada"))
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.context.set_offline(True)
    page.keyboard.press("1")
    unsaved(page, 1)

    page.close(run_before_unload=True)
    page.wait_for_timeout(300)
    page.context.set_offline(False)
    all_saved(page)

    assert asked == ["beforeunload"]


def test_a_label_that_came_too_late_is_said_to_be_an_extra_one(person: Person, demo: DemoSite):
    begin(demo)
    page = at_work(person("ada"))
    demo.site.rows("UPDATE annotation_pool SET state = 'closed' WHERE id = 1")
    try:
        page.keyboard.press("2")
        expect(page.get_by_text("Grade 2 is an extra label")).to_be_visible()
        all_saved(page)
    finally:
        demo.site.rows("UPDATE annotation_pool SET state = 'open' WHERE id = 1")


def test_a_paused_pool_says_so_and_goes_on_when_it_is_open_again(person: Person, demo: DemoSite):
    begin(demo)
    page = at_work(person("ada"))
    demo.site.rows("UPDATE annotation_pool SET state = 'paused' WHERE id = 1")
    try:
        page.reload()
        expect(page.get_by_role("heading", name="Paused")).to_be_visible()
        expect(page.get_by_role("link", name="My other work")).to_be_visible()
    finally:
        demo.site.rows("UPDATE annotation_pool SET state = 'open' WHERE id = 1")
    at_work(page)
    assert shown(page)

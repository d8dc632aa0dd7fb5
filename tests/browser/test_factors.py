"""Second factors in a browser: an app, a security key of the browser's own, recovery codes."""

import time
from collections.abc import Iterator

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Browser, Page, expect

from tests.browser.browsing import sign_in
from tests.browser.conftest import DemoSite, opened
from tests.browser.test_pages import NARROW, WIDE, faults_of

KEY = {
    "protocol": "ctap2",
    "transport": "usb",
    "hasResidentKey": False,
    "hasUserVerification": False,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def page(chromium: Browser, demo: DemoSite) -> Iterator[Page]:
    """A page in a browser that has a security key."""
    page = opened(chromium, demo, None, accept_downloads=True)
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})
    yield page
    complaints = page.watch.complaints()
    page.context.close()
    assert complaints == []


def code_of(secret: str) -> str:
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30))


def faults(page: Page) -> list[str]:
    """What axe and the width say of the page, wide and narrow, light and dark."""
    results = []
    for options in (WIDE, NARROW):
        page.set_viewport_size(options["viewport"])
        results += [
            f"{page.url} {fault}" for mode in ("light", "dark") for fault in faults_of(page, mode)
        ]
    page.set_viewport_size(WIDE["viewport"])
    return results


def give_password(page: Page, url: str, password: str) -> None:
    page.goto(f"{url}/sign-in/")
    page.get_by_label("Username").fill("safe")
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").click()


def sign_out(page: Page, url: str) -> None:
    page.goto(f"{url}/account/")
    page.get_by_label("Your account").click()
    page.get_by_role("button", name="Sign out").click()


def test_app_key_and_recovery_code_from_set_up_to_taking_away(page: Page, demo: DemoSite):
    demo.create_user("safe")
    # Security keys are for names, not for numbers.
    url = demo.url.replace("127.0.0.1", "localhost")
    heading = page.get_by_role("heading", level=1)
    sign_in(page, url, "safe", demo.password)

    page.goto(f"{url}/account/")
    page.get_by_role("link", name="Set up a second factor").click()
    page.get_by_role("link", name="Set up an authenticator app").click()
    result = faults(page)
    page.get_by_label("Code of the app").fill(
        code_of(page.locator("#totp-key").inner_text().replace(" ", ""))
    )
    page.get_by_label("Your password").fill(demo.password)
    page.get_by_role("button", name="Set up").click()
    expect(heading).to_have_text("Keep your recovery codes")
    codes = page.locator("#recovery-codes").inner_text().split()
    assert len(codes) == 10
    with page.expect_download() as started:
        page.get_by_role("link", name="Download").click()
    assert started.value.path().read_text().split() == codes
    result += faults(page)
    page.get_by_role("link", name="I have kept them").click()

    page.get_by_role("link", name="Add a security key").click()
    page.get_by_label("Name of the key").fill("blue")
    page.get_by_label("Your password").fill(demo.password)
    result += faults(page)
    page.get_by_role("button", name="Add the key").click()
    expect(heading).to_have_text("Second factors")
    expect(page.locator("main")).to_contain_text("blue")
    result += faults(page)

    sign_out(page, url)
    give_password(page, url, demo.password)
    expect(heading).to_have_text("Second factor")
    result += faults(page)
    page.get_by_label("Code").fill("000000")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("main")).to_contain_text("This code is wrong")
    result += faults(page)
    page.get_by_role("button", name="Use your security key").click()
    expect(heading).to_have_text("Benchmarks")

    sign_out(page, url)
    give_password(page, url, demo.password)
    page.get_by_label("Code").fill(codes[0])
    page.keyboard.press("Enter")
    expect(heading).to_have_text("Benchmarks")

    page.goto(f"{url}/account/factors/")
    expect(page.locator("main")).to_contain_text("9 left")
    page.get_by_role("link", name="Make new ones").click()
    result += faults(page)
    page.goto(f"{url}/account/factors/")
    page.get_by_role("link", name="Take away blue").click()
    result += faults(page)
    page.get_by_label("Your password").fill(demo.password)
    page.get_by_role("button", name="Take away").click()
    expect(page.locator("main")).to_contain_text("was taken away")
    assert result == []


def test_page_by_a_number_says_that_keys_need_a_name(page: Page, demo: DemoSite):
    sign_in(page, demo.url, "olga", demo.password)

    page.goto(f"{demo.url}/account/factors/key/")

    expect(page.locator("main")).to_contain_text("does not allow security keys")
    expect(page.get_by_role("button", name="Add the key")).to_be_hidden()

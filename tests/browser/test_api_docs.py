"""The API's page, and a token from making it to using it."""

import re
from typing import Any

from playwright.sync_api import APIRequestContext, Page, expect

from tests.browser.conftest import Person


def test_page_of_the_api_works_without_another_site(person: Person):
    page = person("olga")

    page.goto("/api/docs/")

    expect(page.get_by_text("Every judgment, streamed, people by pseudonym")).to_be_visible(
        timeout=60_000  # the description is made for the first who asks
    )
    assert [message for message in page.watch.messages if "error" in message.lower()] == []


def test_token_is_made_copied_and_used_by_a_script(person: Person):
    page = person("olga")
    page.goto("/account/")
    page.get_by_label("Name", exact=True).fill("nightly export")
    page.get_by_role("button", name="Make a token").click()
    secret = page.locator("#api-token").inner_text().strip()

    asked = said_to(page.context.request, secret)
    page.get_by_role("link", name="Back to the account").click()

    assert re.fullmatch(r"bw_[0-9A-Za-z]{49}", secret)
    assert [row["slug"] for row in asked["results"]].count("stdlib") == 1
    expect(page.get_by_text("nightly export").first).to_be_visible()
    expect(page.locator("main")).not_to_contain_text(secret)
    revoke(page)
    expect(page.get_by_text("no longer works")).to_be_visible()


def said_to(request: APIRequestContext, secret: str) -> Any:
    answer = request.get("/api/v1/benchmarks/", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status == 200
    return answer.json()


def revoke(page: Page) -> None:
    page.get_by_role("button", name="Revoke nightly export").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()

"""Through a provider in a real browser: pages lead there and back, and nowhere else."""

import logging
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import oidc_provider
from tests.browser.conftest import DemoSite, opened
from tests.browser.test_factors import faults
from tests.system.site import Site


@pytest.fixture(scope="module")
def provider() -> Iterator[oidc_provider.Running]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with oidc_provider.running() as state:
        yield state


@pytest.fixture
def page(
    chromium: Browser, provider: oidc_provider.Running, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Page]:
    """A page on a site without passwords, of the web server's own process."""
    with Site(tmp_path_factory.mktemp("provided")) as site:
        site.env |= {
            "OIDC_ISSUER": provider.url,
            "OIDC_CLIENT_ID": oidc_provider.CLIENT,
            "OIDC_CLIENT_SECRET": oidc_provider.SECRET,
            "OIDC_LABEL": "Example SSO",
            "OIDC_GROUPS": "admins=staff",
            "SIGN_IN_BY_PASSWORD": "off",
        }
        site.start("web")
        page = opened(chromium, DemoSite(site, ""), None)
        yield page
        complaints = page.watch.complaints()
        page.context.close()
    assert complaints == []


def test_way_through_the_provider_and_back_and_out_again(
    page: Page, provider: oidc_provider.Running
):
    provider.person.claims["groups"] = ["admins"]
    page.goto("/teams/")
    assert faults(page) == []
    expect(page.get_by_label("Password")).to_have_count(0)

    # A form of the page may lead to the issuer, and nowhere else: the browser stops it.
    page.evaluate("document.querySelector('form.form').action = 'http://127.0.0.1:9/'")
    page.get_by_role("button", name="Sign in with Example SSO").click(no_wait_after=True)
    page.wait_for_timeout(300)
    assert [complaint for complaint in page.watch.complaints() if "form-action" in complaint] != []
    page.watch.forget()

    page.goto("/teams/")
    page.get_by_role("button", name="Sign in with Example SSO").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("My teams")
    page.goto("/account/")
    expect(page.get_by_role("link", name="Change password")).to_have_count(0)
    page.goto("/system/")
    expect(page.get_by_role("heading", level=1)).to_have_text("System")

    page.get_by_label("Your account").click()
    page.get_by_role("button", name="Sign out").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert page.url.partition("?")[0].endswith("/sign-in/")
    assert len(provider.sign_outs) == 1

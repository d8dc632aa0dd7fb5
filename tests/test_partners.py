"""What a page does an operation of the API does, and the other way round.

`partners.txt` has every page by the name of its address, beside the operations that give or do the
same; a page without one says why, after a hyphen.
"""

from pathlib import Path

from django.urls import get_resolver

from tests.test_addresses import routes

TABLE = Path(__file__).with_name("partners.txt")
REASONS = {
    "a script of pages",
    "a token ends no tokens",
    "a token makes no tokens",
    "asked by what watches the site",
    "bytes that pages show; exports carry them",
    "chapters to read",
    "its answers are shown beside the document",
    "keys of the judging page",
    "of the API itself",
    "of the operator, who has commands",
    "only pages keep a log whose columns are still asked for",
    "opens a link out of a mail",
    "passwords and second factors stay in the browser",
    "who has an account is told on the page alone",
}
METHODS = ("get", "post", "put", "patch", "delete")


def partners() -> dict[str, str]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return dict(line.split(maxsplit=1) for line in lines)


def operations() -> set[str]:
    """Every operation, as `name METHOD`."""
    return {
        f"{name.removeprefix('api:')} {method.upper()}"
        for name, view in routes(get_resolver())
        if name.startswith("api:")
        for method in METHODS
        if hasattr(view.view_class, method) and method in view.view_class.http_method_names
    }


def named() -> list[str]:
    of_pages = [told for told in partners().values() if not told.startswith("- ")]
    return [operation for of_page in of_pages for operation in of_page.split(", ")]


def test_every_page_has_a_row():
    pages = {name for name, _ in routes(get_resolver()) if not name.startswith("api:")}

    assert len(pages) > 300
    assert set(partners()) == pages


def test_every_operation_is_what_a_page_does():
    assert len(operations()) > 250
    assert set(named()) == operations()


def test_page_without_an_operation_says_why():
    without = {told.removeprefix("- ") for told in partners().values() if told.startswith("- ")}

    assert without == REASONS

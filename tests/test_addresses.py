"""Addresses of pages and of the API stay: people have them in bookmarks, mails and scripts.

`addresses.txt` has those of a release and what came since; one that moves keeps its line, and a
redirect in its place.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

KEPT = Path(__file__).with_name("addresses.txt")


def addresses(resolver: URLResolver, above: str = "") -> Iterator[str]:
    for entry in resolver.url_patterns:
        route = above + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield route
        elif not route.startswith("admin/"):
            yield from addresses(entry, route)


def routes(resolver: URLResolver, namespace: str = "") -> Iterator[tuple[str, Any]]:
    """The full name of each address of ours, and its view."""
    for entry in resolver.url_patterns:
        if isinstance(entry, URLPattern):
            yield f"{namespace}{entry.name}", entry.callback
        elif entry.namespace != "admin":
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from routes(entry, inner)


def test_no_address_of_before_is_lost():
    kept = KEPT.read_text(encoding="utf-8").split()

    assert len(kept) > 400
    assert set(kept) - set(addresses(get_resolver())) == set()

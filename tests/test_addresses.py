"""Addresses of pages and of the API stay: people have them in bookmarks, mails and scripts.

`addresses.txt` has those of a release and what came since; one that moves keeps its line, and a
redirect in its place. None is written by hand: where a site is below a path of its host, `reverse`
and `{% url %}` put that before it.
"""

import re
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


ROOT = Path(__file__).resolve().parent.parent
# But for /api/, with which is compared what is asked for.
FIRST = {"static", *(a.partition("/")[0] for a in addresses(get_resolver()))} - {"", "api"}
BY_HAND = re.compile(rf"""["'`]/(?:{"|".join(map(re.escape, FIRST))})(?:/|["'`])""")
OF_TEMPLATES = re.compile(r"""(?:href|src|action|hx-[a-z]+|data-[a-z-]+)=["']/(?!/)""")


def sources(*endings: str) -> Iterator[Path]:
    for app in ("benchmarks_app", "annotation", "scoring"):
        yield from (path for path in (ROOT / app).rglob("*") if path.suffix in endings)


def test_no_address_is_written_by_hand():
    by_hand = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for pattern, paths in (
            (BY_HAND, sources(".py", ".js")),
            (OF_TEMPLATES, (path for path in (ROOT / "templates").rglob("*.*"))),
        )
        for path in paths
        if (match := pattern.search(path.read_text(encoding="utf-8")))
    ]

    assert len(FIRST) > 15
    assert by_hand == []

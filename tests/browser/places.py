"""Every page of the site: who looks at it, with which arguments, in the demo.

`PAGES` and `NO_PAGES` together name every view of the URL resolver; a test holds them to it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tests.browser.conftest import DemoSite
from tests.browser.furnishing import EMPTY, SLUG

FURNISH = "from tests.browser.furnishing import furnished; print(furnished())"


@dataclass(frozen=True)
class Place:
    """A page as somebody sees it. Arguments that are names of facts are replaced by them."""

    view: str
    who: str | None = "olga"
    args: tuple[str, ...] = ()
    query: str = ""
    status: int = 200
    part: str = "main"  # there once the page is complete

    def __str__(self) -> str:
        return " ".join(filter(None, [self.view, *self.args[1:], self.query, f"as {self.who}"]))

    def url(self, facts: dict[str, Any]) -> str:
        return reverse(self.view, args=[facts.get(arg, arg) for arg in self.args]) + self.query


def of_demo(view: str, *args: str, **options: Any) -> Place:
    return Place(view, args=(SLUG, *args), **options)


PAGES = [
    Place("home"),
    Place("home", who=None),
    Place("home", who="loner"),
    Place("benchmark-new"),
    Place("system", who="root"),
    Place("invitation-accept", who=None, args=("secret",)),
    Place("invitation-accept", who="loner", args=("secret",)),
    Place("job-detail", args=("failed",)),
    Place("job-detail", args=("done",)),
    Place("account-detail"),
    Place("sign-in", who=None),
    Place("password-change"),
    Place("password-reset", who=None),
    Place("password-reset-sent", who=None),
    Place("password-reset-confirm", who=None, args=("uid", "token")),
    Place("password-reset-confirm", who=None, args=("uid", "never-made")),
    of_demo("benchmark-detail", part=".board-top tbody"),
    of_demo("benchmark-detail", who="ada", part=".board-top tbody"),
    of_demo("benchmark-detail", who="vi", part=".board-top tbody"),
    Place("benchmark-detail", args=(EMPTY,)),
    of_demo("benchmark-settings"),
    of_demo("activity-list"),
    of_demo("import-new"),
    of_demo("query-list"),
    of_demo("query-list", query="?q=nothing+like+this"),
    Place("query-list", args=(EMPTY,)),
    of_demo("query-detail", "query"),
    of_demo("document-detail", "docid"),
    of_demo("run-list"),
    Place("run-list", args=(EMPTY,)),
    of_demo("run-detail", "run", part="#run-scores"),
    of_demo("qrels-list"),
    Place("qrels-list", args=(EMPTY,)),
    of_demo("release-list"),
    Place("release-list", args=(EMPTY,)),
    of_demo("release-new"),
    Place("release-new", args=(EMPTY,)),
    of_demo("release-detail", "0.1.0"),
    of_demo("people-list"),
    of_demo("job-list"),
    Place("job-list", args=(EMPTY,)),
    of_demo("annotation:pool-list"),
    Place("annotation:pool-list", args=(EMPTY,)),
    of_demo("annotation:pool-new"),
    of_demo("annotation:pool-detail", "pool"),
    of_demo("annotation:qrels-publish"),
    Place("annotation:judge-benchmark", args=(EMPTY,)),
    Place("annotation:queue", who="ada"),
    Place("annotation:queue", who="loner"),
    Place("annotation:judge", who="ada", args=("pool",)),
    Place("annotation:judge", who="ada", args=("pool",), query="?cant-judge=1"),
    of_demo("scoring:submission-new", who="sam"),
    Place("scoring:submission-new", args=(EMPTY,)),
    of_demo("scoring:submission-list", who="sam"),
    of_demo("scoring:submission-list"),
    of_demo("scoring:submission-detail", "submission", who="sam"),
    of_demo("scoring:run-scores", "run"),
    of_demo("scoring:run-queries", "run"),
    Place("scoring:leaderboard", args=(EMPTY,)),
    of_demo("scoring:leaderboard-release", "0.1.0"),
    of_demo("scoring:leaderboard-release", "0.1.0", query="?m=MAP", who="sam"),
    of_demo("scoring:leaderboard-release", "0.1.0", query="?measure=DCG@20"),
    of_demo("scoring:leaderboard-release", "0.1.0", query="?measure=nDGC@20", status=422),
    of_demo("scoring:run-queries", "run", query="?measure=DCG@20"),
    of_demo("run-detail", "999999", status=404),
    of_demo("people-list", who="vi", status=403),
]
NO_PAGES = {
    "healthz": "text for machines",
    "readyz": "JSON for machines",
    "qrels-download": "a file",
    "release-export": "a file",
    "release-file": "a file",
    "scoring:leaderboard-csv": "a file",
    "job-progress": "part of job-detail",
    "annotation:pool-progress": "part of pool-detail",
    "scoring:submission-state": "part of submission-detail",
    "sign-out": "takes posts only",
    "job-retry": "takes posts only",
    "invitation-create": "takes posts only; its page is in test_working",
    "invitation-revoke": "takes posts only",
    "member-role": "takes posts only",
    "member-remove": "takes posts only",
    "annotation:pool-state": "takes posts only",
    "annotation:judgment-create": "takes posts only",
    "annotation:cant-judge-create": "takes posts only",
    "annotation:judgment-undo": "takes posts only",
    "annotation:stop": "takes posts only",
    "scoring:baselines-create": "takes posts only",
    "scoring:runs-score": "takes posts only",
}


def names_of_views(resolver: Any = None, spaces: tuple[str, ...] = ()) -> Iterator[str]:
    """The full name of every view of ours that has an address; the admin's are Django's own."""
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLPattern):
            yield ":".join([*spaces, entry.name or f"unnamed {entry.pattern}"])
        elif isinstance(entry, URLResolver) and entry.namespace != "admin":
            inside = (entry.namespace,) if entry.namespace else ()
            yield from names_of_views(entry, (*spaces, *inside))


def furnish(demo: DemoSite) -> dict[str, Any]:
    """Add to the running demo what pages need that a fresh demo lacks; the facts of `PAGES`."""
    facts: dict[str, Any] = json.loads(demo.site.python(FURNISH).splitlines()[-1])
    return facts

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
    of_demo("import-preview", "waiting"),
    of_demo("import-preview", "waiting_zip"),
    of_demo("query-list"),
    of_demo("query-list", query="?q=nothing+like+this"),
    Place("query-list", args=(EMPTY,)),
    of_demo("query-detail", "query"),
    of_demo("log-list"),
    Place("log-list", args=(EMPTY,)),
    of_demo("log-columns", "waiting_log"),
    of_demo("log-detail", "log", part=".chart"),
    of_demo("sample-new", part=".chart"),
    Place("sample-new", args=(EMPTY,)),
    of_demo("document-detail", "docid"),
    Place("corpus-list"),
    Place("corpus-list", who="loner"),
    of_demo("corpus-detail"),
    of_demo("corpus-detail", who="vi", query="?id=nothing"),
    Place("corpus-detail", args=(EMPTY,)),
    of_demo("corpus-version", "snapshot"),
    of_demo("corpus-version", "1"),
    of_demo("fetch-new"),
    of_demo("document-grades-new"),
    of_demo("family-list"),
    of_demo("family-list", who="vi", query="?state="),
    Place("family-list", args=(EMPTY,)),
    of_demo("family-detail", "family"),
    of_demo("family-review"),
    Place("family-review", args=(EMPTY,)),
    of_demo("family-group"),
    of_demo("slice-list", part=".reliability"),
    of_demo("slice-list", who="vi"),
    Place("slice-list", args=(EMPTY,)),
    of_demo("slice-new"),
    of_demo("slice-new", query="?kind=expression"),
    of_demo("slice-import"),
    of_demo("slice-detail", "slice"),
    of_demo("slice-detail", "guessed_slice", query="?show=suggestions"),
    of_demo("slice-edit", "slice"),
    of_demo("annotation:slice-coverage", who="bo"),
    of_demo("scoring:reliability"),
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
    of_demo("release-card", "0.1.0"),
    of_demo("release-files", "0.1.0"),
    of_demo("release-deprecate", "0.1.0"),
    of_demo("release-draft", "draft"),
    of_demo("release-draft-edit", "draft"),
    of_demo("release-exports", "0.1.0"),
    of_demo("people-list"),
    of_demo("job-list"),
    Place("job-list", args=(EMPTY,)),
    of_demo("annotation:pool-list"),
    Place("annotation:pool-list", args=(EMPTY,)),
    of_demo("annotation:pool-new"),
    of_demo("annotation:pool-top-up"),
    Place("annotation:pool-top-up", args=(EMPTY,)),
    of_demo("annotation:pool-simulate"),
    Place("annotation:pool-simulate", args=(EMPTY,)),
    of_demo("annotation:pool-detail", "pool"),
    of_demo("annotation:pool-people", "pool"),
    of_demo("annotation:qrels-publish"),
    of_demo("annotation:policy-edit"),
    of_demo("annotation:agreement"),
    of_demo("annotation:agreement", who="bo"),
    Place("annotation:agreement", args=(EMPTY,)),
    of_demo("annotation:adjudicate"),
    of_demo("annotation:adjudicate-item", "disputed", "disputed_docid", who="bo"),
    Place("annotation:adjudicate", args=(EMPTY,)),
    of_demo("annotation:judgment-list"),
    Place("annotation:judgment-list", args=(EMPTY,)),
    of_demo("annotation:judgments-import"),
    of_demo("annotation:pair-detail", "judged_query", "judged_docid"),
    of_demo("annotation:stale-list", "pool"),
    Place("annotation:judge-benchmark", args=(EMPTY,)),
    of_demo("annotation:guideline-detail", who="vi"),
    of_demo("annotation:guideline-detail", query="?since=1&version=2"),
    of_demo("annotation:guideline-edit"),
    of_demo("annotation:question-list"),
    of_demo("annotation:question-answer", "question"),
    Place("annotation:question-list", args=(EMPTY,)),
    of_demo("annotation:known-grade-list", "pool"),
    of_demo("annotation:known-grade-settled", "pool"),
    Place("annotation:my-judgment-list", who="mia"),
    Place("annotation:my-judgment-list", who="loner"),
    Place("annotation:my-judgment-detail", who="mia", args=("judgment",)),
    Place("annotation:my-question-list", who="mia"),
    Place("annotation:my-hours", who="mia"),
    Place("annotation:start", who="mia", args=("pool",)),
    Place("annotation:practice", who="mia", args=("pool",)),
    Place("annotation:queue", who="ada"),
    Place("annotation:queue", who="loner"),
    Place("annotation:judge", who="ada", args=("pool",)),
    Place("annotation:judge", who="ada", args=("pool",), query="?cant-judge=1"),
    Place("annotation:judge", who="ada", args=("pool",), query="?full=1"),
    Place("annotation:judge-keys", who="ada"),
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
    "snapshot-take": "takes posts only",
    "snapshot-discard": "takes posts only",
    "api-docs": "Swagger's own page, of which test_api_docs looks at what is ours",
    "api-schema": "YAML for machines",
    "api-token-create": "takes posts only; its page is in test_api_docs",
    "api-token-revoke": "takes posts only",
    **{
        f"api:{name}": "JSON for machines"
        for name in (
            "agreement-detail",
            "benchmark-detail",
            "benchmark-list",
            "candidates-list",
            "corpus-detail",
            "document-grades-list",
            "fetch-list",
            "snapshot-detail",
            "job-detail",
            "judgments-export",
            "judgments-import",
            "log-detail",
            "log-list",
            "log-sample-preview",
            "log-samples",
            "pair-detail",
            "pool-detail",
            "pool-list",
            "pool-people",
            "pool-report",
            "qrels-detail",
            "qrels-download",
            "qrels-list",
            "upload-detail",
            "upload-import",
            "upload-list",
            "family-confirm",
            "family-detail",
            "family-group",
            "family-links",
            "family-list",
            "family-merge",
            "family-split",
            "family-undo",
            "family-verdict",
            "slice-decide",
            "slice-detail",
            "slice-import",
            "slice-list",
            "slice-members",
            "slice-preview",
            "slice-refresh",
            "slice-register",
        )
    },
    "healthz": "text for machines",
    "chart-bundle": "a script",
    "readyz": "JSON for machines",
    "qrels-download": "a file",
    "release-export": "a file",
    "release-export-format": "a file",
    "release-export-start": "takes posts only",
    "release-draft-check": "takes posts only",
    "release-draft-delete": "takes posts only",
    "run-export": "a file",
    "release-file": "a file",
    "scoring:leaderboard-csv": "a file",
    "job-progress": "part of job-detail",
    "log-curve": "a picture",
    "log-discard": "takes posts only",
    "sample-preview": "part of sample-new",
    "annotation:pool-progress": "part of pool-detail",
    "annotation:pool-charts": "part of pool-detail",
    "annotation:pool-chart": "a picture",
    "annotation:pool-simulation-chart": "a picture",
    "annotation:pool-summary": "part of benchmark-detail",
    "annotation:pool-release": "takes posts only",
    "annotation:pool-settings": "takes posts only",
    "annotation:pool-waive": "takes posts only",
    "slice-add": "takes posts only",
    "family-decide": "takes posts only",
    "family-undo": "takes posts only",
    "slice-decide": "takes posts only",
    "slice-delete": "takes posts only",
    "slice-preview": "part of slice-new",
    "slice-refresh": "takes posts only",
    "slice-register": "takes posts only",
    "scoring:slice-reach-chart": "a picture",
    "scoring:submission-state": "part of submission-detail",
    "sign-out": "takes posts only",
    "import-all": "takes posts only",
    "import-remove": "takes posts only",
    "job-retry": "takes posts only",
    "invitation-create": "takes posts only; its page is in test_working",
    "invitation-revoke": "takes posts only",
    "member-role": "takes posts only",
    "member-remove": "takes posts only",
    "annotation:agreement-compute": "takes posts only",
    "annotation:pool-state": "takes posts only",
    "annotation:judge-exchange": "JSON for the labeling page",
    "annotation:judgments-export": "a file",
    "annotation:stale-offer": "takes posts only",
    "annotation:judgment-create": "takes posts only",
    "annotation:cant-judge-create": "takes posts only",
    "annotation:judgment-undo": "takes posts only",
    "annotation:stop": "takes posts only",
    "annotation:judge-later": "takes posts only",
    "annotation:judge-ask": "takes posts only",
    "annotation:judge-session": "JSON for the labeling page",
    "annotation:known-grade-import": "takes posts only",
    "annotation:known-grade-remove": "takes posts only",
    "annotation:known-grade-share": "takes posts only",
    "annotation:my-hours-csv": "a file",
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

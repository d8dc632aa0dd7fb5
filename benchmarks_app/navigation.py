"""The sidebar: which pages there are, for whom. Other apps' pages are named as strings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, may


@dataclass(frozen=True)
class Link:
    label: str
    view: str
    action: Action


HOME = "benchmark-detail"
# Pages whose address lies elsewhere than the link they belong to.
BELONGS_TO = {
    "scoring:reliability": "slice-list",
    "scoring:top-up-new": "run-list",
    "scoring:ann": "run-list",
    "scoring:freshness": "release-list",
    "scoring:reusability": "release-list",
    "scoring:phase-list": "scoring:submission-new",
    "scoring:phase-new": "scoring:submission-new",
    "scoring:phase-detail": "scoring:submission-new",
    "scoring:phase-edit": "scoring:submission-new",
    "scoring:leaderboard-release": "scoring:leaderboard",
    "scoring:leaderboard-slices": "scoring:leaderboard",
    "scoring:leaderboard-history": "scoring:leaderboard",
    "document-detail": "corpus-detail",
    "annotation:policy-edit": "annotation:adjudicate",
    "annotation:pair-detail": "annotation:judgment-list",
}
GROUPS: dict[str, list[Link]] = {
    "": [Link("Overview", HOME, Action.VIEW)],
    "Build": [
        Link("Import", "import-new", Action.EDIT),
        Link("Corpus", "corpus-detail", Action.VIEW),
        Link("Queries", "query-list", Action.VIEW),
        Link("Families", "family-list", Action.VIEW),
        Link("Slices", "slice-list", Action.VIEW),
        Link("Splits", "split-detail", Action.VIEW),
        Link("Guideline", "annotation:guideline-detail", Action.VIEW),
    ],
    "Judge": [
        Link("Pools", "annotation:pool-list", Action.SEE_POOLS),
        Link("Judge documents", "annotation:judge-benchmark", Action.JUDGE),
        Link("Questions", "annotation:question-list", Action.EDIT),
        Link("Agreement", "annotation:agreement", Action.ADJUDICATE),
        Link("Adjudicate", "annotation:adjudicate", Action.ADJUDICATE),
        Link("Judgments", "annotation:judgment-list", Action.EDIT),
    ],
    "Publish": [
        Link("Qrels", "qrels-list", Action.EDIT),
        Link("Releases", "release-list", Action.SEE_RESULTS),
    ],
    "Evaluate": [
        Link("Runs", "run-list", Action.SEE_RESULTS),
        Link("Baselines", "scoring:baseline-list", Action.SEE_RESULTS),
        Link("Submit a run", "scoring:submission-new", Action.SUBMIT),
        Link("Live systems", "scoring:live-list", Action.SEE_RESULTS),
        Link("Leaderboard", "scoring:leaderboard", Action.SEE_RESULTS),
        Link("Compare", "scoring:comparison", Action.SEE_RESULTS),
        Link("Gates", "scoring:gate-list", Action.SEE_RESULTS),
        Link("Contextual precision", "scoring:contextual-list", Action.SEE_RESULTS),
        Link("Contrastive accuracy", "scoring:contrastive-list", Action.SEE_RESULTS),
        Link("Probing", "scoring:probing-list", Action.EDIT),
        Link("Planner", "scoring:planner", Action.SEE_RESULTS),
    ],
    "Manage": [
        Link("People", "people-list", Action.MANAGE_PEOPLE),
        Link("Audit log", "activity-list", Action.EDIT),
        Link("Jobs", "job-list", Action.EDIT),
        Link("Settings", "benchmark-settings", Action.EDIT),
    ],
}


# How many things wait behind a link, by its view; each app counts its own.
BADGES: dict[str, Callable[[Benchmark], int]] = {}


def badge(view: str) -> Callable[[Callable[[Benchmark], int]], Callable[[Benchmark], int]]:
    """Register what counts the things that wait behind a link of the sidebar."""

    def register(count: Callable[[Benchmark], int]) -> Callable[[Benchmark], int]:
        BADGES[view] = count
        return count

    return register


def sidebar(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the groups of links that this person may follow."""
    benchmark = getattr(request, "benchmark", None)
    if benchmark is None:
        return {}
    groups = [
        (title, [link for link in links if may(request.user, link.action, benchmark)])
        for title, links in GROUPS.items()
    ]
    urls = {
        link.view: reverse(link.view, args=[benchmark.slug])
        for _, links in groups
        for link in links
    }
    current = _current(request, urls)
    shown_groups = [
        (
            title,
            [(_label(link, benchmark), urls[link.view], link.view == current) for link in links],
        )
        for title, links in groups
        if links
    ]
    return {"sidebar": shown_groups, "benchmark": benchmark}


def _label(link: Link, benchmark: Benchmark) -> str:
    n_waiting = BADGES[link.view](benchmark) if link.view in BADGES else 0
    if not n_waiting:
        return link.label
    return format_html('{} <span class="count">{}</span>', link.label, n_waiting)


def _current(request: HttpRequest, urls: dict[str, str]) -> str:
    """The link whose page this is, or under which it lies: the longest address that fits."""
    match = request.resolver_match
    view = BELONGS_TO.get(match.view_name, match.view_name) if match else ""
    if view in urls:
        return view
    above = [name for name, url in urls.items() if name != HOME and request.path.startswith(url)]
    return max(above, key=lambda name: len(urls[name]), default="")

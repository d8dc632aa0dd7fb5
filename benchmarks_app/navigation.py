"""The sidebar: which pages there are, for whom. Other apps' pages are named as strings."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from benchmarks_app.permissions import Action, may


@dataclass(frozen=True)
class Link:
    label: str
    view: str
    action: Action


GROUPS: dict[str, list[Link]] = {
    "": [Link("Overview", "benchmark-detail", Action.VIEW)],
    "Build": [
        Link("Import", "import-new", Action.EDIT),
        Link("Queries", "query-list", Action.VIEW),
    ],
    "Judge": [
        Link("Pools", "annotation:pool-list", Action.SEE_POOLS),
        Link("Judge documents", "annotation:judge-benchmark", Action.JUDGE),
    ],
    "Publish": [
        Link("Qrels", "qrels-list", Action.EDIT),
        Link("Releases", "release-list", Action.VIEW),
    ],
    "Evaluate": [
        Link("Runs", "run-list", Action.VIEW),
        Link("Submit a run", "scoring:submission-new", Action.SUBMIT),
        Link("Leaderboard", "scoring:leaderboard", Action.VIEW),
    ],
    "Manage": [
        Link("People", "people-list", Action.MANAGE_PEOPLE),
        Link("Activity", "activity-list", Action.EDIT),
        Link("Jobs", "job-list", Action.EDIT),
        Link("Settings", "benchmark-settings", Action.EDIT),
    ],
}


def sidebar(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the groups of links that this person may follow."""
    benchmark = getattr(request, "benchmark", None)
    if benchmark is None:
        return {}
    groups = []
    for title, links in GROUPS.items():
        allowed = [
            _entry(request, link) for link in links if may(request.user, link.action, benchmark)
        ]
        if allowed:
            groups.append((title, allowed))
    return {"sidebar": groups, "benchmark": benchmark}


def _entry(request: HttpRequest, link: Link) -> tuple[str, str, bool]:
    url = reverse(link.view, args=[request.benchmark.slug])
    is_home = link.view == "benchmark-detail"
    is_current = request.path == url if is_home else request.path.startswith(url)
    return link.label, url, is_current

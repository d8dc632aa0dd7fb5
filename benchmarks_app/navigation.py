"""Where one can go: nine places, the tabs inside them, and the chapter that explains each page.

Other apps' pages are named as strings.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_noop as _

from benchmarks_app.models import Benchmark, Role
from benchmarks_app.permissions import Action, may, role_in


@dataclass(frozen=True)
class Tab:
    """A page that is named in the menu: its view, who may open it, what explains it."""

    label: str
    view: str
    action: Action
    chapter: str
    # Of the whole site: its address names no benchmark.
    is_site: bool = False

    def url(self, benchmark: Benchmark) -> str:
        return reverse(self.view, args=[] if self.is_site else [benchmark.slug])


@dataclass(frozen=True)
class Place:
    """A link of the menu; `letter` leads there after a g. `icon` is one of static/icons.svg."""

    label: str
    icon: str
    letter: str
    tabs: tuple[Tab, ...]
    starts_group: bool = False


HOME = "benchmark-detail"
PLACES = (
    Place(_("Overview"), "home", "o", (Tab(_("Overview"), HOME, Action.VIEW, "dashboard"),)),
    Place(
        _("Data"),
        "data",
        "d",
        (
            Tab(_("Import"), "import-new", Action.EDIT, "importing"),
            Tab(_("Corpus"), "corpus-detail", Action.VIEW, "corpora"),
            Tab(_("Queries"), "query-list", Action.VIEW, "importing"),
            Tab(_("Query logs"), "log-list", Action.EDIT, "query-logs"),
            Tab(_("Families"), "family-list", Action.VIEW, "families"),
            Tab(_("Slices"), "slice-list", Action.VIEW, "slices"),
            Tab(_("Splits"), "split-detail", Action.VIEW, "splits"),
        ),
        starts_group=True,
    ),
    Place(
        _("Judging"),
        "judging",
        "j",
        (
            Tab(_("Pools"), "annotation:pool-list", Action.SEE_POOLS, "pools"),
            Tab(_("Judge documents"), "annotation:judge-benchmark", Action.JUDGE, "annotators"),
            Tab(_("Judge cases"), "scoring:contextual-verdicts", Action.JUDGE, "contextual"),
            Tab(_("My queues"), "annotation:queue", Action.JUDGE, "annotators", is_site=True),
            Tab(_("Questions"), "annotation:question-list", Action.EDIT, "judging"),
            Tab(_("Agreement"), "annotation:agreement", Action.ADJUDICATE, "agreement"),
            Tab(_("Adjudicate"), "annotation:adjudicate", Action.ADJUDICATE, "agreement"),
            Tab(_("Judgments"), "annotation:judgment-list", Action.EDIT, "judging"),
            Tab(_("Guideline"), "annotation:guideline-detail", Action.VIEW, "annotators"),
            Tab(_("Machine judges"), "annotation:campaign-list", Action.EDIT, "machine-judges"),
        ),
    ),
    Place(
        _("Releases"),
        "release",
        "r",
        (
            Tab(_("Releases"), "release-list", Action.SEE_RESULTS, "releases"),
            Tab(_("Qrels"), "qrels-list", Action.EDIT, "releases"),
        ),
    ),
    Place(
        _("Leaderboard"),
        "board",
        "l",
        (Tab(_("Leaderboard"), "scoring:leaderboard", Action.SEE_RESULTS, "leaderboard"),),
        starts_group=True,
    ),
    Place(
        _("Runs"),
        "runs",
        "u",
        (
            Tab(_("Runs"), "run-list", Action.SEE_RESULTS, "runs"),
            Tab(_("Submit a run"), "scoring:submission-new", Action.SUBMIT, "submitting"),
            Tab(_("My submissions"), "scoring:submission-list", Action.SUBMIT, "submitting"),
            Tab(_("Phases"), "scoring:phase-list", Action.SUBMIT, "submitting"),
            Tab(_("Baselines"), "scoring:baseline-list", Action.SEE_RESULTS, "baselines"),
            Tab(_("Live systems"), "scoring:live-list", Action.SEE_RESULTS, "live-systems"),
        ),
    ),
    Place(
        _("Compare & gates"),
        "compare",
        "c",
        (
            Tab(_("Compare"), "scoring:comparison", Action.SEE_RESULTS, "comparing"),
            Tab(_("Gates"), "scoring:gate-list", Action.SEE_RESULTS, "gate"),
            Tab(_("Planner"), "scoring:planner", Action.SEE_RESULTS, "planner"),
        ),
    ),
    Place(
        _("Labs"),
        "labs",
        "b",
        (
            Tab(
                _("Contextual precision"),
                "scoring:contextual-list",
                Action.SEE_RESULTS,
                "contextual",
            ),
            Tab(
                _("Contrastive accuracy"),
                "scoring:contrastive-list",
                Action.SEE_RESULTS,
                "contrastive",
            ),
            Tab(_("Probing"), "scoring:probing-list", Action.EDIT, "hidden-splits"),
        ),
        starts_group=True,
    ),
    Place(
        _("Settings"),
        "settings",
        "s",
        (
            Tab(_("Settings"), "benchmark-settings", Action.EDIT, "settings"),
            Tab(_("People"), "people-list", Action.MANAGE_PEOPLE, "security"),
            Tab(_("Audit log"), "activity-list", Action.EDIT, "security"),
            Tab(_("Jobs"), "job-list", Action.EDIT, "scoring-jobs"),
            Tab(_("Webhooks"), "webhook-list", Action.EDIT, "webhooks"),
        ),
    ),
)
# What one comes to do: found by name, with a page for each.
ACTS = (
    Tab(_("Build a pool"), "annotation:pool-new", Action.EDIT, "pools"),
    Tab(_("Invite somebody"), "people-list", Action.MANAGE_PEOPLE, "security"),
    Tab(_("Ask a machine judge"), "annotation:campaign-new", Action.EDIT, "machine-judges"),
    Tab(_("Publish qrels"), "annotation:qrels-publish", Action.EDIT, "releases"),
    Tab(_("Publish a release"), "release-new", Action.EDIT, "releases"),
    Tab(_("Submit a run"), "scoring:submission-new", Action.SUBMIT, "submitting"),
    Tab(_("Compare runs"), "scoring:comparison", Action.SEE_RESULTS, "comparing"),
    Tab(_("Make a slice"), "slice-new", Action.EDIT, "slices"),
    Tab(_("Edit the guideline"), "annotation:guideline-edit", Action.EDIT, "judging"),
)
# Pages whose address lies elsewhere than the tab they belong to.
BELONGS_TO = {
    "search": HOME,
    "job-detail": "job-list",
    "scoring:reliability": "slice-list",
    "scoring:top-up-new": "annotation:pool-list",
    "scoring:ann": "run-list",
    "scoring:contextual-verdict-case": "scoring:contextual-verdicts",
    "scoring:contextual-run": "run-list",
    "scoring:contextual-run-new": "run-list",
    "scoring:freshness": "release-list",
    "scoring:reusability": "release-list",
    "scoring:rescoring": "scoring:leaderboard",
    "scoring:moves": "scoring:leaderboard",
    "scoring:leaderboard-release": "scoring:leaderboard",
    "scoring:leaderboard-slices": "scoring:leaderboard",
    "scoring:leaderboard-history": "scoring:leaderboard",
    "scoring:leaderboard-corrected": "scoring:leaderboard",
    "document-detail": "corpus-detail",
    "document-image": "corpus-detail",
    "document-thumbnail": "corpus-detail",
    "annotation:policy-edit": "annotation:adjudicate",
    "annotation:pair-detail": "annotation:judgment-list",
}
# What an overview is for whom it is not the benchmark's: the work, or the runs, of their own.
HOME_LABELS = {Role.ANNOTATOR: _("My work"), Role.SUBMITTER: _("My runs")}
ROLE_NOTES = {
    Role.OWNER: _("You own this benchmark."),
    Role.MAINTAINER: _("You keep this benchmark."),
    Role.ADJUDICATOR: _("You adjudicate here."),
    Role.ANNOTATOR: _("You judge here."),
    Role.SUBMITTER: _("You submit here."),
    Role.VIEWER: _("You look on here."),
}


# Where the session keeps which tabs were used last, and of how many benchmarks.
USED_LAST = "tabs"
MOST_REMEMBERED = 50
# Tabs that lead away from the pages of a benchmark: a place does not open on them.
LED_AWAY = {"annotation:judge-benchmark", "annotation:queue"}


# How many things wait behind a tab, by its view; each app counts its own.
BADGES: dict[str, Callable[[Benchmark], int]] = {}


def badge(view: str) -> Callable[[Callable[[Benchmark], int]], Callable[[Benchmark], int]]:
    """Register what counts the things that wait behind a tab."""

    def register(count: Callable[[Benchmark], int]) -> Callable[[Benchmark], int]:
        BADGES[view] = count
        return count

    return register


@dataclass
class Link:
    """A tab as one person sees it from one page."""

    tab: Tab
    benchmark: Benchmark
    is_current: bool = False

    @property
    def label(self) -> str:
        return self.tab.label

    @cached_property
    def url(self) -> str:
        return self.tab.url(self.benchmark)

    @cached_property
    def n_waiting(self) -> int:
        """Counted where it is shown, and not for a part of a page that has no menu."""
        count = BADGES.get(self.tab.view)
        return count(self.benchmark) if count else 0


@dataclass
class PlaceLink:
    """A place of the menu with the tabs that this person may open.

    It leads to the one they used last (`last`, a view), or to the first.
    """

    place: Place
    tabs: list[Link]
    label: str = ""
    is_current: bool = False
    last: str = ""

    @property
    def target(self) -> Link:
        return next((link for link in self.tabs if link.tab.view == self.last), self.tabs[0])

    @property
    def url(self) -> str:
        return self.target.url

    @cached_property
    def n_waiting(self) -> int:
        return sum(tab.n_waiting for tab in self.tabs)

    @property
    def shown(self) -> tuple[Any, ...]:
        """All that the menu says of it, by which what is rendered once is found again."""
        is_page = self.target.is_current
        return self.place.letter, self.label, self.url, self.is_current, is_page, self.n_waiting


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the places and tabs that this person may open, and where they are."""
    benchmark = getattr(request, "benchmark", None)
    if benchmark is None:
        is_somebody = getattr(request, "user", None) and request.user.is_authenticated
        return {"search_url": reverse("site-search")} if is_somebody else {}
    role = role_in(request.user, benchmark)
    places = list(places_for(request.user, benchmark))
    used = _used_last(request, benchmark)
    for row in places:
        row.last = used.get(row.place.letter, "")
    links = {link.tab.view: (place, link) for place in places for link in place.tabs}
    view = _current(request, {name: link for name, (_, link) in links.items()})
    place, link = links.get(view, (None, None))
    if place and link:
        place.is_current = link.is_current = True
        _remember(request, benchmark, place, link)
    return {
        "benchmark": benchmark,
        "search_url": reverse("search", args=[benchmark.slug]),
        "places": places,
        # Worked out where the menu is shown, and not for a part of a page that has none.
        "menu": lambda: [row.shown for row in places],
        "place": place,
        "chapter": link.tab.chapter if link else "",
        "role_note": ROLE_NOTES[role] if role else "",
    }


def _used_last(request: HttpRequest, benchmark: Benchmark) -> dict[str, str]:
    """The view of the tab that somebody used last in each place, by the place's letter."""
    session = getattr(request, "session", None)
    if session is None or not request.user.is_authenticated:
        return {}
    used: dict[str, str] = session.get(USED_LAST, {}).get(str(benchmark.pk), {})
    return used


def _remember(request: HttpRequest, benchmark: Benchmark, place: PlaceLink, link: Link) -> None:
    """Keep with the session which tab was used last; written only where it is another one."""
    is_page = request.method == "GET" and "HX-Request" not in request.headers
    is_kept = len(place.tabs) > 1 and link.tab.view not in LED_AWAY
    used = _used_last(request, benchmark)
    has_session = hasattr(request, "session") and request.user.is_authenticated
    if not is_page or not is_kept or not has_session:
        return
    if used.get(place.place.letter, place.tabs[0].tab.view) == link.tab.view:
        return
    tabs = request.session.get(USED_LAST, {})
    used = {**used, place.place.letter: link.tab.view}
    others = [(key, value) for key, value in tabs.items() if key != str(benchmark.pk)]
    newest = dict([*others[-MOST_REMEMBERED:], (str(benchmark.pk), used)])
    request.session[USED_LAST] = newest


def places_for(user: Any, benchmark: Benchmark) -> Iterator[PlaceLink]:
    """The places of which the user may open a tab; one with a single tab is called as the tab."""
    role = role_in(user, benchmark)
    for place in PLACES:
        tabs = [Link(tab, benchmark) for tab in place.tabs if may(user, tab.action, benchmark)]
        if tabs:
            label = place.label if len(tabs) > 1 else tabs[0].label
            if place.tabs[0].view == HOME and role:
                label = HOME_LABELS.get(role, label)
            yield PlaceLink(place, tabs, label)


def _current(request: HttpRequest, links: dict[str, Link]) -> str:
    """The tab whose page this is, or under which it lies: the longest address that fits."""
    match = request.resolver_match
    view = BELONGS_TO.get(match.view_name, match.view_name) if match else ""
    if view in links:
        return view
    urls = {name: link.url for name, link in links.items() if name != HOME}
    above = [name for name, url in urls.items() if request.path.startswith(url)]
    return max(above, key=lambda name: len(urls[name]), default="")

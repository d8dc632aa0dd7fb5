"""What somebody finds by a few letters: only what they may open, and a few of each kind."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_noop as _

from benchmarks_app.common.selectors.reading import benchmark_documents
from benchmarks_app.common.selectors.words import holds
from benchmarks_app.language import translated
from benchmarks_app.models import Benchmark, DocumentContent, Membership, Run, Slice
from benchmarks_app.navigation import ACTS, places_for
from benchmarks_app.permissions import Action, may
from benchmarks_app.site.manual import titles

MOST = 5
MOST_LETTERS = 100
# Pages of the site: label, view, icon, and whether they are its staff's.
SITE_PAGES = (
    ("All benchmarks", "home", "home", False),
    ("My queues", "annotation:queue", "judging", False),
    ("Teams", "team-list", "person", False),
    ("Account", "account-detail", "person", False),
    ("Documentation", "docs", "document", False),
    ("System", "system", "settings", True),
    ("People of the site", "person-list", "person", True),
    ("Audit log of the site", "audit-log", "settings", True),
)


@dataclass(frozen=True)
class Hit:
    """A page that was found: what it is called, where it stands, and its icon."""

    label: str
    url: str
    icon: str
    where: str = ""


def asked_words(typed: str) -> str:
    """What is looked for, out of what somebody typed."""
    return " ".join(typed.split())[:MOST_LETTERS]


Finder = Callable[[Benchmark, Any, str], Iterator[Hit]]


def hits_of(benchmark: Benchmark, user: Any, words: str) -> dict[str, list[Hit]]:
    """Hits by kind, in the order of a person's likely wish; without words, pages and acts."""
    groups = {
        _("Pages"): list(_pages(benchmark, user, words)),
        _("Do"): list(_acts(benchmark, user, words)),
    }
    if words:
        groups |= {kind: list(find(benchmark, user, words)) for kind, find in FINDERS.items()}
    return {kind: hits for kind, hits in groups.items() if hits}


def site_hits_of(user: Any, words: str) -> dict[str, list[Hit]]:
    """Hits from pages of no benchmark: benchmarks that one may see, the site's pages, chapters."""
    groups = {
        "Benchmarks": list(_benchmarks(user, words)),
        "Pages": [
            Hit(label, reverse(view), icon)
            for label, view, icon, is_staffs in SITE_PAGES
            if _fits(words, label) and (user.is_staff or not is_staffs)
        ],
    }
    if words:
        groups["Documentation"] = list(_chapters(words))
    return {kind: hits for kind, hits in groups.items() if hits}


def _benchmarks(user: Any, words: str) -> Iterator[Hit]:
    fits = holds("name", words) | Q(slug__icontains=words)
    for benchmark in Benchmark.objects.visible_to(user).filter(fits).order_by("name")[:MOST]:
        yield Hit(benchmark.name, benchmark.get_absolute_url(), "home")


def _chapters(words: str) -> Iterator[Hit]:
    titled = ((name, title) for name, title in titles().items() if _fits(words, title))
    for name, title in islice(titled, MOST):
        yield Hit(title, reverse("docs-page", args=[name]), "document")


def _pages(benchmark: Benchmark, user: Any, words: str) -> Iterator[Hit]:
    for place in places_for(user, benchmark):
        for tab in place.tabs:
            label = translated(place.label if len(place.tabs) == 1 else tab.label)
            where = translated(place.label)
            where = "" if label == where else where
            if _fits(words, label, where):
                yield Hit(label, tab.url, place.place.icon, where)


def _acts(benchmark: Benchmark, user: Any, words: str) -> Iterator[Hit]:
    for act in ACTS:
        label = translated(act.label)
        if may(user, act.action, benchmark) and _fits(words, label):
            yield Hit(label, act.url(benchmark), "go")


def _fits(words: str, *labels: str) -> bool:
    return words.casefold() in " ".join(labels).casefold()


def _queries(benchmark: Benchmark, user: Any, words: str) -> Iterator[Hit]:
    fits = holds("text", words) | Q(qid__istartswith=words)
    for query in benchmark.queries.committed().filter(fits).order_by("pk")[:MOST]:
        url = reverse("query-detail", args=[benchmark.slug, query.pk])
        yield Hit(query.text, url, "query", query.qid)


def _documents(benchmark: Benchmark, user: Any, words: str) -> Iterator[Hit]:
    """By id in the whole corpus; by title among those in pools, for who may know what is in one."""
    titles = {
        docid: document.title for docid, document in benchmark_documents(benchmark, [words]).items()
    }
    if may(user, Action.SEE_POOLS, benchmark):
        rows = DocumentContent.objects.filter(
            holds("title", words), document__corpus=benchmark.corpus
        ).order_by("document_id", "pk")
        titles |= dict(rows.values_list("document__docid", "title")[: 2 * MOST])
    for docid, title in list(titles.items())[:MOST]:
        url = reverse("document-detail", args=[benchmark.slug, docid])
        yield Hit(title or docid, url, "document", docid)


def _runs(benchmark: Benchmark, user: Any, words: str) -> Iterator[Hit]:
    if not may(user, Action.SEE_RESULTS, benchmark):
        return
    runs = Run.objects.visible_to(user).standing().filter(holds("name", words), benchmark=benchmark)
    for run in runs.order_by("name", "pk")[:MOST]:
        yield Hit(run.name, reverse("run-detail", args=[benchmark.slug, run.pk]), "runs")


def _slices(benchmark: Benchmark, user: Any, words: str) -> Iterator[Hit]:
    slices = Slice.objects.filter(holds("name", words), benchmark=benchmark).order_by("name")
    for name in slices.values_list("name", flat=True)[:MOST]:
        yield Hit(name, reverse("slice-detail", args=[benchmark.slug, name]), "data")


def _releases(benchmark: Benchmark, user: Any, words: str) -> Iterator[Hit]:
    if not may(user, Action.SEE_RESULTS, benchmark):
        return
    named = (row for row in benchmark.releases.published().newest_first() if words in row.version)
    for release in islice(named, MOST):
        yield Hit(release.version, release.get_absolute_url(), "release")


def _people(benchmark: Benchmark, user: Any, words: str) -> Iterator[Hit]:
    if not may(user, Action.MANAGE_PEOPLE, benchmark):
        return
    fits = holds("user__username", words) | Q(user__email__icontains=words)
    members = Membership.objects.filter(fits, benchmark=benchmark).select_related("user")
    for member in members.order_by("user__username")[:MOST]:
        url = reverse("people-list", args=[benchmark.slug])
        yield Hit(str(member.user), url, "person", member.get_role_display())


FINDERS: dict[str, Finder] = {
    "Queries": _queries,
    "Documents": _documents,
    "Runs": _runs,
    "Slices": _slices,
    "Releases": _releases,
    "People": _people,
}

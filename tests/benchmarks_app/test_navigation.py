"""The menu: nine places for an owner, fewer for others; none that its person may not open."""

import re
from html import unescape

import pytest
from django.core.cache import caches
from django.test import Client, RequestFactory
from django.urls import get_resolver, resolve, reverse

from benchmarks_app.models import Benchmark, QueryFamily, User
from benchmarks_app.navigation import ACTS, BELONGS_TO, HOME, PLACES, navigation, places_for
from benchmarks_app.site.manual import all_names
from tests import factories
from tests.browser.places import PAGES as PAGES_OF_SITE
from tests.browser.places import SLUG

pytestmark = pytest.mark.django_db

OWNERS = [
    "Overview",
    "Data",
    "Judging",
    "Releases",
    "Leaderboard",
    "Runs",
    "Compare & gates",
    "Labs",
    "Settings",
]


def labels(user, benchmark) -> list[str]:
    return [link.label for link in places_for(user, benchmark)]


def test_an_owner_has_nine_places_and_others_fewer(benchmark, owner, ada, sam, vi, bo):
    assert labels(owner, benchmark) == OWNERS
    assert labels(ada, benchmark)[:3] == ["My work", "Data", "Judging"]
    assert labels(sam, benchmark) == ["My runs", "Data", "Guideline", *OWNERS[3:8]]
    assert labels(vi, benchmark) == ["Overview", "Data", "Guideline", *OWNERS[3:8]]
    assert labels(bo, benchmark) == OWNERS[:8]


@pytest.mark.parametrize(
    "role", ["owner", "maintainer", "adjudicator", "annotator", "submitter", "viewer"]
)
def test_every_tab_opens_for_whom_it_is_shown(benchmark, signed_in, role):
    user = factories.member(benchmark, "somebody", role)
    client = signed_in(user)

    answers = {
        tab.url: client.get(tab.url).status_code
        for link in places_for(user, benchmark)
        for tab in link.tabs
    }
    assert {url: status for url, status in answers.items() if status not in (200, 302)} == {}


def test_a_blind_annotator_is_led_to_no_result(benchmark, ada):
    query = factories.query(benchmark, "q1")
    run = factories.run(benchmark, f"{query.qid} Q0 d1 1 1.0 s")
    factories.depth_pool(benchmark, [run])

    assert labels(ada, benchmark) == ["My work", "Data", "Judging"]


@pytest.mark.parametrize(
    ("view", "arguments"),
    [
        ("slice-list", []),
        ("slice-detail", ["short"]),
        ("split-detail", []),
        ("contamination-list", []),
    ],
)
def test_no_page_leads_a_blind_annotator_to_what_is_withheld(
    benchmark, ada, signed_in, view, arguments
):
    query = factories.query(benchmark, "q1")
    QueryFamily.objects.filter(queries=query).update(split="dev")
    factories.rule_slice(benchmark, "short")
    factories.depth_pool(benchmark, [factories.run(benchmark, f"{query.qid} Q0 d1 1 1.0 s")])
    client = signed_in(ada)

    page = client.get(reverse(view, args=[benchmark.slug, *arguments])).content.decode()

    of_benchmark = re.findall(rf'(?:href|src|hx-get)="(/b/{benchmark.slug}/[^"#]*)', page)
    assert of_benchmark
    assert [url for url in of_benchmark if client.get(unescape(url)).status_code == 403] == []


def test_who_is_nobody_sees_a_public_benchmarks_places(client):
    benchmark = factories.benchmark("open", visibility="public")
    page = client.get(benchmark.get_absolute_url()).content.decode()

    assert "Leaderboard" in page and "Settings" not in page and "You own" not in page


def test_chapters_exist_and_letters_differ():
    tabs = [*(tab for place in PLACES for tab in place.tabs), *ACTS]
    letters = [place.letter for place in PLACES]

    assert {tab.chapter for tab in tabs} <= all_names()
    assert len(set(letters)) == len(letters)


def test_what_pages_are_said_to_belong_to_exists():
    views = {tab.view for place in PLACES for tab in place.tabs}

    assert set(BELONGS_TO.values()) <= views
    known = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    for view in BELONGS_TO:
        assert ":" in view or view in known


OF_BENCHMARK = sorted({place.view for place in PAGES_OF_SITE if place.args[:1] == (SLUG,)})


@pytest.mark.parametrize("view", OF_BENCHMARK)
def test_every_page_of_a_benchmark_lies_in_a_place(benchmark, owner, view):
    """Of the whole menu: whoever may open less of it is at most nowhere."""
    place = next(
        place for place in PAGES_OF_SITE if place.view == view and place.args[:1] == (SLUG,)
    )
    arguments = [benchmark.slug, *("1" for _ in place.args[1:])]
    url = reverse(view, args=arguments)
    request = RequestFactory().get(url)
    request.user, request.benchmark, request.resolver_match = owner, benchmark, resolve(url)

    assert navigation(request)["place"] is not None


def test_a_place_opens_on_the_tab_that_this_person_used_last_there(benchmark, owner, vi, signed_in):
    other = factories.benchmark("other")
    factories.member(other, owner.username, "owner")
    of_data, slices = (reverse(view, args=[benchmark.slug]) for view in (HOME, "slice-list"))

    def data_of(client, url: str) -> str:
        places = client.get(url).context["places"]
        return next(link.url for link in places if link.label == "Data")

    client = signed_in(owner)
    first = data_of(client, of_data)
    client.get(slices)
    assert (first, data_of(client, of_data)) == (places_of(owner, benchmark)["Data"], slices)
    # A part of a page is no visit, another benchmark is another place, and so is another person.
    client.get(reverse("query-list", args=[benchmark.slug]), headers={"HX-Request": "true"})
    assert data_of(client, of_data) == slices
    assert data_of(client, other.get_absolute_url()) == places_of(owner, other)["Data"]
    assert data_of(signed_in(vi), of_data) == places_of(vi, benchmark)["Data"]


def test_a_tab_that_may_no_longer_be_opened_is_not_led_to(benchmark, owner, signed_in):
    client = signed_in(owner)
    client.get(reverse("log-list", args=[benchmark.slug]))

    owner.memberships.update(role="viewer")

    links = client.get(benchmark.get_absolute_url()).context["places"]
    assert {link.url for link in links} == set(places_of(owner, benchmark).values())


def test_a_menu_that_was_rendered_before_says_what_is_so_now(benchmark, owner, vi):
    """For whoever reads, after whatever it says has changed: as one that is rendered anew."""
    Benchmark.objects.update(visibility="public")
    family = factories.query(benchmark, "q1").family
    readers = [Client(), Client(), Client()]
    for reader, person in zip(readers, (owner, vi), strict=False):
        reader.force_login(person, backend="django.contrib.auth.backends.ModelBackend")

    def menus() -> list[str]:
        names = Benchmark.objects.values_list("slug", flat=True)
        pages = [reverse("slice-list", args=[slug]) for slug in names]
        texts = (reader.get(page).content.decode() for reader in readers for page in pages)
        return [part for text in texts for part in MENUS.findall(text)]

    changes = {
        "nothing": lambda: None,
        "what waits": lambda: QueryFamily.objects.filter(pk=family.pk).update(is_flagged=True),
        "a role": lambda: owner.memberships.update(role="submitter"),
        "no role": lambda: vi.memberships.all().delete(),
        "a language": lambda: User.objects.update(language="de"),
        "another benchmark": lambda: factories.benchmark("another", visibility="public"),
        "an address": lambda: Benchmark.objects.filter(slug="another").update(slug="new"),
    }
    seen = []
    for what, change in changes.items():
        change()
        menus()  # where a place leads to follows the first visit
        seen.append(menus())
        caches["template_fragments"].clear()
        assert seen[-1] == menus(), what
    assert len(set(map(tuple, seen))) == len(changes)


MENUS = re.compile(r'<nav class="sidebar".*?</nav>|<dialog.*?</dialog>', re.DOTALL)


def places_of(user, benchmark) -> dict[str, str]:
    return {link.label: link.url for link in places_for(user, benchmark)}


def test_a_page_marks_its_place_and_its_tab(benchmark, owner, signed_in):
    page = signed_in(owner).get(reverse("slice-list", args=[benchmark.slug])).content.decode()

    assert page.count('aria-current="page"') == 1  # the tab
    assert page.count('aria-current="true"') == 1  # the place
    assert 'href="/docs/slices/" data-help' in page

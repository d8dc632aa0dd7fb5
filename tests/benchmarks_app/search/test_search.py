"""Search: what one can name is found, by who may open it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.families.selectors import listed_families
from benchmarks_app.models import Benchmark, DocumentContent, Job
from benchmarks_app.queries.selectors import queries_with
from benchmarks_app.search.selectors import MOST, SITE_PAGES, hits_of, site_hits_of
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def furnished(benchmark, owner):
    factories.query(benchmark, "q1", "how to rotate logs")
    factories.run(benchmark, "q1 Q0 d1 1 1.0 s", name="rotated-bm25")
    factories.query_slice(benchmark, "rotation")
    factories.member(benchmark, "rotunda", "viewer")
    document = benchmark.corpus.documents.create(docid="d7")
    DocumentContent.objects.create(document=document, content_hash="x", title="Log rotation")
    return benchmark


def labels(benchmark, user, words: str) -> dict[str, list[str]]:
    return {
        kind: [hit.label for hit in hits] for kind, hits in hits_of(benchmark, user, words).items()
    }


def test_an_owner_finds_everything_by_a_few_letters(furnished, owner):
    result = labels(furnished, owner, "ROT")

    assert result == {
        "Queries": ["how to rotate logs"],
        "Documents": ["Log rotation"],
        "Runs": ["rotated-bm25"],
        "Slices": ["rotation"],
        "People": ["rotunda"],
    }


def test_letters_beyond_ascii_are_found_in_either_case(furnished, owner):
    query = factories.query(furnished, "q2", "Über Öl")
    factories.run(furnished, "q2 Q0 d1 1 1.0 s", name="Öl-bm25")

    assert labels(furnished, owner, "öl") == {"Queries": ["Über Öl"], "Runs": ["Öl-bm25"]}
    assert [*queries_with(furnished, "über")] == [query]
    assert [*listed_families(furnished, wanted="über")] == [query.family]


def test_pages_and_acts_are_found_by_their_names(furnished, owner):
    assert labels(furnished, owner, "pool") == {"Pages": ["Pools"], "Do": ["Build a pool"]}
    assert "Import" in labels(furnished, owner, "data")["Pages"]
    assert len(labels(furnished, owner, "")["Pages"]) > 20


def test_a_blind_annotator_finds_no_run_and_not_what_is_in_the_pool(furnished, ada):
    factories.depth_pool(furnished, list(furnished.runs.all()))

    assert set(labels(furnished, ada, "rot")) == {"Queries", "Slices"}
    assert "Leaderboard" not in labels(furnished, ada, "")["Pages"]


def test_a_viewer_does_not_find_people(furnished, vi):
    assert "People" not in labels(furnished, vi, "rot")


def test_another_benchmarks_things_are_not_found(furnished, owner):
    other = factories.benchmark("other")
    factories.query(other, "q9", "rotten")

    assert labels(furnished, owner, "rotten") == {}


def test_what_is_not_there_yet_or_no_more_or_not_for_them_is_not_found(furnished, owner, sam):
    tiny = factories.tiny_benchmark()
    vi = factories.member(tiny, "vi", "viewer")
    released = factories.release(tiny.qrel_sets.get(), "1.2.0")
    draft = {"qrel_set": released.qrel_set, "created_by": owner, "state": "draft"}
    tiny.releases.create(major=1, minor=2, patch=1, **draft)
    assert labels(tiny, vi, "1.2")["Releases"] == ["1.2.0"]
    factories.depth_pool(tiny, [factories.run(tiny, "1 Q0 123 1 1.0 s")])
    blind = factories.member(tiny, "ann", "annotator")
    assert "Releases" not in labels(tiny, blind, "1.2")
    furnished.runs.update(visibility="private", owner=owner)
    assert "Runs" not in labels(furnished, sam, "rot")
    furnished.runs.update(withdrawn_at=timezone.now())
    job = Job.objects.create(kind="import", title="of a file", benchmark=furnished)
    furnished.queries.update(staged_by=job)

    assert {"Runs", "Queries"}.isdisjoint(labels(furnished, owner, "rot"))


def test_as_often_asked_for_many_as_for_few(furnished, owner):
    labels(furnished, owner, "rot")  # roles are asked once a request
    few = n_statements(furnished, owner)
    for number in range(20):
        factories.query(furnished, f"n{number}", f"rotate {number}")
        factories.query_slice(furnished, f"rot{number}")
        factories.run(furnished, "q1 Q0 d1 1 1.0 s", name=f"rot{number}")
        factories.member(furnished, f"rot{number}", "viewer")

    assert n_statements(furnished, owner) == few
    assert all(len(hits) <= MOST for hits in hits_of(furnished, owner, "rot").values())


def n_statements(benchmark: Benchmark, user) -> int:
    with CaptureQueriesContext(
        connection,
    ) as asked:
        hits_of(benchmark, user, "rot")
    return len(asked)


def test_the_palette_gets_the_results_alone(furnished, owner, signed_in):
    client, url = signed_in(owner), reverse("search", args=[furnished.slug])
    page = client.get(url, {"q": "rot"}).content.decode()
    part = client.get(url, {"q": "rot"}, headers={"HX-Request": "true"}).content.decode()

    assert "<html" in page and "<html" not in part
    assert "how to rotate logs" in page and "how to rotate logs" in part


def test_the_palettes_part_counts_nothing_that_waits(furnished, owner, signed_in, monkeypatch):
    def counted(benchmark):
        raise AssertionError("nobody sees it there")

    monkeypatch.setattr("benchmarks_app.navigation.BADGES", {"family-list": counted})
    url, client = reverse("search", args=[furnished.slug]), signed_in(owner)

    assert client.get(url, {"q": "rot"}, headers={"HX-Request": "true"}).status_code == 200
    with pytest.raises(AssertionError):
        client.get(url, {"q": "rot"})


def test_words_are_text_and_no_markup(furnished, owner, signed_in):
    url = reverse("search", args=[furnished.slug])
    page = signed_in(owner).get(url, {"q": "<b>%_"}).content.decode()

    assert "Nothing is called “&lt;b&gt;%_”" in page


# --- from pages of no benchmark ------------------------------------------------------------------


def test_benchmarks_that_one_may_see_pages_and_chapters_are_found(benchmark, owner, sam, signed_in):
    factories.benchmark("standing-apart", name="Standard of nobody")

    site_hits = site_hits_of(owner, "stand")
    assert [hit.label for hit in site_hits["Benchmarks"]] == [benchmark.name]
    assert "System" not in str(site_hits_of(owner, "s")["Pages"])
    assert site_hits_of(owner, "hidden")["Documentation"][0].url == "/docs/hidden-splits/"

    page = signed_in(owner).get(reverse("site-search"), {"q": "nothing like it"}).content.decode()
    assert "Nothing is called" in page
    assert "data-palette" in page


@pytest.mark.parametrize(("label", "view", "icon", "is_staffs"), SITE_PAGES)
def test_pages_of_the_site_open(owner, signed_in, label, view, icon, is_staffs):
    owner.is_staff = is_staffs
    owner.save()

    assert signed_in(owner).get(reverse(view)).status_code == 200

"""Who may still be asked to judge sees no result of the benchmark, on any page or endpoint."""

import pytest
from django.urls import reverse

from annotation.models import Pool
from benchmarks_app.models import AuditEvent, Membership, Role, Run
from benchmarks_app.people.services.people import change_blindness, change_role
from benchmarks_app.permissions import ALLOWED, Action, may
from tests import factories
from tests.annotation.making import pool
from tests.world import OTHER_RUN, RUN

pytestmark = pytest.mark.django_db
WHY = "You may still be asked to judge here"


@pytest.fixture
def pooled(do_jobs):
    """Two scored runs on a release, both in an open pool."""
    bench = factories.tiny_benchmark("stdlib")
    runs = [
        factories.run(bench, lines, name=name)
        for name, lines in (("first", RUN), ("second", OTHER_RUN))
    ]
    pool = factories.depth_pool(bench, runs)
    factories.release(bench.qrel_sets.get())
    do_jobs()
    return {"benchmark": bench, "pool": pool, "run": runs[0].pk, "runs": runs}


@pytest.fixture
def ann(pooled):
    return factories.member(pooled["benchmark"], "ann", "annotator")


READING = [
    ("run-export", {"pk": "run"}, ""),
    ("api:run-export", {"pk": "run"}, ""),
    ("scoring:run-holes", {"pk": "run"}, ""),
    ("scoring:run-holes-csv", {"pk": "run"}, ""),
    ("api:run-holes", {"pk": "run"}, ""),
    ("scoring:run-query", {"pk": "run", "qid": "1"}, ""),
    ("api:comparison-results", {}, "?runs=first,second&query=1"),
    ("api:top-up-list", {}, "?runs=first"),
    ("release-file", {"version": "1.0.0", "name": "qrels.trec"}, ""),
    ("api:release-file", {"version": "1.0.0", "name": "qrels.trec"}, ""),
]


def url_of(name, arguments, asked, pooled):
    kwargs = {key: pooled.get(value, value) for key, value in arguments.items()}
    return reverse(name, kwargs={"slug": "stdlib", **kwargs}) + asked


@pytest.mark.parametrize(("name", "arguments", "asked"), READING, ids=[row[0] for row in READING])
def test_annotator_of_an_open_pool_reads_no_run_and_no_grade(
    pooled, ann, signed_in, name, arguments, asked
):
    url = url_of(name, arguments, asked, pooled)

    withheld = signed_in(ann).get(url)
    change_blindness(membership=ann.memberships.get(), is_lifted=True, actor=None)
    lifted = signed_in(ann).get(url)

    assert (withheld.status_code, lifted.status_code) == (403, 200)
    assert WHY in withheld.content.decode()


def test_only_who_may_judge_and_not_see_pools_is_ever_blind():
    blind = ALLOWED[Action.JUDGE] - ALLOWED[Action.SEE_POOLS]

    assert {Role.ANNOTATOR} == blind


@pytest.mark.parametrize(
    ("role", "state", "is_withheld"),
    [
        ("annotator", "open", True),
        ("annotator", "paused", True),
        ("annotator", "building", True),
        ("annotator", "closed", False),
        ("viewer", "open", False),
        ("submitter", "open", False),
        ("adjudicator", "open", False),
        ("maintainer", "open", False),
    ],
)
def test_results_are_withheld_while_a_pool_is_open(benchmark, role, state, is_withheld):
    pool(benchmark, {"q1": ["d1"]}, state=state)
    run = factories.run(benchmark, "q1 Q0 d1 1 1.0 s")
    person = factories.member(benchmark, "pat", role)

    assert may(person, Action.SEE_RESULTS, benchmark) is not is_withheld
    assert list(Run.objects.visible_to(person)) == ([] if is_withheld else [run])


def test_results_of_another_benchmark_are_seen(benchmark, ada):
    pool(benchmark, {"q1": ["d1"]})
    other = factories.benchmark(visibility="public")
    run = factories.run(other, "q1 Q0 d1 1 1.0 s")

    assert may(ada, Action.SEE_RESULTS, other)
    assert list(Run.objects.visible_to(ada)) == [run]


def test_own_runs_are_withheld_as_well(benchmark, ada):
    """Their page has the grades of what they retrieved."""
    pool(benchmark, {"q1": ["d1"]})
    factories.run(benchmark, "q1 Q0 d1 1 1.0 s", owner=ada)

    assert not Run.objects.visible_to(ada).exists()


def test_guideline_queries_documents_and_own_work_stay(pooled, ann, signed_in):
    client = signed_in(ann)
    slug = "stdlib"
    query = pooled["benchmark"].queries.get(qid="1").pk
    pages = [
        reverse("benchmark-detail", args=[slug]),
        reverse("annotation:guideline-detail", args=[slug]),
        reverse("query-list", args=[slug]),
        reverse("query-detail", args=[slug, query]),
        reverse("document-detail", args=[slug, "d-quote"]),
        reverse("annotation:queue"),
        reverse("annotation:my-judgment-list"),
        reverse("annotation:my-question-list"),
        reverse("annotation:my-hours"),
    ]

    assert {url: client.get(url).status_code for url in pages} == dict.fromkeys(pages, 200)


def test_overview_says_why_results_are_not_there(pooled, ann, signed_in):
    page = signed_in(ann).get(reverse("benchmark-detail", args=["stdlib"])).content.decode()

    assert WHY in page
    assert "/leaderboard/" not in page
    assert "/runs/" not in page


# --- lifting ---------------------------------------------------------------------------------


def test_owner_lifts_it_for_a_person_and_it_is_written_down(benchmark, owner, ada, signed_in):
    pool(benchmark, {"q1": ["d1"]})
    url = reverse("member-blindness", args=[benchmark.slug, ada.memberships.get().pk])

    lifted = signed_in(owner).post(url, {"is_lifted": "true"})

    assert lifted.status_code == 302
    assert may(type(ada).objects.get(pk=ada.pk), Action.SEE_RESULTS, benchmark)
    event = AuditEvent.objects.get(action="member-blindness")
    assert (event.actor, event.target) == (owner, f"user {ada.pk}")
    assert event.detail == {"is_lifted": True}


def test_lifting_again_writes_nothing(benchmark, owner, ada):
    membership = ada.memberships.get()
    for _ in range(2):
        change_blindness(membership=membership, is_lifted=True, actor=owner)

    assert AuditEvent.objects.filter(action="member-blindness").count() == 1


def test_another_role_makes_blind_again(benchmark, owner, ada):
    pool(benchmark, {"q1": ["d1"]})
    membership = ada.memberships.get()
    change_blindness(membership=membership, is_lifted=True, actor=owner)

    for role in (Role.VIEWER, Role.ANNOTATOR):
        change_role(membership=membership, role=role, actor=owner)

    assert not Membership.objects.get(pk=membership.pk).is_blindness_lifted


def test_people_page_offers_it_for_annotators_alone(benchmark, owner, ada, sam, signed_in):
    page = signed_in(owner).get(reverse("people-list", args=[benchmark.slug])).content.decode()

    urls = [
        reverse("member-blindness", args=[benchmark.slug, person.memberships.get().pk])
        for person in (ada, sam, owner)
    ]
    assert [url in page for url in urls] == [True, False, False]


def test_owner_lifts_it_by_the_api(benchmark, owner, ada, signed_in):
    pool(benchmark, {"q1": ["d1"]})
    client = signed_in(owner)
    rows = client.get(reverse("api:member-list", args=[benchmark.slug])).json()["results"]
    (row,) = (row for row in rows if row["username"] == "ada")
    url = reverse("api:member-detail", args=[benchmark.slug, row["id"]])

    answer = client.patch(url, {"is_blindness_lifted": True}, content_type="application/json")

    assert (row["role"], row["is_blindness_lifted"]) == ("annotator", False)
    assert answer.json()["is_blindness_lifted"] is True
    assert AuditEvent.objects.filter(action="member-blindness").exists()


def test_closing_the_last_pool_shows_results(benchmark, ada, signed_in):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    url = reverse("run-list", args=[benchmark.slug])
    before = signed_in(ada).get(url).status_code

    small_pool.state = Pool.State.CLOSED
    small_pool.save()

    assert (before, signed_in(ada).get(url).status_code) == (403, 200)

"""Submissions that look made to read hidden grades are shown to the keepers."""

import pytest
from django.urls import reverse

from benchmarks_app.models import AuditEvent, Team
from scoring.models import Phase, ProbingFlag, Submission
from scoring.submissions.services import probing
from tests import factories
from tests.scoring.hiding import HIDDEN, PUBLIC, hiding_benchmark, hiding_release, lines, plain_run

pytestmark = pytest.mark.django_db
MOVED = {HIDDEN[0]: [f"{HIDDEN[0]}-good", f"{HIDDEN[0]}-x"]}


@pytest.fixture
def hiding(db):
    bench = hiding_benchmark()
    factories.member(bench, "olga", "owner")
    factories.member(bench, "sam", "submitter")
    hiding_release(bench)
    return bench


@pytest.fixture
def send(hiding):
    """A function that submits a ranking and has it scored."""

    def send(found: dict[str, list[str]], name: str, who: str = "sam") -> Submission:
        return factories.submission(
            hiding.phases.get(), lines(found), by=factories.user(who), name=name
        )

    return send


def test_one_moved_document_is_flagged_when_the_submission_is_scored(send):
    first = send(plain_run(), "first")
    second = send(plain_run(**MOVED), "second")

    (flag,) = ProbingFlag.objects.all()
    assert second.state == "scored"
    assert (flag.submission, flag.earlier, flag.kind) == (second, first, "single_query")
    assert flag.evidence == {
        "depth": 10,
        "n_queries": 30,
        "n_differing": 1,
        # All ten places of this query are other ones: the second list has two documents.
        "share_equal": round(290 / 300, 4),
        "queries": [HIDDEN[0]],
        "n_compared": 1,
    }


def test_probe_is_found_behind_submissions_of_another_kind(send):
    first = send(plain_run(), "first")
    send({qid: [f"{qid}-x", f"{qid}-good"] for qid in [*PUBLIC, *HIDDEN]}, "another")
    ProbingFlag.objects.all().delete()
    send(plain_run(**MOVED), "third")

    flag = ProbingFlag.objects.get(kind="single_query")
    assert (flag.earlier, flag.evidence["n_compared"]) == (first, 2)


def test_other_public_queries_do_not_hide_a_probe(send):
    send(plain_run(), "first")
    # With a judged one among them: a run without any for public queries is refused.
    public = {qid: ["other", f"{qid}-good"] for qid in PUBLIC}
    send(plain_run(**MOVED, **public), "second")

    assert ProbingFlag.objects.get().kind == "single_query"


def test_other_hidden_queries_without_a_grade_do_not_hide_a_probe(db):
    bench, ungraded = hiding_benchmark(), [f"u{n}" for n in range(4)]
    for qid in ungraded:
        factories.query(bench, qid)
    bench.families.filter(queries__qid__in=ungraded).update(split="test")
    sam = factories.member(bench, "sam", "submitter")
    hiding_release(bench)

    for number, changed in enumerate(({}, MOVED)):
        found = plain_run(**changed) | {qid: [f"{qid}-{number}"] for qid in ungraded}
        factories.submission(bench.phases.get(), lines(found), by=sam, name=f"run {number}")

    assert ProbingFlag.objects.get().kind == "single_query"


def test_same_ranking_under_other_scores_is_flagged(send):
    first = plain_run()
    send(first, "first")
    send({qid: [*docids, "one-more"] for qid, docids in first.items()}, "second")

    assert ProbingFlag.objects.get().kind == "near_identical"


def test_another_system_is_not_flagged_nor_is_that_of_somebody_else(send, hiding):
    factories.member(hiding, "sue", "submitter")
    send(plain_run(), "first")
    send({qid: [f"{qid}-y1", f"{qid}-good"] for qid in HIDDEN}, "another")
    send({qid: [f"{qid}-good", f"{qid}-z"] for qid in HIDDEN}, "of-sue", who="sue")

    assert not ProbingFlag.objects.exists()


def test_documents_of_another_team_are_flagged_in_whatever_order(send, hiding):
    factories.member(hiding, "sue", "submitter")
    first = send(plain_run(), "first")
    turned = {qid: docids[::-1] for qid, docids in plain_run(**MOVED).items()}
    send(turned, "of-sue", who="sue")

    flag = ProbingFlag.objects.get()
    assert (flag.kind, flag.earlier) == ("same_candidates", first)
    numbers = {"n_queries": 30, "n_equal": 29, "n_reordered": 29, "n_compared": 1}
    assert flag.evidence == {"depth": 10, **numbers}


@pytest.mark.parametrize(("n_turned", "kinds"), [(30, ["reordered"]), (3, ["single_query"])])
def test_own_documents_in_another_order_are_flagged(send, n_turned, kinds):
    send(plain_run(), "first")
    turned = {qid: docids[::-1] for qid, docids in plain_run().items() if qid in HIDDEN[:n_turned]}
    send(plain_run() | turned, "second")

    assert list(ProbingFlag.objects.values_list("kind", flat=True)) == kinds


@pytest.mark.parametrize(("n_documents", "kinds"), [(60, ["same_documents"]), (61, [])])
def test_the_same_documents_for_many_queries_are_flagged(send, n_documents, kinds):
    """300 places: a fifth of them is 60 documents."""
    ring = [f"{HIDDEN[0]}-good", *(f"d{n}" for n in range(1, n_documents))]
    send(
        {
            qid: [ring[(10 * n + place) % n_documents] for place in range(10)]
            for n, qid in enumerate(HIDDEN)
        },
        "ring",
    )

    assert list(ProbingFlag.objects.values_list("kind", flat=True)) == kinds


def test_submission_of_the_same_team_is_compared(send, hiding):
    team = Team.objects.create(name="probers")
    factories.member(hiding, "sue", "submitter")
    first, second = send(plain_run(), "first"), send(plain_run(**MOVED), "second", who="sue")
    Submission.objects.filter(pk__in=[first.pk, second.pk]).update(team=team)

    (flag,) = probing.flag(second)

    assert (flag.kind, flag.earlier) == ("single_query", first)
    assert probing.flag(second) == [flag]  # once, however often it is asked


def test_submission_that_was_scored_before_an_earlier_one_is_flagged_as_well(send):
    first, second = send(plain_run(), "first"), send(plain_run(**MOVED), "second")
    ProbingFlag.objects.all().delete()

    (flag,) = probing.flag(first)

    assert (flag.submission, flag.earlier, flag.kind) == (second, first, "single_query")


def test_run_is_not_compared_with_itself_nor_on_another_benchmark(send, hiding):
    other = hiding_benchmark("other")
    hiding_release(other)
    factories.submission(other.phases.get(), lines(plain_run()), by=factories.user("sam"), name="x")
    first = send(plain_run(), "first")
    later = Phase.objects.create(
        benchmark=hiding, release=first.phase.release, split="dev", name="Warm-up"
    )
    again = Submission.objects.create(
        phase=later, run=first.run, submitter=first.submitter, state="scored"
    )

    assert probing.flag(first) == probing.flag(again) == []


def test_nothing_is_flagged_where_nothing_is_hidden(send, hiding):
    send(plain_run(), "first")
    second = send(plain_run(**MOVED), "second")
    ProbingFlag.objects.all().delete()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probing, "hidden_queries", lambda release: frozenset())
        assert probing.flag(second) == []
    assert probing.flag(second) != []


# --- pages ---------------------------------------------------------------------------------------


@pytest.fixture
def flag(send) -> ProbingFlag:
    send(plain_run(), "first")
    send(plain_run(**MOVED), "second")
    return ProbingFlag.objects.get()


def test_keepers_see_flags_with_evidence_and_settle_them(flag, signed_in):
    olga = factories.user("olga")
    url = reverse("scoring:probing-list", args=["hiding"])

    page = " ".join(signed_in(olga).get(url).content.decode().split())
    signed_in(olga).post(reverse("scoring:probing-settle", args=["hiding", flag.pk]), follow=True)
    after = signed_in(olga).get(f"{url}?state=open").content.decode()

    assert "1 of 30 hidden queries differ in the first 10" in page
    assert "96.7 % of the places are equal" in page
    assert 'Probing <span class="count" title="waiting">1</span>' in page
    flag.refresh_from_db()
    assert flag.settled_by == olga
    assert "None is left to look at." in after
    assert 'Probing <span class="count">' not in after
    assert AuditEvent.objects.filter(action="settle-probing", target="second").count() == 1


def test_settling_twice_keeps_who_was_first(flag, hiding):
    olga, mia = factories.user("olga"), factories.member(hiding, "mia", "maintainer")

    probing.settle(flag=flag, by=olga)
    again = probing.settle(flag=flag, by=mia)

    assert again.settled_by == olga
    assert AuditEvent.objects.filter(action="settle-probing").count() == 1


def test_submitter_is_not_told_of_a_flag(flag, signed_in):
    sam = factories.user("sam")
    client = signed_in(sam)

    assert client.get(reverse("scoring:probing-list", args=["hiding"])).status_code == 403
    page = client.get(flag.submission.get_absolute_url()).content.decode()
    assert "robing" not in page


def test_api_lists_flags_and_settles_them(flag, signed_in):
    client = signed_in(factories.user("olga"))
    url = reverse("api:probing-list", args=["hiding"])

    (result,) = client.get(url, {"state": "open"}).json()["results"]
    settled = client.post(reverse("api:probing-settle", args=["hiding", flag.pk])).json()

    assert (result["kind"], result["evidence"]["n_differing"]) == ("single_query", 1)
    assert settled["settled_at"]
    assert client.get(url, {"state": "open"}).json()["results"] == []


def test_without_flags_the_page_says_what_is_compared(hiding, signed_in):
    page = signed_in(factories.user("olga")).get(reverse("scoring:probing-list", args=["hiding"]))

    assert b"Nothing looks like probing" in page.content

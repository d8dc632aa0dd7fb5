"""Where machine and people contradict each other: which pairs, and what becomes of them."""

import uuid

import pytest
from django.urls import reverse

from annotation.agreement.selectors.adjudication import decision_on
from annotation.contradictions.selectors import contradictions_of, counts_of, least_apart, shown
from annotation.models import Judgment, Pool
from benchmarks_app.models import AuditEvent
from tests.annotation import making
from tests.annotation.contradictions.conftest import MACHINE, PEOPLE

pytestmark = pytest.mark.django_db


def url(campaign, *rest, name="contradiction-list"):
    return reverse(f"annotation:{name}", args=[campaign.benchmark.slug, campaign.pk, *rest])


def api(campaign):
    return reverse("api:contradiction-list", args=[campaign.benchmark.slug, campaign.pk])


def pairs_of(campaign, state="all", direction=""):
    rows = contradictions_of(campaign, state=state, direction=direction)
    return [(row.query.qid, row.docid) for row in rows]


def pair(campaign, docid="d1"):
    return campaign.pairs.get(query__qid="q1", docid=docid)


def settle(client, campaign, outcome, docid="d1", query="", **more):
    sent = {"outcome": outcome, "client_id": uuid.uuid4(), **more}
    address = url(campaign, pair(campaign, docid).pk, name="contradiction-settle")
    return client.post(address + query, sent, follow=True)


def test_pairs_two_grades_apart_are_listed_the_furthest_first(both):
    away = {key: MACHINE[key] - grade for key, grade in PEOPLE.items()}
    far = sorted((key for key in away if abs(away[key]) >= 2), key=lambda key: -abs(away[key]))

    assert pairs_of(both) == far == [("q1", "d1"), ("q1", "d2")]
    counts = counts_of(both)
    assert (counts.n_both, counts.n, counts.n_open) == (len(PEOPLE), len(far), len(far))
    assert (counts.n_higher, counts.n_lower) == (1, 1)


def test_direction_is_the_machines(both):
    assert pairs_of(both, direction="higher") == [("q1", "d1")]
    assert pairs_of(both, direction="lower") == [("q1", "d2")]


def test_the_first_persons_label_counts_as_in_calibration(both, bo):
    pool = both.pool
    Pool.objects.filter(pk=pool.pk).update(overlap=2)
    slot = pool.slots.filter(entry__document__docid="d1").get()
    second = slot.entry.slots.create(pool=pool, query=slot.query, number=2, queue_position=99)
    making.begun(pool, bo)
    making.judge(second, bo, 3)

    row = shown(both, list(contradictions_of(both, state="all", direction="")), bo)[0]

    assert (row.label.grade, row.others, row.machine.grade) == (0, [3], 3)
    assert row.is_own


def test_the_same_person_in_another_pool_is_no_further_person(both, ada, bo):
    again = making.pool(both.benchmark, {"q1": ["d1"]}, overlap=2)
    first, second = again.slots.order_by("number")
    making.judge(first, ada, 3)
    making.judge(second, bo, 1)

    row = shown(both, list(contradictions_of(both, state="all", direction="")), bo)[0]

    assert (row.label.actor, row.label.grade, row.others) == (ada, 0, [1])


def said(campaign, who, **fields):
    """Another event about q1 and d1."""
    return Judgment.objects.create(
        benchmark=campaign.benchmark, query=campaign.benchmark.queries.get(qid="q1"),
        docid="d1", actor=who, client_id=uuid.uuid4(), **fields,
    )  # fmt: skip


def test_label_that_was_changed_and_a_word_that_was_replaced_count_no_more(both, owner):
    label = Judgment.objects.get(query__qid="q1", docid="d1", kind="grade")
    settled = {"kind": "adjudicate", "grade": 0, "outcome": "pick"}
    first = said(both, owner, **settled)
    newest = said(both, owner, **{**settled, "outcome": "override", "supersedes": first})

    (row,) = shown(both, list(contradictions_of(both, state="decided", direction="")), owner)
    assert row.decision == newest

    said(both, label.actor, kind="grade", grade=3, supersedes=label)
    assert pairs_of(both) == [("q1", "d2")]


@pytest.mark.parametrize(
    ("fields", "is_own"),
    [
        ({"kind": "import", "grade": 1, "rater": "W1"}, False),
        ({"kind": "import", "grade": 1}, True),
        ({"kind": "cant_judge", "reason": "no text"}, True),
    ],
)
def test_who_said_something_of_a_pair_does_not_settle_it_and_who_imported_it_may(
    both, owner, fields, is_own
):
    said(both, owner, **fields)

    row = shown(both, list(contradictions_of(both, state="open", direction="")), owner)[0]

    assert row.is_own is is_own


@pytest.mark.parametrize("purpose", ["gold", "repeat", "practice"])
def test_checks_repeats_and_practice_are_no_label(both, purpose):
    query, docid = both.benchmark.queries.get(qid="q2"), "d4"
    Judgment.objects.create(
        benchmark=both.benchmark, query=query, docid=docid, kind="grade", grade=3,
        actor=both.created_by, purpose=purpose, client_id=uuid.uuid4(),
    )  # fmt: skip

    assert ("q2", docid) not in pairs_of(both)


def test_on_a_scale_of_two_grades_one_apart_is_a_contradiction(both):
    benchmark = both.benchmark
    benchmark.grades.filter(value__gt=2).delete()
    assert least_apart(benchmark) == 2

    benchmark.grades.filter(value__gt=1).delete()

    assert least_apart(benchmark) == 1
    assert len(pairs_of(both)) == 3


def test_page_shows_what_both_said_and_writes_down_who_read_it(both, owner, signed_in):
    page = signed_in(owner).get(url(both)).content.decode()

    for words in ("Ada on d1", "The machine on d1", "Of glob", "2 of 4 that both graded"):
        assert words in page
    assert page.index("Ada on d1") < page.index("Ada on d2")
    target = f"contradictions of {both.name}"
    assert AuditEvent.objects.filter(action="read-judgments", target=target).count() == 1


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("third_opinion", "Another person will be asked"),
        ("guideline_unclear", "guideline is unclear"),
    ],
)
def test_either_act_is_a_decision_of_the_ledger_and_leaves_the_open_ones(
    both, owner, signed_in, outcome, words
):
    client = signed_in(owner)

    page = settle(client, both, outcome, query="?direction=higher")

    query = both.benchmark.queries.get(qid="q1")
    decision = decision_on(both.benchmark, query.pk, "d1")
    assert (decision.outcome, decision.actor) == (outcome, owner)
    assert words in page.content.decode()
    assert page.redirect_chain[-1][0].endswith("?direction=higher")
    assert pairs_of(both, state="open") == [("q1", "d2")]
    assert pairs_of(both, state="decided") == [("q1", "d1")]


def test_look_again_asks_another_person_through_the_pool(both, owner, signed_in):
    settle(signed_in(owner), both, "third_opinion")

    slots = both.pool.slots.filter(entry__document__docid="d1").order_by("number")
    assert [slot.state for slot in slots] == ["done", "free"]


def test_grades_cannot_be_set_here(both, owner, signed_in):
    page = settle(signed_in(owner), both, "override", grade=3, reason="because")

    assert "one of the two buttons" in page.content.decode()
    assert not Judgment.objects.filter(kind="adjudicate").exists()


def test_what_cannot_be_is_said_and_changes_nothing(both, owner, signed_in):
    Pool.objects.filter(pk=both.pool_id).update(state=Pool.State.CLOSED)

    page = settle(signed_in(owner), both, "third_opinion").content.decode()

    assert "No pool that is open holds this document" in page
    assert not Judgment.objects.filter(kind="adjudicate").exists()


def test_who_judged_it_does_not_decide(both, owner, signed_in):
    label = Judgment.objects.get(query__qid="q1", docid="d1", kind="grade")
    Judgment.objects.create(
        benchmark=both.benchmark, query=label.query, docid="d1", kind="grade", grade=1,
        actor=owner, client_id=uuid.uuid4(),
    )  # fmt: skip
    client = signed_in(owner)

    assert "You judged it yourself" in client.get(url(both)).content.decode()
    assert (
        "somebody else has to settle it"
        in settle(client, both, "guideline_unclear").content.decode()
    )


def test_empty_page_says_what_comes_first(campaign, owner, signed_in):
    client = signed_in(owner)
    assert "No person has judged these documents yet" in client.get(url(campaign)).content.decode()

    campaign.pairs.all().delete()
    type(campaign).objects.update(n_graded=0)

    assert "Start the campaign" in client.get(url(campaign)).content.decode()


def test_page_without_an_open_one_says_so(both, owner, signed_in):
    client = signed_in(owner)
    for docid in ("d1", "d2"):
        settle(client, both, "guideline_unclear", docid)

    page = client.get(url(both)).content.decode()

    assert "Each of the 2 contradictions was decided" in page
    assert "the guideline is unclear" in client.get(url(both) + "?state=all").content.decode()


def test_api_lists_and_acts_as_the_page_does(both, owner, signed_in):
    client = signed_in(owner)

    rows = client.get(api(both), {"direction": "higher"}).json()["results"]
    (row,) = rows
    assert (row["query"], row["document"], row["people"], row["machine"]) == ("q1", "d1", 0, 3)
    assert (row["note"], row["machine_reason"]) == ("Ada on d1", "The machine on d1")
    assert (row["outcome"], row["settled_as"], row["is_example"]) == ("", None, False)

    sent = {"query": "q1", "document": "d1", "outcome": "guideline_unclear", "reason": "Which?"}
    sent["client_id"] = str(uuid.uuid4())
    answers = [client.post(api(both), sent, content_type="application/json") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert client.get(api(both)).json()["count"] == 1
    assert client.get(api(both), {"state": "decided"}).json()["results"][0]["outcome"] == (
        "guideline_unclear"
    )


def test_api_refuses_what_the_campaign_did_not_grade_and_other_outcomes(both, owner, signed_in):
    client = signed_in(owner)
    sent = {"query": "q1", "document": "d9", "outcome": "guideline_unclear"}

    unknown = client.post(api(both), sent, content_type="application/json")
    grade = client.post(api(both), sent | {"outcome": "pick"}, content_type="application/json")
    filtered = client.get(api(both), {"state": "some"})

    assert (unknown.status_code, grade.status_code, filtered.status_code) == (404, 400, 400)

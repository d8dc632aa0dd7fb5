"""One's own judgments and hours; nobody else's."""

import csv
import io
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from annotation.judging.protocol.exchange import Span
from annotation.judging.selectors.own_work import hours_of, own_judgments, searched
from annotation.judging.services.judging import record_cant_judge, record_judgment, undo_last
from annotation.judging.services.tokens import Shown
from annotation.models import Judgment, Pool, Slot
from annotation.pools.services.pooling import set_pool_state
from annotation.pools.services.settings import set_pool_machine
from benchmarks_app.models import AuditEvent, DocumentContent, Query
from tests import factories
from tests.annotation import making_machines
from tests.annotation.making import pool

pytestmark = pytest.mark.django_db
NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
EVIDENCE = Span(4, 10, "walrus")


@pytest.fixture
def small_pool(benchmark) -> Pool:
    return pool(benchmark, {"q1": ["d1", "d2", "d3"]})


def grade(of: Pool, docid: str, actor, value: int, note: str = "", **own_label) -> Judgment:
    slot = of.slots.get(entry__document__docid=docid, kind="label")
    return record_judgment(
        slot=slot, actor=actor, grade=value, client_id=uuid.uuid4(), note=note,
        display=Shown(content_hash=f"hash of {docid}", **own_label),
    )  # fmt: skip


def found(actor, **asked) -> list[str]:
    return [judgment.docid for judgment in searched(own_judgments(actor), **asked)]


# --- finding -------------------------------------------------------------------------------------


def test_own_judgments_are_the_newest_first_and_nobody_elses(small_pool, ada, bo):
    grade(small_pool, "d1", ada, 1)
    grade(small_pool, "d2", bo, 2)
    grade(small_pool, "d3", ada, 3)

    assert found(ada) == ["d3", "d1"]


def test_search_is_in_query_document_note_and_reason(small_pool, ada):
    Query.objects.update(text="the asked")
    DocumentContent.objects.filter(document__docid="d2").update(text="about a walrus")
    grade(small_pool, "d1", ada, 1, note="A doubtful case")
    grade(small_pool, "d2", ada, 2)
    slot = small_pool.slots.get(entry__document__docid="d3")
    fields = {"client_id": uuid.uuid4(), "display": Shown()}
    record_cant_judge(slot=slot, actor=ada, reason="Needs an expert", **fields)

    assert found(ada, words="WALRUS") == ["d2"]
    assert found(ada, words="doubtful asked") == ["d1"]
    assert found(ada, words="expert") == ["d3"]
    assert found(ada, words="asked") == ["d3", "d2", "d1"]
    assert found(ada, words="nothing") == []
    assert found(ada, grade="2") == ["d2"]
    assert found(ada, grade="x") == ["d3"]
    assert found(ada, pool=small_pool.pk + 1) == []


@pytest.mark.parametrize("words", ["österreich", "ÖSTERREICH", "Österreich"])
def test_search_knows_no_case_beyond_ascii_either(small_pool, ada, words):
    slot = small_pool.slots.get(entry__document__docid="d1")
    fields = {"client_id": uuid.uuid4(), "display": Shown()}
    record_cant_judge(slot=slot, actor=ada, reason="Of Österreich alone", **fields)

    assert found(ada, words=words) == ["d1"]


def test_search_is_in_the_text_that_was_shown(small_pool, ada):
    grade(small_pool, "d1", ada, 1)
    document = small_pool.entries.get(document__docid="d1").document
    document.contents.create(content_hash="newer", text="a walrus by now")

    assert found(ada, words="walrus") == []


def test_repeats_practice_and_what_was_taken_back_are_not_listed(small_pool, ada):
    for kind in ("repeat", "practice"):
        entry = small_pool.entries.get(document__docid="d1")
        slot = Slot.objects.create(
            pool=small_pool, query=entry.query, entry=entry, kind=kind, queue_position=0,
            state="claimed", annotator=ada, lease_expires_at=factories.now() + timedelta(hours=1),
        )  # fmt: skip
        record_judgment(slot=slot, actor=ada, grade=1, client_id=uuid.uuid4(), display=Shown())
    grade(small_pool, "d2", ada, 1)
    undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4())

    assert found(ada) == []


def test_a_document_that_is_before_one_again_is_not_listed_meanwhile(small_pool, ada):
    grade(small_pool, "d1", ada, 1)
    entry = small_pool.entries.get(document__docid="d1")
    repeat = Slot.objects.create(
        pool=small_pool, query=entry.query, entry=entry, kind="repeat", queue_position=0,
        state="claimed", annotator=ada, lease_expires_at=factories.now() + timedelta(hours=1),
    )  # fmt: skip
    assert found(ada) == []

    record_judgment(slot=repeat, actor=ada, grade=1, client_id=uuid.uuid4(), display=Shown())

    assert found(ada) == ["d1"]


def test_who_left_the_benchmark_sees_its_documents_no_longer(small_pool, ada):
    grade(small_pool, "d1", ada, 1)
    ada.memberships.all().delete()

    assert found(ada) == []


def test_list_page_filters(small_pool, ada, signed_in):
    grade(small_pool, "d1", ada, 1, note="first note")
    grade(small_pool, "d2", ada, 2, note="second note")
    client, url = signed_in(ada), reverse("annotation:my-judgment-list")

    page = client.get(url, {"grade": "2", "pool": small_pool.pk}).content.decode()

    assert "second note" in page
    assert "first note" not in page
    assert "Nothing found" in client.get(url, {"q": "walrus"}).content.decode()
    assert "first note" in client.get(url, {"grade": "soup", "pool": "9999"}).content.decode()


# --- changing ------------------------------------------------------------------------------------


def change(client, judgment: Judgment, **values):
    url = reverse("annotation:my-judgment-detail", args=[judgment.pk])
    return client.post(url, {"client_id": uuid.uuid4()} | values)


def test_another_grade_takes_the_place_of_the_first(small_pool, ada, signed_in):
    first = grade(small_pool, "d1", ada, 1, shown_position=4)

    answer = change(signed_in(ada), first, grade=3, note="On second thought")

    second = Judgment.objects.get(supersedes=first)
    assert answer.url == reverse("annotation:my-judgment-detail", args=[second.pk])
    assert (second.grade, second.note, second.is_surplus) == (3, "On second thought", False)
    assert (second.slot, second.shown_position) == (first.slot, 4)
    assert second.content_hash == "hash of d1"
    assert found(ada) == ["d1"]
    assert small_pool.slots.filter(state="done").count() == 1


@pytest.mark.parametrize("is_same_text", [True, False])
def test_evidence_stays_where_its_text_does(small_pool, ada, signed_in, is_same_text):
    text = "hash of d1" if is_same_text else "hash of a later d1"
    DocumentContent.objects.filter(document__docid="d1").update(content_hash=text)
    first = record_judgment(
        slot=small_pool.slots.get(entry__document__docid="d1"), actor=ada, grade=1,
        client_id=uuid.uuid4(), display=Shown(content_hash="hash of d1"),
        evidence=[EVIDENCE], confidence="low",
    )  # fmt: skip

    change(signed_in(ada), first, grade=3)

    second = Judgment.objects.get(supersedes=first)
    assert second.evidence == ([EVIDENCE.as_json()] if is_same_text else [])
    assert second.confidence == "low"


def test_a_grade_can_become_cant_judge(small_pool, ada, signed_in):
    first = grade(small_pool, "d1", ada, 1)

    change(signed_in(ada), first, reason="Unclear query")

    second = Judgment.objects.get(supersedes=first)
    assert (second.kind, second.reason, second.grade) == ("cant_judge", "Unclear query", None)


@pytest.mark.parametrize("values", [{}, {"grade": 1, "reason": "Unclear query"}, {"reason": "x"}])
def test_neither_or_both_change_nothing(small_pool, ada, signed_in, values):
    first = grade(small_pool, "d1", ada, 1)

    assert change(signed_in(ada), first, **values).status_code == 422
    assert Judgment.objects.count() == 1


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_nothing_is_changed_in_a_pool_that_is_not_open(small_pool, ada, owner, signed_in, state):
    first = grade(small_pool, "d1", ada, 1)
    set_pool_state(pool=small_pool, state=state, actor=owner)
    client = signed_in(ada)

    page = client.get(reverse("annotation:my-judgment-detail", args=[first.pk])).content.decode()

    assert f"The pool is {state}" in page
    assert "Change it" not in page
    assert change(client, first, grade=3).status_code == 409
    assert Judgment.objects.count() == 1


def test_a_judgment_of_another_is_not_found(small_pool, ada, bo, owner, signed_in):
    first = grade(small_pool, "d1", ada, 1)

    for person in (bo, owner):
        assert change(signed_in(person), first, grade=3).status_code == 404


def test_a_judgment_that_was_replaced_is_not_found(small_pool, ada, signed_in):
    first = grade(small_pool, "d1", ada, 1)
    client = signed_in(ada)
    change(client, first, grade=3)

    assert change(client, first, grade=2).status_code == 404


def test_a_changed_document_is_said_to_be(small_pool, ada, signed_in):
    first = grade(small_pool, "d1", ada, 1)
    document = small_pool.entries.get(document__docid="d1").document
    url = reverse("annotation:my-judgment-detail", args=[first.pk])
    client = signed_in(ada)
    assert "has changed since" not in client.get(url).content.decode()

    document.contents.create(content_hash="newer", text="a walrus by now")

    page = client.get(url).content.decode()
    assert "has changed since" in page
    assert "a walrus by now" in page


# --- what a machine said -------------------------------------------------------------------------


@pytest.fixture
def own_label(small_pool, ada, owner) -> Judgment:
    """Ada's 2 in a closed pool that shows her what machines said of it: 1, then 0."""
    own = grade(small_pool, "d1", ada, 2)
    query, campaign = small_pool.benchmark.queries.get(), making_machines.campaign(small_pool)
    making_machines.label(campaign, query, "d1", 1)
    making_machines.label(campaign, query, "d1", 0, note="It only <b>names</b> it.")
    making_machines.label(campaign, query, "d2", 3)
    set_pool_machine(pool=small_pool, shows_machine=True, actor=owner)
    set_pool_state(pool=small_pool, state="closed", actor=owner)
    return own


def pages_of(client, own: Judgment) -> tuple[str, str]:
    urls = (
        reverse("annotation:my-judgment-list"),
        reverse("annotation:my-judgment-detail", args=[own.pk]),
    )
    return tuple(client.get(url).content.decode() for url in urls)


def test_a_closed_pool_shows_what_the_machine_said_last_of_ones_own_label(
    own_label, ada, signed_in
):
    in_list, alone = pages_of(signed_in(ada), own_label)

    assert "umbrela2 said 0" in in_list
    assert "umbrela2 said</dt>" in alone
    assert "It only &lt;b&gt;names&lt;/b&gt; it." in alone
    assert "said 1" not in in_list + alone
    assert "said 3" not in in_list


def test_machine_stands_beside_each_of_two_labels_of_a_document(own_label, ada, owner, signed_in):
    again = pool(own_label.benchmark, {"q1": ["d1"]}, name="another", shows_machine=True)
    grade(again, "d1", ada, 1)
    set_pool_state(pool=again, state="closed", actor=owner)

    page = signed_in(ada).get(reverse("annotation:my-judgment-list")).content.decode()

    assert page.count("umbrela2 said 0") == 2


@pytest.mark.parametrize(
    "values", [{"state": "open"}, {"state": "paused"}, {"shows_machine": False}], ids=str
)
def test_nothing_of_a_machine_is_shown_before_all_is_said_or_unasked(
    own_label, ada, signed_in, values
):
    Pool.objects.update(**values)

    assert "umbrela2" not in "".join(pages_of(signed_in(ada), own_label))


@pytest.mark.parametrize("state", ["building", "open", "paused"])
def test_nothing_is_shown_of_a_document_that_another_pool_asks_about(
    own_label, ada, signed_in, state
):
    pool(own_label.benchmark, {"q1": ["d1"]}, name="another", state=state)

    assert "umbrela2" not in "".join(pages_of(signed_in(ada), own_label))


def test_a_pool_that_has_shown_a_machines_grades_stays_closed_and_goes_on(
    own_label, owner, signed_in
):
    closed_pool, client = own_label.pool, signed_in(owner)
    of_pool = {"slug": closed_pool.benchmark.slug, "pk": closed_pool.pk}
    settings = {"assignment": closed_pool.assignment, "shows_machine": ""}

    by_page = [
        client.post(reverse("annotation:pool-state", kwargs=of_pool), {"state": "open"}),
        client.post(reverse("annotation:pool-settings", kwargs=of_pool), settings),
    ]
    api = reverse("api:pool-detail", kwargs=of_pool)
    by_api = [
        client.patch(api, change, content_type="application/json")
        for change in ({"state": "open"}, {"shows_machine": False})
    ]

    answers = [*by_page, *by_api]
    assert [answer.status_code for answer in answers] == [409] * 4
    assert all("it stays closed" in answer.content.decode() for answer in answers)
    closed_pool.refresh_from_db()
    assert closed_pool.has_shown_machine


def test_one_request_closes_a_pool_and_keeps_the_machine_to_itself(small_pool, owner, signed_in):
    set_pool_machine(pool=small_pool, shows_machine=True, actor=owner)
    address = reverse("api:pool-detail", args=[small_pool.benchmark.slug, small_pool.pk])

    answer = signed_in(owner).patch(
        address, {"state": "closed", "shows_machine": False}, content_type="application/json"
    )

    assert answer.status_code == 200
    small_pool.refresh_from_db()
    assert (small_pool.state, small_pool.shows_machine) == ("closed", False)


def test_a_pool_that_shows_no_machine_opens_again(small_pool, owner):
    set_pool_state(pool=small_pool, state="closed", actor=owner)
    set_pool_state(pool=small_pool, state="open", actor=owner)
    set_pool_machine(pool=small_pool, shows_machine=True, actor=owner)
    set_pool_machine(pool=small_pool, shows_machine=False, actor=owner)

    assert not small_pool.has_shown_machine
    actions = AuditEvent.objects.filter(target=small_pool.name).values_list("action", flat=True)
    assert list(actions).count("pool-machine") == 2


# --- hours ---------------------------------------------------------------------------------------


def at(of: Pool, actor, minute: float, **values) -> Judgment:
    values = {"kind": "grade", "grade": 1, "purpose": "label", "dwell_ms": 20_000} | values
    return Judgment.objects.create(
        benchmark=of.benchmark,
        query=of.benchmark.queries.first(),
        docid="d1",
        actor=actor,
        pool=of,
        client_id=uuid.uuid4(),
        created_at=NINE + timedelta(minutes=minute),
        **values,
    )


def test_hours_count_gaps_of_up_to_five_minutes_by_day_and_pool(small_pool, benchmark, ada, bo):
    other = pool(benchmark, {"q1": ["d1"]})
    at(small_pool, ada, 0)  # 20 s of reading
    at(small_pool, ada, 2)  # 2 min
    at(other, ada, 3.5)  # 1.5 min, in the other pool
    at(small_pool, ada, 60, is_surplus=True)  # after a break: 20 s
    at(small_pool, ada, 60 * 24, dwell_ms=None)  # the next day: nothing known
    at(small_pool, bo, 1)

    rows = [(day.day.day, day.pool.pk, round(day.minutes, 2), day.n_grades, day.n_extra)
            for day in hours_of(ada).days]  # fmt: skip

    assert rows == [
        (3, small_pool.pk, 0, 1, 0),
        (2, other.pk, 1.5, 1, 0),
        (2, small_pool.pk, round(2 + 40 / 60, 2), 3, 1),
    ]


def test_labels_count_once_and_practice_apart(small_pool, ada):
    first = at(small_pool, ada, 0)
    at(small_pool, ada, 1, supersedes=first)
    at(small_pool, ada, 2, kind="cant_judge", grade=None, reason="Unclear")
    at(small_pool, ada, 3, purpose="practice")
    gone = at(small_pool, ada, 4)
    at(small_pool, ada, 5, kind="retract", grade=None, supersedes=gone)
    at(small_pool, ada, 6, purpose="repeat")
    at(small_pool, ada, 7, kind="import")

    day = hours_of(ada).days[0]

    assert (day.n_grades, day.n_cant_judge, day.n_extra, day.n_practice) == (2, 1, 0, 1)
    assert day.minutes == pytest.approx(6 + 20 / 60)


def test_csv_holds_the_same(small_pool, ada, signed_in):
    Pool.objects.update(name="=1+1")
    at(small_pool, ada, 0)
    at(small_pool, ada, 2)

    answer = signed_in(ada).get(reverse("annotation:my-hours-csv"))

    rows = list(csv.DictReader(io.StringIO(b"".join(answer).decode())))
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert rows == [
        {
            "day": "2026-03-02",
            "benchmark": "stdlib",
            "pool": "'=1+1",
            "active_minutes": "2.3",
            "grades": "2",
            "cant_judge": "0",
            "extra_labels": "0",
            "practice": "0",
        }
    ]


def test_hours_page_shows_own_days_alone(small_pool, ada, bo, signed_in):
    at(small_pool, ada, 0)

    url = reverse("annotation:my-hours")
    assert "2026-03-02" in signed_in(ada).get(url).content.decode()
    assert "No hours yet" in signed_in(bo).get(url).content.decode()

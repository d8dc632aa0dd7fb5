"""The labeling page's endpoint, as the page speaks to it."""

import json
import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.common.services import statements
from annotation.judging.services import exchanging, judging, pacing
from annotation.models import Judgment, Pool, Question, Slot
from tests import factories
from tests.annotation.making import guideline, pool

pytestmark = pytest.mark.django_db
DOCUMENTS = {"q1": ["d1", "d2", "d3"], "q2": ["d4", "d5"]}


class Page:
    """A labeling page: what it holds, and what it says."""

    def __init__(self, of: Pool, person, client: Client | None = None) -> None:
        self.url = reverse("annotation:judge-exchange", args=[of.pk])
        self.client = client or Client()
        self.client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        self.held: dict[str, dict] = {}

    def post(self, body, **headers):
        page = body if isinstance(body, bytes) else json.dumps(body)
        return self.client.post(self.url, page, content_type="application/json", headers=headers)

    def say(self, *events: dict, want: int = 6) -> dict:
        """The answer to these events, with what the page holds kept up to date."""
        tokens = {event.get("token") for event in events if isinstance(event, dict)}
        self.held = {key: item for key, item in self.held.items() if item["token"] not in tokens}
        response = self.post({"say": list(events), "have": list(self.held), "want": want})
        assert response.status_code == 200, response.content
        answer = response.json()
        self.held |= {item["key"]: item for item in answer["items"]}
        for key in answer["gone"]:
            self.held.pop(key, None)
        return answer

    def first(self) -> dict:
        if not self.held:
            self.say()
        return next(iter(self.held.values()))

    def grade(self, grade: int = 1, **values) -> dict:
        """The event that grades the first document at hand."""
        event = {"client_id": str(uuid.uuid4()), "do": "grade", "token": self.first()["token"]}
        return {**event, "grade": grade, **values}


@pytest.fixture
def small_pool(benchmark):
    return pool(benchmark, DOCUMENTS)


@pytest.fixture
def page(small_pool, ada):
    return Page(small_pool, ada)


@pytest.fixture
def ann(benchmark):
    return factories.member(benchmark, "ann", "annotator")


def event(do: str, item: dict | None = None, **values) -> dict:
    token = {"token": item["token"]} if item else {}
    return {"client_id": str(uuid.uuid4()), "do": do, **token, **values}


def test_first_exchange_fills_the_page_query_by_query(page, small_pool, benchmark):
    guideline(benchmark)

    answer = page.say()

    keys = [item["query"]["key"] for item in answer["items"]]
    assert keys == [keys[0]] * 3 + [keys[-1]] * 2
    assert keys[0] != keys[-1]
    item = answer["items"][0]
    assert item["document"]["title"] == "A title"
    assert "What it says" in item["document"]["full"]
    assert item["place"] == {"number": 1, "total": 3}
    assert answer["work"] == {"state": "ready", "n_left": 5, "until": None}
    assert answer["progress"]["pool"] == {"done": 0, "total": 5}


def test_a_grade_is_saved_with_what_was_shown(page, benchmark):
    version = guideline(benchmark)

    answer = page.say(
        page.grade(
            2,
            note="clear",
            confidence="low",
            dwell_ms=1500,
            view="whole",
            evidence=[{"start": 0, "end": 4, "text": "What"}],
        )
    )

    assert [outcome["state"] for outcome in answer["said"]] == ["saved"]
    saved = Judgment.objects.get()
    assert (saved.grade, saved.note, saved.confidence, saved.dwell_ms) == (2, "clear", "low", 1500)
    assert saved.evidence == [{"start": 0, "end": 4, "text": "What"}]
    assert (saved.view, saved.shown_chars) == ("whole", len("What it says"))
    assert (saved.guideline, saved.shown_position) == (version, 1)
    assert saved.content_hash == f"hash of {saved.docid}"
    assert (saved.purpose, saved.pool_id) == ("label", Pool.objects.get().pk)


def test_what_the_page_has_is_not_given_again(page):
    page.say()

    answer = page.say()

    assert (answer["items"], answer["gone"]) == ([], [])


def test_a_reloaded_page_gets_its_documents_again_under_the_same_keys(page, small_pool, ada):
    keys = [item["key"] for item in page.say()["items"]]

    assert [item["key"] for item in Page(small_pool, ada).say()["items"]] == keys


def test_a_page_that_wants_nothing_is_given_nothing(page):
    assert page.say(want=0)["items"] == []
    assert not Slot.objects.filter(state="claimed").exists()


def test_one_refused_event_holds_up_no_other(page):
    page.say(want=3)
    first, second, third = page.held.values()

    answer = page.say(
        event("grade", first, grade=1),
        event("grade", second, grade=9),
        {"client_id": "no uuid", "do": "grade"},
        "nonsense",
        event("grade", third, grade=3),
    )

    assert [(outcome["state"], outcome["code"]) for outcome in answer["said"]] == [
        ("saved", ""),
        ("refused", "grade-not-on-scale"),
        ("refused", "event"),
        ("refused", "event"),
        ("saved", ""),
    ]
    assert Judgment.objects.count() == 2


def test_the_same_event_again_gets_the_same_answer_and_no_second_label(page):
    answer = page.grade(2)

    answers = [page.say(answer)["said"] for _ in range(3)]

    assert answers[0] == answers[1] == answers[2]
    assert Judgment.objects.count() == 1


def test_the_same_event_twice_in_one_request_is_one_label(page):
    answer = page.grade(2)

    assert [done["state"] for done in page.say(answer, answer)["said"]] == ["saved", "saved"]
    assert Judgment.objects.count() == 1


def test_a_client_id_that_stands_for_another_grade_is_refused(page):
    answer = page.grade(2)
    page.say(answer)

    (done,) = page.say({**answer, "grade": 3})["said"]

    assert (done["state"], done["code"]) == ("refused", "client-id-reused")


def test_the_token_of_another_is_refused_by_its_code(page, small_pool, ann):
    stolen = Page(small_pool, ann).grade(2)

    (done,) = page.say(stolen)["said"]

    assert (done["state"], done["code"]) == ("refused", "slot-of-another")
    assert not Judgment.objects.exists()


def test_the_token_of_another_pool_is_refused(page, benchmark, ada):
    other = Page(pool(benchmark, {"q9": ["d9"]}), ada)

    (done,) = page.say(other.grade(2))["said"]

    assert (done["state"], done["code"]) == ("refused", "slot-token")


def test_a_lost_document_is_told_and_its_grade_kept_as_an_extra_label(page, small_pool, ann):
    page.say(want=3)
    result = page.grade(3)
    Slot.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    Page(small_pool, ann).say(want=3)
    lost = set(page.held)

    answer = page.say(want=0)
    (done,) = page.say(result)["said"]

    assert set(answer["gone"]) == lost
    assert done["state"] == "extra"
    assert Judgment.objects.get().is_surplus


def test_an_older_count_follows_what_is_said(page, settings, monkeypatch):
    monkeypatch.setattr(pacing, "_kept", pacing.Kept())
    settings.JUDGE_COUNTS_SECONDS = 60
    page.say()
    first = page.grade(1)
    counted = [page.say(first)["progress"], page.say(first)["progress"]]
    counted.append(page.say(page.grade(0))["progress"])

    undo, later = event("undo", undoes=first["client_id"]), event("later", page.first())
    counted.append(page.say(undo, later)["progress"])

    assert [progress["pool"]["done"] for progress in counted] == [1, 1, 2, 1]
    assert [progress["mine"]["n"] for progress in counted] == [1, 1, 2, 1]


def test_an_older_count_follows_an_undo_once(page, settings, monkeypatch):
    monkeypatch.setattr(pacing, "_kept", pacing.Kept())
    settings.JUDGE_COUNTS_SECONDS = 60
    page.say()
    first = page.grade(1)
    page.say(first, want=2)
    page.say(page.grade(0), want=2)

    undo = event("undo", undoes=first["client_id"])
    counted = [page.say(undo)["progress"] for _ in range(2)]

    assert [progress["pool"]["done"] for progress in counted] == [1, 1]
    assert [progress["mine"]["n"] for progress in counted] == [1, 1]


def test_an_older_count_of_wanted_labels_is_not_changed_by_undoing_an_extra_one(
    page, small_pool, ann, settings, monkeypatch
):
    monkeypatch.setattr(pacing, "_kept", pacing.Kept())
    settings.JUDGE_COUNTS_SECONDS = 60
    page.say(want=3)
    late = page.grade(3)
    Slot.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    Page(small_pool, ann).say(want=3)
    page.say(late, want=0)

    undone = page.say(event("undo", undoes=late["client_id"]), want=0)

    assert undone["progress"]["pool"]["done"] == 0
    assert undone["progress"]["mine"]["n"] == 0


def test_a_client_id_that_stands_for_a_label_undoes_nothing(page):
    first = page.grade(1)
    page.say(first)

    (done,) = page.say(
        event("undo", undoes=first["client_id"]) | {"client_id": first["client_id"]}
    )["said"]

    assert (done["state"], done["code"]) == ("refused", "client-id-reused")


@pytest.mark.parametrize(("kind", "n_for_others"), [("label", 1), ("repeat", 0)])
def test_an_older_count_follows_what_others_say(
    page, small_pool, ann, settings, monkeypatch, kind, n_for_others
):
    """A check is a step of whoever has it, and of nobody else."""
    monkeypatch.setattr(pacing, "_kept", pacing.Kept())
    settings.JUDGE_COUNTS_SECONDS = 60
    other = Page(small_pool, ann)
    other.say(want=1)
    page.first()
    Slot.objects.filter(state="claimed", annotator__username="ada").update(kind=kind)

    own = page.say(page.grade(1))["progress"]

    assert own["pool"]["done"] == 1
    assert other.say(want=1)["progress"]["pool"]["done"] == n_for_others


@pytest.mark.parametrize("seconds", [0, 60])
def test_a_hidden_check_is_a_step_like_any_other(page, small_pool, settings, monkeypatch, seconds):
    monkeypatch.setattr(pacing, "_kept", pacing.Kept())
    settings.JUDGE_COUNTS_SECONDS = seconds
    first = page.first()
    Slot.objects.filter(state="claimed").update(kind="repeat")
    page.say(page.grade(1))

    answer = page.say(page.grade(0))

    assert answer["progress"]["pool"]["done"] == 2
    answer = page.say(event("undo", undoes=str(Judgment.objects.latest("pk").client_id)))
    assert answer["progress"]["pool"] == {"done": 1, "total": 5}
    assert first["key"] not in page.held


def test_undo_by_client_id_gives_the_document_back(page):
    first = page.grade(1)
    page.say(first)
    second = page.grade(2)
    page.say(second)

    answer = page.say(event("undo", undoes=first["client_id"]), want=0)

    assert [done["state"] for done in answer["said"]] == ["saved"]
    (item,) = answer["items"]
    taken = Judgment.objects.get(kind="retract").supersedes
    assert str(taken.client_id) == first["client_id"]
    assert page.say(event("grade", item, grade=3))["said"][0]["state"] == "saved"
    grades = Judgment.objects.current().order_by("pk").values_list("grade", flat=True)
    assert list(grades) == [2, 3]


@pytest.mark.parametrize("closed", [False, True])
def test_what_cannot_be_undone_is_refused(page, small_pool, closed):
    answer = page.grade(1)
    page.say(answer)
    if closed:
        Pool.objects.update(state="closed")
    else:
        page.say(event("undo", undoes=answer["client_id"]))

    (done,) = page.say(event("undo", undoes=answer["client_id"]))["said"]

    assert done["state"] == "refused"
    assert done["code"] == ("pool-closed" if closed else "nothing-to-undo")


def test_cant_judge_is_saved_with_its_reason(page):
    answer = page.say(event("cant_judge", page.first(), reason="Unclear query"))

    assert answer["said"][0]["state"] == "saved"
    assert Judgment.objects.get().reason == "Unclear query"


def test_a_document_put_off_is_shown_last(page, small_pool, ada):
    first = page.first()

    answer = page.say(event("later", first))

    again = answer["items"][0]
    assert (again["key"], again["is_later"]) == (first["key"], True)
    items = Page(small_pool, ada).say()["items"]
    of_query = [item for item in items if item["query"] == first["query"]]
    assert len(of_query) == 3
    assert of_query[-1]["key"] == first["key"]


def test_a_question_sets_the_document_aside(page, small_pool, ada):
    first = page.first()
    events = event("ask", first, question="Is a fork the same project?")

    states = [page.say(events)["said"][0]["state"] for _ in range(2)]

    assert states == ["saved", "saved"]
    asked = Question.objects.get()
    assert (asked.text, asked.asked_by, asked.slot.state) == (events["question"], ada, "aside")
    assert first["key"] not in [item["key"] for item in Page(small_pool, ada).say()["items"]]


def test_an_empty_pool_says_why(page, small_pool):
    page.say()
    page.say(*[event("grade", item, grade=1) for item in list(page.held.values())])
    page.say(*[event("grade", item, grade=1) for item in list(page.held.values())])

    assert page.say()["work"]["state"] == "finished"


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_pool_that_is_not_open_says_so(page, state):
    Pool.objects.update(state=state)

    answer = page.say()

    assert (answer["items"], answer["work"]["state"]) == ([], state)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"say": {}}',
        b'{"want": -1}',
        b'{"have": [1]}',
        json.dumps({"say": [{}] * 201}).encode(),
        b"[" * 200_000 + b"]" * 200_000,
    ],
)
def test_a_request_that_cannot_be_read_is_refused_as_json(page, body):
    response = page.post(body)

    assert response.status_code == 422
    assert response.json()["code"] == "event"


def test_signed_out_is_told_in_json(small_pool, page):
    page.client.logout()

    response = page.post({"say": [], "have": [], "want": 6})

    assert (response.status_code, response.json()["code"]) == (401, "signed-out")


def test_a_request_without_its_token_is_told_in_json(small_pool, ada):
    page = Page(small_pool, ada, Client(enforce_csrf_checks=True))

    response = page.post({"say": [], "have": [], "want": 6})

    assert (response.status_code, response.json()["code"]) == (403, "csrf")


# --- a database that gives up ---------------------------------------------------------------------


@pytest.fixture
def failing(monkeypatch):
    """A function that lets a service fail as in a deadlock: so often, or where it is asked to."""

    def fail(module, name: str, n: int = 1000, *, of: Callable[..., bool] = lambda *_: True):
        works, failures = getattr(module, name), []

        def called(*arguments, **named):
            if len(failures) < n and of(*arguments):
                failures.append(arguments)
                raise OperationalError("deadlock detected")
            return works(*arguments, **named)

        monkeypatch.setattr(module, name, called)
        return failures

    return fail


@pytest.mark.parametrize(("n_failures", "n_whole"), [(1, 1), (2, 1), (3, 0)])
def test_turn_is_tried_three_times_and_then_in_pieces(
    page, failing, monkeypatch, n_failures, n_whole
):
    page.say()
    first, second = (event("grade", item, grade=1) for item in list(page.held.values())[:2])
    whole = []
    lock_all = exchanging._lock_all
    monkeypatch.setattr(
        exchanging, "_lock_all", lambda me, say: whole.append(say) or lock_all(me, say)
    )
    failures = failing(statements, "gate", n_failures)

    answer = page.say(first, second)

    assert [outcome["state"] for outcome in answer["said"]] == ["saved", "saved"]
    assert Judgment.objects.count() == 2
    assert answer["progress"]["pool"]["done"] == 2
    assert len(failures) == n_failures
    assert len(whole) == n_failures + n_whole


def test_event_that_the_database_refuses_holds_up_no_other(page, failing):
    page.say(want=2)
    first, second = (event("grade", item, grade=g) for g, item in enumerate(page.held.values(), 2))
    failing(judging, "graded", of=lambda grade: grade == 2)

    answer = page.say(first, second)

    assert [(outcome["state"], outcome["code"]) for outcome in answer["said"]] == [
        ("refused", "not-saved"),
        ("saved", ""),
    ]
    assert [judgment.grade for judgment in Judgment.objects.all()] == [3]


def test_database_that_saves_nothing_is_no_answer(page, failing):
    answer = page.grade(2)
    failing(judging, "graded")

    with pytest.raises(OperationalError, match="deadlock"):
        page.say(answer)


def test_documents_of_several_events_are_locked_in_one_order(
    page, small_pool, ada, ann, monkeypatch
):
    page.say(want=3)
    items = list(page.held.values())[::-1]
    results = [event("grade", item, grade=1) for item in items]
    stolen = Page(small_pool, ann).grade(2)
    locked = []
    targets = statements.targets
    monkeypatch.setattr(statements, "targets", lambda slots: locked.append(slots) or targets(slots))

    page.say("nonsense", stolen, *results, event("undo", undoes=str(uuid.uuid4())))

    mine = Slot.objects.filter(annotator=ada, state="done").order_by("pk")
    assert locked[0] == list(mine.values_list("pk", flat=True))
    assert len(locked[0]) == 3

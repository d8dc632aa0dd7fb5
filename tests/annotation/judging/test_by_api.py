"""Judging through the API: what to read, claims, grades, and one's own work."""

from uuid import uuid4

import pytest
from django.test import Client

from annotation.models import Judgment, Question
from benchmarks_app.people.services.api_tokens import create_api_token
from tests import factories
from tests.annotation.making import guideline, pool

pytestmark = pytest.mark.django_db


class Caller:
    """Somebody with a token that is good for reading and judging."""

    def __init__(self, person) -> None:
        token = create_api_token(user=person, name="t", days=1, scopes=["read", "judge", "manage"])
        self.client = Client(headers={"Authorization": f"Bearer {token.secret}"})

    def get(self, path: str) -> dict:
        answer = self.client.get(f"/api/v1/{path}")
        assert answer.status_code == 200, answer.content
        return answer.json()

    def send(self, path: str, body: dict, *, status: int = 200, how: str = "post") -> dict:
        send = getattr(self.client, how)
        answer = send(f"/api/v1/{path}", body, content_type="application/json")
        assert answer.status_code == status, answer.content
        return answer.json() if answer.content else {}


@pytest.fixture
def of(db, folders):
    return factories.benchmark("bench")


@pytest.fixture
def small_pool(of):
    guideline(of)
    return pool(of, {"q1": ["d1", "d2"]})


@pytest.fixture
def ada(of):
    return factories.member(of, "ada", "annotator")


def read(caller: Caller, small_pool) -> str:
    """Read what comes first; the pool's address."""
    at = f"benchmarks/bench/pools/{small_pool.pk}/"
    begun = caller.get(f"{at}start/")
    assert (begun["step"], begun["guideline"]) == ("notice", "Read, then grade.")
    assert caller.send(f"{at}start/", {"version": begun["version"]})["step"] is None
    return at


def grade(item: dict, value: int, **more) -> dict:
    return {
        "client_id": str(uuid4()),
        "do": "grade",
        "token": item["token"],
        "grade": value,
        **more,
    }


def test_documents_are_claimed_graded_and_counted(small_pool, ada):
    caller = Caller(ada)
    at = read(caller, small_pool)

    first = caller.send(f"{at}exchange/", {"want": 2})
    results = [grade(first["items"][0], 2, note="why"), grade(first["items"][1], 0)]
    second = caller.send(f"{at}exchange/", {"say": results})

    assert [item["place"] for item in first["items"]] == [
        {"number": 1, "total": 2},
        {"number": 2, "total": 2},
    ]
    assert [outcome["state"] for outcome in second["said"]] == ["saved", "saved"]
    assert second["work"]["state"] == "finished"
    rows = Judgment.objects.filter(actor=ada).values_list("grade", "note")
    assert sorted(rows) == [(0, ""), (2, "why")]
    assert [row["work"] for row in caller.get("me/pools/")["results"]] == ["finished"]


def test_the_same_event_again_counts_once(small_pool, ada):
    caller = Caller(ada)
    at = read(caller, small_pool)
    [item, _] = caller.send(f"{at}exchange/", {"want": 2})["items"]
    fields = {"say": [grade(item, 1)]}

    answers = [caller.send(f"{at}exchange/", fields)["said"] for _ in range(2)]

    assert answers[0] == answers[1]
    assert Judgment.objects.filter(actor=ada).count() == 1


def test_nobody_judges_before_reading(small_pool, ada):
    refusal = Caller(ada).send(
        f"benchmarks/bench/pools/{small_pool.pk}/exchange/", {"want": 1}, status=409
    )

    assert refusal["code"] == "step-before-judging"
    assert not small_pool.slots.filter(annotator=ada).exists()


def test_a_document_says_nothing_of_who_found_it(small_pool, ada):
    caller = Caller(ada)
    [item, _] = caller.send(f"{read(caller, small_pool)}exchange/", {"want": 2})["items"]

    assert "bm25" not in str(item)
    assert not {"d1", "d2"} & set(str(item).replace("'", " ").split())


def test_held_documents_are_given_back(small_pool, ada):
    caller = Caller(ada)
    at = read(caller, small_pool)
    caller.send(f"{at}exchange/", {"want": 2})

    assert caller.send(f"{at}stop/", {}) == {"n_documents": 2}
    assert not small_pool.slots.filter(annotator=ada).exists()


def test_own_judgment_is_found_and_changed(small_pool, ada):
    caller = Caller(ada)
    at = read(caller, small_pool)
    [item, _] = caller.send(f"{at}exchange/", {"want": 2})["items"]
    caller.send(f"{at}exchange/", {"say": [grade(item, 1) | {"note": "Why so"}]})
    [own] = caller.get("me/judgments/?grade=1")["results"]

    change = {"client_id": str(uuid4()), "grade": 3}
    changed = caller.send(f"me/judgments/{own['id']}/", change, how="patch")

    assert (own["grade"], changed["grade"]) == (1, 3)
    assert changed["note"] == "Why so"
    change = {"client_id": str(uuid4()), "grade": 2, "note": ""}
    assert caller.send(f"me/judgments/{changed['id']}/", change, how="patch")["note"] == ""
    [day] = caller.get("me/hours/")["results"]
    assert (day["benchmark"], day["grades"]) == ("bench", 1)


def test_a_question_is_asked_and_answered(of, small_pool, ada):
    caller, owner = Caller(ada), Caller(factories.member(of, "olga", "owner"))
    at = read(caller, small_pool)
    [item, _] = caller.send(f"{at}exchange/", {"want": 2})["items"]
    ask = {"client_id": str(uuid4()), "do": "ask", "token": item["token"], "question": "Why?"}
    caller.send(f"{at}exchange/", {"say": [ask]})
    [asked] = owner.get("benchmarks/bench/questions/")["results"]

    answer = {"answer": "So.", "guideline_line": "Be quick."}
    owner.send(f"benchmarks/bench/questions/{asked['id']}/answer/", answer)

    assert Question.objects.get().answer == "So."
    assert caller.get("me/questions/")["results"][0]["answer"] == "So."
    [newest, _] = caller.get("benchmarks/bench/guideline/")["results"]
    assert newest["text"].endswith("- Be quick.")


def test_pool_is_given_its_people_and_checks(of, small_pool, ada):
    owner = Caller(factories.member(of, "olga", "owner"))
    at = f"benchmarks/bench/pools/{small_pool.pk}/"

    changes = {"annotators": ["ada"], "gold_share": 0.1, "practice_mark": 2}
    owner.send(at, changes, how="patch")
    refusal = owner.send(at, {"annotators": ["nobody"]}, how="patch", status=400)

    small_pool.refresh_from_db()
    assert list(small_pool.annotators.all()) == [ada]
    assert (small_pool.gold_share, small_pool.practice_mark) == (0.1, 2)
    assert "nobody" in str(refusal)


def test_known_grades_are_set_and_forgotten(folders):
    tiny = factories.tiny_benchmark("bench")
    owner, made = Caller(factories.member(tiny, "olga", "owner")), pool(tiny, {"1": ["d-quote"]})
    at = f"benchmarks/bench/pools/{made.pk}/known/"
    rows = [{"query": "1", "document": name, "grade": 1} for name in ("d-quote", "d-tab")]

    assert owner.send(at, {"grades": rows}, status=201) == {"n": 2}
    known = owner.get(at)["results"]
    owner.send(f"{at}{known[0]['id']}/", {}, how="delete", status=204)

    assert {row["document"] for row in known} == {"d-quote", "d-tab"}
    assert [row["id"] for row in owner.get(at)["results"]] == [known[1]["id"]]
    unknown = [{"query": "q9", "document": "d-quote", "grade": 1}]
    assert owner.send(at, {"grades": unknown}, status=422)["code"] == "known-pair"


def test_a_dispute_is_settled_by_somebody_else(of, ada):
    people = [ada, factories.member(of, "mia", "annotator")]
    small_pool = pool(of, {"q1": ["d1"]}, overlap=2)
    for person, value in zip(people, (0, 3), strict=True):
        caller = Caller(person)
        at = f"benchmarks/bench/pools/{small_pool.pk}/"
        caller.send(f"{at}start/", {"version": 0})
        [item] = caller.send(f"{at}exchange/", {"want": 1})["items"]
        caller.send(f"{at}exchange/", {"say": [grade(item, value)]})
    bo = Caller(factories.member(of, "bo", "adjudicator"))
    [case] = bo.get("benchmarks/bench/adjudication/")["results"]
    record = bo.get("benchmarks/bench/adjudication/case/?query=q1&document=d1")

    settled = {"query": "q1", "document": "d1", "client_id": str(uuid4()), "grade": 2}
    refusal = bo.send("benchmarks/bench/adjudication/", settled, status=400)
    answer = bo.send("benchmarks/bench/adjudication/", {**settled, "reason": "x"}, status=201)

    assert case["grades"] == [0, 3]
    assert sorted(word["grade"] for word in record["said"]) == [0, 3]
    assert not {"ada", "mia"} & set(str(record).replace("'", " ").split())
    assert "reason" in refusal["errors"]
    assert answer == {"outcome": "override", "grade": 2}
    assert bo.get("benchmarks/bench/adjudication/")["results"] == []

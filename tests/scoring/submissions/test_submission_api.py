"""Submitting through the API: what it answers, to whom, and nothing twice."""

import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job, Run
from benchmarks_app.people.services.api_tokens import create_api_token
from benchmarks_app.people.services.teams import make_team
from scoring.models import Phase, Submission
from tests.scoring.conftest import GOOD

OF = "/api/v1/benchmarks/stdlib/submissions/"


@pytest.fixture
def api_of():
    """A function that gives a client with a token of a person."""

    def client(person) -> Client:
        issued = create_api_token(user=person, name="test", days=1)
        return Client(headers={"Authorization": f"Bearer {issued.secret}"})

    return client


@pytest.fixture
def api(sam, api_of, phase) -> Client:
    return api_of(sam)


def send(api: Client, content: bytes = GOOD, **more):
    fields = {"file": SimpleUploadedFile("my.run", content), "name": "mine", **more}
    return api.post(OF, {name: value for name, value in fields.items() if value is not None})


@pytest.mark.parametrize(("name", "value"), [("phase", "one"), ("state", "odd")])
def test_list_by_what_is_none_says_which_parameter_is_wrong(api, name, value):
    answer = api.get(OF, {name: value})

    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == [name]


def test_run_is_received_and_then_has_its_scores(api, phase, do_jobs):
    facts = {"type": "sparse", "latency_ms": 12.5, "k1": 0.9}
    answer = send(api, metadata=json.dumps(facts), description="BM25")

    result = answer.json()
    assert answer.status_code == 201
    assert (result["state"], result["run"], result["scores"]["nDCG@10"]) == ("received", None, None)
    assert (result["phase"], result["release"], result["split"]) == (phase.pk, "1.0.0", "test")

    do_jobs()

    result = api.get(f"{OF}{result['id']}/").json()
    run = Run.objects.get(pk=result["run"])
    assert (result["state"], result["percent"], result["problems"]) == ("scored", 100, [])
    assert result["scores"]["RR@10"] == pytest.approx(2 / 3)
    assert result["intervals"].keys() <= result["scores"].keys()
    assert run.metadata == {"type": "sparse", "latency_ms": 12.5, "k1": "0.9"}
    assert result["url"].startswith("http://testserver/b/stdlib/runs/submissions/")


def test_statements_of_a_run_stay_few(api, phase, django_assert_max_num_queries):
    """Each costs more in Django than in the database, and every run is held up by them."""
    send(api, GOOD + b"q1 Q0 d9 9 0.01 first\n", name="first")  # says that the token was used

    with django_assert_max_num_queries(19):
        send(api)
    with django_assert_max_num_queries(28):
        jobs.execute(Job.objects.latest("pk").pk, has_heartbeat=False)
    assert Submission.objects.get(name="mine").state == Submission.State.SCORED


def test_same_bytes_again_answer_with_the_first_submission(api, do_jobs):
    first = send(api).json()

    waiting = send(api, name="another name")
    do_jobs()
    scored = send(api, name="a third name")

    assert (waiting.status_code, scored.status_code) == (200, 200)
    assert waiting.json()["id"] == scored.json()["id"] == first["id"]
    assert scored.json()["state"] == "scored"
    assert Submission.objects.count() == 1


def test_same_bytes_are_recognised_when_the_day_is_used_up(api):
    Phase.objects.update(daily_limit=1)
    first = send(api).json()

    assert send(api).json()["id"] == first["id"]
    other = send(api, GOOD + b"q2 Q0 d5 2 1 s\n", name="other")
    assert (other.status_code, other.json()["code"]) == (409, "daily-limit")


def test_invalid_file_is_told_line_by_line_and_costs_nothing(api, do_jobs):
    record = send(api, GOOD + b"q1 Q0 d7 9 n/a s\n").json()
    do_jobs()

    answer = api.get(f"{OF}{record['id']}/").json()

    assert answer["state"] == "invalid"
    assert (answer["problems"][0]["line"], answer["problems"][0]["code"]) == (6, "file-problems")
    assert answer["n_left"] == 20


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"name": None}, 400, "invalid"),
        ({"name": "a\x00b"}, 400, "invalid"),
        ({"file": None}, 400, "invalid"),
        ({"file": SimpleUploadedFile("my.run", b"")}, 422, "upload-empty"),
        ({"metadata": "no json"}, 400, "invalid"),
        ({"metadata": "[1]"}, 400, "invalid"),
        ({"metadata": '{"paper": "javascript:alert(1)"}'}, 422, "run-metadata"),
        ({"metadata": '{"latency_ms": "fast"}'}, 422, "run-metadata"),
        ({"visibility": "all"}, 400, "invalid"),
        ({"visibility": "team"}, 400, "invalid"),
        ({"team": "nobody's"}, 403, "not-in-team"),
        ({"public_from": "2001-01-01T00:00:00Z"}, 400, "invalid"),
        ({"phase": "99999999"}, 409, "phase-choice"),
        ({"aggregation": "best"}, 400, "invalid"),
    ],
)
def test_wrong_submission_is_refused_with_its_code(api, more, status, code):
    answer = send(api, **more)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not Submission.objects.exists()


def test_file_larger_than_the_site_takes_is_refused(api, settings):
    settings.UPLOAD_LIMIT_BYTES = 10

    answer = send(api)

    assert (answer.status_code, answer.json()["code"]) == (413, "upload-too-large")
    assert not Submission.objects.exists()


def test_name_in_use_has_its_code(api, do_jobs):
    send(api)
    do_jobs()

    answer = send(api, GOOD + b"q2 Q0 d5 2 1 s\n")

    assert (answer.status_code, answer.json()["code"]) == (409, "run-name-taken")


def test_closed_phase_has_its_code_and_says_when_it_closed(api):
    earlier = timezone.now() - timedelta(days=1)
    Phase.objects.update(opens_at=earlier - timedelta(days=1), closes_at=earlier)

    answer = send(api)

    assert (answer.status_code, answer.json()["code"]) == (409, "no-open-phase")
    assert f"closed on {earlier:%Y-%m-%d %H:%M}" in answer.json()["message"]


def test_list_holds_ones_own_and_ones_teams_and_for_keepers_all(
    api, sam, maintainer, owner, api_of, submit
):
    team = make_team(name="Both", user=maintainer)
    submit(sam, name="sam's")
    submit(maintainer, GOOD + b"q2 Q0 d5 2 1 s\n", name="mia's")
    submit(maintainer, GOOD + b"q2 Q0 d8 2 1 s\n", name="theirs", team=team)

    def names(client) -> set[str]:
        return {result["name"] for result in client.get(OF).json()["results"]}

    assert names(api) == {"sam's"}
    team.members.add(sam)
    assert names(api) == {"sam's", "theirs"}
    assert names(api_of(owner)) == {"sam's", "mia's", "theirs"}


def test_list_is_paged_and_filtered(api, submit, sam, do_jobs):
    submit(sam, name="first")
    do_jobs()
    submit(sam, GOOD + b"q2 Q0 d5 2 1 s\n", name="second")

    assert [result["name"] for result in api.get(OF, {"page_size": 1}).json()["results"]] == [
        "second"
    ]
    scored = api.get(OF, {"state": "scored"}).json()
    assert [result["name"] for result in scored["results"]] == ["first"]
    assert api.get(OF, {"state": "sored"}).status_code == 400
    assert api.get(OF, {"phase": 99999}).json()["count"] == 0


def test_submission_of_somebody_else_is_not_there(api, maintainer, submit):
    hers = submit(maintainer, name="mia's")

    assert api.get(f"{OF}{hers.pk}/").status_code == 404
    assert api.post(f"{OF}{hers.pk}/withdraw/").status_code == 404


def test_withdrawn_submission_says_so_and_cannot_be_withdrawn_twice(api, do_jobs):
    record = send(api).json()
    assert api.post(f"{OF}{record['id']}/withdraw/").json()["code"] == "not-withdrawable"
    do_jobs()

    first = api.post(f"{OF}{record['id']}/withdraw/")
    again = api.post(f"{OF}{record['id']}/withdraw/")

    assert first.json()["withdrawn_at"] is not None
    assert (again.status_code, again.json()["code"]) == (409, "not-withdrawable")
    # What was withdrawn is not scored again, and its place stays taken.
    assert send(api).json()["id"] == record["id"]
    assert first.json()["n_left"] == 19

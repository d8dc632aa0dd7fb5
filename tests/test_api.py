"""What the API answers, and that its documentation is true."""

import gzip
import json
import re
import shlex
import string
import zlib
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.common.serializers import RawJudgmentSerializer
from annotation.labels.services.exporting_judgments import export_judgments
from annotation.models import Judgment
from benchmarks_app.models import ApiToken, AuditEvent, Benchmark, Corpus
from benchmarks_app.people.services.api_tokens import create_api_token, digest_of, token_of
from benchmarks_app.people.services.forgetting import delete_person
from benchwright.qrels.raw_judgments import COLUMNS
from scoring.scores.services.scoring import Target, score_run
from tests import factories
from tests.annotation.making import judge, pool

pytestmark = pytest.mark.django_db
DOCS = Path(__file__).resolve().parent.parent / "docs"
OF = "/api/v1/benchmarks/stdlib/"
TOKEN_FORM = "bw_([0-9A-Za-z]{43})([0-9A-Za-z]{6})"
DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase


@pytest.fixture
def api(owner) -> Client:
    """A client of the owner's token."""
    issued = create_api_token(user=owner, name="test", days=1)
    return Client(headers={"Authorization": f"Bearer {issued.secret}"})


@pytest.fixture
def judged(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, name="first")
    for slot, grade in zip(small_pool.slots.order_by("queue_position"), (2, 0), strict=True):
        judge(slot, ada, grade)
    return small_pool


def send(api: Client, path: str, body: object, how: str = "POST"):
    return api.generic(how, OF + path, json.dumps(body), content_type="application/json")


@pytest.mark.parametrize(
    ("path", "names"),
    [("", "name"), ("slices/part/", "description"), ("phases/{phase}/", "closes_at")],
)
def test_a_change_of_no_field_that_can_be_changed_is_refused(benchmark, api, path, names):
    query = factories.query(benchmark, "q1")
    factories.query_slice(benchmark, "part", query)
    grades = factories.qrel_set(benchmark, {("q1", "d1"): 2})
    grades.n_relevant = 1
    grades.save()
    factories.release(grades)
    path = path.format(phase=benchmark.phases.get().pk)

    answer = send(api, path, {"split": "dev", "closes": "2030-01-01"}, "PATCH")

    assert answer.status_code == 400
    assert names in answer.json()["errors"]["non_field_errors"][0]


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("slices/", {"name": "part", "rul": {"kind": "length"}}, "rul"),
        ("baselines/", {"system": "bm25"}, "system"),
    ],
)
def test_a_new_thing_with_a_field_that_there_is_not_is_not_made(benchmark, api, path, body, name):
    answer = send(api, path, body)

    assert answer.status_code == 400
    assert answer.json()["errors"][name][0].startswith("This field is unknown; expected one of ")
    assert not benchmark.slices.exists()
    assert not benchmark.jobs.exists()


def test_a_part_of_a_body_with_a_field_that_there_is_not_is_refused(benchmark, api):
    rows = [{"query": "q1", "document": "d1"}, {"query": "q1", "document": "d2", "reson": "far"}]

    answer = send(api, "candidates/", {"name": "far", "rows": rows})

    first, second = answer.json()["errors"]["rows"]
    assert first == {}
    assert second["reson"] == [
        "This field is unknown; expected one of query, document. Leave it out."
    ]


@pytest.mark.parametrize("path", ["splits/", "splits/preview/", "families/group/", "releases/"])
def test_a_set_of_qrels_that_there_is_not_is_told_with_those_there_are(benchmark, api, path):
    factories.qrel_set(benchmark, {("q1", "d1"): 2}, name="june")

    answer = send(api, path, {"qrels": "jume"})

    assert answer.status_code == 400
    assert answer.json()["errors"]["qrels"] == [
        "There is no set of qrels 'jume'; the benchmark has june."
    ]


def test_what_is_no_choice_is_told_with_what_there_are(benchmark, api):
    answer = send(api, "people/invitations/", {"role": "keeper"})

    roles = "owner, maintainer, adjudicator, annotator, submitter, viewer"
    assert answer.json()["errors"]["role"] == [f"Expected one of {roles}, not “keeper”."]


# --- the description ------------------------------------------------------------------------------


def test_schema_is_valid_without_a_warning():
    out = StringIO()

    call_command("spectacular", validate=True, fail_on_warn=True, stdout=out)

    assert "/api/v1/benchmarks/{slug}/pools/" in out.getvalue()


def test_documentation_page_takes_everything_from_this_site(client):
    text = client.get("/api/docs/").content.decode()
    script = re.findall(r'<script src="([^"]+)"', text)[-1]

    sources = re.findall(r'(?:src|href)="([^"]+)"', text)
    assert all(source.startswith(("/", "#")) for source in sources)
    assert "script=" in script
    assert b"SwaggerUIBundle" in client.get(script.replace("&amp;", "&")).content


def test_export_is_described_with_its_columns():
    assert tuple(RawJudgmentSerializer().fields) == COLUMNS


def test_every_column_of_the_export_is_documented():
    page = (DOCS / "formats.md").read_text("utf-8").partition("## Raw judgments")[2]

    assert [name for name in COLUMNS if f"`{name}`" not in page.partition("\n## ")[0]] == []


# --- lists and errors -----------------------------------------------------------------------------


def test_list_comes_in_pages(api, benchmark):
    for number in range(3):
        pool(benchmark, {"q1": ["d1"]}, name=f"pool {number}")

    first = api.get(f"{OF}pools/?page_size=2").json()
    second = api.get(first["next"]).json()

    assert (first["count"], len(first["results"]), first["previous"]) == (3, 2, None)
    assert [row["name"] for row in second["results"]] == ["pool 0"]


@pytest.mark.parametrize(
    ("how", "path", "body", "status", "code"),
    [
        ("POST", "pools/", {"name": ""}, 400, "invalid"),
        ("POST", "pools/", {"name": "x", "runs": ["none"]}, 400, "invalid"),
        ("POST", "pools/", {"name": "x"}, 422, "pool-runs"),
        ("POST", "pools/", {"name": "x", "candidates": "none"}, 400, "invalid"),
        ("GET", "agreement/", None, 422, "nothing-judged"),
        ("POST", "qrels/", {"name": "taken"}, 409, "qrel-set-name-taken"),
        ("PATCH", "pools/0/", {"state": "open"}, 404, "not-found"),
        ("GET", "pair/?query=q1", None, 400, "invalid"),
        ("GET", "pair/?query=q1&document=nowhere", None, 404, "not-found"),
        ("GET", "judgments/?form=xls", None, 400, "invalid"),
        ("DELETE", "pools/", None, 405, "method-not-allowed"),
        ("GET", "pools/?page=99", None, 404, "not-found"),
    ],
)
def test_every_error_has_one_shape(api, benchmark, how, path, body, status, code):
    factories.qrel_set(benchmark, {("q1", "d1"): 1}, name="taken")

    response = send(api, path, body, how)

    error = response.json()
    assert (response.status_code, error["code"]) == (status, code)
    assert (error["code"], error["detail"]) == (code, error["message"])
    assert error["message"]
    assert response["X-Error-Code"] == code


@pytest.mark.parametrize("path", ["nothing/", "benchmarks/a b/", "jobs/x/", "benchmarks/stdlib/x"])
def test_address_that_is_none_is_json_as_well(client, path):
    response = client.get(f"/api/v1/{path}")

    assert (response.status_code, response.json()["code"]) == (404, "not-found")
    assert response["X-Error-Code"] == "not-found"
    assert client.get("/nothing/")["Content-Type"].startswith("text/html")


def test_body_without_a_length_is_told_so_and_not_read_as_empty(benchmark, owner, signed_in):
    sent = {"HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": ""}
    client = signed_in(owner)

    answer = client.post(f"/api/v1/benchmarks/{benchmark.slug}/uploads/", **sent)
    page = client.post(f"/b/{benchmark.slug}/import/", **sent)

    assert (answer.status_code, answer.json()["code"]) == (411, "length-missing")
    assert "Content-Length" in answer.json()["message"]
    assert page.status_code == 411


@pytest.mark.parametrize("path", ["comparisons/results/?runs=a%00b", "qrels/%00/", "runs/?q=%00"])
def test_address_with_a_nul_is_refused_before_a_database_fails_on_it(api, client, benchmark, path):
    answer = api.get(f"{OF}{path}")
    page = client.get(f"/b/stdlib/{path}")

    assert (answer.status_code, answer.json()["code"]) == (400, "bad-request")
    assert (page.status_code, page["Content-Type"][:9]) == (400, "text/html")


def test_what_is_not_json_is_told(api, benchmark):
    response = api.post(f"{OF}qrels/", "{", content_type="application/json")

    assert (response.status_code, response.json()["code"]) == (400, "not-json")


@pytest.mark.parametrize("deep", [65, 900, 200_000])
def test_json_that_is_nested_too_deeply_is_refused(api, benchmark, deep):
    for body in ("[" * deep + "]" * deep, '{"a":' * deep + "1" + "}" * deep):
        answer = api.post(f"{OF}qrels/", body, content_type="application/json")

        assert (answer.status_code, answer.json()["code"]) == (400, "not-json")
        assert "nested more than 64 levels deep" in answer.json()["message"]


@pytest.mark.parametrize("name", ["a\0", "a\ud800"])
def test_json_with_a_name_that_no_database_takes_is_refused(api, benchmark, name):
    """Fields check what they hold, and nobody the names in an object such as a mapping."""
    answer = api.post(f"{OF}qrels/", {"a": [{name: "b"}]}, content_type="application/json")

    assert (answer.status_code, answer.json()["code"]) == (400, "not-json")
    assert "A name in the JSON holds U+0000 or half a character" in answer.json()["message"]


def test_unexpected_error_is_json_as_well_and_tells_nothing(api, benchmark, monkeypatch):
    def broken(*_):
        raise RuntimeError("secret")

    monkeypatch.setattr("annotation.pools.api.selectors.pools_of", broken)

    response = api.get(f"{OF}pools/")

    assert (response.status_code, response.json()["code"]) == (500, "unexpected")
    assert b"secret" not in response.content


def test_too_many_requests_are_put_off(api, benchmark, settings):
    cache.clear()
    settings.API_REQUESTS_PER_MINUTE = 2

    answers = [api.get(OF) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[-1].json()["code"] == "throttled"
    assert int(answers[-1]["Retry-After"]) <= 60


def test_too_many_passwords_are_put_off_like_too_many_requests(api, settings):
    settings.AXES_FAILURE_LIMIT = 2
    asked = json.dumps({"password": "no"})

    answers = [
        api.post("/api/v1/me/delete/", asked, content_type="application/json") for _ in range(3)
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 429]
    assert answers[-1].json()["code"] == "many-tries"
    assert int(answers[-1]["Retry-After"]) == 3600


@pytest.mark.parametrize(
    ("setting", "path", "body"),
    [
        ("API_UPLOADS_PER_MINUTE", "uploads/", {}),
        ("API_COMPUTATIONS_PER_MINUTE", "splits/preview/", {}),
        ("API_COMPUTATIONS_PER_MINUTE", "gates/", {}),
        ("API_COMPUTATIONS_PER_MINUTE", "gates/rehearsals/", {}),
        ("API_COMPUTATIONS_PER_MINUTE", "audit/export/", None),
    ],
)
def test_what_costs_the_site_more_has_a_limit_of_its_own(
    api, benchmark, settings, setting, path, body
):
    setattr(settings, setting, 1)

    answers = [api.get(OF + path) if body is None else send(api, path, body) for _ in range(2)]

    assert [answer.status_code == 429 for answer in answers] == [False, True]
    assert 1 <= int(answers[-1]["Retry-After"]) <= 60
    assert api.get(OF).status_code == 200


# --- pools, qrels, jobs ---------------------------------------------------------------------------


def test_pool_tells_its_progress_and_who_judged(api, judged):
    detail = api.get(f"{OF}pools/{judged.pk}/").json()
    (person,) = api.get(f"{OF}pools/{judged.pk}/people/").json()

    assert (detail["progress"]["n_done"], detail["progress"]["n_wanted"]) == (2, 2)
    assert (person["person"], person["n_labels"], person["n_grades"]) == ("ada", 2, 2)


def test_report_of_a_pool_is_what_its_page_shows(api, judged):
    report = api.get(f"{OF}pools/{judged.pk}/report/").json()

    assert (report["pool"], report["state"]) == (judged.pk, "open")
    assert (report["progress"]["given"], report["progress"]["left"]) == (2, 0)
    (person,) = report["signals"]["people"]
    assert (person["person"], person["n_labels"]) == ("ada", 2)
    assert report["stop"] is not None


def test_pool_is_built_by_a_job(api, benchmark, do_jobs):
    factories.query(benchmark, "q1")
    factories.run(benchmark, "q1 Q0 d1 1 2.0 s\nq1 Q0 d2 2 1.0 s", name="bm25")

    response = send(api, "pools/", {"name": "ten", "runs": ["bm25"], "depth": 2, "seed": 7})
    do_jobs()
    job = api.get(f"/api/v1/jobs/{response.json()['id']}/").json()

    assert response.status_code == 202
    assert job["state"] == "done"
    assert benchmark.pools.get(pk=job["result"]["pool"]).n_entries == 2


def test_list_of_candidates_becomes_a_top_up_in_its_order(api, benchmark, do_jobs):
    factories.query(benchmark, "q1")
    rows = [{"query": "q1", "document": docid} for docid in ("d9", "d1", "d5")]

    answer = send(api, "candidates/", {"name": "holes of bm25", "rows": rows})
    send(api, "pools/", {"name": "top-up", "candidates": "holes of bm25"})
    (job,) = do_jobs()

    assert (answer.status_code, answer.json()["n_documents"]) == (201, 3)
    built = benchmark.pools.get(pk=factories.done(job).result["pool"])
    assert (built.strategy, built.order) == ("top-up", "listed")
    in_order = built.entries.order_by("pk")
    assert [entry.document.docid for entry in in_order] == ["d9", "d1", "d5"]
    assert built.slots.count() == 3


def test_agreement_is_told_with_what_is_undefined(api, benchmark, ada, bo):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"], "q2": ["d3", "d4"]}, overlap=2)
    for slot in small_pool.slots.order_by("queue_position"):
        judge(slot, ada if slot.number == 1 else bo, slot.entry.priority % 4)

    answer = api.get(f"{OF}agreement/").json()

    assert (answer["n_labels"], answer["n_documents"], answer["n_raters"]) == (8, 4, 2)
    assert answer["overall"]["exact"]["value"] == 1
    assert answer["overall"]["alpha_ordinal"]["value"] == 1


def test_agreement_of_too_many_labels_waits_for_a_job(api, judged, monkeypatch):
    monkeypatch.setattr("annotation.agreement.selectors.agreement.AT_ONCE", 1)

    response = api.get(f"{OF}agreement/")

    assert (response.status_code, response.json()["code"]) == (409, "not-measured")


def test_pool_is_paused(api, judged):
    answer = send(api, f"pools/{judged.pk}/", {"state": "paused"}, "PATCH")

    assert answer.json()["state"] == "paused"
    judged.refresh_from_db()
    assert judged.state == "paused"


def test_due_date_of_a_pool_is_changed_and_taken_away(api, judged):
    pool = f"pools/{judged.pk}/"

    assert send(api, pool, {"due_on": "2026-11-27"}, "PATCH").json()["due_on"] == "2026-11-27"
    assert send(api, pool, {"due_on": None}, "PATCH").json()["due_on"] is None
    assert send(api, pool, {"due_on": "Friday"}, "PATCH").status_code == 400
    assert send(api, pool, {}, "PATCH").status_code == 400


def test_qrels_are_derived_and_downloaded(api, judged, do_jobs):
    send(api, "qrels/", {"name": "ours"})
    do_jobs()

    (result,) = api.get(f"{OF}qrels/").json()["results"]
    lines = b"".join(api.get(f"{OF}qrels/{result['id']}/download/")).decode().splitlines()

    assert (result["name"], result["n_qrels"]) == ("ours", 2)
    assert lines == ["q1 0 d1 2", "q1 0 d2 0"]


# --- judgments ------------------------------------------------------------------------------------


def test_export_is_that_of_the_command(api, judged, owner, benchmark):
    got = b"".join(api.get(f"{OF}judgments/?form=jsonl")).decode()

    assert got == "".join(export_judgments(benchmark=benchmark, actor=owner))
    assert len(got.splitlines()) == 2


def label(query="q1", document="d1", grade=1, **more) -> dict:
    return {"query": query, "document": document, "grade": grade, **more}


def test_labels_are_entered_with_an_answer_for_each(api, benchmark):
    factories.query(benchmark, "q1")
    body = {"source": "crowd", "labels": [label(annotator="W1"), label(annotator="W2", grade=3)]}

    first, again = (send(api, "judgments/import/", body) for _ in range(2))

    assert [item["state"] for item in first.json()["items"]] == ["saved", "saved"]
    assert again.json() == {
        "n_saved": 0,
        "n_same": 2,
        "n_outside": 0,
        "n_judged_here": 0,
        "n_extra": 0,
        "n_machine": 0,
        "items": [
            {"index": 0, "state": "same", "message": ""},
            {"index": 1, "state": "same", "message": ""},
        ],
    }
    assert Judgment.objects.count() == 2
    assert Judgment.objects.first().source.startswith("crowd sha256:")


def test_one_bad_label_and_none_is_entered(api, benchmark):
    factories.query(benchmark, "q1")
    labels = [
        label(),
        label(grade=10),
        label(query="q9"),
        label(document="d 1"),
        {"query": "q1"},
        "no object",
        label(),
    ]

    response = send(api, "judgments/import/", {"source": "crowd", "labels": labels})

    error = response.json()
    assert (response.status_code, error["code"]) == (422, "labels-refused")
    assert error["message"] == "6 of 7 labels cannot be taken; nothing was entered."
    messages = {item["index"]: item["message"] for item in error["facts"]["items"]}
    assert messages[1] == "grade is 10; expected one of 0, 1, 2, 3"
    assert messages[2].startswith("query 'q9' is not in the benchmark")
    assert "white space" in messages[3]
    assert messages[4] == "document: This field is required."
    assert messages[6] == "the same annotator says something of this pair at 0 already"
    assert not Judgment.objects.exists()


def test_labels_for_a_pool_fill_it(api, benchmark):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    body = {"source": "crowd", "pool": small_pool.pk, "labels": [label(), label(document="d9")]}

    answer = send(api, "judgments/import/", body).json()

    assert [item["state"] for item in answer["items"]] == ["saved", "outside-pool"]
    assert small_pool.slots.get().state == "done"


def test_sent_labels_say_whose_accounts_and_which_machines_their_annotators_are(
    api, benchmark, ada
):
    factories.query(benchmark, "q1")
    body = {
        "source": "crowd",
        "labels": [label(annotator=name) for name in ("W1", "gpt-4o", "W3")],
        "accounts": {"W1": "ada"},
        "machines": ["W3"],
    }

    answer = send(api, "judgments/import/", body)
    unknown = send(api, "judgments/import/", {**body, "accounts": {"W9": "ada"}})

    assert (answer.json()["n_saved"], answer.json()["n_machine"]) == (3, 1)
    events = Judgment.events.order_by("pk").values_list("kind", "actor__username", "rater")
    assert list(events) == [
        ("import", "ada", ""),
        ("import", "olga", "gpt-4o"),
        ("machine", "olga", "W3"),
    ]
    assert (unknown.status_code, unknown.json()["code"]) == (422, "unknown-rater")
    assert "names no rater 'W9'" in unknown.json()["message"]


def test_pair_tells_who_said_what_and_why_the_grade_is_so(api, judged, do_jobs):
    send(api, "qrels/", {"name": "ours"})
    do_jobs()

    pair = api.get(f"{OF}pair/?query=q1&document=d1").json()

    assert [(event["annotator"], event["grade"]) for event in pair["events"]] == [("ada", 2)]
    (grade,) = pair["grades"]
    assert (grade["qrels"], grade["grade"]) == ("ours", 2)
    assert grade["steps"][0]["title"] == "Labels that count"


# --- tokens ---------------------------------------------------------------------------------------


def test_secret_is_not_kept_and_its_use_is_told_once_a_minute(owner):
    issued = create_api_token(user=owner, name="test", days=3)

    assert issued.secret not in json.dumps(list(ApiToken.objects.values()), default=str)
    assert issued.token.secret_digest == digest_of(issued.secret)
    assert issued.secret.startswith(issued.token.hint)
    token_of(issued.secret)
    first = ApiToken.objects.get().last_used_at
    token_of(issued.secret)
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    token_of(issued.secret)
    assert ApiToken.objects.get().last_used_at > first


def test_secret_has_the_form_that_scanners_look_for(owner):
    secret = create_api_token(user=owner, name="test", days=3).secret

    form = re.fullmatch(TOKEN_FORM, secret)
    check = sum(DIGITS.index(digit) * 62**place for place, digit in enumerate(form[2][::-1]))
    assert check == zlib.crc32(form[1].encode())


def test_docs_tell_the_form_of_a_token():
    assert f"`{TOKEN_FORM}`" in (DOCS / "api.md").read_text("utf-8")


@pytest.mark.parametrize("secret", ["bw_" + "x-_" * 14 + "y", "bw_short"])
def test_token_made_before_there_were_checksums_still_works(owner, secret):
    token = create_api_token(user=owner, name="test", days=3).token
    ApiToken.objects.update(secret_digest=digest_of(secret))

    assert token_of(secret) == token


def test_forgotten_person_has_no_token_that_works(ada):
    issued = create_api_token(user=ada, name="test", days=3)

    delete_person(user=ada, actor=None)

    assert token_of(issued.secret) is None
    assert not ApiToken.objects.exists()


def test_token_is_made_shown_once_listed_and_revoked_on_the_account_page(owner, signed_in):
    client = signed_in(owner)
    account = reverse("account-detail")

    fields = {"name": "nightly", "days": 30, "scopes": ["read", "submit"]}
    answer = client.post(reverse("api-token-create"), fields)
    secret = re.search(r"bw_[\w-]{40,}", answer.content.decode())[0]
    listed = client.get(account).content.decode()
    client.post(reverse("api-token-revoke", args=[ApiToken.objects.get().pk]))

    assert answer["Cache-Control"].startswith("max-age=0, no-cache, no-store")
    assert token_of(secret) is None
    assert ApiToken.objects.get().scopes == ["read", "submit"]
    assert "nightly" in listed
    assert "Read, submit" in listed
    assert secret not in listed
    assert list(client.get(account).context["tokens"]) == []
    rows = AuditEvent.objects.filter(action__startswith="api-token").order_by("pk")
    assert [event.action for event in rows] == ["api-token-create", "api-token-revoke"]


@pytest.mark.parametrize(
    "strange",
    [{"days": "0"}, {"days": "366"}, {"days": "x"}, {"scopes": []}, {"scopes": ["everything"]}],
    ids=str,
)
def test_token_for_a_strange_time_or_scope_is_refused(owner, signed_in, strange):
    fields = {"name": "a", "days": "9", "scopes": ["read"], **strange}

    response = signed_in(owner).post(reverse("api-token-create"), fields)

    assert response.status_code == 422
    assert not ApiToken.objects.exists()


def test_nobody_revokes_anothers_token(owner, ada, signed_in):
    token = create_api_token(user=owner, name="test", days=1).token

    response = signed_in(ada).post(reverse("api-token-revoke", args=[token.pk]))

    assert response.status_code == 404
    assert not ApiToken.objects.get().revoked_at


# --- docs/api.md ----------------------------------------------------------------------------------

BLOCKS = re.findall(r"```sh\n(.*?)```", (DOCS / "api.md").read_text("utf-8"), re.DOTALL)
SEARCHES = "query,count\n" + "".join(f"asked {number},{number}\n" for number in range(1, 401))
# The files that the examples send.
FILES = {
    "searches.csv.gz": gzip.compress(SEARCHES.encode()),
    "queries.csv": b"qid,text\nn1,how to sort\n",
    "published.txt": b"how to sort a list\n",
    "ubi_queries.ndjson": b'{"query_id": "a", "user_query": "q", "shown": ["d"]}\n',
    "ubi_events.ndjson": b'{"query_id": "a", "action_name": "click", "object_id": "d"}\n',
}


def test_page_has_an_example_for_each_kind_of_endpoint(client):
    paths = client.get("/api/v1/schema/?format=json").json()["paths"]
    kinds = {kind for path in paths for kind in re.findall(r"/benchmarks/{slug}/([\w-]+)", path)}
    asked = [
        re.search(r"/api/v1/([\w-]+/)(?:stdlib/([\w-]+)?)?", command).groups()
        for block in BLOCKS
        for command in commands(block)
    ]

    assert {what for _, what in asked if what} == kinds
    assert {first for first, _ in asked} == {"benchmarks/", "jobs/", "me/"}


@pytest.fixture
def named(benchmark, owner, judged, tmp_path) -> dict[str, str]:
    """What the page's examples name: all that is in the benchmark, and their variables."""
    Corpus.objects.filter(pk=benchmark.corpus_id).update(kind="texts", unit="passage")
    Benchmark.objects.filter(pk=benchmark.pk).update(unit="passage")
    benchmark.refresh_from_db()
    for text in ("as it was", "as it is"):  # version 1, and version 2 that waits
        row = json.dumps({"_id": "d1#0", "text": text, "parent_id": "d1"}).encode()
        factories.done(factories.imported(benchmark, row + b"\n", "corpus.jsonl", kind="corpus"))
    for number in range(1, 21):
        factories.query(benchmark, f"n{number}", frequency=number)
    qrels = factories.qrel_set(benchmark, {(q, "d1#0"): 1 for q in ("q1", "n1")}, name="official")
    qrels.n_relevant = 1
    qrels.save()
    release = factories.release(qrels, "0.1.0")
    run, other = (
        factories.run(benchmark, f"q1 Q0 {docid} 1 2.0 s\nn1 Q0 d1#0 1 1.0 s", name=name)
        for name, docid in (("bm25", "d1#0"), ("dense", "d2#0"))
    )
    for of_run in (run, other):
        score_run(run=of_run, target=Target.of(release), folder=tmp_path / of_run.name)
    # Measured by document from here on: grades of passages can be brought to it.
    Benchmark.objects.filter(pk=benchmark.pk).update(unit="document")
    job = benchmark.jobs.create(kind="test", title="a", created_by=owner, state="done")
    waiting = factories.waiting_upload(benchmark, "queries.csv", FILES["queries.csv"], owner)
    return {
        "TOKEN": create_api_token(user=owner, name="test", days=1).secret,
        "POOL": str(judged.pk),
        "JOB": str(job.pk),
        "QRELS": str(qrels.pk),
        "LOG": str(factories.read_log(benchmark, SEARCHES).pk),
        "RUN": str(run.pk),
        "OTHER": str(other.pk),
        "UPLOAD": str(waiting.pk),
        "SYSTEM": str(factories.live_system(benchmark, owner).pk),
    }


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_example_of_the_page_works(block, named):
    for command in commands(block):
        filled = re.sub(r"\$([A-Z]+)", lambda name: named[name[1]], command)

        response = curl(shlex.split(filled))

        # What is streamed may fail on its way.
        content = b"".join(response) if response.streaming else response.content
        assert response.status_code in (200, 201, 202), content
        assert content


def commands(block: str) -> list[str]:
    """The commands of an example, each on a line of its own."""
    return block.replace("\\\n", " ").splitlines()


def curl(words: list[str]):
    """What curl would get: of its options those that the page uses."""
    options: dict[str, list[str]] = {}
    rest = iter(words[1:])
    urls = []
    for word in rest:
        if word in ("-H", "-d", "-F", "-X", "-o"):
            options.setdefault(word, []).append(next(rest))
        else:
            urls.append(word)
    headers = dict(header.split(": ", 1) for header in options.get("-H", []))
    body = "".join(options.get("-d", []))
    form = dict(field.split("=", 1) for field in options.get("-F", []))
    (how,) = options.get("-X", ["POST" if body or form else "GET"])
    (url,) = urls
    path = url.removeprefix("http://127.0.0.1:8000")
    if form:
        return Client().post(
            path, {name: sent(value) for name, value in form.items()}, headers=headers
        )
    kind = headers.pop("Content-Type", "application/x-www-form-urlencoded")
    return Client().generic(how, path, body, content_type=kind, headers=headers)


def sent(value: str) -> str | SimpleUploadedFile:
    """A field of a form; one that starts with @ names a file."""
    name = value.removeprefix("@")
    return SimpleUploadedFile(name, FILES[name]) if value.startswith("@") else value

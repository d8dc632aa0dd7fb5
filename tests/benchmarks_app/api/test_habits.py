"""What every endpoint does alike: problems, tags, pages by cursor, limits, keys, parts of files."""

import json
import re
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from benchmarks_app.models import Benchmark, KeyedRequest
from benchmarks_app.people.services.api_tokens import create_api_token
from benchmarks_app.people.services.forgetting import delete_person
from benchmarks_app.problems import CONTENT_TYPE
from benchmarks_app.site.manual import chapter
from benchmarks_app.tasks import drop_old_keyed_requests
from tests import factories
from tests.annotation.making import pool

pytestmark = pytest.mark.django_db
OF = "/api/v1/benchmarks/stdlib/"
KEY = {"Idempotency-Key": "8e03978e-40d5-43e8-bc93-6894a57f9324"}


@pytest.fixture(autouse=True)
def nothing_counted():
    cache.clear()


def token_client(person) -> Client:
    issued = create_api_token(user=person, name="test", days=1)
    return Client(headers={"Authorization": f"Bearer {issued.secret}"})


@pytest.fixture
def api(owner) -> Client:
    return token_client(owner)


def send(api: Client, path: str, body: object, **headers: str):
    return api.post(path, json.dumps(body), content_type="application/json", headers=headers)


# --- problems -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [f"{OF}agreement/", f"{OF}pools/77/", "/api/v1/no/such/address"])
def test_error_is_a_problem_whose_type_leads_to_its_description(api, benchmark, client, path):
    answer = api.get(path)
    problem = answer.json()

    assert answer["Content-Type"] == CONTENT_TYPE
    assert (problem["status"], problem["instance"]) == (answer.status_code, path)
    assert problem["detail"] == problem["message"] and problem["title"]
    page, _, anchor = problem["type"].partition("#")
    assert (page, anchor) == ("/docs/errors/", problem["code"])
    assert client.get(page).status_code == 200
    assert anchor in chapter("errors").anchors


def test_problem_names_fields_that_are_not_what_is_expected(api, benchmark):
    problem = send(api, f"{OF}pools/", {"name": ""}).json()

    assert problem["errors"]["name"] == ["This field may not be blank."]
    assert (problem["type"], problem["facts"]) == ("/docs/errors/#invalid", {})


def test_problem_names_lines_of_a_file(api, benchmark):
    factories.query(benchmark, "q1")

    answer = send(api, f"{OF}slices/", {"name": "few", "qids": ["q1", "q9"]})

    assert answer.status_code == 422, answer.content
    (line, *_) = answer.json()["problems"]
    assert set(line) == {"file", "line", "message"}
    assert "q9" in line["message"]


# --- tags -----------------------------------------------------------------------------------


def test_answer_that_one_has_is_not_sent_again(api, benchmark):
    first = api.get(OF)
    again = api.get(OF, headers={"If-None-Match": first["ETag"]})
    any_of = api.get(OF, headers={"If-None-Match": f'"other", {first["ETag"]}'})
    Benchmark.objects.update(description="changed")
    changed = api.get(OF, headers={"If-None-Match": first["ETag"]})

    assert first["ETag"].startswith('W/"')
    assert [it.status_code for it in (first, again, any_of, changed)] == [200, 304, 304, 200]
    assert (again.content, again["ETag"]) == (b"", first["ETag"])
    for answer in (first, again):
        assert answer["Cache-Control"] == "private, no-cache"
        assert {"Accept", "Authorization", "Cookie"} <= set(answer["Vary"].split(", "))
        assert answer["RateLimit"]


def test_tag_is_of_what_each_role_is_told_and_nothing_else(benchmark, owner, ada):
    vi, cy = (factories.member(benchmark, name, "viewer") for name in ("vi", "cy"))
    tags = {person: token_client(person).get(OF)["ETag"] for person in (owner, ada, vi, cy)}

    # Each role is told its own: `role` is in the answer.
    assert len({tags[owner], tags[ada], tags[vi]}) == 3
    assert tags[vi] == tags[cy]


def test_tag_of_others_opens_nothing(benchmark, api):
    stranger = token_client(factories.user("stranger"))

    answer = stranger.get(OF, headers={"If-None-Match": api.get(OF)["ETag"]})

    assert answer.status_code == 404
    assert not answer.has_header("ETag")
    assert answer["Cache-Control"] == "private, no-store"


def test_what_writes_and_what_fails_has_no_tag(api, benchmark):
    for answer in (send(api, f"{OF}pools/", {}), api.get(f"{OF}pools/9/")):
        assert not answer.has_header("ETag")
        assert answer["Cache-Control"] == "private, no-store"


# --- pages by cursor --------------------------------------------------------------------------


def walked(api: Client, path: str, key: str = "results") -> list[list]:
    pages = []
    while path:
        answer = api.get(path)
        body = answer.json()
        pages.append(body[key])
        path = body["next"]
        assert (f'<{path}>; rel="next"' in answer.get("Link", "")) == bool(path)
    return pages


def test_list_is_walked_by_cursor_and_back(api, benchmark):
    for number in range(5):
        pool(benchmark, {"q1": ["d1"]}, name=f"pool {number}")
    whole = api.get(f"{OF}pools/").json()["results"]

    pages = walked(api, f"{OF}pools/?limit=2")

    assert [len(page) for page in pages] == [2, 2, 1]
    assert [row["id"] for page in pages for row in page] == [row["id"] for row in whole]
    second = api.get(f"{OF}pools/?limit=2").json()["next"]
    back = api.get(api.get(second).json()["previous"]).json()
    assert [row["id"] for row in back["results"]] == [row["id"] for row in whole[:2]]
    assert back["count"] == 5


def test_row_that_comes_meanwhile_moves_no_page(api, owner):
    for number in range(4):
        factories.member(factories.benchmark(f"b{number}", name=f"b{number}"), "olga", "owner")
    first = api.get("/api/v1/benchmarks/?limit=2").json()
    factories.member(factories.benchmark("a", name="a, before all"), "olga", "owner")

    second = api.get(first["next"]).json()

    assert [row["slug"] for row in (*first["results"], *second["results"])] == [
        *("stdlib", "b0", "b1", "b2"),
    ]


def test_equal_places_end_and_are_told_once(api, owner, monkeypatch):
    """More rows of one place than the framework counts on by itself."""
    monkeypatch.setattr("rest_framework.pagination.CursorPagination.offset_cutoff", 2)
    for number in range(9):
        factories.member(factories.benchmark(f"b{number}", name="same"), "olga", "owner")

    pages = walked(api, "/api/v1/benchmarks/?limit=2")

    slugs = [row["slug"] for page in pages for row in page]
    assert len(slugs) == len(set(slugs)) == 10


@pytest.mark.parametrize("query", ["limit=1000", "limit=200", "cursor=&limit=200"])
def test_page_has_at_most_two_hundred(api, benchmark, query):
    for number in range(201):
        factories.query(benchmark, f"q{number}")

    answer = api.get(f"{OF}families/?{query}").json()

    assert (answer["count"], len(answer["results"])) == (201, 200)


@pytest.mark.parametrize(
    "cursor", ["x", "%00", "cD1hJTAw", "bz05OTk5OTk5OTk5OTk5OTk5OTk5OTk5", "é"]
)
@pytest.mark.parametrize("path", ["/api/v1/benchmarks/", f"{OF}pools/", f"{OF}families/"])
def test_cursor_that_somebody_wrote_is_no_fault(api, benchmark, path, cursor):
    answer = api.get(f"{path}?cursor={cursor}")

    assert answer.status_code in (200, 400, 404)


def test_pages_by_number_go_on_as_they_were(api, benchmark):
    for number in range(3):
        pool(benchmark, {"q1": ["d1"]}, name=f"pool {number}")

    answer = api.get(f"{OF}pools/?page=2&page_size=2")

    assert [row["name"] for row in answer.json()["results"]] == ["pool 0"]
    assert re.fullmatch(r'<http://testserver/\S+>; rel="prev"', answer["Link"])
    assert dict(parse_qsl(urlsplit(answer.json()["previous"]).query)) == {"page_size": "2"}


# --- limits -----------------------------------------------------------------------------------


def test_every_answer_says_what_is_left(api, benchmark, settings):
    settings.API_REQUESTS_PER_MINUTE = 3

    answers = [api.get(path) for path in (OF, f"{OF}pools/9/", OF, OF)]

    assert [answer.status_code for answer in answers] == [200, 404, 200, 429]
    left = [re.fullmatch(r'"requests";r=(\d);t=(\d+)', it["RateLimit"]).groups() for it in answers]
    assert [int(n) for n, _ in left] == [2, 1, 0, 0]
    assert all(0 < int(seconds) <= 60 for _, seconds in left)
    assert {answer["RateLimit-Policy"] for answer in answers} == {'"requests";q=3;w=60'}


def test_costly_answer_names_both_limits(api, benchmark, settings):
    settings.API_COMPUTATIONS_PER_MINUTE = 7

    answer = send(api, f"{OF}splits/preview/", {})

    assert answer["RateLimit-Policy"].endswith(', "computations";q=7;w=60')
    assert '"computations";r=6;t=60' in answer["RateLimit"]


def test_refused_token_is_told_the_limits_of_its_address_uncounted(client, benchmark, settings):
    settings.API_ANONYMOUS_PER_MINUTE = 5
    headers = {"Authorization": "Bearer none"}

    answers = [client.get(OF, headers=headers) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [401, 401]
    assert {answer["RateLimit"] for answer in answers} == {'"requests";r=5;t=60'}


# --- requests that are sent again -------------------------------------------------------------


def test_same_request_with_its_key_is_answered_once(api, owner):
    body = {"name": "Help pages"}

    first, again = (send(api, "/api/v1/benchmarks/", body, **KEY) for _ in range(2))

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert (first.get("Idempotency-Replayed"), again["Idempotency-Replayed"]) == (None, "true")
    assert Benchmark.objects.filter(name="Help pages").count() == 1


def test_key_of_another_request_is_refused(api, owner):
    send(api, "/api/v1/benchmarks/", {"name": "Help pages"}, **KEY)

    other = send(api, "/api/v1/benchmarks/", {"name": "Other pages"}, **KEY)

    assert (other.status_code, other.json()["code"]) == (422, "idempotency-key-reused")
    assert not Benchmark.objects.filter(name="Other pages").exists()


def test_key_is_each_persons_own(api, benchmark, owner):
    bob = token_client(factories.user("bob"))

    answers = [
        send(it, "/api/v1/benchmarks/", {"name": f"Help {number}"}, **KEY)
        for number, it in enumerate((api, bob))
    ]

    assert [answer.status_code for answer in answers] == [201, 201]
    assert "Idempotency-Replayed" not in answers[1]
    assert KeyedRequest.objects.count() == 2


def test_request_that_is_still_answered_is_not_begun_again(api, owner):
    send(api, "/api/v1/benchmarks/", {"name": "Help pages"}, **KEY)
    KeyedRequest.objects.update(status=None)

    busy = send(api, "/api/v1/benchmarks/", {"name": "Help pages"}, **KEY)
    KeyedRequest.objects.update(began_at=timezone.now() - timedelta(minutes=11))
    taken_over = send(api, "/api/v1/benchmarks/", {"name": "Help pages"}, **KEY)

    assert (busy.status_code, busy.json()["code"]) == (409, "idempotency-key-busy")
    assert busy["Retry-After"] == "1"
    assert "Idempotency-Replayed" not in taken_over


def test_error_keeps_no_key(api, owner):
    refused = send(api, "/api/v1/benchmarks/", {"name": ""}, **KEY)
    answer = send(api, "/api/v1/benchmarks/", {"name": "Help pages"}, **KEY)

    assert (refused.status_code, answer.status_code) == (400, 201)


def test_form_with_a_file_is_the_same_by_its_bytes(api, benchmark, owner):
    def sent(content: bytes):
        file = SimpleUploadedFile("queries.tsv", content)
        return api.post(f"{OF}uploads/", {"file": file}, headers=KEY)

    first, again, other = sent(b"q1\tone\n"), sent(b"q1\tone\n"), sent(b"q1\ttwo\n")

    assert first.status_code < 300, first.content
    assert (again.json(), again["Idempotency-Replayed"]) == (first.json(), "true")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency-key-reused")


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "é"])
def test_key_that_is_none_is_refused(api, owner, key):
    answer = send(api, "/api/v1/benchmarks/", {"name": "x"}, **{"Idempotency-Key": key})

    assert (answer.status_code, answer.json()["code"]) == (400, "idempotency-key")


def test_key_is_good_for_a_day_and_then_swept(api, owner):
    send(api, "/api/v1/benchmarks/", {"name": "Help pages"}, **KEY)
    KeyedRequest.objects.update(began_at=timezone.now() - timedelta(hours=24, seconds=1))

    anew = send(api, "/api/v1/benchmarks/", {"name": "Other pages"}, **KEY)
    drop_old_keyed_requests()
    assert (anew.status_code, KeyedRequest.objects.count()) == (201, 1)
    KeyedRequest.objects.update(began_at=timezone.now() - timedelta(hours=24, seconds=1))
    drop_old_keyed_requests()
    assert not KeyedRequest.objects.exists()


def test_answers_go_with_the_person(benchmark, owner):
    bob = factories.user("bob")
    send(token_client(bob), f"{OF}pools/", {}, **KEY)
    KeyedRequest.objects.create(user=bob, key_sha256="a" * 64, fingerprint="b" * 64)

    delete_person(user=bob, actor=None)

    assert not KeyedRequest.objects.exists()


# --- parts of files ---------------------------------------------------------------------------


@pytest.fixture
def files() -> tuple[Client, str]:
    tiny = factories.tiny_benchmark()
    olga = factories.member(tiny, "olga", "owner")
    factories.release(tiny.qrel_sets.get(), "1.0.0", by=olga)
    return token_client(olga), "/api/v1/benchmarks/tiny/"


PATHS = ["releases/1.0.0/files/qrels.trec", "releases/1.0.0/exports/beir/", "qrels/{}/download/"]


@pytest.mark.parametrize("path", PATHS)
def test_part_of_a_file_is_sent(files, path):
    api, of = files
    pk = Benchmark.objects.get(slug="tiny").qrel_sets.get().pk
    url = of + path.format(pk)
    answer = api.get(url)
    whole = b"".join(answer)
    n = len(whole)

    def part(ranged: str, **more: str):
        got = api.get(url, headers={"Range": ranged, **more})
        return got.status_code, b"".join(got), got.get("Content-Range")

    assert (answer["Accept-Ranges"], int(answer["Content-Length"])) == ("bytes", n)
    assert part("bytes=0-0") == (206, whole[:1], f"bytes 0-0/{n}")
    assert part("bytes=5-9") == (206, whole[5:10], f"bytes 5-9/{n}")
    assert part("bytes=7-") == (206, whole[7:], f"bytes 7-{n - 1}/{n}")
    assert part("bytes=-4") == (206, whole[-4:], f"bytes {n - 4}-{n - 1}/{n}")
    assert part(f"bytes=3-{n + 9}") == (206, whole[3:], f"bytes 3-{n - 1}/{n}")
    for ignored in ("bytes=9-5", "bytes=0-1,3-4", "lines=1-2", "bytes=-"):
        assert part(ignored)[:2] == (200, whole)
    assert part("bytes=5-", **{"If-Range": '"other"'})[:2] == (200, whole)
    assert part("bytes=5-", **{"If-Range": answer["ETag"]})[0] == 206
    status, problem, content_range = part(f"bytes={n}-")
    assert (status, json.loads(problem)["code"], content_range) == (416, "range", f"bytes */{n}")
    same = api.get(url, headers={"If-None-Match": answer["ETag"]})
    assert (same.status_code, same["Cache-Control"]) == (304, "private, no-cache")


def test_what_is_too_large_to_be_held_is_streamed_whole(files, monkeypatch):
    api, of = files
    url = f"{of}releases/1.0.0/exports/beir/"
    whole = b"".join(api.get(url))
    monkeypatch.setattr("benchmarks_app.ranges.HELD", 10)

    answer = api.get(url, headers={"Range": "bytes=0-3"})

    assert (answer.status_code, answer["Accept-Ranges"]) == (200, "none")
    assert b"".join(answer) == whole
    assert not answer.has_header("Content-Length")

"""The client of a site: its token goes to the site alone, and each answer means what it should."""

import hashlib
import json
import logging
import stat
import traceback
import tracemalloc
import zipfile
from collections.abc import Callable
from io import BytesIO

import httpx
import pytest

from benchwright.client import Client, InsecureServerWarning, Patience, errors
from benchwright.client.servers import Login, Servers, Token, login_for, normal_url
from benchwright.errors import BROKE_OFF

SITE = "https://bench.example.org"
SECRET = "bw_secret-of-sam"
RUN = b"q1 Q0 d1 1 2.0 bm25\n"
SENT = {"id": 7, "state": "received", "name": "bm25", "url": f"{SITE}/b/stdlib/submissions/7/"}


def error(status: int, code: str = "some-code", **more) -> httpx.Response:
    body = {"code": code, "message": f"The site says {code}.", "detail": more.pop("detail", {})}
    return httpx.Response(status, json=body, **more)


class Site:
    """Answers requests as it was told to, the last answer for ever; remembers what it was asked."""

    def __init__(self, *answers: httpx.Response | Exception | Callable) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer

    def client(self, url: str = SITE, token: str = SECRET, **settings) -> Client:
        return Client(
            url,
            token,
            transport=httpx.MockTransport(self),
            sleep=self.slept.append,
            **settings,
        )

    @property
    def paths(self) -> list[str]:
        return [f"{request.method} {request.url.raw_path.decode()}" for request in self.asked]


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "bm25.run"
    path.write_bytes(RUN)
    return path


# --- where the token goes -------------------------------------------------------------------------


def test_token_is_sent_to_the_site():
    site = Site(httpx.Response(200, json={"username": "sam"}))

    assert site.client().me().username == "sam"
    assert site.asked[0].headers["Authorization"] == f"Bearer {SECRET}"
    assert site.paths == ["GET /api/v1/me/"]


@pytest.mark.parametrize(
    "elsewhere",
    ["https://files.example.net/x", "https://bench.example.org:8443/x", "https://example.org/x"],
)
def test_read_that_leads_elsewhere_goes_on_without_the_token(elsewhere):
    site = Site(
        httpx.Response(302, headers={"Location": elsewhere}),
        httpx.Response(200, json={"username": "sam"}),
    )

    site.client().me()

    first, second = site.asked
    assert str(second.url) == elsewhere
    assert "Authorization" in first.headers
    assert "Authorization" not in second.headers


def test_read_that_leads_to_the_same_site_keeps_the_token():
    site = Site(
        httpx.Response(301, headers={"Location": "/api/v2/me/"}),
        httpx.Response(200, json={"username": "sam"}),
    )

    site.client().me()

    assert [request.headers.get("Authorization") for request in site.asked] == [
        f"Bearer {SECRET}"
    ] * 2


def test_site_below_a_path_is_asked_there_and_no_other_tool_of_its_host_gets_the_token():
    site = Site(
        httpx.Response(302, headers={"Location": "/benchwright/api/v2/me/"}),
        httpx.Response(302, headers={"Location": "/benchwright-old/me/"}),
        httpx.Response(302, headers={"Location": "/wiki/me/"}),
        httpx.Response(200, json={"username": "sam"}),
    )

    site.client("https://tools.example.org/benchwright/").me()

    assert [(request.url.path, "Authorization" in request.headers) for request in site.asked] == [
        ("/benchwright/api/v1/me/", True),
        ("/benchwright/api/v2/me/", True),
        ("/benchwright-old/me/", False),
        ("/wiki/me/", False),
    ]


def test_nothing_follows_from_https_to_http():
    site = Site(httpx.Response(302, headers={"Location": "http://bench.example.org/?key=1"}))

    with pytest.raises(errors.RedirectedError, match="not encrypted") as caught:
        site.client().me()

    assert len(site.asked) == 1
    assert "key=1" not in str(caught.value)


def test_file_is_not_sent_elsewhere(run):
    site = Site(httpx.Response(307, headers={"Location": "https://other.example.org/api/v1/x"}))

    with pytest.raises(errors.RedirectedError, match=r"use https://other\.example\.org"):
        site.client().submit("stdlib", run)

    assert len(site.asked) == 1


def test_circle_of_redirects_ends():
    site = Site(httpx.Response(302, headers={"Location": "/again"}))

    with pytest.raises(errors.RedirectedError, match="more than five"):
        site.client().me()


@pytest.mark.parametrize(
    ("url", "is_warned"),
    [
        ("http://bench.example.org", True),
        ("http://10.0.0.7:8000", True),
        ("https://bench.example.org", False),
        ("http://127.0.0.1:8000", False),
        ("http://localhost:8000", False),
        ("http://[::1]:8000", False),
    ],
)
def test_plain_http_beyond_this_machine_warns(url, is_warned, recwarn):
    Client(url, SECRET)

    results = [warning for warning in recwarn if warning.category is InsecureServerWarning]
    assert bool(results) == is_warned
    assert SECRET not in " ".join(str(result.message) for result in results)


@pytest.mark.parametrize(
    "answer",
    [
        error(401, "token-invalid"),
        error(500, "unexpected"),
        httpx.ConnectError("no route"),
        httpx.Response(200, text="<html>"),
    ],
)
def test_no_error_repr_log_or_traceback_tells_the_token(answer, caplog):
    caplog.set_level(logging.DEBUG)
    client = Site(answer).client()

    with pytest.raises(errors.ClientError) as caught:
        client.me()

    result = "".join(
        traceback.TracebackException.from_exception(caught.value, capture_locals=True).format()
    )
    for text in (result, repr(client), repr(caught.value), str(vars(caught.value)), caplog.text):
        assert SECRET not in text
    assert "self" in result  # local variables are among what was looked at


@pytest.mark.parametrize("sign", ["\n", "\0", "\ufeff", "\u201d", " "])
def test_token_that_holds_another_sign_is_refused_before_it_is_sent_and_not_shown(sign):
    site = Site(httpx.Response(200, json={"username": "sam"}))

    with pytest.raises(errors.NotATokenError, match=f"from {SITE}/account/") as caught:
        site.client(token=f"{SECRET}{sign}{SECRET}")

    result = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert SECRET not in "".join(line for line in result.format() if "benchwright/client" in line)
    assert site.asked == []


# --- what each answer means -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (error(401, "token-invalid"), errors.TokenRefusedError, "benchwright login https://bench"),
        (error(403, "forbidden"), errors.ForbiddenError, "Ask an owner"),
        (error(404, "not-found"), errors.NotThereError, "private benchmark"),
        (error(409, "daily-limit"), errors.ConflictError, "The site says daily-limit."),
        (error(413, "upload-too-large"), errors.TooLargeError, "Compress the file"),
        (error(422, "run-format"), errors.RefusedError, "The site says run-format."),
        (error(400, "invalid", detail={"phase": ["No."]}), errors.RefusedError, "\n  phase: No."),
        (error(503, "busy"), errors.ServerFaultError, r"HTTP 503\).*try again later"),
        (httpx.Response(502, text="<html>"), errors.ServerFaultError, "HTTP 502"),
        (httpx.Response(404, text="<html>"), errors.StrangeAnswerError, "address of a Benchwright"),
        (httpx.Response(200, text="<html>"), errors.StrangeAnswerError, "no JSON"),
        (httpx.Response(200, json=[1]), errors.StrangeAnswerError, "a Me came as"),
        (httpx.Response(200, json={}), errors.StrangeAnswerError, "without username"),
        (httpx.ConnectError("refused"), errors.UnreachableError, "nobody answers.*refused"),
        (httpx.ReadTimeout("slow"), errors.UnreachableError, "nobody answers.*slow"),
    ],
)
def test_each_answer_has_an_error_that_says_what_to_do(answer, kind, words):
    with pytest.raises(kind, match=words) as caught:
        Site(answer).client().me()

    assert type(caught.value) is kind


def test_without_a_token_a_refusal_says_how_to_sign_in():
    with pytest.raises(errors.NotSignedInError, match="benchwright login https://bench"):
        Site(error(401, "not-authenticated")).client(token="").me()


def test_site_that_asks_to_wait_is_obeyed():
    site = Site(
        error(429, "throttled", headers={"Retry-After": "17"}),
        httpx.Response(200, json={"username": "sam"}),
    )

    site.client().me()

    assert site.slept == [17.0]


def test_site_that_asks_to_wait_for_long_is_left_alone():
    site = Site(error(429, "throttled", headers={"Retry-After": "900"}))

    with pytest.raises(errors.TooManyRequestsError, match="for 900 s"):
        site.client().me()

    assert (len(site.asked), site.slept) == (1, [])


@pytest.mark.parametrize("passing", [error(503), error(500), httpx.ReadError("cut")])
def test_read_is_repeated_with_growing_pauses(passing):
    site = Site(passing, passing, passing, httpx.Response(200, json={"username": "sam"}))

    assert site.client(patience=Patience(pause=1.0)).me().username == "sam"
    assert len(site.slept) == 3
    assert all(0.5 * 2**n <= pause <= 2**n for n, pause in enumerate(site.slept))


def test_repeating_ends():
    site = Site(error(503))

    with pytest.raises(errors.ServerFaultError):
        site.client(patience=Patience(n_tries=3)).me()

    assert len(site.asked) == 3


@pytest.mark.parametrize("passing", [error(503), httpx.ReadError("cut")])
def test_what_must_not_happen_twice_is_asked_once(passing):
    site = Site(passing)

    with pytest.raises(errors.ClientError):
        site.client().gate("stdlib", policy="strict", candidate=3)

    assert len(site.asked) == 1


# --- submitting -----------------------------------------------------------------------------------


def test_run_is_sent_with_what_is_known_of_it(run):
    site = Site(httpx.Response(201, json=SENT))

    sent = site.client().submit(
        "stdlib", run, name="BM25", metadata={"system": "Lücene"}, team="", phase=3
    )

    body = site.asked[0].content
    assert (sent.id, sent.state, sent.is_earlier, sent.is_ended) == (7, "received", False, False)
    assert site.paths == ["POST /api/v1/benchmarks/stdlib/submissions/"]
    assert RUN in body
    assert b'filename="bm25.run"' in body
    assert b'{"system": "L\xc3\xbccene"}' in body
    assert b'name="phase"\r\n\r\n3\r\n' in body
    assert b'name="team"' not in body


def test_phase_is_found_by_its_name_the_open_one_first(run):
    phases = [
        {"id": 4, "name": "spring", "state": "open"},
        {"id": 3, "name": "spring", "state": "over"},
    ]
    site = Site(
        httpx.Response(200, json={"results": phases, "next": None}), httpx.Response(201, json=SENT)
    )

    site.client().submit("stdlib", run, phase="spring")

    assert b'name="phase"\r\n\r\n4\r\n' in site.asked[1].content


@pytest.mark.parametrize(("phase", "number"), [("2026", b"4"), ("3", b"3")])
def test_a_phase_called_by_a_number_is_found_by_its_name_before_its_number(run, phase, number):
    phases = [{"id": 4, "name": "2026", "state": "open"}, {"id": 3, "name": "3a", "state": "open"}]
    site = Site(
        httpx.Response(200, json={"results": phases, "next": None}), httpx.Response(201, json=SENT)
    )

    site.client().submit("stdlib", run, phase=phase)

    assert b'name="phase"\r\n\r\n' + number + b"\r\n" in site.asked[1].content


def test_phase_that_is_not_there_names_those_that_are(run):
    phases = [{"id": 4, "name": "spring", "state": "open"}]
    site = Site(httpx.Response(200, json={"results": phases, "next": None}))

    with pytest.raises(errors.NoPhaseError, match=r"no phase 'autumn'\. There is: spring"):
        site.client().submit("stdlib", run, phase="autumn")


def test_name_of_a_run_is_that_of_its_file(tmp_path):
    path = tmp_path / "dense.run.gz"
    path.write_bytes(RUN)
    site = Site(httpx.Response(201, json=SENT))

    site.client().submit("stdlib", path)

    assert b'name="name"\r\n\r\ndense.run\r\n' in site.asked[0].content


def test_run_is_sent_whole_again_after_a_cut(run):
    site = Site(httpx.WriteError("cut"), error(502), httpx.Response(200, json=SENT))

    sent = site.client().submit("stdlib", run)

    assert sent.is_earlier  # the first attempt had come through
    assert [request.content.count(RUN) for request in site.asked] == [1, 1, 1]


def test_upload_takes_no_memory_of_the_size_of_the_file(tmp_path):
    path = tmp_path / "large.run"
    with path.open("wb") as out:
        out.truncate(64 << 20)
    received = []

    class Sink(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            received.append(sum(len(piece) for piece in request.stream))
            return httpx.Response(201, json=SENT)

    client = Client(SITE, SECRET, transport=Sink())
    results = []
    tracemalloc.start()
    client.submit("stdlib", path, tell=lambda done, total: results.append((done, total)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert received[0] > 64 << 20
    assert results[-1] == (64 << 20, 64 << 20)
    assert peak < 4 << 20


def test_waiting_looks_ever_less_often_until_it_is_over():
    states = [{**SENT, "state": state} for state in ["queued"] * 12 + ["scored"]]
    site = Site(*[httpx.Response(200, json=state) for state in states])
    seen = []

    ended = site.client().wait("stdlib", 7, tell=lambda job: seen.append(job.state))

    assert (ended.state, ended.is_scored) == ("scored", True)
    assert seen == ["queued"] * 12 + ["scored"]
    assert site.slept == sorted(site.slept)
    assert (site.slept[0], site.slept[-1]) == (0.25, 5.0)


@pytest.mark.parametrize(
    "gone", [httpx.ConnectError("refused"), error(502), error(503)], ids=["", "proxy", "starting"]
)
def test_waiting_outlives_a_site_that_is_started_anew(gone):
    site = Site(
        gone,
        gone,
        httpx.Response(200, json={**SENT, "state": "scored"}),
    )

    assert site.client(patience=Patience(n_tries=1)).wait("stdlib", 7).is_scored


def test_waiting_ends_in_time():
    site = Site(httpx.Response(200, json=SENT))

    with pytest.raises(errors.WaitedTooLongError, match=r"bm25 is still 'received'.*submissions/7"):
        site.client().wait("stdlib", 7, seconds=0.1)


def test_problems_are_told_by_line():
    results = [{"file": "bm25.run", "line": 412, "text": "score is 'n/a'"}, "too long"]
    site = Site(httpx.Response(200, json={**SENT, "state": "invalid", "problems": results}))

    problems = site.client().submission("stdlib", 7).said_problems

    assert list(map(str, problems)) == ["bm25.run:412: score is 'n/a'", "too long"]


@pytest.mark.parametrize("name", ["cursor", "page"], ids=["cursor", "site before cursors"])
def test_list_is_read_page_by_page(name):
    def page(request):
        number = int(request.url.params.get(name, 1))
        rows = [{"slug": f"b{number}"}]
        following = f"https://elsewhere.example/?{name}={number + 1}&limit=200"
        return httpx.Response(
            200, json={"results": rows, "next": following if number < 3 else None}
        )

    site = Site(page)

    assert [benchmark.slug for benchmark in site.client().benchmarks()] == ["b1", "b2", "b3"]
    assert {request.url.host for request in site.asked} == {httpx.URL(site.client().url).host}
    assert site.asked[0].url.params["limit"] == "200"


def test_what_is_asked_for_several_times_is_asked_so_on_each_page():
    def page(request):
        following = None if "cursor" in request.url.params else f"{request.url}&cursor=x"
        return httpx.Response(200, json={"results": [{}], "next": following})

    site = Site(page)

    assert len(list(site.client().rows("benchmarks/x/comparisons/queries/", runs=["a", "b"]))) == 2
    assert [request.url.params.get_list("runs") for request in site.asked] == [["a", "b"]] * 2


@pytest.mark.parametrize(
    "asked",
    [
        {"json": {"value": float("nan")}},
        {"json": {"name": "half\ud800"}},
        {"params": {"q": "half\udcff"}},
        {"params": {"q": "long" * 20_000}},
    ],
    ids=["no number", "half a character", "no UTF-8", "too long"],
)
def test_what_no_request_can_hold_is_told_and_not_sent(asked):
    site = Site(httpx.Response(200, json={}))

    with pytest.raises(errors.UnsendableError, match=f"{SITE} cannot be asked"):
        site.client().ask("POST", "benchmarks/", **asked)
    assert site.asked == []


def test_what_is_sent_again_has_the_same_key_and_a_new_request_another():
    lost = httpx.ReadError("gone")
    busy = httpx.Response(409, json={}, headers={"X-Error-Code": "idempotency-key-busy"})
    site = Site(lost, busy, *(httpx.Response(200, json={"id": 1, "state": "scored"}) for _ in "ab"))
    client = site.client()

    for _ in range(2):
        client.withdraw("stdlib", 1)

    keys = [request.headers["Idempotency-Key"] for request in site.asked]
    assert keys[0] == keys[1] == keys[2] != keys[3]


def test_file_that_the_site_could_not_send_to_its_end_is_not_taken_for_whole():
    site = Site(httpx.Response(200, content=b"a\n" + BROKE_OFF))

    with pytest.raises(errors.BrokeOffError, match="could not send this to its end"):
        site.client().fetch("benchmarks/stdlib/judgments/", BytesIO())

    whole, stream = Site(httpx.Response(200, content=b"a\n")), BytesIO()
    assert whole.client().fetch("benchmarks/stdlib/judgments/", stream) == 2
    assert stream.getvalue() == b"a\n"


def test_what_was_deleted_before_the_line_broke_is_deleted():
    site = Site(httpx.ReadError("cut"), error(404, "not-found"))

    assert site.client().ask("DELETE", "benchmarks/stdlib/uploads/3/") is None

    assert len(site.asked) == 2
    with pytest.raises(errors.NotThereError):
        Site(error(404, "not-found")).client().ask("DELETE", "benchmarks/stdlib/uploads/3/")


def test_verdict_of_a_gate_is_waited_for():
    site = Site(
        httpx.Response(201, json={"id": 3, "state": "queued"}),
        httpx.Response(200, json={"id": 3, "verdict": None}),
        httpx.Response(200, json={"id": 3, "verdict": "hold"}),
    )

    assert site.client().gate("stdlib", policy="strict", candidate=9)["verdict"] == "hold"
    assert json.loads(site.asked[0].content) == {"policy": "strict", "candidate": 9}


@pytest.mark.parametrize("name", ["../x", "a/b", "", "..", "a@", "a@../b", "a b", "a?b"])
def test_name_that_would_lead_elsewhere_is_refused(name):
    site = Site(httpx.Response(200, json={}))

    with pytest.raises(errors.NotAReleaseNameError):
        site.client().release(name)

    assert site.asked == []


# --- pulling --------------------------------------------------------------------------------------

CONTENT = {"queries.jsonl": b'{"_id": "q1"}\n' * 300_000, "qrels/test.tsv": b"q1\td1\t1\n"}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


MANIFEST = {
    "files": {
        **{name: {"sha256": digest(content)} for name, content in CONTENT.items()},
        "hidden/qrels/secret.tsv": {"sha256": "0" * 64},
    },
    "content_sha256": "c" * 64,
}


class ReleaseSite(Site):
    """Gives one release; `spoil` changes the answer to a path, once or for ever."""

    def __init__(self, manifest=MANIFEST, content=CONTENT) -> None:
        super().__init__(self._answer)
        self.manifest = manifest
        self.content = {**content, "manifest.json": json.dumps(manifest).encode()}
        self.spoil: dict[str, list[Callable]] = {}

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.partition("/releases/")[2]
        for name, spoils in self.spoil.items():
            if path.endswith(name) and spoils:
                return spoils.pop(0)(request)
        if not path:
            row = {"version": "1.2.0", "published_at": "2026-01-01"}
            draft = {"version": "2.0.0", "published_at": None}
            old = {**row, "version": "1.3.0", "deprecated_at": "2026-02-01"}
            return httpx.Response(200, json={"results": [draft, old, row], "next": None})
        if "/files/" in path:
            return self._file(request, path.partition("/files/")[2])
        if "/exports/" in path:
            return httpx.Response(200, content=zipped(self.content))
        facts = {"manifest": self.manifest, "hidden_splits": ["test"]}
        return httpx.Response(200, json={"version": "1.2.0", "published_at": "x", **facts})

    def _file(self, request: httpx.Request, name: str) -> httpx.Response:
        whole = self.content[name]
        begin = int(request.headers.get("Range", "bytes=0-")[6:-1])
        if not begin:
            return httpx.Response(200, content=whole)
        assert request.headers["If-Range"] == f'"{digest(whole)}"'
        text = f"bytes {begin}-{len(whole) - 1}/{len(whole)}"
        return httpx.Response(206, content=whole[begin:], headers={"Content-Range": text})


def zipped(content: dict[str, bytes]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in content.items():
            archive.writestr(f"stdlib-1.2.0/{name}", data)
    return out.getvalue()


def cut_after(n_bytes: int) -> Callable:
    """An answer that breaks off."""

    def answer(request: httpx.Request) -> httpx.Response:
        whole = CONTENT["queries.jsonl"]

        def pieces():
            yield whole[:n_bytes]
            raise httpx.ReadError("cut")

        return httpx.Response(200, content=pieces(), headers={"Content-Length": str(len(whole))})

    return answer


def test_release_is_brought_with_every_file_as_the_manifest_says(tmp_path):
    site = ReleaseSite()

    pulled = site.client().pull("stdlib@1.2.0", tmp_path / "out")

    assert pulled.files == ("manifest.json", "qrels/test.tsv", "queries.jsonl")
    assert pulled.withheld == ("test",)
    for name, content in CONTENT.items():
        assert (tmp_path / "out" / name).read_bytes() == content
    assert list(tmp_path.glob("*out*")) == [tmp_path / "out"]  # nothing is left beside it
    assert not any("hidden" in path for path in site.paths)


def test_newest_release_that_is_in_force_is_meant(tmp_path):
    site = ReleaseSite()

    assert site.client().release("stdlib").version == "1.2.0"
    assert site.paths[-1] == "GET /api/v1/benchmarks/stdlib/releases/1.2.0/"


def test_benchmark_without_a_release_is_told():
    site = Site(httpx.Response(200, json={"results": [], "next": None}))

    with pytest.raises(errors.NoReleaseError, match="stdlib has no published release"):
        site.client().release("stdlib")


def test_pull_goes_on_where_it_broke_off(tmp_path):
    site = ReleaseSite()
    site.spoil["queries.jsonl"] = [cut_after(1_000_000)]

    site.client().pull("stdlib@1.2.0", tmp_path / "out")

    asked = [request for request in site.asked if request.url.path.endswith("queries.jsonl")]
    begun = int(asked[1].headers["Range"][6:-1])
    assert 0 < begun <= 1_000_000
    assert (tmp_path / "out/queries.jsonl").read_bytes() == CONTENT["queries.jsonl"]


def test_later_pull_goes_on_where_an_earlier_one_ended(tmp_path):
    site = ReleaseSite()
    gone = [lambda request: httpx.Response(503)] * 99
    site.spoil["queries.jsonl"] = [cut_after(1_000_000), *gone]
    with pytest.raises(errors.ClientError):
        site.client().pull("stdlib@1.2.0", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    site.spoil.clear()
    site.asked.clear()

    site.client().pull("stdlib@1.2.0", tmp_path / "out")

    asked = next(request for request in site.asked if request.url.path.endswith("queries.jsonl"))
    assert int(asked.headers["Range"][6:-1]) > 0
    assert (tmp_path / "out/queries.jsonl").read_bytes() == CONTENT["queries.jsonl"]


def test_file_that_is_not_what_the_manifest_says_is_thrown_away(tmp_path):
    site = ReleaseSite(content={**CONTENT, "qrels/test.tsv": b"q1\td1\t3\n"})

    with pytest.raises(errors.DigestError, match=r"qrels/test\.tsv: its SHA-256 is .* expected"):
        site.client().pull("stdlib@1.2.0", tmp_path / "out")

    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.rglob("test.tsv*"))


def test_manifest_that_changed_meanwhile_is_refused(tmp_path):
    site = ReleaseSite()
    site.content["manifest.json"] = b'{"content_sha256": "other"}'

    with pytest.raises(errors.DigestError, match=r"manifest\.json"):
        site.client().pull("stdlib@1.2.0", tmp_path / "out")


def test_folder_that_holds_something_is_left_alone(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")

    with pytest.raises(errors.FolderTakenError):
        ReleaseSite().client().pull("stdlib@1.2.0", tmp_path / "out")

    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil", "a\\..\\evil"])
def test_file_name_that_leads_out_of_the_folder_is_refused(tmp_path, name):
    manifest = {"files": {name: {"sha256": digest(b"")}}}

    with pytest.raises(errors.StrangeAnswerError, match="names a file"):
        ReleaseSite(manifest, {name: b""}).client().pull("stdlib@1.2.0", tmp_path / "out")


def test_export_is_unpacked_and_checked(tmp_path):
    pulled = ReleaseSite().client().pull("stdlib@1.2.0", tmp_path / "out", form="beir")

    assert pulled.files == ("manifest.json", "qrels/test.tsv", "queries.jsonl")
    assert (tmp_path / "out/qrels/test.tsv").read_bytes() == CONTENT["qrels/test.tsv"]


def test_export_with_other_grades_is_refused(tmp_path):
    site = ReleaseSite(content={**CONTENT, "qrels/test.tsv": b"q1\td1\t3\n"})

    with pytest.raises(errors.DigestError, match="qrels/test"):
        site.client().pull("stdlib@1.2.0", tmp_path / "out", form="beir")

    assert not (tmp_path / "out").exists()


def test_export_that_is_cut_short_is_refused(tmp_path):
    site = ReleaseSite()
    site.spoil["/exports/beir/"] = [
        lambda request: httpx.Response(200, content=zipped(CONTENT)[:5000])
    ]

    with pytest.raises(errors.StrangeAnswerError, match="zip is broken"):
        site.client().pull("stdlib@1.2.0", tmp_path / "out", form="beir")


PAGE = b"<!doctype html><title>Sign in to the network</title>"


@pytest.mark.parametrize("content", [PAGE, b"[]", b"\xff\xfe{", b""])
def test_manifest_that_is_none_is_told_and_nothing_is_kept(tmp_path, content):
    site = ReleaseSite()
    site.content["manifest.json"] = content

    with pytest.raises(errors.StrangeAnswerError, match=r"manifest\.json is no JSON object"):
        site.client().pull("stdlib@1.2.0", tmp_path / "out")

    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.rglob("manifest.json*"))


def damaged(content: dict[str, bytes]) -> bytes:
    """A zip whose first member cannot be inflated."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(f"stdlib-1.2.0/{name}", data)
    begin = 30 + len("stdlib-1.2.0/queries.jsonl")
    whole = bytearray(out.getvalue())
    whole[begin : begin + 200] = b"\xff" * 200
    return bytes(whole)


def test_export_that_cannot_be_inflated_is_refused(tmp_path):
    site = ReleaseSite()
    site.spoil["/exports/beir/"] = [lambda request: httpx.Response(200, content=damaged(CONTENT))]

    with pytest.raises(errors.StrangeAnswerError, match="zip is broken"):
        site.client().pull("stdlib@1.2.0", tmp_path / "out", form="beir")

    assert not list(tmp_path.rglob("export.zip*"))


@pytest.mark.parametrize("answer", [{"detail": "moved"}, {"results": None}, "text", 3])
def test_list_that_came_as_something_else_is_told(answer):
    site = Site(httpx.Response(200, json=answer))

    with pytest.raises(errors.StrangeAnswerError, match="came as"):
        site.client().release("stdlib")


# --- where tokens are kept ------------------------------------------------------------------------


def test_tokens_are_kept_where_nobody_else_reads_them(tmp_path):
    servers = Servers(tmp_path / "config")
    servers.add(Login(SITE, Token(SECRET), "sam", "2026-12-01"))
    servers.add(Login("https://other.example.org", Token("bw_other")))

    assert stat.S_IMODE(servers.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(servers.path.parent.stat().st_mode) == 0o700
    assert [server.url for server in servers.all()] == ["https://other.example.org", SITE]
    assert servers.find(SITE) == Login(SITE, Token(SECRET), "sam", "2026-12-01")
    assert SECRET not in repr(servers.all())
    assert servers.remove(SITE)
    assert SECRET not in servers.path.read_text()
    assert not servers.remove(SITE)


@pytest.mark.parametrize(
    "content", ["{", "[1]", '{"servers": [1]}', '{"servers": {"a": 1, "b": {}, "c": {"token": 1}}}']
)
def test_file_of_tokens_that_is_broken_counts_as_none(tmp_path, content):
    servers = Servers(tmp_path)
    servers.path.write_text(content)

    assert servers.all() == []
    servers.add(Login(SITE, Token("new")))
    assert [login.token for login in servers.all()] == ["new"]


def test_environment_comes_before_what_is_kept(tmp_path):
    servers = Servers(tmp_path)
    servers.add(Login(SITE, Token("kept")))
    other = "https://other.example.org"

    def chosen(server=None, **environment) -> tuple[str, str]:
        login = login_for(server, servers=servers, environment=environment)
        return login.url, str(login.token)

    assert chosen() == (SITE, "kept")
    assert chosen(BENCHWRIGHT_TOKEN="given") == (SITE, "given")
    assert chosen(BENCHWRIGHT_SERVER=other) == (other, "")
    assert chosen(f"{SITE}/", BENCHWRIGHT_SERVER=other) == (SITE, "kept")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("https://bench.example.org/", SITE),
        ("HTTPS://BENCH.example.org:443", SITE),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("https://example.org/bench/", "https://example.org/bench"),
        ("http://[::1]:80/", "http://[::1]"),
    ],
)
def test_address_has_one_form(given, expected):
    assert normal_url(given) == expected


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("bench.example.org", "https://"),
        ("ftp://bench.example.org", "https://"),
        ("https://", "no host"),
        ("https://bench.example.org:99999", "Port"),
        ("https://sam:word@bench.example.org", "password does not belong"),
        ("https://bench.example.org/?a=1", "'?'"),
        ("sam:word@bench.example.org", "https://"),
        ("https://sam:word@bench.example.org:99999", "Port"),
        ("https://sam:word@[bench.example.org", "IPv6"),
        ("https://bench..example.org", "no host can be called so"),
        (f"https://{'bench' * 20}.org", "no host can be called so"),
    ],
)
def test_what_is_no_address_is_refused(given, why):
    with pytest.raises(errors.ServerAddressError) as caught:
        normal_url(given)

    assert why in str(caught.value)
    assert "word" not in str(caught.value).replace("password", "")

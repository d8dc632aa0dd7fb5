"""Asking an endpoint that does what endpoints do."""

import json
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from benchwright.live.asking import Answered, Failed, ask_all, read_here, try_one
from benchwright.live.connections import Server
from benchwright.live.errors import EndpointError
from benchwright.live.keeping import AnswerLog, answers_at
from benchwright.live.paths import read_shape
from tests.scoring.search_server import BODY, DROPPED, Answer, hits, plain, zipped

ONE = [("q1", "one")]
ROOT = Path(__file__).resolve().parents[3]


def outcome(endpoint):
    (answer,) = ask_all(endpoint, ONE)
    return answer


def test_documents_and_scores_come_back_with_their_time(server, endpoint):
    server.answer = lambda asked: hits(("b", 2.5), ("a", 1))
    answer = outcome(endpoint())

    assert answer.reading.results == (("b", 2.5), ("a", 1.0))
    assert (answer.n_tries, 0 < answer.milliseconds < 2000) == (1, True)


def test_error_that_nobody_expects_is_raised_where_outcomes_are_waited_for(endpoint):
    def read(content, shape, k):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        list(ask_all(endpoint(read=read), ONE))


def test_time_of_an_answer_ends_before_it_is_read(endpoint):
    def read(content, shape, k):
        time.sleep(0.5)
        return read_here(content, shape, k)

    assert outcome(endpoint(read=read)).milliseconds < 500


@pytest.mark.parametrize(
    "docid",
    ["a" * 7_000_000, "\udc00" * 1_000_000, int("9" * 4_000)],
    ids=["letters", "halves of characters", "digits"],
)
def test_long_id_is_refused_at_once(server, endpoint, docid):
    server.answer = lambda asked: hits((docid, 1.0))
    outcome(endpoint())
    began = time.process_time()

    why = outcome(endpoint()).why

    assert "at most 512 are taken" in why or "lone surrogate" in why
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    "text",
    [
        'say "x" \\ {"a": 1}',
        "two\nlines\ttab",
        "{{k}} and {{query}}",
        "caf\u00e9 \U0001f50e \x00",
        "",
    ],
)
def test_a_query_arrives_exactly_whatever_it_holds(server, endpoint, text):
    list(ask_all(endpoint(k=7), [("q1", text)]))

    (asked,) = server.asked
    assert asked.body == {"size": 7, "_source": False, "query": {"match": {"text": text}}}


def test_a_get_carries_the_query_percent_encoded(server, endpoint):
    server.answer = lambda asked: plain([{"id": 1}])
    target = endpoint(
        f"{server.url}?lang=en",
        method="GET",
        template="q={{query}}&rows={{k}}",
        shape=read_shape(results="$", id="id"),
    )
    (answer,) = ask_all(target, [("q1", "a&b=c #d+é")])

    assert (server.asked[0].query, answer.reading.results) == ("a&b=c #d+é", (("1", 10.0),))
    assert server.asked[0].path.startswith("/docs/_search?lang=en&q=a%26b")


@pytest.mark.parametrize(("method", "template"), [("POST", BODY), ("GET", "q={{query}}")])
def test_letters_of_an_address_arrive_percent_encoded(server, endpoint, method, template):
    search = endpoint(f"{server.url}/süche?in=größe", method=method, template=template)

    outcome(search)

    (asked,) = server.asked
    assert asked.path.startswith("/docs/_search/s%C3%BCche?in=gr%C3%B6%C3%9Fe")


def test_connections_are_kept(server, endpoint):
    queries = [(f"q{n}", f"text {n}") for n in range(40)]
    items = list(ask_all(endpoint(concurrency=2), queries))

    assert {item.qid for item in items} == {qid for qid, _ in queries}
    assert server.n_connections == 2


def test_a_kept_connection_that_was_closed_meanwhile_is_no_failure(server, endpoint):
    server.scripted["text 0"] = [
        Answer(hits(("d", 1.0)).body, headers={"Connection": "close"}),
    ]
    items = list(ask_all(endpoint(concurrency=1, retries=0), [("a", "text 0"), ("b", "text 1")]))

    assert [type(item) for item in items] == [Answered, Answered]


# --- failures that pass --------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_failure_is_tried_again(server, endpoint, status):
    server.scripted["one"] = [Answer(b"busy", status=status)] * 2
    answer = outcome(endpoint(retries=2))

    assert (type(answer), answer.n_tries, len(server.asked)) == (Answered, 3, 3)


def test_retry_after_is_waited_for_by_everybody(server, endpoint):
    server.scripted["one"] = [Answer(b"", status=429, headers={"Retry-After": "1"})]
    began = time.monotonic()
    (answer,) = ask_all(endpoint(), ONE)

    assert (type(answer), answer.n_tries) == (Answered, 2)
    assert server.asked[1].at - server.asked[0].at >= 1.0
    assert answer.milliseconds < 900 < (time.monotonic() - began) * 1000


def test_a_wait_beyond_all_patience_is_a_failure_that_says_so(server, endpoint):
    server.answer = lambda asked: Answer(b"slow down", status=429, headers={"Retry-After": "3600"})
    answer = outcome(endpoint())

    assert (type(answer), answer.n_tries) == (Failed, 1)
    assert answer.why == (
        "HTTP 429 Too Many Requests: slow down; "
        "it asks to wait 3,600 s, and at most 120 s are waited"
    )


def test_a_failure_that_stays_is_told_with_its_last_cause(server, endpoint):
    server.answer = lambda asked: Answer(b'{"error": "heap full"}', status=500)
    answer = outcome(endpoint(retries=1))

    assert (answer.n_tries, answer.status) == (2, 500)
    assert answer.why == 'HTTP 500 Internal Server Error: {"error": "heap full"}'


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_would_fail_again_is_not_tried_again(server, endpoint, status):
    server.answer = lambda asked: Answer(b"no", status=status)

    assert (outcome(endpoint()).n_tries, len(server.asked)) == (1, 1)


def test_a_dropped_connection_is_tried_again(server, endpoint):
    server.scripted["one"] = [DROPPED, DROPPED]

    assert outcome(endpoint(retries=3)).reading.results[0] == ("d1", 2.0)


def test_an_answer_cut_in_the_middle_is_tried_again(server, endpoint):
    whole = hits(("d", 1.0)).body
    server.scripted["one"] = [Answer(whole, cut=20)]

    assert outcome(endpoint()).n_tries == 2


def test_a_cut_answer_that_stays_so_says_how_much_came(server, endpoint):
    server.answer = lambda asked: Answer(hits(("d", 1.0)).body, cut=20)

    assert "the connection broke off: it ended after 20 of" in outcome(endpoint(retries=0)).why


def test_a_server_that_hangs_is_given_up_in_time(server, endpoint):
    server.answer = lambda asked: Answer(b"{}", delay=2.0)
    began = time.monotonic()
    answer = outcome(endpoint(timeout=0.3, retries=0))

    assert answer.why == "no whole answer within 0.3 s"
    assert time.monotonic() - began < 1.5


@pytest.mark.parametrize("headers", [{}, {"Connection": "close"}], ids=["kept", "closed"])
def test_a_server_that_drips_is_given_up_in_time(server, endpoint, headers):
    server.answer = lambda asked: Answer(b" " * 400, drip=0.02, headers=headers)
    began = time.monotonic()
    answer = outcome(endpoint(timeout=0.3, retries=0))

    assert answer.why == "no whole answer within 0.3 s"
    assert time.monotonic() - began < 1.5


def test_nobody_at_the_address_is_told(endpoint):
    answer = outcome(endpoint("http://127.0.0.1:9/x", retries=0))

    assert "no connection" in answer.why


# --- failures that stay --------------------------------------------------------------------------


def test_an_answer_larger_than_allowed_is_not_read(server, endpoint):
    server.answer = lambda asked: Answer(b" " * 5000)

    assert outcome(endpoint(most_bytes=1000)).why.startswith("its answer announces 5,000 bytes")


def test_a_packed_answer_is_unpacked(server, endpoint):
    server.answer = lambda asked: zipped(hits(("d", 1.0)))

    assert outcome(endpoint()).reading.results == (("d", 1.0),)
    assert server.asked[0].headers["accept-encoding"] == "gzip"


def test_a_packed_answer_that_unpacks_to_too_much_is_refused(server, endpoint):
    server.answer = lambda asked: zipped(Answer(b" " * 3_000_000))

    assert "its answer unpacks to more" in outcome(endpoint(most_bytes=100_000)).why


def test_a_redirect_is_told_and_not_followed(server, endpoint):
    target = "http://user:secret@169.254.169.254/latest/?token=1"
    server.answer = lambda asked: Answer(b"", status=302, headers={"Location": target})
    answer = outcome(endpoint())

    assert answer.why.startswith("it leads to 'http://169.254.169.254/latest/' (HTTP 302)")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9200/x",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]:9200/x",
        "http://0x7f000001/x",
        "http://[::ffff:10.0.0.1]/x",
    ],
)
def test_private_addresses_are_refused_and_nothing_is_sent(server, endpoint, url):
    with pytest.raises(EndpointError, match=r"not in the public network.*LIVE_PRIVATE_ADDRESSES"):
        list(ask_all(endpoint(url, private=[]), ONE))

    assert server.asked == []


@pytest.mark.parametrize("private", ["127.0.0.1", "127.0.0.1:{port}", "*"])
def test_an_operator_can_allow_one_host_one_port_or_all(server, endpoint, private):
    allowed = [private.format(port=server.port)]

    assert type(outcome(endpoint(private=allowed))) is Answered


def test_another_port_of_an_allowed_one_stays_refused(endpoint):
    with pytest.raises(EndpointError):
        outcome(endpoint("http://127.0.0.1:9/x", private=["127.0.0.1:9200"]))


def test_a_name_that_leads_elsewhere_by_the_next_request_is_checked_again(
    server, endpoint, monkeypatch
):
    """DNS rebinding: the name was public when it was looked up first."""
    import socket as sockets

    asked = []

    def resolve(host, port, **more):
        asked.append(host)
        place = ("127.0.0.1", server.port)
        return [(sockets.AF_INET, sockets.SOCK_STREAM, 6, "", place)]

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    answer = outcome(endpoint("http://search.example.org/x", private=[], retries=0))

    assert "LIVE_PRIVATE_ADDRESSES=search.example.org" in answer.why

    assert (asked, server.asked) == (["search.example.org"], [])


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://search.example.org/", "'ftp' is not http or https"),
        ("https://user:pw@search.example.org/", "it carries a user name"),
        ("https:///x", "it names no host"),
        ("https://h.example/a b", "a blank"),
    ],
)
def test_addresses_that_are_none_are_refused(url, why):
    with pytest.raises(EndpointError, match=why) as caught:
        Server(url)
    assert "pw" not in str(caught.value)


# --- pace and stopping ---------------------------------------------------------------------------


def test_requests_keep_to_the_rate_however_many_ask(server, endpoint):
    queries = [(f"q{n}", f"text {n}") for n in range(8)]
    list(ask_all(endpoint(requests_per_second=20, concurrency=8), queries))

    times = sorted(asked.at for asked in server.asked)
    assert times[-1] - times[0] >= 7 / 20 - 0.05


def test_several_are_asked_at_a_time(server, endpoint):
    server.answer = lambda asked: Answer(hits(("d", 1.0)).body, delay=0.2)
    began = time.monotonic()
    list(ask_all(endpoint(concurrency=8), [(f"q{n}", f"text {n}") for n in range(8)]))

    assert time.monotonic() - began < 0.8


def test_closing_stops_what_is_at_work_and_asks_no_more(server, endpoint):
    server.scripted["text 0"] = [hits(("d", 1.0))]
    server.answer = lambda asked: Answer(hits(("d", 1.0)).body, delay=5.0)
    queries = [(f"q{n}", f"text {n}") for n in range(50)]
    began = time.monotonic()
    with closing(ask_all(endpoint(concurrency=3, timeout=10), queries)) as outcomes:
        next(outcomes)

    assert time.monotonic() - began < 2.0
    assert len(server.asked) <= 4


def test_latency_leaves_out_waiting_for_the_rate(server, endpoint):
    queries = [(f"q{n}", f"text {n}") for n in range(4)]
    items = list(ask_all(endpoint(requests_per_second=5, concurrency=1), queries))

    assert max(item.milliseconds for item in items) < 150


# --- secrets -------------------------------------------------------------------------------------


def test_headers_are_sent_and_what_repeats_them_is_struck_out(server, endpoint):
    server.answer = lambda asked: Answer(f"bad key {asked.headers['x-key']}".encode(), status=403)
    target = endpoint(headers={"X-Key": "s3cret-value"}, hidden=["s3cret-value"])
    answer = outcome(target)

    assert server.asked[0].headers["x-key"] == "s3cret-value"
    assert (answer.why, "s3cret" in repr(target)) == ("HTTP 403 Forbidden: bad key •••", False)


def test_trying_one_query_takes_one_attempt(server, endpoint):
    server.answer = lambda asked: Answer(json.dumps({"hits": {}}).encode())
    answer, took = try_one(endpoint(retries=0), ONE[0])

    assert (
        answer.why
        == "its answer does not fit 'hits.hits': 'hits' has no 'hits'; it has nothing at all"
    )
    assert took > 0


# --- killed --------------------------------------------------------------------------------------

ASKER = """
import sys
from pathlib import Path
from benchwright.live.paths import read_shape
from benchwright.live.asking import Endpoint, ask_all
from benchwright.live.connections import Server
from benchwright.live.keeping import AnswerLog
from benchwright.live.templates import read_template
from tests.scoring.search_server import BODY
url, folder = sys.argv[1:]
endpoint = Endpoint(
    server=Server(url, private=["*"]),
    method="POST",
    template=read_template(BODY, method="POST"),
    shape=read_shape(results="hits.hits", id="_id"),
    k=5,
    requests_per_second=100.0,
)
queries = [(f"q{n}", f"text {n}") for n in range(400)]
with AnswerLog(Path(folder), endpoint="e", attempt=1) as log:
    for outcome in ask_all(endpoint, queries):
        log.add(outcome, dict(queries)[outcome.qid])
"""


def test_what_was_answered_outlives_a_process_that_is_killed(server, tmp_path):
    asker = subprocess.Popen([sys.executable, "-c", ASKER, server.url, str(tmp_path)], cwd=ROOT)
    deadline = time.monotonic() + 20
    while len(server.asked) < 30 and time.monotonic() < deadline:
        time.sleep(0.02)
    asker.kill()
    asker.wait()
    n_asked = len(server.asked)

    queries = [(f"q{n}", f"text {n}") for n in range(400)]
    known = AnswerLog(tmp_path, endpoint="e", attempt=2).known(queries)
    # At most those that were on their way, or waited to be written, are lost.
    assert n_asked - 4 - 8 <= len(known) <= n_asked < 400
    items = list(answers_at(known, [qid for qid, _ in queries]))
    assert {item.reading.results for item in items} == {(("d1", 5.0), ("d2", 4.0))}

"""Few requests compute at a time, and one that waits for what it is sent is none of them."""

import io
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep
from unittest.mock import Mock
from urllib.parse import urlencode

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.http import FileResponse, StreamingHttpResponse
from django.urls import reverse

from benchmarks_app import places
from benchmarks_app.errors import BodyCutOffError
from benchwright.errors import BROKE_OFF
from tests.own_connection import own_connection

pytestmark = pytest.mark.django_db  # asked for by the end of a request
SECRET = "a" * 32
ZIP = "application/zip"


class Slow(io.BytesIO):
    """A body that comes when it is let."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.is_asked, self.may_come = Event(), Event()

    def read(self, *size: int) -> bytes:
        self.is_asked.set()
        assert self.may_come.wait(20)
        return super().read(*size)


@pytest.fixture(autouse=True)
def given_back(monkeypatch):
    """Counts how often connections of the database are given back; here is none."""
    calls = Mock()
    monkeypatch.setattr(places, "close_old_connections", calls)
    return calls


@pytest.fixture
def threads():
    with ThreadPoolExecutor(3) as pool:
        yield pool


def reads_it(request, start_response):
    return [request["wsgi.input"].read()]


def test_one_computes_while_another_waits_for_its_body(threads, given_back):
    served = places.with_places(reads_it, n=1)
    slow = Slow(b"slow")

    waiting = threads.submit(served, {"wsgi.input": slow}, None)
    assert slow.is_asked.wait(20)
    assert given_back.called
    quick = threads.submit(served, {"wsgi.input": io.BytesIO(b"quick")}, None)

    assert quick.result(20) == [b"quick"]
    assert not waiting.done()
    slow.may_come.set()
    assert waiting.result(20) == [b"slow"]


def test_a_small_body_is_waited_for_before_anything_is_taken(threads, given_back):
    served = places.with_places(reads_it, n=1)
    slow = Slow(b"slow")

    waiting = threads.submit(served, {"wsgi.input": slow, "CONTENT_LENGTH": "4"}, None)
    assert slow.is_asked.wait(20)
    quick = served({"wsgi.input": io.BytesIO(b"quick"), "CONTENT_LENGTH": "5"}, None)

    assert quick == [b"quick"]
    slow.may_come.set()
    assert waiting.result(20) == [b"slow"]
    given_back.assert_not_called()
    content = b"l" * (places.SMALL + 1)
    large = {"wsgi.input": io.BytesIO(content), "CONTENT_LENGTH": str(len(content))}
    assert served(large, None) == [content]
    given_back.assert_called()


@pytest.mark.parametrize("length", [10, places.SMALL + 10])
@pytest.mark.parametrize("read", ["read", "readline", "piece by piece"])
def test_a_body_of_which_the_end_is_missing_is_none(length, read):
    """The server gives what had come as if it were all: a form without its last fields."""

    def reads(request, start_response):
        body = request["wsgi.input"]
        if read == "piece by piece":
            return list(iter(lambda: body.read(3), b""))
        return [getattr(body, read)()]

    def served(content):
        request = {"wsgi.input": io.BytesIO(content), "CONTENT_LENGTH": str(length)}
        return b"".join(places.with_places(reads)(request, None))

    with pytest.raises(BodyCutOffError, match=f"after 4 of {length} bytes"):
        served(b"half")
    assert served(b"x" * length) == b"x" * length


@pytest.mark.parametrize(
    ("more", "n_left"),
    [
        ({}, 0),
        # Neither is worth its time, or would be sent at all.
        ({"CONTENT_LENGTH": str(places.MOST_LEFT + 11)}, places.SMALL),
        ({"HTTP_EXPECT": "100-continue"}, places.SMALL),
    ],
)
def test_what_nobody_reads_of_a_body_is_taken_before_its_answer(given_back, more, n_left):
    """A client that was still sending was told that the connection broke, and not why."""
    sent = io.BytesIO(b"x" * (places.SMALL + 10))
    request = {"wsgi.input": sent, "CONTENT_LENGTH": str(places.SMALL + 10), **more}

    served = places.with_places(lambda request, _: [request["wsgi.input"].read(10)])(request, None)

    assert served == [b"x" * 10]
    assert len(sent.read()) == n_left


def test_a_form_that_is_cut_off_changes_nothing(benchmark, owner, signed_in):
    """As by a train in a tunnel: the fields that had come were taken for all of them."""
    client = signed_in(owner)
    text = "Read every document to its end."
    form = {"csrfmiddlewaretoken": SECRET, "written_upon": "0", "text": text}
    whole = urlencode(form).encode()
    served = places.with_places(WSGIHandler())

    def sent(content: bytes, **headers: str) -> int:
        client.cookies["csrftoken"] = SECRET
        request = client._base_environ(
            PATH_INFO=reverse("annotation:guideline-edit", args=[benchmark.slug]),
            REQUEST_METHOD="POST",
            CONTENT_TYPE="application/x-www-form-urlencoded",
            CONTENT_LENGTH=str(len(whole)),
            **headers,
        )
        request["wsgi.input"] = io.BytesIO(content)
        answer = Mock()
        with own_connection():
            list(served(request, answer))
        return int(answer.call_args.args[0][:3])

    for headers in ({}, {"HTTP_X_CSRFTOKEN": SECRET}):  # as forms and as scripts prove it
        assert sent(whole[:-10], **headers) == 400
    assert not benchmark.guidelines.exists()
    assert sent(whole) == 302
    assert benchmark.guidelines.get().text == text


def test_no_more_compute_at_a_time_than_there_are_places(threads):
    begun, may_end = Event(), Event()

    def computes(request, start_response):
        begun.set()
        assert may_end.wait(20)
        return []

    served = places.with_places(computes, n=1)
    first = threads.submit(served, {"wsgi.input": io.BytesIO()}, None)
    assert begun.wait(20)
    begun.clear()
    second = threads.submit(served, {"wsgi.input": io.BytesIO()}, None)

    assert not begun.wait(0.2)
    may_end.set()
    assert first.result(20) == second.result(20) == []


def test_who_has_waited_longest_is_next_and_nobody_passes(threads):
    """A semaphore let them pass: of 16 annotators one in a hundred waited twice as long."""
    free, order = places.Places(1), []
    assert free.acquire()

    def waits(name):
        assert free.acquire()
        order.append(name)
        free.release()

    waiting = []
    for name in ("first", "second"):
        waiting.append(threads.submit(waits, name))
        while len(free._waiting) < len(waiting):
            sleep(0.001)
    free.release()
    waits("late")  # it comes while the first of them has yet to wake

    assert all(future.result(20) is None for future in waiting)
    assert order == ["first", "second", "late"]


def test_who_gives_up_waiting_is_given_no_place():
    free = places.Places(1)
    assert free.acquire()
    assert not free.acquire(timeout=0.01)
    free.release()

    assert free.acquire(timeout=0.01)
    assert not free.acquire(timeout=0.01)


def test_a_place_is_left_however_an_answer_ends():
    def fails(request, start_response):
        request["wsgi.input"].readline()
        raise ValueError("broken")

    served = places.with_places(fails, n=1)

    for _ in range(3):
        with pytest.raises(ValueError, match="broken"):
            served({"wsgi.input": io.BytesIO(b"a")}, None)


def test_a_body_that_is_read_while_the_answer_is_sent_takes_no_place():
    def echoes(request, start_response):
        return (request["wsgi.input"].read(1) for _ in range(2))

    served = places.with_places(echoes, n=1)

    for _ in range(3):
        assert list(served({"wsgi.input": io.BytesIO(b"ab")}, None)) == [b"a", b"b"]


def test_who_has_begun_goes_on_without_a_place_in_the_end(threads, monkeypatch):
    """It may have written, and the one in its place be waiting for that."""
    monkeypatch.setattr(places, "LONGEST_WAIT_SECONDS", 0.05)
    slow, slower = Slow(b"first"), Event()

    def answers(request, start_response):
        if request["wsgi.input"].read(1) == b"s":
            assert slower.wait(20)
        return []

    served = places.with_places(answers, n=1)
    first = threads.submit(served, {"wsgi.input": slow}, None)
    assert slow.is_asked.wait(20)
    second = threads.submit(served, {"wsgi.input": io.BytesIO(b"second")}, None)
    slow.may_come.set()

    assert first.result(20) == []
    slower.set()
    assert second.result(20) == []
    assert served({"wsgi.input": io.BytesIO(b"third")}, None) == []


# --- what is sent piece by piece ------------------------------------------------------------


def sends(response, n_turns=1):
    """An application with one place and some turns, which answers with a response each time."""
    return places.with_places(lambda request, start: response(), n=1, n_turns=n_turns)


def test_a_slow_reader_has_no_place(given_back):
    served = sends(lambda: StreamingHttpResponse(["a", "b"]), n_turns=2)

    first, second = (iter(served({"wsgi.input": io.BytesIO()}, None)) for _ in range(2))

    assert next(first) == next(second) == b"a"
    assert given_back.call_count == 2


def test_of_answers_that_read_the_database_as_they_go_only_some_are_sent_at_a_time(threads):
    served = sends(lambda: StreamingHttpResponse(["a", "b"]))
    first, second = (served({"wsgi.input": io.BytesIO()}, None) for _ in range(2))
    assert next(iter(first)) == b"a"

    waiting = threads.submit(list, second)

    with pytest.raises(TimeoutError):
        waiting.result(0.2)
    first.close()  # read to its end or not
    assert waiting.result(20) == [b"a", b"b"]


@pytest.mark.parametrize(
    ("kind", "gives_back"),
    [(places.DetachedResponse, True), (places.BegunResponse, False), (FileResponse, True)],
)
def test_answers_that_do_not_need_no_turn(kind, gives_back, given_back):
    served = sends(lambda: kind(io.BytesIO(b"a")))

    answers = [served({"wsgi.input": io.BytesIO()}, None) for _ in range(3)]

    assert [next(iter(answer)) for answer in answers] == [b"a"] * 3
    assert given_back.called == gives_back


def test_an_answer_is_closed_with_its_pieces():
    response = StreamingHttpResponse(["a"])
    served = sends(lambda: response)
    answer = served({"wsgi.input": io.BytesIO()}, None)

    answer.close()

    assert response.closed


@pytest.mark.parametrize("kind", [StreamingHttpResponse, places.BegunResponse])
@pytest.mark.parametrize(
    ("content_type", "end"), [("text/csv", BROKE_OFF), (ZIP, b"")], ids=["text", "zip"]
)
def test_a_text_that_breaks_off_says_so(kind, content_type, end):
    """The server ends it as if it was whole: a table that was shorter than it should be."""

    def lines():
        yield b"a\n"
        raise OSError("the database is gone")

    served = sends(lambda: kind(lines(), content_type=content_type))
    pieces = []

    with pytest.raises(OSError, match="is gone"):
        pieces.extend(served({"wsgi.input": io.BytesIO()}, None))

    assert b"".join(pieces) == b"a\n" + end

"""Turns, pauses, and answers that are kept."""

import pytest

from benchwright.live.asking import Answered
from benchwright.live.keeping import AnswerLog, answers_at
from benchwright.live.pacing import Pace, Stopped, backoff, seconds_asked_for
from benchwright.live.paths import Reading


class Clock:
    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def wait(self, seconds: float) -> bool:
        self.slept.append(round(seconds, 6))
        self.now += seconds
        return False


def test_turns_are_spread_evenly_and_idle_time_saves_none_up():
    clock = Clock()
    pace = Pace(4.0, wait=clock.wait, clock=lambda: clock.now)
    for _ in range(3):
        pace.turn()
    clock.now += 10
    pace.turn()
    pace.turn()

    assert clock.slept == [0.25, 0.25, 0.25]


def test_a_pause_that_the_server_asks_for_holds_everybody():
    clock = Clock()
    pace = Pace(100.0, wait=clock.wait, clock=lambda: clock.now)
    pace.hold(7)
    pace.hold(2)  # to another that asked at the same time: the longer one counts
    pace.turn()

    assert clock.slept == [7.0]


def test_who_is_woken_to_stop_has_no_turn():
    pace = Pace(1.0, wait=lambda seconds: True)
    pace.turn()

    with pytest.raises(Stopped):
        pace.turn()


def test_pauses_double_and_end_at_the_longest():
    for attempt, longest in [(1, 0.5), (2, 1.0), (3, 2.0), (12, 30.0)]:
        pauses = [backoff(attempt, first=0.5) for _ in range(200)]
        assert longest / 2 <= min(pauses) <= max(pauses) <= longest
        assert max(pauses) > 0.8 * longest


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0.0), (" 30 ", 30.0), ("-1", None), ("1.5", None), ("", None), ("\u0663", None)],
)
def test_retry_after_is_a_number_of_seconds_or_a_date(text, seconds):
    assert seconds_asked_for(text, now=0.0) == seconds


# --- answers that are kept -----------------------------------------------------------------------

QUERIES = [("q1", "one"), ("q2", "two"), ("q3", "th\u00e9 \U0001f50e")]


def answered(qid: str, docid: str = "d") -> Answered:
    return Answered(qid, Reading(((docid, 0.1),), 1, 2, True), 12.5, 3)


def kept(folder, attempt: int, *arguments: Answered, endpoint: str = "e") -> AnswerLog:
    log = AnswerLog(folder, endpoint=endpoint, attempt=attempt)
    texts = dict(QUERIES)
    with log:
        for begin in arguments:
            log.add(begin, texts[begin.qid])
    return log


def test_answers_come_back_as_they_were_in_the_order_asked_for(tmp_path):
    log = kept(tmp_path, 1, answered("q3", "\u00e9"), answered("q1"))
    places = log.known(QUERIES)

    assert list(answers_at(places, ["q1", "q2", "q3"])) == [
        answered("q1"),
        answered("q3", "\u00e9"),
    ]


def test_the_first_answer_stands_where_two_attempts_have_one(tmp_path):
    kept(tmp_path, 1, answered("q1", "first"))
    log = kept(tmp_path, 2, answered("q1", "second"), answered("q2"))

    items = list(answers_at(log.known(QUERIES), ["q1", "q2"]))
    assert [item.reading.results[0][0] for item in items] == ["first", "d"]


def test_lines_that_were_cut_are_left_out(tmp_path):
    log = kept(tmp_path, 1, answered("q1"), answered("q2"))
    path = tmp_path / "answers-1.jsonl"
    whole = path.read_bytes()
    for end in [*range(0, len(whole), 11), len(whole) - 1]:
        path.write_bytes(whole[:end])
        qids = [answer.qid for answer in answers_at(log.known(QUERIES), ["q1", "q2"])]
        assert qids == ["q1", "q2"][: len(qids)]
    assert len(qids) == 1


def test_answers_of_another_endpoint_or_another_text_are_not_taken(tmp_path):
    kept(tmp_path, 1, answered("q1"), answered("q2"), endpoint="before")
    log = kept(tmp_path, 2, answered("q2"), answered("q3"))

    assert log.known(QUERIES).keys() == {"q2", "q3"}
    assert log.known([("q2", "changed"), QUERIES[2]]).keys() == {"q3"}

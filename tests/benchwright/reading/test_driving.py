"""What feeds the extension, against straightforward Python: blocks, halves, warnings."""

import io
import random
import threading
import time
from itertools import count

import pytest

from benchwright.reading import driving
from benchwright.reading.driving import _ahead, _fed_from, _fed_part, _tell, starts_of
from benchwright.reading.shapes import Shape

HUNDRED = bytes(range(100))


class Fed:
    """Stands in for a scanner: keeps what it is fed, and refuses the piece of that number."""

    def __init__(self, refused: int = -1, status: int = 1) -> None:
        self.pieces, self.refused, self.status, self.n_ends = [], refused, status, 0

    def feed(self, piece):
        self.pieces.append(bytes(piece))
        return self.status if len(self.pieces) - 1 == self.refused else 0

    def end(self):
        self.n_ends += 1
        return 0


def in_time(call):
    """What a call gives on a thread of its own, which must not wait for ever."""
    results = []
    thread = threading.Thread(target=lambda: results.append(call()), daemon=True)
    thread.start()
    thread.join(5)
    assert results, "it waits, or failed"
    return results[0]


# --- blocks --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 3, 20])
def test_blocks_that_are_made_ahead_come_in_their_order_and_all_of_them(n):
    blocks = [b"%d" % k for k in range(n)]

    assert in_time(lambda: list(_ahead(iter(blocks)))) == blocks


def test_two_blocks_and_the_one_in_hand_are_made_ahead_and_no_more_when_nobody_wants_them():
    made = []

    def blocks():
        for k in count():
            made.append(k)
            yield b"%d" % k

    def taken():
        ahead = _ahead(blocks())
        assert next(ahead) == b"0"
        until = time.monotonic() + 2
        while len(made) < 4 and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.05)
        n_ahead = len(made)
        ahead.close()
        n_made = len(made)
        time.sleep(0.05)
        return n_ahead, len(made) - n_made

    assert in_time(taken) == (4, 0)
    assert not [thread for thread in threading.enumerate() if thread.name == "inflating"]


def test_error_while_making_blocks_comes_after_the_blocks_before_it():
    def blocks():
        yield b"first"
        raise KeyError

    def taken():
        ahead, pieces = _ahead(blocks()), []
        with pytest.raises(KeyError):
            pieces += ahead
        return pieces

    assert in_time(taken) == [b"first"]


@pytest.mark.parametrize("block", [1, 7, 99, 100, 101])
@pytest.mark.parametrize("size", [None, 0, 1, 7, 8, 100, 200])
def test_what_is_fed_is_so_many_bytes_and_in_blocks(block, size):
    fed = Fed()

    status = _fed_from(fed, io.BytesIO(HUNDRED), block, size)

    wanted = HUNDRED[:size]
    assert status == 0
    assert fed.pieces == [wanted[k : k + block] for k in range(0, len(wanted), block)]


@pytest.mark.parametrize("status", [1, 2])
def test_nothing_is_fed_after_a_piece_that_is_refused(status):
    fed = Fed(refused=2, status=status)

    assert _fed_from(fed, io.BytesIO(HUNDRED), 10, None) == status
    assert len(fed.pieces) == 3


@pytest.mark.parametrize(("start", "stop"), [(0, 40), (40, None), (0, None), (99, 100), (13, 14)])
def test_part_of_a_file_is_fed_from_where_it_starts_to_where_it_stops(tmp_path, start, stop):
    (tmp_path / "run").write_bytes(HUNDRED)
    fed, refusing = Fed(), Fed(refused=0)

    assert _fed_part(fed, tmp_path / "run", start, stop, 16) == 0
    assert (b"".join(fed.pieces), fed.n_ends) == (HUNDRED[start:stop], 1)
    assert _fed_part(refusing, tmp_path / "run", start, stop, 16) == 1
    assert refusing.n_ends == 0


# --- parts ---------------------------------------------------------------------------------


def made_lines(rng):
    lines = []
    for query in range(rng.randint(1, 6)):
        for n in range(rng.randint(1, 6)):
            lines.append(b"q%d %d d%d 1 2 t\n" % (query, rng.randint(0, 2), n))
            if rng.random() < 0.3:
                lines.append(rng.choice((b"\n", b"# c d\n", b"  \n")))
    return lines


def expected_start(lines, after, furthest):
    """Where the second query begins of the lines that begin after a place, if it is near."""
    place, first = 0, None
    for line in lines:
        if place > after:
            if place >= after + furthest:
                break
            columns = line.split()
            if columns and not columns[0].startswith(b"#"):
                first = first or columns[0]
                if columns[0] != first:
                    return place
        place += len(line)
    return 0


@pytest.mark.parametrize("n_processors", [2, 3, 7])
def test_parts_begin_where_the_first_query_after_their_share_ends(
    tmp_path, monkeypatch, n_processors
):
    path, n_parted = tmp_path / "run", 0
    monkeypatch.setattr(driving.os, "cpu_count", lambda: n_processors)
    for seed in range(200):
        rng = random.Random(seed)
        lines = made_lines(rng)
        path.write_bytes(b"".join(lines))
        furthest = rng.choice((20, 25, 30, 40, 60, 1000))
        monkeypatch.setattr(driving, "_LONGEST_SEARCH", furthest)
        size = sum(map(len, lines))
        shares = [size * part // n_processors for part in range(1, n_processors)]
        places = {expected_start(lines, share, furthest) for share in shares}

        starts = starts_of(path, 1)

        # Of shares in one query, a later one may look further and see the same place.
        assert starts == sorted(places - {0}), seed
        n_parted += len(starts) >= min(n_processors - 1, 2)
    assert n_parted > 20


@pytest.mark.parametrize(
    ("n_processors", "more", "is_halved"),
    [(2, 0, True), (2, 1, False), (1, 0, False), (None, 0, False), (3, -1, True)],
)
def test_file_is_parted_from_its_least_size_on_where_there_are_two_processors(
    tmp_path, monkeypatch, n_processors, more, is_halved
):
    path = tmp_path / "run"
    path.write_bytes(b"".join(b"q%d Q0 d 1 2 t\n" % n for n in range(9)))
    monkeypatch.setattr(driving.os, "cpu_count", lambda: n_processors)

    assert bool(starts_of(path, path.stat().st_size + more)) is is_halved


def test_each_part_is_of_half_the_size_that_is_worth_parting(tmp_path, monkeypatch):
    path = tmp_path / "run"
    path.write_bytes(b"".join(b"q%d Q0 d 1 2 t\n" % n for n in range(100, 1000)))
    monkeypatch.setattr(driving.os, "cpu_count", lambda: 64)
    size = path.stat().st_size

    n_parts = [len(starts_of(path, size * 2 // n)) + 1 for n in (1, 2, 3, 4, 9, 1000)]

    assert n_parts == [1, 2, 3, 4, 9, 64]


@pytest.mark.parametrize(
    ("qids", "worth", "n_processors", "n_scanners"),
    [
        ((b"1", b"2", b"3"), 1, 2, 2),
        ((b"1", b"2", b"1"), 1, 2, 1),
        ((b"1", b"2", b"3"), 1 << 20, 2, 1),
        ((b"1", b"2", b"3", b"4", b"5"), 1, 3, 3),
        ((b"1", b"2", b"3", b"4", b"1"), 1, 3, 1),
    ],
)
def test_parts_are_kept_unless_a_query_is_in_two(
    extension, tmp_path, monkeypatch, qids, worth, n_processors, n_scanners
):
    monkeypatch.setattr(driving.os, "cpu_count", lambda: n_processors)
    rows = [b"%b Q0 d%d 1 %d t\n" % (qid, n, -n) for qid in qids for n in range(9)]
    if len({*qids}) < len(qids):
        rows = [row.replace(b" d", b" e%d" % (n // 9)) for n, row in enumerate(rows)]
    (tmp_path / "run").write_bytes(b"".join(rows))
    table = driving.compiled({b"1": {b"d1": 1}})
    rules = (table, Shape("trec", 1), 0, 0, 1 << 10)

    scanners = driving._Reading(driving.extension(), tmp_path / "run", *rules).scanned(worth)

    assert len(scanners) == n_scanners
    assert {qid for scanner in scanners for qid in scanner.queries()} == {*qids}


# --- warnings ------------------------------------------------------------------------------


class Noted:
    def __init__(self, *notes) -> None:
        self.notes = lambda: notes


class Said(list):
    def warn(self, file, line, text) -> None:
        self.append((line, text.split(";")[0][:9]))


def test_warnings_of_two_halves_are_told_once_each_and_counted_from_the_start_of_the_file():
    bad = (2, 1, 0.5, 2, 0.75)
    result = Said()

    _tell([Noted(10, False, 0, None), Noted(5, False, 3, bad)], Shape("trec", 1), "run", result)
    assert [line for line, _ in result] == [12, 13]

    result.clear()
    _tell([Noted(10, True, 4, bad), Noted(5, False, 3, bad)], Shape("trec", 1), "run", result)
    assert [line for line, _ in result] == [1, 2, 4]


def test_warnings_of_one_line_come_as_they_do_where_lines_are_read_one_by_one():
    bad = (1, 1, 0.5, 2, 0.75)
    texts = (driving.MARK_LEFT_OUT, driving.TAG_MISSING, driving.rank_warning(*bad[1:]))
    results = []

    class Told:
        def warn(self, file, line, text) -> None:
            results.append((line, text))

    _tell([Noted(10, True, 1, bad)], Shape("trec", 1), "run", Told())
    assert results == [(1, text) for text in texts]
    results.clear()
    _tell([Noted(10, True, 0, None)], Shape("three", 1), "run", Told())
    assert results == [(1, driving.MARK_LEFT_OUT), (1, driving.READ_AS_RANKING)]

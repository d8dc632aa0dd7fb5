"""Files are read in processes with limits, and whatever happens there is a problem of the file."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchwright.detection import FileKind
from benchwright.errors import FileProblemsError, MissingFileError, Problem
from benchwright.full_disk import is_disk_full
from benchwright.sandbox import (
    FileTooCostlyError,
    Limits,
    Pool,
    ReaderEndedError,
    ReadersBusyError,
    UnreadableFileError,
)
from benchwright.sandbox.answers import unpacked
from benchwright.sandbox.process import Child
from tests.benchwright.sandbox import misbehaving

SMALL = Limits(memory_bytes=256 << 20, cpu_seconds=20, silent_seconds=60, answer_bytes=1 << 20)
FILE = "corpus.parquet"


@pytest.fixture(scope="module")
def pool():
    pool = Pool(2)
    yield pool
    pool.close()


def call(pool, reader, *arguments, limits=SMALL, **options):
    return pool.call(reader, *arguments, file=FILE, limits=limits, **options)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ended(pid):
    """Wait until a process runs no more."""
    end = time.monotonic() + 20
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not is_running(pid)


# --- what comes back -----------------------------------------------------------------------------


def test_result_comes_back(pool):
    values = ("é", 1.5, None, {"a": [b"\0"]}, Path("/data"))

    assert call(pool, misbehaving.echo, *values, is_named=True) == (values, {"is_named": True})


def test_rows_come_back_in_their_order(pool):
    stream = pool.stream(misbehaving.rows, 10_000, file=FILE)

    assert [row.line for row in stream] == list(range(1, 10_001))


def test_large_rows_after_many_small_ones_come_in_messages_of_few(pool):
    limits = replace(SMALL, answer_bytes=2 << 20)

    stream = pool.stream(misbehaving.grows_row_by_row, file=FILE, limits=limits)

    assert [row.line for row in stream] == list(range(1, 8_392))


def test_progress_is_told_where_it_was_asked_for(pool):
    results = []

    answer = call(pool, misbehaving.counted, 3, progress=lambda *one: results.append(one))

    assert (answer, results) == ({"a": 2, "b": 2}, [(0, 3), (1, 3), (2, 3)])


def test_error_of_ours_comes_back_as_it_was_raised(pool):
    with pytest.raises(MissingFileError) as caught:
        call(pool, misbehaving.missing)

    assert caught.value.facts == {
        "place": "here",
        "expected": "corpus",
        "advice": "Look elsewhere.",
    }
    assert str(caught.value) == "here: no corpus found. Look elsewhere."


def test_problems_come_back_with_their_lines(pool):
    with pytest.raises(FileProblemsError) as caught:
        call(pool, misbehaving.wrong_lines)

    assert caught.value.problems == (Problem("a.tsv", 7, "has no grade"),)
    assert caught.value.is_cut


def test_what_a_reader_prints_is_no_answer(pool):
    assert call(pool, misbehaving.prints) == 7


# --- what may happen in there --------------------------------------------------------------------

BROKEN = {
    "panic": (misbehaving.panic, "broke the reader (PanicException)"),
    "bug": (misbehaving.bug, "broke the reader (KeyError)"),
    "killed": (misbehaving.dies, "was ended from outside (signal 9)"),
    "segfault": (misbehaving.breaks_its_stack, "ended the reader (signal 11"),
    "open files": (misbehaving.opens_too_much, "broke the reader (OSError)"),
    "code": (misbehaving.gives_code, "gave no data"),
}


@pytest.mark.parametrize(("reader", "words"), BROKEN.values(), ids=BROKEN)
def test_reader_that_breaks_is_a_problem_of_its_file(pool, reader, words):
    with pytest.raises(UnreadableFileError) as caught:
        list(pool.stream(reader, file=FILE, limits=SMALL))

    assert str(caught.value).startswith(f"{FILE}: reading it {words}")
    assert "remove this one" in str(caught.value)
    assert isinstance(caught.value, ReaderEndedError) == (reader is misbehaving.dies)
    assert call(pool, misbehaving.echo, 1) == ((1,), {})


COSTLY = {
    "memory of Python": (misbehaving.grows_in_python, SMALL, "took more than 256 MB of memory"),
    "memory of polars": (misbehaving.grows_in_rust, SMALL, "took more than 256 MB of memory"),
    "memory told otherwise": (
        misbehaving.hides_its_growth,
        SMALL,
        "took more than 256 MB of memory",
    ),
    "sleep": (misbehaving.sleeps, replace(SMALL, silent_seconds=1), "no answer within 1 seconds"),
    "processor": (misbehaving.spins, replace(SMALL, cpu_seconds=1), "1 seconds of processor time"),
    "answer": (misbehaving.says_too_much, SMALL, "gave an answer of more than 1 MB at once"),
}


@pytest.mark.parametrize(("reader", "limits", "words"), COSTLY.values(), ids=COSTLY)
def test_reader_that_takes_too_much_is_a_problem_of_its_file(pool, reader, limits, words):
    begin = time.monotonic()

    with pytest.raises(FileTooCostlyError, match=words) as caught:
        call(pool, reader, limits=limits)

    has_setting = reader is not misbehaving.says_too_much
    assert ("have the operator raise" in str(caught.value)) == has_setting
    assert time.monotonic() - begin < 55
    assert call(pool, misbehaving.echo, 1) == ((1,), {})


def test_file_that_a_reader_writes_is_bounded(pool, tmp_path):
    with pytest.raises(UnreadableFileError):
        call(pool, misbehaving.writes_too_much, tmp_path, limits=replace(SMALL, file_bytes=1 << 20))

    assert (tmp_path / "much").stat().st_size <= 1 << 20


def test_limits_of_one_file_are_not_those_of_the_next(pool):
    with pytest.raises(FileTooCostlyError):
        call(pool, misbehaving.grows_in_python)

    assert call(pool, misbehaving.grows_in_python, limits=Limits()) == 1 << 30


def test_what_came_before_the_end_of_a_stream_was_read(pool):
    n = 1 + 2 + 4 + 8  # whole messages: a process that is killed sends no part of one
    stream = pool.stream(misbehaving.dies, n, file=FILE)

    assert [next(stream) for _ in range(n)] == list(range(n))
    with pytest.raises(UnreadableFileError):
        next(stream)


def test_child_killed_between_two_files_is_replaced(pool):
    first = call(pool, misbehaving.process)
    os.kill(first, signal.SIGKILL)
    ended(first)

    assert call(pool, misbehaving.process) != first


def test_child_whose_folder_was_cleared_away_is_replaced():
    pool = Pool(1)
    first, left = call(pool, misbehaving.process), Path(call(pool, misbehaving.leaves_a_file))
    shutil.rmtree(left.parent)

    assert call(pool, misbehaving.leaves_a_file) != str(left)
    assert not is_running(first)
    pool.close()


def test_child_that_ends_before_it_begins_a_call_is_replaced(monkeypatch):
    pool = Pool(1)
    first = call(pool, misbehaving.process)
    os.kill(first, signal.SIGKILL)
    monkeypatch.setattr(Child, "is_fit", True)  # it was still ending when it was taken

    assert call(pool, misbehaving.process) != first
    monkeypatch.undo()
    pool.close()


def test_child_that_never_begins_is_told_once(monkeypatch):
    pool, n_started = Pool(1, loads=["no.such.module"]), []

    def started(*arguments):
        n_started.append(1)
        return Child(*arguments)

    monkeypatch.setattr("benchwright.sandbox.pool.Child", started)

    with pytest.raises(ReaderEndedError, match="ended the reader"):
        call(pool, misbehaving.process)

    assert len(n_started) == 2


FULL_DISKS = [
    misbehaving.meets_a_full_disk,
    misbehaving.meets_a_full_disk_in_polars,
    misbehaving.hides_a_full_disk,
]


@pytest.mark.parametrize("reader", FULL_DISKS)
def test_full_disk_is_no_fault_of_the_file(pool, reader):
    with pytest.raises(OSError, match="No space left") as caught:
        call(pool, reader)

    assert is_disk_full(caught.value)


# --- what a child may know, and what stays of it -------------------------------------------------


def test_child_is_warm_for_the_next_file(pool):
    assert call(pool, misbehaving.process) == call(pool, misbehaving.process)


def test_child_sees_no_secret(pool, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "s3cret")
    monkeypatch.setenv("DATABASE_URL", "postgres://root@host/database")
    fresh = Pool(1)

    answer = call(fresh, misbehaving.environment)
    fresh.close()

    assert not {"SECRET_KEY", "DATABASE_URL"} & answer.keys()


def test_child_inherits_no_open_file(pool, tmp_path):
    with (tmp_path / "database").open("w"):
        fresh = Pool(1)
        answer = call(fresh, misbehaving.descriptors)
        fresh.close()

    assert [name for name in answer if str(tmp_path) in name] == []


def test_stream_that_is_left_ends_its_child():
    pool = Pool(1)
    first = call(pool, misbehaving.process)
    stream = pool.stream(misbehaving.rows, 10**9, file=FILE)
    next(stream)

    stream.close()

    assert not is_running(first)
    assert call(pool, misbehaving.process) != first
    pool.close()


def test_what_a_child_left_behind_is_removed():
    pool = Pool(1)
    left = Path(call(pool, misbehaving.leaves_a_file))
    assert left.exists()

    pool.close()

    assert not left.parent.exists()


def test_child_ends_with_its_parent(tmp_path):
    code = (
        "import os; from benchwright.sandbox import Pool\n"
        "from tests.benchwright.sandbox import misbehaving\n"
        "pool = Pool(1); left = pool.call(misbehaving.leaves_a_file, file='a')\n"
        "print(pool.call(misbehaving.process, file='a'), left, flush=True)\n"
        "stream = pool.stream(misbehaving.rows, 10**9, file='a'); next(stream)\n"
        "os.kill(os.getpid(), 9)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    pid, left = result.stdout.split()

    assert ended(int(pid))
    assert not Path(left).exists()


def test_forked_process_has_children_of_its_own(pool):
    mine = call(pool, misbehaving.process)
    read, write = os.pipe()
    if not (pid := os.fork()):
        os.write(write, str(call(pool, misbehaving.process)).encode())
        pool.close()
        os._exit(0)
    os.waitpid(pid, 0)

    assert int(os.read(read, 100)) != mine
    assert call(pool, misbehaving.process) == mine


def test_calls_wait_for_a_child_and_say_so():
    pool = Pool(1, wait_seconds=0.5)
    call(pool, misbehaving.process)
    limits = replace(SMALL, silent_seconds=3)
    busy = threading.Thread(target=_swallowed, args=(pool, misbehaving.sleeps, limits))
    busy.start()
    time.sleep(0.2)

    with pytest.raises(ReadersBusyError, match="kept every reader busy"):
        call(pool, misbehaving.echo)

    busy.join()
    pool.close()


def _swallowed(pool, reader, limits):
    with pytest.raises(FileTooCostlyError):
        call(pool, reader, limits=limits)


def test_temporary_files_of_a_child_are_below_the_folder_and_go_with_it(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readers")
    pool = Pool(1, folder=folder)
    call(pool, misbehaving.process)

    assert len(list(folder.iterdir())) == 1

    pool.close()
    assert not list(folder.iterdir())


@pytest.mark.parametrize("error", [FileNotFoundError, MemoryError])
@pytest.mark.parametrize("what", ["subprocess.Popen", "tempfile.TemporaryFile"])
def test_child_that_cannot_start_leaves_nothing(tmp_path_factory, monkeypatch, what, error):
    folder = tmp_path_factory.mktemp("readers")

    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(f"benchwright.sandbox.process.{what}", fail)

    with pytest.raises(error):
        call(Pool(1, folder=folder), misbehaving.process)

    assert not list(folder.iterdir())


# --- what may be asked, and what may be answered -------------------------------------------------


def test_only_marked_functions_are_run(pool):
    with pytest.raises(LookupError, match="not marked as a reader"):
        call(pool, misbehaving.not_a_reader)
    with pytest.raises(LookupError, match="not marked as a reader"):
        call(pool, os.getcwd)


def test_call_is_no_way_to_send_a_large_file(pool):
    with pytest.raises(ValueError, match="hand a reader the path"):
        call(pool, misbehaving.echo, bytes(65 << 20))

    assert call(pool, misbehaving.echo, 1) == ((1,), {})


DAMAGED = {
    "a text of no characters": b"\x80\x05\x8c\x04\xf4\x90\x80\x81\x94.",
    "nothing": b"",
    "cut": pickle.dumps([1, "two"])[:-3],
    "an odd dict": b"\x80\x05}(K\x01u.",
    "what cannot be a key": b"\x80\x05}]K\x01s.",
}


@pytest.mark.parametrize("body", DAMAGED.values(), ids=DAMAGED)
def test_damaged_answer_is_one_error(body):
    with pytest.raises(pickle.UnpicklingError):
        unpacked(body)


@pytest.mark.parametrize("value", [os.system, subprocess.Popen, Pool, pytest.fail, eval])
def test_answer_names_nothing_but_data(value):
    with pytest.raises(pickle.UnpicklingError, match="is no data"):
        unpacked(pickle.dumps(value))


class Attribute:
    """Pickled as an attribute of something: so some Pythons pickle the members of an enum."""

    def __init__(self, *of):
        self.of = of

    def __reduce__(self):
        return getattr, self.of


@pytest.mark.parametrize("kind", FileKind)
def test_member_of_an_enum_comes_back_however_it_is_pickled(kind):
    assert unpacked(pickle.dumps(kind)) is kind
    assert unpacked(pickle.dumps(Attribute(FileKind, kind.name))) is kind


@pytest.mark.parametrize(
    "of", [(FileKind, "mro"), (FileKind, "__init__"), (Problem, "count"), ("text", "format")]
)
def test_answer_has_no_other_attributes(of):
    with pytest.raises(pickle.UnpicklingError, match="is no data"):
        unpacked(pickle.dumps(Attribute(*of)))

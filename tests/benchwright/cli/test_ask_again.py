"""`benchwright ask` that was stopped, or failed, and is called again."""

import json
import signal
import subprocess
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from benchwright.cli.systems.ask import command
from benchwright.live.asking import Answered
from benchwright.live.paths import Reading
from tests.scoring.search_server import Answer, SearchServer, hits

ROOT = Path(__file__).resolve().parents[3]
N = 20
TEXTS = [f"text {n}" for n in range(N)]
BODY = '{"size": {{k}}, "query": {"match": {"text": {{query}}}}}'
BROKEN = Answer(b"no", status=400)
Ask = Callable[..., Result]


@pytest.fixture
def server() -> Iterator[SearchServer]:
    server = SearchServer()
    server.answer = lambda asked: hits((f"d-{asked.query[5:]}", 2.0), ("d", 1.0))
    yield server
    server.stop()


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "live.run"


@pytest.fixture
def kept(tmp_path) -> Path:
    return tmp_path / "live.run.answers.jsonl"


@pytest.fixture
def words(server, tmp_path, out) -> list[str]:
    """The command line: one query at a time, so that each has its turn."""
    queries, template = tmp_path / "queries.tsv", tmp_path / "body.json"
    queries.write_text("".join(f"q{n}\t{text}\n" for n, text in enumerate(TEXTS)))
    template.write_text(BODY)
    results = [server.url, "--queries", str(queries), "--template", str(template)]
    results += ["--preset", "opensearch", "--rps", "1000", "--concurrency", "1", "--retries", "0"]
    return [*results, "-o", str(out)]


@pytest.fixture
def ask(words) -> Ask:
    return lambda *more: CliRunner().invoke(command, [*words, *more])


@pytest.fixture
def stopped(ask, server, kept) -> list[str]:
    """Texts whose answers are kept; those to the others are not."""
    server.scripted[TEXTS[-1]] = [BROKEN]
    assert ask().exit_code == 1
    kept.write_bytes(b"".join(kept.read_bytes().splitlines(keepends=True)[:13]))
    server.asked.clear()
    return TEXTS[:12]


def asked(server: SearchServer) -> Counter[str]:
    return Counter(request.query for request in server.asked)


def n_rows(kept: Path) -> int:
    return kept.read_bytes().count(b"\n") - 1 if kept.exists() else 0


def is_whole(out: Path) -> bool:
    lines = [f"q{n} Q0 d-{n} 1 2.0 live\nq{n} Q0 d 2 1.0 live\n" for n in range(N)]
    return out.read_text() == "".join(lines)


# --- stopped -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "code", "message"),
    [
        (signal.SIGKILL, -signal.SIGKILL, ""),
        (signal.SIGINT, 130, "12 of 20 queries were answered; they are kept in {kept}. The same"),
    ],
)
def test_a_command_that_was_stopped_goes_on_where_it_was(
    sent, code, message, words, ask, server, out, kept, tmp_path
):
    server.scripted[TEXTS[12]] = [Answer(b"", delay=20)]
    asker = subprocess.Popen(
        [sys.executable, "-m", "benchwright", "ask", *words],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 20
    while (len(server.asked), n_rows(kept)) != (13, 12) and time.monotonic() < deadline:
        time.sleep(0.02)
    asker.send_signal(sent)
    communicate = asker.communicate(timeout=20)[1]
    assert (asker.returncode, out.exists(), kept.exists()) == (code, False, True)
    assert message.format(kept=kept) in communicate

    times = tmp_path / "ms.tsv"
    done = ask("--latencies", str(times))

    assert (done.exit_code, is_whole(out), kept.exists()) == (0, True, False)
    # One was on its way when it was stopped; every other was asked once.
    assert asked(server) == Counter(TEXTS) + Counter([TEXTS[12]])
    assert f"note: 12 of 20 queries were answered before, in {kept}" in done.stderr
    assert "20 of 20 queries answered: p50" in done.stderr
    assert [row.split("\t")[0] for row in times.read_text().splitlines()[1:]] == [
        f"q{n}" for n in range(N)
    ]


def test_a_failed_command_asks_only_what_is_left(stopped, ask, server, out, kept):
    done = ask()

    assert (done.exit_code, is_whole(out), kept.exists()) == (0, True, False)
    assert asked(server) == Counter(TEXTS) - Counter(stopped)


def test_a_last_line_that_was_cut_is_asked_again(stopped, ask, server, out, kept):
    kept.write_bytes(kept.read_bytes()[:-9])
    done = ask()

    assert (done.exit_code, is_whole(out)) == (0, True)
    assert asked(server) == Counter(TEXTS[11:])


def test_a_first_line_that_was_cut_is_begun_again(stopped, ask, server, out, kept):
    kept.write_bytes(kept.read_bytes()[:20])

    assert (ask().exit_code, is_whole(out), asked(server)) == (0, True, Counter(TEXTS))


def test_a_latency_that_was_kept_stays_as_it_was(stopped, ask, kept, tmp_path):
    head, first, *rest = kept.read_text().splitlines()
    row = {**json.loads(first), "ms": 98765.4}
    kept.write_text("\n".join([head, json.dumps(row), *rest, ""]))
    done = ask("--latencies", str(tmp_path / "ms.tsv"))

    assert "slowest 98.8 s" in done.stderr
    assert "q0\t98765.400" in (tmp_path / "ms.tsv").read_text()


def test_pace_and_name_may_change_in_between(stopped, ask, server, out):
    done = ask("--concurrency", "3", "--timeout", "7", "--retries", "1", "--tag", "ours")

    assert (done.exit_code, asked(server)) == (0, Counter(TEXTS[12:]))
    assert {line.split()[-1] for line in out.read_text().splitlines()} == {"ours"}


# --- asked in another way ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["-k", "7"], "depth ('100' then, '7' now)"),
        (["--id", "_source.id"], "path to the id ('_id' then, '_source.id' now)"),
        (["--header", "X-Tenant: b"], "other headers"),
        (["--score", "", "-k", "7"], "path to the score ('_score' then, '' now); depth ('100'"),
    ],
)
def test_answers_to_another_asking_are_not_taken(stopped, ask, server, kept, more, message):
    before = kept.read_bytes()
    done = ask(*more)

    assert done.exit_code == 1
    assert f"{kept}:1: these answers were asked for in another way: {message}" in str(
        done.exception
    )
    assert "start over with --fresh, or choose another output" in str(done.exception)
    assert (kept.read_bytes(), server.asked) == (before, [])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("body.json", BODY.replace("{{k}}", '{{k}}, "from": 0'), "other template."),
        ("queries.tsv", "q0\ttext 0\n", "other queries."),
        ("queries.tsv", "".join(f"q{n}\tText {n}\n" for n in range(N)), "other queries."),
    ],
)
def test_answers_to_other_files_are_not_taken(stopped, ask, tmp_path, name, content, message):
    (tmp_path / name).write_text(content)

    assert f"in another way: {message}" in str(ask().exception)


def test_without_an_answer_it_may_be_asked_in_another_way(ask, server, out, kept):
    failed = ask("--id", "no.such.member")
    assert (failed.exit_code, n_rows(kept)) == (1, 0)

    assert (ask().exit_code, is_whole(out), kept.exists()) == (0, True, False)


def test_fresh_asks_every_query(stopped, ask, server, out, kept):
    done = ask("--fresh", "-k", "7")

    assert (done.exit_code, is_whole(out), kept.exists()) == (0, True, False)
    assert (asked(server), "answered before" in done.stderr) == (Counter(TEXTS), False)


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_file_of_something_else_is_left_alone(ask, server, kept, end):
    kept.write_text('{"mine": 1}' + end)
    done = ask()

    assert f"{kept}:1: this is no file of kept answers" in str(done.exception)
    assert (kept.read_text(), server.asked) == ('{"mine": 1}' + end, [])


def test_two_commands_do_not_add_to_one_file(stopped, ask, server, kept):
    fcntl = pytest.importorskip("fcntl")
    with kept.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        done = ask("--fresh")

    assert f"{kept}: another command adds its answers to this file" in str(done.exception)
    assert (server.asked, n_rows(kept)) == ([], 12)


# --- what it leaves ------------------------------------------------------------------------------


def test_failures_that_may_be_are_asked_again_by_the_same_command(ask, server, out, kept):
    server.scripted[TEXTS[3]] = [BROKEN]
    first = ask("--may-fail", "1")
    n_answered = len({line.split()[0] for line in out.read_text().splitlines()})
    server.asked.clear()
    second = ask("--may-fail", "1")

    assert (first.exit_code, n_answered) == (0, N - 1)
    assert f"note: the answers are kept in {kept}: the same command asks the failed" in first.stderr
    assert (second.exit_code, is_whole(out), kept.exists()) == (0, True, False)
    assert asked(server) == Counter([TEXTS[3]])


def test_the_run_of_before_stays_until_there_is_another(ask, server, out, tmp_path):
    out.write_text("before")
    server.scripted[TEXTS[3]] = [BROKEN]
    failed = ask()

    assert (failed.exit_code, out.read_text()) == (1, "before")
    assert (ask().exit_code, is_whole(out)) == (0, True)
    assert [path.name for path in tmp_path.glob("*live.run*")] == ["live.run"]


def test_a_run_goes_through_a_link_to_its_file(ask, out, tmp_path):
    (tmp_path / "runs").mkdir()
    out.symlink_to(tmp_path / "runs" / "real.run")

    assert (ask().exit_code, out.is_symlink(), is_whole(tmp_path / "runs" / "real.run")) == (
        0,
        True,
        True,
    )


def test_a_device_is_written_as_it_is(ask):
    done = ask("-o", "/dev/null")

    assert (done.exit_code, Path("/dev/null").is_char_device()) == (0, True)
    assert not Path("/dev/null.answers.jsonl").exists()


def test_no_value_of_a_secret_is_kept(stopped, words, ask, kept, monkeypatch):
    monkeypatch.setenv("TOKEN", "s3cret-value")
    ask("--fresh", "--header", "X-Key: $TOKEN", "--may-fail", "0", "--id", "nothing")

    assert kept.exists() and "s3cret" not in kept.read_text()
    assert words[0] not in kept.read_text()


# --- many ----------------------------------------------------------------------------------------


@pytest.mark.in_thirds
def test_ten_thousand_queries_take_little_memory(ask, tmp_path, out, kept, monkeypatch):
    n_queries, n_docs, id_bytes = 10_000, 2, 1200
    lines = (f"q{n}\ttext {n}\n" for n in range(n_queries))
    (tmp_path / "queries.tsv").write_text("".join(lines))

    def answers(endpoint, queries):
        for qid, _ in reversed(queries):
            docs = ((f"{qid}-{n}".ljust(id_bytes, "x"), 1.0 / n) for n in range(1, n_docs + 1))
            yield Answered(qid, Reading(tuple(docs)), 5.0, 1)

    monkeypatch.setattr("benchwright.live.keeping.ask_all", answers)
    tracemalloc.start()
    try:
        done = ask()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (done.exit_code, kept.exists()) == (0, False)
    assert out.stat().st_size > n_queries * n_docs * id_bytes > 22 << 20
    assert most < 12 << 20
    with out.open() as run:
        order = [line.split(" ", 1)[0] for line in run][::n_docs]
    assert order == [f"q{n}" for n in range(n_queries)]

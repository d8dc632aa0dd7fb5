"""`manage.py up`: one command starts web server and worker, and keeps them until one Ctrl-C."""

import contextlib
import os
import re
import signal
import socket
import time
from pathlib import Path

import httpx
import pytest

from tests.system.making import beir_zip, run_file
from tests.system.sending import half_sent, sent_in, signed_in
from tests.system.site import Site, free_port
from tests.system.working import (
    assert_nothing_half_done,
    is_reading,
    job_row,
    lose_messages,
    wait_for_job,
)

pytestmark = pytest.mark.slow
# On a machine that has nothing else to do; there it starts in 6.
STARTS_WITHIN_SECONDS = 12
STOPS_WITHIN_SECONDS = 5
# Shorter than the half a minute after which the server closes a quiet connection.
LONGEST_ANSWER_SECONDS = 20
TOKEN = "metrics-0123456789-abcdefghijklmnop"
N_ASKED = 20
ANSWERED = re.compile(r"^benchwright_request_seconds_count\{.*\} (.*)$", re.MULTILINE)


def on_this_machine(seconds: float) -> float:
    """What these seconds are where more wants to run than there are processors."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def started(site: Site) -> float:
    """Start the site; returns the seconds until it answers."""
    began = time.monotonic()
    site.start("up")
    return time.monotonic() - began


def parts(site: Site) -> dict[str, int]:
    """The process id of each of the two that `up` has started."""
    up = site.processes["up"].pid
    pids = {}
    for pid in site.alive():
        status = Path(f"/proc/{pid}/status").read_text()
        if f"PPid:\t{up}\n" in status:
            pids[comm(pid).removeprefix("bench-")] = pid
    return pids


def accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError:
        return False
    return True


def all_parts(site: Site) -> dict[str, int] | None:
    pieces = parts(site)
    return pieces if len(pieces) == 2 else None


def comm(pid: int) -> str:
    """The name of a process, as `ps -e` shows it; none once it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def open_files(pid: int) -> set[str]:
    """The names of the files that a process has open, but for what it closes meanwhile."""
    names = set()
    with contextlib.suppress(OSError):
        for path in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                names.add(path.readlink().name)
    return names


def is_bound(other: socket.socket, port: int) -> bool:
    """Whether another program has got the port now."""
    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        other.bind(("127.0.0.1", port))
    except OSError:
        return False
    other.listen()
    return True


def test_one_command_starts_the_site_on_loopback_and_one_ctrl_c_stops_it(plain_site, capsys):
    plain_site.env["METRICS_TOKEN"] = TOKEN
    seconds = started(plain_site)
    with capsys.disabled():
        print(f"\na second start of the site took {seconds:.1f} s")  # noqa: T201

    assert seconds < on_this_machine(STARTS_WITHIN_SECONDS)
    address = f"Benchwright is at {plain_site.url}/"
    plain_site.wait_for(lambda: address in plain_site.log("up"), address)
    pids = parts(plain_site)
    assert set(pids) == {"web", "worker"}
    # Both are forks of what `up` has loaded. Its lock is theirs in no way: it ends with `up`.
    up = plain_site.processes["up"].pid
    lines = {Path(f"/proc/{pid}/cmdline").read_bytes() for pid in (up, *pids.values())}
    assert len(lines) == 1
    holders = [pid for pid in plain_site.alive() if "up.lock" in open_files(pid)]
    assert holders == [up]
    # Nor has it anything but what was loaded: its tables were looked at in a fork that has ended.
    assert "Threads:\t1\n" in Path(f"/proc/{up}/status").read_text()
    assert "benchwright.sqlite3" not in open_files(up)
    if plain_site.database.startswith("sqlite"):
        assert httpx.get(plain_site.url, follow_redirects=True).status_code == 200
        web = [pid for pid in plain_site.alive() if comm(pid) == "bench-web"]
        assert any("benchwright.sqlite3" in open_files(pid) for pid in web)
    # Each web process counts its own requests; whoever is asked adds them up.
    for _ in range(N_ASKED):
        httpx.get(f"{plain_site.url}/healthz")
    figures = httpx.get(f"{plain_site.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert sum(map(float, ANSWERED.findall(figures.text))) >= N_ASKED
    # All of 127.0.0.0/8 is this machine, but only one address of it is asked for.
    assert accepts("127.0.0.1", plain_site.port)
    assert not accepts("127.0.0.2", plain_site.port)

    second = f"is in use by another site: process {plain_site.processes['up'].pid} on "
    with pytest.raises(AssertionError, match=second) as refused:
        plain_site.manage("up", "--port", str(free_port()))
    assert f", at {plain_site.url}/, since " in str(refused.value)
    assert "Traceback" not in str(refused.value)

    plain_site.kill("up", signal.SIGINT, group=False)

    began = time.monotonic()
    assert plain_site.processes["up"].wait(timeout=60) == 0
    assert time.monotonic() - began < on_this_machine(STOPS_WITHIN_SECONDS)
    assert plain_site.alive() == []
    assert not accepts("127.0.0.1", plain_site.port)
    # The worker had nothing in hand, and signed off; those that other tests killed could not.
    assert "did not stop" not in plain_site.log("up")
    seen = {name for (name,) in plain_site.rows("SELECT name FROM benchmarks_app_workerheartbeat")}
    assert f"{socket.gethostname()}:{pids['worker']}" not in seen


def test_killed_processes_are_started_again_and_the_site_goes_on(plain_site, tmp_path):
    site = plain_site
    site.call("make_phase", slug="killed-parts", n_queries=20)
    archive = beir_zip(tmp_path / "small.zip", n_documents=50, n_queries=20)
    lost = site.call("start_import", slug="lost", path=str(archive))
    lose_messages(site)
    started(site)
    assert wait_for_job(site, lost).attempt == 1
    assert "sweep: 0 jobs started again, 0 given up, 1 sent again" in site.log("up")
    before = site.wait_for(lambda: all_parts(site), "both")

    for pid in before.values():
        os.kill(pid, signal.SIGKILL)

    for name in before:
        text = f"{name} was ended by signal 9; starting it again in 1 s"
        site.wait_for(lambda said=text: said in site.log("up"), text, 120)
    site.wait_for(site.is_serving, "the site to answer again", 120)
    after = site.wait_for(lambda: all_parts(site), "both again", 120)
    assert not set(before.values()) & set(after.values())
    path = str(run_file(tmp_path / "after.run", n_queries=20, depth=5, n_documents=30))
    with signed_in(site, "sam") as client:
        assert sent_in(client, "killed-parts", path).status_code == 200
    submitted = site.call("submissions", slug="killed-parts", username="sam")["states"]
    site.wait_for(
        lambda: (
            site.call("submissions", slug="killed-parts", username="sam")["states"]
            == dict.fromkeys(submitted, "scored")
        ),
        "what was sent in to be scored",
        120,
    )
    assert site.processes["up"].poll() is None


def test_connections_that_wait_for_their_next_request_keep_nobody_waiting(plain_site):
    """A browser keeps six; 400 are of some 70 people who read what they were shown."""
    started(plain_site)
    host, port = plain_site.host, plain_site.port
    asked = f"GET /healthz HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()

    with contextlib.ExitStack() as connections:
        for _ in range(400):
            kept = connections.enter_context(socket.create_connection((host, port)))
            kept.sendall(asked)
            kept.settimeout(LONGEST_ANSWER_SECONDS)
            assert kept.recv(4096).startswith(b"HTTP/1.1 200")


def test_what_is_being_sent_slowly_keeps_nobody_waiting(plain_site):
    """By more clients than answers are computed at a time, who say nothing further."""
    started(plain_site)
    host, port = plain_site.host, plain_site.port
    begun = (
        f"POST /sign-in/ HTTP/1.1\r\nHost: {host}:{port}\r\nCookie: csrftoken={'a' * 32}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 500\r\n\r\ncsrf"
    )

    with contextlib.ExitStack() as connections:
        for _ in range(48):
            sending = connections.enter_context(socket.create_connection((host, port)))
            sending.sendall(begun.encode())
        for _ in range(8):
            page = httpx.get(f"{plain_site.url}/sign-in/", timeout=LONGEST_ANSWER_SECONDS)
            assert page.status_code == 200


def test_web_whose_port_is_taken_meanwhile_comes_back_with_it(plain_site):
    site = plain_site
    started(site)
    web = site.wait_for(lambda: parts(site).get("web"), "the web server")
    failed = "web ended with code 1; starting it again in 4 s"

    with socket.socket() as other:
        os.kill(web, signal.SIGKILL)
        site.wait_for(lambda: is_bound(other, site.port), "the port to be free", pause=0.01)
        site.wait_for(lambda: failed in site.log("up"), "its starts to fail", 60)

    assert "RuntimeError: Address already in use (os error 98)" in site.log("up")
    site.wait_for(site.is_serving, "the site to answer again", 60)


def test_stop_in_the_middle_of_work_takes_five_seconds_and_loses_nothing(
    plain_site, tmp_path, capsys
):
    site, slug = plain_site, "stopped"
    site.call("make_phase", slug=slug, n_queries=6_000)
    path = str(run_file(tmp_path / "long.run", n_queries=6_000, depth=500, n_documents=500))
    started(site)
    with signed_in(site, "sam") as client:
        assert sent_in(client, slug, path).status_code == 200
        ((job,),) = site.rows(
            "SELECT max(id) FROM benchmarks_app_job WHERE kind = 'score-submission'"
        )
        with half_sent(client, site, slug):
            site.wait_for(lambda: is_reading(site, job), "the run to be read", pause=0.005)
            began = time.monotonic()
            site.kill("up", signal.SIGTERM, group=False)
            assert site.processes["up"].wait(timeout=30) == 0
    seconds = time.monotonic() - began
    with capsys.disabled():
        print(f"\na stop in the middle of work took {seconds:.1f} s")  # noqa: T201

    assert seconds < on_this_machine(STOPS_WITHIN_SECONDS), site.log("up")
    assert site.alive() == []
    # Given back, where it could be interrupted in time, which is no attempt; or lost.
    left = job_row(site, job)
    assert (left.state, left.attempt) in {("queued", 0), ("running", 1)}
    started(site)
    assert wait_for_job(site, job, seconds=180).attempt == left.attempt + 1
    answer = site.call("submissions", slug=slug, username="sam")
    assert (answer["states"], answer["n_runs"]) == ({"long": "scored"}, 1)
    assert_nothing_half_done(site, slug)


def test_address_that_is_taken_is_told_and_nothing_starts(plain_site):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(Exception, match=f"Something listens on 127.0.0.1:{port} already"):
            plain_site.manage("up", "--no-migrate", "--port", str(port))

    assert plain_site.alive() == []

"""`manage.py up`: one command starts three processes, and one Ctrl-C, or one death, ends them."""

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from tests.system.site import Site

pytestmark = pytest.mark.slow
STARTS_WITHIN_SECONDS = 12  # 6 on a machine with nothing else to do
STOPS_WITHIN_SECONDS = 20


def started(site: Site) -> float:
    """Start the site; returns the seconds until it answers."""
    began = time.monotonic()
    site.start("up")
    return time.monotonic() - began


def parts(site: Site) -> dict[str, int]:
    """The process id of each of the three that `up` has started."""
    up = site.processes["up"].pid
    words = {"granian": "web", "celery": "worker", "sweep": "sweeper"}
    found = {}
    for pid in site.alive():
        status = Path(f"/proc/{pid}/status").read_text()
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        if f"PPid:\t{up}\n" in status:
            found[next(name for word, name in words.items() if word in command)] = pid
    return found


def accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError:
        return False
    return True


def test_one_command_starts_the_site_on_loopback_and_one_ctrl_c_stops_it(plain_site, capsys):
    seconds = started(plain_site)
    with capsys.disabled():
        print(f"\na second start of the site took {seconds:.1f} s")  # noqa: T201

    assert seconds < STARTS_WITHIN_SECONDS
    assert f"Benchwright is at {plain_site.url}/" in plain_site.log("up")
    assert set(parts(plain_site)) == {"web", "worker", "sweeper"}
    # All of 127.0.0.0/8 is this machine, but only one address of it is asked for.
    assert accepts("127.0.0.1", plain_site.port)
    assert not accepts("127.0.0.2", plain_site.port)

    plain_site.kill("up", signal.SIGINT, group=False)

    assert plain_site.processes["up"].wait(timeout=STOPS_WITHIN_SECONDS) == 0
    assert plain_site.alive() == []
    assert not accepts("127.0.0.1", plain_site.port)


@pytest.mark.parametrize("name", ["web", "worker", "sweeper"])
def test_death_of_one_process_stops_the_others(plain_site, name):
    started(plain_site)
    victim = plain_site.wait_for(lambda: parts(plain_site).get(name), f"the {name}")

    os.kill(victim, signal.SIGKILL)

    assert plain_site.processes["up"].wait(timeout=STOPS_WITHIN_SECONDS) not in (0, None)
    assert f"{name} ended with code -9; stopping the others" in plain_site.log("up")
    assert plain_site.alive() == []


def test_closed_terminal_stops_the_site(plain_site):
    started(plain_site)

    plain_site.kill("up", signal.SIGHUP, group=False)

    assert plain_site.processes["up"].wait(timeout=STOPS_WITHIN_SECONDS) == 0
    assert plain_site.alive() == []


def test_address_that_is_taken_is_told_and_nothing_starts(plain_site):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(Exception, match=f"Something listens on 127.0.0.1:{port} already"):
            plain_site.manage("up", "--no-migrate", "--port", str(port))

    assert plain_site.alive() == []

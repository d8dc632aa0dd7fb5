"""Runs of 50 queries to rank 300 that come faster than they are scored: what each costs, and waits.

Real processes on Redis: web server, two workers, sweeper. Processor time is of all of them and of
the readers they start, from the first byte sent to the last score. First 16 clients who each wait
for a score before they send the next run; then a burst of one person, and in it the one run of
another.
"""

import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import httpx

from tests.performance.scoring_service import broker, start
from tests.performance.toy import size
from tests.system.site import SHORT, Site

N_CLIENTS, N_EACH, N_BURST = size((16, 13, 1_000), (2, 2, 6))
N_QUERIES, DEPTH, N_JUDGED = size((50, 300, 20), (5, 300, 20))
SLUG = "burst"
PROCESSOR_MS, RUNS_A_SECOND, WAIT_SECONDS = 30, 20, 3.0
TICKS = os.sysconf("SC_CLK_TCK")
# Of a command line, what it is a process of.
KINDS = {
    b"benchmarks_app.web": "web",
    b"celery": "worker",
    b"sandbox.child": "reader",
    b"sweep": "sweeper",
}
IS_OPEN = (
    "SELECT count(*) FROM scoring_submission WHERE state NOT IN ('scored', 'failed', 'invalid')"
)


def main() -> list[str]:
    """The lines of the table in docs/performance.md."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
    os.environ |= {"API_UPLOADS_PER_MINUTE": "1000000", "API_REQUESTS_PER_MINUTE": "1000000"}
    with (
        tempfile.TemporaryDirectory() as folder,
        broker(Path(folder)) as url,
        Site(Path(folder) / "site", broker=url) as site,
    ):
        site.call("make_phase", slug=SLUG, n_queries=N_QUERIES, n_judged=N_JUDGED)
        site.rows("UPDATE scoring_phase SET daily_limit = 1000000")
        for name in SHORT:  # pauses as short as those of tests would cost more than the runs
            site.env.pop(name)
        start(site)
        people = {name: Sender(site, name) for name in ("sam", "sue")}
        # Both workers load what the first run of each needs.
        for key in [people["sam"].send(f"warm-{n}") for n in range(4)]:
            people["sam"].wait_until_scored(key)
        lines = [
            "| what | runs | a second | ms of processor a run | web | worker | readers | sweeper "
            "| wait, median | 95 % |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
            _told("16 clients, one run after the other", *in_turns(site)),
            _told("all at once", *burst(site, people["sam"])),
        ]
        lines += ["", beside_a_burst(site, people)]
    print("\n".join(lines))
    return lines


# --- sending ---------------------------------------------------------------------------------


class Sender:
    """One person's client of the API."""

    def __init__(self, site: Site, username: str) -> None:
        self.site, self.username = site, username
        token = site.call("token_of", username=username)
        headers = {"Authorization": f"Bearer {token}"}
        self.client = httpx.Client(base_url=site.url, headers=headers, timeout=120, trust_env=False)

    def send(self, name: str) -> int:
        """The submission's key; each run has bytes of its own."""
        file = (f"{name}.run", run_text(name))
        answer = self.client.post(
            f"/api/v1/benchmarks/{SLUG}/submissions/", data={"name": name}, files={"file": file}
        )
        if answer.status_code != 201:
            raise RuntimeError(f"{answer.status_code}: {answer.text[-2000:]}")
        return int(answer.json()["id"])

    def wait_until_scored(self, key: int, seconds: float = 600) -> None:
        # Past the site, whose processor time is measured.
        asked = "SELECT state FROM scoring_submission WHERE id = ?"

        def is_decided() -> bool:
            ((state,),) = self.site.rows(asked, key)
            if state in ("failed", "invalid"):
                raise RuntimeError(f"submission {key} is {state}")
            return bool(state == "scored")

        self.site.wait_for(is_decided, f"submission {key}", seconds, pause=0.02)


def run_text(name: str) -> str:
    """A TREC run of its own scores; query n finds what is judged of it among the first ranks."""
    shift = sum(map(ord, name)) % 97
    return "".join(
        f"q{query} Q0 d{query + (rank * 7 + shift) % 601} {rank} {DEPTH - rank + 0.5} {name}\n"
        for query in range(N_QUERIES)
        for rank in range(1, DEPTH + 1)
    )


# --- measuring -------------------------------------------------------------------------------


def used(site: Site) -> dict[str, float]:
    """Seconds of processor by kind of process, with those of children that have ended."""
    seconds = dict.fromkeys(KINDS.values(), 0.0)
    # A reader knows nothing of the site: its parent tells whose it is.
    for pid in with_children(site.alive()):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        kind = next((KINDS[word] for word in KINDS if word in words), "")
        if kind:
            seconds[kind] += sum(map(int, fields[11:15])) / TICKS
    return seconds


def with_children(pids: Sequence[int]) -> list[int]:
    """These processes, and all that they have started."""
    items = list(pids)
    for pid in items:
        for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                items += [
                    int(child) for child in tasks.read_text().split() if int(child) not in items
                ]
    return items


Measured = tuple[int, float, dict[str, float], Sequence[float]]


def in_turns(site: Site) -> Measured:
    """Clients who wait for their score, and send the next run then."""
    senders = [Sender(site, "sam") for _ in range(N_CLIENTS)]
    waits: list[float] = []

    def send_each(client: int) -> None:
        for n in range(N_EACH):
            began = time.monotonic()
            key = senders[client].send(f"turn-{client}-{n}")
            senders[client].wait_until_scored(key)
            waits.append(time.monotonic() - began)

    before, began = used(site), time.monotonic()
    _at_once(send_each, N_CLIENTS)
    return N_CLIENTS * N_EACH, time.monotonic() - began, _since(site, before), waits


def burst(site: Site, sender: Sender) -> Measured:
    """Many runs of one person, none of which is waited for."""
    before, began = used(site), time.monotonic()
    waits = []
    for n in range(N_BURST):
        asked = time.monotonic()
        sender.send(f"burst-{n}")
        waits.append(time.monotonic() - asked)
    site.wait_for(lambda: site.rows(IS_OPEN) == [(0,)], "the burst to drain", 1_800, pause=0.1)
    return N_BURST, time.monotonic() - began, _since(site, before), waits


def beside_a_burst(site: Site, people: dict[str, Sender]) -> str:
    """How long another person's run takes while those of one wait."""
    site.end_processes()
    site.start("web")
    for n in range(N_BURST // 2):
        people["sam"].send(f"wall-{n}")
    key = people["sue"].send("beside")
    site.start("worker", n_workers=2)
    site.wait_for(lambda: site.rows(IS_OPEN)[0][0] <= N_BURST // 2, "a worker", 120, pause=0.01)
    began = time.monotonic()
    people["sue"].wait_until_scored(key)
    took = time.monotonic() - began
    ((n_left,),) = site.rows(IS_OPEN)
    return (
        f"Behind {N_BURST // 2:,} waiting runs of one person, the run of another was scored "
        f"{took:.1f} s after the first of them; {n_left:,} still waited."
    )


def _since(site: Site, before: dict[str, float]) -> dict[str, float]:
    after = used(site)
    return {kind: after[kind] - before[kind] for kind in after}


def _at_once(do: object, n: int) -> None:
    failed: list[BaseException] = []

    def safely(number: int) -> None:
        try:
            do(number)  # type: ignore[operator]
        except BaseException as error:  # noqa: BLE001 - told by who waits for the threads
            failed.append(error)

    threads = [threading.Thread(target=safely, args=(number,)) for number in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def _told(
    what: str, n: int, seconds: float, spent: dict[str, float], waits: Sequence[float]
) -> str:
    each = {kind: 1000 * of / n for kind, of in spent.items()}
    parts = " | ".join(f"{each[kind]:.0f}" for kind in ("web", "worker", "reader", "sweeper"))
    late = sorted(waits)[int(0.95 * len(waits))]
    return (
        f"| {what} | {n:,} | {n / seconds:.1f} | {sum(each.values()):.0f} | {parts} "
        f"| {median(waits):.2f} s | {late:.2f} s |"
    )


if __name__ == "__main__":
    main()

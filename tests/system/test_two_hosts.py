"""Two hosts, each with a folder of its own, share a database, a broker and a store of objects.

A host is killed in each stage of the work, from an import to an export; the other one ends it.
`make two-hosts` is the same with more people and documents.
"""

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx
import pytest

from benchwright import evaluate
from tests.object_store import KEYS, ObjectServer
from tests.system.conftest import RABBITMQ, REDIS, needs_broker
from tests.system.making import beir_zip, run_file
from tests.system.site import Site
from tests.system.test_judging_race import Annotator as Racer
from tests.system.test_judging_race import (
    assert_ledger_is_what_was_told,
    assert_pool_is_right,
    n_done,
)

pytestmark = [pytest.mark.slow, pytest.mark.broker, pytest.mark.xdist_group("two hosts")]
N_PEOPLE = int(os.environ.get("TWO_HOSTS_PEOPLE", "6"))
N_QUERIES = int(os.environ.get("TWO_HOSTS_QUERIES", "8"))
N_DOCUMENTS, DEPTH = 10 * N_QUERIES, 5
# Of processes that start beside other tests'.
LONGEST_SECONDS = 180
# Redis is what all other tests have: beside them, one broker is tried.
BROKERS = [RABBITMQ, REDIS] if "TWO_HOSTS_ALL" in os.environ else [RABBITMQ or REDIS]


class Annotator(Racer):
    """Goes to the other host where its own does not answer, as a balancer sends it."""

    def __init__(self, hosts: list[Site], pool: int, session: str, number: int, is_over: Any):
        super().__init__(hosts[number % 2], pool, session, number, is_over)
        self.is_sleeper = False
        self.others = itertools.cycle(hosts)

    def _hang_up(self) -> None:
        super()._hang_up()
        self.site = next(self.others)


class Asked:
    """The API, asked at either host: answers are kept, and a host that is gone is passed over."""

    def __init__(self, hosts: list[Site], secret: str) -> None:
        self.hosts = hosts
        self.answers: list[tuple[str, int]] = []
        headers = {"Authorization": f"Bearer {secret}"}
        self.clients = {
            host.host: httpx.Client(base_url=f"{host.url}/api/v1/", headers=headers, timeout=60)
            for host in hosts
        }

    def close(self) -> None:
        for client in self.clients.values():
            client.close()

    def __call__(self, path: str, *, of: Site | None = None, **body: Any) -> httpx.Response:
        """The answer of one host; of whichever answers, where none is named."""
        hosts = [of] if of else self.hosts
        deadline = time.monotonic() + LONGEST_SECONDS
        while True:
            for host in hosts:
                with contextlib.suppress(httpx.TransportError):
                    how = "POST" if body else "GET"
                    answer = self.clients[host.host].request(how, path, **body)
                    self.answers.append((f"{how} {path}", answer.status_code))
                    return answer
            if time.monotonic() > deadline:
                raise AssertionError(f"nobody answers {path}")
            time.sleep(0.1)

    def made(self, path: str, of: Site, **body: Any) -> Any:
        answer = self(path, of=of, **body)
        assert answer.is_success, answer.text
        return answer.json()

    def ended(self, job: dict[str, Any]) -> dict[str, Any]:
        """A job when it is over, done."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < deadline:
            told = self(f"jobs/{job['id']}/").json()
            if told["state"] == "done":
                return told
            assert told["state"] in ("queued", "running"), told
            time.sleep(0.2)
        raise AssertionError(f"{told} did not end")


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectServer]:
    server = ObjectServer()
    yield server
    server.stop()


@pytest.fixture(params=BROKERS, ids=lambda url: url.partition(":")[0])
def hosts(request, server, tmp_path) -> Iterator[list[Site]]:
    """Two hosts that are at work."""
    needs_broker(request.param)
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        pytest.skip("hosts share no SQLite: DATABASE_URL names no PostgreSQL")
    store = {**KEYS, "BENCHWRIGHT_STORE": server.url(server.bucket()), "LEASE_SECONDS": "3"}
    with (
        Site(tmp_path / "a", broker=request.param, host="127.0.0.2") as first,
        Site(tmp_path / "b", broker=request.param, host="127.0.0.3", beside=first) as second,
    ):
        for host in (first, second):
            host.env |= store | {"TWO_HOSTS": host.host}
            begin(host)
        for host in (first, second):
            host.wait_for(host.is_serving, "a host to serve", LONGEST_SECONDS)
        yield [first, second]


def begin(host: Site) -> None:
    host.start("web", is_ready=False)
    host.start("worker")
    host.start("sweeper")


class Killed:
    """A host that is killed, every process of it at once, and begins anew at the end."""

    def __init__(self, host: Site) -> None:
        self.host = host

    def __enter__(self) -> None:
        self.host.end_processes()

    def __exit__(self, *error: object) -> None:
        begin(self.host)


def test_either_host_ends_what_the_other_has_begun(hosts, tmp_path, capsys, request):
    a, b = hosts
    began = time.monotonic()
    a.call("make_benchmark", slug="two")
    ask = Asked(hosts, a.call("token_of", username="olga"))
    request.addfinalizer(ask.close)
    archive = beir_zip(tmp_path / "two.zip", n_documents=N_DOCUMENTS, n_queries=N_QUERIES)
    path = run_file(
        tmp_path / "made.run", n_queries=N_QUERIES, depth=DEPTH, n_documents=N_DOCUMENTS
    )
    of = "benchmarks/two"

    # Import: what was sent to one host is read by the other.
    with archive.open("rb") as file:
        upload = ask.made(f"{of}/uploads/", a, files={"file": (archive.name, file)})
    job = ask.made(f"{of}/uploads/{upload['id']}/import/", a, json={"kind": "beir"})
    with Killed(a):
        ask.ended(job)
        with path.open("rb") as file:
            upload = ask.made(f"{of}/uploads/", b, files={"file": (path.name, file)})
        run = {"kind": "run", "name": "made"}
        ask.ended(ask.made(f"{of}/uploads/{upload['id']}/import/", b, json=run))

    # Pool.
    a.wait_for(a.is_serving, "the first host to be back", LONGEST_SECONDS)
    job = ask.made(f"{of}/pools/", b, json={"name": "first", "runs": ["made"], "depth": DEPTH})
    with Killed(b):
        ask.ended(job)
        made = a.call("annotators_of", slug="two", n_people=N_PEOPLE)

    # Judging: people go on at the other host.
    b.wait_for(b.is_serving, "the second host to be back", LONGEST_SECONDS)
    judged_everywhere(hosts, made["pool"], made["sessions"])

    # Qrels and a release.
    job = ask.made(f"{of}/qrels/", a, json={"name": "judged"})
    with Killed(a):
        ask.ended(job)
        draft = ask.made(f"{of}/releases/", b, json={"qrels": "judged", "version": "1.0.0"})
        draft_at = f"{of}/releases/drafts/{draft['id']}"
        ask.ended(ask.made(f"{draft_at}/check/", b, json={}))
        found = ask(f"{draft_at}/").json()["findings"]
        accepted = [one["code"] for one in found if one["severity"] == "warning"]
        publication = ask.made(f"{draft_at}/publish/", b, json={"accepted": accepted})
        ask.ended(publication)
        b.call("open_phase", slug="two")

    # Score.
    a.wait_for(a.is_serving, "the first host to be back", LONGEST_SECONDS)
    with path.open("rb") as file:
        sent = ask.made(
            f"{of}/submissions/", b, data={"name": "sent"}, files={"file": (path.name, file)}
        )
    with Killed(b):
        a.wait_for(
            lambda: ask(f"{of}/submissions/{sent['id']}/").json()["state"] == "scored",
            "the score",
            LONGEST_SECONDS,
        )

    # Export: made by one host, given by both.
    b.wait_for(b.is_serving, "the second host to be back", LONGEST_SECONDS)
    job = ask.made(f"{of}/releases/1.0.0/exports/mteb/", a, json={})
    with Killed(a):
        ask.ended(job)
    a.wait_for(a.is_serving, "the first host to be back", LONGEST_SECONDS)
    exports = {
        (name, host.host): ask(f"{of}/releases/1.0.0/exports/{name}/", of=host).content
        for name in ("mteb", "beir")
        for host in hosts
    }

    for name in ("mteb", "beir"):
        assert exports[name, a.host] == exports[name, b.host]
    assert [answer for answer in ask.answers if answer[1] >= 500] == []
    qrels = tmp_path / "qrels.txt"
    qrels.write_bytes(ask(f"{of}/releases/1.0.0/files/qrels.trec", of=b).content)
    (told,) = a.call("scores", slug="two", name="sent")
    means = {measure: mean for measure, mean, _ in told["means"]}
    assert means["nDCG@10"] == pytest.approx(evaluate(qrels, path, ["nDCG@10"]).means["nDCG@10"])
    with capsys.disabled():
        print(f"\n{len(ask.answers)} answers, {time.monotonic() - began:.0f} s")  # noqa: T201


def judged_everywhere(hosts: list[Site], pool: int, sessions: list[str]) -> None:
    """Everybody judges, half at each host, while one host after the other is killed."""
    is_over = threading.Event()
    wanted = N_QUERIES * DEPTH
    people = [
        Annotator(hosts, pool, session, number, is_over) for number, session in enumerate(sessions)
    ]
    for person in people:
        person.start()
    try:
        for host, share in zip(hosts, (0.2, 0.5), strict=True):
            enough = partial(has_labels, host, pool, int(wanted * share))
            host.wait_for(enough, "labels", LONGEST_SECONDS)
            with Killed(host):
                pass
            host.wait_for(host.is_serving, "the host to be back", LONGEST_SECONDS)
        for person in people:
            person.join(timeout=LONGEST_SECONDS)
    finally:
        is_over.set()
        for person in people:
            person.join(timeout=30)
    assert [person.trouble for person in people] == [[]] * len(people)
    assert not any(person.is_alive() or person.outbox for person in people)
    assert_pool_is_right(hosts[0], pool, wanted, 1)
    assert_ledger_is_what_was_told(hosts[0], pool, people)


def has_labels(host: Site, pool: int, n: int) -> bool:
    return n_done(host, pool) >= n

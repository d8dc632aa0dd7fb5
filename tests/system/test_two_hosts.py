"""Two hosts, each with a folder of its own, share a database, a broker and a store of objects.

A host is killed in each stage of the work, from an import to an export; the other one ends it.
And both go to another version, one after the other. `make two-hosts` is the same with more people
and documents.
"""

import contextlib
import itertools
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchwright import evaluate
from tests.object_store import KEYS, ObjectServer
from tests.system.conftest import RABBITMQ, REDIS, needs_broker
from tests.system.making import beir_zip, run_file
from tests.system.site import ROOT, Site
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
            answer = self(f"jobs/{job['id']}/").json()
            if answer["state"] == "done":
                return answer
            assert answer["state"] in ("queued", "running"), answer
            time.sleep(0.2)
        raise AssertionError(f"{answer} did not end")


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
    store["API_UPLOADS_PER_MINUTE"] = "6000"  # by one client, as quickly as it is answered
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
        facts = a.call("annotators_of", slug="two", n_people=N_PEOPLE)

    # Judging: people go on at the other host.
    b.wait_for(b.is_serving, "the second host to be back", LONGEST_SECONDS)
    judged_everywhere(hosts, facts["pool"], facts["sessions"])

    # Qrels and a release.
    job = ask.made(f"{of}/qrels/", a, json={"name": "judged"})
    with Killed(a):
        ask.ended(job)
        draft = ask.made(f"{of}/releases/", b, json={"qrels": "judged", "version": "1.0.0"})
        draft_at = f"{of}/releases/drafts/{draft['id']}"
        ask.ended(ask.made(f"{draft_at}/check/", b, json={}))
        findings = ask(f"{draft_at}/").json()["findings"]
        accepted = [item["code"] for item in findings if item["severity"] == "warning"]
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
    (scores,) = a.call("scores", slug="two", name="sent")
    means = {measure: mean for measure, mean, _ in scores["means"]}
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


# --- another version -----------------------------------------------------------------------------

NEXT = "99.0.0"
CODE = ("annotation", "benchmarks_app", "benchwright", "scoring", "templates", "tests", "docs")
NEW_COLUMN = "    rolled = models.CharField(max_length=8, db_default='new')\n"
NEW_KIND = """

@jobs.handles("rolled")
def rolled(job: jobs.RunningJob) -> None:
    with job.commit() as result:
        result["url"] = "/rolled/"
"""
START_NEW = """
from benchmarks_app.jobs.services import jobs
for number in range(6):
    jobs.start(kind="rolled", title="rolled", benchmark=None, user=None, parameters={})
"""
OPEN_TO_ALL = """
from benchmarks_app.models import Benchmark
from scoring.models import Phase
Benchmark.objects.update(visibility="public")
Phase.objects.update(daily_limit=100_000)
"""
OF_MADE = "/api/v1/benchmarks/made/"
PATHS = ("/", "/b/made/", "/b/made/v/1.0.0/leaderboard/", "/b/race/", OF_MADE)


def next_version(root: Path) -> Path:
    """A copy of the code whose jobs have one more column, which is not null, and one more kind."""
    for name in CODE:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "manage.py", root)
    about = root / f"benchwright-{NEXT}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: benchwright\nVersion: {NEXT}\n")
    models, tasks = root / "benchmarks_app/models/jobs.py", root / "benchmarks_app/tasks.py"
    before, manager, after = models.read_text().partition("    objects = JobQuerySet")
    models.write_text(f"{before}{NEW_COLUMN}\n{manager}{after}")
    tasks.write_text(tasks.read_text() + NEW_KIND)
    return root


class Caller(threading.Thread):
    """Asks one thing after the other, as through a balancer: at the next host where one is gone."""

    def __init__(self, hosts: list[Site], asking: Callable[["Caller"], None]) -> None:
        super().__init__(daemon=True)
        self.hosts = itertools.cycle(hosts)
        self.asking = asking
        self.answers: list[tuple[str, int]] = []
        self.broken: list[str] = []
        self.is_over = threading.Event()

    def run(self) -> None:
        while not self.is_over.is_set():
            self.asking(self)
            time.sleep(0.05)

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response | None:
        """The answer; None, and noted, where a connection that was there broke."""
        while True:
            host = next(self.hosts)
            try:
                answer = httpx.request(method, f"{host.url}{path}", timeout=60, **more)
            except httpx.ConnectError:
                time.sleep(0.02)
                continue
            except httpx.TransportError as error:
                self.broken.append(f"{method} {path}: {error!r}")
                return None
            self.answers.append((f"{method} {path}", answer.status_code))
            return answer


def is_ready(host: Site) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"{host.url}/readyz", timeout=5).status_code == 200
    return False


def tracebacks(hosts: Sequence[Site]) -> str:
    """What processes of the hosts have told of errors, to be read where a test fails."""
    logs = (host.log(name) for host in hosts for name in host.processes)
    return "\n".join(log[log.index("Traceback") :][:6000] for log in logs if "Traceback" in log)


def test_hosts_go_to_the_next_version_one_by_one_and_nobody_sees_an_error(hosts, tmp_path, capsys):
    a = hosts[0]
    facts = a.call(
        "make_race", slug="race", n_queries=10, n_documents=60, overlap=1, n_people=N_PEOPLE
    )
    a.call("make_phase", slug="made", n_queries=N_QUERIES)
    a.snippet(OPEN_TO_ALL)
    token = {"Authorization": f"Bearer {a.call('token_of', username='sam')}"}
    content = run_file(
        tmp_path / "made.run", n_queries=N_QUERIES, depth=DEPTH, n_documents=N_DOCUMENTS
    ).read_bytes()
    numbers = itertools.count()
    sent: list[int] = []

    def submit(caller: Caller) -> None:
        number = next(numbers)
        run = content.replace(b" 1 5 made", b" 1 %d made" % (5 + number))
        answer = caller.ask(
            "POST",
            f"{OF_MADE}submissions/",
            data={"name": f"sent {number}"},
            files={"file": ("made.run", run)},
            headers=token,
        )
        if answer is not None and answer.is_success:
            sent.append(answer.json()["id"])
        caller.is_over.wait(0.3)

    cookies = {"sessionid": facts["sessions"][0]}
    paths = itertools.cycle((*PATHS, f"/judge/{facts['pool']}/"))

    def read(caller: Caller) -> None:
        path = next(paths)
        caller.ask("GET", path, **{"headers": token} if path == OF_MADE else {"cookies": cookies})

    callers = [Caller(hosts, submit), Caller(hosts[::-1], read)]
    is_over = threading.Event()
    people = [
        Annotator(hosts, facts["pool"], session, number, is_over)
        for number, session in enumerate(facts["sessions"])
    ]
    for person in people:
        person.longest_pause = 2  # there are labels left when the last host has gone over
    root = next_version(tmp_path / "next")
    for thread in (*callers, *people):
        thread.start()
    try:
        a.run_code_of(root)
        a.manage("makemigrations", "benchmarks_app", "--name", "rolled", "--verbosity", "0")
        a.manage("migrate", "--verbosity", "0")  # with both hosts at work
        for host in hosts:
            goes_to(root, host)
            if host is a:  # while the other is still of the version before
                a.snippet(START_NEW)
        for caller in callers:
            caller.is_over.set()
            caller.join(timeout=60)
        for person in people:
            person.join(timeout=LONGEST_SECONDS)
    finally:
        is_over.set()
        for thread in (*callers, *people):
            thread.is_over.set()
            thread.join(timeout=60)

    answers = [answer for caller in callers for answer in caller.answers]
    assert {answer for answer in answers if answer[1] >= 400} == set(), tracebacks(hosts)
    assert [trouble for caller in callers for trouble in caller.broken] == []
    assert [person.trouble for person in people] == [[]] * len(people)
    assert_pool_is_right(a, facts["pool"], 600, 1)
    assert_ledger_is_what_was_told(a, facts["pool"], people)
    assert len(sent) > 10
    with contextlib.suppress(AssertionError):
        a.wait_for(lambda: not jobs_left(a), "all jobs", LONGEST_SECONDS)
    assert jobs_left(a) == []
    assert a.rows("SELECT state, count(*) FROM scoring_submission GROUP BY state") == [
        ("scored", len(sent))
    ]
    assert a.rows("SELECT DISTINCT version FROM benchmarks_app_workerheartbeat") == [(NEXT,)]
    with capsys.disabled():
        print(f"\n{len(answers)} answers, {len(sent)} submissions")  # noqa: T201


def goes_to(root: Path, host: Site) -> None:
    """Ends the processes of a host, as they are ended, and begins anew with other code."""
    for name in host.processes:
        host.kill(name, signal.SIGTERM, group=False)
    for process in host.processes.values():
        process.wait(timeout=60)
    host.end_processes()
    host.run_code_of(root)
    begin(host)
    host.wait_for(partial(is_ready, host), "the host to be ready", LONGEST_SECONDS)


def jobs_left(host: Site) -> list[tuple[Any, ...]]:
    return host.rows(
        "SELECT kind, state, attempt, message, error, count(*) FROM benchmarks_app_job"
        " WHERE state <> 'done' GROUP BY kind, state, attempt, message, error"
    )

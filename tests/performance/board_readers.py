"""Many who read one board of a thousand runs at once: unchanged, and while submissions arrive.

A server as `up` starts it on two cores, and readers in processes beside it, on the same cores. What
a submission writes when it is scored is written once a second, in one transaction, as scoring does.
Of every page of the site that needs no more than the benchmark, a release and a run, the processor
time is told as well, asked for inside one process.
"""

import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from tests.performance.boards import BOARD, MAKE, N_RUNS, N_SLICES
from tests.performance.toy import size
from tests.system.site import SETUP, Site

N_READERS, SECONDS, N_CORES = size((32, 10, 2), (4, 0.5, 1))
N_WORST, LIMIT_MILLISECONDS = 10, 150
N_PAGES = size(None, 20)  # of those that are opened without a choice, by address
PACE = size(30, 10)  # boards a second that are wanted of all readers together, while others arrive
BROWSER = {"Accept-Encoding": "gzip, deflate, br, zstd"}  # as by HTTPS
STATIC = "/static/benchmarks_app/benchwright.css"
SIGN_IN = """
from importlib import import_module
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import User
from tests import factories
from django.test import Client
from benchmarks_app.common.services.analysing import analyse
client = Client(headers={"host": "localhost"})
backend = "django.contrib.auth.backends.ModelBackend"
client.force_login(User.objects.get(username="olga"), backend=backend)
assert client.get("/b/large/v/1.0.0/leaderboard/").status_code == 200
jobs.run_queued()  # ranks
analyse()
client = Client()
client.force_login(factories.user("reader"), backend=backend)
print(client.cookies[settings.SESSION_COOKIE_NAME].value)
"""
# What a scored submission leaves, once a second.
ARRIVE = """
import time
from django.db import transaction
from benchmarks_app.models import Run, User
from scoring.models import Score, ScoreSet
first = ScoreSet.objects.select_related("run").first()
scores = list(Score.objects.filter(score_set=first))
owner = User.objects.get(username="team0")
for n in range(100_000):
    began = time.monotonic()
    with transaction.atomic():
        run = Run.objects.create(
            benchmark_id=first.run.benchmark_id, name=f"arrived {n:05}", owner=owner,
            kind="submitted", sha256=f"{n:064}", parquet="none", n_rows=1, n_queries=1, depth=10,
        )
    with transaction.atomic():
        one = ScoreSet.objects.create(
            run=run, release_id=first.release_id, scorer_version=first.scorer_version,
            per_query=first.per_query, hits=first.hits, n_queries=first.n_queries,
            n_missing=0, n_extra=0,
        )
        for score in scores:
            score.pk, score.score_set = None, one
        Score.objects.bulk_create(scores)
    print(n, flush=True)
    time.sleep(max(0.0, 1 - (time.monotonic() - began)))
"""
WALK = f"""
import json, statistics, time
from django.test import Client
from django.urls import get_resolver, URLPattern
from benchmarks_app.models import Run, User

known = {{"slug": "large", "version": "1.0.0"}}
run = Run.objects.order_by("pk").first().pk
client = Client(headers={{"host": "localhost"}}, raise_request_exception=False)
client.force_login(User.objects.get(username="olga"),
                   backend="django.contrib.auth.backends.ModelBackend")
pages, seen = [], set()

def walk(patterns, before=""):
    for one in patterns:
        route = before + str(one.pattern).lstrip("^")
        if not isinstance(one, URLPattern):
            walk(one.url_patterns, route)
            continue
        address = "/" + route
        for name, value in known.items():
            address = address.replace(f"<str:{{name}}>", value).replace(f"<slug:{{name}}>", value)
        if "runs/" in address:
            address = address.replace("<int:pk>", str(run)).replace("<int:run>", str(run))
        if not set(address) & set("<>()?[\\\\") and not address.startswith("/admin"):
            seen.add(address)

walk(get_resolver().url_patterns)
for address in sorted(seen - {{"/metrics", "/readyz"}})[:{N_PAGES}]:
    if "sign-out" in address:
        continue
    if client.get(address).status_code != 200:
        continue
    times = []
    for _ in range(2):
        began = time.process_time()
        answer = client.get(address)
        b"".join(answer) if answer.streaming else answer.content
        times.append(time.process_time() - began)
    pages.append([1000 * min(times), address])
print(json.dumps(sorted(pages, reverse=True)))
"""


class Rate(NamedTuple):
    """Of one way to read: answers a second, milliseconds (median, 95 of 100), bytes of a body."""

    per_second: float
    median: float
    late: float
    n_bytes: int


def main() -> list[str]:
    """The lines of the tables in docs/performance.md."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
    with tempfile.TemporaryDirectory() as folder, Site(Path(folder) / "site") as site:
        site.longest_seconds = 3600
        site.env["API_ANONYMOUS_PER_MINUTE"] = "1000000"
        site.python(MAKE)
        session = site.python(SIGN_IN).strip()
        site.start("web", arguments=["--workers", str(N_CORES)])
        rows = [*_unchanged(site, session), *_while_others_arrive(site, session)]
        vendor = "SQLite" if site.database.startswith("sqlite") else "PostgreSQL"
        pages = json.loads(site.python(WALK))
    head = (
        f"{N_RUNS:,} runs, {N_SLICES} slices, {N_READERS} readers for {SECONDS} s each, "
        f"{N_CORES} web processes, {vendor}; readers, server and database share the cores."
    )
    table = ["| what | a second | ms, median | ms, 95 % | bytes |", "|---|---:|---:|---:|---:|"]
    table += [
        f"| {what} | {rate.per_second:,.0f} | {rate.median:.0f} | {rate.late:.0f} | "
        f"{rate.n_bytes:,} |"
        for what, rate in rows
    ]
    worst = [
        f"Of {len(pages)} pages and files that its owner opens without a choice, the most costly:",
        "",
        "| page | ms of processor |",
        "|---|---:|",
        *(f"| `{address}` | {took:.0f} |" for took, address in pages[:N_WORST]),
    ]
    lines = [head, "", *table, "", *worst]
    print("\n".join(lines))
    for took, address in pages:
        if took > LIMIT_MILLISECONDS:
            print(f"  {address}: above {LIMIT_MILLISECONDS} ms")
    return lines


def _unchanged(site: Site, session: str) -> list[tuple[str, Rate]]:
    tag = _once(site.port, BOARD, BROWSER).headers["ETag"]
    signed_in = {**BROWSER, "Cookie": f"sessionid={session}"}
    api = "/api/v1/benchmarks/large/releases/1.0.0/leaderboard/?limit=50"
    return [
        ("board", read(site.port, BOARD, BROWSER)),
        ("board that the reader has (304)", read(site.port, BOARD, {"If-None-Match": tag})),
        ("board, signed in", read(site.port, BOARD, signed_in)),
        ("50 rows by the API", read(site.port, api, BROWSER)),
        ("a static file", read(site.port, STATIC, BROWSER)),
    ]


def _while_others_arrive(site: Site, session: str) -> list[tuple[str, Rate]]:
    command = [sys.executable, "-c", SETUP + ARRIVE]
    writer = subprocess.Popen(command, env=site.env, stdout=subprocess.PIPE, text=True)
    signed_in = {**BROWSER, "Cookie": f"sessionid={session}"}
    arrived: list[float] = []

    def count() -> None:
        arrived.extend(time.monotonic() for _ in writer.stdout or ())

    counting = threading.Thread(target=count)
    counting.start()
    try:
        while not arrived:
            if writer.poll() is not None:
                raise SystemExit("what arrives could not be written")
            time.sleep(0.1)
        began, n_before = time.monotonic(), len(arrived)
        rates = [
            ("board", read(site.port, BOARD, BROWSER)),
            ("board, signed in", read(site.port, BOARD, signed_in)),
            (f"board, {PACE} a second asked for", read(site.port, BOARD, BROWSER, PACE)),
            (
                f"board, signed in, {PACE} a second asked for",
                read(site.port, BOARD, signed_in, PACE),
            ),
        ]
        per_second = (len(arrived) - n_before) / (time.monotonic() - began)
    finally:
        writer.terminate()
        writer.wait()
        counting.join()
    return [(f"{what}, while {per_second:.1f} submissions a second arrive", r) for what, r in rates]


# --- readers -------------------------------------------------------------------------------


def read(port: int, address: str, headers: dict[str, str], per_second: float = 0) -> Rate:
    """Ask for one address by `N_READERS` who keep their connection, as fast as it is answered.

    Or so many times a second, all together: each reader asks at times that are set before, and
    what an answer takes is counted from then, so that one that comes late delays no clock.
    """
    n_processes = min(N_CORES, N_READERS)
    share = N_READERS // n_processes
    pause = N_READERS / per_second if per_second else 0.0
    with get_context("spawn").Pool(n_processes) as pool:
        asked = [(port, address, headers, share, pause)] * n_processes
        results = pool.starmap(_readers, asked)
    took = sorted(each for times, _ in results for each in times)
    return Rate(
        len(took) / SECONDS,
        1000 * statistics.median(took),
        1000 * took[int(0.95 * len(took))],
        max(n_bytes for _, n_bytes in results),
    )


def _readers(
    port: int, address: str, headers: dict[str, str], n: int, pause: float
) -> tuple[list[float], int]:
    took: list[float] = []
    sizes: set[int] = {0}
    failures: list[str] = []
    deadline = time.monotonic() + SECONDS

    def ask(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        due = time.monotonic() + pause * number / n
        while max(due, time.monotonic()) < deadline:
            time.sleep(max(0.0, due - time.monotonic()))
            began = due if pause else time.monotonic()
            due += pause
            connection.request("GET", address, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status not in (200, 304):
                failures.append(f"{address}: {answer.status}")
                return
            took.append(time.monotonic() - began)
            sizes.add(len(body))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures or not took:
        raise RuntimeError(failures[:1] or "nothing was answered")
    return took, max(sizes)


def _once(port: int, address: str, headers: dict[str, str]) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", address, headers=headers)
    answer = connection.getresponse()
    answer.read()
    return answer


if __name__ == "__main__":
    main()

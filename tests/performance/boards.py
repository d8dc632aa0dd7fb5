"""A board of a thousand submissions and twenty slices: what its pages cost the server.

The numbers of the runs are made up, their files are not: every run has its values per query on
disk. Pages are asked for inside one process, as its server would; processor time is told beside.
"""

import json
import os
import tempfile
from pathlib import Path

from tests.performance.toy import size
from tests.system.site import Site

# A board of more than 60 runs is ranked by a job.
N_RUNS = int(os.environ.get("BENCH_RUNS", size("1000", "61")))
N_PEOPLE, N_QUERIES, N_SLICES, N_ROUNDS = size((50, 200, 20, 7), (2, 40, 2, 1))
LIMIT_MILLISECONDS = 150

MAKE = f"""
import random
import polars as pl
from pathlib import Path
from tempfile import mkdtemp
from benchmarks_app import files
from benchmarks_app.models import Run, User
from scoring.models import Score, ScoreSet
from scoring.scores.selectors.releases import SCORER_VERSION
from scoring.scores.shown import measures_on
from tests import factories

rng = random.Random(7)
olga = factories.user("olga")
benchmark = factories.benchmark("large", visibility="public")
benchmark.memberships.create(user=olga, role="owner")
qids = [f"q{{n:03}}" for n in range({N_QUERIES})]
qrels = factories.qrel_set(benchmark, {{(qid, "d1"): 1 for qid in qids}})
queries = {{one.qid: one for one in benchmark.queries.all()}}
for n in range({N_SLICES}):
    members = [queries[qid] for qid in qids[n::{N_SLICES}] + qids[:30]]
    factories.query_slice(benchmark, f"slice{{n:02}}", *set(members))
type(qrels).objects.filter(pk=qrels.pk).update(n_relevant=len(qids))
qrels.refresh_from_db()
release = factories.release(qrels, by=olga)
people = [factories.user(f"team{{n}}") for n in range({N_PEOPLE})]
names = [shown.name for shown in measures_on(1)]
folder = Path(mkdtemp())
for n in range({N_RUNS}):
    run = Run.objects.create(
        benchmark=benchmark, name=f"run {{n:04}}", owner=people[n % {N_PEOPLE}], kind="submitted",
        sha256=f"{{n:064}}", parquet="none", n_rows=1, n_queries=len(qids), depth=10,
        metadata={{"type": rng.choice(["dense", "sparse", "hybrid"])}},
    )
    skill = rng.random()
    table = {{"qid": qids, "is_missing": [False] * len(qids), "n_retrieved": [10] * len(qids)}}
    table |= {{name: [min(1.0, rng.random() * skill * 2) for _ in qids] for name in names}}
    path = folder / f"{{n}}.parquet"
    pl.DataFrame(table).write_parquet(path)
    stored = files.publish(path, f"scores/made/{{n}}.parquet")
    one = ScoreSet.objects.create(
        run=run, release=release, scorer_version=SCORER_VERSION, per_query=stored, hits=stored,
        n_queries=len(qids), n_missing=0, n_extra=0,
    )
    Score.objects.bulk_create(
        Score(
            score_set=one, measure=name, slice_name=where, n=len(qids),
            mean=(mean := sum(table[name]) / len(qids)), ci_low=mean - 0.05, ci_high=mean + 0.05,
            judged_share=1.0,
        )
        for name in names
        for where in ["", *(f"slice{{n:02}}" for n in range({N_SLICES}))]
    )
"""
ASK = f"""
import json, statistics, time
from django.test import Client
from django.db import connection
from django.test.utils import CaptureQueriesContext
from benchmarks_app.models import Job, User
from benchmarks_app.jobs.services import jobs
from benchmarks_app.web import load
from scoring.boards import keeping

load()  # as a web process has its pages, which the collector passes over
keeping.find = lambda key: None  # made anew each time
client = Client(headers={{"host": "localhost"}})
client.force_login(User.objects.get(username="olga"),
                   backend="django.contrib.auth.backends.ModelBackend")

def asked(address):
    client.get(address)
    with CaptureQueriesContext(connection) as captured:
        client.get(address)
    n_queries, pairs = len(captured), []
    for _ in range({N_ROUNDS}):
        began, worked = time.perf_counter(), time.process_time()
        page = client.get(address)
        pairs.append((time.perf_counter() - began, time.process_time() - worked))
        assert page.status_code == 200, page.status_code
    return n_queries, *(1000 * statistics.median(column) for column in zip(*pairs))

first, *others = ADDRESSES
pages = [asked(first)]
worked = time.process_time()
jobs.run_queued()
ranked = time.process_time() - worked
job = Job.objects.get(kind="board-ranks")
assert job.state == Job.State.DONE, job.error
print(json.dumps([ranked, pages + [asked(address) for address in others]]))
"""
BOARD = "/b/large/v/1.0.0/leaderboard/"
API = "/api/v1/benchmarks/large/releases/1.0.0/leaderboard/"
PAGES = {
    "board, before its ranks are there": BOARD,
    "board": BOARD,
    "board over a slice": f"{BOARD}?slice=slice00",
    "board, filtered and sorted": f"{BOARD}?type=dense&best=on&sort=date",
    "runs by slices": f"{BOARD}slices/",
    "history": f"{BOARD}history/",
    "CSV of all": "/b/large/v/1.0.0/leaderboard.csv",
    "JSON of all": "/b/large/v/1.0.0/leaderboard.json",
    "Markdown of all": "/b/large/v/1.0.0/leaderboard.md",
    "CSV of runs by slices": f"{BOARD}slices.csv",
    "API: board": API,
    "API: runs by slices": f"{API}slices/",
    "API: 50 runs by slices": f"{API}slices/?limit=50",
}


def main() -> list[str]:
    with (
        tempfile.TemporaryDirectory() as folder,
        Site(Path(folder) / "site", on_sqlite=True) as site,
    ):
        site.longest_seconds = 3600
        site.python(MAKE)
        ranked, pages = json.loads(site.python(f"ADDRESSES = {[*PAGES.values()]}\n{ASK}"))
    rows = []
    for name, (n_queries, took, cpu) in zip(PAGES, pages, strict=True):
        rows.append(f"| {name} | {took:.0f} | {cpu:.0f} | {n_queries} |")
        print(rows[-1], flush=True)
        if cpu > LIMIT_MILLISECONDS:
            print(f"  above {LIMIT_MILLISECONDS} ms", flush=True)
    return [
        f"{N_RUNS:,} runs of {N_PEOPLE} people, {N_QUERIES} queries, {N_SLICES} slices. Ranks and "
        f"tie groups are worked out by a job, once: {ranked:.0f} s of processor.",
        "",
        "| page | ms | ms of processor | queries |",
        "|---|---:|---:|---:|",
        *rows,
    ]

"""The pages of a run on a release of 10,000 queries, in processor time of the server.

Runs of 50 documents a query, of which some are judged, in a folder and database of its own.
"""

import os
import random
import shutil
import tempfile
from pathlib import Path
from time import process_time

from tests.performance.toy import size
from tests.system.site import migrated_file

N_QUERIES, DEPTH, N_JUDGED, N_RUNS = size((10_000, 50, 10, 2), (100, 10, 5, 2))
LIMIT = 0.5


def main() -> list[str]:
    """The lines of the table in docs/performance.md; tells what takes more than `LIMIT`."""
    with tempfile.TemporaryDirectory() as folder:
        named = {"BENCHWRIGHT_DATA": folder, "DJANGO_SETTINGS_MODULE": "benchmarks_app.settings"}
        os.environ |= named
        os.environ.pop("DATABASE_URL", None)
        shutil.copyfile(migrated_file(), Path(folder) / "benchwright.sqlite3")
        import django

        django.setup()
        return measure(Path(folder))


def measure(folder: Path) -> list[str]:
    from django.conf import settings
    from django.test import Client

    settings.ALLOWED_HOSTS = ["testserver"]
    run, person = furnished(N_QUERIES, folder)
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    base = f"/b/large/runs/{run}"
    lines = [
        f"A run of {DEPTH} documents a query on {N_QUERIES:,} queries.",
        "",
        "| page | ms of processor, first time | again |",
        "|---|---:|---:|",
    ]
    for page in PAGES:
        first, again = (seconds(client, base + page) for _ in range(2))
        lines.append(f"| `{page}` | {1000 * first:.0f} | {1000 * again:.0f} |")
        print(lines[-1], flush=True)
        if page.startswith("/queries/?") and again > LIMIT:
            print(f"  above {LIMIT} s", flush=True)
    return lines


PAGES = (
    "/queries/",
    "/queries/?page=100",
    "/queries/?m=MAP&order=best",
    "/queries/?q=number+77",
    "/queries.csv",
    "/queries/q77/",
    "/holes/",
    "/scores/",
    "/slices/",
    "/reading/",
)


def seconds(client: object, url: str) -> float:
    start = process_time()
    response = client.get(url)  # type: ignore[attr-defined]
    if response.status_code != 200:
        raise SystemExit(f"{url}: {response.status_code}")
    return process_time() - start


def furnished(n_queries: int, folder: Path) -> tuple[int, object]:
    """Runs scored on a release; returns the first one's key and its owner."""
    from benchmarks_app.models import Qrel, QrelSet, Query, QueryFamily, Run
    from scoring.scores.services.scoring import Target, score_run
    from tests import factories

    rng = random.Random(7)
    of = factories.benchmark("large")
    person = factories.member(of, "olga", "owner")
    families = QueryFamily.objects.bulk_create(
        [QueryFamily(benchmark=of, split="test") for _ in range(n_queries)], batch_size=2_000
    )
    queries = Query.objects.bulk_create(
        [
            Query(benchmark=of, qid=f"q{place}", text=f"query number {place}", family=family)
            for place, family in enumerate(families)
        ],
        batch_size=2_000,
    )
    qrels = QrelSet.objects.create(
        benchmark=of, name="made", kind="imported", state="ready", n_qrels=1, n_relevant=1
    )
    for start in range(0, n_queries, 2_000):
        Qrel.objects.bulk_create(
            Qrel(qrel_set=qrels, query=query, docid=f"d{docid:03}", grade=rng.randrange(4))
            for query in queries[start : start + 2_000]
            for docid in rng.sample(range(200), N_JUDGED)
        )
    target = Target.of(factories.release(qrels))
    for place in range(N_RUNS):
        lines = "\n".join(
            f"q{query} Q0 d{docid:03} 1 {DEPTH - rank} r"
            for query in range(n_queries)
            for rank, docid in enumerate(rng.sample(range(200), DEPTH))
        )
        kind = Run.Kind.BASELINE if place else Run.Kind.UPLOADED
        run = factories.run(of, lines, name=f"run{place}", kind=kind)
        score_run(run=run, target=target, folder=folder / f"scores{place}")
    return of.runs.get(name="run0").pk, person


if __name__ == "__main__":
    main()

"""A hundred thousand judgments and a million, exported as JSON lines by the command, on SQLite.

Each export is a process of its own, and what it prints is the largest memory it ever held.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.performance.toy import size as sized
from tests.system.site import ROOT, Site

SIZES = sized((100_000, 1_000_000), (100, 1_000))
# What was promised: memory does not follow the number of judgments.
MOST_GROWTH = 1.1
N_QUERIES = sized(1_000, 10)
SLUG = "big"
PREPARE = f"""
from django.core.management import call_command
from benchmarks_app.models import Benchmark, Query, QueryFamily, User
User.objects.create_user("olga", "olga@example.org")
call_command("create_benchmark", "{SLUG}", name="Big", owner="olga")
made = Benchmark.objects.get(slug="{SLUG}")
families = QueryFamily.objects.bulk_create(QueryFamily(benchmark=made) for _ in range({N_QUERIES}))
Query.objects.bulk_create(
    Query(benchmark=made, qid=f"q{{n}}", text=f"query {{n}}", family=family)
    for n, family in enumerate(families)
)
"""
FILL = """
WITH RECURSIVE n(n) AS (SELECT :first UNION ALL SELECT n + 1 FROM n WHERE n + 1 < :last)
INSERT INTO annotation_judgment (benchmark_id, query_id, docid, kind, grade, reason, note, evidence,
    confidence, actor_id, rater, source, outcome, purpose, client_id, content_hash, view,
    shown_chars, shown_position, dwell_ms, is_surplus, created_at)
SELECT :benchmark, :query + n % :n_queries, 'd' || n, 'grade', n % 4, '',
    CASE WHEN n % 10 = 0 THEN 'a note of some length about document ' || n ELSE '' END,
    '[{"start": 3, "end": 9, "text": "a span"}]', '', :actor, '', '', '', 'label',
    printf('%032x', n), printf('%064x', n), 'excerpt', 900, 1 + n % 20, 4000 + n % 9000, 0,
    '2026-01-01 12:00:00' FROM n
"""


def main() -> list[str]:
    with tempfile.TemporaryDirectory() as folder, Site(Path(folder), on_sqlite=True) as site:
        site.python(PREPARE)
        rows, n_there = [], 0
        for size in SIZES:
            _fill(Path(folder) / "benchwright.sqlite3", n_there, size)
            n_there = size
            rows.append((size, *_exported(site, Path(folder) / "labels.jsonl", size)))
    growth = rows[-1][2] / rows[0][2]
    assert growth <= MOST_GROWTH, f"a million take {growth:.2f} times the memory of a tenth"
    lines = ["| judgments | seconds | MB written | peak MiB |", "|---|---|---|---|"]
    lines += [f"| {n:,} | {s:.1f} | {b / 1e6:.0f} | {mib:.0f} |" for n, s, mib, b in rows]
    lines.append(f"| wanted: at most {MOST_GROWTH} times the memory | met ({growth:.2f}) | | |")
    print("\nRaw judgments as JSON lines", *lines, sep="\n")
    return lines


def _fill(database: Path, first: int, last: int) -> None:
    with sqlite3.connect(database) as connection:
        row = connection.execute(
            "SELECT b.id, MIN(q.id), (SELECT MIN(id) FROM benchmarks_app_user) "
            "FROM benchmarks_app_benchmark b JOIN benchmarks_app_query q ON q.benchmark_id = b.id"
        ).fetchone()
        result = dict(zip(("benchmark", "query", "actor"), row, strict=True))
        connection.execute(FILL, {**result, "first": first, "last": last, "n_queries": N_QUERIES})
    connection.close()


def _exported(site: Site, path: Path, size: int) -> tuple[float, float, int]:
    """Seconds, the largest resident set in MiB, and the bytes written."""
    command = [sys.executable, str(ROOT / "manage.py"), "export_judgments", SLUG, "-o", str(path)]
    started = time.perf_counter()
    process = subprocess.Popen(command, env=site.env, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    with path.open("rb") as lines:
        n_lines = sum(1 for _ in lines)
    assert (status, n_lines) == (0, size)
    return seconds, usage.ru_maxrss / 1024, path.stat().st_size


if __name__ == "__main__":
    main()

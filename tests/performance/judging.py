"""Sharing and judging under load: how many judgments a second, how long each takes, what it costs.

A site on a fresh data folder, 16 annotators without thinking time, public endpoints alone. One
request for each judgment; where the answer brings new documents, judgment and refill were one
request, and are told apart. Run alone: `python -m tests.performance.judging [sqlite] [postgresql]`.
PostgreSQL is the server of `DATABASE_URL`, or the local one.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.performance.toy import size as sized
from tests.system.site import ROOT, Site

N_PEOPLE = sized(16, 2)
SECONDS = sized(20, 0.5)
N_CLAIMS = sized(150, 6)
DOCUMENTS_PER_QUERY = 25
SIZES = sized((10_000, 50_000), (500,))
SMALL = sized(5_000, 250)
DATABASES = sized(("sqlite", "postgresql"), ("sqlite",))
SERVER = "postgres://root@127.0.0.1:5432/postgres"
LEAST_PER_SECOND = {"sqlite": 200, "postgresql": 150}
MOST_P99_MS = 150
MOST_CPU_MS = 6
MOST_GROWTH = 1.3
# The command of the web server is read from the settings, whose folders are not to be a site's.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
os.environ.setdefault("BENCHWRIGHT_DATA", str(Path(tempfile.gettempdir()) / "benchwright-load"))
os.environ.setdefault("SECRET_KEY", "only-for-timing-0123456789-abcdefghijklmnopqrstuvwxyz")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Figures:
    """What one run of annotators came to."""

    database: str
    size: int
    seconds: float
    submits: list[float]
    refills: list[float]
    errors: list[str]
    n_doubled: int
    n_lost: int
    web_ms: float
    database_ms: float
    client_ms: float

    @property
    def n(self) -> int:
        return len(self.submits) + len(self.refills)

    @property
    def per_second(self) -> float:
        return self.n / self.seconds

    def row(self) -> str:
        both = self.submits + self.refills
        return (
            f"| {self.database} | {self.size:,} | {self.per_second:.0f} "
            f"| {quantile(self.submits, 0.5):.0f} / {quantile(self.submits, 0.99):.0f} "
            f"| {quantile(self.refills, 0.5):.0f} / {quantile(self.refills, 0.99):.0f} "
            f"| {len(self.refills) / max(len(both), 1):.0%} "
            f"| {self.web_ms:.1f} | {self.database_ms:.1f} | {self.client_ms:.1f} "
            f"| {len(self.errors)} | {self.n_doubled} | {self.n_lost} |"
        )


HEAD = [
    "| database | entries | judgments/s | submit p50 / p99 ms | submit with refill p50 / p99 ms "
    "| of them refills | web CPU ms | database CPU ms | client CPU ms | errors | doubled | lost |",
    "|---|---|---|---|---|---|---|---|---|---|---|---|",
]


def quantile(values: list[float], share: float) -> float:
    """In milliseconds; the value below which so many lie."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1000 if ordered else 0.0


# --- processor time ------------------------------------------------------------------------------


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time of these processes."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def tree(pid: int) -> list[int]:
    """A process and those it started."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    pids = [int(child) for child in children.read_text().split()] if children.exists() else []
    return [pid, *(each for child in pids for each in tree(child))]


def backends(site: Site) -> list[int]:
    """The server processes of the site's own PostgreSQL database."""
    if site.database.startswith("sqlite"):
        return []
    rows = site.rows("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
    return [int(pid) for (pid,) in rows]


# --- a run ---------------------------------------------------------------------------------------


def made_site(database: str, folder: Path) -> Site:
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        os.environ["DATABASE_URL"] = SERVER
    return Site(folder / database, on_sqlite=database == "sqlite")


def people_of(slug: str) -> list[str]:
    return [f"{slug}-{number}" for number in range(N_PEOPLE)]


def make_pool(site: Site, size: int, name: str = "load") -> tuple[int, list[str]]:
    slug = f"{name}{size}"
    people = people_of(slug)
    pool = site.call(
        "make_large_pool",
        slug=slug,
        n_queries=size // DOCUMENTS_PER_QUERY,
        n_documents=DOCUMENTS_PER_QUERY,
        overlap=1,
        people=people,
    )
    return pool, people


def client(site: Site, **plan: Any) -> tuple[dict[str, Any], float, float]:
    """What the client saw, and the seconds of processor of web server and database meanwhile."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.performance.judging_client"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps({"port": site.port, **plan}))
    process.stdin.close()
    process.stdout.readline()
    web, known = tree(site.processes["web"].pid), set(backends(site))
    before = cpu_seconds(web), cpu_seconds(known)
    report = json.loads(process.stdout.readline())
    process.wait(timeout=60)
    return report, cpu_seconds(web) - before[0], cpu_seconds(backends(site)) - before[1]


def run(site: Site, database: str, size: int, seconds: float) -> Figures:
    pool, people = make_pool(site, size)
    site.start("web")
    said, web, of_database = client(site, pool=pool, people=people, seconds=seconds)
    n = max(len(said["submits"]) + len(said["refills"]), 1)
    saved = site.rows(
        "SELECT count(*), count(DISTINCT slot_id) FROM annotation_judgment"
        " WHERE pool_id = ? AND NOT is_surplus",
        pool,
    )
    ((n_saved, n_slots),) = saved
    site.end_processes()
    return Figures(
        database=database,
        size=size,
        seconds=said["seconds"],
        submits=said["submits"],
        refills=said["refills"],
        errors=said["errors"],
        n_doubled=n_saved - n_slots,
        n_lost=len(said["keys"]) - n_saved,
        web_ms=web / n * 1000,
        database_ms=of_database / n * 1000,
        client_ms=said["cpu"] / n * 1000,
    )


def claim_growth(site: Site) -> tuple[float, float]:
    """Median milliseconds of a claim alone, in a small pool and in the largest, in turns."""
    pools = {size: make_pool(site, size, "claims") for size in (SMALL, SIZES[-1])}
    site.start("web")
    took: dict[int, list[float]] = {size: [] for size in pools}
    for _ in range(3):
        for size, (pool, people) in pools.items():
            plan = {"pool": pool, "people": people[:1], "seconds": 0, "n_claims": N_CLAIMS // 3}
            took[size] += client(site, **plan)[0]["claims"]
    site.end_processes()
    small, large = (statistics.median(took[size]) * 1000 for size in pools)
    return small, large


def verdicts(figures: Iterable[Figures], growth: dict[str, tuple[float, float]]) -> Iterable[str]:
    for figure in figures:
        where = f"{figure.database}, {figure.size:,} entries"
        p99 = quantile(figure.submits + figure.refills, 0.99)
        yield held(
            where, "judgments/s", figure.per_second, LEAST_PER_SECOND[figure.database], is_least=1
        )
        yield held(where, "p99 ms", p99, MOST_P99_MS)
        yield held(where, "web CPU ms a judgment", figure.web_ms, MOST_CPU_MS)
        yield held(where, "errors", len(figure.errors), 0)
        yield held(where, "doubled", figure.n_doubled, 0)
    for database, (small, large) in growth.items():
        what = f"claim of {large:.1f} ms at {SIZES[-1]:,} entries over {small:.1f} ms at {SMALL:,}"
        yield held(database, what, large / small, MOST_GROWTH)


def held(where: str, what: str, value: float, bound: float, *, is_least: bool = False) -> str:
    is_held = value >= bound if is_least else value <= bound
    said = "at least" if is_least else "at most"
    return (
        f"{where}: {what} {value:.2f} ({said} {bound}): {'holds' if is_held else 'DOES NOT HOLD'}"
    )


def main(databases: Iterable[str] = DATABASES, seconds: float = SECONDS) -> list[str]:
    """Run every size on every database and print it; return the lines for docs/performance.md."""
    figures, growth = [], {}
    print(f"\n{N_PEOPLE} annotators without thinking time, {seconds:.0f} s each")
    print("\n".join(HEAD))
    for database in databases:
        folder = Path(tempfile.mkdtemp(prefix="benchwright-load-"))
        try:
            with made_site(database, folder) as site:
                for size in SIZES:
                    figures.append(run(site, database, size, seconds))
                    print(figures[-1].row(), flush=True)
                    for error in figures[-1].errors[:5]:
                        print(f"  error: {error}")
                growth[database] = claim_growth(site)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    if any(figure.errors or figure.n_doubled or figure.n_lost for figure in figures):
        raise SystemExit("Judgments failed, were doubled or were lost.")
    bounds = list(verdicts(figures, growth))
    print("\n" + "\n".join(bounds))
    return [*HEAD, *(figure.row() for figure in figures), "", *(f"- {line}" for line in bounds)]


if __name__ == "__main__":
    words = sys.argv[1:]
    chosen = [word for word in words if not word.isdigit()]
    main(
        chosen or DATABASES,
        next((float(word) for word in words if word.isdigit()), SECONDS),
    )

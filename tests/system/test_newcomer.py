"""A stranger with a token and docs/client.md: 24 real runs of TREC-COVID, submitted and scored.

Against `manage.py up` with two workers on Redis. The board's values are the official ones.
"""

import csv
import gzip
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchwright import evaluate
from tests.system.conftest import REDIS, needs_broker
from tests.system.site import ROOT, Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.broker,
    pytest.mark.data,
    pytest.mark.xdist_group("newcomer"),  # one site, one set of runs for all
]

PAGE = (ROOT / "docs" / "client.md").read_text("utf-8")
SCRIPT = re.search(r"<!-- many runs -->\n```python\n(.*?)```", PAGE, re.DOTALL)[1]
# What the script prints, and the column of the official leaderboard, whose digits are four.
OFFICIAL = {
    "nDCG@10": "ndcg_cut_10",
    "P@5": "P_5",
    "RBP(p=0.5)": "rbp_p0.5",
    "bpref": "bpref",
    "AP": "map",
}
N_RUNS = 24
# The grades of the second release: every fortieth document that was found not relevant now is.
EVERY = 40


@pytest.fixture(scope="module")
def covid(data) -> Path:
    folder = data / "trec_covid_round1"
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}")
    return folder


@pytest.fixture(scope="module")
def site(covid, tmp_path_factory) -> Iterator[Site]:
    """A site with the benchmark, its first release, and room for 24 submissions a day."""
    needs_broker(REDIS)
    folder = tmp_path_factory.mktemp("newcomer")
    with Site(folder, broker=REDIS) as site:
        site.start("up", n_workers=2)
        furnish(site, covid, folder)
        yield site
    shutil.rmtree(folder, ignore_errors=True)


def furnish(site: Site, covid: Path, folder: Path) -> None:
    ids = {line.split()[2] for line in lines_of(covid / "qrels.covid-round1.txt")}
    for run in (covid / "runs").iterdir():
        ids.update(line.split()[2] for line in lines_of(run))
    (folder / "ids.txt").write_text("".join(f"{id_}\n" for id_ in sorted(ids)))
    site.snippet("from tests import factories\nfactories.user('olga')")
    scale = "0 = Not relevant\n1 = Partially *\n2 = Relevant *"
    site.manage(
        *("create_benchmark", "covid", "--name", "TREC-COVID", "--owner", "olga"),
        *("--ids-only", "--scale", scale, "--ties", "trec9"),
    )
    site.snippet(
        "from tests import factories\n"
        "from benchmarks_app.models import Benchmark\n"
        "Benchmark.objects.filter(slug='covid').update(visibility='public')\n"
        "factories.member(Benchmark.objects.get(slug='covid'), 'sam', 'submitter')"
    )
    site.manage(
        *("import_trec", "covid", "--ids", str(folder / "ids.txt"), "--name", "official"),
        *("--topics", str(covid / "topics.covid-round1.xml")),
        *("--qrels", str(covid / "qrels.covid-round1.txt")),
    )
    site.manage("publish_release", "covid", "--qrels", "official", "--release", "1.0.0")
    allow_many(site)


def allow_many(site: Site) -> None:
    """The owner lets a person submit more in a day, by the API."""
    secret = token_of(site, "olga")
    (phase,) = asked(site, "benchmarks/covid/phases/", secret)["results"]
    change = {"daily_limit": 100}
    asked(site, f"benchmarks/covid/phases/{phase['id']}/", secret, change, "PATCH")


def token_of(site: Site, person: str) -> str:
    return site.snippet(
        "from benchmarks_app.models import User\n"
        "from benchmarks_app.people.services.api_tokens import create_api_token\n"
        f"user = User.objects.get(username={person!r})\n"
        "print(create_api_token(user=user, name='laptop', days=1).secret)"
    ).strip()


def asked(site: Site, path: str, secret: str, body: Any = None, how: str = "GET") -> Any:
    request = urllib.request.Request(f"{site.url}/api/v1/{path}", method=how)
    request.add_header("Authorization", f"Bearer {secret}")
    if body is not None:
        request.add_header("Content-Type", "application/json")
        request.data = json.dumps(body).encode()
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def lines_of(path: Path) -> list[str]:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode().splitlines()


def follow_the_page(site: Site, folder: Path, secret: str, runs: Path) -> list[list[str]]:
    """What the page's script prints, as rows; run as the stranger would, beside no site."""
    script = folder / "many.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), "covid", str(runs)],
        cwd=folder,
        env={
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "PYTHONPATH": str(ROOT),
            "BENCHWRIGHT_SERVER": site.url,
            "BENCHWRIGHT_TOKEN": secret,
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def means(rows: list[list[str]]) -> dict[tuple[str, str], float]:
    """{(measure, run): mean} of what the script printed."""
    return {(row[0], row[1]): float(row[2]) for row in rows if len(row) == 3}


@pytest.fixture(scope="module")
def printed(site, covid, tmp_path_factory) -> list[list[str]]:
    """What the stranger saw on the first release."""
    folder = tmp_path_factory.mktemp("stranger")
    return follow_the_page(site, folder, token_of(site, "sam"), covid / "runs")


def test_every_run_of_a_stranger_is_scored(site, printed, capsys):
    states = [row[0].split() for row in printed if len(row) == 1]
    waited = sorted(seconds_to_score(site))

    with capsys.disabled():
        p50, p95 = statistics.median(waited), waited[int(0.95 * len(waited))]
        print(f"\nupload to score: p50 {p50:.1f} s, p95 {p95:.1f} s, of 24 runs sent in a row")  # noqa: T201
    assert [words[1:] for words in states] == [["scored"]] * N_RUNS


def seconds_to_score(site: Site) -> list[float]:
    rows = site.rows(
        "SELECT s.created_at, j.finished_at FROM scoring_submission s"
        " JOIN benchmarks_app_job j ON j.id = s.job_id"
    )
    return [(_moment(end) - _moment(begin)).total_seconds() for begin, end in rows]


def _moment(stored: Any) -> datetime:
    moment = stored if isinstance(stored, datetime) else datetime.fromisoformat(stored)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def test_board_has_the_official_values_to_their_digits(printed, covid):
    values = means(printed)
    with (covid / "leaderboard_official.tsv").open() as stream:
        official = list(csv.DictReader(stream, delimiter="\t"))

    assert len(official) == N_RUNS
    assert len(values) == N_RUNS * len(OFFICIAL)
    wrong = [
        (row["run"], measure, values[measure, row["run"]], row[column])
        for row in official
        for measure, column in OFFICIAL.items()
        if f"{values[measure, row['run']]:.4f}" != row[column]
    ]
    assert wrong == []


def test_second_release_is_scored_again_by_itself(site, printed, covid, tmp_path):
    changed = changed_qrels(covid, tmp_path / "second.qrels")
    site.manage("import_trec", "covid", "--qrels", str(changed), "--name", "second")
    site.manage("publish_release", "covid", "--qrels", "second", "--release", "2.0.0")
    (tmp_path / "none").mkdir()

    def is_whole() -> bool:
        path = "benchmarks/covid/releases/2.0.0/leaderboard/"
        board = asked(site, path, token_of(site, "sam"))
        return board["n_runs"] == N_RUNS and not board["n_waiting"]

    site.wait_for(is_whole, "24 runs on the second release", seconds=120, pause=1)
    values = means(follow_the_page(site, tmp_path, token_of(site, "sam"), tmp_path / "none"))

    assert len(values) == N_RUNS * len(OFFICIAL)
    assert values != means(printed)
    for path in sorted((covid / "runs").iterdir()):
        expected = evaluate(changed, path, list(OFFICIAL), ties="trec9").means
        results = {measure: values[measure, path.stem] for measure in OFFICIAL}
        assert results == pytest.approx(expected, abs=1e-12), path.stem


def changed_qrels(covid: Path, path: Path) -> Path:
    rows = [line.split() for line in lines_of(covid / "qrels.covid-round1.txt")]
    for number, row in enumerate(row for row in rows if row[3] == "0"):
        row[3] = "0" if number % EVERY else "1"
    path.write_text("".join(" ".join(row) + "\n" for row in rows))
    return path

"""The demo benchmark: Python's own docstrings, our queries and grades, four lexical systems.

A dense one beside them, where it is installed. Every place of the menu has something to look at.

What other apps do is asked of them by their commands' names or by `signals.demo_built`, so nothing
here imports them.
"""

import csv
import json
import secrets
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command

from benchmarks_app.collections.services.benchmarks import change_settings, create_benchmark
from benchmarks_app.common.selectors.reading import unknown_documents
from benchmarks_app.jobs.services.jobs import run_queued
from benchmarks_app.models import Benchmark, Membership, Role, User
from benchmarks_app.signals import demo_built
from benchmarks_app.slices.services.changes import register_slice
from benchmarks_app.slices.services.members import CONFIRM, decide_members
from benchwright.datasets.demo import collect_docstrings
from benchwright.qrels.scales import DEFAULT_SCALE, parse_scale

SLUG = "stdlib"
FIXTURES = settings.CARRIED_DIR / "fixtures" / "demo"
POOL = "Depth 10 of four systems"
QRELS = "demo-grades"
DEPTH, SEED = 10, 7
SHARES = "train=20,dev=45,test=35"
DENSE = "wordllama"
FIRST, SECOND = "first assessor", "second assessor"
LOG = "searches (made up)"
# Facts, then guesses, which need relevant documents and are taken as they are.
FREQUENCY = {"kind": "frequency", "head_share": 0.25, "tail_share": 0.5}
BANDS: dict[str, dict[str, object]] = {
    "head": {**FREQUENCY, "band": "head"},
    "tail": {**FREQUENCY, "band": "tail"},
}
MODULES = ("asyncio", "glob", "subprocess", "unittest")
INTENTS: dict[str, dict[str, object]] = {
    "exact match": {"kind": "exact_match"},
    "semantic": {"kind": "semantic"},
    "navigational": {"kind": "navigational", "brands": MODULES},
    "informational": {"kind": "informational"},
}
CHECK_SHARE = 0.05
N_WAITING = 12  # queries left for whoever tries the labeling page
PEOPLE = {
    "olga": Role.OWNER,
    "mia": Role.MAINTAINER,
    "bo": Role.ADJUDICATOR,
    "ada": Role.ANNOTATOR,
    "sam": Role.SUBMITTER,
    "vi": Role.VIEWER,
}
DESCRIPTION = "Find the docstring of Python's standard library that answers a developer's need."
# The first version, and the one that practice and checks go by.
GUIDELINES = (
    """Read the query and what is wanted, then the docstring.

- **3** answers the need directly.
- **2** answers a part, or leads to the answer.
- **1** is on the topic but no help.
- **0** is about something else.
""",
    """Read the query and what is wanted, then the docstring.

- **3** answers the need directly.
- **2** answers a part, or leads to the answer.
- **1** is on the topic but no help.
- **0** is about something else.

## Borders

- Judge only what the docstring says, not what you know of the function.
- A shared word is not a shared topic: a cache of file lines is 0 for caching results.
- What works in a narrower case than asked (only empty directories) is 2, not 3.

If you cannot tell, choose *can't judge*, or ask.
""",
)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Login:
    username: str
    role: str
    password: str


def is_built() -> bool:
    """Whether the demo is there, and no attempt to build it was interrupted."""
    is_there = Benchmark.objects.filter(slug=SLUG, releases__state="published").exists()
    return is_there and not _unfinished().exists()


def _unfinished() -> Path:
    """A file that is there while the demo is built."""
    return Path(settings.DATA_DIR) / "demo_unfinished"


def logins() -> list[Login]:
    """The people of the demo; their password was made with the demo, on this machine."""
    password = (settings.DATA_DIR / "demo_password").read_text()
    return [Login(name, role, password) for name, role in PEOPLE.items()]


def build_demo(say: Say) -> None:
    """Make the demo from the beginning; what an interrupted attempt left is completed."""
    _unfinished().touch()
    say("People and an empty benchmark")
    people = _people()
    benchmark = Benchmark.objects.filter(slug=SLUG).first() or _benchmark(people)
    with tempfile.TemporaryDirectory() as folder:
        _collection(benchmark, Path(folder), say)
        _pool(benchmark, Path(folder), say)
        say("Labels of a second assessor")
        _second_labels(benchmark, Path(folder))
        say("Qrels, slices by what is relevant, and a split by families")
        _split_up(benchmark)
        say("A query log")
        _log(benchmark, Path(folder))
    _dense_run(say)
    say("Release 0.1.0, the scores of all runs, phases and a gate")
    if not benchmark.releases.filter(state="published").exists():
        options = {"qrels": QRELS, "release": "0.1.0", "notes": "The demo's grades."}
        call_command("publish_release", SLUG, **options)
    run_queued()
    demo_built.send(sender=Benchmark, benchmark=benchmark, people=people)
    run_queued()
    _unfinished().unlink()


def _dense_run(say: Say) -> None:
    """A dense system that the pool knew nothing of: its judged share is lower than the others'."""
    if find_spec(DENSE) is None:
        say(f"No dense system: {DENSE} is not installed (extra demo)")
        return
    say(f"A dense system beside them, which was not pooled: {DENSE}")
    call_command("make_baselines", SLUG, system=[DENSE])


def _people() -> dict[str, User]:
    file = settings.DATA_DIR / "demo_password"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(9))
    password = file.read_text()
    people = {}
    for name in PEOPLE:
        user, is_new = User.objects.get_or_create(
            username=name, defaults={"email": f"{name}@demo.invalid", "first_name": name.title()}
        )
        if is_new:
            user.set_password(password)
            user.save()
        people[name] = user
    return people


def _benchmark(people: dict[str, User]) -> Benchmark:
    benchmark = create_benchmark(
        owner=people["olga"],
        name="Python standard library",
        slug=SLUG,
        description=DESCRIPTION,
        scale=parse_scale(DEFAULT_SCALE),
        guideline=GUIDELINES[0],
    )
    Membership.objects.bulk_create(
        Membership(benchmark=benchmark, user=people[name], role=role)
        for name, role in PEOPLE.items()
        if role != Role.OWNER
    )
    change_settings(benchmark=benchmark, actor=people["olga"], guideline=GUIDELINES[1])
    return benchmark


def _collection(benchmark: Benchmark, folder: Path, say: Say) -> None:
    if benchmark.current_corpus_version is None:
        say("Collecting the standard library's docstrings")
        call_command("import_trec", SLUG, corpus=_corpus_file(folder))
    if not benchmark.queries.exists():
        say("Queries")
        call_command("import_trec", SLUG, queries=FIXTURES / "queries.jsonl")
        _make_slices(benchmark, BANDS)
    say("Four lexical systems")
    call_command("make_baselines", SLUG)


def _make_slices(benchmark: Benchmark, rules: dict[str, dict[str, object]]) -> None:
    """A slice by each rule; what is a guess is confirmed, and what is large enough registered."""
    for name, rule in rules.items():
        row = benchmark.slices.filter(name=name).first()
        if row is None:
            call_command("make_slice", SLUG, name, rule=json.dumps(rule))
            row = benchmark.slices.get(name=name)
        owner = User.objects.get(username="olga")
        if not row.is_registered:
            decide_members(of=row, actor=owner, verdict=CONFIRM)
            if row.members.filter(state="member").count() >= row.minimum:
                register_slice(of=row, actor=owner)


def _corpus_file(folder: Path) -> Path:
    path = folder / "docstrings-corpus.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for document in collect_docstrings():
            row = {"_id": document.docid, "title": document.title, "text": document.text}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def _pool(benchmark: Benchmark, folder: Path, say: Say) -> None:
    say(f"The depth-{DEPTH} pool and our grades of it")
    if not benchmark.pools.exclude(state="building").exists():
        runs = ",".join(benchmark.runs.order_by("name").values_list("name", flat=True))
        call_command("build_pool", SLUG, runs=runs, depth=DEPTH, seed=SEED, name=POOL)
    path = _labels_file(benchmark, folder, "grades.tsv")
    call_command("import_judgments", SLUG, POOL, path, rater=FIRST)
    say("Practice documents and hidden checks")
    call_command("import_known_grades", SLUG, POOL, FIXTURES / "known.tsv", share=CHECK_SHARE)


def _second_labels(benchmark: Benchmark, folder: Path) -> None:
    """What a second assessor said of some of these pairs; the two differ here and there."""
    path = _labels_file(benchmark, folder, "second_grades.tsv")
    call_command("import_judgments", SLUG, POOL, path, rater=SECOND)


def _split_up(benchmark: Benchmark) -> None:
    if not benchmark.qrel_sets.filter(name=QRELS, state="ready").exists():
        call_command("publish_qrels", SLUG, name=QRELS)
    _make_slices(benchmark, INTENTS)
    if not benchmark.split_plans.exists():
        # Whether test holds enough of a slice is a question for larger benchmarks.
        call_command("split_queries", SLUG, shares=SHARES, seed=SEED, accept_small_slices=True)


def _log(benchmark: Benchmark, folder: Path) -> None:
    """The queries as a log of searches: how often and when are made up, as in the fixture."""
    if benchmark.query_logs.filter(name=LOG).exists():
        return
    path = folder / "searches.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["query", "count", "date"])
        rows.writerows(
            (query["text"], query["frequency"], query["first_seen"]) for query in queries()
        )
    call_command("import_log", SLUG, path, name=LOG)


def _labels_file(benchmark: Benchmark, folder: Path, name: str) -> Path:
    """Grades of a fixture without the queries that stay to be judged, the last ones by id.

    And without documents that only another release of Python has.
    """
    waiting = {query["_id"] for query in queries()[-N_WAITING:]}
    header, *lines = (FIXTURES / name).read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.split("\t", 1)[0] not in waiting]
    absent = unknown_documents(benchmark, {line.split("\t", 2)[1] for line in rows})
    known_lines = [line for line in rows if line.split("\t", 2)[1] not in absent]
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in [header, *known_lines]), encoding="utf-8")
    return path


@cache
def queries() -> list[dict[str, Any]]:
    """The queries of the fixture, by their ids; the last `N_WAITING` stay to be judged."""
    lines = (FIXTURES / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return sorted(map(json.loads, lines), key=lambda query: query["_id"].encode())

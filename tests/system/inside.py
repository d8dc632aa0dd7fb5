"""What tests ask for inside a site: `site.call(name, ...)` runs one of these in its own process.

Arguments and results are JSON.
"""

import contextlib
import hashlib
import io
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.utils import timezone

from annotation.models import Judgment, Pool
from benchmarks_app.backups.services import backing_up, store_checking, table_rows
from benchmarks_app.collections.services import uploading
from benchmarks_app.importing.services import importing
from benchmarks_app.jobs.services import jobs, retry, sweeping
from benchmarks_app.models import (
    Benchmark,
    Corpus,
    DocumentContent,
    Job,
    Membership,
    Qrel,
    QrelSet,
    Query,
    QueryFamily,
    Run,
    User,
    WorkerHeartbeat,
)
from benchmarks_app.people.services.api_tokens import create_api_token
from benchmarks_app.releases.services import exporting, releasing
from benchmarks_app.sessions import SessionStore
from benchwright.backups.layout import FILES, FORMAT, write_manifest
from benchwright.backups.lines import LineWriter
from benchwright.backups.targets import FolderTarget
from scoring.models import ScoreSet, ShardJob, Submission
from scoring.rescoring.services import rescoring
from scoring.submissions.services import phases, submitting
from scoring.systems.services import baselines
from tests import factories
from tests.annotation import making as annotation_making
from tests.system import upgrading
from tests.system.making import word_queries, words_file


def make_fuzzed(slug: str) -> str:
    from tests.fuzz_files.making import make_fuzzed as make

    return make(slug)


def make_world() -> dict[str, Any]:
    """The objects of `tests/world.py`, by the names of addresses, and a token for each person."""
    from tests import world
    from tests.system.api_targets import tokens

    built_pool = world.build(files=Path(settings.MEDIA_ROOT))
    return {"arguments": built_pool.arguments, "tokens": tokens()}


def token_of(username: str) -> str:
    """A token, with every scope, of a person who is made if need be."""
    user = factories.user(username)
    return create_api_token(user=user, name="laptop", days=1).secret


def call(name: str, arguments: dict[str, Any]) -> Any:
    """What the function of that name returns."""
    return globals()[name](**arguments)


def python(code: str) -> str:
    """What that code prints, which knows nothing of what was run before."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, {"__name__": "__main__"})
    return printed.getvalue()


def upgrade(steps: list[str]) -> Any:
    """What the last of these functions of `upgrading.py` returns."""
    return [getattr(upgrading, step)() for step in steps][-1]


# --- backups -------------------------------------------------------------------------------


def rows_said() -> dict[str, list[Any]]:
    """Of every table how many rows it has, and the digest of what they say."""
    tables = table_rows.tables_of(table_rows.applied_migrations())
    return {
        name: list(table_rows.content_of(table, lambda *_: None)) for name, table in tables.items()
    }


def write_rows(place: str) -> None:
    """A backup of the rows as they are, at whatever version; without files."""
    target = FolderTarget(Path(place))
    applied = table_rows.applied_migrations()
    with target.writing("20260101T000000.000000Z") as folder:
        tables = backing_up.written_tables(folder, lambda text: None)
        with LineWriter(folder / FILES) as out:
            pass
        manifest = {"format": FORMAT, "version": "test", "broken": [], "migrations": applied}
        write_manifest(folder, manifest | {"tables": tables, "files": out.written.as_json()})


# --- imports -------------------------------------------------------------------------------


def make_benchmark(slug: str) -> int:
    """A benchmark with an empty corpus of texts; Olga owns it."""
    corpus = Corpus.objects.create(name=slug, owner=factories.user("olga"), kind=Corpus.Kind.TEXTS)
    bench = factories.benchmark(slug, corpus=corpus)
    factories.member(bench, "olga", "owner")
    return bench.pk


def start_import(slug: str, path: str) -> int:
    """The job of an import of a BEIR zip into a new benchmark, or into the one that is there."""
    benchmark = Benchmark.objects.filter(slug=slug).first()
    if benchmark is None:
        benchmark = Benchmark.objects.get(pk=make_benchmark(slug))
    olga = factories.user("olga")
    upload = uploading.receive_path(benchmark=benchmark, owner=olga, path=Path(path))
    return importing.start_import(benchmark=benchmark, user=olga, upload=upload, kind="beir").pk


def contents(slug: str) -> dict[str, Any]:
    """All that imports made of a benchmark, with digests that two equal ones share."""
    benchmark = Benchmark.objects.get(slug=slug)
    queries = benchmark.queries.committed().order_by("qid")
    return {
        "versions": list(benchmark.corpus.versions.values_list("number", "sha256", "n_documents")),
        "queries": _digest(queries.values_list("qid", "text")),
        "n_queries": queries.count(),
        "n_families": QueryFamily.objects.filter(benchmark=benchmark).count(),
        "sets": [
            (row.state, row.n_qrels, row.digest, _qrels_digest(row))
            for row in benchmark.qrel_sets.order_by("pk")
        ],
    }


def _qrels_digest(of: QrelSet) -> str:
    rows = Qrel.objects.filter(qrel_set=of).order_by("query__qid", "docid")
    return _digest(rows.values_list("query__qid", "docid", "grade"))


def _digest(rows: Any) -> str:
    return hashlib.sha256(repr(list(rows)).encode()).hexdigest()


def staged(slug: str) -> dict[str, int]:
    """Rows that an unfinished attempt would leave in a benchmark."""
    benchmark = Benchmark.objects.get(slug=slug)
    families = QueryFamily.objects.filter(benchmark=benchmark)
    sets, pools = benchmark.qrel_sets, Pool.objects.filter(benchmark=benchmark)
    return {
        "queries": benchmark.queries.filter(staged_by__isnull=False).count(),
        "sets": sets.filter(state=QrelSet.State.BUILDING).count(),
        "pools": pools.filter(state=Pool.State.BUILDING).count(),
        "empty families": families.filter(queries=None).count(),
    }


# --- jobs ----------------------------------------------------------------------------------


def send_again(job: int, times: int) -> None:
    for _ in range(times):
        jobs.send(Job.objects.get(pk=job))


def is_without_worker(job: int) -> bool:
    return Job.objects.get(pk=job).is_without_worker


def let_workers_be_seen(seconds_ago: int) -> None:
    seen_at = timezone.now() - timedelta(seconds=seconds_ago)
    WorkerHeartbeat.objects.update(seen_at=seen_at)


# --- scoring -------------------------------------------------------------------------------


def make_phase(slug: str, n_queries: int, n_judged: int = 1) -> int:
    """A benchmark with a release in which query n has document n as its answer, open for runs.

    The documents after it are answers, too, up to `n_judged`.
    """
    benchmark = factories.benchmark(slug)
    olga = factories.member(benchmark, "olga", "owner")
    for name in ("sam", "sue"):
        factories.member(benchmark, name, "submitter")
    families = QueryFamily.objects.bulk_create(
        QueryFamily(benchmark=benchmark) for _ in range(n_queries)
    )
    queries = Query.objects.bulk_create(
        Query(benchmark=benchmark, qid=f"q{n}", text=f"text {n}", family=family)
        for n, family in enumerate(families)
    )
    qrels = factories.qrel_set(benchmark, {}, name="official")
    Qrel.objects.bulk_create(
        Qrel(qrel_set=qrels, query=query, docid=f"d{n + more}", grade=2)
        for n, query in enumerate(queries)
        for more in range(n_judged)
    )
    n_qrels = n_queries * n_judged
    QrelSet.objects.filter(pk=qrels.pk).update(n_qrels=n_qrels, n_relevant=n_qrels)
    qrels.refresh_from_db()
    arguments = releasing.release_arguments(qrel_set=qrels, version="1.0.0")
    factories.done(jobs.run_here(benchmark=benchmark, user=olga, **arguments))
    return phases.open_submissions(release=benchmark.releases.get()).pk


def start_submission(slug: str, path: str, name: str, username: str) -> int:
    benchmark = Benchmark.objects.get(slug=slug)
    user = factories.user(username)
    upload = uploading.receive_path(benchmark=benchmark, owner=user, path=Path(path))
    phase = submitting.phase_open_in(benchmark)
    return submitting.accept_submission(phase=phase, user=user, upload=upload, name=name).job.pk


def start_submissions(slug: str, paths: list[str], username: str) -> list[int]:
    """The jobs of submissions named after their files."""
    return [start_submission(slug, path, Path(path).stem, username) for path in paths]


def make_runs(slug: str, n: int, n_queries: int, depth: int) -> None:
    """Runs of a benchmark, each of another depth; their scores are started."""
    benchmark = Benchmark.objects.get(slug=slug)
    for number in range(n):
        lines = (
            f"q{q} Q0 d{(q + rank) % n_queries} {rank} {depth + number - rank} s"
            for q in range(n_queries)
            for rank in range(depth - number)
        )
        factories.run(benchmark, "\n".join(lines), name=f"run{number}")
    rescoring.start_scoring_new_runs(benchmark, None)


def publish_changed(slug: str, n: int) -> None:
    """A release whose first n queries have one answer more; what follows from it is started."""
    benchmark = Benchmark.objects.get(slug=slug)
    before = benchmark.qrel_sets.order_by("pk").last()
    qrels = factories.qrel_set(benchmark, {}, name=f"after {before.pk}")
    rows = [
        Qrel(qrel_set=qrels, query=qrel.query, docid=qrel.docid, grade=qrel.grade)
        for qrel in before.qrels.select_related("query")
    ]
    more = [Qrel(qrel_set=qrels, query=row.query, docid="d-new", grade=1) for row in rows[:n]]
    Qrel.objects.bulk_create([*rows, *more])
    QrelSet.objects.filter(pk=qrels.pk).update(n_qrels=len(rows) + n, n_relevant=len(rows) + n)
    qrels.refresh_from_db()
    arguments = releasing.release_arguments(qrel_set=qrels, version="1.1.0")
    factories.done(jobs.run_here(benchmark=benchmark, user=factories.user("olga"), **arguments))


def start_publication(slug: str, version: str) -> int:
    """The job that publishes the qrels of a benchmark's last set once more."""
    benchmark = Benchmark.objects.get(slug=slug)
    sets = benchmark.qrel_sets.order_by("pk").last()
    arguments = releasing.release_arguments(qrel_set=sets, version=version)
    return jobs.start(benchmark=benchmark, user=factories.user("olga"), **arguments).pk


def start_export(slug: str, format: str) -> int:
    """The job that makes an export of a benchmark's one release, which is made first."""
    benchmark = Benchmark.objects.get(slug=slug)
    olga = factories.user("olga")
    sets = benchmark.qrel_sets.order_by("pk").last()
    arguments = releasing.release_arguments(qrel_set=sets, version="1.0.0")
    factories.done(jobs.run_here(benchmark=benchmark, user=olga, **arguments))
    return exporting.start_export(user=olga, release=benchmark.releases.get(), format=format).pk


def sweep_in_days() -> None:
    """Sweep as it is done once nobody waits any more for what is staged."""
    sweeping.ABANDONED_AFTER_SECONDS = -60
    sweeping.sweep()


def broken_files() -> list[str]:
    """Stored files that are not what was recorded of them, all of the site's."""
    return [row["file"] for row in store_checking.verify_store().broken]


def run_queued() -> int:
    """Do all that is queued; returns how many jobs that were."""
    return jobs.run_queued()


def submissions(slug: str, username: str) -> dict[str, Any]:
    """The state of each submission by its name, what was told of it, what is left of the day."""
    result = Submission.objects.filter(phase__benchmark__slug=slug, submitter__username=username)
    phase = submitting.phase_open_in(Benchmark.objects.get(slug=slug))
    return {
        "states": {submission.name: submission.state for submission in result},
        "told": {
            submission.name: submission.job.error if submission.job else "" for submission in result
        },
        "n_left": submitting.n_left_today(phase=phase, user=factories.user(username)),
        "n_score_sets": ScoreSet.objects.filter(run__benchmark__slug=slug).count(),
        "n_runs": Run.objects.filter(benchmark__slug=slug).count(),
    }


def try_again(job: int, username: str) -> None:
    retry.retry(job=Job.objects.get(pk=job), user=factories.user(username))


def cancel(job: int, username: str) -> None:
    retry.cancel(job=Job.objects.get(pk=job), user=factories.user(username))


def scores(slug: str, name: str) -> list[dict[str, Any]]:
    """Every score set of every run of this name: counts, and the mean of each measure."""
    runs = Run.objects.filter(benchmark__slug=slug, name=name)
    return [
        {
            "run": run.sha256,
            "counts": [score_set.n_queries, score_set.n_missing, score_set.n_extra],
            "means": sorted(score_set.scores.values_list("measure", "mean", "n")),
        }
        for run in runs
        for score_set in ScoreSet.objects.filter(run=run)
    ]


# --- judging -------------------------------------------------------------------------------


def make_pool(slug: str, n_queries: int, n_documents: int) -> int:
    """An open pool of n_queries x n_documents, judged by Ada and Bo."""
    benchmark = Benchmark.objects.get(pk=make_benchmark(slug))
    for name in ("ada", "bo"):
        factories.member(benchmark, name, "annotator")
    queries = {
        f"judged-{q}": [f"old-{q}-{d}" for d in range(n_documents)] for q in range(n_queries)
    }
    pool = annotation_making.pool(benchmark, queries)
    annotation_making.begun(pool)
    return pool.pk


def begin(pool: int) -> None:
    """Let everybody who judges have read the guideline, and be at it."""
    annotation_making.begun(Pool.objects.get(pk=pool))


def judged(pool: int) -> dict[str, int]:
    """Events in the ledger of a pool: all, surplus ones, and the entries they are about."""
    events = Judgment.objects.filter(slot__pool=pool)
    return {
        "events": events.count(),
        "surplus": events.filter(is_surplus=True).count(),
        "entries": events.values("slot__entry").distinct().count(),
    }


def make_large_pool(
    slug: str, n_queries: int, n_documents: int, overlap: int, people: list[str]
) -> int:
    """An open pool of n_queries x n_documents texts of some length, in bulk; who judges it."""
    benchmark = Benchmark.objects.get(pk=make_benchmark(slug))
    for name in people:
        factories.member(benchmark, name, "annotator")
    return annotation_making.large_pool(
        benchmark, n_queries=n_queries, n_documents=n_documents, overlap=overlap
    ).pk


def start_campaign(slug: str, n_pairs: int, url: str, concurrency: int) -> dict[str, int]:
    """A judge at this address has begun with every document of a new pool, of ten a query.

    No two documents are alike: their titles are their ids.
    """
    from annotation.campaigns.services.drafting import draft_campaign
    from annotation.campaigns.services.running import start_campaign as start
    from tests.annotation import making_machines

    benchmark = Benchmark.objects.get(pk=make_benchmark(slug))
    pool = annotation_making.large_pool(benchmark, n_queries=n_pairs // 10, n_documents=10)
    contents = list(DocumentContent.objects.select_related("document"))
    for content in contents:
        content.title = content.document.docid
    DocumentContent.objects.bulk_update(contents, ["title"], batch_size=500)
    prices = {"price_in": 1.0, "price_out": 2.0}
    limits = {"max_attempts": 3, "concurrency": concurrency}
    judge = making_machines.judge(benchmark, base_url=url, **limits, **prices)
    olga = factories.user("olga")
    campaign = draft_campaign(
        pool=pool, judge=judge, user=olga, choice="all", concurrency=concurrency
    )
    return {"campaign": campaign.pk, "job": start(campaign=campaign, user=olga).pk}


def make_race(
    slug: str, n_queries: int, n_documents: int, overlap: int, n_people: int
) -> dict[str, Any]:
    """An open pool, and the sessions of as many annotators."""
    names = [f"{slug}-{number}" for number in range(n_people)]
    # Nobody signs in: to hash as many passwords would take longer than the race.
    people = User.objects.bulk_create(User(username=name, password="!") for name in names)
    benchmark = Benchmark.objects.get(pk=make_benchmark(slug))
    Membership.objects.bulk_create(
        Membership(benchmark=benchmark, user=person, role="annotator") for person in people
    )
    pool = annotation_making.large_pool(
        benchmark, n_queries=n_queries, n_documents=n_documents, overlap=overlap
    )
    return {"pool": pool.pk, "sessions": [_session_of(person) for person in people]}


def annotators_of(slug: str, n_people: int) -> dict[str, Any]:
    """The one pool of a benchmark, and the sessions of as many annotators who may begin."""
    benchmark = Benchmark.objects.get(slug=slug)
    names = [f"{slug}-{number}" for number in range(n_people)]
    people = User.objects.bulk_create(User(username=name, password="!") for name in names)
    Membership.objects.bulk_create(
        Membership(benchmark=benchmark, user=person, role="annotator") for person in people
    )
    pool = Pool.objects.get(benchmark=benchmark)
    annotation_making.begun(pool)
    return {"pool": pool.pk, "sessions": [_session_of(person) for person in people]}


def open_phase(slug: str) -> int:
    """The phase in which runs are submitted to a benchmark's one release."""
    return phases.open_submissions(release=Benchmark.objects.get(slug=slug).releases.get()).pk


def _session_of(person: User) -> str:
    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    return str(session.session_key)


# --- baselines -----------------------------------------------------------------------------


def make_words(slug: str, n_documents: int, n_queries: int) -> None:
    """A benchmark of made texts and queries; Olga owns it."""
    benchmark = Benchmark.objects.get(pk=make_benchmark(slug))
    olga = factories.user("olga")
    path = words_file(Path(settings.DATA_DIR) / "words.jsonl", n_documents=n_documents)
    upload = uploading.receive_path(benchmark=benchmark, owner=olga, path=path)
    arguments = importing.import_arguments(upload=upload, kind="corpus")
    factories.done(jobs.run_here(benchmark=benchmark, user=olga, **arguments))
    for qid, text in word_queries(n_queries).items():
        factories.query(benchmark, qid, text)


def start_baseline(slug: str, system: str, n_shards: int) -> int:
    benchmark = Benchmark.objects.get(slug=slug)
    (job,) = baselines.start_baselines(
        benchmark=benchmark, user=factories.user("olga"), systems=[system], n_shards=n_shards
    )
    return job.pk


def share_words(slug: str, n_documents: int, system: str, n_shards: int) -> dict[str, Any]:
    """The job of a shared retrieval of made texts, and the file of one process, in one go."""
    make_words(slug, n_documents, n_queries=20)
    alone = Path(settings.DATA_DIR) / "alone.trec"
    benchmark = Benchmark.objects.get(slug=slug)
    baselines.retrieve(benchmark=benchmark, system=system, k=100, path=alone, n_shards=1)
    return {"job": start_baseline(slug, system, n_shards), "alone": str(alone)}


def baseline_made(slug: str) -> dict[str, Any]:
    """The file of a benchmark's one run, what making it took, and how often each shard was done."""
    run = Run.objects.select_related("retrieval", "latencies").get(benchmark__slug=slug)
    return {
        "path": str(uploading.local(run.upload)),
        "memory": run.retrieval.memory_bytes,
        "indexing_seconds": run.retrieval.indexing_seconds,
        "p50": run.latencies.p50,
        "p95": run.latencies.p95,
        "attempts": sorted(ShardJob.objects.values_list("job__attempt", flat=True)),
        "steps": sorted(ShardJob.objects.values_list("step", "number")),
    }

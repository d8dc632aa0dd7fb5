"""The least valid object of each noun; what matters to a test stands in the test."""

import io
import itertools
import json
import zipfile
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from PIL import Image

from benchmarks_app.collections.services import uploading
from benchmarks_app.common.selectors.reading import corpus_reader
from benchmarks_app.logs.services import importing_logs
from benchmarks_app.models import (
    Benchmark,
    ContaminationCheck,
    Corpus,
    CorpusImage,
    CorpusVersion,
    FamilyLink,
    Grade,
    Membership,
    PendingLog,
    Qrel,
    QrelSet,
    Query,
    QueryFamily,
    QueryLog,
    Release,
    Run,
    Slice,
    SliceMember,
    Upload,
    User,
)
from benchmarks_app.notices.services.webhooks import add_webhook

SCALE = [
    (0, "not relevant", False),
    (1, "related", True),
    (2, "helpful", True),
    (3, "answers", True),
]
TINY = Path(__file__).resolve().parent.parent / "fixtures" / "tiny_benchmark"
_numbers = itertools.count(1)


def user(username: str = "", **values: Any) -> User:
    username = username or f"person{next(_numbers)}"
    existing = User.objects.filter(username=username).first()
    return existing or User.objects.create_user(
        username, f"{username}@example.org", "a long password", **values
    )


def benchmark(slug: str = "", **values: Any) -> Benchmark:
    """A benchmark with an ids-only corpus and grades 0-3."""
    slug = slug or f"bench{next(_numbers)}"
    corpus = values.pop("corpus", None) or Corpus.objects.create(
        name=f"{slug} corpus", owner=user("keeper"), kind=Corpus.Kind.IDS_ONLY
    )
    values.setdefault("name", slug)
    record = Benchmark.objects.create(slug=slug, corpus=corpus, **values)
    Grade.objects.bulk_create(
        Grade(benchmark=record, value=value, name=name, is_relevant=is_relevant)
        for value, name, is_relevant in SCALE
    )
    return record


# Django's check of addresses takes up to 320 characters, a column of them 254.
LONG_ADDRESS = f"ada@{'.'.join(['b' * 60] * 4)}.example.org"


def member(of: Benchmark, username: str, role: str) -> User:
    person = user(username)
    Membership.objects.create(benchmark=of, user=person, role=role)
    return person


def query(of: Benchmark, qid: str = "", text: str = "", **values: Any) -> Query:
    qid = qid or f"q{next(_numbers)}"
    family = values.pop("family", None) or QueryFamily.objects.create(benchmark=of)
    return Query.objects.create(
        benchmark=of, qid=qid, text=text or f"text of {qid}", family=family, **values
    )


def qrel_set(of: Benchmark, grades: dict[tuple[str, str], int], name: str = "") -> QrelSet:
    """A ready set from {(qid, docid): grade}; queries are made where they are missing."""
    record = QrelSet.objects.create(
        benchmark=of,
        name=name or f"set{next(_numbers)}",
        kind=QrelSet.Kind.IMPORTED,
        state=QrelSet.State.READY,
        n_qrels=len(grades),
    )
    keys = dict(of.queries.values_list("qid", "pk"))
    for qid in dict.fromkeys(qid for qid, _ in grades):
        if qid not in keys:
            keys[qid] = query(of, qid).pk
    Qrel.objects.bulk_create(
        Qrel(qrel_set=record, query_id=keys[qid], docid=docid, grade=grade)
        for (qid, docid), grade in grades.items()
    )
    return record


def linked(a: Query, b: Query, similarity: float = 0.9, reason: str = "text") -> FamilyLink:
    """A link between two queries, whichever was made first."""
    first, second = sorted((a, b), key=lambda query: query.pk)
    return FamilyLink.objects.create(
        benchmark=first.benchmark,
        query_a=first,
        query_b=second,
        similarity=similarity,
        reason=reason,
    )


def query_slice(of: Benchmark, name: str, *queries: Query, **values: Any) -> Slice:
    """A slice of these queries, put there by hand."""
    record = Slice.objects.create(benchmark=of, name=name, **{"kind": Slice.Kind.HAND, **values})
    SliceMember.objects.bulk_create(
        SliceMember(slice=record, query=query, source=SliceMember.Source.HUMAN) for query in queries
    )
    return record


def rule_slice(of: Benchmark, name: str, rule: dict[str, Any] | None = None) -> Slice:
    """A slice made by a rule; of all queries with up to 100 words where none is given."""
    from benchmarks_app.slices.services.slicing import Wanted, make_slice

    wanted = Wanted(name, rule or {"kind": "length", "to": 100})
    return make_slice(benchmark=of, wanted=wanted, actor=user("keeper"))


def query_log(of: Benchmark, name: str = "", **values: Any) -> QueryLog:
    """A log without its file."""
    counts = {"n_rows": 1, "n_distinct": 1, "n_traffic": 1, **values}
    return QueryLog.objects.create(
        benchmark=of, name=name or f"log{next(_numbers)}", created_by=user("keeper"), **counts
    )


LOG = "query,count,date\n" + "".join(f"asked {n},{n},2024-05-{n:02}\n" for n in range(1, 21))


def pending_log(of: Benchmark, content: str = LOG, name: str = "searches.csv") -> PendingLog:
    """A log's file that waits for its columns to be named."""
    file = SimpleUploadedFile(name, content.encode())
    return importing_logs.receive_log(benchmark=of, user=user("keeper"), file=file)


def read_log(of: Benchmark, content: str = LOG, name: str = "", **options: Any) -> QueryLog:
    """A log that was read; `options` are those of a reading."""
    from benchmarks_app.jobs.services import jobs
    from benchmarks_app.logs.services.importing_logs import Reading, log_arguments

    reading = Reading(name=name or f"log{next(_numbers)}", **options)
    arguments = log_arguments(pending=pending_log(of, content), reading=reading)
    done(jobs.run_here(benchmark=of, user=user("keeper"), **arguments))
    return QueryLog.objects.get(benchmark=of, name=reading.name)


def contamination_check(of: Benchmark, name: str = "", **values: Any) -> ContaminationCheck:
    """A check against a file of one query, which found nothing."""
    counts = {"n_outside": 1, "n_exact": 0, "n_near": 0, "n_possible": 0, **values}
    return ContaminationCheck.objects.create(
        benchmark=of,
        name=name or f"check{next(_numbers)}",
        kind=ContaminationCheck.Kind.QUERIES,
        created_by=user("keeper"),
        **counts,
    )


def waiting_upload(of: Benchmark, name: str, content: bytes, owner: User | None = None) -> Upload:
    """A file put down on the import page."""
    file = SimpleUploadedFile(name, content)
    put = uploading.put_down(benchmark=of, owner=owner or user("keeper"), files=[file])
    return next(put)


def run(of: Benchmark, lines: str, name: str = "", owner: User | None = None, **values: Any) -> Run:
    """A run stored as an import would store it; `lines` is a TREC run."""
    from django.conf import settings

    from benchmarks_app.collections.services import runs

    name = name or f"run{next(_numbers)}"
    folder = settings.STAGING_DIR / f"factory-{next(_numbers)}"
    staged = runs.stage_run(
        lines=(line.encode() + b"\n" for line in lines.strip().splitlines()),
        file=name,
        folder=folder,
    )
    return runs.create_run(
        staged=staged,
        benchmark=of,
        name=name,
        owner=owner or user("keeper"),
        sha256=sha256(lines.encode()).hexdigest(),
        **values,
    )


def now() -> Any:
    return timezone.now()


# --- whole things, made by the services that make them for people -------------------------------


def done(job: Any) -> Any:
    """The job, or its error where it has failed."""
    if job.state != job.State.DONE:
        raise AssertionError([job.error, *job.problems])
    return job


def texts_benchmark(slug: str = "", **values: Any) -> Benchmark:
    """A benchmark whose corpus holds texts, and is empty so far."""
    slug = slug or f"bench{next(_numbers)}"
    corpus = Corpus.objects.create(name=f"{slug} texts", owner=user("keeper"))
    return benchmark(slug, corpus=corpus, **values)


def imported(into: Benchmark, content: bytes, name: str, kind: str = "auto", **options: Any) -> Any:
    """The finished job of an import of these bytes."""
    from django.core.files.base import ContentFile

    from benchmarks_app.collections.services import uploading
    from benchmarks_app.importing.services import importing
    from benchmarks_app.jobs.services import jobs

    keeper = user("keeper")
    file = ContentFile(content, name=name)
    upload = uploading.receive_upload(benchmark=into, owner=keeper, file=file)
    arguments = importing.import_arguments(upload=upload, kind=kind, **options)
    return jobs.run_here(benchmark=into, user=keeper, **arguments)


def tiny_zip() -> bytes:
    """`fixtures/tiny_benchmark` as the zip somebody would upload."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted([*TINY.rglob("*.tsv"), *TINY.rglob("*.jsonl")]):
            archive.write(path, Path("tiny") / path.relative_to(TINY))
    return buffer.getvalue()


def snapshot_row(of: Benchmark, number: int = 1, **values: Any) -> CorpusVersion:
    """A proposed version of the corpus without its files, for what does not read them."""
    fields = {"state": CorpusVersion.State.PROPOSED, "n_documents": 1, **values}
    sha256 = f"{number:064}"
    return CorpusVersion.objects.create(
        corpus=of.corpus, number=number, parquet=sha256, index=sha256, sha256=sha256, **fields
    )


def snapshot(of: Benchmark) -> CorpusVersion:
    """A proposed version: one document of the corpus with another text, the others gone."""
    (first,) = corpus_reader(of.current_corpus_version).at([0])
    row = json.dumps({"_id": first.docid, "title": "", "text": "another text"})
    done(imported(of, row.encode() + b"\n", "next.jsonl"))
    return of.corpus.versions.get(state=CorpusVersion.State.PROPOSED)


def tiny_benchmark(slug: str = "tiny", **values: Any) -> Benchmark:
    """`fixtures/tiny_benchmark`, imported; its grades are the set of qrels `tiny`."""
    bench = texts_benchmark(slug, **values)
    done(imported(bench, tiny_zip(), "tiny.zip"))
    return bench


def release(of: QrelSet, version: str = "1.0.0", by: User | None = None, **wanted: Any) -> Release:
    """A published release with all that follows from it; started jobs stay queued."""
    from django.test import TestCase

    from benchmarks_app.jobs.services import jobs
    from benchmarks_app.releases.services.releasing import release_arguments

    arguments = release_arguments(qrel_set=of, version=version, **wanted)
    with TestCase.captureOnCommitCallbacks(execute=True):
        job = jobs.run_here(benchmark=of.benchmark, user=by or user("keeper"), **arguments)
    done(job)
    major, minor, patch = (int(part) for part in version.split("."))
    return of.benchmark.releases.get(major=major, minor=minor, patch=patch)


def corpus_image(of: Benchmark) -> CorpusImage:
    """A red picture that documents of the benchmark may show."""
    out = io.BytesIO()
    Image.new("RGB", (8, 6), "red").save(out, "PNG")
    digest = sha256(out.getvalue()).hexdigest()
    stored = default_storage.save(
        f"images/{of.corpus_id}/{digest}.png", ContentFile(out.getvalue())
    )
    return CorpusImage.objects.create(
        corpus=of.corpus,
        sha256=digest,
        stored=stored,
        thumbnail=stored,
        media_type="image/png",
        width=8,
        height=6,
        size=len(out.getvalue()),
    )


def live_system(of: Benchmark, owner: User | None = None, **values: Any) -> Any:
    """A live system that nobody has asked."""
    from benchwright.live.presets import PRESETS
    from scoring.live.services.systems import make_live_system

    fields = {
        "name": f"system{next(_numbers)}",
        "url": "https://search.example.org/docs/_search",
        **PRESETS["opensearch"].fields(),
        **values,
    }
    return make_live_system(benchmark=of, user=owner or user("keeper"), **fields)


def live_run(system: Any, lines: str = "q1 Q0 d1 1 1.0 s", name: str = "") -> Run:
    """A run of a live system's answers, as its job makes it."""
    from scoring.models import LiveRun

    answered = timed(run(system.benchmark, lines, name=name, kind=Run.Kind.LIVE))
    answered.latencies.source = "live"
    answered.latencies.save()
    LiveRun.objects.create(system=system, run=answered, n_asked=2, n_empty=1, asked_as={})
    return answered


def depth_pool(
    of: Benchmark, runs: list[Run], name: str = "", depth: int = 3, overlap: int = 1
) -> Any:
    """A pool as its page builds it."""
    from annotation.models import Pool
    from annotation.pools.services.pooling import pool_arguments
    from benchmarks_app.jobs.services import jobs

    name = name or f"pool{next(_numbers)}"
    asked = {"runs": runs, "depth": depth, "overlap": overlap, "seed": 7}
    arguments = pool_arguments(benchmark=of, name=name, **asked)
    job = done(jobs.run_here(benchmark=of, user=user("keeper"), **arguments))
    return Pool.objects.get(pk=job.result["pool"])


def simulation(qrel_set: QrelSet, runs: list[Run], depth: int = 20) -> Any:
    """The finished job of a comparison of orders."""
    from annotation.pools.services.simulating import simulation_arguments
    from benchmarks_app.jobs.services import jobs

    arguments = simulation_arguments(
        benchmark=qrel_set.benchmark, runs=runs, qrel_set=qrel_set, depth=depth
    )
    return done(jobs.run_here(benchmark=qrel_set.benchmark, user=user("keeper"), **arguments))


def candidate_list(of: Benchmark, name: str) -> Any:
    """A list of one document that is worth judging."""
    from benchmarks_app.collections.services.candidates import make_candidate_list

    asked = of.queries.first() or query(of, "q1")
    rows = [(asked.qid, "d1", 1)]
    return make_candidate_list(
        benchmark=of, rows=rows, name=name, origin="a test", user=user("keeper")
    )


def submission(phase: Any, lines: str, by: User, name: str = "") -> Any:
    """A submission that was received and scored."""
    from django.core.files.base import ContentFile

    from benchmarks_app.collections.services import uploading
    from benchmarks_app.jobs.services import jobs
    from scoring.submissions.services import submitting

    name = name or f"submission{next(_numbers)}"
    file = ContentFile(lines.strip().encode() + b"\n", name=f"{name}.run")
    upload = uploading.receive_upload(benchmark=phase.benchmark, owner=by, file=file)
    submission = submitting.accept_submission(phase=phase, user=by, upload=upload, name=name)
    jobs.run_queued()
    submission.refresh_from_db()
    return submission


def timed(run: Run) -> Run:
    """A run whose queries were timed."""
    from scoring.scores.services.latencies import keep_latencies

    with TemporaryDirectory() as folder:
        times = {"q1": 1.5, "q2": 2.5}
        keep_latencies(run=run, milliseconds=times, source="here", folder=Path(folder))
    return run


def reported(of: Benchmark, by: User, system: str = "") -> Any:
    """A value that somebody reports of a system."""
    from scoring.models import ReportedScore

    return ReportedScore.objects.create(
        benchmark=of,
        system=system or f"system{next(_numbers)}",
        measure="nDCG@10",
        value=0.5,
        split="test",
        kind=ReportedScore.Kind.ENTERED,
        source="A paper, table 2",
        reported_by=by,
    )


def embedding_pair(of: Benchmark, by: User, name: str = "", **values: Any) -> Any:
    """A pair of embeddings that nobody has measured, without files."""
    from scoring.models import EmbeddingPair

    called = name or f"pair{next(_numbers)}"
    return EmbeddingPair.objects.create(benchmark=of, owner=by, name=called, **values)


def measured_pair(of: Benchmark, by: User, name: str = "", **values: Any) -> Any:
    """A measured pair of embeddings: 12 rows, of which ten find their partners; ids are q0 to q11.

    q0 and q1 are in the slice `first`.
    """
    import numpy as np

    from benchmarks_app.jobs.services import jobs
    from scoring.contrastive.services.contrastive import submit_pair

    z1 = np.eye(12, dtype=np.float32)
    z2 = z1[[1, 0, *range(2, 12)]]
    ids = "".join(f"q{row}\n" for row in range(12)).encode()
    fields = {"ids": ids, "slices": b"q0\tfirst\nq1\tfirst\n"}
    for what, matrix in (("z1", z1), ("z2", z2)):
        out = io.BytesIO()
        np.save(out, matrix)
        fields[what] = out.getvalue()
    files = {what: SimpleUploadedFile(f"{what}.npy", content) for what, content in fields.items()}
    called = name or f"pair{next(_numbers)}"
    pair = submit_pair(benchmark=of, user=by, uploads=files, name=called, **values)
    jobs.execute(pair.job_id, has_heartbeat=False)
    pair.refresh_from_db()
    return pair


def delivery(of: Benchmark, owner: User) -> Any:
    """A notice that a webhook of the owner was told."""
    issued = add_webhook(
        benchmark=of, user=owner, url="https://ci.example.org/hook", events=["job.failed"]
    )
    notice = of.notices.create(event="job.failed", about={"job": 1}, path="/jobs/1/")
    return notice.deliveries.create(
        webhook=issued.webhook, state="delivered", n_attempts=1, status=200, answer="ok"
    )


def stored_below(folder: str) -> list[str]:
    """Every stored file below a folder."""
    from benchmarks_app.store import file_store

    folders, names = file_store().listed(folder)
    below = [name for each in folders for name in stored_below(f"{folder}/{each}")]
    return [*(f"{folder}/{name}" for name in names), *below]

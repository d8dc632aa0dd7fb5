"""From files to a board and an export, by the client that openapi-python-client generates.

`main_path.py SITE TOKEN SLUG FOLDER`: FOLDER has corpus.jsonl, queries.jsonl and two runs. What
came of it is written to standard output, as JSON.
"""

import json
import sys
import time
from io import BytesIO
from pathlib import Path
from uuid import uuid4

from benchwright_api import AuthenticatedClient
from benchwright_api.api.benchmarks import benchmark_list_post
from benchwright_api.api.imports import upload_import_post, upload_list_post
from benchwright_api.api.jobs import job_detail_get
from benchwright_api.api.judging import (
    judging_exchange,
    judging_start,
    judging_start_read,
    judging_stop,
)
from benchwright_api.api.leaderboard import leaderboard_retrieve
from benchwright_api.api.pools import pool_list_get, pool_list_post
from benchwright_api.api.qrels import qrels_download_get, qrels_list_get, qrels_list_post
from benchwright_api.api.releases import (
    export_detail_get,
    release_draft_get,
    release_draft_publish_post,
    release_list_post,
)
from benchwright_api.api.submissions import submission_detail_get, submission_list_post
from benchwright_api.models import (
    AcceptedRequest,
    DoEnum,
    DraftRequest,
    EventRequest,
    ExchangeRequest,
    ImportStartRequest,
    Job,
    JobState,
    NewBenchmarkRequest,
    NewPoolRequest,
    NewQrelsRequest,
    ProblemDetails,
    ReadRequest,
    SubmissionCreateRequest,
    UploadCreateRequest,
)
from benchwright_api.types import File

PAUSE = 0.2
RUNS = ("words.run", "titles.run")


def main(site: str, token: str, slug: str, folder: Path) -> None:
    client = AuthenticatedClient(base_url=site, token=token, raise_on_unexpected_status=True)
    with client:
        body = NewBenchmarkRequest(name=slug, slug=slug, scale="0 = No\n1 = Partly *\n2 = Yes *")
        expected(benchmark_list_post.sync(client=client, body=body))
        for name in ("corpus.jsonl", "queries.jsonl", *RUNS):
            import_file(client, slug, folder / name)
        n_graded = judge(client, slug, pool_of(client, slug))
        qrels = publish_qrels(client, slug)
        version = publish_release(client, slug)
        scores = submit(client, slug, folder / RUNS[0])
        board = whole_board(client, slug, version)
        export = expected(export_detail_get.sync(slug, version, "beir", client=client))
    fields = {"n_graded": n_graded, "version": version, "qrels": qrels.splitlines()}
    fields |= {"scores": scores, "board": board, "n_bytes": len(export.payload.read())}
    json.dump(fields, sys.stdout)


def expected(answer):
    """An answer that is no problem."""
    if answer is None or isinstance(answer, ProblemDetails):
        sys.exit(f"refused: {answer}")
    return answer


def finished(client: AuthenticatedClient, job: Job) -> Job:
    while job.state in (JobState.QUEUED, JobState.RUNNING):
        time.sleep(PAUSE)
        job = expected(job_detail_get.sync(job.id, client=client))
    if job.state != JobState.DONE:
        sys.exit(f"{job.title}: {job.state}: {job.error}")
    return job


def file_of(path: Path) -> File:
    return File(payload=BytesIO(path.read_bytes()), file_name=path.name)


def import_file(client: AuthenticatedClient, slug: str, path: Path) -> None:
    body = UploadCreateRequest(file=file_of(path))
    upload = expected(upload_list_post.sync(slug, client=client, body=body))
    asked = ImportStartRequest(name=path.stem)
    finished(client, expected(upload_import_post.sync(slug, upload.id, client=client, body=asked)))


def pool_of(client: AuthenticatedClient, slug: str) -> int:
    names = [Path(run).stem for run in RUNS]
    body = NewPoolRequest(name="first", runs=names, depth=3)
    finished(client, expected(pool_list_post.sync(slug, client=client, body=body)))
    (pool,) = expected(pool_list_get.sync(slug, client=client)).results
    return pool.id


def judge(client: AuthenticatedClient, slug: str, pool: int) -> int:
    """Claim documents and grade them, until none is left; how many there were."""
    start = expected(judging_start.sync(slug, pool, client=client))
    read = ReadRequest(version=start.version)
    expected(judging_start_read.sync(slug, pool, client=client, body=read))
    n_graded, events = 0, []
    while True:
        body = ExchangeRequest(want=6, have=[], say=events)
        answer = expected(judging_exchange.sync(slug, pool, client=client, body=body))
        if refused := [outcome for outcome in answer.said if outcome.state != "saved"]:
            sys.exit(f"refused: {refused}")
        n_graded += len(answer.said)
        if not answer.items:
            expected(judging_stop.sync(slug, pool, client=client))
            return n_graded
        events = [
            EventRequest(client_id=uuid4(), do=DoEnum.GRADE, token=item.token, grade=number % 3)
            for number, item in enumerate(answer.items, start=1)
        ]


def publish_qrels(client: AuthenticatedClient, slug: str) -> str:
    body = NewQrelsRequest(name="own labels")
    finished(client, expected(qrels_list_post.sync(slug, client=client, body=body)))
    (result,) = expected(qrels_list_get.sync(slug, client=client)).results
    return expected(qrels_download_get.sync(slug, result.id, client=client))


def publish_release(client: AuthenticatedClient, slug: str) -> str:
    body = DraftRequest(qrels="own labels", passes_on_texts=True)
    draft = expected(release_list_post.sync(slug, client=client, body=body))
    while not draft.manifest.to_dict():  # not looked over so far
        time.sleep(PAUSE)
        draft = expected(release_draft_get.sync(slug, draft.id, client=client))
    read = AcceptedRequest(accepted=[finding.code for finding in draft.findings])
    job = release_draft_publish_post.sync(slug, draft.id, client=client, body=read)
    finished(client, expected(job))
    return draft.version


def submit(client: AuthenticatedClient, slug: str, run: Path) -> dict[str, float]:
    body = SubmissionCreateRequest(file=file_of(run), name="submitted")
    sent = expected(submission_list_post.sync(slug, client=client, body=body))
    while sent.state not in ("scored", "invalid", "failed"):
        time.sleep(PAUSE)
        sent = expected(submission_detail_get.sync(slug, sent.id, client=client))
    return sent.scores.to_dict()


def whole_board(client: AuthenticatedClient, slug: str, version: str) -> dict[str, float]:
    """The means of a board on which no run lacks its score."""
    while True:
        board = expected(leaderboard_retrieve.sync(slug, version, client=client))
        if not board.n_waiting:
            return {row["run"]: row[board.column] for row in board.rows}
        time.sleep(PAUSE)


if __name__ == "__main__":
    main(*sys.argv[1:4], Path(sys.argv[4]))

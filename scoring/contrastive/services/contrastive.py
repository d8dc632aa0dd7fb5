"""Pairs of embeddings: taken in, measured as a job, deleted with everything they brought."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from benchmarks_app import files
from benchmarks_app.common.services import audit, reading_apart
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.jobs.services.retry import JobFinishedError, cancel
from benchmarks_app.models import Benchmark, Team, User
from benchmarks_app.permissions import Action, may
from benchmarks_app.slices.selectors import slices_of
from benchwright.files.encodings import as_shown
from benchwright.files.sources import sha256_of
from benchwright.ids import storable
from scoring.contrastive.services.errors import (
    NotDeletableError,
    PairIdsNeededError,
    PairNameTakenError,
    TooManySlicesError,
)
from scoring.contrastive.services.files import MATRICES, keep_files, limits, remove_files
from scoring.models import EmbeddingPair
from scoring.scores.services.errors import NotInTeamError

JOB_KIND = "measure-pair"
MOST_SLICES = 200
MOST_TOLD = 3

Members = dict[str, list[str]]


# --- taking in -----------------------------------------------------------------------------


def submit_pair(
    *,
    benchmark: Benchmark,
    user: User,
    uploads: Mapping[str, UploadedFile],
    name: str,
    team: Team | None = None,
    **choices: Any,
) -> EmbeddingPair:
    """Store two matrices of embeddings, and start the job that measures them.

    `uploads` are the files, called z1, z2, ids and slices; the last two may be missing. `choices`
    are the fields of `EmbeddingPair` that say how it is measured and who sees it.

    Raises
    ------
    NotInTeamError
        If it is for a team the person is not in.
    PairNameTakenError
        If another pair of the benchmark has the name.
    PairFileTooLargeError, EmptyPairFileError
        If a file cannot be taken.
    """
    _refuse(benchmark, user, name, team)
    stored_files = keep_files(uploads)
    try:
        with transaction.atomic():
            # Once more, in the transaction that writes it down.
            Benchmark.objects.select_for_update().get(pk=benchmark.pk)
            _refuse(benchmark, user, name, team)
            return _create(benchmark, user, name=name, team=team, files=stored_files, **choices)
    except BaseException:
        remove_files(facts["stored"] for facts in stored_files.values())
        raise


def _refuse(benchmark: Benchmark, user: User, name: str, team: Team | None) -> None:
    if team is not None and not team.members.filter(pk=user.pk).exists():
        raise NotInTeamError(team=team.name)
    if EmbeddingPair.objects.filter(benchmark=benchmark, name=name).exists():
        raise PairNameTakenError(name=name)


def _create(benchmark: Benchmark, user: User, **values: Any) -> EmbeddingPair:
    pair = EmbeddingPair.objects.create(benchmark=benchmark, owner=user, **values)
    pair.job = jobs.start(
        kind=JOB_KIND,
        title=f"Measure {pair.name}",
        benchmark=benchmark,
        user=user,
        parameters={"pair": pair.pk},
    )
    pair.save(update_fields=["job"])
    digests = {what: facts["sha256"] for what, facts in pair.files.items()}
    audit.record(
        actor=user, action="upload-embeddings", benchmark=benchmark, target=pair.name, **digests
    )
    return pair


# --- deleting ------------------------------------------------------------------------------


def may_delete(user: User | AnonymousUser, pair: EmbeddingPair) -> bool:
    """Its owner, as long as they may send in something, and who keeps the benchmark."""
    if may(user, Action.EDIT, pair.benchmark):
        return True
    return pair.owner_id == user.pk and may(user, Action.SUBMIT, pair.benchmark)


@transaction.atomic
def delete_pair(*, pair: EmbeddingPair, user: User) -> None:
    """Delete a pair, its files and its numbers; a job that measures it is cancelled.

    Raises
    ------
    NotDeletableError
        If it is of somebody else, and the benchmark as well.
    """
    if not may_delete(user, pair):
        raise NotDeletableError(name=pair.name)
    # The job before the pair, as the job itself takes them when it writes what it found.
    if pair.job is not None:
        with suppress(JobFinishedError):
            cancel(job=pair.job, user=user)
    locked = EmbeddingPair.objects.select_for_update(of=("self",)).get(pk=pair.pk)
    stored = [facts["stored"] for facts in locked.files.values()]
    stored += [locked.places] if locked.places else []
    locked.delete()
    audit.record(actor=user, action="delete-embeddings", benchmark=pair.benchmark, target=pair.name)
    transaction.on_commit(lambda: remove_files(stored))


# --- measuring -----------------------------------------------------------------------------


def measure_pair(job: RunningJob) -> None:
    """The handler: every number of a pair, in one pass over its tiles, and one commit."""
    from benchwright.contrastive.report import report_as_json

    pair = EmbeddingPair.objects.filter(pk=job.parameters["pair"]).first()
    if pair is None:  # deleted while it waited
        return
    report, notes = _measured(job, pair)
    places = _published(job, report)
    with job.commit() as result:
        is_there = EmbeddingPair.objects.filter(pk=pair.pk).update(
            n_pairs=report.n,
            n_features=report.n_features,
            report=storable(
                {**report_as_json(report), "has_ids": report.ids is not None, "notes": notes}
            ),
            places=places,
            measured_at=timezone.now(),
        )
        result["notes"] = notes
        if is_there:
            result["url"] = pair.get_absolute_url()
    if not is_there:
        remove_files([places])


def _measured(job: RunningJob, pair: EmbeddingPair) -> tuple[Any, list[str]]:
    from benchwright.contrastive.files import ids_of_pair
    from benchwright.contrastive.report import contrastive_report

    job.progress(0, 0, "reading the files")
    first, second = (_matrix(pair, what, job.folder) for what in MATRICES)
    ids = ids_of_pair(first, second, _given_ids(pair))
    slices, notes = _slices(pair, ids)
    report = contrastive_report(
        first.matrix,
        second.matrix,
        normalize=pair.normalize,
        ties=pair.ties,
        ids=ids,
        slices=slices,
        progress=lambda done, of: job.progress(done, of, "comparing every row with every other"),
    )
    return report, [*notes, *_unknown(report.unknown)]


def _matrix(pair: EmbeddingPair, what: str, folder: Path) -> Any:
    from benchwright.contrastive.files import StoredMatrix, sent_matrix

    name = pair.files[what]["name"]
    stream = reading_apart.stream(
        sent_matrix, _path(pair, what), folder, what, name, limits(), file=name
    )
    ids, (where, has_ids) = reading_apart.items_and_result(stream)
    return StoredMatrix(name, where.opened(), tuple(ids) if has_ids else None)


def _path(pair: EmbeddingPair, what: str) -> Path:
    return files.local_path(pair.files[what]["stored"], pair.files[what]["sha256"])


def _given_ids(pair: EmbeddingPair) -> tuple[str, ...] | None:
    from benchwright.contrastive.files import sent_ids

    if "ids" not in pair.files:
        return None
    name = pair.files["ids"]["name"]
    return tuple(reading_apart.stream(sent_ids, _path(pair, "ids"), name, file=name))


def _slices(pair: EmbeddingPair, ids: tuple[str, ...] | None) -> tuple[Members, list[str]]:
    """The slices that take the pairs apart, and what to know of them."""
    if "slices" not in pair.files and not pair.takes_own_slices:
        return {}, []
    if ids is None:
        raise PairIdsNeededError
    if "slices" in pair.files:
        return _slices_of_file(pair), []
    graded = set(ids)
    slices = {name: graded.intersection(qids) for name, qids in slices_of(pair.benchmark).items()}
    members = {name: sorted(some) for name, some in slices.items() if some}
    if members:
        return members, []
    return {}, ["No id is a query of one of the benchmark's slices, so there are none to show."]


def _slices_of_file(pair: EmbeddingPair) -> Members:
    from benchwright.formats.side_tables import slices_at

    file = pair.files["slices"]["name"]
    slices = reading_apart.call(slices_at, _path(pair, "slices"), file=file, is_job=True)
    if len(slices) > MOST_SLICES:
        raise TooManySlicesError(file=file, n=len(slices), limit=MOST_SLICES)
    return {name: [as_shown(member) for member in members] for name, members in slices.items()}


def _unknown(ids: tuple[str, ...]) -> list[str]:
    if not ids:
        return []
    some = ", ".join(name[:60] for name in ids[:MOST_TOLD])
    more = " …" if len(ids) > MOST_TOLD else ""
    n = f"{len(ids):,} id{'' if len(ids) == 1 else 's'}"
    return [f"The slices name {n} that no pair has: {some}{more}"]


def _published(job: RunningJob, report: Any) -> str:
    """Where the places of every pair are stored."""
    import polars as pl

    both = report.places
    table = pl.DataFrame(
        {
            "id": [report.id_of(row) for row in range(report.n)],
            "forward_above": both.forward.above,
            "forward_tied": both.forward.tied,
            "backward_above": both.backward.above,
            "backward_tied": both.backward.tied,
        }
    )
    path = job.folder / "places.parquet"
    table.write_parquet(path)
    folder = f"contrastive/job-{job.row.pk}-{job.row.attempt}"
    return files.publish(path, f"{folder}/{sha256_of(path)}.parquet")

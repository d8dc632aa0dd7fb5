"""Case sets: taken in whole from JSON lines and images, or not at all; and deleted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from benchmarks_app import files
from benchmarks_app.collections.services import uploading
from benchmarks_app.common.selectors.images import image_limits
from benchmarks_app.common.services import audit, reading_apart
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.judges.services.keys import require_packages
from benchmarks_app.models import Benchmark, Job, Upload, User
from benchwright.contextual.cases import CaseFile, CaseLimits, case_as_json
from benchwright.contextual.from_outside import cases_apart
from benchwright.contextual.types import Case
from benchwright.errors import FileProblemsError, Problem
from benchwright.ids import LONGEST_NAME, storable
from benchwright.judges.messages import Image
from benchwright.texts.counting import counted
from scoring.contextual.services.errors import CaseSetNameError, EvaluationActiveError
from scoring.contextual.services.images import images_of, store_images
from scoring.models import CaseSet, ContextualCase, ContextualEvaluation

JOB_KIND = "import-cases"
ROWS_PER_BATCH = 200
MOST_PROBLEMS = 100


# --- starting --------------------------------------------------------------------------------


@transaction.atomic
def start_import(
    *, benchmark: Benchmark, user: User, name: str, cases: Upload, images: Upload | None = None
) -> Job:
    """Start a job that reads a file of cases, with a zip of the images they name.

    Raises
    ------
    CaseSetNameError
        If the name is in use.
    JudgeExtraMissingError
        If images come and nothing here can look into them.
    """
    arguments = import_arguments(benchmark=benchmark, name=name, cases=cases, images=images)
    return jobs.start(benchmark=benchmark, user=user, **arguments)


def import_arguments(
    *, benchmark: Benchmark, name: str, cases: Upload, images: Upload | None
) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to import a case set."""
    name = name.strip() or name_of(cases.name)
    if CaseSet.objects.filter(benchmark=benchmark, name=name).exists():
        raise CaseSetNameError(name=name)
    if images:
        require_packages()
    parameters = {"name": name, "cases": cases.pk, "images": images.pk if images else None}
    return {"kind": JOB_KIND, "title": f"Import the cases '{name}'", "parameters": parameters}


def name_of(file: str) -> str:
    """What a set is called after its file."""
    stem = file
    for ending in (".gz", ".zst", ".jsonl", ".ndjson", ".json"):
        stem = stem.removesuffix(ending)
    return (stem or file)[:LONGEST_NAME]


# --- reading ---------------------------------------------------------------------------------


def import_cases(job: RunningJob) -> None:
    """The handler: reads everything, says all that is wrong, and makes the set in batches."""
    parameters = job.parameters
    upload = Upload.objects.get(pk=parameters["cases"])
    job.progress(0, 0, "looking into the images")
    images, problems = images_of(job, parameters["images"])
    case_file = _cases(upload, images, problems, job.folder)
    case_set = _staged(job, upload, case_file, images)
    with job.commit() as result:
        CaseSet.objects.filter(pk=case_set.pk).update(is_ready=True, staged_by=None)
        uploading.mark_imported(upload, f"case set '{case_set.name}'")
        audit.record(
            actor=job.row.created_by,
            action="import-cases",
            benchmark=job.benchmark,
            target=case_set.name,
            n=case_set.n_cases,
        )
        result["made"] = [f"case set '{case_set.name}' of {counted(case_set.n_cases, 'case')}"]
        result["notes"] = case_set.notes
        result["url"] = case_set.get_absolute_url()


def _cases(
    upload: Upload, images: Mapping[str, Image], problems: list[Problem], folder: Path
) -> CaseFile:
    """The cases; raises what is wrong with them together with what is wrong with images."""
    limits = CaseLimits(max_cases=settings.CASES_MAX, images=image_limits())
    path = uploading.local(upload)
    stream = reading_apart.stream(
        cases_apart, path, upload.name, dict(images), limits, folder, file=upload.name
    )
    try:
        cases, warnings = reading_apart.items_and_result(stream)
    except FileProblemsError as error:
        problems = [*error.problems, *problems]
    if problems:
        is_cut = len(problems) > MOST_PROBLEMS
        raise FileProblemsError(problems=problems[:MOST_PROBLEMS], is_cut=is_cut)
    return CaseFile(tuple(cases), tuple(warnings))


# --- writing ---------------------------------------------------------------------------------


def _staged(
    job: RunningJob, upload: Upload, case_file: CaseFile, images: Mapping[str, Image]
) -> CaseSet:
    """The set with all its rows, which nobody sees yet."""
    cases = case_file.cases
    images_shown = _shown_images(cases)
    unused = sorted({image.name for image in images.values()} - set(images_shown))
    case_set = CaseSet(
        benchmark=job.benchmark,
        name=job.parameters["name"],
        file_name=upload.name,
        sha256=upload.sha256,
        n_cases=len(cases),
        n_nodes=sum(len(case.retrieval_context) for case in cases),
        n_images=len(images_shown),
        slices=_counted(cases),
        notes=_notes(case_file, unused),
        created_by=job.row.created_by,
        staged_by=job.row.pk,
    )
    create_set(job, case_set)
    store_images(job, case_set, images_shown.values())
    for first in range(0, len(cases), ROWS_PER_BATCH):
        batch = cases[first : first + ROWS_PER_BATCH]
        with job.fenced():
            ContextualCase.objects.bulk_create(
                _row(case_set, number, case) for number, case in enumerate(batch, start=first + 1)
            )
        job.progress(first + len(batch), len(cases), "writing the cases")
    return case_set


def create_set(job: RunningJob, case_set: CaseSet) -> None:
    """Write a staged set.

    Raises
    ------
    CaseSetNameError
        If another of its name came meanwhile.
    """
    try:
        with job.fenced(), transaction.atomic():
            case_set.save()
    except IntegrityError as error:
        raise CaseSetNameError(name=case_set.name) from error


def _parts(case: Case) -> Iterator[Any]:
    outputs = [case.actual_output] if case.actual_output else []
    for content in (case.input, case.expected_output, *outputs, *case.retrieval_context):
        yield from content


def _shown_images(cases: Iterable[Case]) -> dict[str, Image]:
    """Images by name that cases show from here; those at an address elsewhere are not stored."""
    return {
        part.name: part
        for case in cases
        for part in _parts(case)
        if isinstance(part, Image) and part.data
    }


def _counted(cases: Iterable[Case]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for case in cases:
        for name in storable(case.slices):
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def _notes(case_file: CaseFile, unused: Sequence[str]) -> list[str]:
    notes = [str(problem) for problem in case_file.warnings]
    if unused:
        more = ", …" if len(unused) > 5 else ""
        notes.append(f"No case shows {len(unused)} of the images: {', '.join(unused[:5])}{more}.")
    return notes


def _row(case_set: CaseSet, number: int, case: Case) -> ContextualCase:
    written = case_as_json(case)
    parts = list(_parts(case))
    return ContextualCase(
        case_set=case_set,
        number=number,
        case_id=storable(case.id) or f"case-{number}",
        content=storable(written),
        slices=storable(case.slices),
        n_nodes=len(case.retrieval_context),
        n_bytes=sum(len(part.encode()) for part in parts if isinstance(part, str)),
        n_images=sum(isinstance(part, Image) for part in parts),
    )


# --- taking away -----------------------------------------------------------------------------


def remove_staged_set(job_id: int) -> bool:
    """Delete a batch of what an unfinished import has staged; true if there may be more."""
    case_set = CaseSet.objects.filter(staged_by=job_id, is_ready=False).first()
    if case_set is None:
        return False
    batch = list(case_set.cases.values_list("pk", flat=True)[:ROWS_PER_BATCH])
    if batch:
        ContextualCase.objects.filter(pk__in=batch).delete()
        return True
    _delete_with_files(case_set)
    return False


@transaction.atomic
def delete_case_set(*, case_set: CaseSet, user: User) -> None:
    """Delete a set with its images and all evaluations of it.

    Raises
    ------
    EvaluationActiveError
        If one of them is under way.
    """
    CaseSet.objects.select_for_update().get(pk=case_set.pk)
    states = ContextualEvaluation.State
    if case_set.evaluations.filter(state__in=[states.QUEUED, states.RUNNING]).exists():
        raise EvaluationActiveError(what=case_set.name)
    audit.record(
        actor=user,
        action="delete-cases",
        benchmark=case_set.benchmark,
        target=case_set.name,
        n=case_set.n_cases,
    )
    _delete_with_files(case_set)


def _delete_with_files(case_set: CaseSet) -> None:
    stored = set(case_set.images.values_list("stored", flat=True))
    case_set.delete()

    def remove() -> None:
        for name in stored:
            files.remove(name)

    transaction.on_commit(remove)

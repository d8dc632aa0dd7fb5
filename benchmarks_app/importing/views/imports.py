"""Taking in files: put down, looked at, imported."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks_app.collections.selectors import imported_uploads
from benchmarks_app.collections.services import uploading
from benchmarks_app.importing.forms import (
    GradesForm,
    ImportForm,
    PartForm,
    UploadForm,
    posted_grade_map,
    posted_part,
)
from benchmarks_app.importing.services.importing import start_import, start_joint_import
from benchmarks_app.importing.services.previewing_uploads import Preview, parts_said, preview
from benchmarks_app.importing.services.reading_uploads import (
    begin_reading,
    is_read_at_once,
    read_again,
    read_through,
)
from benchmarks_app.importing.services.waiting_files import (
    READY,
    UNREAD,
    WaitingFile,
    waiting_files,
)
from benchmarks_app.models import Benchmark, Job, Unit, Upload
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.detection import DOCUMENT_KINDS, QUERY_KINDS, RUN_KINDS, FileKind
from benchwright.errors import BenchmarkError
from benchwright.uploads import Look

RECENT_SHOWN = 10
# What other files name: with one of them waiting, all are imported as one.
NAMED_BY_OTHERS = {FileKind.BEIR, *DOCUMENT_KINDS, *QUERY_KINDS}


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def import_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    is_posted = request.method == "POST"
    form = UploadForm(request.POST if is_posted else None, request.FILES if is_posted else None)
    if is_posted and form.is_valid():
        put = _put_down(request, benchmark, form)
        if len(put) == 1 and not form.errors:
            return redirect("import-preview", benchmark.slug, put[0].pk)
        if not form.errors:
            messages.success(request, f"{len(put)} files are here. Look at them, then import.")
            return redirect("import-new", benchmark.slug)
    waiting = waiting_files(benchmark)
    context = {
        "form": form,
        "waiting": [_row(benchmark, file) for file in waiting],
        "n_of": Counter(file.state for file in waiting),
        "recent": imported_uploads(benchmark)[:RECENT_SHOWN],
    }
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/importing/import_new.html", context, status=status)


def _put_down(request: PersonRequest, benchmark: Benchmark, form: UploadForm) -> list[Upload]:
    """The uploads of the files that were sent; what is wrong with one is on the form."""
    put: list[Upload] = []
    groups = [
        (form.cleaned_data["files"], request.POST.getlist("paths")),
        (form.cleaned_data["folder"], request.POST.getlist("folder_paths")),
    ]
    for files, paths in groups:
        if files and not any("/" in path for path in paths):
            for file in files:
                _put(request, benchmark, form, put, [file], [])
        elif files:
            _put(request, benchmark, form, put, files, paths)
    return put


def _put(
    request: PersonRequest,
    benchmark: Benchmark,
    form: UploadForm,
    put: list[Upload],
    files: list,
    paths: list[str],
) -> None:
    try:
        for upload in uploading.put_down(
            benchmark=benchmark, owner=request.user, files=files, paths=paths
        ):
            put.append(upload)
            begin_reading(upload, request.user)
    except BenchmarkError as error:
        form.add_error(None, str(error))


def _row(benchmark: Benchmark, file: WaitingFile) -> dict[str, Any]:
    """A waiting file with the forms of its columns and of its grades, where it has questions."""
    prefix = f"f{file.upload.pk}"
    columns = grades = None
    if look := file.look_to_map:
        has_passages = benchmark.corpus.unit == Unit.PASSAGE
        columns = PartForm(prefix="p0", look=look, is_member=False, has_passages=has_passages)
        columns.auto_id = f"{prefix}-%s"
    elif file.preview.grades:
        grades = GradesForm(
            grades=file.preview.grades,
            scale=file.scale.labels,
            grade_map=file.grade_map,
            auto_id=f"{prefix}-%s",
        )
    return {"file": file, "columns": columns, "grades": grades}


@require_POST
@benchmark_view(Action.EDIT)
def import_decide(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Keep what somebody says of a waiting file, and show the list again, at that file."""
    upload = _upload(benchmark, pk)
    file = next((file for file in waiting_files(benchmark) if file.upload.pk == upload.pk), None)
    act = ACTS.get(request.POST.get("act", ""))
    if file is None or act is None:
        messages.warning(request, f"Nothing was changed: {upload.name} has no such act now.")
        return _list_at(benchmark, upload)
    try:
        upload = act(request, file) or upload
    except BenchmarkError as error:
        messages.error(request, str(error))
    return _list_at(benchmark, upload)


def _list_at(benchmark: Benchmark, upload: Upload) -> HttpResponseRedirect:
    return redirect(f"{reverse('import-new', args=[benchmark.slug])}#file-{upload.pk}")


def _settle(file: WaitingFile, **decisions: Any) -> None:
    """Keep what was said; the last refusal is answered by it."""
    if file.refusal:
        decisions["settled"] = file.refusal.job
    uploading.keep_said(file.upload, **decisions)


def _leave_out(request: PersonRequest, file: WaitingFile) -> None:
    n = file.n_to_leave_out
    if not n:
        messages.error(request, f"No record of {file.upload.name} can be left out.")
        return
    _settle(file, without=None if file.are_more_to_leave_out else n)


def _try_again(request: PersonRequest, file: WaitingFile) -> None:
    _settle(file)


def _take_as_it_is(request: PersonRequest, file: WaitingFile) -> None:
    _settle(file, as_it_is=True)


def _take_back(request: PersonRequest, file: WaitingFile) -> None:
    uploading.forget_said(file.upload)
    read_again(file.upload, request.user)


def _check(request: PersonRequest, file: WaitingFile) -> None:
    """Keep columns and grades as they were chosen; other columns are read anew."""
    if look := file.look_to_map:
        _settle(file, parts=[posted_part(look, "p0", request.POST).as_json()])
        read_again(file.upload, request.user)
        return
    labels, mapping = file.scale.labels, file.grade_map
    form = GradesForm(request.POST, grades=file.preview.grades, scale=labels, grade_map=mapping)
    if form.is_valid():
        _settle(file, grade_map=posted_grade_map(form.cleaned_data))
    else:
        messages.error(request, f"Choose what each grade of {file.upload.name} is here.")


def _replace(request: PersonRequest, file: WaitingFile) -> Upload | None:
    mended = request.FILES.get("file")
    if not isinstance(mended, UploadedFile):
        messages.error(request, "Choose the mended file first.")
        return None
    upload = uploading.replace(file.upload, owner=request.user, file=mended)
    if upload.pk == file.upload.pk:
        messages.warning(request, f"{mended.name} has the same bytes as {file.upload.name}.")
    else:
        begin_reading(upload, request.user)
        messages.success(request, f"{upload.name} stands in the place of {file.upload.name}.")
    return upload


ACTS: dict[str, Callable[[PersonRequest, WaitingFile], Upload | None]] = {
    "leave-out": _leave_out,
    "again": _try_again,
    "as-it-is": _take_as_it_is,
    "take-back": _take_back,
    "check": _check,
    "replace": _replace,
}


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def import_preview(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """What a file is, its first rows and its columns, until it is imported."""
    upload = _upload(benchmark, pk)
    upload_preview = _previewed(request, upload)
    is_posted = request.method == "POST"
    is_asked = is_posted and "import" in request.POST
    options = ImportForm(
        request.POST if is_asked else None, preview=upload_preview, benchmark=benchmark
    )
    status = 200
    if is_posted and not is_asked:
        options.keep(request.POST)
    if is_asked:
        job = _started(request, benchmark, upload, upload_preview, options)
        if job:
            return redirect(job)
        status = 422
    forms = _part_forms(upload_preview, benchmark)
    with_form = {form.look.name for form in forms}
    context = {
        "upload": upload,
        "preview": upload_preview,
        "forms": forms,
        "left_out": [look for look in upload_preview.looks if look.name not in with_form],
        "options": options,
        "is_refused": status == 422,
    }
    return render(request, "benchmarks_app/importing/import_preview.html", context, status=status)


def _previewed(request: PersonRequest, upload: Upload) -> Preview:
    """A file as it is read so far, or as the form says that it is to be."""
    is_whole = is_read_at_once(upload)
    # A file that waits since before files were read when they came.
    is_unread = is_whole and "rows" not in upload.reading
    so_far = (
        read_through(upload)
        if is_unread
        else preview(upload, parts_said(upload), is_whole=is_whole)
    )
    if request.method != "POST" or not so_far.looks:
        return so_far
    parts = [
        posted_part(look, f"p{number}", request.POST) for number, look in enumerate(so_far.looks)
    ]
    return preview(upload, parts, is_whole=is_whole)


def _upload(benchmark: Benchmark, pk: int) -> Upload:
    rows = benchmark.uploads.filter(is_waiting=True).select_related("benchmark__corpus")
    return get_object_or_404(rows, pk=pk)


def _part_forms(preview: Preview, benchmark: Benchmark) -> list[PartForm]:
    """A form for each file that may be taken; what stands beside the data has none."""
    has_passages = benchmark.corpus.unit == Unit.PASSAGE
    return [
        PartForm(
            prefix=f"p{number}",
            look=look,
            is_member=preview.is_collection,
            has_passages=has_passages,
        )
        for number, look in enumerate(preview.looks)
        if look.may_be_chosen or not preview.is_collection
    ]


def _started(
    request: PersonRequest,
    benchmark: Benchmark,
    upload: Upload,
    preview: Preview,
    options: ImportForm,
) -> Job | None:
    """The job that imports what was looked at; None with what is wrong on the form."""
    if not options.is_valid():
        return None
    if preview.error or not preview.taken:
        options.add_error(None, preview.error or "Say what the file is: choose it below.")
        return None
    leave_out = options.cleaned_data.get("leave_out", "")
    if not all(_may_be_taken(look, leave_out) for look in preview.taken):
        options.add_error(None, "Nothing was imported: see below what is wrong.")
        return None
    try:
        return start_import(
            benchmark=benchmark,
            user=request.user,
            upload=upload,
            parts=preview.parts,
            **options.options(),
        )
    except BenchmarkError as error:
        options.add_error(None, str(error))
        return None


def _may_be_taken(look: Look, leave_out: str) -> bool:
    is_run = look.part.kind in RUN_KINDS
    does_without = leave_out == "records" and look.can_do_without and not is_run
    return look.is_ready or does_without or leave_out == "files"


@require_POST
@benchmark_view(Action.EDIT)
def import_remove(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    upload = _upload(benchmark, pk)
    uploading.take_away(upload)
    messages.success(request, f"{upload.name} was taken away.")
    return redirect("import-new", benchmark.slug)


@require_POST
@benchmark_view(Action.EDIT)
def import_all(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Import every waiting file that needs nobody's word; as one where they name each other."""
    waiting = waiting_files(benchmark)
    for file in waiting:
        if file.preview.is_good and not file.preview.is_read:
            begin_reading(file.upload, request.user)
    ready = [file for file in waiting if file.state == READY or _is_ready_now(file)]
    if not ready:
        messages.warning(request, "No file is ready: answer what each of them asks first.")
        return redirect("import-new", benchmark.slug)
    try:
        started = _all_started(request, benchmark, ready)
    except BenchmarkError as error:
        messages.error(request, str(error))
        return redirect("import-new", benchmark.slug)
    if len(started) == 1:
        return redirect(started[0])
    messages.success(request, f"{len(started)} imports started.")
    return redirect(reverse("job-list", args=[benchmark.slug]))


def _is_ready_now(file: WaitingFile) -> bool:
    """Whether it is ready since it was read a moment ago."""
    return file.state == UNREAD and file.preview.is_ready


def _all_started(
    request: PersonRequest, benchmark: Benchmark, files: list[WaitingFile]
) -> list[Job]:
    kinds = {look.part.kind for file in files for look in file.preview.taken}
    if len(files) > 1 and kinds & NAMED_BY_OTHERS:
        joint = start_joint_import(
            benchmark=benchmark,
            user=request.user,
            uploads=[file.upload for file in files],
            options={file.upload.pk: file.options for file in files if file.options},
        )
        return [joint]
    return [
        start_import(benchmark=benchmark, user=request.user, upload=file.upload, **file.options)
        for file in files
    ]

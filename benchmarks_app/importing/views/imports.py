"""Taking in files: put down, looked at, imported."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks_app.collections.selectors.uploads import imported_uploads, waiting_uploads
from benchmarks_app.collections.services import uploading
from benchmarks_app.importing.forms import ImportForm, PartForm, UploadForm, posted_part
from benchmarks_app.importing.services.importing import start_import, start_joint_import
from benchmarks_app.importing.services.previewing_uploads import Preview, preview
from benchmarks_app.importing.services.reading_uploads import (
    begin_reading,
    is_read_at_once,
    read_through,
)
from benchmarks_app.models import Benchmark, Job, Unit, Upload
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.detection import DOCUMENT_KINDS, QUERY_KINDS, RUN_KINDS, FileKind
from benchwright.errors import BenchmarkError
from benchwright.uploads import Look

WAITING_SHOWN = 50
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
    context = {
        "form": form,
        "waiting": _waiting(benchmark),
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


def _waiting(benchmark: Benchmark) -> list[Preview]:
    return [preview(upload, is_short=True) for upload in waiting_uploads(benchmark)[:WAITING_SHOWN]]


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def import_preview(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """What a file is, its first rows and its columns, until it is imported."""
    upload = _upload(benchmark, pk)
    is_whole = is_read_at_once(upload)
    # A file that waits since before files were read when they came.
    is_unread = is_whole and not upload.reading
    upload_preview = read_through(upload) if is_unread else preview(upload, is_whole=is_whole)
    is_posted = request.method == "POST"
    if is_posted and upload_preview.looks:
        parts = [
            posted_part(look, f"p{number}", request.POST)
            for number, look in enumerate(upload_preview.looks)
        ]
        upload_preview = preview(upload, parts, is_whole=is_whole)
    options = ImportForm(
        request.POST if is_posted and "import" in request.POST else None,
        preview=upload_preview,
        benchmark=benchmark,
    )
    status = 200
    if is_posted and "import" not in request.POST:
        options.keep(request.POST)
    if is_posted and "import" in request.POST:
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
        options.add_error(None, preview.error or "Say what the file is: choose it above.")
        return None
    leave_out = options.cleaned_data.get("leave_out", "")
    if not all(_may_be_taken(look, leave_out) for look in preview.taken):
        options.add_error(None, "Nothing was imported: see what is wrong with the rows above.")
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
    waiting = _waiting(benchmark)
    for one in waiting:
        if one.is_good and not one.is_read:
            begin_reading(one.upload, request.user)
    previews = [one for one in waiting if one.is_ready]
    if not previews:
        messages.warning(request, "No file is ready: look at each of them first.")
        return redirect("import-new", benchmark.slug)
    try:
        started = _all_started(request, benchmark, previews)
    except BenchmarkError as error:
        messages.error(request, str(error))
        return redirect("import-new", benchmark.slug)
    if len(started) == 1:
        return redirect(started[0])
    messages.success(request, f"{len(started)} imports started.")
    return redirect(reverse("job-list", args=[benchmark.slug]))


def _all_started(
    request: PersonRequest, benchmark: Benchmark, previews: list[Preview]
) -> list[Job]:
    kinds = {look.part.kind for one in previews for look in one.taken}
    uploads = [one.upload for one in previews]
    if len(uploads) > 1 and kinds & NAMED_BY_OTHERS:
        return [start_joint_import(benchmark=benchmark, user=request.user, uploads=uploads)]
    return [
        start_import(benchmark=benchmark, user=request.user, upload=upload) for upload in uploads
    ]

"""Files that were put down: those that wait to be imported, and what others have become."""

from django.db.models import QuerySet

from benchmarks_app.models import Benchmark, Job, Upload


def waiting_uploads(benchmark: Benchmark) -> QuerySet[Upload]:
    """Files put down on the import page, in the order they came; not those in a job by now."""
    busy = Job.objects.active().filter(benchmark=benchmark, kind="import-file")
    taken = [
        pk for listed in busy.values_list("parameters__uploads", flat=True) for pk in listed or ()
    ]
    rows = benchmark.uploads.filter(is_waiting=True).exclude(pk__in=taken)
    return rows.select_related("benchmark__corpus", "owner").order_by("pk")


def imported_uploads(benchmark: Benchmark) -> QuerySet[Upload]:
    """Files that became something, the newest first."""
    return benchmark.uploads.exclude(imported_as="").order_by("-pk")

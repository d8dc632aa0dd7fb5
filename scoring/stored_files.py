"""What scoring keeps in the storage, and what of it depends on each file."""

from collections.abc import Iterator

from django.db.models import Q

from benchmarks_app.backups.selectors import with_file
from benchmarks_app.files import KEEPERS, Keeper, StoredFile, digest_in
from benchmarks_app.models import Release
from scoring.models import CaseImage, Comparison, EmbeddingPair, RunLatencies, ScoreSet


def stored_files(name: str = "") -> Iterator[StoredFile]:
    """Files that rows of this app name, all of them or those of one name."""
    sets = ScoreSet.objects.select_related("run", "release__benchmark")
    for row in with_file(sets, name, "per_query", "hits").iterator():
        for file in (row.per_query, row.hits):
            if name in ("", file):
                yield StoredFile(file, digest_in(file), f"scores of {row}", row.created_at)
    timed = RunLatencies.objects.select_related("run")
    for row in with_file(timed, name, "stored").iterator():
        what = f"latencies of {row.run}"
        yield StoredFile(row.stored, digest_in(row.stored), what, row.created_at)
    images = CaseImage.objects.select_related("case_set")
    for row in with_file(images, name, "stored").iterator():
        what = f"image {row} of case set {row.case_set}"
        yield StoredFile(row.stored, row.sha256, what, row.case_set.created_at)
    for row in with_file(Comparison.objects.exclude(result=""), name, "result").iterator():
        yield StoredFile(row.result, digest_in(row.result), str(row), row.created_at)
    yield from _files_of_pairs(name)


def _files_of_pairs(name: str) -> Iterator[StoredFile]:
    if name and not name.startswith("contrastive/"):
        return
    for pair in EmbeddingPair.objects.all().iterator():
        recorded = {facts["stored"]: facts["sha256"] for facts in pair.files.values()}
        if pair.places:
            recorded[pair.places] = digest_in(pair.places)
        for file, sha256 in recorded.items():
            if name in ("", file):
                yield StoredFile(file, sha256, f"embeddings {pair}", pair.created_at)


def dependents(name: str) -> Iterator[str]:
    """Scores that were or would be worked out from a stored file, in words."""
    folder = "/".join(name.split("/")[:3])
    releases = Release.objects.filter(folder=folder) if name.startswith("releases/") else None
    concerned = Q(run__parquet=name) | Q(per_query=name) | Q(hits=name)
    if releases is not None:
        concerned |= Q(release__in=releases)
    sets = ScoreSet.objects.filter(concerned).select_related("run", "release__benchmark")
    for score_set in sets.order_by("pk"):
        yield f"scores of {score_set}"
    for latencies in RunLatencies.objects.filter(stored=name).select_related("run"):
        yield f"latencies of {latencies.run}"
    for image in CaseImage.objects.filter(stored=name).select_related("case_set"):
        yield f"case set {image.case_set}"
    for file in _files_of_pairs(name):
        yield file.what


KEEPERS.append(Keeper(stored_files, dependents))

"""Releases as scoring reads them, and the phase that takes runs."""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from django.db.models import Q, QuerySet
from django.utils import timezone

from benchmarks_app.common.selectors.reading import release_file_path
from benchmarks_app.models import Benchmark, Release
from benchmarks_app.prepared import prepared
from benchmarks_app.releases.selectors import release_weights
from benchwright.datasets import released
from benchwright.files.sources import open_lines
from benchwright.formats.numbers import row_key
from scoring.models import Phase
from scoring.scores.shown import Shown, any_measure, measures_on

# Part of every score set's identity: raised whenever a number can come out differently.
SCORER_VERSION = "3"
WEIGHTS = "weights.tsv"


def scorer_version_of(split: str) -> str:
    """Under which name scores over one split alone are kept, where a release hides another."""
    return f"{SCORER_VERSION}/{split}"


def relevance_threshold(release: Release) -> int:
    """The lowest grade that counts as relevant on a release, as its manifest froze the scale."""
    return released.relevance_threshold(release.manifest)


def declared_measures(release: Release) -> list[Shown]:
    """What its owner declared, when it was published, to be told of its hidden splits.

    Those of every board where nothing was declared.
    """
    threshold = relevance_threshold(release)
    named = release.manifest.get("measures") or ()
    return [any_measure(name, threshold) for name in named] or list(measures_on(threshold))


def measures_stored(release: Release) -> list[str]:
    """The whole names of what scoring stores of every run: of every board, and what is declared.

    Others are computed when they are asked for, which is for who is signed in.
    """
    standard = measures_on(relevance_threshold(release))
    return list(dict.fromkeys(each.name for each in (*standard, *declared_measures(release))))


def declared_alone(release: Release) -> list[Shown]:
    """What is declared and is no measure of every board."""
    return [measure for measure in declared_measures(release) if not measure.is_standard]


def published_releases(benchmark: Benchmark) -> QuerySet[Release]:
    return Release.objects.filter(benchmark=benchmark).published().newest_first()


def newest_release(benchmark: Benchmark) -> Release | None:
    return published_releases(benchmark).first()


def release_of_version(benchmark: Benchmark, version: str) -> Release | None:
    """The published release that is called `version` ("1.2.0"), or None."""
    parts = version.split(".")
    if len(parts) != 3:
        return None
    major, minor, patch = (row_key(part) for part in parts)
    if major is None or minor is None or patch is None:
        return None
    # "01.0.0" is another way to write a version, and a pinned address has one.
    releases = _numbered(benchmark.pk, major, minor, patch)
    return next((release for release in releases if release.version == version), None)


@prepared
def _numbered(benchmark: int, major: int, minor: int, patch: int) -> QuerySet[Release]:
    releases = Release.objects.filter(benchmark=benchmark).published()
    return releases.filter(major=major, minor=minor, patch=patch)


def open_phases(benchmark: Benchmark) -> QuerySet[Phase]:
    """The phases that take submissions now, those of the newest release first."""
    return phases_open_at(benchmark.pk, timezone.now()).select_related("release", "benchmark")


def phases_open_at(benchmark: int, now: datetime) -> QuerySet[Phase]:
    return (
        Phase.objects.filter(benchmark=benchmark, opens_at__lte=now, daily_limit__gt=0)
        .filter(Q(closes_at=None) | Q(closes_at__gt=now))
        .filter(release__in=Release.objects.published())
        .select_related("release")
        .order_by("-release__major", "-release__minor", "-release__patch", "-pk")
    )


def open_phase(benchmark: Benchmark) -> Phase | None:
    """The phase that takes a submission which names none: the last made of the newest release."""
    return open_phases(benchmark).first()


@lru_cache(maxsize=8)
def _texts(path: Path) -> dict[str, str]:
    rows = (json.loads(line) for line in open_lines(path))
    return {row["_id"]: row.get("text", "") for row in rows}


def release_query_texts(release: Release) -> dict[str, str]:
    """{qid: text} as the release froze them; its files never change, so they are read once."""
    return _texts(release_file_path(release, "queries.jsonl"))


@lru_cache(maxsize=8)
def _families(path: Path) -> dict[str, str]:
    rows = (json.loads(line) for line in open_lines(path))
    families = {row["_id"]: row.get("metadata", {}).get("family") for row in rows}
    return {qid: family for qid, family in families.items() if family}


def release_families(release: Release) -> dict[str, str]:
    """{qid: family} as the release froze them; read once, as `release_query_texts`."""
    return _families(release_file_path(release, "queries.jsonl"))


def has_weights(release: Release) -> bool:
    """Whether a release says what its queries weigh."""
    return WEIGHTS in release.manifest["files"]


def weights_of(release: Release) -> Mapping[str, float]:
    """{qid: weight} as the release froze them, empty without."""
    return release_weights(release) if has_weights(release) else {}

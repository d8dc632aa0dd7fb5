"""Versions of releases: three whole numbers, compared as numbers."""

import re

from benchmarks_app.core.release_errors import VersionError

Version = tuple[int, int, int]
FORM = re.compile(r"(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})")


def parse_version(text: str) -> Version:
    """Return the three numbers of a version.

    >>> parse_version("1.10.0") > parse_version("1.9.3")
    True

    Raises
    ------
    VersionError
        If it is anything else, a leading zero included.
    """
    found = FORM.fullmatch(text.strip())
    if found is None:
        raise VersionError(version=text)
    return int(found[1]), int(found[2]), int(found[3])


def next_version(newest: Version | None) -> Version:
    """Return what to propose after `newest`: a new minor version, 0.1.0 at first."""
    return (newest[0], newest[1] + 1, 0) if newest else (0, 1, 0)

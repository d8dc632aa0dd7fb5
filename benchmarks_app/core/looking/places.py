"""Where a file lies, as plain data: on its own, or as a member of an archive."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks_app.core.formats.archives import is_tar, is_zip, open_source
from benchmarks_app.core.formats.inputs import FileInput, Input, MemberInput
from benchmarks_app.core.formats.sources import Source


@dataclass(frozen=True, slots=True)
class Place:
    """A file called `name`; `member` is what is meant of a file that holds several."""

    path: Path
    name: str
    member: str = ""

    @property
    def shown(self) -> str:
        """What messages call it."""
        return self.member or self.name


def input_at(place: Place) -> Input:
    """The file at a place, to be read."""
    if not place.member:
        return FileInput(place.path, place.name)
    return MemberInput(_source(place.path), place.member)


# The archive that was read last. Its members come one after the other, and what they all inflate to
# is bounded together.
_last: dict[tuple[Path, int, int], Source] = {}


def _source(path: Path) -> Source:
    status = path.stat()
    key = path, status.st_mtime_ns, status.st_size
    if key not in _last:
        while _last:
            _last.popitem()[1].close()
        _last[key] = open_source(path)
    return _last[key]


def is_collection(path: Path) -> bool:
    """Whether a file holds several."""
    return is_zip(path) or is_tar(path)

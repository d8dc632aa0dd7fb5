"""Files behind Django's storage: written once under a name, read through a local path.

What is read must be what was written: `local_path` holds a file against the SHA-256 that was
recorded of it, once per size and time of change.
"""

import hashlib
import logging
import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.core.files import File
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import transaction

from benchmarks_app.models import Backup, LeftFile, StoreCheck
from benchwright.files.errors import StoredFileError, StoredFileMissingError
from benchwright.files.sources import sha256_of

log = logging.getLogger(__name__)

# These carry the SHA-256 of their content in their name; of others it is recorded elsewhere.
NAMED_BY_DIGEST = re.compile(
    r"uploads/([0-9a-f]{64})/.+"
    r"|(?:comparisons/[0-9a-f]{64}|leaks/\d+/[0-9a-f]{40})/([0-9a-f]{64})\.json"
    r"|(?:corpora|runs|candidates|logs|scores|exports|contrastive|contextual|images)/"
    r".*?([0-9a-f]{64})\.(?:parquet|npy|zip|png|jpg|webp|gif)"
)
# Smaller files are read anew by each process: that takes a millisecond.
REMEMBERED_FROM = 1 << 20
# So many digests each process holds, in 6 MB; with the paths of 65,536 files they took 77.
DIGESTS_HELD = 1 << 13


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that something in the database needs; `sha256` is empty where none was recorded."""

    name: str
    sha256: str
    what: str
    stored_at: datetime


@dataclass(frozen=True, slots=True)
class Keeper:
    """What an app keeps in the storage, all or of one name, and what depends on it, in words."""

    files: Callable[[str], Iterator[StoredFile]]
    dependents: Callable[[str], Iterator[str]]


KEEPERS: list[Keeper] = []


# --- writing -------------------------------------------------------------------------------


def publish(path: Path, name: str, sha256: str = "") -> str:
    """Move a staged file into the storage as `name`; the same name again keeps what is there.

    Names carry a digest of the content or the job that made it, so an earlier file of this name
    has the same bytes: it was published by an attempt that died before its commit. Where the
    digest is known (by the name, or given), a file that is there and has another is replaced.
    """
    recorded = sha256 or digest_in(name)
    if default_storage.exists(name):
        if not recorded or digest_of(name) == recorded:
            LeftFile.objects.filter(name=name).delete()  # it is needed again
            return name
        log.error("stored anew: %s was there with other bytes than %s", name, recorded)
    if isinstance(default_storage, FileSystemStorage):
        target = Path(default_storage.path(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        _move(path, target)
        if recorded:  # so an upload of gigabytes is not read once more before it is shown
            at = target.stat()
            _remember(target, at.st_size, (at.st_mtime_ns, at.st_ctime_ns), recorded)
        return name
    default_storage.delete(name)
    with path.open("rb") as content:
        return default_storage.save(name, File(content))


def publish_copy(path: Path, name: str) -> str:
    """As `publish`, and the staged file stays: what is equal may be published from it again."""
    copy = path.with_suffix(".publish")
    copy.unlink(missing_ok=True)
    copy.hardlink_to(path)
    return publish(copy, name)


def _move(path: Path, target: Path) -> None:
    try:
        path.replace(target)
    except OSError:  # another file system: a crash while copying leaves no half file under the name
        partial = target.with_name(f"{target.name}.part")
        try:
            shutil.copyfile(path, partial)
            partial.replace(target)
        except OSError:  # no room for it: what was copied must not take up the rest
            partial.unlink(missing_ok=True)
            raise


# --- removing ------------------------------------------------------------------------------


def remove(name: str) -> None:
    """Delete a stored file that nothing in the database names any more; none is no matter.

    While a backup is under way, whose snapshot may name it, the file is left to the sweeper. Call
    it after the commit that took the last name away.
    """
    if Backup.objects.under_way().exists():
        LeftFile.objects.get_or_create(name=name)
    else:
        default_storage.delete(name)


def remove_left() -> None:
    """Delete what was left while a backup was under way, but what is needed again."""
    if not LeftFile.objects.exists() or Backup.objects.under_way().exists():
        return
    for pk in list(LeftFile.objects.values_list("pk", flat=True)):
        with transaction.atomic():
            # Who publishes the same name meanwhile waits for this row, or has taken it away.
            left = LeftFile.objects.select_for_update().filter(pk=pk).first()
            if left:
                if not any(stored_files(left.name)):
                    default_storage.delete(left.name)
                left.delete()


# --- reading -------------------------------------------------------------------------------


def local_path(name: str, sha256: str = "") -> Path:
    """A path on this machine with the content of `name`; remote content is fetched once.

    Raises
    ------
    StoredFileError
        If its bytes do not have the SHA-256 that is given, or that its name carries.
    """
    try:
        path = Path(default_storage.path(name))
    except NotImplementedError:
        path = _cached_copy(name)
    if recorded := sha256 or digest_in(name):
        _refuse_altered(path, name, recorded)
    return path


def digest_in(name: str) -> str:
    """The SHA-256 that a stored file's name carries, or "".

    Examples
    --------
    >>> digest_in("runs/1/" + 64 * "a" + ".parquet") == 64 * "a", digest_in("comparisons/b.json")
    (True, '')
    """
    match = NAMED_BY_DIGEST.fullmatch(name)
    return next(filter(None, match.groups())) if match else ""


def digest_of(name: str) -> str:
    """The SHA-256 of a stored file, read from its first byte to its last whatever is remembered."""
    with default_storage.open(name) as content:
        digest = hashlib.sha256()
        for chunk in content.chunks(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _cached_copy(name: str) -> Path:
    key = hashlib.sha256(name.encode()).hexdigest()
    cached = settings.DATA_DIR / "cache" / f"{key}{Path(name).suffix}"
    if not cached.exists():
        cached.parent.mkdir(parents=True, exist_ok=True)
        partial = cached.with_suffix(".part")
        with default_storage.open(name) as content, partial.open("wb") as out:
            shutil.copyfileobj(content, out)
        partial.replace(cached)
    return cached


def _refuse_altered(path: Path, name: str, recorded: str) -> None:
    try:
        at = path.stat()
        digest = _digest_at(str(path), at.st_size, (at.st_mtime_ns, at.st_ctime_ns))
    except FileNotFoundError as error:
        raise _broken(StoredFileMissingError, name, recorded) from error
    if digest != recorded:
        changed = datetime.fromtimestamp(at.st_mtime, UTC)
        raise _broken(StoredFileError, name, recorded, found=digest, changed=changed)


@lru_cache(maxsize=DIGESTS_HELD)
def _digest_at(place: str, size: int, changed: tuple[int, int]) -> str:
    """The SHA-256 of a file; of a large one it is remembered for the other processes, too.

    It is remembered by size and times of change: of the content, and of the file's entry, which
    nobody can set back.
    """
    path = Path(place)
    if size < REMEMBERED_FROM:
        return sha256_of(path)
    with suppress(OSError, ValueError):
        *at, digest = _memory_of(path).read_text("ascii").split()
        if at == [str(number) for number in (size, *changed)] and len(digest) == 64:
            return digest
    digest = sha256_of(path)
    _remember(path, size, changed, digest)
    return digest


def _remember(path: Path, size: int, changed: tuple[int, int], digest: str) -> None:
    if size < REMEMBERED_FROM:
        return
    memory = _memory_of(path)
    with suppress(OSError):  # a full disk is no reason not to read
        memory.parent.mkdir(parents=True, exist_ok=True)
        partial = memory.with_name(f"{memory.name}.{uuid.uuid4().hex}.part")
        partial.write_text(" ".join(map(str, (size, *changed, digest))), "ascii")
        partial.replace(memory)


def _memory_of(path: Path) -> Path:
    key = hashlib.sha256(str(path).encode()).hexdigest()
    return settings.DATA_DIR / "cache" / "digests" / key


# --- what is broken ------------------------------------------------------------------------


def stored_files(name: str = "") -> Iterator[StoredFile]:
    """Every stored file that is needed, or those of one name; several may need the same."""
    return (file for keeper in KEEPERS for file in keeper.files(name))


def dependents_of(name: str) -> list[str]:
    """Releases, runs, scores and whatever else is made of a stored file, in words."""
    return [dependent for keeper in KEEPERS for dependent in keeper.dependents(name)]


def whole_at(name: str) -> datetime | None:
    """When a broken file was last known to be whole: at the latest check that found it so."""
    stored_at = min((file.stored_at for file in stored_files(name)), default=None)
    if stored_at is None:
        return None
    later = StoreCheck.objects.filter(started_at__gt=stored_at, finished_at__isnull=False)
    for check in later.order_by("-started_at"):
        if name not in check.broken_files:
            return check.started_at
    return stored_at


def _broken(
    kind: type[StoredFileError],
    name: str,
    recorded: str,
    *,
    found: str = "",
    changed: datetime | None = None,
) -> StoredFileError:
    """The error of a broken file, which the log has with all that depends on it.

    The error tells strangers how much depends on it, not what: it may be private.
    """
    dependents, whole = dependents_of(name), whole_at(name)
    sentences = [f"It was whole on {whole:%Y-%m-%d %H:%M:%S} UTC." if whole else ""]
    sentences += [f"It was last written to on {changed:%Y-%m-%d %H:%M:%S} UTC." if changed else ""]
    error = kind(
        file=name,
        expected=recorded,
        found=found,
        since=" ".join(filter(None, sentences)),
        n_dependents=len(dependents),
    )
    log.error("%s What depends on it: %s", error, "; ".join(dependents) or "nothing")
    return error

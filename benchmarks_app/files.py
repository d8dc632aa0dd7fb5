"""Files of the store: written once under a name, read through a local path.

What is read must be what was written: `local_path` holds a file against the SHA-256 that was
recorded of it, once per size and time of change.
"""

import hashlib
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.db import transaction

from benchmarks_app.models import Backup, LeftFile, StoreCheck
from benchmarks_app.store import file_store
from benchmarks_app.store.errors import AlteredError
from benchwright.files.errors import StoredFileError, StoredFileMissingError

log = logging.getLogger(__name__)

# These carry the SHA-256 of their content in their name; of others it is recorded elsewhere.
NAMED_BY_DIGEST = re.compile(
    r"uploads/([0-9a-f]{64})/.+"
    r"|(?:comparisons/[0-9a-f]{64}|leaks/\d+/[0-9a-f]{40})/([0-9a-f]{64})\.json"
    r"|(?:corpora|runs|candidates|logs|scores|exports|contrastive|contextual|images)/"
    r".*?([0-9a-f]{64})\.(?:parquet|npy|zip|png|jpg|webp|gif)"
)


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
    """Move a staged file into the store as `name`; the same name again keeps what is there.

    Names carry a digest of the content or the job that made it, so an earlier file of this name
    has the same bytes: it was published by an attempt that died before its commit. Where the
    digest is known (by the name, or given), a file that is there and has another is replaced.
    """
    recorded = sha256 or digest_in(name)
    if file_store().exists(name):
        if not recorded or digest_of(name) == recorded:
            LeftFile.objects.filter(name=name).delete()  # it is needed again
            return name
        log.error("stored anew: %s was there with other bytes than %s", name, recorded)
    file_store().put(path, name, recorded)
    return name


def publish_copy(path: Path, name: str) -> str:
    """As `publish`, and the staged file stays: what is equal may be published from it again."""
    copy = path.with_suffix(".publish")
    copy.unlink(missing_ok=True)
    copy.hardlink_to(path)
    return publish(copy, name)


# --- removing ------------------------------------------------------------------------------


def remove(name: str) -> None:
    """Delete a stored file that nothing in the database names any more; none is no matter.

    While a backup is under way, whose snapshot may name it, the file is left to the sweeper, and
    so it is where the store is away. Call it after the commit that took the last name away.
    """
    if not Backup.objects.under_way().exists():
        try:
            file_store().delete(name)
        except OSError:
            # What named it is gone, and so nobody would come back for it.
            log.exception("%s is left to the sweeper: it could not be deleted", name)
        else:
            return
    LeftFile.objects.get_or_create(name=name)


def remove_left() -> None:
    """Delete what was left by `remove`, but what is needed again."""
    if not LeftFile.objects.exists() or Backup.objects.under_way().exists():
        return
    for pk in list(LeftFile.objects.values_list("pk", flat=True)):
        with transaction.atomic():
            # Who publishes the same name meanwhile waits for this row, or has taken it away.
            left_file = LeftFile.objects.select_for_update().filter(pk=pk).first()
            if left_file:
                if not any(stored_files(left_file.name)):
                    file_store().delete(left_file.name)
                left_file.delete()


# --- reading -------------------------------------------------------------------------------


def local_path(name: str, sha256: str = "") -> Path:
    """A path on this machine with the content of `name`; remote content is fetched once.

    Raises
    ------
    StoredFileError
        If its bytes do not have the SHA-256 that is given, or that its name carries.
    """
    recorded = sha256 or digest_in(name)
    try:
        return file_store().local(name, recorded)
    except FileNotFoundError as error:
        if not recorded:
            raise
        raise _broken(StoredFileMissingError, name, recorded) from error
    except AlteredError as error:
        raise _broken(
            StoredFileError, name, recorded, digest=error.sha256, changed=error.changed_at
        ) from error


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
    with file_store().opened(name) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


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
    digest: str = "",
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
        found=digest,
        since=" ".join(filter(None, sentences)),
        n_dependents=len(dependents),
    )
    log.error("%s What depends on it: %s", error, "; ".join(dependents) or "nothing")
    return error

"""Reading every stored file against the digest that was recorded of it."""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from benchmarks_app import files
from benchmarks_app.files import StoredFile
from benchmarks_app.models import LeftFile, StoreCheck
from benchmarks_app.store import file_store
from benchmarks_app.store.errors import StoreAwayError

log = logging.getLogger(__name__)

# Files done, of how many, and the bytes read.
Tell = Callable[[int, int, int], None]
# Until then, what stores a file may not have told the database of it.
UNNEEDED_AFTER = timedelta(days=1)


@dataclass
class _Read:
    """What became of reading one file: nothing is wrong with it where `problem` is empty."""

    n_bytes: int = 0
    problem: str = ""
    changed_at: Any = None


def verify_store(tell: Tell = lambda n, n_all, n_bytes: None) -> StoreCheck:
    """Read every stored file from its first byte to its last, and write down what does not fit.

    Nothing that is remembered of a file is believed. Files without a recorded digest are read,
    too: that they can be is all that is known of them.
    """
    check = StoreCheck.objects.create()
    needed = {file.name: file for file in files.stored_files()}
    broken: dict[str, dict[str, Any]] = {}
    for n, stored in enumerate(needed.values(), start=1):
        read = _read(stored)
        check.n_bytes += read.n_bytes
        check.n_unrecorded += not stored.sha256
        if read.problem:
            broken[stored.name] = _said(stored, read)
        tell(n, len(needed), check.n_bytes)
    # What was deleted while this went on is not broken.
    still = {file.name for name in broken for file in files.stored_files(name)}
    check.n_files = len(needed)
    check.broken = [problem for name, problem in broken.items() if name in still]
    check.finished_at = timezone.now()
    check.save()
    for problem in check.broken:
        log.error("broken: %s (%s): %s", problem["file"], problem["what"], problem["problem"])
    return check


def unneeded_files() -> dict[str, int]:
    """Files that nothing in the database names, and their bytes.

    What was killed between storing a file and its commit leaves one; a file of the last day may
    still be on its way.
    """
    needed = {file.name for file in files.stored_files()}
    newest = timezone.now() - UNNEEDED_AFTER
    sizes: dict[str, int] = {}
    for name in _names_below(""):
        is_ours = name.startswith("releases/") or files.digest_in(name)
        if is_ours and name not in needed and file_store().changed_at(name) < newest:
            sizes[name] = file_store().size(name)
    return sizes


def _names_below(folder: str) -> Iterator[str]:
    folders, names = file_store().listed(folder)
    yield from (f"{folder}{name}" for name in sorted(names))
    for inner in sorted(folders):
        yield from _names_below(f"{folder}{inner}/")


def leave_to_sweeper(names: Iterable[str]) -> None:
    """Have stored files deleted by the next sweep that finds nothing that needs them."""
    LeftFile.objects.bulk_create([LeftFile(name=name) for name in names], ignore_conflicts=True)


def _read(stored: StoredFile) -> _Read:
    try:
        digest = files.digest_of(stored.name)
        read = _Read(
            n_bytes=file_store().size(stored.name),
            changed_at=file_store().changed_at(stored.name),
        )
    except FileNotFoundError:
        return _Read(problem="gone")
    except StoreAwayError:  # of none of them anything is known
        raise
    except OSError as error:  # a bad disk: the other files are read all the same
        return _Read(problem=f"cannot be read: {error}")
    if stored.sha256 and digest != stored.sha256:
        read.problem = f"altered: SHA-256 {digest}, expected {stored.sha256}"
    return read


def _said(stored: StoredFile, read: _Read) -> dict[str, Any]:
    whole_at = files.whole_at(stored.name)
    return {
        "file": stored.name,
        "what": stored.what,
        "problem": read.problem,
        "whole_at": whole_at and whole_at.isoformat(),
        "changed_at": read.changed_at and read.changed_at.isoformat(),
        "dependents": files.dependents_of(stored.name),
    }

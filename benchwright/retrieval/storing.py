"""Folders of arrays on disk: written whole or not at all, and checked when read.

A folder holds a file for each part and `manifest.json`, which names its kind, how it was made, and
the size and SHA-256 of each file. Texts, such as ids, are JSON in ASCII: any text comes back as it
was, line ends and lone surrogates too. Nothing is ever unpickled.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np

from benchwright.retrieval.errors import StoreError

MANIFEST = "manifest.json"
FORMAT = 1

Part = Any
"""An array, or anything that JSON can hold."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A folder read back; arrays are mapped from the files, not read into memory."""

    made_by: Mapping[str, Any]
    parts: Mapping[str, Part]


def write_folder(
    folder: Path, kind: str, made_by: Mapping[str, Any], parts: Mapping[str, Part]
) -> None:
    """Write the parts into `folder`, in the place of what was there.

    They are written beside it and renamed at the end, so a folder is never half there. Of two
    writers at once the later one wins.

    Raises
    ------
    StoreError
        If `folder` is there and nothing that this module wrote: it is left alone.
    """
    _refuse_foreign(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        files = {name: _write_part(staged, name, part) for name, part in parts.items()}
        manifest = {"format": FORMAT, "kind": kind, "made_by": made_by, "files": files}
        _write_synced(staged / MANIFEST, json.dumps(manifest, indent=1).encode())
        _put_in_place(staged, folder)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def read_folder(folder: Path, kind: str, *, only: Collection[str] | None = None) -> Stored:
    """The parts of a folder, or those that `only` names, after a look at every byte of them.

    Raises
    ------
    StoreError
        If it is missing, damaged, of another kind or of another version of this program.
    """
    manifest = _manifest(folder)
    form = manifest.get("format"), manifest.get("kind")
    if form != (FORMAT, kind):
        reason = f"format and kind are {form}; expected {(FORMAT, kind)}. Make it again."
        raise StoreError(folder=folder, reason=reason)
    parts = {
        name: _read_part(folder, name, facts)
        for name, facts in manifest["files"].items()
        if only is None or name in only
    }
    return Stored(made_by=manifest["made_by"], parts=parts)


def made_by(folder: Path) -> Mapping[str, Any]:
    """How the folder says it was made; nothing else is read.

    Raises
    ------
    StoreError
        If it is missing or its manifest damaged.
    """
    facts: Mapping[str, Any] = _manifest(folder).get("made_by", {})
    return facts


# --- writing -------------------------------------------------------------------------------------


def _refuse_foreign(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / MANIFEST).is_file()):
        reason = "is there already and was not written by this program. Choose another folder."
        raise StoreError(folder=folder, reason=reason)


def _write_part(folder: Path, name: str, part: Part) -> dict[str, Any]:
    is_array = isinstance(part, np.ndarray)
    path = folder / f"{name}.{'npy' if is_array else 'json'}"
    if is_array:
        with path.open("wb") as file:
            np.save(file, part, allow_pickle=False)
            _sync(file.fileno())
    else:
        _write_synced(path, json.dumps(part).encode("ascii"))
    return {"file": path.name, "bytes": path.stat().st_size, "sha256": _sha256(path)}


def _write_synced(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        _sync(file.fileno())


def _sync(number: int) -> None:
    # Renamed before its bytes are on the disk, a file can be empty after a power cut.
    os.fsync(number)


def _put_in_place(staged: Path, folder: Path) -> None:
    """Rename `staged` to `folder`; a folder that is there moves aside first."""
    staged.chmod(0o755)
    for _ in range(100):
        try:
            staged.rename(folder)
        except OSError:
            _move_aside(folder)
        else:
            return
    raise StoreError(folder=folder, reason="others write it all the time. Use a folder of its own.")


def _move_aside(folder: Path) -> None:
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
    try:
        folder.rename(aside / "old")
    except FileNotFoundError:
        pass  # another writer has moved it: the next attempt finds the place free or taken
    finally:
        shutil.rmtree(aside, ignore_errors=True)


# --- reading -------------------------------------------------------------------------------------


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise StoreError(folder=folder, reason=f"has no {MANIFEST}. Make it again.") from None
    except (OSError, ValueError) as error:
        raise _damaged(folder, MANIFEST, error) from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files", {}), dict):
        raise _damaged(folder, MANIFEST, "it holds no table of files")
    return manifest


def _read_part(folder: Path, name: str, facts: Mapping[str, Any]) -> Part:
    # The name of the file, not its path: a manifest never leads out of its folder.
    path = folder / Path(str(facts["file"])).name
    try:
        if path.stat().st_size != facts["bytes"]:
            raise _damaged(folder, path.name, f"it should have {facts['bytes']} bytes")
        if _sha256(path) != facts["sha256"]:
            raise _damaged(folder, path.name, "its SHA-256 is another")
        if path.suffix == ".json":
            return json.loads(path.read_bytes())
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise _damaged(folder, name, error) from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _damaged(folder: Path, name: str, reason: object) -> StoreError:
    return StoreError(folder=folder, reason=f"{name} is damaged: {reason}. Make it again.")

"""Reading a backup again from its first byte to its last: what is missing or altered."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchwright.backups.errors import BackupVersionError
from benchwright.backups.layout import FORMAT, MANIFEST, MANIFEST_DIGEST, BackupFolder, Snapshot
from benchwright.backups.lines import n_lines_in, rows_in
from benchwright.files.sources import sha256_of

# Files read, and of how many it is known that there are.
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Damage:
    """Something of a backup that is not what was written; `is_file` if a stored file is lost."""

    snapshot: str
    what: str
    problem: str
    is_file: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.problem}"


@dataclass
class Verdict:
    """What reading backups has found; nothing is wrong where `damages` is empty."""

    n_snapshots: int = 0
    n_rows: int = 0
    n_objects: int = 0
    n_bytes: int = 0
    damages: list[Damage] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def verify(
    folder: BackupFolder,
    snapshots: list[Snapshot],
    tell: Tell = lambda n, n_all: None,
) -> Verdict:
    """Read these snapshots and every file they name; a file of several is read once.

    Raises
    ------
    BackupVersionError
        If one is of a form that a later program writes.
    """
    verdict = Verdict(n_snapshots=len(snapshots))
    objects: dict[str, tuple[int, list[tuple[str, str]]]] = {}
    for snapshot in snapshots:
        verdict.damages += _damages_of_rows(snapshot, verdict, objects)
    for n, (sha256, (size, needed)) in enumerate(sorted(objects.items()), start=1):
        problem = _problem_of(folder.object_path(sha256), sha256, size)
        if problem:
            verdict.damages += [
                Damage(name, f"{file} (objects/{sha256[:2]}/{sha256})", problem, is_file=True)
                for name, file in needed
            ]
        verdict.n_objects += 1
        verdict.n_bytes += 0 if problem else size
        tell(n, len(objects))
    return verdict


def _damages_of_rows(
    snapshot: Snapshot, verdict: Verdict, objects: dict[str, tuple[int, list[tuple[str, str]]]]
) -> Iterator[Damage]:
    """What is wrong with a snapshot's own files; the stored files it names join `objects`."""
    if problem := _problem_of_manifest(snapshot):
        yield Damage(snapshot.name, MANIFEST, problem)
        return
    manifest = snapshot.manifest()
    for table, facts in manifest["tables"].items():
        problem = _problem_of_lines(snapshot.rows_of(table), facts["rows"])
        verdict.n_rows += facts["rows"]["n_rows"]
        if problem:
            yield Damage(snapshot.name, f"rows of {table}", problem)
    if problem := _problem_of_lines(snapshot.files, manifest["files"]):
        yield Damage(snapshot.name, "list of files", problem)
        return
    for file, sha256, size, _ in rows_in(snapshot.files):
        objects.setdefault(sha256, (size, []))[1].append((snapshot.name, file))


def problem_of_files(snapshot: Snapshot) -> str:
    """What is wrong with what a snapshot says of the files it needs; "" where nothing is."""
    if problem := _problem_of_manifest(snapshot):
        return f"{MANIFEST}: {problem}"
    problem = _problem_of_lines(snapshot.files, snapshot.manifest()["files"])
    return problem and f"list of files: {problem}"


def _problem_of_manifest(snapshot: Snapshot) -> str:
    try:
        recorded = (snapshot.folder / MANIFEST_DIGEST).read_text("ascii").split()[0]
        content = (snapshot.folder / MANIFEST).read_bytes()
    except FileNotFoundError as error:
        return f"{Path(str(error.filename)).name} is missing"
    except (OSError, ValueError, IndexError) as error:
        return f"cannot be read: {error}"
    if hashlib.sha256(content).hexdigest() != recorded:
        return "altered: it does not fit its digest"
    manifest = json.loads(content)
    if manifest["format"] != FORMAT:
        what = f"it is of form {manifest['format']}, and this one reads {FORMAT}"
        raise BackupVersionError(version=manifest["version"], what=what)
    return ""


def _problem_of_lines(path: Path, facts: dict[str, Any]) -> str:
    if problem := _problem_of(path, facts["sha256"], facts["size"]):
        return problem
    n_rows = n_lines_in(path)
    expected = facts["n_rows"]
    return "" if n_rows == expected else f"{n_rows:,} rows, where the manifest has {expected:,}"


def _problem_of(path: Path, sha256: str, size: int) -> str:
    try:
        n_bytes = path.stat().st_size
        if n_bytes != size:
            return f"altered: {n_bytes:,} bytes, expected {size:,}"
        digest = sha256_of(path)
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"cannot be read: {error}"
    return "" if digest == sha256 else f"altered: SHA-256 {digest}, expected {sha256}"

"""A release onto this machine: each file whole and as its manifest says, or none of them.

What is being brought lies in a folder beside the one that was asked for, and goes on where an
earlier pull of the same release broke off.
"""

import hashlib
import json
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from benchwright.client.answers import Pulled, Release
from benchwright.client.errors import (
    DigestError,
    FolderTakenError,
    StrangeAnswerError,
    UnreachableError,
)
from benchwright.client.transport import NOTHING_LEFT, Transport

CHUNK = 1 << 20
MANIFEST = "manifest.json"
WITHHELD = "hidden/"
CORPUS = "corpus.jsonl"
N_TRIES = 5
# What a zip raises that is none, or of which no member can be read.
BROKEN = (zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError)
# What is being brought, its bytes so far, and of how many (0: not told).
Tell = Callable[[str, int, int], None]


def silent(what: str, done: int, total: int) -> None:
    """Say nothing."""


def pull(
    transport: Transport, release: Release, *, slug: str, into: Path, form: str | None, tell: Tell
) -> Pulled:
    """Bring a release into a new or empty folder, in its own files or in an export's form.

    Raises
    ------
    FolderTakenError
        If the folder holds something.
    DigestError
        If what came is not what the manifest says.
    ClientError
        If the site does not give it.
    """
    _refuse_taken(into)
    into = into.resolve()
    work = into.parent / f".{into.name}.pulling"
    _begin(work, {"site": transport.url, "slug": slug, "version": release.version, "form": form})
    path = f"benchmarks/{slug}/releases/{release.version}/"
    if form is None:
        whole = work / "files"
        _bring_files(transport, path, release, whole, tell)
    else:
        whole = work / "unpacked"
        _bring_export(transport, f"{path}exports/{form}/", release, work, whole, tell)
    files = tuple(sorted(path.relative_to(whole).as_posix() for path in _files_below(whole)))
    n_bytes = sum((whole / name).stat().st_size for name in files)
    if into.is_dir():
        into.rmdir()  # it is empty
    whole.replace(into)
    shutil.rmtree(work, ignore_errors=True)
    return Pulled(
        release=release,
        folder=into,
        files=files,
        n_bytes=n_bytes,
        withheld=tuple(release.hidden_splits),
    )


def _refuse_taken(into: Path) -> None:
    if into.exists() and (not into.is_dir() or any(into.iterdir())):
        raise FolderTakenError(folder=into)


def _begin(work: Path, terms: Mapping[str, Any]) -> None:
    """Keep what an earlier pull of the same has left; throw away what another has."""
    notes = work / "pull.json"
    content = json.dumps(terms, sort_keys=True)
    if notes.exists() and notes.read_text("utf-8") == content:
        return
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    notes.write_text(content, "utf-8")


# --- its own files -------------------------------------------------------------------------------


def _bring_files(
    transport: Transport, path: str, release: Release, whole: Path, tell: Tell
) -> None:
    for name, facts in release.manifest["files"].items():
        if not name.startswith(WITHHELD):
            target = _inside(whole, name)
            _bring(transport, f"{path}files/{name}", target, facts["sha256"], name, tell)
    target = _inside(whole, MANIFEST)
    _bring(transport, f"{path}files/{MANIFEST}", target, None, MANIFEST, tell)
    _check_manifest(target, release)


def _inside(folder: Path, name: str) -> Path:
    """A path below the folder; a site that names another is not believed."""
    parts = PurePosixPath(name).parts
    if not parts or PurePosixPath(name).is_absolute() or ".." in parts or "\\" in name:
        raise StrangeAnswerError(url="the site", why=f"it names a file '{name}'")
    target = folder.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def _bring(
    transport: Transport, path: str, target: Path, expected: str | None, name: str, tell: Tell
) -> None:
    """Bring one file, going on with what is there; it gets its name once it is right."""
    if expected and target.exists() and sha256_of(target) == expected:
        return
    part = target.with_name(f"{target.name}.part")
    n_failed = 0
    while True:
        before = _size(part)
        try:
            _go_on(transport, path, part, expected, name, tell)
            break
        except UnreachableError:
            # An attempt that brought something counts anew.
            n_failed = 1 if expected and _size(part) > before else n_failed + 1
            if n_failed >= N_TRIES:
                raise
            transport.sleep(transport.patience.pause * n_failed)
    if expected:
        _check(part, expected, name)
    part.replace(target)


def _go_on(
    transport: Transport, path: str, part: Path, expected: str | None, name: str, tell: Tell
) -> None:
    done = _size(part) if expected else 0
    if done and sha256_of(part) == expected:
        return  # all of it had come
    headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
    if done:
        headers |= {"Range": f"bytes={done}-", "If-Range": f'"{expected}"'}
    with transport.opened("GET", path, headers=headers) as response:
        if is_beyond := response.status_code == NOTHING_LEFT:
            part.unlink()
        content_range = response.headers.get("Content-Range", "")
        is_rest = response.status_code == 206 and content_range.startswith(f"bytes {done}-")
        done = done if is_rest else 0
        length = response.headers.get("Content-Length", "")
        total = done + int(length) if length.isdecimal() else 0
        if not is_beyond:
            with part.open("ab" if is_rest else "wb") as out:
                for piece in response.iter_bytes():
                    out.write(piece)
                    done += len(piece)
                    tell(name, done, total)
    if is_beyond:  # what was there is of no file that the site has
        _go_on(transport, path, part, expected, name, tell)


def _check(path: Path, expected: str, name: str) -> None:
    digest = sha256_of(path)
    if digest != expected:
        path.unlink()
        raise DigestError(file=name, found=digest, expected=expected)


def _check_manifest(path: Path, release: Release) -> None:
    """The manifest that came is the one whose digests the files were checked against."""
    try:
        manifest = json.loads(path.read_bytes())
    except ValueError:
        manifest = None
    if not isinstance(manifest, dict):
        path.unlink()
        raise StrangeAnswerError(url="the site", why=f"its {MANIFEST} is no JSON object")
    if manifest != release.manifest:
        path.unlink()
        expected = str(release.manifest.get("content_sha256"))
        raise DigestError(
            file=MANIFEST, found=str(manifest.get("content_sha256")), expected=expected
        )


# --- an export -----------------------------------------------------------------------------------


def _bring_export(
    transport: Transport, path: str, release: Release, work: Path, whole: Path, tell: Tell
) -> None:
    """A zip that is made while it is sent has no digest ahead: its parts are checked."""
    archive = work / "export.zip"
    _bring(transport, path, archive, None, archive.name, tell)
    shutil.rmtree(whole, ignore_errors=True)
    whole.mkdir()
    try:
        with zipfile.ZipFile(archive) as opened:
            _unpack(opened, whole)  # which compares each member with its CRC-32
    except BROKEN as error:
        archive.unlink()
        raise StrangeAnswerError(url="the site", why=f"the zip is broken ({error})") from None
    for name, expected in _expected(release.manifest):
        if (whole / name).exists():
            _check(whole / name, expected, name)
    if (whole / MANIFEST).exists():
        _check_manifest(whole / MANIFEST, release)


def _unpack(opened: zipfile.ZipFile, whole: Path) -> None:
    """What is in the zip's one top folder, without that folder."""
    for member in opened.infolist():
        name = member.filename.partition("/")[2]
        if member.is_dir() or not name:
            continue
        with opened.open(member) as source, _inside(whole, name).open("wb") as out:
            shutil.copyfileobj(source, out, CHUNK)


def _expected(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Files that are the same in every form that has them, with their digests."""
    for name, facts in manifest["files"].items():
        if name in SAME_EVERYWHERE or name.startswith("qrels/"):
            yield name, facts["sha256"]
    if digest := (manifest.get("corpus") or {}).get("jsonl_sha256"):
        yield CORPUS, digest


SAME_EVERYWHERE = ("queries.jsonl", "qrels.trec", "families.tsv", "slices.tsv", "weights.tsv")


# --- files ---------------------------------------------------------------------------------------


def sha256_of(path: Path) -> str:
    """Return the hex digest of a file, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _files_below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".part")

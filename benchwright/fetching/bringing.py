"""A collection by its name becomes one zip, which is imported like any other."""

import json
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchwright.fetching.download import FetchLimits, Tell, download
from benchwright.fetching.errors import CollectionShapeError
from benchwright.fetching.names import KNOWN_BEIR, Collection, Kind
from benchwright.files.archives import ZipSource

CHUNK = 1 << 20


def bring(
    collection: Collection, *, downloads: Path, work: Path, limits: FetchLimits, tell: Tell
) -> Path:
    """Return the zip of a collection, in `work` or in `downloads`.

    `downloads` is kept between attempts, so that what is there need not come again.

    Raises
    ------
    AddressRefusedError, DownloadError, ChecksumError
        As `download`.
    CollectionNameError, CollectionShapeError
        If there is no such collection, or it holds no corpus, queries or qrels.
    """
    bringers: dict[Kind, Callable[..., Path]] = {
        Kind.BEIR: _beir,
        Kind.HUB: _hub,
        Kind.IRDS: _irds,
    }
    return bringers[collection.kind](collection, downloads, work, limits, tell)


def _beir(
    collection: Collection, downloads: Path, work: Path, limits: FetchLimits, tell: Tell
) -> Path:
    address = limits.beir_url.format(name=collection.name)
    checksum = ("md5", KNOWN_BEIR[collection.name])
    path = downloads / f"beir-{collection.name}.zip"
    whole = download(address, path, limits=limits, tell=tell, checksum=checksum)
    if not collection.part:
        return whole
    return _forum(whole, collection, work)


def _forum(whole: Path, collection: Collection, work: Path) -> Path:
    """One of the collections that a zip holds, as a zip of its own."""
    part = work / f"{collection.stem}.zip"
    prefix = f"{collection.part}/"
    # Opened as every zip is, so that nothing unsafe in it is passed on.
    source = ZipSource(whole)
    members = [member for member in source.members() if member.startswith(prefix)]
    source.close()
    if not members:
        why = f"its zip has no folder {collection.part}"
        raise CollectionShapeError(name=str(collection), why=f"{why}. Tell who runs the site.")
    with zipfile.ZipFile(whole) as inside, zipfile.ZipFile(part, "w") as out:
        names = {name.split("/", 1)[-1]: name for name in inside.namelist()}
        for member in members:
            info = zipfile.ZipInfo(f"{collection.stem}/{member.removeprefix(prefix)}")
            info.compress_type = zipfile.ZIP_DEFLATED
            with inside.open(names[member]) as content, out.open(info, "w", force_zip64=True) as to:
                shutil.copyfileobj(content, to, CHUNK)
    return part


def _hub(
    collection: Collection, downloads: Path, work: Path, limits: FetchLimits, tell: Tell
) -> Path:
    from benchwright.fetching.hub import bring_repository

    return bring_repository(collection, downloads=downloads, work=work, limits=limits, tell=tell)


def _irds(
    collection: Collection, downloads: Path, work: Path, limits: FetchLimits, tell: Tell
) -> Path:
    from benchwright.fetching.catalog import open_dataset, split_of

    dataset = open_dataset(collection)
    path = work / f"{collection.stem}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        _write(out, f"{collection.stem}/corpus.jsonl", _lines(dataset.documents(tell)))
        _write(out, f"{collection.stem}/queries.jsonl", _lines(dataset.queries()))
        if dataset.has_qrels:
            name = f"{collection.stem}/qrels/{split_of(collection)}.tsv"
            _write(out, name, _qrels(dataset.qrels()))
    return path


def _write(out: zipfile.ZipFile, name: str, lines: Iterable[bytes]) -> None:
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    with out.open(info, "w", force_zip64=True) as member:
        for line in lines:
            member.write(line)


def _lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False).encode(errors="replace") + b"\n"


def _qrels(rows: Iterable[tuple[str, str, int]]) -> Iterator[bytes]:
    yield b"query-id\tcorpus-id\tscore\n"
    for qid, docid, grade in rows:
        yield f"{qid}\t{docid}\t{grade}\n".encode()

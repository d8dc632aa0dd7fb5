"""A dataset repository of the Hub: its files at one commit, in one zip."""

import zipfile
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from benchwright.fetching.addresses import check_host
from benchwright.fetching.download import FetchLimits, Tell, download
from benchwright.fetching.errors import CollectionNameError, CollectionShapeError, DownloadError
from benchwright.fetching.names import Collection

# What may be rows; a repository's scripts are neither fetched nor run.
SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz", ".tsv", ".tsv.gz", ".csv", ".csv.gz")
README = "README.md"
MAX_FILES = 2_000
QRELS_REPOSITORY = "-qrels"


def bring_repository(
    collection: Collection, *, downloads: Path, work: Path, limits: FetchLimits, tell: Tell
) -> Path:
    """Return the zip of a repository's README and rows at the commit its revision is now.

    Where a folder or a pattern is wanted, only the files of that: a repository of many languages
    is larger than anybody needs.

    A repository without qrels is put together with the one of the same name and `-qrels`, as BEIR's
    own are, if there is one.

    Raises
    ------
    CollectionNameError
        If there is no such repository or revision, or it is not public.
    CollectionShapeError
        If it holds no rows.
    AddressRefusedError, DownloadError, ChecksumError
        As `download`.
    """
    check_host(limits.hub_endpoint, may_be_private=limits.may_be_private)
    listing = _listed(collection, collection.name, collection.part or None, limits)
    if listing is None:
        why = "the Hub has no public dataset of this name and revision."
        raise CollectionNameError(given=str(collection), why=why)
    commit, names = listing
    parts: Parts = [(collection.name, commit, "", names)]
    if not collection.inside and not any("qrels" in name.lower() for name in names):
        beside = _listed(collection, collection.name + QRELS_REPOSITORY, None, limits)
        if beside:
            parts.append((collection.name + QRELS_REPOSITORY, beside[0], "qrels/", beside[1]))
    if not any(name != README for *_, some in parts for name in some):
        why = f"the repository has no file of rows ({', '.join(SUFFIXES)})."
        if collection.inside:
            why = f"'{collection.inside}' matches none of its files of rows; write a folder of it."
        raise CollectionShapeError(name=str(collection), why=why)
    stem = f"{collection.name.replace('/', '__')}-{commit[:12]}"
    return _zip(parts, stem, downloads, work, limits, tell)


# Repository, commit, folder in the zip, and its files, {name: SHA-256 or ""}.
Parts = list[tuple[str, str, str, dict[str, str]]]


def _zip(
    parts: Parts, stem: str, downloads: Path, work: Path, limits: FetchLimits, tell: Tell
) -> Path:
    from huggingface_hub import hf_hub_url

    zip_path = work / f"{stem}.zip"
    n_left = limits.max_bytes
    with zipfile.ZipFile(zip_path, "w") as out:
        for repo, commit, prefix, names in parts:
            for name, digest in names.items():
                if prefix and name == README:
                    continue
                address = hf_hub_url(
                    repo, name, repo_type="dataset", revision=commit, endpoint=limits.hub_endpoint
                )
                flat = sha256(f"{repo} {commit} {name}".encode()).hexdigest()
                checksum = ("sha256", digest) if digest else None
                into = downloads / flat
                path = download(address, into, limits=limits, tell=tell, checksum=checksum)
                n_left -= path.stat().st_size
                if n_left < 0:
                    raise DownloadError(
                        address=address,
                        why=f"the repository has more than {limits.max_bytes >> 20:,} MB",
                        advice="The site takes no more (UPLOAD_LIMIT_MB).",
                    )
                out.write(path, f"{stem}/{prefix}{name}")
    return zip_path


def _listed(
    collection: Collection, repo: str, revision: str | None, limits: FetchLimits
) -> tuple[str, dict[str, str]] | None:
    """The commit that a revision is now, and the files to fetch with the SHA-256 that the Hub says.

    It says one of large files. None without such a repository.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (  # type: ignore[attr-defined]  # HTTPError is httpx's
        HTTPError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    api = HfApi(endpoint=limits.hub_endpoint, token=False)
    try:
        info: Any = api.dataset_info(
            repo, revision=revision, timeout=limits.timeout, files_metadata=True
        )
    except (RepositoryNotFoundError, RevisionNotFoundError):
        return None
    except (HTTPError, OSError) as error:
        raise DownloadError(
            address=f"{limits.hub_endpoint}/datasets/{repo}",
            why=f"the Hub did not answer ({type(error).__name__})",
            advice="Start the job again later.",
        ) from error
    listed = {file.rfilename: file.lfs for file in info.siblings or []}
    names = sorted(listed)
    chosen = [name for name in names if name == README or name.lower().endswith(SUFFIXES)]
    chosen = [name for name in chosen if _is_safe(name) and _is_inside(name, collection.inside)]
    if len(chosen) > MAX_FILES:
        why = f"the repository has {len(chosen):,} files; at most {MAX_FILES:,} are taken."
        raise CollectionShapeError(name=str(collection), why=why)
    return str(info.sha), {
        name: str(listed[name].sha256) if listed[name] else "" for name in chosen
    }


def _is_inside(name: str, pattern: str) -> bool:
    is_there = name.startswith(f"{pattern}/") or fnmatchcase(name, pattern)
    return not pattern or name == README or is_there


def _is_safe(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in name

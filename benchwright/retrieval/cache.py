"""Encoded corpora kept on disk, in `{root}/{model}/{dataset}/`, and used only where they belong."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from benchwright.files.encodings import as_bytes
from benchwright.findings import Finding, Severity
from benchwright.retrieval import storing
from benchwright.retrieval.errors import StoreError

Content = TypeVar("Content")
Parts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cached(Generic[Content]):
    """What was read or made, and what there is to say about it."""

    content: Content
    is_read: bool
    findings: tuple[Finding, ...] = ()


def cache_folder(root: Path, model: str, dataset: str) -> Path:
    """Where the corpus `dataset` as `model` encodes it is kept; two names never share a folder.

    Examples
    --------
    >>> cache_folder(Path("cache"), "org/model", "..").as_posix()
    'cache/org%2Fmodel/%2E%2E'
    """
    return root / _folder_name(model) / _folder_name(dataset)


def corpus_digest(documents: Iterable[tuple[str, str]]) -> str:
    """SHA-256 of ids and texts, whatever their order; every text counts, empty ones too."""
    each = sorted((as_bytes(docid), _digest(text)) for docid, text in documents)
    whole = sha256()
    for name, digest in each:
        whole.update(len(name).to_bytes(8, "big") + name + digest)
    return whole.hexdigest()


def cached(
    folder: Path,
    kind: str,
    key: Mapping[str, Any],
    *,
    make: Callable[[], Content],
    to_parts: Callable[[Content], Parts],
    from_parts: Callable[[Parts], Content],
) -> Cached[Content]:
    """What the folder holds, if it is whole and was made by `key`; else it is made and kept.

    A folder of something else, or a damaged one, is told in `findings` and written anew.

    Raises
    ------
    StoreError
        If the folder is there and was not written by this program.
    """
    findings: list[Finding] = []
    if (folder / storing.MANIFEST).exists():
        try:
            differing = _differing(storing.made_by(folder), key)
            if not differing:
                stored = storing.read_folder(folder, kind)
                return Cached(from_parts(stored.parts), is_read=True)
            findings.append(_of_something_else(folder, differing))
        except (StoreError, KeyError, TypeError, ValueError) as error:
            findings.append(_damaged(folder, error))
    content = make()
    storing.write_folder(folder, kind, dict(key), to_parts(content))
    return Cached(content, is_read=False, findings=tuple(findings))


def _folder_name(name: str) -> str:
    quoted = quote(name, safe=" ") or "%"
    return quoted.replace(".", "%2E") if not quoted.strip(".") else quoted


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _differing(facts: Mapping[str, Any], key: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in facts.keys() | key.keys() if facts.get(name) != key.get(name))


def _of_something_else(folder: Path, differing: list[str]) -> Finding:
    return Finding(
        code="cache-of-something-else",
        severity=Severity.WARNING,
        target="retrieval",
        where=str(folder),
        message=f"the cache was made with another {', '.join(differing)}, so it was made anew.",
        advice="Give each model, revision and corpus a cache of its own, or leave it to this.",
    )


def _damaged(folder: Path, error: Exception) -> Finding:
    return Finding(
        code="cache-damaged",
        severity=Severity.WARNING,
        target="retrieval",
        where=str(folder),
        message=f"the cache could not be used ({error}), so it was made anew.",
        advice="Look after the disk if this comes again.",
    )

"""A folder or zip in any format that releases are written in, looked over file by file."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from benchwright.files.archives import open_source
from benchwright.files.sources import DEFAULT_LIMITS, Limits, Source
from benchwright.formats.beir import CORPUS, QUERIES
from benchwright.formats.unlisted import MANIFEST
from benchwright.linting.beir_files import DOCUMENTS, check_beir, check_ids_only
from benchwright.linting.folder import EnoughError, Folder, FolderReport
from benchwright.linting.hub_files import README, check_hub
from benchwright.linting.trec_files import check_ir_datasets, check_trec
from benchwright.releases.machines import (
    LABELS,
    NOTE,
    TELLS_OF_MACHINE,
    manifest_kind,
    manifest_names_labels,
)


def lint_folder(
    path: Path,
    *,
    formats: tuple[str, ...] = (),
    limit: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> FolderReport:
    """Return what is wrong with a folder or zip, each case with its file and line.

    Parameters
    ----------
    formats
        What it is meant to be; told by its files where it is not said.
    limit
        Stop after so many findings.

    Raises
    ------
    ArchiveError, MissingFileError
        If it is neither a folder nor a safe zip, or not there.
    """
    with open_source(path, limits=limits) as source:
        names = formats or formats_of(source)
        report = FolderReport(names)
        look = Folder(path, source, report, limit)
        try:
            for check in dict.fromkeys(CHECKS[name] for name in names):
                check(look)
            _look_at_machines(look)
        except EnoughError:
            report.is_cut = True
    return report


def _look_at_machines(look: Folder) -> None:
    """Tell of a machine's grades and labels of which neither card nor note says anything.

    A people's release whose manifest names the labels beside its grades has said so.
    """
    is_by_machine = manifest_kind(look.source)
    labels = look.source.plain_or_gz(LABELS)
    if not is_by_machine and (labels is None or manifest_names_labels(look.source)):
        return
    words = b"".join(
        line for name in (README, NOTE) if name in look.members for line in look.source.lines(name)
    )
    if not TELLS_OF_MACHINE.search(words.decode("utf-8", "replace")):
        look.say("machine-untold", MANIFEST if is_by_machine else LABELS)


def formats_of(source: Source) -> tuple[str, ...]:
    """Return the formats that a folder's files say it is in; `beir` where nothing says more."""
    members = set(source.members())
    plain = {name.removesuffix(".gz") for name in members}
    if any(name.endswith(".parquet") for name in members):
        if "task.py" in members:
            return ("hub", "mteb")
        return ("hub",) if _has_scores(source, members) else ("sentence-transformers",)
    if "docs.tsv" in plain:
        return ("ir-datasets",)
    is_release = CORPUS not in plain and {QUERIES, "qrels.trec"} <= plain  # its own files
    if DOCUMENTS in plain or is_release:
        return ("ids-only",)
    if CORPUS not in plain and ("topics.txt" in plain or "qrels.trec" in plain):
        return ("trec",)
    return ("beir", "croissant") if "croissant.json" in members else ("beir",)


def formats_like(name: str, path: Path) -> tuple[str, ...]:
    """Return the formats that a folder's files say, if the named one is among them; else that."""
    with open_source(path) as source:
        names = formats_of(source)
    return names if name in names else (name,)


def _has_scores(source: Source, members: set[str]) -> bool:
    """Tell the layout with grades from the one with positives only, by the README's words."""
    if README not in members:
        return True
    text = b"".join(source.lines(README))
    return b"score" in text or b"dataset_info" not in text


CHECKS: Mapping[str, Callable[[Folder], None]] = MappingProxyType(
    {
        "beir": check_beir,
        "croissant": check_beir,
        "ids-only": check_ids_only,
        "trec": check_trec,
        "ir-datasets": check_ir_datasets,
        "hub": check_hub,
        "mteb": check_hub,
        "sentence-transformers": check_hub,
    }
)

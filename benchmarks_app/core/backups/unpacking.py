"""A backup that comes as a stream of tar: laid out as the folder it would have been."""

import re
import tarfile
from pathlib import Path
from typing import IO

from benchmarks_app.core.backups.errors import BackupDamagedError
from benchmarks_app.core.backups.layout import BackupFolder
from benchmarks_app.core.backups.targets import copied

# What a backup is made of; whatever else a stream has is passed over.
NAME = re.compile(
    r"(?:\./)?((?:objects/[0-9a-f]{2}/[0-9a-f]{64})|(?:snapshots/\d{8}T\d{6}\.\d{6}Z/"
    r"(?:manifest\.json(?:\.sha256)?|files\.jsonl\.zst|rows/[a-z0-9_]+\.jsonl\.zst)))"
)


def unpack(stream: IO[bytes], path: Path) -> BackupFolder:
    """Write a stream of tar into an empty folder.

    Raises
    ------
    BackupDamagedError
        If it is none, or ends too early.
    """
    folder = BackupFolder(path)
    folder.make()
    try:
        with tarfile.open(fileobj=stream, mode="r|*") as tar:
            for member in tar:
                name = NAME.fullmatch(member.name)
                content = tar.extractfile(member) if name and member.isreg() else None
                if name and content:
                    target = path / name.group(1)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    copied(content, target, lambda n_bytes: None)
    except (tarfile.TarError, EOFError) as error:
        raise BackupDamagedError(name="on standard input", problems=str(error)) from error
    return folder

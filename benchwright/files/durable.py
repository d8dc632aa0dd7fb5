"""What a power cut leaves: bytes and names that are on the disk."""

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Wait until a file's bytes, or the names in a folder, are on the disk.

    Where no folder can be waited for (outside of POSIX), this waits for nothing.
    """
    if os.name == "posix":
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, whose names are on the disk; one that is there stays."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(exist_ok=True)
        sync(path.parent)

"""Where tests keep their files: of no worth after them, so in memory where there is room."""

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
WANTED = 4 << 30  # bytes; a run keeps about a tenth of it at a time


def take_temporary_folder() -> str:
    """Memory, where it can be written to and has room; else the system's own folder.

    A disk that is asked 15,000 times to make folders and to keep what it was given takes as long
    as the tests themselves. Where `TMPDIR` says another folder, it is that one.
    """
    has_room = os.access(MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(MEMORY).free >= WANTED
    if "TMPDIR" not in os.environ and has_room:
        tempfile.tempdir = str(MEMORY)  # pytest has looked for one already, which is remembered
    return tempfile.gettempdir()

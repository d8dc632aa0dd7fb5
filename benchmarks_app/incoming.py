"""Files while they are sent in: each is locked by who receives it, so that leftovers are known."""

import time
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows, which removes no file that is open
    fcntl = None  # type: ignore[assignment]

from django.conf import settings
from django.core.files.uploadhandler import TemporaryFileUploadHandler

# A file is made a moment before it is locked.
YOUNG_SECONDS = 60


class LockedFileUploadHandler(TemporaryFileUploadHandler):
    """Spools a large file as Django does; the lock goes with the process, however it ends."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        if fcntl is not None:
            fcntl.flock(self.file.fileno(), fcntl.LOCK_SH)


def clear_incoming() -> None:
    """Remove what uploads that were cut off have left: files that no process receives."""
    for path in Path(settings.FILE_UPLOAD_TEMP_DIR).glob("*.upload*"):
        try:
            if time.time() - path.stat().st_mtime < YOUNG_SECONDS:
                continue
            if fcntl is not None:
                with path.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        except OSError:  # gone meanwhile, or being received
            continue

"""What takes long to make and is made once in a test run, though several processes need it."""

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

# Set by the first process of a run, whose children inherit it.
FOLDER = "BENCHWRIGHT_TEST_RUN"


def begin_run() -> Path:
    """The folder of this run, chosen here unless the process that started this one has.

    It goes with the process that chose it.
    """
    if FOLDER not in os.environ:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="benchwright-run-")
        atexit.register(end_run)
    return Path(os.environ[FOLDER])


def end_run() -> None:
    """Remove what was made; by the process that began."""
    shutil.rmtree(os.environ.pop(FOLDER, ""), ignore_errors=True)


def run_name() -> str:
    """A name of this run alone, of letters, digits and `_`."""
    return begin_run().name.removeprefix("benchwright-run-").lower()


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """The folder that `make` filled, in whichever process came first; the others wait for it."""
    run = begin_run()
    folder, making = run / name, run / f"{name}.making"
    with (run / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir()
            make(making)
            making.rename(folder)
    return folder

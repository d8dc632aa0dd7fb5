"""Copies of an object store's files on this host, within a limit of size.

What was used longest ago goes first, and nothing that somebody uses: who asks for a file puts a
mark of its own beside it, which counts for as long as its thread is inside `using` and its process
lives. All processes of a host share the folder.

    files/KEY     the copies; KEY is made of the file's name
    used/KEY      empty; when it was last asked for (a copy's own times are of its digest)
    holders/ID/   the marks of one thread, and a `lock` that its process holds
"""

import fcntl
import hashlib
import os
import shutil
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks_app.store.folder import move

# Room is made for so much more than is needed, so that not every file has to look for some.
SPARE = 0.1
# A process looks through the folder anew when it has put in so much of the limit.
LOOKS_EVERY = 0.02


class FileCache:
    """The folder of copies; `limit` is in bytes and passed only by what is in use."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder, self.limit = folder, limit
        self._files, self._used, self._holders = (
            folder / part for part in ("files", "used", "holders")
        )
        for part in (self._files, self._used, self._holders):
            part.mkdir(parents=True, exist_ok=True)
        self._threads = threading.local()
        self._n_new = limit  # nothing is known of what is there

    # --- asking ----------------------------------------------------------------------------

    def held(self, name: str) -> Path | None:
        """The copy of a file, which now stays until its user is done; None where there is none."""
        key = _key(name)
        path = self._files / key
        with self._locked(fcntl.LOCK_SH):
            if not path.exists():
                return None
            self._holder().mark(key)
            (self._used / key).touch()
        return path

    def partial(self) -> Path:
        """Where the copy of a file can be written until it is whole."""
        return self.folder / f"{uuid.uuid4().hex}.part"

    def take(self, path: Path, name: str) -> Path:
        """Move a whole file in; it is held as by `held`. Another copy of it is put aside."""
        key, size = _key(name), path.stat().st_size
        with self._locked(fcntl.LOCK_SH):
            self._holder().mark(key)
            (self._used / key).touch()
            move(path, self._files / key, self.partial())
        self._n_new += size
        if self._n_new >= self.limit * LOOKS_EVERY:
            self.make_room()
        return self._files / key

    def drop(self, name: str) -> None:
        """Remove a copy; who has opened it can read on."""
        (self._files / _key(name)).unlink(missing_ok=True)

    @contextmanager
    def using(self) -> Iterator[None]:
        """What this thread asks for inside is in use until the end of it."""
        holder = self._holder()
        before = set(holder.keys)
        try:
            yield
        finally:
            holder.release(holder.keys - before)

    def release(self) -> None:
        """Nothing that this thread has asked for is in use any more."""
        holder = self._holder()
        holder.release(holder.keys)

    # --- room ------------------------------------------------------------------------------

    def size(self) -> int:
        """Bytes of all copies."""
        return sum(size for size, _ in self._sizes().values())

    def make_room(self) -> None:
        """Remove what was used longest ago until the limit holds, but nothing in use."""
        with self._locked(fcntl.LOCK_EX):
            self._n_new = 0
            copies = self._sizes()
            total = sum(size for size, _ in copies.values())
            if total <= self.limit:
                return
            in_use = self._in_use()
            for key in sorted(copies, key=lambda key: copies[key][1]):
                if total <= self.limit * (1 - SPARE):
                    return
                if key not in in_use:
                    total -= copies[key][0]
                    (self._files / key).unlink(missing_ok=True)
                    (self._used / key).unlink(missing_ok=True)

    def sweep(self, oldest: float) -> None:
        """Remove what killed processes have left: marks, and halves of files of before `oldest`."""
        with self._locked(fcntl.LOCK_EX):
            self._in_use()
        for path in self.folder.glob("*.part*"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _sizes(self) -> dict[str, tuple[int, float]]:
        """{key: bytes, and when it was last used} of every copy."""
        copies = {}
        for entry in os.scandir(self._files):
            with suppress(FileNotFoundError):
                copies[entry.name] = entry.stat().st_size, (self._used / entry.name).stat().st_mtime
        return copies

    def _in_use(self) -> set[str]:
        """What living threads have marked; what is left of dead processes is removed."""
        keys: set[str] = set()
        for folder in self._holders.iterdir():
            if _is_free(folder / "lock"):
                shutil.rmtree(folder, ignore_errors=True)
            else:
                keys.update(path.name for path in folder.iterdir())
        return keys

    def _holder(self) -> "_Holder":
        holder: _Holder | None = getattr(self._threads, "holder", None)
        if holder is None or holder.pid != os.getpid():  # a fork has its parent's
            holder = self._threads.holder = _Holder(self._holders)
        return holder

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        with (self.folder / "lock").open("a") as lock:
            fcntl.flock(lock, how)
            yield


class _Holder:
    """The marks of one thread; they count while its lock is held, which ends with the process."""

    def __init__(self, folder: Path) -> None:
        self.pid = os.getpid()
        self.keys: set[str] = set()
        self._folder = folder / uuid.uuid4().hex
        # Whole at once: a folder without a lock is taken for a dead one's.
        new_folder = folder.parent / f"{self._folder.name}.holder"
        new_folder.mkdir()
        self._lock = (new_folder / "lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        new_folder.rename(self._folder)

    def mark(self, key: str) -> None:
        if key not in self.keys:
            (self._folder / key).touch()
            self.keys.add(key)

    def release(self, keys: set[str]) -> None:
        for key in keys:
            (self._folder / key).unlink(missing_ok=True)
        self.keys = self.keys - keys

    def __del__(self) -> None:
        self._lock.close()


def _is_free(lock: Path) -> bool:
    try:
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except FileNotFoundError:
        return True
    return True


def _key(name: str) -> str:
    """What a copy is called: of its name, with its ending, by which readers know what it is."""
    return hashlib.sha256(name.encode()).hexdigest() + Path(name).suffix

"""What a store of files can do, whatever it lies on."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from io import BufferedReader
from pathlib import Path


class Store(ABC):
    """Files by name, each written once; names are relative, with `/` between their parts.

    Every method but `exists`, `delete` and `listed` raises FileNotFoundError where there is no file
    of that name; each raises StoreAwayError, an OSError, where the store cannot be asked.
    """

    #: What it is called for people; it holds no secret.
    place: str
    #: Where its files lie on this machine; None where they lie elsewhere.
    folder: Path | None = None

    @abstractmethod
    def put(self, path: Path, name: str, sha256: str) -> None:
        """Move a file of this machine in under a name; nobody sees a half of it there."""

    @abstractmethod
    def put_first(self, name: str, content: bytes) -> bytes:
        """A few bytes under a name, from whoever came first: what is there afterwards."""

    @abstractmethod
    def copy(self, name: str, to: str) -> None:
        """The same bytes under another name as well."""

    @abstractmethod
    def local(self, name: str, sha256: str = "") -> Path:
        """A path on this machine with its content, to be read and not to be changed.

        Raises
        ------
        AlteredError
            If its bytes do not have the SHA-256 that is given.
        """

    @abstractmethod
    def opened(self, name: str) -> BufferedReader:
        """Its bytes as they are stored now, past any cache, read as far as they are asked for."""

    @abstractmethod
    def exists(self, name: str) -> bool: ...

    @abstractmethod
    def size(self, name: str) -> int: ...

    @abstractmethod
    def changed_at(self, name: str) -> datetime: ...

    @abstractmethod
    def delete(self, name: str) -> None:
        """Remove a file; none is no matter."""

    @abstractmethod
    def listed(self, folder: str) -> tuple[list[str], list[str]]:
        """Names of the folders and of the files right below a folder, or of none."""

    @abstractmethod
    def check(self) -> None:
        """Return at once where files can be read and written; else raise an OSError."""

    def cached(self) -> tuple[int, int] | None:
        """Bytes of copies on this host, and how many there may be; None where none are made."""
        return None

    def using(self) -> AbstractContextManager[None]:
        """What `local` gives inside of it stays where it is until its end."""
        return nullcontext()

    @abstractmethod
    def release(self) -> None:
        """Nothing that `local` has given this thread so far is in use any more."""

    @abstractmethod
    def sweep(self) -> None:
        """Remove what writing that was cut off has left behind."""

"""Where files lie that a site keeps: one small interface, a folder or an object store behind it.

`file_store()` is the one way to them: nothing else asks Django's storage. `files.py` stands on it
and knows what the files are for. Files are written once under a name, and read through a path of
this machine: of an object store that is a copy in this host's cache, whose digest was checked.
"""

from functools import lru_cache
from typing import Any

from django.core.files.storage import FileSystemStorage, storages

from benchmarks_app.store.folder import FolderStore
from benchmarks_app.store.interface import Store

__all__ = ["Store", "file_store"]


def file_store() -> Store:
    """The store of this site, as the settings say (`BENCHWRIGHT_STORE`)."""
    storage = storages["default"]
    return FolderStore(storage) if isinstance(storage, FileSystemStorage) else _objects(storage)


@lru_cache(maxsize=1)
def _objects(storage: Any) -> Store:
    from benchmarks_app.store.objects import ObjectStore  # what it needs is an extra

    return ObjectStore(storage)


def release_files(**_: Any) -> None:
    """At the end of a request: what it read may be put out of the cache."""
    file_store().release()

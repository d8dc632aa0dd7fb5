"""Writing in turn: each person's writes one after the other, holding up nobody else."""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from django.db import connection, transaction

from annotation.common.services import statements

# SQLite lets one writer in at a time, and makes the others sleep and try again, some of them for
# long. The threads of this process queue up here instead.
_line = threading.Lock()


@contextmanager
def turn_of(annotator_id: int) -> Iterator[None]:
    """A transaction in which nothing else of the same person is being written."""
    with _in_line(), transaction.atomic():
        statements.wait_for_own_turn(annotator_id)
        yield


def _in_line() -> AbstractContextManager[object]:
    """Within a transaction that has begun, the database has let us in already."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return nullcontext()
    return _line

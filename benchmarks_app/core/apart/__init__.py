"""Files from outside are read in processes of their own, where they can do no harm.

`call` and `stream` of a `Pool` run a function that is marked as a `reader` in a child process with
limits on memory, processor time, silence, open files and what it writes and answers. What it
returns, yields or raises comes back as plain data; a child that dies, hangs or grows is a problem
of the file that it read (`errors`), and the next file gets another child. Readers live in the
cores: a child knows no Django, no database and no secret (docs/adr).
"""

from benchmarks_app.core.apart.errors import (
    FileTooCostlyError,
    ReaderEndedError,
    ReadersBusyError,
    UnreadableFileError,
)
from benchmarks_app.core.apart.limits import Limits
from benchmarks_app.core.apart.pool import Pool
from benchmarks_app.core.apart.readers import reader

__all__ = [
    "FileTooCostlyError",
    "Limits",
    "Pool",
    "ReaderEndedError",
    "ReadersBusyError",
    "UnreadableFileError",
    "reader",
]

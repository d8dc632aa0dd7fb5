"""Files from outside are read in processes of their own, where they can do no harm.

`call` and `stream` of a `Pool` run a function that is marked as a `reader` in a child process with
limits on memory, processor time, silence, open files and what it writes and answers. What it
returns, yields or raises comes back as plain data; a child that dies, hangs or grows is a problem
of the file that it read (`calls`), and the next file gets another child. Readers live in the
cores: a child knows no Django, no database and no secret (docs/adr).
"""

from benchwright.sandbox.calls import (
    FileTooCostlyError,
    Limits,
    ReaderEndedError,
    ReadersBusyError,
    UnreadableFileError,
    reader,
)
from benchwright.sandbox.pool import Pool

__all__ = [
    "FileTooCostlyError",
    "Limits",
    "Pool",
    "ReaderEndedError",
    "ReadersBusyError",
    "UnreadableFileError",
    "reader",
]

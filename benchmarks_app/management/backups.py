"""What the commands about backups share: how far they are, and how they end."""

import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from django.core.management.base import CommandError, OutputWrapper
from django.db import DatabaseError

from benchwright.backups.errors import BackupError
from benchwright.cli.start import INTERRUPTED
from benchwright.full_disk import is_disk_full

TELL_EVERY_SECONDS = 1.0
# 1 says that something is broken or left to do; this that nothing was done.
NOTHING_DONE = 2


class Progress:
    """Says what is done just now, at most once a second."""

    def __init__(self, out: OutputWrapper, *, is_on: bool) -> None:
        self.out = out
        self.is_on = is_on
        self.told_at = time.monotonic()

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        if self.is_on and now - self.told_at >= TELL_EVERY_SECONDS:
            self.told_at = now
            self.out.write(text)


@dataclass
class Ending:
    """What a command says, and ends with, if it fails just now."""

    text: str
    returncode: int = NOTHING_DONE


@contextmanager
def ending_clearly(err: OutputWrapper, *, place: str, nothing: str) -> Iterator[Ending]:
    """Let a failure end the command in a sentence; `nothing` says what was therefore not done.

    `place` is on the disk that may get full. Once something is done, the command says so in what
    it is given here.
    """
    with suppress(ValueError):  # in another thread than the first, where no signal arrives
        signal.signal(signal.SIGTERM, _interrupt)
    ending = Ending(nothing)
    try:
        yield ending
    except KeyboardInterrupt:
        err.write(f"Stopped. {ending.text}")
        raise SystemExit(INTERRUPTED) from None
    except BackupError as error:
        text = str(error) if ending.text == nothing else f"{error} {ending.text}"
        raise CommandError(text, returncode=ending.returncode) from error
    except BrokenPipeError as error:
        text = f"Whoever was to read the stream is gone. {ending.text}"
        raise CommandError(text, returncode=ending.returncode) from error
    except (OSError, DatabaseError, sqlite3.Error) as error:
        why = f"No room is left on the disk ({place})" if is_disk_full(error) else str(error)
        raise CommandError(f"{why}. {ending.text}", returncode=ending.returncode) from error


def _interrupt(*_: Any) -> NoReturn:
    raise KeyboardInterrupt

"""What the commands that ask a site share: which site, with which token, and a line of progress."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.main import option

if TYPE_CHECKING:
    from benchwright.client import Client

CLEAR_LINE = "\r\x1b[K"
PAUSE = 0.2
Decorator = Callable[[Any], Any]


def server_option() -> Decorator:
    """The option that names the site."""
    return option(
        "--server",
        metavar="URL",
        group="Site",
        help="Address of the site; by default BENCHWRIGHT_SERVER, or the one last signed in to.",
    )


@contextmanager
def asked(server: str | None, *, needs_token: bool) -> Iterator["Client"]:
    """Give a client of the site that is meant; say so where a token would travel in the open."""
    import warnings

    from benchwright.client import Client, InsecureServerWarning
    from benchwright.client.servers import Servers, insecurity_of, login_for, required

    login = login_for(server, servers=Servers(), environment=os.environ)
    if needs_token:
        required(login)
    if login.token and (insecurity := insecurity_of(login.url)):
        click.echo(f"Warning: {insecurity}", err=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureServerWarning)  # it was just said
        client = Client(login.url, login.token)
    with client:
        yield client


class Line:
    """One line on a terminal's standard error that says how far things are; silent elsewhere."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._told_at = 0.0

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown and self._told_at:
            click.echo(CLEAR_LINE, nl=False, err=True)

    def tell(self, said: str, *, is_new: bool = False) -> None:
        """Show a sentence in place of the last; a few times a second at most, unless it is new."""
        now = time.monotonic()
        if self._is_shown and (is_new or now - self._told_at >= PAUSE):
            self._told_at = now
            click.echo(f"{CLEAR_LINE}{said}", nl=False, err=True)

    def bytes(self, what: str, done: int, total: int) -> None:
        """Say how much of a file is through."""
        share = f" of {size(total)}, {done / total:.0%}" if total else ""
        self.tell(f"{what}: {size(done)}{share}")


def size(n_bytes: int) -> str:
    """Return a number of bytes as people say it.

    Examples
    --------
    >>> size(900), size(1_500_000)
    ('900 bytes', '1.5 MB')
    """
    return f"{n_bytes} bytes" if n_bytes < 1000 else f"{n_bytes / 1e6:,.1f} MB"

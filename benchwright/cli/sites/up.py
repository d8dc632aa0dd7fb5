"""`benchwright up`: the site's own command of that name, wherever the site is installed."""

import gc
from importlib import import_module
from importlib.util import find_spec

import click

from benchwright.cli.main import PROGRAM
from benchwright.errors import SITE, TOOLS, MissingPackageError

# A name, since the library knows nothing of what stands on it.
SERVER_COMMANDS = "benchmarks_app.__main__"


def server_command(name: str, *first: str, help: str) -> click.Command:
    """A command that hands its words on, after the `first`, to the server command of its name.

    What options there are, and what `--help` says, is declared there.
    """

    @click.command(
        name=name,
        short_help=help,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True},
    )
    @click.argument("words", nargs=-1, type=click.UNPROCESSED)
    def command(words: tuple[str, ...]) -> None:
        for package, distribution in {**TOOLS, **SITE}.items():
            if find_spec(package) is None:
                raise MissingPackageError(
                    what=f"`{PROGRAM} {name}`", package=distribution, extra="site"
                )
        gc.enable()  # unlike other commands it lives for long
        import_module(SERVER_COMMANDS).main([PROGRAM, name, *first, *words])

    return command


command = server_command(
    "up", help="Start a site: web server, worker and sweeper together; one Ctrl-C stops all."
)

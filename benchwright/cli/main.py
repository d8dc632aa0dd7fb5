"""The `benchwright` command: one group that finds the commands of every app by name.

An app's `cli` package says in `COMMANDS` which commands it has, `{name: (module, one line)}`; the
module holds its `click.Command` as `command` and is imported only when that command is run. So
`benchwright --help` imports none of them, and no app imports another.
"""

import gc
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from benchwright.cli.exit_codes import INTERRUPTED, NO_READER
from benchwright.errors import BenchmarkError, MissingFileError, MissingPackageError

PROGRAM = "benchwright"
APPS = ("benchwright.cli.scoring", "benchwright.cli.collections", "benchwright.cli.sites")

NOUNS = {
    "run": ("benchwright.cli.scoring", "Score, compare, gate and check runs."),
    "system": ("benchwright.cli.systems", "Make and measure the runs of systems and models."),
    "collection": ("benchwright.cli.collections", "Pool, group, sample and split."),
    "site": ("benchwright.cli.sites", "Sign in to a site, bring a release, submit a run."),
}
"""A noun has the commands whose modules are in its room; each is also called without it."""

DONE, FAILED, USAGE = 0, 1, 2
VERDICTS = range(10, 14)
JUDGE = "gate"
"""The one command that may end with a verdict."""

EXIT_CODES = (
    ("0", "done; `check` found nothing wrong, `verify` no difference"),
    ("1", "a file is not what was expected, a check failed, or the program itself failed"),
    ("2", "the command line is wrong, or names a file that is not there"),
    ("10-13", "verdicts of `gate`: hold, block, inconclusive, not comparable; no other meaning"),
    ("130", "interrupted (Ctrl-C)"),
    ("141", "whoever read the output closed it early, as `head` does"),
)
ENVIRONMENT = (
    ("BENCHWRIGHT_DEBUG", "if set, an unexpected error shows where it happened, as --debug does"),
    ("BENCHWRIGHT_SCANNER", "twin or extension: which of the two scanners has to read the files"),
    ("BENCHWRIGHT_SERVER", "the site that commands ask, where --server names none"),
    ("BENCHWRIGHT_TOKEN", "the token they ask it with, in place of the one that `login` keeps"),
    ("NO_COLOR", "if set, a terminal gets no colour"),
)


class Option(click.Option):
    """An option that stands under a heading of the help page.

    `old` are spellings of before: they are taken, and help does not show them.
    """

    def __init__(
        self,
        *declared: Any,
        group: str = "Options",
        old: Sequence[str] = (),
        **settings: Any,
    ) -> None:
        super().__init__(*declared, **settings)
        self.group, self.old = group, old

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        names, self.opts = self.opts, [*self.opts, *self.old]
        super().add_to_parser(parser, ctx)
        self.opts = names


def option(*declared: str, group: str, **settings: Any) -> Callable[[Any], Any]:
    """A `click.option` under a heading."""
    return click.option(*declared, cls=Option, group=group, **settings)


class Command(click.Command):
    """A command whose help is a whole manual page: options by topic, examples, exit codes."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.examples = examples

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and isinstance(parameter, click.Option):
                groups.setdefault(getattr(parameter, "group", "Help"), []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        write_conventions(formatter)


def write_conventions(formatter: click.HelpFormatter) -> None:
    """What holds for every command: how it ends, and what it takes from the environment."""
    for title, rows in (("Exit codes", EXIT_CODES), ("Environment", ENVIRONMENT)):
        with formatter.section(title):
            formatter.write_dl(rows)


class Commands(click.Group):
    """The group; a command is imported when it is asked for by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.known())

    def known(self) -> Mapping[str, tuple[str, str]]:
        """Every command's module and one line, in the order in which help shows them."""
        return {name: commands for app in _apps() for name, commands in app.COMMANDS.items()}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in NOUNS:
            return Noun(self, cmd_name)
        if cmd_name not in self.known():
            return None
        command: click.Command = importlib.import_module(self.known()[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.known().items()])
        with formatter.section("Commands by noun, as in `benchwright run score`"):
            formatter.write_dl([(noun, line) for noun, (_, line) in NOUNS.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_conventions(formatter)

    def main(  # type: ignore[override] # it ends the process, however it is called
        self, args: Sequence[str] | None = None, **settings: Any
    ) -> NoReturn:
        """Run a command and exit as `EXIT_CODES` says."""
        if f"_{PROGRAM.upper()}_COMPLETE" in os.environ:
            super().main(args, prog_name=PROGRAM)
        arguments = list(sys.argv[1:] if args is None else args)
        with _without_collector():
            code = _exit_code(self, arguments)
        if args is None and "tempfile" not in sys.modules:
            # The process ends, and Python would look through everything for cycles once more.
            # That search is what removes temporary files, so where there may be one it is left.
            gc.freeze()
        sys.exit(code)


class Noun(click.Group):
    """The commands of one noun."""

    def __init__(self, whole: Commands, noun: str) -> None:
        self.room, line = NOUNS[noun]
        self.whole = whole
        super().__init__(noun, help=line)

    def list_commands(self, ctx: click.Context) -> list[str]:
        known = self.whole.known().items()
        return [name for name, (module, _) in known if module.startswith(f"{self.room}.")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        is_here = cmd_name in self.list_commands(ctx)
        return self.whole.get_command(ctx, cmd_name) if is_here else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        known = self.whole.known()
        with formatter.section("Commands"):
            formatter.write_dl([(name, known[name][1]) for name in self.list_commands(ctx)])


@contextmanager
def _without_collector() -> Iterator[None]:
    """Spare a process that lives for a moment the search for cycles, a tenth of its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _apps() -> Iterator[Any]:
    return map(importlib.import_module, APPS)


def _exit_code(group: Commands, arguments: list[str]) -> int:
    """Run the command; what it comes to, as a code that is never mistaken for a verdict."""
    try:
        code = _run(group, list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more as it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_READER
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else FAILED
    except Exception as error:  # noqa: BLE001 the boundary of the process
        return told(error, is_debug=is_debug(arguments))
    return FAILED if code in VERDICTS and _command_of(arguments) != JUDGE else code


def _run(group: Commands, arguments: list[str]) -> int:
    try:
        with group.make_context(PROGRAM, arguments) as ctx:
            group.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    return DONE


def _command_of(arguments: Sequence[str]) -> str | None:
    words = (word for word in arguments if not word.startswith("-"))
    return next((word for word in words if word not in NOUNS), None)


def is_debug(arguments: Sequence[str]) -> bool:
    return bool(os.environ.get("BENCHWRIGHT_DEBUG")) or arguments[:1] == ["--debug"]


def told(error: Exception, *, is_debug: bool) -> int:
    """Say on standard error what went wrong, and how the process ends."""
    if is_debug:
        import traceback

        click.echo(traceback.format_exc(), err=True)
    if isinstance(error, ModuleNotFoundError):
        error = MissingPackageError.of(error, "This command")
    if isinstance(error, BenchmarkError):
        click.echo(f"Error: {error}", err=True)
        return USAGE if isinstance(error, MissingFileError) else FAILED
    if isinstance(error, OSError) and error.filename is not None:
        click.echo(f"Error: {os.fsdecode(error.filename)}: {error.strerror}.", err=True)
        return USAGE if isinstance(error, FileNotFoundError) else FAILED
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    hint = "" if is_debug else " Set BENCHWRIGHT_DEBUG=1 and run it again to see where."
    click.echo(f"Error: {PROGRAM} failed, which is its own fault: {what}.{hint}", err=True)
    return FAILED


def _show_version(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if not is_wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import version

    python = ".".join(map(str, sys.version_info[:3]))
    about = [line for app in _apps() for line in app.about()]
    click.echo("\n".join([f"{PROGRAM} {version(PROGRAM)}", f"Python {python}", *about]))
    ctx.exit()


@click.group(
    name=PROGRAM,
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version, Python's, and which scanner reads the files.",
)
@click.option("--debug", is_flag=True, help="Show where an unexpected error happened.")
def main(debug: bool) -> None:
    """Pool retrieval runs, score and compare them, and check the files they are in.

    `benchwright COMMAND --help` is the manual of a command. None of them needs a server but those
    that ask one: login, pull, submit, and gate with --server.
    """


if __name__ == "__main__":
    main()

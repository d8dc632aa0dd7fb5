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
from inspect import cleandoc
from pathlib import Path
from typing import Any, NoReturn

import click

from benchwright.cli.doors import Door, Where, meant, where_of
from benchwright.cli.start import INTERRUPTED, NO_READER
from benchwright.errors import BenchmarkError, MissingFileError, MissingPackageError

PROGRAM = "benchwright"
APPS = ("benchwright.cli.scoring", "benchwright.cli.collections", "benchwright.cli.sites")

NOUNS = {
    "run": ("benchwright.cli.scoring", "Score, compare, gate and check runs."),
    "system": ("benchwright.cli.systems", "Make and measure the runs of systems and models."),
    "collection": ("benchwright.cli.collections", "Pool, group, sample and split."),
    "site": ("benchwright.cli.sites", "Build a benchmark on a site, submit a run, see the board."),
}
"""A noun has the commands whose modules are in its room; each is also called without it."""

DONE, FAILED, USAGE = 0, 1, 2
VERDICTS = range(10, 14)
JUDGE = "gate"
"""The one command that may end with a verdict."""

VALUED = ("--site", "--benchmark")
"""What stands before a command and has a value."""

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
    ("BENCHWRIGHT_SERVER", "the site that commands ask, where --site names none"),
    ("BENCHWRIGHT_TOKEN", "the token they ask it with, in place of the one that `login` keeps"),
    ("NO_COLOR", "if set, a terminal gets no colour"),
)


class Option(click.Option):
    """An option that stands under a heading of the help page.

    `old` are spellings of before: they are taken, and help does not show them. So are `replaced`,
    which say that they go with the next version.
    """

    def __init__(
        self,
        *declared: Any,
        group: str = "Options",
        old: Sequence[str] = (),
        replaced: Sequence[str] = (),
        **settings: Any,
    ) -> None:
        super().__init__(*declared, **settings)
        self.group, self.replaced = group, replaced
        self.old = (*old, *replaced)

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """The value; of a choice that is not there, also what may have been meant."""
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter as error:
            choices = _choices(self)
            words = [value] if isinstance(value, str) else value or ()
            wrong = next((word for word in words if word not in choices), "")
            if not (choices and (near := meant(str(wrong), choices))):
                raise
            text = f"{error.message} {near}"
            raise click.BadParameter(text, ctx, self) from error

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        names, self.opts = self.opts, [*self.opts, *self.old]
        super().add_to_parser(parser, ctx)
        self.opts = names


def option(*declared: str, group: str, **settings: Any) -> Callable[[Any], Any]:
    """A `click.option` under a heading."""
    return click.option(*declared, cls=Option, group=group, **settings)


class Command(click.Command):
    """A command whose help is a whole manual page: options by topic, examples, exit codes.

    Parameters
    ----------
    door
        How it is done on a site, where one is named before it; without, it is of files alone.
    where_fields
        Parameters that say by themselves where it is, {name: field of `Where`}: what was named
        before the command is their default.
    of_files
        Why it is done on files alone, a sentence; where there is neither a door nor `where_fields`.
    """

    def __init__(
        self,
        *args: Any,
        examples: Sequence[str] = (),
        door: Door | None = None,
        where_fields: Mapping[str, str] | None = None,
        of_files: str = "",
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self.examples, self.door, self.where_fields = examples, door, where_fields or {}
        self.of_files = of_files

    @property
    def is_of_files(self) -> bool:
        """Whether it has nothing to do with any site."""
        return self.door is None and not self.where_fields

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Those of files, or those it has where a site is named."""
        if self.door is None or where_of(ctx) is None:
            return super().get_params(ctx)
        parameters = [parameter for parameter in self.params if parameter.name in self.door.keeps]
        ends = [json_switch(), self.get_help_option(ctx)]
        return [*self.door.also, *parameters, *filter(None, ends)]

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **more: Any,
    ) -> click.Context:
        where, is_help = where_of(parent), bool({"-h", "--help"} & set(args))
        if where is not None and self.is_of_files and not is_help:
            text = f"{self.name} is of files, and of no site. {self.of_files}".rstrip()
            text += " Leave out --site and --benchmark."
            raise click.UsageError(text, click.Context(self, parent, info_name))
        if where is not None and self.where_fields:
            # An option that is asked for its site looks it up where none is named.
            values = {"site": where.url, "benchmark": where.benchmark}
            defaults = {
                name: values[field] for name, field in self.where_fields.items() if values[field]
            }
            more.setdefault("default_map", defaults)
        return super().make_context(info_name, args, parent, **more)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        parameters = self.get_params(ctx)
        if any(
            parameter.name == "form" and "json" in _choices(parameter) for parameter in parameters
        ):
            args = _spelt_out(args)
        for parameter in parameters:
            for spelling in getattr(parameter, "replaced", ()):
                if any(word.partition("=")[0] == spelling for word in args):
                    text = f"{spelling} is {parameter.opts[0]} now; it goes with the next version."
                    click.echo(f"Warning: {text}", err=True)
        try:
            rest = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if any(error.option_name in parameter.opts for parameter in self.params):
                text = f"{error.option_name} is of files. Leave it out, or --site and --benchmark."
                raise click.UsageError(text, ctx) from error
            raise
        _refuse_overwriting(ctx, parameters)
        return rest

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        files, is_on_site = self.help, self.door is not None and where_of(ctx) is not None
        self.help = cleandoc(self._on_site.__doc__ or "") if is_on_site else files
        try:
            super().format_help_text(ctx, formatter)
        finally:
            self.help = files

    @property
    def _on_site(self) -> Any:
        return self.door.opened() if self.door else None

    def invoke(self, ctx: click.Context) -> Any:
        where = where_of(ctx)
        if where is None or self.door is None:
            return super().invoke(ctx)
        return self._on_site(where, ctx)

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
        if self.of_files:
            with formatter.section("On a site"):
                formatter.write_text(self.of_files)
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        write_conventions(formatter)


def _is_written(parameter: click.Parameter) -> bool:
    """Whether it names a file that may not be there yet."""
    of = parameter.type
    return isinstance(of, click.Path) and not of.exists and not of.dir_okay and of.file_okay


def _refuse_overwriting(ctx: click.Context, parameters: Sequence[click.Parameter]) -> None:
    """A file that is written is no other of the line: what is read, or kept, would be lost."""
    from benchwright.cli.files import is_stream

    names: dict[Path, str] = {}
    for parameter in sorted(parameters, key=_is_written):
        values = ctx.params.get(parameter.name or "")
        for path in values if isinstance(values, tuple) else (values,):
            if not isinstance(path, Path) or is_stream(path):
                continue
            name = parameter.opts[-1] if parameter.opts[-1].startswith("-") else parameter.name
            other = names.setdefault(path.resolve(), str(name))
            if _is_written(parameter) and other != name:
                text = f"{name} would overwrite {path}, which is {other}. Name another file."
                raise click.UsageError(text, ctx)


def _choices(parameter: click.Parameter) -> Sequence[str]:
    return parameter.type.choices if isinstance(parameter.type, click.Choice) else ()


def _spelt_out(args: list[str]) -> list[str]:
    """`--json` as `--format=json`, up to `--`, after which nothing is an option."""
    end = args.index("--") if "--" in args else len(args)
    return ["--format=json" if word == "--json" else word for word in args[:end]] + args[end:]


def json_switch() -> Option:
    """`--json` of what is done on a site."""
    help = "What the site answers, as JSON."
    return Option(["--json", "is_json"], is_flag=True, group="Output", help=help)


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
        if cmd_name in self.known():
            command: click.Command = importlib.import_module(self.known()[cmd_name][0]).command
            return command
        return SiteNoun(cmd_name) if cmd_name in site_nouns() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.known():
            _refuse_unknown(ctx, args[0], [*self.known(), *NOUNS, *site_nouns()])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.known().items()])
        with formatter.section("Commands by noun, as in `benchwright run score`"):
            formatter.write_dl([(noun, line) for noun, (_, line) in NOUNS.items()])
        with formatter.section("What a site has, as in `benchwright webhooks --help`"):
            formatter.write_text(", ".join(site_nouns()))

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
        commands = self.whole.known().items()
        return [name for name, (module, _) in commands if module.startswith(f"{self.room}.")]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        _refuse_unknown(ctx, args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        is_here = cmd_name in self.list_commands(ctx)
        return self.whole.get_command(ctx, cmd_name) if is_here else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = self.whole.known()
        with formatter.section("Commands"):
            formatter.write_dl([(name, commands[name][1]) for name in self.list_commands(ctx)])


def site_nouns() -> Mapping[str, str]:
    """What a site has, a line each; imported when it is asked for, as commands are."""
    lines: Mapping[str, str] = importlib.import_module("benchwright.cli.sites.nouns").LINES
    return lines


class SiteNoun(click.Group):
    """What is done with what a site has; without a verb it is listed or shown."""

    def __init__(self, noun: str) -> None:
        super().__init__(noun, help=site_nouns()[noun])
        self.verbs = importlib.import_module("benchwright.cli.sites.nouns.commands")

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.verbs.verbs_of(self.name))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        is_here = cmd_name in self.list_commands(ctx)
        return self.verbs.command_of(self.name, cmd_name) if is_here else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_help = bool({"-h", "--help"} & set(args[:1]))
        if not is_help and (not args or args[0].startswith("-")):
            args = [self.list_commands(ctx)[0], *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        _refuse_unknown(ctx, args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)


def _refuse_unknown(ctx: click.Context, name: str, known_names: Sequence[str]) -> None:
    """Say which command may have been meant, where there is none of the name."""
    if name not in known_names and (near := meant(name, known_names)):
        text = f"No such command '{name}'. {near}"
        raise click.UsageError(text, ctx)


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
        if isinstance(end.code, str):  # as `sys.exit` says it
            click.echo(end.code, err=True)
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
    words = iter(arguments)
    for word in words:
        if word in VALUED:
            next(words, None)
        elif not word.startswith("-") and word not in NOUNS:
            return word
    return None


def is_debug(arguments: Sequence[str]) -> bool:
    return bool(os.environ.get("BENCHWRIGHT_DEBUG")) or arguments[:1] == ["--debug"]


FULL_DISK = "what it writes to is full. Make room there, or name another place; then try again."


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
    from benchwright.full_disk import is_disk_full

    if is_disk_full(error):
        click.echo(f"Error: {FULL_DISK}", err=True)
        return FAILED
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
@click.option(
    "--site",
    metavar="URL",
    help="Do it on a site; by default that of BENCHWRIGHT_SERVER, or the one last signed in to.",
)
@click.option("--benchmark", metavar="SLUG", help="Do it on this benchmark of the site.")
@click.pass_context
def main(ctx: click.Context, debug: bool, site: str | None, benchmark: str | None) -> None:
    """Pool retrieval runs, score and compare them, and check the files they are in.

    `benchwright COMMAND --help` is the manual of a command. Files need no server. With --site or
    --benchmark before the command it is done on a site, by its API (docs/client.md).
    """
    if site or benchmark:
        ctx.obj = Where(site=site or "", benchmark=benchmark or "")


if __name__ == "__main__":
    main()

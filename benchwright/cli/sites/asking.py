"""What the commands that ask a site share: which site, with which token, and a line of progress."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial, wraps
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from benchwright.cli.answers import for_terminals, say_json
from benchwright.cli.doors import Where, meant, where_of
from benchwright.cli.main import Command, json_switch, option

if TYPE_CHECKING:
    from benchwright.client import Client

CLEAR_LINE = "\r\x1b[K"
PAUSE = 0.2
MOST_KNOWN = 5000
"""Benchmarks that are looked through for one that may have been meant."""
Decorator = Callable[[Any], Any]


def server_option() -> Decorator:
    """The option that names the site."""
    return option(
        "--site",
        "server",
        replaced=("--server",),
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
    with client, meant_benchmark(client):
        yield client


@contextmanager
def meant_benchmark(client: "Client", *, has_list: bool = False) -> Iterator[None]:
    """Where the site knows no benchmark of a name, say which may have been meant.

    Where none is near, the site's own refusal stays, or with `has_list` what there is is named.

    Raises
    ------
    UnknownName
        If a benchmark was asked for that is not among those that the caller may see.
    """
    from benchwright.client.errors import ClientError, NotThereError

    try:
        yield
    except NotThereError as error:
        slug = error.facts["address"].partition("/benchmarks/")[2].partition("/")[0]
        try:
            known_slugs = [benchmark.slug for benchmark in islice(client.benchmarks(), MOST_KNOWN)]
        except ClientError:
            raise error from None
        is_known = not slug or slug in known_slugs or len(known_slugs) == MOST_KNOWN
        if not is_known and (has_list or meant(slug, known_slugs)):
            refuse_name(slug, known_slugs, "benchmark that you may see")
        raise


# --- a command that is done on a site ------------------------------------------------------------


class UnknownName(click.ClickException):
    """A name on the command line that the site does not know; ends as a usage error does."""

    exit_code = 2


@dataclass(frozen=True)
class Asked:
    """A benchmark of a site that a command is about, and how its answer is shown."""

    client: "Client"
    slug: str
    version: str = ""
    is_json: bool = False

    def ask(self, how: str, path: str, **sent: Any) -> Any:
        """What an operation of the benchmark answers; `path` is below its address."""
        return self.client.ask(how, f"benchmarks/{self.slug}/{path}", **sent)

    def names(self, path: str, field: str = "name") -> list[str]:
        """The names of what a list of the benchmark holds."""
        return [str(row[field]) for row in self.client.rows(f"benchmarks/{self.slug}/{path}")]

    def named(self, path: str, name: str, what: str, field: str = "name") -> dict[str, Any]:
        """The row of this name in a list of the benchmark, the first where several have it.

        Raises
        ------
        UnknownName
            If there is none.
        """
        rows = list(self.client.rows(f"benchmarks/{self.slug}/{path}"))
        known = [str(row[field]) for row in rows]
        self.check([name], known, what)
        return dict(rows[known.index(name)])

    def release(self, version: str | None = None) -> str:
        """The version that is meant: this one, the one named before the command, or the newest.

        Raises
        ------
        UnknownName
            If it is none of the benchmark's.
        """
        wanted = version or self.version
        if not wanted:
            return self.client.release(self.slug).version
        self.check(
            [wanted], [release.version for release in self.client.releases(self.slug)], "release"
        )
        return wanted

    def send(self, path: str, files: Mapping[str, Path | None], fields: Mapping[str, Any]) -> Any:
        """What an operation answers that takes files, with a line of how much has been sent."""
        what = f"Sending {', '.join(file.name for file in files.values() if file)}"
        with Line() as line:
            return self.client.send(
                f"benchmarks/{self.slug}/{path}", files, fields, tell=partial(line.bytes, what)
            )

    def check(self, wanted: Iterable[str], known: Sequence[str], what: str) -> None:
        """Refuse a name that is none of those known, with what may have been meant.

        Raises
        ------
        UnknownName
            If there is one.
        """
        for name in wanted:
            if name not in known:
                refuse_name(name, known, f"{what} of {self.slug}")

    def done(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        """The job once it is done, with a line of how far it is meanwhile.

        Raises
        ------
        click.ClickException
            If it fails; says why, and what of a file is wrong by its line.
        """

        def tell(line: Line, now: Mapping[str, Any]) -> None:
            share = f" {now['done'] / now['total']:.0%}" if now.get("total") else ""
            line.tell(f"{now['title']}:{share} {now.get('message', '')}".rstrip() + " …")

        ended: Mapping[str, Any] = self.waited(
            lambda line: self.client.finished(job["id"], tell=partial(tell, line)),
            f"job {job['id']} --wait",
        )
        if ended["state"] != "done":
            from benchwright.client import Problem

            wrong = [str(Problem.of(problem)) for problem in ended["problems"]]
            text = "\n".join([ended["error"] or f"{ended['title']}: {ended['state']}.", *wrong])
            raise click.ClickException(for_terminals(text))
        return ended

    def waited(self, wait: Callable[["Line"], Any], later: str) -> Any:
        """What `wait` gives, called with a line to tell on; `later` is how it is looked at again.

        Work of the site goes on when nobody waits for it: who interrupts is told so.
        """
        try:
            with Line() as line:
                return wait(line)
        except KeyboardInterrupt:
            of = f"--benchmark {self.slug} " if self.slug else ""
            again = f"benchwright --site {self.client.url} {of}{later}"
            click.echo(f"It goes on at the site. To see how far it is: {again}", err=True)
            raise

    def say(self, facts: Any, lines: Iterable[str]) -> None:
        """Print what the site answered: as JSON, or in lines for people."""
        if self.is_json:
            say_json(facts)
            return
        for line in lines:
            click.echo(for_terminals(line))

    def say_made(self, job: Mapping[str, Any], did: str) -> None:
        """Print what a job has made, and what it has to say of it."""
        result = job["result"] or {}
        self.say(job, [*(f"{did} {line}" for line in result.get("made", ())), *notes_of(result)])


def notes_of(result: Mapping[str, Any]) -> list[str]:
    return [str(note) for note in result.get("notes", ())]


class SiteCommand(Command):
    """A command of a site alone; its function is given what it asks (`Asked`) first."""

    is_of_files = False

    def __init__(self, *args: Any, is_of_benchmark: bool = True, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.is_of_benchmark = is_of_benchmark
        self.params.append(json_switch())

    def invoke(self, ctx: click.Context) -> Any:
        where = where_of(ctx) or Where()
        return _perform(self.callback, where, ctx, needs_benchmark=self.is_of_benchmark)


def door(function: Callable[..., None]) -> Callable[[Where, click.Context], None]:
    """What does a command on a site, as `doors.Door` wants it; it is given `Asked` first."""

    @wraps(function)
    def on_site(where: Where, ctx: click.Context) -> None:
        _perform(function, where, ctx)

    return on_site


def _perform(
    function: Any, where: Where, ctx: click.Context, *, needs_benchmark: bool = True
) -> None:
    """Call what does a command on a site, with what it asks and its parameters.

    Raises
    ------
    click.UsageError
        If no benchmark is named.
    UnknownName
        If the site has none of the name.
    ClientError
        If the site cannot be asked, or refuses.
    """
    chosen = dict(ctx.params)
    is_json = chosen.pop("is_json", False)
    if needs_benchmark and not where.benchmark:
        before = f"--benchmark SLUG {ctx.info_name}"
        text = f"No benchmark is named. It stands before the command: {before}."
        raise click.UsageError(text, ctx)
    from benchwright.client.client import release_named

    slug, version = release_named(where.benchmark) if where.benchmark else ("", "")
    with (
        asked(where.site or None, needs_token=True) as client,
        meant_benchmark(client, has_list=True),
    ):
        function(Asked(client, slug, version, is_json), **chosen)


def refuse_name(name: str, known: Sequence[str], what: str) -> NoReturn:
    """Say that there is none of the name, and what may have been meant."""
    there = ", ".join(known[:20]) or "none so far"
    text = f"'{name}' is no {what}. {meant(name, known) or f'There is: {there}.'}"
    raise UnknownName(text)


def sent(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Options as the API takes them: days as ISO 8601; what nobody told is left out."""
    return {
        name: f"{value:%Y-%m-%d}" if isinstance(value, datetime) else value
        for name, value in chosen.items()
        if value is not None and value != ()
    }


# --- what is shown meanwhile ---------------------------------------------------------------------


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

    def tell(self, sentence: str, *, is_new: bool = False) -> None:
        """Show a sentence in place of the last; a few times a second at most, unless it is new."""
        now = time.monotonic()
        if self._is_shown and (is_new or now - self._told_at >= PAUSE):
            self._told_at = now
            click.echo(f"{CLEAR_LINE}{for_terminals(sentence)}", nl=False, err=True)

    def bytes(self, what: str, done: int, total: int) -> None:
        """Say how much of a file is through."""
        share = f" of {size(total)}, {done / total:.0%}" if total else ""
        self.tell(f"{what}: {size(done)}{share}")


def size(n_bytes: int) -> str:
    """Return a number of bytes as people say it.

    Examples
    --------
    >>> size(900), size(6_400), size(1_500_000)
    ('900 bytes', '6.4 kB', '1.5 MB')
    """
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    return f"{n_bytes / 1e3:.1f} kB" if n_bytes < 1_000_000 else f"{n_bytes / 1e6:,.1f} MB"

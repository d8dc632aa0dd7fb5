"""The commands of the nouns, such as `benchwright webhooks new`, made of the table."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from string import Formatter
from typing import Any
from urllib.parse import quote

import click

from benchwright.cli.doors import given
from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, Line, SiteCommand, refuse_name, sent
from benchwright.cli.sites.job import is_job
from benchwright.cli.sites.nouns import building, grading, keeping, scoring
from benchwright.cli.sites.nouns.facts import lines_of, row_lines
from benchwright.cli.sites.nouns.table import LEARNED, RELEASE, Noun, Verb

NOUNS: Mapping[str, Noun] = {
    **building.NOUNS,
    **grading.NOUNS,
    **scoring.NOUNS,
    **keeping.NOUNS,
}
FIRST = option(
    "--first",
    type=click.IntRange(0),
    metavar="N",
    default=100,
    show_default=True,
    group="Rows",
    help="So many at most; 0 for all.",
)


def verbs_of(noun: str) -> Mapping[str, Verb]:
    """What can be done with it; what is done where no verb is named comes first."""
    of = NOUNS[noun]
    takes = (RELEASE,) if "{release}" in of.path else ()
    listed = {"list": Verb("GET", "", "Those there are.", takes, of.columns)}
    return {**(listed if of.columns else {}), **of.verbs}


def command_of(noun: str, verb: str) -> click.Command:
    """The command of a verb."""
    of, what = NOUNS[noun], verbs_of(noun)[verb]

    def perform(asked: Asked, thing: str = "", first: int | None = None, **chosen: Any) -> None:
        _perform(asked, noun, what, thing, first, chosen)

    called = (what.names or of.by or of.at).upper()
    is_named = bool(what.names) or "{}" in what.path
    thing = [click.Argument(["thing"], metavar=called)] if is_named else []
    command = SiteCommand(
        verb,
        params=[*thing, *what.takes],
        callback=perform,
        help=what.line,
        is_of_benchmark=not of.is_of_site,
    )
    return FIRST(command) if what.columns else command


def none_of(noun: str) -> str:
    """What is said of a list that is empty, after `There`."""
    single = NOUNS[noun].single
    return f"is no {single} so far" if single else f"are no {noun.replace('-', ' ')}"


def say_rows(
    asked: Asked, address: str, columns: tuple[str, ...], none: str, first: int | None, **more: Any
) -> None:
    """Print the rows of a list, as JSON or as a table, and say where there are more."""
    coming = asked.client.rows(address, **more)
    rows = list(islice(coming, first or None))
    asked.say(rows, row_lines(columns, rows) if rows else [f"There {none}."])
    if first and next(iter(coming), None) is not None:
        click.echo(f"These are the first {first:,}; --first 0 shows all.", err=True)


def _perform(
    asked: Asked, noun: str, verb: Verb, thing: str, first: int | None, chosen: dict[str, Any]
) -> None:
    of = NOUNS[noun]
    body = _body(asked, verb, thing, chosen)
    address = _address(asked, noun, verb, thing, body)
    if verb.columns:
        none = none_of(noun) if address.endswith(of.path) else "are none"
        say_rows(asked, address, verb.columns, none, first, **_params(body))
    elif verb.prints:
        row = next(iter(asked.client.rows(address, **_params(body))), None)
        if row is None:
            text = f"There is no {noun} so far."
            raise click.ClickException(text)
        asked.say(row, str(row[verb.prints]).splitlines())
    else:
        answer = _answer(asked, verb, address, body)
        if verb.lasts:
            answer = _ended(asked, of, verb, answer)
        asked.say(answer, lines_of(answer) if answer is not None else ["done"])


def _body(asked: Asked, verb: Verb, thing: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent: the options that somebody set, and every argument."""
    ctx = click.get_current_context()
    words = [argument.name for argument in verb.takes if isinstance(argument, click.Argument)]
    body = {**given(ctx, *chosen), **{str(name): chosen[str(name)] for name in words}}
    body = {
        name: list(value) if isinstance(value, tuple) else value for name, value in body.items()
    }
    for name, noun in verb.ids.items():
        if isinstance(body.get(name), list):
            body[name] = [_row(asked, noun, thing)["id"] for thing in body[name]]
        elif body.get(name) not in (None, LEARNED):
            body[name] = _row(asked, noun, body[name])["id"]
    if verb.names:
        body[verb.names] = thing
    if verb.how == "PATCH" and not body:
        text = "Nothing is named that is to change. Its options say what can be."
        raise click.UsageError(text, ctx)
    return sent(body)


def _address(asked: Asked, noun: str, verb: Verb, thing: str, body: dict[str, Any]) -> str:
    """Where the operation is; what stands in its path is no longer in the body."""
    of = NOUNS[noun]
    path = verb.path[1:] if verb.path.startswith("/") else of.path + verb.path
    names = [name for _, name, _, _ in Formatter().parse(path) if name]
    parts = {name: body.pop(name, None) for name in names}
    if "release" in parts:
        parts["release"] = asked.release(parts["release"])
    place = str(_row(asked, noun, thing)[of.at]) if "{}" in path and of.by else thing
    quoted = {name: quote(str(part), safe="") for name, part in parts.items()}
    return _below(asked, of, path.format(quote(place, safe=""), **quoted))


def _row(asked: Asked, noun: str, thing: str) -> Mapping[str, Any]:
    """The row of what is called so, the first where several are, or has this number.

    Raises
    ------
    UnknownName
        If there is none.
    """
    of = NOUNS[noun]
    rows = list(asked.client.rows(_below(asked, of, of.path)))
    same = [row for member in (of.by, "id") for row in rows if str(row.get(member)) == thing]
    if not same:
        known = list(dict.fromkeys(str(row[of.by]) for row in rows))
        whose = "yours" if of.is_of_site else asked.slug
        refuse_name(thing, known, f"{of.single or noun.removesuffix('s')} of {whose}")
    return dict(same[0])


def _below(asked: Asked, of: Noun, path: str) -> str:
    return path if of.is_of_site else f"benchmarks/{asked.slug}/{path}"


def _answer(asked: Asked, verb: Verb, address: str, body: Mapping[str, Any]) -> Any:
    """What the site answers; of a job, once it is done."""
    files = {name: value for name, value in body.items() if isinstance(value, Path)}
    if files:
        below = address.removeprefix(f"benchmarks/{asked.slug}/")
        rest = {name: value for name, value in body.items() if name not in files}
        answer = asked.send(below, files, rest)
    elif verb.how == "GET":
        answer = asked.client.ask("GET", address, params=_params(body) or None)
    else:
        answer = asked.client.ask(verb.how, address, json=body or None)
    return asked.done(answer) if isinstance(answer, dict) and is_job(answer) else answer


def _ended(asked: Asked, of: Noun, verb: Verb, answer: Mapping[str, Any]) -> Any:
    """What was begun, once it is at its end."""
    assert verb.lasts
    member, values = verb.lasts
    list_of = verb.path[1:] if verb.path.startswith("/") else of.path
    with Line() as line:
        return asked.client.until(
            lambda: asked.ask("GET", f"{list_of}{answer['id']}/"),
            is_ended=lambda now: now[member] not in values,
            tell=lambda now: line.tell("Waiting for it …"),
        )


def _params(body: Mapping[str, Any]) -> dict[str, Any]:
    """The same as a query string has it."""
    return {
        name: ",".join(map(str, value)) if isinstance(value, list) else value
        for name, value in body.items()
    }

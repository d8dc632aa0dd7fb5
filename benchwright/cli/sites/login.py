"""`benchwright login`: keep the token of a site, where nobody else can read it."""

import os
import sys

import click

from benchwright.cli.answers import say_json
from benchwright.cli.main import Command, option
from benchwright.cli.options import JSON

EXAMPLES = (
    "benchwright login https://benchmarks.example.org",
    "benchwright login https://benchmarks.example.org < token.txt",
    "benchwright login --list",
    "benchwright login --logout https://benchmarks.example.org",
)


@click.command(
    cls=Command,
    name="login",
    examples=EXAMPLES,
    where_fields={"url": "site"},
    short_help="Keep the token of a site, for the commands that ask it.",
)
@click.argument("url", required=False)
@option("--logout", is_flag=True, group="Instead", help="Forget the site's token.")
@option("--list", "lists", is_flag=True, group="Instead", help="Say which sites are known.")
@JSON
def command(url: str | None, logout: bool, lists: bool, is_json: bool) -> None:
    """Check a token of the site at URL and keep it in a file that only you can read.

    Make the token on your account page of the site. It is asked for and not shown, or taken from
    BENCHWRIGHT_TOKEN or from standard input; it is never an argument, where others could see it.
    The site signed in to last is the one the other commands ask.
    """
    from benchwright.client.servers import Servers, normal_url

    servers = Servers()
    if lists:
        _list(servers, is_json=is_json)
        return
    if url is None:
        message = "name the site, such as https://benchmarks.example.org"
        raise click.UsageError(message)
    if logout:
        _forget(servers, normal_url(url), is_json=is_json)
        return
    _keep(servers, normal_url(url), is_json=is_json)


def _keep(servers: "Servers", url: str, *, is_json: bool) -> None:  # type: ignore[name-defined]  # noqa: F821
    import warnings

    from benchwright.client import Client, InsecureServerWarning
    from benchwright.client.servers import Login, Token, insecurity_of

    if insecurity := insecurity_of(url):
        click.echo(f"Warning: {insecurity}", err=True)
    token = Token(_given(url))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureServerWarning)  # it was just said
        client = Client(url, token)
    with client:
        me = client.me()
    servers.add(Login(url=url, token=token, username=me.username, expires_at=me.expires_at))
    if is_json:
        say_json({"site": url, "username": me.username, "expires_at": me.expires_at or None})
        return
    until = f" The token is good until {me.expires_at[:10]}." if me.expires_at else ""
    click.echo(f"Signed in to {url} as {me.name or me.username}.{until} Kept in {servers.path}.")


def _given(url: str) -> str:
    """The token: from the environment, from standard input, or typed."""
    if token := os.environ.get("BENCHWRIGHT_TOKEN", "").strip():
        return token
    if sys.stdin.isatty():
        typed: str = click.prompt(f"Token of {url}/account/", hide_input=True, err=True)
        return typed.strip()
    token = sys.stdin.readline().strip()
    if not token:
        message = "no token came from standard input; paste it there, or set BENCHWRIGHT_TOKEN"
        raise click.UsageError(message)
    return token


def _forget(servers: "Servers", url: str, *, is_json: bool) -> None:  # type: ignore[name-defined]  # noqa: F821
    is_forgotten = servers.remove(url)
    if is_json:
        say_json({"site": url, "is_forgotten": bool(is_forgotten)})
    elif is_forgotten:
        click.echo(f"The token of {url} is forgotten here. Revoke it on {url}/account/ as well.")
    else:
        click.echo(f"There is no token of {url} here.")


def _list(servers: "Servers", *, is_json: bool) -> None:  # type: ignore[name-defined]  # noqa: F821
    known = servers.all()
    if is_json:
        rows = ((server.url, server.username, server.expires_at or None) for server in known)
        names = ("site", "username", "expires_at")
        say_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    for login in known:
        until = f", until {login.expires_at[:10]}" if login.expires_at else ""
        click.echo(f"{login.url} ({login.username}{until})")
    if not known:
        click.echo("No site is known. Sign in with: benchwright login URL")

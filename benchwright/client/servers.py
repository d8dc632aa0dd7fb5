"""Which sites one has signed in to, and their tokens: a file that nobody else may read."""

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchwright.client.errors import NotSignedInError, ServerAddressError

FILE = "servers.json"
TOKEN, SERVER = "BENCHWRIGHT_TOKEN", "BENCHWRIGHT_SERVER"
HIDDEN = "(a token)"


class Token(str):
    """A secret that does not show itself where an object is printed with what is in it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return HIDDEN


@dataclass(frozen=True, slots=True)
class Login:
    """A site, the token for it, and what the site said of the token when it was given."""

    url: str
    token: Token
    username: str = ""
    expires_at: str = ""


def normal_url(address: str) -> str:
    """Return the address of a site in the one form it is kept in.

    Raises
    ------
    ServerAddressError
        If it is not http or https, names no host, or holds a password.

    Examples
    --------
    >>> normal_url("HTTPS://Bench.example.org:443/")
    'https://bench.example.org'
    """
    name = "(hidden)" if "@" in address else address  # a password may stand before it
    try:
        parts = urlsplit(address.strip())
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except UnicodeError as error:
        raise ServerAddressError(given=name, why="no host can be called so") from error
    except ValueError as error:
        raise ServerAddressError(given=name, why=str(error)) from error
    if parts.scheme not in ("http", "https"):
        raise ServerAddressError(given=name, why="it does not begin with https:// or http://")
    if not host:
        raise ServerAddressError(given=name, why="it names no host")
    if parts.username or parts.password:
        raise ServerAddressError(given=name, why="a name or password does not belong there")
    if parts.query or parts.fragment:
        raise ServerAddressError(given=name, why="there is a '?' or '#' in it")
    host_shown = f"[{host}]" if ":" in host else host
    is_usual = port in (None, {"http": 80, "https": 443}[parts.scheme])
    return f"{parts.scheme}://{host_shown}{'' if is_usual else f':{port}'}{parts.path.rstrip('/')}"


def insecurity_of(url: str) -> str:
    """Return a sentence where a token would travel in the open, else nothing.

    Examples
    --------
    >>> insecurity_of("http://127.0.0.1:8000"), insecurity_of("https://bench.example.org")
    ('', '')
    """
    parts = urlsplit(url)
    if parts.scheme == "https" or is_loopback(parts.hostname or ""):
        return ""
    return (
        f"{url} is plain http: whoever is on the way can read the token. Use https:// where the "
        "site has it."
    )


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine.

    Examples
    --------
    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("10.0.0.1")
    (True, True, False)
    """
    if host == "localhost" or host.endswith(".localhost"):
        return True
    with contextlib.suppress(ValueError):
        return ip_address(host).is_loopback
    return False


def config_folder() -> Path:
    """Return the folder of the user's settings for this program, as the system has it."""
    import click

    return Path(click.get_app_dir("benchwright"))


class Servers:
    """The logins of a person, kept in `servers.json` (mode 0600) of a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or config_folder()) / FILE

    def all(self) -> list[Login]:
        """Return the logins, the one used by default first."""
        content = self._read()
        servers = content.get("servers", {})
        order = sorted(servers, key=lambda url: (url != content.get("default"), url))
        return [_login(url, servers[url]) for url in order]

    def find(self, url: str) -> Login | None:
        """Return the login of a site, or None."""
        return next((login for login in self.all() if login.url == url), None)

    def add(self, login: Login) -> None:
        """Keep a login, in place of an earlier one of the site; it is the default from now on."""
        content = self._read()
        facts = {**asdict(login), "token": str.__str__(login.token)}
        del facts["url"]
        servers = {**content.get("servers", {}), login.url: facts}
        self._write({"default": login.url, "servers": servers})

    def remove(self, url: str) -> bool:
        """Forget a site's token; return whether there was one."""
        content = self._read()
        servers = dict(content.get("servers", {}))
        if servers.pop(url, None) is None:
            return False
        default = content.get("default")
        self._write({"default": None if default == url else default, "servers": servers})
        return True

    def _read(self) -> dict[str, Any]:
        """What is kept; what is not as we write it is passed over, and goes with the next login."""
        try:
            content = json.loads(self.path.read_text("utf-8"))
            servers = content["servers"].items()
        except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
            return {}
        logins = {
            url: facts
            for url, facts in servers
            if isinstance(facts, dict) and isinstance(facts.get("token"), str)
        }
        return {"default": content.get("default"), "servers": logins}

    def _write(self, content: Mapping[str, Any]) -> None:
        """All or nothing, and at no moment readable by others."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # mkstemp makes it with mode 0600.
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".servers-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                json.dump(content, out, indent=2)
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _login(url: str, facts: Mapping[str, Any]) -> Login:
    username, expires_at = (str(facts.get(name) or "") for name in ("username", "expires_at"))
    return Login(url, Token(facts["token"]), username, expires_at)


def login_for(server: str | None, *, servers: Servers, environment: Mapping[str, str]) -> Login:
    """Return which site to ask with which token.

    The site: the one named, or `BENCHWRIGHT_SERVER`, or the one last signed in to. The token:
    `BENCHWRIGHT_TOKEN`, or the one kept for the site; it is empty where there is none.

    Raises
    ------
    ServerAddressError
        If the address is none, or no site is named and none is known.
    """
    named = server or environment.get(SERVER, "")
    logins = servers.all()
    if not named and not logins:
        raise ServerAddressError(given="", why="no site is named (--site) and none is known")
    login = servers.find(normal_url(named)) if named else logins[0]
    login = login or Login(url=normal_url(named), token=Token())
    token = environment.get(TOKEN, "").strip()
    return Login(url=login.url, token=Token(token)) if token else login


def required(login: Login) -> Login:
    """Return a login that has a token; raise `NotSignedInError` where there is none."""
    if not login.token:
        raise NotSignedInError(url=login.url)
    return login

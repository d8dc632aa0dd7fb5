"""Settings from the environment: a wrong value stops the start, naming what is accepted."""

import os
import re
from collections.abc import Sequence
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

TRUE = ("1", "true", "yes", "on")
# Of what nobody is to guess.
SHORTEST_TOKEN = 16
# Hosts that mean every address of a machine.
EVERYWHERE = ("0.0.0.0", "::")
MOST, MOST_DIGITS = 10**9, 20
MOST_PORT = 65_535
# A hundred years: so many days ago there was still a date.
MOST_DAYS = 36_500
FALSE = ("0", "false", "no", "off")
ENGINES = ("django.db.backends.sqlite3", "django.db.backends.postgresql")
BROKERS = ("filesystem", "redis", "rediss", "sentinel", "amqp", "amqps", "pyamqp", "memory")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
USER = re.compile(r"//[^/\s]*@")
NAME = re.compile(r"\*|\.?[\w.-]+|\[[\da-f:.]+\]", re.ASCII | re.IGNORECASE)
# What a path may have is written alike in addresses, headers and names of cookies.
SITE = re.compile(r"https?://[^/?#\s]+(/[\w~-][\w.~-]*)*", re.ASCII)


class EnvError(Exception):
    """An environment variable whose value cannot be used; who reads of it sees no password."""

    def __init__(self, name: str, value: str, accepted: str) -> None:
        super().__init__(f"{name} is {USER.sub('//…@', value)!r}; accepted: {accepted}.")


def env_str(name: str, default: str) -> str:
    """A text; an empty one is as none."""
    return os.environ.get(name) or default


def env_database(name: str, default: str) -> dict[str, Any]:
    """A database, as Django has it, by its URL."""
    import dj_database_url  # what says that `[site]` is not installed reads this module, too

    try:
        database = {**dj_database_url.parse(env_str(name, default))}
    except ValueError:
        database = {}
    if database.get("ENGINE") not in ENGINES:
        # Not the value, which may hold a password.
        accepted = "sqlite:///path or postgres://user:password@host:port/name"
        raise EnvError(name, "of another form", accepted)
    return database


def env_broker(name: str, default: str) -> str:
    url = env_str(name, default)
    if url.partition("://")[0] not in BROKERS:
        accepted = f"an address that begins with one of {', '.join(BROKERS)} and ://"
        raise EnvError(name, "of another form", accepted)
    return url


def env_level(name: str, default: str) -> str:
    """Of which weight messages are written, in capitals."""
    level = env_str(name, default).upper()
    if level not in LEVELS:
        raise EnvError(name, os.environ.get(name, ""), ", ".join(LEVELS))
    return level


def env_web(name: str, default: str, *, holds: str = "") -> str:
    """An address of the web that is asked, perhaps with a place for what is asked for."""
    address = env_str(name, default)
    if not is_address(address) or holds not in address:
        also = f" with {holds} in it" if holds else ""
        raise EnvError(name, address, f"https://host/…{also}")
    return address


def is_address(text: str) -> bool:
    """Whether a text is the address of a host of the web, without a name or a password in it.

    >>> [is_address(text) for text in ("https://a.b:8000/c", "http://[::1]", "https://", "a.b")]
    [True, True, False, False]
    """
    try:
        parts = urlsplit(text)
        is_whole = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:  # a host or a port that is none
        return False
    return is_whole and parts.scheme in ("http", "https") and not re.search(r"\s", text)


def env_names(name: str, default: Sequence[str]) -> list[str]:
    """Names by which a site is asked, as Django takes them; the default as it is."""
    names = env_list(name, [])
    if not all(NAME.fullmatch(part) for part in names):
        accepted = "names such as bench.example.org, without https:// and port, separated by commas"
        raise EnvError(name, os.environ[name], accepted)
    return names or list(default)


def env_origins(name: str) -> list[str]:
    """Schemes with hosts, and perhaps ports; a slash at the end is taken off."""
    origins = [origin.rstrip("/") for origin in env_list(name, [])]
    if not all(is_address(origin) and not urlsplit(origin).path for origin in origins):
        accepted = "origins such as https://bench.example.org, separated by commas"
        raise EnvError(name, os.environ[name], accepted)
    return origins


def env_hosts(name: str) -> list[str]:
    """Hosts, or `host:port`, or `*`, in small letters; none by default."""
    hosts = [host.lower() for host in env_list(name, [])]
    if any("/" in host or "@" in host for host in hosts):
        accepted = "hosts such as search.internal or 10.0.3.7:9200, separated by commas, or *"
        raise EnvError(name, os.environ.get(name, ""), accepted)
    return hosts


def env_site(name: str, default: str) -> str:
    """The address of a site, without a slash at its end: its path is where all of its pages are."""
    address = (os.environ.get(name) or default).rstrip("/")
    if not (SITE.fullmatch(address) and is_address(address)):
        accepted = "https://host, or https://host/path of letters, digits and - . _ ~"
        raise EnvError(name, address, accepted)
    return address


def host_in_links(host: str) -> str:
    """How an address has a host that is listened on; of all of a machine's the one it has itself.

    >>> host_in_links("::1"), host_in_links("0.0.0.0"), host_in_links("bench.local")
    ('[::1]', 'localhost', 'bench.local')
    """
    if host in EVERYWHERE:
        return "localhost"
    return f"[{host}]" if ":" in host else host


def env_secret(name: str, *, is_debug: bool) -> str:
    """A secret that is long enough to sign with; empty where none is given."""
    return strong_secret(name, os.environ.get(name, ""), is_debug=is_debug)


def strong_secret(name: str, secret: str, *, is_debug: bool) -> str:
    """The secret, if nobody guesses it (by Django's own rule for `check --deploy`)."""
    is_weak = len(secret) < 50 or len(set(secret)) < 5 or secret.startswith("django-insecure-")
    if secret and is_weak and not is_debug:
        # Not the value: messages are read by more people than secrets are.
        accepted = "50 characters or more, at random; left out, one is made and kept"
        raise EnvError(name, "too weak", accepted)
    return secret


def env_token(name: str) -> str:
    """A token that nobody guesses, or none."""
    token = os.environ.get(name, "")
    if token and len(token) < SHORTEST_TOKEN:
        raise EnvError(name, "too short", f"{SHORTEST_TOKEN} characters or more, at random")
    return token


def env_bool(name: str, *, default: bool) -> bool:
    value = os.environ.get(name)
    if not value:
        return default
    if value.lower() in TRUE:
        return True
    if value.lower() in FALSE:
        return False
    raise EnvError(name, value, "1, true, yes, on, 0, false, no, off")


def env_int(name: str, default: int, *, minimum: int = 0, maximum: int = MOST) -> int:
    value = os.environ.get(name)
    if value is None:
        return default
    is_number = value.isascii() and value.isdigit()
    is_too_large = is_number and (len(value) > MOST_DIGITS or int(value) > maximum)
    if not is_number or is_too_large or int(value) < minimum:
        to = f" to {maximum}" if is_too_large or maximum < MOST else ""
        raise EnvError(name, value, f"a whole number from {minimum}{to}")
    return int(value)


def env_list(name: str, default: Sequence[str]) -> list[str]:
    parts = map(str.strip, os.environ.get(name, "").split(","))
    return [part for part in parts if part] or list(default)


def env_regions(name: str, default: Sequence[str]) -> tuple[str, ...]:
    """Countries by their two letters of ISO 3166-1, commas between; `none` is none."""
    regions = [region.upper() for region in env_list(name, default) if region.lower() != "none"]
    if not all(len(region) == 2 and region.isascii() and region.isalpha() for region in regions):
        raise EnvError(name, os.environ.get(name, ""), "two letters a country, commas between")
    return tuple(regions)


def env_limits(name: str, default: str) -> dict[str, int]:
    """{kind: number} of `kind=number,…`; `*` is every kind that is not named."""
    limits = {}
    for part in env_list(name, default.split(",")):
        kind, _, number = part.partition("=")
        is_number = number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS
        if not kind or not is_number or int(number) > MOST:
            accepted = f"kind=number, separated by commas, to {MOST}; * is every other kind"
            raise EnvError(name, os.environ[name], accepted)
        limits[kind.strip()] = int(number)
    return limits


def env_addresses(name: str) -> dict[str, str]:
    """{variable: address} of `VARIABLE=https://…,…`: which secret belongs to which address."""
    addresses = {}
    for part in env_list(name, []):
        variable, sign, address = (piece.strip() for piece in part.partition("="))
        if not (sign and variable.isidentifier() and is_address(address)):
            accepted = "VARIABLE=https://host/…, separated by commas"
            raise EnvError(name, os.environ.get(name, ""), accepted)
        addresses[variable] = address
    return addresses


def env_words(name: str) -> dict[str, tuple[str, ...]]:
    """{name: words} of `name=word word, name=word`; words in lower case."""
    families = {}
    for part in env_list(name, []):
        family, sign, words = (piece.strip() for piece in part.partition("="))
        if not (sign and family and words):
            accepted = "FAMILY=word word, separated by commas"
            raise EnvError(name, os.environ.get(name, ""), accepted)
        families[family] = tuple(words.lower().split())
    return families


def env_proxies(name: str) -> int | tuple[IPv4Network | IPv6Network, ...]:
    """How many proxies stand before the site, or the networks they are in; 0 by default."""
    value = os.environ.get(name, "")
    if value.isascii() and value.isdigit():
        return int(value)
    try:
        return tuple(ip_network(part) for part in env_list(name, [])) or 0
    except ValueError as error:
        accepted = "a number of proxies, or networks such as 10.0.0.0/8, separated by commas"
        raise EnvError(name, value, accepted) from error


def env_choice(name: str, default: str, choices: Sequence[str]) -> str:
    value = os.environ.get(name, default)
    if value not in choices:
        raise EnvError(name, value, ", ".join(choices))
    return value


def env_store(name: str) -> dict[str, Any]:
    """Where files lie, as Django's STORAGES takes it: the data folder, or `s3://bucket/prefix?…`.

    Who may read and write there the environment tells by AWS's own variables, and never the URL.
    """
    value = os.environ.get(name, "")
    if not value:
        return {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    try:
        url = urlsplit(value)
    except ValueError:
        url = urlsplit("")
    if url.username or url.password or "@" in url.netloc:
        accepted = "without keys: they go into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        raise EnvError(name, "a URL with a name or a key", accepted)
    settings = dict(parse_qsl(url.query, keep_blank_values=True))
    unknown = settings.keys() - {"endpoint", "region", "addressing"}
    addressing = settings.get("addressing", "path" if "endpoint" in settings else "auto")
    is_endpoint = is_address(settings.get("endpoint", "https://s3.amazonaws.com"))
    is_known = not unknown and addressing in ("path", "virtual", "auto") and is_endpoint
    if url.scheme != "s3" or not url.hostname or not is_known:
        accepted = (
            "s3://bucket/prefix, with ?endpoint=https://host:port&region=name&addressing=path "
            "where it is not Amazon's; left out, a folder of the data folder"
        )
        raise EnvError(name, value, accepted)
    if find_spec("storages") is None or find_spec("boto3") is None:
        raise EnvError(name, value, "this after: pip install 'benchwright[s3]'")
    options = {
        "bucket_name": url.netloc,
        "location": url.path.strip("/"),
        "endpoint_url": settings.get("endpoint") or None,
        "region_name": settings.get("region") or None,
        "addressing_style": addressing,
    }
    return {"BACKEND": "benchmarks_app.store.objects.ObjectStorage", "OPTIONS": options}


def env_path(name: str, default: Path) -> Path:
    value = os.environ.get(name)
    folder = Path(value) if value else default
    try:
        path = folder.expanduser()
    except RuntimeError as error:
        accepted = "a folder by its whole path: nothing says where the home of this user is"
        raise EnvError(name, str(folder), accepted) from error
    if path.exists() and not path.is_dir():
        raise EnvError(name, str(path), "a folder, existing or to be made")
    return path.resolve()

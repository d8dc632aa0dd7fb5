"""Headers of a request: names and values, with secrets by the name of an environment variable."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from benchwright.live.errors import HeadersError, SecretError

MOST = 20
LONGEST = 500
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,80}")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
# What carries secrets is written with a variable, so that none is typed in here.
_SECRET = re.compile(r"auth|cookie|key|token|secret|passw|session|credential|signature", re.I)
OURS = frozenset(
    {
        *("host", "content-length", "content-type", "transfer-encoding", "connection", "te"),
        *("accept-encoding", "keep-alive", "upgrade", "expect", "trailer", "proxy-connection"),
    }
)
USUAL_PORTS = {"http": 80, "https": 443}


class Header(NamedTuple):
    """A header as it was written; `variables` are named in its value, and not their values."""

    line: int
    name: str
    value: str

    @property
    def variables(self) -> list[str]:
        return [braced or bare for braced, bare in _VARIABLE.findall(self.value)]

    def filled(self, values: Mapping[str, str]) -> str:
        return _VARIABLE.sub(lambda match: values[match[1] or match[2]], self.value)


def read_headers(text: str) -> list[Header]:
    """The headers that are written a line each, as `Authorization: ApiKey $SEARCH_KEY`.

    Raises
    ------
    HeadersError
        If a line is none, sets what the request itself sets, or writes out a secret.

    Examples
    --------
    >>> read_headers("Authorization: Bearer $SEARCH_TOKEN")[0].variables
    ['SEARCH_TOKEN']
    """
    headers: list[Header] = []
    for line, written in enumerate(text.splitlines(), start=1):
        if written.strip():
            headers.append(_header(line, written))
    if len(headers) > MOST:
        raise HeadersError(line=headers[MOST].line, why=f"at most {MOST} are sent.")
    names = [header.name.lower() for header in headers]
    for place, header in enumerate(headers):
        if header.name.lower() in names[:place]:
            raise HeadersError(line=header.line, why=f"'{header.name}' is there twice.")
    return headers


def _header(line: int, written: str) -> Header:
    name, colon, value = (part.strip() for part in written.partition(":"))
    if not colon or not _NAME.fullmatch(name):
        # The line is not repeated: it may be a secret that stands alone.
        raise HeadersError(line=line, why="expected a name, a colon and a value.")
    if not value or len(value) > LONGEST or not (value.isascii() and value.isprintable()):
        why = f"the value of '{name}' is not 1 to {LONGEST} printable characters of ASCII."
        raise HeadersError(line=line, why=why)
    if name.lower() in OURS:
        raise HeadersError(line=line, why=f"'{name}' is set by the request itself. Remove it.")
    header = Header(line, name, value)
    if _SECRET.search(name) and not header.variables:
        why = (
            f"the value of '{name}' looks like a secret, and none is kept here. Write the name of "
            "an environment variable in its place, as $SEARCH_KEY."
        )
        raise HeadersError(line=line, why=why)
    return header


# --- secrets -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Secrets:
    """Which variables may be sent where: {name: origin}; their values are asked for when sent."""

    allowed: Mapping[str, str]

    @classmethod
    def of(cls, addresses: Mapping[str, str]) -> "Secrets":
        """From {variable: address}; of the address, scheme, host and port count.

        Examples
        --------
        >>> Secrets.of({"SEARCH_KEY": "https://search.example.org/docs"}).allowed
        {'SEARCH_KEY': 'https://search.example.org:443'}
        """
        return cls({name: origin_of(address) for name, address in addresses.items()})


def origin_of(address: str) -> str:
    """Scheme, host and port of an address; empty where it has none of http or https.

    >>> origin_of("https://Search.example.org/a?b"), origin_of("search")
    ('https://search.example.org:443', '')
    """
    try:
        parts = urlsplit(address)
        port = parts.port or USUAL_PORTS.get(parts.scheme, 0)
    except ValueError:
        return ""
    if parts.scheme not in USUAL_PORTS or not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}"


def check_secrets(headers: Sequence[Header], *, address: str, secrets: Secrets) -> None:
    """Refuse a header whose variable may not be sent to an address.

    Raises
    ------
    SecretError
        Naming the variable, and what whoever runs the site would have to allow.
    """
    origin = origin_of(address)
    for header in headers:
        for variable in header.variables:
            if not origin or secrets.allowed.get(variable) != origin:
                why = (
                    f"it may not be sent to {origin or 'this address'}. Whoever runs the site can "
                    f"allow that: LIVE_SECRETS={variable}={origin or 'https://…'}"
                )
                raise SecretError(variable=variable, why=why)


def filled_headers(
    headers: Sequence[Header],
    *,
    address: str,
    secrets: Secrets,
    environment: Mapping[str, str],
) -> dict[str, str]:
    """{name: value} with the values of the variables; never show or keep what this returns.

    Raises
    ------
    SecretError
        If a variable may not be sent there, has no value, or one that no header can carry.
    """
    check_secrets(headers, address=address, secrets=secrets)
    values = {
        variable: _value(variable, environment)
        for header in headers
        for variable in header.variables
    }
    return {header.name: header.filled(values) for header in headers}


def _value(variable: str, environment: Mapping[str, str]) -> str:
    value = environment.get(variable, "").strip()
    if not value:
        raise SecretError(
            variable=variable, why="it has no value where this runs. Set it and start again."
        )
    if not (value.isascii() and value.isprintable()):
        raise SecretError(
            variable=variable, why="its value holds characters that no header can carry."
        )
    return value

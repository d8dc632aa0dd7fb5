"""Which addresses may be asked: public ones by http or https, checked again when connecting.

What of them is told, is decided here too: a number is refused as what it is; of a name nobody
learns whether it is private, unknown or silent, but for the site's log.
"""

import http.client
import logging
import socket
import ssl
import time
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from string import punctuation
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from benchwright.fetching.errors import AddressRefusedError, DownloadError, UnreachableError

log = logging.getLogger(__name__)

PORTS = {"http": 80, "https": 443}
# IPv4 inside IPv6, as translators write it.
TRANSLATED = IPv6Network("64:ff9b::/96")
ANY_HOST = "*"
LEAST_SECONDS = 0.05


def read_address(address: str) -> SplitResult:
    """Return the parts of an address that may be asked, as far as its text tells.

    Path and query are as a request has them: letters that are no ASCII are percent-encoded.

    Raises
    ------
    AddressRefusedError
        If it is not http or https, names no host, or carries a password.
    """
    try:
        parts = urlsplit(address)
        port = parts.port
        path, query = (quote(part, safe=punctuation) for part in (parts.path, parts.query))
    except ValueError as error:
        raise AddressRefusedError(address=address, why=f"it cannot be read ({error})") from error
    if parts.scheme not in PORTS:
        raise AddressRefusedError(address=address, why=f"'{parts.scheme}' is not http or https")
    if not parts.hostname or port == 0:
        raise AddressRefusedError(address=address, why="it names no host")
    if parts.username is not None or parts.password is not None:
        raise AddressRefusedError(address=address, why="it carries a user name")
    return parts._replace(path=path, query=query)


def is_public(ip: IPv4Address | IPv6Address) -> bool:
    """Whether a machine has a place in the public network, also behind another notation.

    Examples
    --------
    >>> [is_public(ip_address(ip)) for ip in ("8.8.8.8", "10.0.0.1", "::ffff:127.0.0.1", "fec0::1")]
    [True, False, False, False]
    """
    if isinstance(ip, IPv6Address):
        if ip.is_site_local:  # fec0::/10: deprecated, private all the same, and global to Python
            return False
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in TRANSLATED:
            inner = IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def may_be_private(parts: SplitResult, private: Collection[str]) -> bool:
    """Whether the operator allows this host even where it is not in the public network.

    `private` are hosts, or host:port, or * for all.
    """
    host = parts.hostname or ""
    port = parts.port or PORTS[parts.scheme]
    bracketed = f"[{host}]" if ":" in host else host
    return bool({ANY_HOST, host, bracketed, f"{bracketed}:{port}"} & set(private))


def check_host(address: str, *, may_be_private: bool) -> None:
    """Refuse an address whose host is, or resolves to, no public machine; raises as `connect`."""
    parts = read_address(address)
    _resolved(parts.hostname or "", parts.port or PORTS[parts.scheme], may_be_private, address)


def connect(
    parts: SplitResult, *, timeout: float, may_be_private: bool
) -> http.client.HTTPConnection:
    """Return an open connection to the host of an address.

    The machine that was checked is the one connected to: the name is not looked up again.
    `timeout` (s) is for all of it, however many machines the name has, the handshake with the one
    that answers among it; afterwards it is the connection's, for each piece. Only how long a name
    is looked up nobody can bound.

    Raises
    ------
    AddressRefusedError
        If it is the number of a machine that is not public.
    UnreachableError
        If nobody answers, or the name is that of a machine that is not public.
    DownloadError
        If nobody answers and it may be private, or its certificate is not good.
    """
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    address = f"{parts.scheme}://{parts.netloc}"
    until = time.monotonic() + timeout
    plain = _socket(host, port, until, may_be_private, address)
    connection = http.client.HTTPConnection(host, parts.port, timeout=timeout)
    connection.sock = plain
    if parts.scheme == "https":
        try:
            context = ssl.create_default_context()
            plain.settimeout(_left(until))
            connection.sock = context.wrap_socket(plain, server_hostname=host)
        except (OSError, ssl.SSLError) as error:
            plain.close()
            raise _no_connection(address, error) from error
    connection.sock.settimeout(timeout)
    return connection


def _left(until: float) -> float:
    """Seconds up to a moment; a socket takes none that is 0 or less."""
    return max(LEAST_SECONDS, until - time.monotonic())


def _socket(
    host: str, port: int, until: float, may_be_private: bool, address: str
) -> socket.socket:
    last: OSError | None = None
    for family, kind, protocol, _, place in _resolved(host, port, may_be_private, address):
        opened = socket.socket(family, kind, protocol)
        opened.settimeout(_left(until))
        try:
            opened.connect(place)
        except OSError as error:
            opened.close()
            last = error
            if time.monotonic() > until:
                break
        else:
            return opened
    raise _unreachable(address, last or OSError("no address"), may_be_private) from last


def _resolved(host: str, port: int, may_be_private: bool, address: str) -> list[Any]:
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _unreachable(address, error, may_be_private) from error
    if not may_be_private:
        for *_, place in places:
            refuse_private(str(place[0]), host=host, address=address)
    return places


def refuse_private(number: str, *, host: str, address: str) -> None:
    """Refuse a machine, by its number, that a host turned out to be, unless it is public.

    Raises
    ------
    AddressRefusedError
        If the host was written as a number, which tells nothing that was not known.
    UnreachableError
        If it was a name.
    """
    ip = ip_address(number.partition("%")[0])
    if is_public(ip):
        return
    why = f"{ip} is not in the public network"
    if _is_number(host):
        raise AddressRefusedError(address=address, why=why)
    raise _unreachable(address, OSError(why), may_be_private=False)


def _is_number(host: str) -> bool:
    """Whether a host is written as a number, in whatever notation, so that nothing is looked up."""
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        try:
            socket.inet_aton(host)
        except (OSError, UnicodeError):
            return False
    return True


def _unreachable(address: str, error: Exception, may_be_private: bool) -> DownloadError:
    if may_be_private:
        return _no_connection(address, error)
    log.info("%s could not be asked: %s", address, error)
    return UnreachableError(address=address)


def _no_connection(address: str, error: Exception) -> DownloadError:
    return DownloadError(
        address=address,
        why=f"no connection ({error})",
        advice="Look whether the site may reach it, then start the job again.",
    )

"""Where a request comes from: what proxies say is believed of those in `TRUSTED_PROXIES` alone.

Behind the middleware `REMOTE_ADDR`, scheme and host are those of the client, and what somebody
else wrote about them is gone: limits, lock-outs, logs and links need not ask again.
"""

from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest, HttpResponse

Proxies = int | tuple[IPv4Network | IPv6Network, ...]
"""How many stand before the site, or where; 0 is none."""
HEADERS = ("FOR", "PROTO", "HOST")
# Of what one line is given, an address is any of 2 ** 64.
IPV6_PREFIX = 64
# What is told of an address: its network, and no single connection.
TOLD_PREFIXES = {4: 24, 6: 48}


class ForwardingMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        proxies, meta = settings.TRUSTED_PROXIES, request.META
        peer = meta.get("REMOTE_ADDR", "")
        forwarded = meta.get("HTTP_X_FORWARDED_FOR", "")
        meta["REMOTE_ADDR"] = client_address(peer, forwarded, proxies)
        if not _is_trusted(peer, 0, proxies):
            for name in HEADERS:
                meta.pop(f"HTTP_X_FORWARDED_{name}", None)
        if request.path_info[1:] in settings.PROBES and settings.ALLOWED_HOSTS:
            meta.pop("HTTP_X_FORWARDED_HOST", None)
            meta["HTTP_HOST"] = settings.ALLOWED_HOSTS[0].lstrip(".").replace("*", "localhost")
        if settings.HAS_HTTPS and not proxies:
            # Nobody says how a request came: it is as the operator says.
            meta["wsgi.url_scheme"] = "https"
        return self.get_response(request)


def client_address(peer: str, forwarded: str, proxies: Proxies) -> str:
    """The address of whoever asked: the last on the way that is not a trusted proxy's.

    Each proxy adds whom it was asked by at the end of `forwarded`; what stands before the entries
    of trusted ones was written by the client, and may be anything.
    """
    address = _address_in(peer) or peer
    for n_passed, entry in enumerate(reversed(forwarded.split(","))):
        named = _address_in(entry)
        if not named or not _is_trusted(address, n_passed, proxies):
            break
        address = named
    return address


def counted_address(request: HttpRequest) -> str | None:
    """What limits count a client by: its address, of IPv6 the network that one line is given.

    None where the server listens on a socket without addresses.
    """
    address: str = request.META.get("REMOTE_ADDR", "")
    if ":" not in address:
        return address or None
    return str(ip_network(f"{address}/{IPV6_PREFIX}", strict=False).network_address)


def told_network(address: str) -> str:
    """The network of an address, such as 192.0.2.0/24; empty where there is none."""
    try:
        prefix = TOLD_PREFIXES[ip_address(address).version]
    except ValueError:
        return ""
    return str(ip_network(f"{address}/{prefix}", strict=False))


def _is_trusted(address: str, n_passed: int, proxies: Proxies) -> bool:
    if isinstance(proxies, int):
        return n_passed < proxies
    address_read = _address_in(address)
    return bool(address_read) and any(ip_address(address_read) in network for network in proxies)


def _address_in(entry: str) -> str:
    """The address of `192.0.2.1:80`, `[2001:db8::1]:80` and the like; empty where there is none."""
    entry = entry.strip().partition("%")[0]
    if entry.startswith("["):
        entry = entry[1:].partition("]")[0]
    elif entry.count(":") == 1:
        entry = entry.partition(":")[0]
    try:
        address = ip_address(entry)
    except ValueError:
        return ""
    return str(getattr(address, "ipv4_mapped", None) or address)

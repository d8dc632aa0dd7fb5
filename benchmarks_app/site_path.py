"""The path below which a site is, where a host has other tools: that of `SITE_URL`, or none.

Pages are asked for with it or without it, as the proxy before the site hands it on or takes it off.
Links, cookies and what browsers are told always have it. Rows keep addresses without it: the site
may be put below another path.
"""

from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import get_script_prefix, set_script_prefix

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def kept_address(address: str) -> str:
    """As a row keeps what `reverse` gave; `settings.SITE_PATH` or `SITE_URL` goes before it."""
    return address and f"/{address.removeprefix(get_script_prefix())}"


def whole_address(address: str) -> str:
    """What `reverse` gave with scheme and host, where no request tells them."""
    return f"{settings.SITE_URL}{kept_address(address)}"


def tell_thread() -> None:
    """Have `reverse` know of the path in a thread of our own; requests and commands do so."""
    set_script_prefix(f"{settings.SITE_PATH}/")


def below_site_path(application: Application) -> Application:
    """The same application, which is never told the path of the site."""

    def answer(request: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        rest = request["PATH_INFO"].removeprefix(settings.SITE_PATH)
        if not rest or rest.startswith("/"):
            request["PATH_INFO"] = rest or "/"
        return application(request, start_response)

    return answer


class OwnCookiesMiddleware:
    """Cookies of a site below a path are called after it, and are sent there alone.

    A browser sends those of the paths above as well, and of two with one name says not whose is
    whose.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        end = settings.SITE_PATH.replace("/", ".")  # as site.js and theme.js have it
        request.COOKIES = {
            name.removesuffix(end): value
            for name, value in request.COOKIES.items()
            if name.endswith(end)
        }
        response = self.get_response(request)
        for name, cookie in list(response.cookies.items()):
            del response.cookies[name]
            cookie.set(name + end, cookie.value, cookie.coded_value)
            cookie["path"] = settings.SITE_PATH
            response.cookies[name + end] = cookie
        return response

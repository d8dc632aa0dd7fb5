"""Links that the site mails to people who ask: how often from where, and what proves an address."""

from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from benchmarks_app.errors import ManyResetsError
from benchmarks_app.forwarding import counted_address
from benchmarks_app.limits import is_among_first
from benchmarks_app.people.services import people
from benchmarks_app.requests import PersonRequest
from benchmarks_app.sign_ins import ELSEWHERE


def count_request(request: HttpRequest) -> None:
    """Count that somebody asks for a link.

    Raises
    ------
    ManyResetsError
        If too many were asked for from the same address, whatever they named.
    """
    most = settings.PASSWORD_RESETS_PER_HOUR * ELSEWHERE
    if not is_among_first(most, of=f"resets-from-{counted_address(request)}"):
        raise ManyResetsError(most=most)


def place_in_mails(request: HttpRequest) -> str:
    """Scheme and host that a mailed link begins with: whoever asks for it may write any host."""
    if not settings.IS_PLACE_TOLD:
        return f"{request.scheme}://{request.get_host()}"
    return settings.SITE_URL.removesuffix(settings.SITE_PATH)


def mail_address_link(request: PersonRequest, then: str = "") -> None:
    """Mail whoever asks the link that proves their address, and leads on to `then`.

    Raises
    ------
    ManyResetsError
        As `count_request`.
    """
    count_request(request)
    path = reverse("address-verify", args=[people.address_tokens.make_token(request.user)])
    query = f"?{urlencode({'next': then})}" if then else ""
    people.mail_address_link(user=request.user, link=place_in_mails(request) + path + query)

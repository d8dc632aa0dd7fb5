"""An error as programs read it: problem details as RFC 9457 has them, with a code that stays."""

from typing import Any

from django.urls import reverse

CONTENT_TYPE = "application/problem+json"
CHAPTER = "errors"
# Titles of what is no `BenchmarkError`; of those without one the words of the code are the title.
TITLES = {
    "csrf": "No CSRF token",
    "invalid": "Not what is expected",
    "many-tries": "Too many passwords",
    "not-json": "Not JSON",
    "throttled": "Too many requests",
}


def problem(
    *,
    status: int,
    code: str,
    message: str,
    instance: str,
    title: str = "",
    facts: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return the body of an error: the members of RFC 9457, then `code`, `message` and `facts`.

    `instance` is the path that was asked for; `more` are members of some kinds of errors alone
    (`errors` of fields, `problems` of lines of a file), left out where they are empty.
    """
    return {
        "type": type_of(code),
        "title": title or title_of(code),
        "status": status,
        "detail": message,
        "instance": instance,
        "code": code,
        "message": message,
        "facts": facts or {},
        **{name: value for name, value in more.items() if value},
    }


def type_of(code: str) -> str:
    """The address of a kind of error: where the site's own documentation tells of it."""
    return f"{reverse('docs-page', args=[CHAPTER])}#{code}"


def title_of(code: str) -> str:
    """What an error is called, the same each time it happens.

    Examples
    --------
    >>> title_of("pool-name-taken"), title_of("not-json")
    ('Pool name taken', 'Not JSON')
    """
    return TITLES.get(code, code.replace("-", " ").capitalize())

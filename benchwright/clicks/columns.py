"""Which column of a log of clicks is what, as somebody writes it."""

from collections.abc import Iterable

from benchwright.clicks.errors import ClickRoleError

# {role: how its column is usually called}
NAMES = {
    "page": ("query id", "page id", "impression id", "serp id", "search id", "request id", "qid"),
    "query": ("user query", "query", "query text", "search query", "keywords", "q", "text"),
    "shown": (
        "query response hit ids", "shown", "results", "result ids", "hits", "docids", "doc ids",
        "documents", "ranking", "serp",
    ),
    "clicked": (
        "clicked", "clicks", "clicked docs", "clicked ids", "clicked docids", "is clicked", "click",
    ),
    "doc": ("docid", "doc id", "document id", "doc", "document", "object id", "item id", "url"),
    "position": ("position", "rank", "ordinal", "pos"),
    "action": ("action name", "action", "event", "event name"),
    "attributes": ("event attributes",),
    "more": ("query attributes",),
    "session": ("session id", "session", "client id", "visitor id", "user id"),
    "arm": ("arm", "variant", "experiment arm", "treatment", "bucket", "group"),
}  # fmt: skip


def read_columns(parts: Iterable[str]) -> dict[str, str]:
    """{role: name of the column}, from texts such as `query=q`.

    Raises
    ------
    ClickRoleError

    Examples
    --------
    >>> read_columns(["query=q", "shown=results, all"])
    {'query': 'q', 'shown': 'results, all'}
    """
    columns = {}
    for part in parts:
        role, equals, name = (piece.strip() for piece in part.partition("="))
        if not equals or role not in NAMES or not name:
            raise ClickRoleError(given=part, roles=", ".join(NAMES))
        columns[role] = name
    return columns


def parts_of(text: str) -> tuple[str, ...]:
    """What stands between commas.

    Examples
    --------
    >>> parts_of("open, buy,")
    ('open', 'buy')
    """
    return tuple(part.strip() for part in text.split(",") if part.strip())

"""What is sent for a query: JSON or a query string with `{{query}}`, `{{k}}` and `{{qid}}` in it.

The template is read first, and only then are values put in, as JSON values or percent-encoded: no
query can change what is around it, whatever it holds, and a placeholder inside a query stays text.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol
from urllib.parse import quote, unquote_plus

from benchwright.live.errors import TemplateError

LARGEST = 64 * 1024
NAMES = ("query", "k", "qid")
_PLACEHOLDER = re.compile(r"\{\{\s*(\w*)\s*\}\}")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\{\{\s*\w*\s*\}\}')

Values = Mapping[str, str | int]


class Template(Protocol):
    """What is filled for each query."""

    def filled(self, *, query: str, k: int, qid: str = "") -> bytes: ...


@dataclass(frozen=True)
class BodyTemplate:
    """A JSON body; the values stand where the placeholders were."""

    tree: Any

    def filled(self, *, query: str, k: int, qid: str = "") -> bytes:
        """The body for a query, as UTF-8."""
        values: Values = {"query": query, "k": k, "qid": qid}
        text = json.dumps(_filled(self.tree, values), ensure_ascii=False)
        # Half a character cannot be sent; what stands for it finds what it finds.
        return text.encode("utf-8", "replace")


@dataclass(frozen=True)
class QueryStringTemplate:
    """Names and values of a query string, in order."""

    pairs: tuple[tuple[str, str], ...]

    def filled(self, *, query: str, k: int, qid: str = "") -> bytes:
        """The query string for a query, without its `?`."""
        values: Values = {"query": query, "k": k, "qid": qid}
        parts = [f"{_encoded(name)}={_encoded(_text(value, values))}" for name, value in self.pairs]
        return "&".join(parts).encode("ascii")


def read_template(text: str, *, method: str) -> Template:
    """The template of a POST (JSON) or of a GET (a query string).

    Raises
    ------
    TemplateError
        If it cannot be read, has an unknown placeholder, or none for the query.

    Examples
    --------
    >>> text = '{"q": {{query}}, "n": {{k}}, "as": "find: {{query}}"}'
    >>> template = read_template(text, method="POST")
    >>> template.filled(query='say "{{k}}"', k=5).decode()
    '{"q": "say \\\\"{{k}}\\\\"", "n": 5, "as": "find: say \\\\"{{k}}\\\\""}'
    >>> read_template("q={{query}}&rows={{k}}", method="GET").filled(query="a&b=c", k=5)
    b'q=a%26b%3Dc&rows=5'
    """
    if len(text.encode("utf-8", "replace")) > LARGEST:
        raise TemplateError(why=f"it has more than {LARGEST >> 10} KiB. Shorten it.")
    return _read_body(text) if method == "POST" else _read_query_string(text)


def digest_of(text: str) -> str:
    """The SHA-256 of a template, by which a run says how it was asked."""
    return sha256(text.strip().encode("utf-8", "replace")).hexdigest()


# --- JSON --------------------------------------------------------------------------------------


def _read_body(text: str) -> BodyTemplate:
    quoted = _TOKEN.sub(lambda match: _quoted(match[0]), text)
    try:
        tree = json.loads(quoted, parse_constant=_no_constant, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise TemplateError(why=_why_no_json(error)) from error
    if not isinstance(tree, dict | list):
        raise TemplateError(why="it is no JSON object. Write one as the endpoint expects it.")
    _check_placeholders(_texts_in(tree))
    return BodyTemplate(tree)


def _quoted(token: str) -> str:
    """A placeholder outside quotes becomes a text of its own, which `_filled` knows."""
    return f'"{token}"' if token.startswith("{{") else token


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise TemplateError(why=f"'{twice}' stands twice in one object. Remove one of them.")
    for name in members:
        if _PLACEHOLDER.search(name):
            raise TemplateError(why=f"'{name}' is a name, and a placeholder stands for a value.")
    return members


def _why_no_json(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno} is not JSON ({error.msg}). Correct it."
    if isinstance(error, RecursionError):
        return "it is nested too deeply. Flatten it."
    return f"{error} is not JSON. Correct it."


def _filled(tree: Any, values: Values) -> Any:
    if isinstance(tree, dict):
        return {name: _filled(inner, values) for name, inner in tree.items()}
    if isinstance(tree, list):
        return [_filled(inner, values) for inner in tree]
    if isinstance(tree, str):
        alone = _PLACEHOLDER.fullmatch(tree.strip())
        return values[alone[1]] if alone else _text(tree, values)
    return tree


def _texts_in(tree: Any) -> list[str]:
    if isinstance(tree, dict):
        return [text for inner in tree.values() for text in _texts_in(inner)]
    if isinstance(tree, list):
        return [text for inner in tree for text in _texts_in(inner)]
    return [tree] if isinstance(tree, str) else []


# --- query strings -----------------------------------------------------------------------------


def _read_query_string(text: str) -> QueryStringTemplate:
    pairs = []
    for part in filter(None, text.strip().removeprefix("?").split("&")):
        name, has_value, value = part.partition("=")
        if not has_value or not name.strip():
            raise TemplateError(why=f"'{part[:40]}' is no name=value. Write q={{{{query}}}}&n=10.")
        if _PLACEHOLDER.search(name):
            raise TemplateError(why=f"'{name}' is a name, and a placeholder stands for a value.")
        pairs.append((unquote_plus(name.strip()), unquote_plus(value.strip())))
    _check_placeholders([value for _, value in pairs])
    return QueryStringTemplate(tuple(pairs))


def _encoded(text: str) -> str:
    return quote(text, safe="", errors="replace")


# --- both --------------------------------------------------------------------------------------


def _text(text: str, values: Values) -> str:
    # One pass: what was put in is not looked at again.
    return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), text)


def _check_placeholders(texts: list[str]) -> None:
    names = [name for text in texts for name in _PLACEHOLDER.findall(text)]
    unknown = next((name for name in names if name not in NAMES), None)
    if unknown is not None:
        names_listed = ", ".join(f"{{{{{name}}}}}" for name in NAMES)
        raise TemplateError(why=f"{{{{{unknown}}}}} stands for nothing. There are {names_listed}.")
    if "query" not in names:
        raise TemplateError(why="it has no {{query}}. Put it where the text of the query belongs.")

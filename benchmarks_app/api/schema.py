"""What the description of the API says of all endpoints alike."""

import re
from collections.abc import Iterator
from inspect import cleandoc, getdoc
from typing import Any

from django.urls import resolve
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

from benchmarks_app.problems import CONTENT_TYPE

# What RFC 9457 calls it: a class `Error` has TypeScript already.
ERROR_NAME = "ProblemDetails"
ERROR = {
    "type": "object",
    "description": "Every error: a problem as RFC 9457 has it, with a code that stays.",
    "required": ["type", "title", "status", "detail", "instance", "code", "message", "facts"],
    "properties": {
        "type": {
            "type": "string",
            "format": "uri-reference",
            "description": "Where this kind of error is told of; its fragment is the code.",
        },
        "title": {"type": "string", "description": "What this kind of error is called."},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "description": "What is wrong and what to do; reworded."},
        "instance": {
            "type": "string",
            "format": "uri-reference",
            "description": "The path that was asked for.",
        },
        "code": {"type": "string", "description": "It stays; for programs."},
        "message": {"type": "string", "description": "The same as `detail`."},
        "facts": {
            "type": "object",
            "additionalProperties": {},
            "description": "What the sentence names, by name.",
        },
        "errors": {
            "type": "object",
            "additionalProperties": {},
            "description": "Of what was sent and not expected (400), what is wrong of each field.",
        },
        "problems": {
            "type": "array",
            "description": "Of a file that cannot be read, what is wrong of its lines.",
            "items": {
                "type": "object",
                "required": ["file", "line", "message"],
                "properties": {
                    "file": {"type": "string"},
                    "line": {"type": "integer", "minimum": 0, "description": "From 1; 0: all."},
                    "message": {"type": "string"},
                },
            },
        },
    },
}
# What each status of an error means here; `docs/api.md` has the codes.
MEANINGS = {
    400: "What was sent is not what is expected; `errors` names the fields.",
    401: "No token, or one that is unknown, revoked or expired.",
    403: "Your role in the benchmark does not allow it, or the token's scopes do not.",
    404: "There is no such thing, or it is not for you to see.",
    406: "It is not given in the form that `Accept` asks for.",
    409: "The benchmark does not allow it as it stands now; the message says what to do.",
    410: "It is over: used, withdrawn or expired.",
    413: "The file is larger than the site takes.",
    415: "The body has another content type than those the endpoint reads.",
    416: "The file has none of the bytes that `Range` asks for.",
    422: "It was understood and cannot be done; the message says why, and what to do.",
    429: "Too many requests in a minute; `Retry-After` says how many seconds to wait.",
    503: "The site is busy; `Retry-After` says how many seconds to wait.",
}
HEADERS = {
    401: {"WWW-Authenticate": ("The scheme to send a token by.", "string")},
    416: {"Content-Range": ("How many bytes there are.", "string")},
    429: {"Retry-After": ("Seconds until the next request is answered.", "integer")},
}
UNCHANGED = "Unchanged"
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": (
        "A UUID, the same whenever this request is sent again: within 24 hours it gets the answer "
        "that it got, and nothing is done twice."
    ),
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!#-~]+$"},
}
EVERYWHERE = (401, 403, 406, 429)
OF_WRITING = (400, 409, 422)
WRITING = ("POST", "PUT", "PATCH", "DELETE")


class Description(AutoSchema):
    """Says of each endpoint which errors it may answer with.

    Those follow from its method and its address; a method that raises more of them names these:
    `refusals = {"GET": (409,)}`.
    """

    def get_operation_id(self) -> str:
        """The name of the address and the method: it stays when other addresses come."""
        name = resolve(re.sub(r"\{\w+\}", "1", self.path)).url_name
        return f"{name}-{self.method.lower()}".replace("-", "_")

    def get_description(self) -> str:
        """What its method says of itself, or its class; nothing that a class below it says."""
        method = getattr(self.view, self.method.lower(), None)
        return getdoc(method) or cleandoc(vars(type(self.view)).get("__doc__") or "")

    def get_summary(self) -> str | None:
        """What is written for it, or the first line of what describes it."""
        described = self.get_description() or ""
        return super().get_summary() or described.strip().partition("\n")[0].rstrip(".") or None

    def get_operation(self, *args: Any, **settings: Any) -> dict[str, Any] | None:
        operation: dict[str, Any] | None = super().get_operation(*args, **settings)
        if operation is not None:
            if scope_of := getattr(self.view, "scope_of", None):
                needed = f"A token needs the scope `{scope_of(self.method)}`."
                described = (operation.get("description"), needed)
                operation["description"] = "\n\n".join(filter(None, described))
            for status in sorted(self._refusals(operation)):
                response = {"$ref": f"#/components/responses/{_name(status)}"}
                operation["responses"].setdefault(str(status), response)
            if self.method == "GET":
                unchanged = {"$ref": f"#/components/responses/{UNCHANGED}"}
                operation["responses"]["304"] = unchanged
            if self.method == "POST" and getattr(self.view, "keeps_answers", False):
                key = {"$ref": f"#/components/parameters/{KEY['name']}"}
                operation["parameters"] = [*operation.get("parameters", ()), key]
        return operation

    def _refusals(self, operation: dict[str, Any]) -> set[int]:
        statuses = {*EVERYWHERE, *getattr(self.view, "refusals", {}).get(self.method, ())}
        places = {parameter["in"] for parameter in operation.get("parameters", ())}
        if places & {"path", "query"}:
            statuses.add(404)  # a page beyond the last is not there either
        if "query" in places:
            statuses.update((400, 422))  # not a number; a number of which there is nothing to say
        if self.method in WRITING:
            statuses.update(OF_WRITING)
        if self.method in WRITING and self.method != "DELETE":
            statuses.add(415)
        if "multipart/form-data" in operation.get("requestBody", {}).get("content", {}):
            statuses.add(413)
        return statuses


def with_errors(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: the one shape of errors, and each of their answers by name."""
    components = result["components"]
    components["schemas"][ERROR_NAME] = ERROR
    components["responses"] = {_name(status): _answer(status) for status in MEANINGS}
    components["responses"][UNCHANGED] = {
        "description": "What the asker has, by its `ETag` in `If-None-Match`, is still so.",
        "headers": {"ETag": _header("The tag once more.", "string")},
    }
    components["parameters"] = {KEY["name"]: KEY}
    return result


def without_false_defaults(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: no default that could not be sent, which says "not told" here."""
    schemas = result["components"]["schemas"]
    for schema in _dicts(result):
        if "default" in schema and not _may_be_sent(schema, schemas):
            del schema["default"]
    return result


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _dicts(inner)


def _may_be_sent(schema: dict[str, Any], schemas: dict[str, Any]) -> bool:
    default = schema["default"]
    parts = [schema, *schema.get("allOf", ()), *schema.get("oneOf", ())]
    known_parts = [schemas.get(part.get("$ref", "").rpartition("/")[2], part) for part in parts]
    choices = [choice for part in known_parts for choice in part.get("enum", ())]
    is_chosen = default in choices or not choices
    return is_chosen and (default != "" or schema.get("minLength", 0) == 0)


def _name(status: int) -> str:
    return f"Error{status}"


def _answer(status: int) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{ERROR_NAME}"}
    answer: dict[str, Any] = {
        "description": MEANINGS[status],
        "headers": {
            "X-Error-Code": _header("The `code` once more.", "string"),
            "RateLimit": _header(
                "What is left of each limit, and for how long.", "string", always=False
            ),
            "RateLimit-Policy": _header("Each limit: requests in seconds.", "string", always=False),
        },
        "content": {CONTENT_TYPE: {"schema": schema}},
    }
    for name, (description, kind) in HEADERS.get(status, {}).items():
        answer["headers"][name] = _header(description, kind)
    return answer


def _header(description: str, kind: str, *, always: bool = True) -> dict[str, Any]:
    """A header; those of limits are not told where the address leads to no endpoint."""
    return {"description": description, "required": always, "schema": {"type": kind}}


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "benchmarks_app.people.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        description = "A token of your account page, sent as `Authorization: Bearer SECRET`."
        return {"type": "http", "scheme": "bearer", "description": description}

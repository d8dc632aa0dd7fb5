"""What the description of the API says of all endpoints alike."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

ERROR = {
    "type": "object",
    "description": "Every error: a code that stays, a sentence, and what there is to say more.",
    "required": ["code", "message", "detail"],
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "detail": {"type": "object", "additionalProperties": {}},
    },
}


def with_errors(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: each endpoint may answer with the one shape of errors."""
    result["components"]["schemas"]["Error"] = ERROR
    told = {
        "description": "An error",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    for path in result["paths"].values():
        for operation in path.values():
            operation["responses"].setdefault("default", told)
    return result


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "benchmarks_app.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        description = "A token of your account page, sent as `Authorization: Bearer SECRET`."
        return {"type": "http", "scheme": "bearer", "description": description}

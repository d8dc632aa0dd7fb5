"""JSON as the API takes it: no deeper than anything that it is asked for."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

DEEPEST = 64


class BoundedJSONParser(JSONParser):
    """Refuses JSON that is nested so deeply that reading or writing it might need all the stack."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            parsed = super().parse(stream, media_type, parser_context)
        except RecursionError as error:
            raise ParseError(_too_deep()) from error
        level = [parsed]
        for _ in range(DEEPEST):
            level = [inner for value in level for inner in _inside(value)]
            if not level:
                return parsed
        raise ParseError(_too_deep())


def _inside(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _too_deep() -> str:
    return f"The JSON is nested more than {DEEPEST} levels deep; nothing here is. Send less of it."

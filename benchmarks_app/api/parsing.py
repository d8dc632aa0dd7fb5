"""JSON as the API takes it: no deeper than anything that it is asked for, its names storable."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from benchwright.ids import is_storable

DEEPEST = 64
ODD_NAME = "A name in the JSON holds U+0000 or half a character (a lone surrogate). Remove it."


class BoundedJSONParser(JSONParser):
    """Refuses JSON that is nested so deeply that reading or writing it might need all the stack.

    And JSON with a name that no database takes: fields look at what they hold alone.
    """

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
            if not all(is_storable(list(value)) for value in level if isinstance(value, dict)):
                raise ParseError(ODD_NAME)
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

"""Texts from outside, as every database takes them."""

from typing import Any, TypeVar

Value = TypeVar("Value")


def storable(value: Value) -> Value:
    """The value with each NUL and half of a surrogate pair in its texts replaced, at any depth.

    PostgreSQL takes neither in a text or in JSON, and a judge may write both.
    """
    return _storable(value)


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        whole = value.encode("utf-8", "replace").decode()
        return whole.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, dict):
        return {_storable(key): _storable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(inner) for inner in value]
    return value

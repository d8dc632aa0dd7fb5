"""What a run says of its system, as boards and gates ask for it; every way to write it is read."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

TYPE_KEYS = ("type", "system type", "method type", "retriever type")
TRAINING_KEYS = (
    "training sets",
    "training set",
    "training data",
    "training datasets",
    "trained on",
    "training",
)
CONTAMINATED = ("contaminated", "is contaminated", "trained on this data")
YES = ("yes", "true", "1")
# In these ways of writing the block of ir_metadata says which data a system saw.
NESTED = "ir_metadata"


def system_type(metadata: Mapping[str, Any]) -> str:
    """The type a run's metadata gives its system, in small letters; empty where it says none.

    Examples
    --------
    >>> system_type({"Type": " Dense "}), system_type({"model": "bm25"})
    ('dense', '')
    """
    found = (text for key, text in _texts(metadata) if key in TYPE_KEYS)
    return next(found, "").strip().casefold()


def is_trained_on(metadata: Mapping[str, Any], names: Iterable[str]) -> bool:
    """Whether the training sets that a run names hold one of `names`, or it says so of itself.

    A name counts as a whole word, in any case of letters; `-` and `_` are alike.

    Examples
    --------
    >>> is_trained_on({"training_sets": ["MS MARCO", "SciFact"]}, ["scifact"])
    True
    >>> is_trained_on({"training sets": "scifactoid"}, ["scifact"])
    False
    """
    wanted = [_plain(name) for name in names if name.strip()]
    for key, text in _texts(metadata):
        if key in CONTAMINATED and text.strip().casefold() in YES:
            return True
        told = _plain(text)
        if key in TRAINING_KEYS and any(_holds(told, name) for name in wanted):
            return True
    return False


def _texts(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Key and text of each plain value, of lists each member; keys in small letters, with blanks.

    Of ir_metadata, blocks are looked into at any depth.
    """
    for key, value in metadata.items():
        if isinstance(value, Mapping):
            if str(key) == NESTED or any(isinstance(inner, str | list) for inner in value.values()):
                yield from _texts(value)
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, Mapping):
                yield from _texts(one)
            elif one is not None:
                yield _plain(str(key)), str(one)


def _plain(text: str) -> str:
    return re.sub(r"[\s_\-]+", " ", text).strip().casefold()


def _holds(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None

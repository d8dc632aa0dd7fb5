"""Paths into the JSON of an answer, such as `hits.hits[*]._id`, and what they lead to.

path   = ["$"] , { step }            "." and "$" alone are the value itself
step   = [ "." ] , name              a member of an object
       | "[" , digits , "]"          a member of a list, from 0; negative from its end
       | "[*]"                       every member of a list
       | '["' , any characters , '"]'   a member whose name has dots or brackets
"""

import json
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from benchwright.live.errors import PathError

LONGEST = 200
SHOWN_NAMES = 8

_STEP = re.compile(
    r"""\.?(?P<name>[^.\[\]"\s$*]+)
      | \[(?P<place>-?\d{1,6})\]
      | \[(?P<every>\*)\]
      | \[(?P<quoted>"(?:[^"\\]|\\.)*")\]""",
    re.VERBOSE,
)

EVERY = None
Step: TypeAlias = str | int | None


class MissingError(Exception):
    """The answer has nothing where a path leads; `why` says where it stops."""

    def __init__(self, *, why: str) -> None:
        super().__init__(why)


@dataclass(frozen=True, slots=True)
class Path:
    """A path that was read; `steps` are names, places and `EVERY`."""

    text: str
    steps: tuple[Step, ...]

    @property
    def is_many(self) -> bool:
        return EVERY in self.steps

    def one(self, value: Any) -> Any:
        """What the path leads to, of a path without `[*]`.

        Raises
        ------
        MissingError
            Where it leads nowhere.
        """
        at = ""
        for step in self.steps:
            value, at = _stepped(value, step, at)
        return value

    def many(self, value: Any) -> list[Any]:
        """Everything the path leads to, in order; without a last `[*]` it must lead to a list.

        Raises
        ------
        MissingError
            Where it leads nowhere, or to no list.
        """
        steps = self.steps if self.is_many else (*self.steps, EVERY)
        values = [(value, "")]
        for step in steps:
            if step is EVERY:
                values = [member for each in values for member in _members(*each)]
            else:
                values = [_stepped(inner, step, at) for inner, at in values]
        return [inner for inner, _ in values]


def read_path(text: str, *, may_be_many: bool = False) -> Path:
    """The path that is written as `text`.

    Raises
    ------
    PathError
        If it is none, or has `[*]` where one value is wanted.

    Examples
    --------
    >>> read_path("$.hits.hits[*]", may_be_many=True).steps
    ('hits', 'hits', None)
    >>> read_path('fields["doc.id"][0]').one({"fields": {"doc.id": ["d7"]}})
    'd7'
    """
    path = text.strip()
    if len(path) > LONGEST:
        raise PathError(path=path[:40] + "…", why=f"it is longer than {LONGEST} characters")
    rest = path.removeprefix("$")
    if not path:
        raise PathError(path=path, why="it is empty")
    if rest in ("", "."):
        return Path(path, ())
    steps = _steps(path, rest)
    if EVERY in steps and not may_be_many:
        raise PathError(path=path, why="it leads to many values with [*], and one is wanted")
    return Path(path, steps)


def _steps(path: str, rest: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    place = 0
    while place < len(rest):
        match = _STEP.match(rest, place)
        if match is None:
            raise PathError(path=path, why=f"'{rest[place : place + 12]}' is no step of a path")
        if match["name"] and place and not match[0].startswith("."):
            raise PathError(path=path, why=f"a dot is missing before '{match['name']}'")
        steps.append(_step(match, path))
        place = match.end()
    return tuple(steps)


def _step(match: re.Match[str], path: str) -> Step:
    if match["name"]:
        return match["name"]
    if match["place"]:
        return int(match["place"])
    if match["every"]:
        return EVERY
    try:
        return str(json.loads(match["quoted"]))
    except ValueError as error:
        raise PathError(path=path, why=f"{match['quoted']} is no quoted name") from error


def _stepped(value: Any, step: Step, at: str) -> tuple[Any, str]:
    if isinstance(step, int):
        if not isinstance(value, list):
            raise MissingError(why=f"{_named(at)} is {kind_of(value)}; expected a list")
        if not -len(value) <= step < len(value):
            raise MissingError(why=f"{_named(at)} has {len(value)} members, and no [{step}]")
        return value[step], f"{at}[{step}]"
    name = str(step)
    if not isinstance(value, dict):
        raise MissingError(why=f"{_named(at)} is {kind_of(value)}, and so has no '{name}'")
    if name not in value:
        raise MissingError(why=f"{_named(at)} has no '{name}'; it has {_names(value)}")
    return value[name], f"{at}.{name}".removeprefix(".")


def _members(value: Any, at: str) -> list[tuple[Any, str]]:
    if not isinstance(value, list):
        raise MissingError(why=f"{_named(at)} is {kind_of(value)}; expected a list of results")
    return [(member, f"{at}[{place}]") for place, member in enumerate(value)]


def _named(at: str) -> str:
    return f"'{at}'" if at else "it"


def _names(value: dict[str, Any]) -> str:
    names = [name[:40] for name in list(value)[:SHOWN_NAMES]]
    more = ", …" if len(value) > SHOWN_NAMES else ""
    return ", ".join(names) + more if names else "nothing at all"


def kind_of(value: Any) -> str:
    """What JSON calls a value, with its article.

    >>> kind_of({}), kind_of(None), kind_of(1.5)
    ('an object', 'null', 'a number')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    kinds = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number"}
    return kinds[type(value)]


@dataclass(frozen=True)
class Shape:
    """Where an answer holds its results, and in each result its id and its score.

    Without `score` the order of the results is the ranking. `is_opensearch` also looks at whether
    the answer says of itself that it is only a part.
    """

    results: Path
    id: Path
    score: Path | None = None
    is_opensearch: bool = False


def read_shape(*, results: str, id: str, score: str = "", is_opensearch: bool = False) -> Shape:
    """The shape that three paths describe.

    Raises
    ------
    PathError
        If one of them is none.
    """
    return Shape(
        results=read_path(results, may_be_many=True),
        id=read_path(id),
        score=read_path(score) if score.strip() else None,
        is_opensearch=is_opensearch,
    )


@dataclass(frozen=True)
class Reading:
    """The documents of an answer with their scores, in the order it gave them.

    `n_repeated` documents came again and were left out, `n_beyond` stood after the first k, and
    `is_unordered` says that a score is above that of an earlier result.
    """

    results: tuple[tuple[str, float], ...]
    n_repeated: int = 0
    n_beyond: int = 0
    is_unordered: bool = False

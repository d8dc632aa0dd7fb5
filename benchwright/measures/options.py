"""What the cutoff and the options of a measure may be set to."""

from collections.abc import Callable, Mapping
from math import isfinite, nan
from typing import Any

from benchwright.errors import CutoffError, MeasureParameterError, RelevanceThresholdError
from benchwright.measures.families import FAMILIES, Family, Measure, OptionValue

_OF_NUMBERS = frozenset("0123456789.eE+-")


def measure_of(
    family_name: str, cutoff: int | float | None, values: Mapping[str, OptionValue]
) -> Measure:
    """The measure in its canonical form: options in the family's order, without its defaults."""
    family = FAMILIES[family_name]
    rel = values.get("rel")
    if isinstance(rel, int) and rel < 1:
        raise RelevanceThresholdError(rel=rel)
    options = ((key, values[key]) for key in family.options if key in values)
    changed = tuple((key, value) for key, value in options if value != family.options[key])
    return Measure(family_name, cutoff, changed)


def parse_cutoff(name: str, text: str | None, family: Family) -> int | float | None:
    if text is None:
        if family.cutoff == "needed":
            reason = "has no cutoff; expected one. Write it after an @, such as @10."
            raise MeasureParameterError(name=name, reason=reason)
        return None
    if family.cutoff == "none":
        raise MeasureParameterError(name=name, reason="takes no cutoff. Leave it out.")
    if family.cutoff_as != "cutoff":
        return _level(name, text.strip(), family.cutoff_as)
    if not _is_whole(text.strip()):
        reason = f"cutoff is '{text}'; expected a whole number, such as @10. Correct it."
        raise MeasureParameterError(name=name, reason=reason)
    if int(text) < 1:
        raise CutoffError(cutoff=int(text))
    return int(text)


def _level(name: str, text: str, what: str) -> float:
    highest = 1.0 if what == "recall" else 1e6
    if not 0 <= _number_of(text) <= highest:
        expected = "a recall from 0 to 1, such as @0.5" if what == "recall" else "a number"
        reason = f"{what} is '{text}'; expected {expected}. Correct it."
        raise MeasureParameterError(name=name, reason=reason)
    return float(text)


def parse_option(name: str, key: str, raw: str) -> Any:
    """The value of the option `key`, written `raw`, of the measure called `name`."""
    return _PARSERS[key](name, key, raw)


def _refused(name: str, key: str, raw: str, expected: str) -> MeasureParameterError:
    reason = f"{key} is '{raw}'; expected {expected}. Correct it."
    return MeasureParameterError(name=name, reason=reason)


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9


def _number_of(text: str) -> float:
    """NaN where it is no number, or none that is finite."""
    if not _OF_NUMBERS.issuperset(text):
        return nan
    try:
        number = float(text)
    except ValueError:
        return nan
    return number if isfinite(number) else nan


def _whole(name: str, key: str, raw: str) -> int:
    if not _is_whole(raw.removeprefix("-")):
        raise _refused(name, key, raw, "a whole number")
    return int(raw)


def _top(name: str, key: str, raw: str) -> int:
    if not _is_whole(raw) or int(raw) < 1:
        raise _refused(name, key, raw, "a whole number of at least 1")
    return int(raw)


def _number(name: str, key: str, raw: str) -> float:
    if not isfinite(_number_of(raw)):
        raise _refused(name, key, raw, "a number")
    return float(raw)


def _positive(name: str, key: str, raw: str) -> float:
    if not _number_of(raw) > 0:
        raise _refused(name, key, raw, "a number above 0")
    return float(raw)


def _weight(name: str, key: str, raw: str) -> float:
    if not _number_of(raw) >= 0:
        raise _refused(name, key, raw, "a number of at least 0")
    return float(raw)


def _share(name: str, key: str, raw: str) -> float:
    if not 0 < _number_of(raw) < 1:
        raise _refused(name, key, raw, "a number between 0 and 1")
    return float(raw)


def _dcg(name: str, key: str, raw: str) -> str:
    if raw.strip("'\"") not in ("log2", "exp-log2"):
        raise _refused(name, key, raw.strip("'\""), "log2 or exp-log2")
    return raw.strip("'\"")


def _flag(name: str, key: str, raw: str) -> bool:
    if raw.lower() not in ("true", "false"):
        raise _refused(name, key, raw, "True or False")
    return raw.lower() == "true"


def _gains(name: str, key: str, raw: str) -> tuple[tuple[int, float], ...]:
    """Pairs of grade and gain, by grade: `{1:1,2:3}`."""
    gains: dict[int, float] = {}
    for part in raw.strip("{}").split(","):
        grade, _, gain = (piece.strip() for piece in part.partition(":"))
        if not _is_whole(grade) or not isfinite(_number_of(gain)):
            raise _refused(name, key, raw, "a gain for each grade, such as {1:1,2:3}")
        gains[int(grade)] = float(gain)
    return tuple(sorted(gains.items()))


def _recalls(name: str, key: str, raw: str) -> tuple[float, ...]:
    return tuple(_level(name, part.strip(), "recall") for part in raw.strip("[]").split(","))


def _four(name: str, key: str, raw: str) -> tuple[float, ...]:
    numbers = tuple(_number(name, key, part.strip()) for part in raw.strip("[]").split(","))
    if len(numbers) != 4:
        raise _refused(name, key, raw, "four numbers, such as [1,-1,0,0]")
    return numbers


_PARSERS: dict[str, Callable[[str, str, str], Any]] = {
    "rel": _whole,
    "min_rel": _whole,
    "max_rel": _top,
    "T": _positive,
    "n_documents": _whole,
    "p": _share,
    "beta": _weight,
    "dcg": _dcg,
    "gains": _gains,
    "judged_only": _flag,
    "normalize": _flag,
    "relative": _flag,
    "at": _recalls,
    "weights": _four,
}

"""Result files: scores with everything needed to compute them again, and whether they still hold.

A result is one JSON object with sorted keys; docs/formats.md names every field. It is a pure
function of the files and rules: no time, no host, so that two of them are equal byte by byte.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from os.path import relpath
from pathlib import Path
from typing import Any

from benchwright.errors import MissingFileError, ResultFormatError
from benchwright.evaluation.evaluating import Evaluation
from benchwright.evaluation.scorecards import Rules, Scorecard, Scorer
from benchwright.files.encodings import as_text
from benchwright.files.sources import STANDARD_INPUT, open_lines, sha256_of
from benchwright.formats.unlisted import UNKNOWN

FORMAT, VERSION = "benchwright-result", 1


def result_of(scorer: Scorer, cards: Sequence[Scorecard], *, folder: Path) -> dict[str, Any]:
    """The result of runs that were scored; paths are written relative to `folder`."""
    origin = provenance(scorer, cards, folder=folder)
    return {
        "format": FORMAT,
        "version": VERSION,
        **origin,
        "runs": [{**of, **_run(card)} for of, card in zip(origin["runs"], cards, strict=True)],
    }


def provenance(scorer: Scorer, cards: Sequence[Scorecard], *, folder: Path) -> dict[str, Any]:
    """What numbers are from: who computed them, by which rules, from which files."""
    return {
        "made_by": made_by(),
        "rules": {**scorer.rules._asdict(), "measures": list(scorer.rules.measures)},
        "files": {name: _file(path, folder) for name, path in sorted(scorer.files.named().items())},
        "runs": [{**_file(card.path, folder), "name": card.name} for card in cards],
    }


def made_by() -> dict[str, str]:
    """What computes here: scorer, its version, Python's, and which scanner reads."""
    from importlib.metadata import version

    from benchwright.reading import scanner_name

    return {
        "scorer": "benchwright",
        "version": version("benchwright"),
        "python": ".".join(map(str, sys.version_info[:3])),
        "scanner": scanner_name(),
    }


def as_json(result: Mapping[str, Any]) -> str:
    """A result as text: the same result is the same text."""
    return json.dumps(result, indent=1, sort_keys=True, allow_nan=False) + "\n"


def read_result(path: Path) -> dict[str, Any]:
    """A result from its file.

    Raises
    ------
    ResultFormatError
        If it is none, or of a version that is not known here.
    MissingFileError
        If there is no such file.
    """
    try:
        result = json.loads(b"".join(open_lines(path)))
    except (ValueError, RecursionError) as error:
        raise ResultFormatError(file=path.name, reason=f"is no JSON ({error})") from error
    return _checked(result, path.name)


def stored_rules(result: Mapping[str, Any], file: str) -> Rules:
    """The rules that a result was made by.

    Raises
    ------
    ResultFormatError
        If they are not those known here.
    """
    rules = result["rules"]
    if isinstance(rules, dict):
        # Results written before there was the rule, and when intervals had a seed of their own.
        rules = {"unlisted": UNKNOWN, **rules}
        if "interval_seed" in rules:
            seed = rules.pop("interval_seed")
            rules = {**rules, "has_intervals": seed is not None, "seed": seed or 0}
    if not isinstance(rules, dict) or rules.keys() != set(Rules._fields):
        reason = f"has rules other than {', '.join(sorted(Rules._fields))}"
        raise ResultFormatError(file=file, reason=reason)
    measures = rules.pop("measures")
    if not isinstance(measures, list) or not all(isinstance(name, str) for name in measures):
        raise _other_than_written(file, "rules/measures")
    for name, value in rules.items():
        if not isinstance(value, Rules.__annotations__[name]):
            raise _other_than_written(file, f"rules/{name}")
    return Rules(measures=tuple(measures), **rules)


def located(entry: Mapping[str, Any], folder: Path, place_named: Path | None) -> Path:
    """Where a file of a result is now: as given, or at its path relative to `folder`.

    Raises
    ------
    MissingFileError
        If it is not there.
    """
    path = place_named or folder / entry["path"]
    if not path.is_file():
        advice = "Put it back, or name where it is now (--qrels, --run)."
        raise MissingFileError(place=path, expected="file", advice=advice)
    return path


def differences(stored: Any, computed: Any, place: str = "") -> Iterator[str]:
    """Where two results differ, deepest places only; numbers must be equal to the last bit.

    Examples
    --------
    >>> list(differences({"a": {"b": 0.5}}, {"a": {"b": 0.25, "c": 1}}))
    ['a/b: 0.5 in the file, 0.25 computed', 'a/c: not in the file, 1 computed']
    """
    if isinstance(stored, dict) and isinstance(computed, dict):
        for key in sorted(stored.keys() | computed.keys()):
            below = f"{place}/{key}" if place else key
            yield from differences(stored.get(key, _NOTHING), computed.get(key, _NOTHING), below)
    elif _side(stored, "") != _side(computed, ""):
        yield f"{place}: {_side(stored, 'in the file')}, {_side(computed, 'computed')}"


_NOTHING = object()


def _side(value: Any, where: str) -> str:
    return f"not {where}" if value is _NOTHING else f"{json.dumps(value, sort_keys=True)} {where}"


def _checked(result: Any, file: str) -> dict[str, Any]:
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        raise ResultFormatError(file=file, reason=f'has no "format": "{FORMAT}"')
    if result.get("version") != VERSION:
        reason = f"is of version {result.get('version')!r}; expected {VERSION}"
        raise ResultFormatError(file=file, reason=reason)
    missing = [key for key in ("files", "made_by", "rules", "runs") if key not in result]
    if missing:
        raise ResultFormatError(file=file, reason=f"lacks {', '.join(missing)}")
    if place := _misshapen(result):
        raise _other_than_written(file, place)
    if any("per_query" not in run for run in result["runs"]):
        reason = "lacks the values of queries. Write it with --result, or add --per-query"
        raise ResultFormatError(file=file, reason=reason)
    return result


def _other_than_written(file: str, place: str) -> ResultFormatError:
    return ResultFormatError(file=file, reason=f"has something else at {place} than is written")


def _misshapen(result: Mapping[str, Any]) -> str:
    """The first place that holds another kind of thing than a result does there; or nothing."""
    for name, kind in (("files", dict), ("made_by", dict), ("rules", dict), ("runs", list)):
        if not isinstance(result[name], kind):
            return name
    if "qrels" not in result["files"]:
        return "files"
    runs = {f"runs/{number}": run for number, run in enumerate(result["runs"])}
    files = {f"files/{name}": entry for name, entry in result["files"].items()}
    for place, entry in {**files, **runs}.items():
        if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
            return place
    for place, run in runs.items():
        values = run.get("per_query", {})
        if not isinstance(run.get("name"), str):
            return place
        if not isinstance(values, dict) or not all(isinstance(of, dict) for of in values.values()):
            return f"{place}/per_query"
    return ""


def _file(path: Path, folder: Path) -> dict[str, str]:
    is_file = path != STANDARD_INPUT
    place = Path(relpath(path.resolve(), folder.resolve())).as_posix() if is_file else "-"
    return {"file": path.name, "path": place, "sha256": sha256_of(path)}


def _run(card: Scorecard) -> dict[str, Any]:
    return {
        **_weighted(card),
        **_summary(card.overall),
        "per_query": {
            as_text(qid): {name: _number(value) for name, value in values.items()}
            for qid, values in card.overall.per_query.items()
        },
        "intervals": {
            name: {measure: list(map(_rounded, interval)) for measure, interval in of.items()}
            for name, of in card.intervals.items()
        },
        "slices": {name: _summary(evaluation) for name, evaluation in card.slices.items()},
    }


def _weighted(card: Scorecard) -> dict[str, Any]:
    """The weighted means by slice, where queries have weights; otherwise nothing."""
    if not card.weighted:
        return {}
    weighted = {
        name: {
            "means": _numbers(means.means),
            "intervals": {of: list(map(_rounded, ends)) for of, ends in means.intervals.items()},
            "n_queries": means.n_queries,
            "n_effective": _rounded(means.n_effective),
            "n_undefined": means.n_undefined,
        }
        for name, means in card.weighted.items()
    }
    return {"weighted": weighted}


def _summary(evaluation: Evaluation[bytes]) -> dict[str, Any]:
    return {
        "means": _numbers(evaluation.means),
        "judged_shares": _numbers(evaluation.judged_shares),
        "n_undefined": dict(evaluation.n_undefined),
        "n_queries": evaluation.n_queries,
        "n_missing": evaluation.n_missing,
        "n_extra": evaluation.n_extra,
    }


def _numbers(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _number(value) for name, value in values.items()}


def _number(value: float) -> float | None:
    return value if isfinite(value) else None


def _rounded(bound: float) -> float | None:
    # Of random draws: the last digits of a matrix product are the machine's.
    return round(bound, 6) if isfinite(bound) else None

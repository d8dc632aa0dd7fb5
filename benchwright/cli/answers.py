"""What `--json` prints: one object or list for a program, whichever command it is of."""

import json
import re
import sys
from math import isfinite
from pathlib import Path
from typing import Any

# But for tabs and ends of lines.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def say_json(facts: Any) -> None:
    """Print facts as JSON, two spaces to a level, in the order in which they are.

    A number that is undefined is null, as RFC 8259 has no other word for it; days, paths and the
    like are their text. Letters are printed as they are, and escaped where the output takes none.
    """
    text = json_of(facts)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(json.loads(text), indent=2)
    sys.stdout.write(f"{text}\n")


def refuse_mixed(output: Path | None, is_json: bool) -> None:
    """End with a usage error where a run and JSON would both go to the standard output."""
    if is_json and output is None:
        import click

        text = "Run and JSON would both go to the standard output. Name a file for the run with -o."
        raise click.UsageError(text)


def json_of(facts: Any) -> str:
    """The text that `say_json` prints.

    Examples
    --------
    >>> print(json_of({"run": "bm25", "mean": float("nan")}))
    {
      "run": "bm25",
      "mean": null
    }
    """
    return json.dumps(_known(facts), indent=2, ensure_ascii=False, allow_nan=False, default=str)


def _known(facts: Any) -> Any:
    """The same without numbers that JSON does not have."""
    if isinstance(facts, float):
        return facts if isfinite(facts) else None
    if isinstance(facts, dict):
        return {name: _known(value) for name, value in facts.items()}
    if isinstance(facts, list | tuple):
        return [_known(value) for value in facts]
    return facts


def for_terminals(text: str) -> str:
    """A text that others wrote, with � for what makes a terminal do something.

    >>> for_terminals("a\\x1b[2Jb\\x9bc\\td")
    'a�[2Jb�c\\td'
    """
    return CONTROLS.sub("\ufffd", text)

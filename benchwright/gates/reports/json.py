"""The report as JSON, every digit kept; the same result gives the same bytes."""

import json
from collections.abc import Mapping
from typing import Any


def written(result: Mapping[str, Any]) -> str:
    """The result as an object; an undefined number is null."""
    return json.dumps(result, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"

"""What it means that qrels do not list a document: nobody knows, or it is not relevant.

Not relevant is said of complete judgments, and of qrels that list the relevant documents alone.
"""

from collections.abc import Mapping
from typing import Any

UNKNOWN, NOT_RELEVANT = UNLISTED = ("unknown", "not-relevant")


def unlisted_of(manifest: Mapping[str, Any]) -> str:
    """What a release's manifest says; without a word nobody knows.

    Examples
    --------
    >>> unlisted_of({"qrels": {"unlisted": "not-relevant"}}), unlisted_of({"qrels": {}})
    ('not-relevant', 'unknown')
    """
    said = (manifest.get("qrels") or {}).get("unlisted", UNKNOWN)
    return said if said in UNLISTED else UNKNOWN

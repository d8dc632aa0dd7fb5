"""What it means that qrels do not list a document: nobody knows, or it is not relevant.

Not relevant is said of complete judgments, and of qrels that list the relevant documents alone.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchwright.files.sources import Source

UNKNOWN, NOT_RELEVANT = UNLISTED = ("unknown", "not-relevant")
NOT_LISTED_GRADE = {UNKNOWN: -1, NOT_RELEVANT: 0}
"""The grade of a document that is not listed: below 0 nobody has judged it."""
MANIFEST = "manifest.json"


def unlisted_of(manifest: Mapping[str, Any]) -> str:
    """What a release's manifest says; without a word nobody knows.

    Examples
    --------
    >>> unlisted_of({"qrels": {"unlisted": "not-relevant"}}), unlisted_of({"qrels": {}})
    ('not-relevant', 'unknown')
    """
    qrels = manifest.get("qrels")
    rule = qrels.get("unlisted") if isinstance(qrels, Mapping) else None
    return rule if rule in UNLISTED else UNKNOWN


def manifest_unlisted(source: "Source") -> str:
    """What the manifest of an export of ours says; an archive without one says nothing."""
    import json  # not for a small `score`, which has no manifest

    if MANIFEST not in source.members():
        return UNKNOWN
    try:
        manifest = json.loads(b"".join(source.lines(MANIFEST)))
    except (ValueError, RecursionError):
        return UNKNOWN
    return unlisted_of(manifest) if isinstance(manifest, dict) else UNKNOWN


def unlisted_sentence(unlisted: str) -> str:
    """What a card says of documents that the qrels do not list."""
    if unlisted == NOT_RELEVANT:
        return (
            "Documents that the qrels do not list are not relevant: the judgments are complete, or "
            "list the relevant documents alone."
        )
    return (
        "Documents that nobody judged count as not relevant; look at the judged share beside every "
        "score."
    )

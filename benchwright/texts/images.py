"""What a row says of its images: their digests, and words for where they are not seen."""

from collections.abc import Mapping
from typing import Any

ALT_KEYS = ("alt", "alt_text", "caption", "description")
# The key of metadata that holds the digests of a row's images.
IMAGE_KEY = "image_sha256"


def digests_in(metadata: Mapping[str, Any]) -> list[str]:
    """The digests of a document's images, in order."""
    digests = metadata.get(IMAGE_KEY)
    if not isinstance(digests, list):
        return []
    return [digest for digest in digests if isinstance(digest, str)]


def shown_text(qid: str, text: str, metadata: Mapping[str, Any]) -> str:
    """What a query is called where its images are not seen: its text, their text, or its id."""
    return text or alternative_text(metadata, qid)


def alternative_text(metadata: Mapping[str, Any], title: str, place: int | None = None) -> str:
    """What stands for images where they are not seen: a row's words for them, or its title.

    Of a list, which has words for each, those of the image at `place`, or all.

    Examples
    --------
    >>> alternative_text({"alt": ["a cat", "a dog"]}, "Pets", 1), alternative_text({}, "Pets")
    ('a dog', 'Pets')
    """
    for words in map(metadata.get, ALT_KEYS):
        if isinstance(words, list):
            listed = words if place is None else words[place : place + 1]
            words = "; ".join(word for word in listed if isinstance(word, str))
        if isinstance(words, str) and words:
            return words
    return title

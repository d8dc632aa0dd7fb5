"""What a label was given for: short enough for a table of labels, and whole."""

import hashlib
import json

HASH_LENGTH = 16


def text_hash(title: str, text: str) -> str:
    """The first 16 hex digits of a SHA-256 over title, line feed and text.

    >>> text_hash("module this", "The Zen") == text_hash("module", "this The Zen")
    False
    """
    content = f"{title}\n{text}".encode()
    return hashlib.sha256(content).hexdigest()[:HASH_LENGTH]


def content_hash(title: str, text: str) -> str:
    """The SHA-256 of what a person reads, so that a label can be pinned to it.

    >>> content_hash("module", "this") == content_hash("module this", "")
    False
    """
    said = json.dumps([title, text], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(said.encode()).hexdigest()

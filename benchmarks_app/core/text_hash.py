"""What a label was given for, short enough for a table of labels."""

import hashlib

HASH_LENGTH = 16


def text_hash(title: str, text: str) -> str:
    """The first 16 hex digits of a SHA-256 over title, line feed and text.

    >>> text_hash("module this", "The Zen") == text_hash("module", "this The Zen")
    False
    """
    content = f"{title}\n{text}".encode()
    return hashlib.sha256(content).hexdigest()[:HASH_LENGTH]

"""Names that stand for people in what leaves the site."""

import hmac
from base64 import b32encode

PREFIX = "annotator"
# 40 bits: among a thousand people two of one name are as likely as one in two million.
N_BYTES = 5


def pseudonym(person: int | str, *, benchmark: int | str, secret: str) -> str:
    """A person's name in the exports of a benchmark, such as "annotator-pf3w7c2a".

    It is the same in every export of the benchmark and another elsewhere. Without the secret (the
    site's own) nobody can tell whom it stands for, nor that two benchmarks share a person.

    Parameters
    ----------
    person
        A key that never changes: not a user name, which may.
    """
    said = f"pseudonym\n{benchmark}\n{person}".encode()
    digest = hmac.digest(secret.encode(), said, "sha256")
    return f"{PREFIX}-{b32encode(digest[:N_BYTES]).decode().lower()}"

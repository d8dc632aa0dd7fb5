"""Whose labels a file brings: accounts, people who have none here, and machines."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from benchwright.qrels.errors import (
    AccountFormError,
    OneAccountTwiceError,
    PersonAndMachineError,
    UnknownAccountError,
    UnknownRaterError,
)

# --- Whether a name is a language model's: what says that grades may be a machine's.

# Names that only models have as they stand, and names that people share with models, which are a
# model's where a version or a size follows.
_MODELS = (
    "gpt", "chatgpt", "llama", "llm", "mixtral", "qwen", "deepseek", "umbrela", "davinci",
    "vicuna", "codellama", "starcoder", "autorater", "bot",
)  # fmt: skip
_SHARED = ("claude", "gemma", "gemini", "mistral", "grok", "falcon", "phi", "palm", "nova", "yi")
_VERSIONS = (
    "opus",
    "sonnet",
    "haiku",
    "instant",
    "pro",
    "flash",
    "ultra",
    "large",
    "small",
    "nano",
)
_LOOKS = re.compile(
    rf"(?<![a-z])(?:(?:{'|'.join(_MODELS)})(?![a-z])"
    rf"|(?:{'|'.join(_SHARED)})[-_ .]?v?(?:\d|(?:{'|'.join(_VERSIONS)})(?![a-z]))"
    r"|o[1-9](?:-(?:mini|pro|preview))?$|command-r|flan-t5)",
    re.IGNORECASE,
)


def looks_like_a_model(name: str) -> bool:
    """Whether a name is a model's rather than a person's: a first guess, to be corrected.

    >>> [looks_like_a_model(name) for name in ("RMITIR-GPT4o", "claude-3-opus", "Claude", "W001")]
    [True, True, False, False]
    """
    return bool(_LOOKS.search(name))


# --- Whose labels a file brings: accounts, people who have none here, and machines.


@dataclass(frozen=True, slots=True)
class Raters:
    """Which raters of a file are accounts of the site (by key), and which are machines."""

    accounts: Mapping[str, int] = field(default_factory=dict)
    machines: frozenset[str] = frozenset()


def read_accounts(pairs: Iterable[str]) -> dict[str, str]:
    """{rater: username} of pairs such as `W1=ada`; no username stands for no account.

    Raises
    ------
    AccountFormError
        If a pair has no `=`, or a rater comes twice.
    """
    accounts: dict[str, str] = {}
    for pair in pairs:
        rater, equals, username = (part.strip() for part in pair.rpartition("="))
        if not (rater and equals) or rater in accounts:
            raise AccountFormError(pair=pair)
        accounts[rater] = username
    return accounts


def known_raters(
    names: Collection[str],
    members: Mapping[str, int],
    *,
    accounts: Mapping[str, str] | None = None,
    machines: Collection[str] | None = None,
    importer: int | None = None,
) -> Raters:
    """Who the raters of a file are.

    Parameters
    ----------
    names
        The raters whom the file names; '' where a label names nobody, which is the importer's.
    members
        Keys of those who belong to the benchmark, by username.
    accounts
        Username by rater, '' for none. A rater who is not among them is the member of that name.
    machines
        Those that are machines; None: those whose names look like a model's.

    Raises
    ------
    UnknownRaterError, UnknownAccountError, OneAccountTwiceError, PersonAndMachineError
        If what was said does not fit the file or the benchmark.
    """
    account_of = dict(accounts or {})
    _refuse_unknown([*account_of, *(machines or ())], names)
    for rater, username in account_of.items():
        if username and username not in members:
            raise UnknownAccountError(rater=rater, username=username)
    named = {name for name in names if name}
    if machines is None:
        people = members.keys() | {rater for rater, username in account_of.items() if username}
        machines = [name for name in named - people if looks_like_a_model(name)]
    both = sorted(rater for rater in machines if account_of.get(rater))
    if both:
        raise PersonAndMachineError(rater=both[0], username=account_of[both[0]])
    account_of_person = {rater: account_of.get(rater, rater) for rater in named - set(machines)}
    keys = {
        rater: members[username]
        for rater, username in account_of_person.items()
        if username in members
    }
    _refuse_twice(keys, members, importer if "" in names else None)
    return Raters(keys, frozenset(machines))


def _refuse_unknown(raters: Iterable[str], names: Collection[str]) -> None:
    known_names = sorted(name for name in names if name)
    for rater in raters:
        if rater not in known_names:
            listed = ", ".join(known_names[:10]) + (", …" if len(known_names) > 10 else "")
            raise UnknownRaterError(rater=rater, known=listed or "nobody")


def _refuse_twice(
    keys: Mapping[str, int], members: Mapping[str, int], importer: int | None
) -> None:
    counts = Counter([*keys.values(), *([] if importer is None else [importer])])
    for username, key in members.items():
        if counts[key] > 1:
            raters = [rater for rater, account in sorted(keys.items()) if account == key]
            raters += ["labels without a name"] if key == importer else []
            raise OneAccountTwiceError(username=username, raters=" and ".join(raters))

"""How a judge's key is kept and found, and where it may be sent.

A key is sealed under the site's secret, or stays in a variable of the environment. The operator
says which variables there are, and to which address each belongs: who keeps a benchmark could
otherwise send the site's own key to a machine of theirs.
"""

import os
from base64 import urlsafe_b64encode
from importlib.util import find_spec
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import SplitResult

from django.conf import settings

from benchmarks_app.judges.services.errors import (
    JudgeAddressError,
    JudgeExtraMissingError,
    JudgeKeyMovedError,
    JudgeKeySealError,
    JudgeKeyVariableError,
)
from benchmarks_app.models import JudgeEndpoint
from benchwright.fetching.addresses import is_public, read_address
from benchwright.fetching.errors import AddressRefusedError

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

# Of the extra `judge`, by the names they are imported under.
PACKAGES = {"openai": "openai", "PIL": "pillow", "cryptography": "cryptography"}
PURPOSE = b"benchwright: keys of judges"


def missing_packages() -> list[str]:
    """Packages of the extra `judge` that are not installed; none is imported by asking."""
    return [package for module, package in PACKAGES.items() if find_spec(module) is None]


def require_packages() -> None:
    """Raise `JudgeExtraMissingError` where the extra is not installed."""
    missing = missing_packages()
    if missing:
        packages = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'}"
        raise JudgeExtraMissingError(packages=packages)


# --- sealed ----------------------------------------------------------------------------------


def seal(key: str) -> str:
    """The key, encrypted under one derived from SECRET_KEY."""
    return _box().encrypt(key.encode()).decode()


def _box() -> "MultiFernet":
    """The present secret seals and opens; those before it only open."""
    require_packages()
    from cryptography.fernet import Fernet, MultiFernet

    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_derived(secret)) for secret in secrets])


def _derived(secret: str) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret.encode())
    return urlsafe_b64encode(key)


def key_of(judge: JudgeEndpoint) -> str:
    """The judge's key, "" where it needs none; for the worker that asks, and nobody else.

    Raises
    ------
    JudgeKeySealError, JudgeKeyVariableError
        If it cannot be had.
    """
    if judge.key_variable:
        return _in_environment(judge.key_variable, judge.base_url)
    if not judge.key_sealed:
        return ""
    from cryptography.fernet import InvalidToken

    try:
        return _box().decrypt(judge.key_sealed.encode()).decode()
    except InvalidToken as error:
        raise JudgeKeySealError(judge=judge.name) from error


# --- in the environment ----------------------------------------------------------------------


def _in_environment(variable: str, base_url: str) -> str:
    check_variable(variable, base_url)
    key = os.environ.get(variable, "")
    if not key:
        why = "it is empty where the worker runs. Whoever runs the site sets it"
        raise JudgeKeyVariableError(variable=variable, why=why)
    return key


def check_variable(variable: str, base_url: str) -> None:
    """Raise unless the operator allows the variable for the host of `base_url`."""
    allowed = settings.JUDGE_KEYS
    if variable not in allowed:
        why = "whoever runs this site has not allowed it (JUDGE_KEYS)"
        raise JudgeKeyVariableError(variable=variable, why=why)
    if origin(allowed[variable]) != origin(base_url):
        why = f"it is for {origin(allowed[variable])} alone (JUDGE_KEYS)"
        raise JudgeKeyVariableError(variable=variable, why=why)


# --- addresses -------------------------------------------------------------------------------


def origin(address: str) -> str:
    """Scheme, host and port of an address, as one writes them; what a key belongs to."""
    parts = checked_address(address)
    standard = {"http": 80, "https": 443}[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = "" if parts.port in (None, standard) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def checked_address(address: str) -> SplitResult:
    """The parts of a judge's address, as far as its text tells; names are looked up by the worker.

    Raises
    ------
    JudgeAddressError
        If nobody may be asked there.
    """
    try:
        parts = read_address(address)
    except AddressRefusedError as error:
        raise JudgeAddressError(address=address, why=error.why) from error
    why = _why_not(parts)
    if why:
        raise JudgeAddressError(address=address, why=why)
    return parts


def _why_not(parts: SplitResult) -> str:
    if parts.query or parts.fragment:
        return "it ends in ?… or #…, which would be lost"
    if settings.JUDGE_PRIVATE_ADDRESSES:
        return ""
    if parts.scheme != "https":
        return "over http the key and the cases could be read on the way; expected https"
    if _is_private(parts.hostname or ""):
        return "it is in a private network, which this site does not ask (JUDGE_PRIVATE_ADDRESSES)"
    return ""


def _is_private(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not is_public(ip_address(host))
    except ValueError:
        return False


def refuse_moved_key(judge: JudgeEndpoint, base_url: str) -> None:
    """Raise where a sealed key would go to another host than the one it was entered for."""
    if not judge.key_sealed:
        return
    before, after = origin_or_text(judge.base_url), origin(base_url)
    if before != after:
        raise JudgeKeyMovedError(before=before, after=after)


def origin_or_text(address: str) -> str:
    """The origin, or the address as it stands where the site would not take it any more."""
    try:
        return origin(address)
    except JudgeAddressError:
        return address

"""Signatures of notices, as Standard Webhooks has them: HMAC-SHA256 over id, time and body."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable

from benchmarks_app.notices.errors import WebhookSecretError
from benchmarks_app.sealing import cipher

PREFIX = "whsec_"
SECRET_BYTES = 32
SALT = "benchmarks_app.notices"


def new_secret() -> str:
    """A secret as its receiver keeps it."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def seal(secret: str) -> str:
    return cipher(SALT).encrypt(secret.encode()).decode()


def opened(sealed: str, *, address: str) -> str:
    """The secret that was sealed.

    Raises
    ------
    WebhookSecretError
        If neither the site's secret nor an earlier one opens it.
    """
    from cryptography.fernet import InvalidToken

    try:
        return cipher(SALT).decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise WebhookSecretError(address=address) from error


def signed(key: str, body: bytes, *, at: int, with_: Iterable[str]) -> dict[str, str]:
    """The headers of a notice: its key, the second it is sent in, a signature by each secret.

    Examples
    --------
    >>> secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    >>> key, body = "msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}'
    >>> signed(key, body, at=1614265330, with_=[secret])["webhook-signature"]
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    content = f"{key}.{at}.".encode() + body
    signatures = [f"v1,{_signature(secret, content)}" for secret in with_]
    return {
        "webhook-id": key,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(signatures),
    }


def _signature(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()

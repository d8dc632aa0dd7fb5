"""How secrets of second factors are stored: encrypted with the site's own, so that a copy of the
database alone signs nobody in.
"""

import base64
from typing import TYPE_CHECKING

from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.utils.crypto import salted_hmac

from benchmarks_app.errors import FactorSecretError

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

SALT = "benchmarks_app.factor_secrets"


class SecretsAdapter(DefaultMFAAdapter):
    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Raises `FactorSecretError` where neither the site's secret nor an earlier one fits."""
        from cryptography.fernet import InvalidToken

        try:
            return _cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken as error:
            raise FactorSecretError from error


def _cipher() -> "MultiFernet":
    # Loaded when it is used: few requests need it.
    from cryptography.fernet import Fernet, MultiFernet

    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    digests = (salted_hmac(SALT, "", secret=secret, algorithm="sha256") for secret in secrets)
    keys = (base64.urlsafe_b64encode(digest.digest()) for digest in digests)
    return MultiFernet([Fernet(key) for key in keys])

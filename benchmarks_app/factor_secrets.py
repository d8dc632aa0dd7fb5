"""How secrets of second factors are stored: encrypted with the site's own, so that a copy of the
database alone signs nobody in.
"""

from allauth.mfa.adapter import DefaultMFAAdapter

from benchmarks_app.errors import FactorSecretError
from benchmarks_app.sealing import cipher

SALT = "benchmarks_app.factor_secrets"


class SecretsAdapter(DefaultMFAAdapter):
    def encrypt(self, text: str) -> str:
        return cipher(SALT).encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Raises `FactorSecretError` where neither the site's secret nor an earlier one fits."""
        from cryptography.fernet import InvalidToken

        try:
            return cipher(SALT).decrypt(encrypted_text.encode()).decode()
        except InvalidToken as error:
            raise FactorSecretError from error

"""What is kept encrypted with the site's own secret, so that a copy of the database is no use."""

import base64
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.crypto import salted_hmac

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


def cipher(salt: str) -> "MultiFernet":
    """A cipher for one purpose: the present secret seals and opens, those before it only open."""
    # Loaded when it is used: few requests need it.
    from cryptography.fernet import Fernet, MultiFernet

    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    digests = (salted_hmac(salt, "", secret=secret, algorithm="sha256") for secret in secrets)
    keys = (base64.urlsafe_b64encode(digest.digest()) for digest in digests)
    return MultiFernet([Fernet(key) for key in keys])

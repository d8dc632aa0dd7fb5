"""A security key in software: makes a credential and signs challenges (WebAuthn, ES256)."""

import hashlib
import json
import os
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import AttestedCredentialData

PRESENT, HAS_CREDENTIAL = 0x01, 0x40
AAGUID = bytes(16)


class SecurityKey:
    def __init__(self, host: str = "localhost", *, counts: bool = True) -> None:
        self.host = host
        self.origin = f"http://{host}"
        self.counts = counts
        self.counter = 0
        self.identity = os.urandom(16)
        self.private = ec.generate_private_key(ec.SECP256R1())

    def create(self, options: dict[str, Any]) -> str:
        """What a browser says of a new credential of this key."""
        public = ES256.from_cryptography_key(self.private.public_key())
        record = AttestedCredentialData.create(AAGUID, self.identity, public)
        body = cbor.encode({"fmt": "none", "attStmt": {}, "authData": self._data(record)})
        return self._answer("webauthn.create", options, {"attestationObject": body})

    def get(self, options: dict[str, Any]) -> str:
        """What a browser says of a challenge that this key has signed."""
        client = self._client("webauthn.get", options)
        data = self._data()
        signed = self.private.sign(
            data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256())
        )
        return self._answer(
            "webauthn.get", options, {"authenticatorData": data, "signature": signed}
        )

    def _data(self, made: bytes = b"") -> bytes:
        self.counter += self.counts
        flags = PRESENT | (HAS_CREDENTIAL if made else 0)
        host = hashlib.sha256(self.host.encode()).digest()
        return host + bytes([flags]) + self.counter.to_bytes(4, "big") + made

    def _client(self, kind: str, options: dict[str, Any]) -> bytes:
        challenge = options["publicKey"]["challenge"]
        fields = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(fields).encode()

    def _answer(self, kind: str, options: dict[str, Any], parts: dict[str, bytes]) -> str:
        parts = {"clientDataJSON": self._client(kind, options), **parts}
        return json.dumps(
            {
                "type": "public-key",
                "id": websafe_encode(self.identity),
                "rawId": websafe_encode(self.identity),
                "response": {name: websafe_encode(part) for name, part in parts.items()},
                "clientExtensionResults": {},
            }
        )

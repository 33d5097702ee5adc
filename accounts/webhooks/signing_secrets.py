"""The signing secrets of webhook endpoints, encrypted in the database."""

import base64
from contextlib import suppress
from secrets import token_bytes

from framework import encryption

PURPOSE = "secrets of webhook endpoints"
# Standard Webhooks requires 24 to 64 bytes.
BYTES = 32
UNREADABLE = "the stored secret cannot be decrypted because SECRET_KEY was changed: rotate the secret"


def generate() -> str:
    """Return a new secret: `whsec_` and base64."""
    return "whsec_" + base64.b64encode(token_bytes(BYTES)).decode()


def encrypt(secret: str) -> bytes:
    """Encrypt a secret for storage."""
    return encryption.encrypt(secret, purpose=PURPOSE).encode()


def decrypt(encrypted: bytes | memoryview) -> str:
    """Decrypt a stored secret. Raises CannotDecrypt if no configured SECRET_KEY decrypts it."""
    return encryption.decrypt(bytes(encrypted), purpose=PURPOSE)


def is_readable(encrypted: bytes | memoryview) -> bool:
    """Whether SECRET_KEY or a fallback decrypts it."""
    with suppress(encryption.CannotDecrypt):
        return bool(decrypt(encrypted))
    return False

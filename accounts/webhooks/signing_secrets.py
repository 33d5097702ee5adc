"""The signing secrets of webhook endpoints, encrypted in the database."""

import base64
from secrets import token_bytes

from framework import encryption

PURPOSE = "secrets of webhook endpoints"
# Standard Webhooks requires 24 to 64 bytes.
BYTES = 32


class SecretUnreadable(Exception):
    """The secret was encrypted with a SECRET_KEY that is no longer configured."""


def generate() -> str:
    """Return a new secret: `whsec_` and base64."""
    return "whsec_" + base64.b64encode(token_bytes(BYTES)).decode()


def encrypt(secret: str) -> bytes:
    """Encrypt a secret for storage."""
    return encryption.encrypt(secret, purpose=PURPOSE).encode()


def decrypt(encrypted: bytes | memoryview) -> str:
    """Decrypt a stored secret. Raises SecretUnreadable if no configured key decrypts it."""
    try:
        return encryption.decrypt(bytes(encrypted), purpose=PURPOSE)
    except encryption.CannotDecrypt as error:
        raise SecretUnreadable(
            "the stored secret cannot be decrypted because SECRET_KEY was changed: rotate the secret"
        ) from error


def is_readable(encrypted: bytes | memoryview) -> bool:
    """Whether SECRET_KEY or a fallback decrypts it."""
    try:
        decrypt(encrypted)
    except SecretUnreadable:
        return False
    return True

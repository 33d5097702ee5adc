"""The signing secrets of webhook endpoints, encrypted in the database."""

import base64
from secrets import token_bytes

from framework import encryption

PURPOSE = "secrets of webhook endpoints"
# Standard Webhooks asks for 24 to 64 bytes.
BYTES = 32


class SecretUnreadable(Exception):
    """A secret was encrypted under a SECRET_KEY that is not configured any more."""


def generate() -> str:
    """A new secret as customers get it: `whsec_` and base64."""
    return "whsec_" + base64.b64encode(token_bytes(BYTES)).decode()


def encrypt(secret: str) -> bytes:
    """The secret as it is stored."""
    return encryption.encrypt(secret, purpose=PURPOSE).encode()


def decrypt(encrypted: bytes | memoryview) -> str:
    """The secret of `encrypt`. Raises SecretUnreadable where neither SECRET_KEY nor its fallbacks fit."""
    try:
        return encryption.decrypt(bytes(encrypted), purpose=PURPOSE)
    except encryption.CannotDecrypt as error:
        raise SecretUnreadable(
            "our copy of the secret cannot be read, as the installation's SECRET_KEY was changed: rotate the secret"
        ) from error


def is_readable(encrypted: bytes | memoryview) -> bool:
    """Whether SECRET_KEY or a fallback decrypts it."""
    try:
        decrypt(encrypted)
    except SecretUnreadable:
        return False
    return True

"""The secrets of webhook endpoints: made, and kept encrypted under keys that come from SECRET_KEY."""

import base64
import secrets
from collections.abc import Sequence
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

# Standard Webhooks asks for 24 to 64 bytes.
BYTES = 32
PURPOSE = b"tablewire: secrets of webhook endpoints"


class Unreadable(Exception):
    """A secret was encrypted under a key that we do not have any more."""


def make() -> str:
    """A fresh secret as customers get it: `whsec_` and base64."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(BYTES)).decode()


def seal(secret: str) -> bytes:
    """The secret as it is stored."""
    return box().encrypt(secret.encode())


def unseal(sealed: bytes | memoryview) -> str:
    """The secret as it was made. Raises Unreadable where neither SECRET_KEY nor its fallbacks open it."""
    try:
        return box().decrypt(bytes(sealed)).decode()
    except InvalidToken as error:
        raise Unreadable(
            "our copy of the secret cannot be read, as the installation's SECRET_KEY was changed: rotate the secret"
        ) from error


def is_readable(sealed: bytes | memoryview) -> bool:
    """Whether a key of ours opens it."""
    try:
        unseal(sealed)
    except Unreadable:
        return False
    return True


def seal_again(sealed: bytes | memoryview) -> bytes:
    """The same secret under the first key, for when SECRET_KEY was changed. Raises Unreadable."""
    return seal(unseal(sealed))


def box() -> MultiFernet:
    """Encrypts under SECRET_KEY, and opens what was encrypted under its fallbacks too."""
    return _box(settings.SECRET_KEY, tuple(settings.SECRET_KEY_FALLBACKS))


@lru_cache(maxsize=4)
def _box(key: str, fallbacks: Sequence[str]) -> MultiFernet:
    return MultiFernet([Fernet(_derived(one)) for one in (key, *fallbacks)])


def _derived(key: str) -> bytes:
    return base64.urlsafe_b64encode(HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(key.encode()))

"""Encryption at rest: Fernet under keys that are derived from SECRET_KEY, one for each purpose.

After a change of SECRET_KEY the values of before are still readable while the old key is in SECRET_KEY_FALLBACKS.
"""

import base64
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class CannotDecrypt(Exception):
    """The value was encrypted for another purpose, or under a SECRET_KEY that is not configured any more."""


def encrypt(text: str, *, purpose: str) -> str:
    """The text as it may be stored: base64, 100 characters and a third more than the text."""
    return _fernet(purpose, settings.SECRET_KEY, tuple(settings.SECRET_KEY_FALLBACKS)).encrypt(text.encode()).decode()


def decrypt(encrypted: str | bytes, *, purpose: str) -> str:
    """The text of `encrypt`. Raises CannotDecrypt."""
    try:
        keys = settings.SECRET_KEY, tuple(settings.SECRET_KEY_FALLBACKS)
        return _fernet(purpose, *keys).decrypt(encrypted).decode()
    except InvalidToken as error:
        raise CannotDecrypt from error


@lru_cache(maxsize=16)
def _fernet(purpose: str, secret_key: str, fallbacks: tuple[str, ...]) -> MultiFernet:
    """Encrypts under SECRET_KEY, decrypts under its fallbacks too."""
    keys = (derive_key(key, purpose=purpose) for key in (secret_key, *fallbacks))
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in keys])


def derive_key(secret_key: str, *, purpose: str, length: int = 32) -> bytes:
    """Return a key of this purpose, of `length` bytes: always the same one of a SECRET_KEY."""
    info = f"tablewire: {purpose}".encode()
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=info).derive(secret_key.encode())

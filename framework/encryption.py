"""Encrypts what has to be read again later, under keys that come from SECRET_KEY."""

import base64
from collections.abc import Sequence
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class CannotOpen(Exception):
    """It was sealed for another purpose, or under a SECRET_KEY that we do not have any more."""


def seal(text: str, *, purpose: str) -> str:
    """The text as it may be stored."""
    return box(purpose).encrypt(text.encode()).decode()


def unseal(sealed: str, *, purpose: str) -> str:
    """The text again. Raises CannotOpen."""
    try:
        return box(purpose).decrypt(sealed).decode()
    except InvalidToken as error:
        raise CannotOpen from error


def box(purpose: str) -> MultiFernet:
    """Encrypts under SECRET_KEY, and opens what was encrypted under its fallbacks too."""
    return _box(purpose, settings.SECRET_KEY, tuple(settings.SECRET_KEY_FALLBACKS))


@lru_cache(maxsize=16)
def _box(purpose: str, key: str, fallbacks: Sequence[str]) -> MultiFernet:
    return MultiFernet([Fernet(_derived(purpose, one)) for one in (key, *fallbacks)])


def _derived(purpose: str, key: str) -> bytes:
    info = f"tablewire: {purpose}".encode()
    return base64.urlsafe_b64encode(HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(key.encode()))

"""Signed tokens and keyed hashes under SECRET_KEY.

The key of each purpose is derived from its name, so a token of one purpose is invalid for another. Tokens and hashes
made with one of SECRET_KEY_FALLBACKS are accepted, too.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.core.signing import BadSignature, SignatureExpired
from django.utils.crypto import constant_time_compare, salted_hmac

__all__ = ["BadSignature", "KeyedHash", "SignatureExpired", "TokenSigner"]


@dataclass(frozen=True, slots=True)
class KeyedHash:
    """HMAC-SHA-256 for one purpose."""

    purpose: str

    def hexdigest(self, content: str | bytes) -> str:
        """The hash under SECRET_KEY, 64 hexadecimal digits."""
        return salted_hmac(self.purpose, content, algorithm="sha256").hexdigest()

    def matches(self, content: str | bytes, digest: str, *, length: int = 64) -> bool:
        """Whether `digest` is the first `length` digits of the hash, under SECRET_KEY or a fallback."""
        return any(
            constant_time_compare(
                digest, salted_hmac(self.purpose, content, secret=key, algorithm="sha256").hexdigest()[:length]
            )
            for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
        )


@dataclass(frozen=True, slots=True)
class TokenSigner:
    """Signs text and JSON for one purpose. Tokens are signed, not encrypted."""

    purpose: str
    separator: str = ":"

    def sign(self, text: str) -> str:
        """The text with its signature."""
        return self._signer().sign(text)

    def unsign(self, token: str) -> str:
        """The text of `sign`. Raises BadSignature."""
        return self._signer().unsign(token)

    def signature(self, text: str) -> str:
        return self._signer().signature(text)

    def dump(self, value: Any) -> str:
        """A JSON value as a token with the time of signing."""
        return signing.dumps(value, salt=self.purpose)

    def load(self, token: str, *, max_age: timedelta | None = None) -> Any:
        """The value of `dump`. Raises BadSignature, and SignatureExpired after `max_age`."""
        return signing.loads(token, salt=self.purpose, max_age=max_age)

    def _signer(self) -> signing.Signer:
        return signing.Signer(salt=self.purpose, sep=self.separator)

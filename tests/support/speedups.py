"""What the product does once in a process or slowly on purpose, and tests do hundreds of times."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from httpx._transports import default as httpx_transports
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_found_once() -> Iterator[None]:
    """Each test client makes a middleware that looks for them: a fifth of the time of tests of pages and APIs."""
    find = WhiteNoiseMiddleware.add_files_from_finders
    found: dict[str, Any] = {}

    def add(middleware: Any) -> None:
        if not found:
            find(middleware)
            found.update(middleware.files)
        middleware.files.update(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", add)
        yield


@pytest.fixture(scope="session", autouse=True)
def _passwords_hash_quickly() -> Iterator[None]:
    """A million rounds take half a second. The format stays: other processes verify these passwords."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PBKDF2PasswordHasher, "iterations", 1)
        yield


@pytest.fixture(scope="session", autouse=True)
def _certificates_are_read_once() -> Iterator[None]:
    """Each httpx client reads all certificates of the machine, which takes a twentieth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx_transports, "create_ssl_context", cache(httpx_transports.create_ssl_context))
        yield

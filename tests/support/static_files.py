"""Finds the static files once for all clients of a process: each client makes the middleware that serves them anew."""

from collections.abc import Iterator
from typing import Any

import pytest
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]


@pytest.fixture(scope="session", autouse=True)
def _finding() -> Iterator[None]:
    """To look for them was a fifth of what tests of pages and APIs took."""
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

"""From rules to slots."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID


def lay_out(*, now: datetime, restaurants: Sequence[UUID] | None = None) -> int:
    """To be written by F."""
    raise NotImplementedError


def release(*, now: datetime) -> int:
    """To be written by F."""
    raise NotImplementedError
